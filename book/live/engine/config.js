// What a model's configuration promises, and whether a file keeps it.

/**
 * The fields of `TransformerConfig` that change what is computed.
 * @typedef {object} Config
 * @property {number} src_vocab_size
 * @property {number} tgt_vocab_size
 * @property {number} d_model
 * @property {number} n_heads
 * @property {number} n_layers
 * @property {number} d_ff
 * @property {number} max_len
 * @property {number} pad_id
 * @property {"learned" | "sinusoidal" | "none"} positions
 * @property {"linear" | "conv"} feed_forward
 * @property {boolean} norm_first
 * @property {"none" | "target" | "all"} tie
 */
/** @typedef {[string[], string[]]} Words of the source, and of the target */
/** @typedef {{config: Config, words: Words, tensors: Map<string, Tensor>}} ModelFile */

/** Bytes that this page reads at most. */
const LARGEST_FILE = 64e6;
const HOW = "Write it with `python -m transformer page RUN`.";
/** @type {Record<string, readonly unknown[]>} */
const CHOICES = {
  positions: ["learned", "sinusoidal", "none"],
  feed_forward: ["linear", "conv"],
  tie: ["none", "target", "all"],
  norm_first: [true, false],
};
const SIZES = [
  ...["src_vocab_size", "tgt_vocab_size", "d_model", "n_heads", "n_layers"],
  ...["d_ff", "max_len"],
];

/**
 * Return the configuration, or throw an error that says what is wrong with it.
 * @param {any} config
 * @returns {Config}
 */
function checkedConfig(config) {
  for (const name of SIZES) {
    if (!Number.isInteger(config?.[name]) || config[name] < 1) {
      throw new Error(`The configuration's ${name} is to be a number of at least 1.`);
    }
  }
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (!allowed.includes(config[name])) {
      throw new Error(`The configuration's ${name} is to be one of ${allowed.join(", ")}.`);
    }
  }
  if (config.d_model % config.n_heads) {
    throw new Error("The configuration's d_model is no multiple of its n_heads.");
  }
  return config;
}

/**
 * Name every tensor that a model has, with its shape.
 * @param {Config} config
 * @returns {Map<string, number[]>}
 */
function expectedShapes(config) {
  const d = config.d_model;
  /** @type {Map<string, number[]>} */
  const shapes = new Map();
  /** @type {(name: string, ...shape: number[]) => void} */
  const layer = (name, ...shape) => {
    shapes.set(`${name}.weight`, shape).set(`${name}.bias`, [shape[0]]);
  };
  for (const side of /** @type {const} */ (["src", "tgt"])) {
    const held = side === "tgt" && config.tie === "all"; // by the source's table
    const rows = config[`${side}_vocab_size`];
    if (!held) shapes.set(`${side}_embedding.tokens.table.weight`, [rows, d]);
    if (config.positions !== "learned") continue;
    shapes.set(`${side}_embedding.positions.table.weight`, [config.max_len, d]);
  }
  for (const [stack, kinds] of Object.entries(STACKS)) {
    for (let i = 0; i < config.n_layers; i++) layerShapes(stack, i, kinds, config, layer);
    if (config.norm_first) layer(`${stack}.norm`, d);
  }
  if (config.tie === "none") shapes.set("projection.weight", [config.tgt_vocab_size, d]);
  return shapes.set("projection.bias", [config.tgt_vocab_size]);
}

/** The attentions of a layer of each stack. */
const STACKS = { encoder: ["self"], decoder: ["self", "cross"] };

/**
 * Name the tensors of one layer.
 * @param {string} stack
 * @param {number} number
 * @param {string[]} kinds of attention
 * @param {Config} config
 * @param {(name: string, ...shape: number[]) => void} layer takes them
 */
function layerShapes(stack, number, kinds, { d_model: d, d_ff: wide, feed_forward }, layer) {
  const name = `${stack}.layers.${number}`;
  for (const kind of kinds) {
    for (const letter of "qkvo") layer(`${name}.${kind}_attention.w_${letter}`, d, d);
  }
  const last = feed_forward === "conv" ? [1] : [];
  const inner = feed_forward === "conv" ? "conv" : "linear";
  layer(`${name}.feed_forward.${inner}1`, wide, d, ...last);
  layer(`${name}.feed_forward.${inner}2`, d, wide, ...last);
  for (let n = 1; n <= kinds.length + 1; n++) layer(`${name}.add_norm${n}.norm`, d);
}

/**
 * Throw an error unless the tensors are those that the configuration describes.
 * @param {Map<string, Tensor>} tensors
 * @param {Config} config
 */
function requireShapes(tensors, config) {
  const expected = expectedShapes(config);
  const missing = [...expected.keys()].filter((name) => !tensors.has(name));
  if (missing.length) {
    const others = missing.length > 1 ? ` and ${missing.length - 1} more` : "";
    throw new Error(`The file lacks tensors of the model: ${missing[0]}${others}.`);
  }
  for (const [name, shape] of expected) {
    const found = tensors.get(name)?.shape.join(" × ");
    if (found !== shape.join(" × ")) {
      throw new Error(`${name}: expected the shape ${shape.join(" × ")}, found ${found}.`);
    }
  }
}

/**
 * Return the words of both languages, or throw an error that says what is wrong.
 * @param {any} words
 * @param {Config} config
 * @returns {Words}
 */
function checkedWords(words, config) {
  const sizes = [config.src_vocab_size, config.tgt_vocab_size];
  for (const [side, size] of sizes.entries()) {
    const name = ["source words", "target words"][side];
    const list = words?.[side];
    if (!Array.isArray(list) || !list.every((word) => typeof word === "string")) {
      throw new Error(`The file has no list of the ${name}.`);
    }
    if (list.length !== size) {
      throw new Error(`Expected ${size} ${name}, found ${list.length}.`);
    }
  }
  return words;
}

/**
 * Throw an error if a weight is no number: nothing could be computed with it.
 * @param {Map<string, Tensor>} tensors
 */
function requireNumbers(tensors) {
  for (const [name, { data }] of tensors) {
    let sum = 0;
    for (let i = 0; i < data.length; i++) sum += 0 * data[i]; // 0, or NaN from NaN and infinity
    if (sum === 0) continue;
    throw new Error(
      `${name} holds NaN or infinity: the training went astray. Train again, with a lower rate.`,
    );
  }
}

/**
 * Take a file apart, and check that it is a whole model.
 * @param {Uint8Array} bytes
 * @returns {ModelFile}
 */
function takeApart(bytes) {
  const { tensors, metadata } = readSafetensors(bytes);
  if (typeof metadata?.config !== "string" || typeof metadata.words !== "string") {
    throw new Error("This file holds no configuration of a course's model.");
  }
  let parsed;
  try {
    parsed = [JSON.parse(metadata.config), JSON.parse(metadata.words)];
  } catch {
    throw new Error("The file's configuration cannot be read.");
  }
  const config = checkedConfig(parsed[0]);
  requireShapes(tensors, config);
  return { config, words: checkedWords(parsed[1], config), tensors };
}

/**
 * Read a model of the reader's own; an error says what is wrong and what to do.
 * @param {Uint8Array} bytes
 * @returns {ModelFile}
 */
function readModelFile(bytes) {
  let file;
  try {
    file = takeApart(bytes);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)} ${HOW}`);
  }
  requireNumbers(file.tensors);
  return file;
}
