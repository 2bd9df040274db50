// The course's Transformer: reads a sentence, then scores one next word after another.

/**
 * What a reader has changed in the model.
 * @typedef {object} Changes
 * @property {boolean} causal whether the decoder's words see earlier words alone
 * @property {boolean} positions whether positions are added to the words
 * @property {number[]} hidden places of the source that nothing may look at
 * @property {string[]} off silenced heads, such as "cross.1.3": attention, layer, head
 */
/** @typedef {{keys: Float32Array[], values: Float32Array[], seen: boolean[]}} Memory */
/** @typedef {{scale: Float32Array, shift: Float32Array}} Norm */
/** @typedef {{q: Linear, k: Linear, v: Linear, o: Linear}} Projections */
/**
 * @typedef {object} Layer
 * @property {Projections} self
 * @property {Projections | null} cross
 * @property {[Linear, Linear]} inner the feed-forward layer's two halves
 * @property {Norm[]} norms one a sub-layer
 */
/** @typedef {Float32Array[][]} Looks each layer's, each query's weights (h, keys) */
/**
 * A sentence that has been read.
 * @typedef {object} Source
 * @property {number[]} ids
 * @property {Changes} changes
 * @property {Looks} attention
 * @property {Memory[]} memories what each decoder layer looks at
 */
/**
 * A word that has passed through the decoder. It holds its own keys and values; those
 * before it are its parents'. So the tree of a beam is its cache, and nothing is copied.
 * @typedef {object} Passed
 * @property {Passed | null} parent
 * @property {number} word
 * @property {number} depth
 * @property {Float32Array[]} keys one a layer
 * @property {Float32Array[]} values one a layer
 * @property {Float32Array[]} self each layer's weights (h, depth + 1)
 * @property {Float32Array[]} cross each layer's weights (h, s)
 * @property {Float32Array} logits of the next word
 */

/** @type {Changes} */
const UNCHANGED = { causal: true, positions: true, hidden: [], off: [] };

/**
 * Cut (n, d) into n vectors.
 * @param {Float32Array} x
 * @param {number} d
 * @returns {Float32Array[]}
 */
function rowsOf(x, d) {
  return Array.from({ length: x.length / d }, (_, r) => x.subarray(r * d, (r + 1) * d));
}

/**
 * Let every head of one query look at a memory.
 * @param {Float32Array} query (d,)
 * @param {Memory} memory
 * @param {number} heads
 * @param {Float32Array} out (d,) of zeros: takes what the heads found
 * @returns {Float32Array} weights (h, keys)
 */
function lookUp(query, { keys, values, seen }, heads, out) {
  const size = query.length / heads;
  const n = keys.length;
  const weights = new Float32Array(heads * n);
  for (let head = 0; head < heads; head++) {
    const from = head * size;
    const row = weights.subarray(head * n, (head + 1) * n);
    for (let j = 0; j < n; j++) {
      let score = 0;
      for (let i = from; i < from + size; i++) score += query[i] * keys[j][i];
      row[j] = seen[j] ? score / Math.sqrt(size) : -Infinity;
    }
    softmax(row);
    for (let j = 0; j < n; j++) {
      const value = values[j];
      for (let i = from; i < from + size; i++) out[i] += row[j] * value[i];
    }
  }
  return weights;
}

/** An encoder that reads the source, and a decoder that writes the target. */
class Transformer {
  /**
   * @param {Map<string, Tensor>} tensors
   * @param {Config} config
   * @param {Kernel | null} kernel for fast products
   */
  constructor(tensors, config, kernel = Kernel.make()) {
    this.config = config;
    const parts = new Parts(tensors, config, kernel);
    this.encoder = parts.stack("encoder", false);
    this.decoder = parts.stack("decoder", true);
    this.lastNorms = { encoder: parts.lastNorm("encoder"), decoder: parts.lastNorm("decoder") };
    this.tables = { src: parts.table("src"), tgt: parts.table("tgt") };
    this.positions = { src: parts.positions("src"), tgt: parts.positions("tgt") };
    this.projection = parts.projection();
  }

  /**
   * Look words up and add their positions.
   * @param {number[]} ids
   * @param {"src" | "tgt"} side
   * @param {(r: number) => number} place where word r stands
   * @param {Changes} changes
   * @returns {Float32Array} (n, d)
   */
  embed(ids, side, place, changes) {
    const d = this.config.d_model;
    const factor = Math.sqrt(d);
    const table = this.tables[side].data;
    const positions = changes.positions ? this.positions[side] : null;
    const x = new Float32Array(ids.length * d);
    ids.forEach((id, r) => {
      for (let i = 0; i < d; i++) {
        const position = positions ? positions[place(r) * d + i] : 0;
        x[r * d + i] = table[id * d + i] * factor + position;
      }
    });
    return x;
  }

  /**
   * Add what a sub-layer finds to its input, and normalise: after it or before it.
   * @param {Float32Array} x (n, d)
   * @param {Norm} norm
   * @param {(y: Float32Array) => Float32Array} sublayer
   */
  around(x, norm, sublayer) {
    const n = x.length / this.config.d_model;
    if (this.config.norm_first) return add(x, sublayer(layerNorm(x, n, norm)));
    return layerNorm(add(x, sublayer(x)), n, norm);
  }

  /**
   * Multi-head attention of n queries.
   * @param {Float32Array} y (n, d)
   * @param {Projections} part
   * @param {(r: number) => Memory} memory what query r looks at
   * @param {string} name such as "cross.1"
   * @param {Changes} changes
   * @returns {[Float32Array, Float32Array[]]} (n, d), and each query's weights
   */
  attend(y, part, memory, name, changes) {
    const { d_model: d, n_heads: heads } = this.config;
    const n = y.length / d;
    const found = new Float32Array(n * d);
    const into = rowsOf(found, d);
    const queries = rowsOf(part.q.apply(y, n), d);
    const weights = queries.map((query, r) => lookUp(query, memory(r), heads, into[r]));
    for (let head = 0; head < heads; head++) {
      if (!changes.off.includes(`${name}.${head}`)) continue;
      const size = d / heads;
      for (const row of into) row.fill(0, head * size, (head + 1) * size);
    }
    return [part.o.apply(found, n), weights];
  }

  /**
   * Project n vectors to keys and values.
   * @param {Float32Array} y (n, d)
   * @param {Projections} part
   * @param {boolean[]} seen
   * @returns {Memory}
   */
  remember(y, part, seen) {
    const d = this.config.d_model;
    const [keys, values] = [part.k, part.v].map((layer) => layer.apply(y, y.length / d));
    return { keys: rowsOf(keys, d), values: rowsOf(values, d), seen };
  }

  /**
   * @param {Float32Array} y (n, d)
   * @param {Layer} layer
   */
  feedForward(y, { inner }) {
    const n = y.length / this.config.d_model;
    return inner[1].apply(relu(inner[0].apply(y, n)), n);
  }

  /**
   * Read a sentence.
   * @param {number[]} ids
   * @param {Changes} changes
   * @returns {Source}
   */
  encode(ids, changes = UNCHANGED) {
    const seen = ids.map((id, j) => id !== this.config.pad_id && !changes.hidden.includes(j));
    /** @type {Looks} */
    const attention = [];
    let x = this.embed(ids, "src", (r) => r, changes);
    this.encoder.forEach((layer, number) => {
      x = this.around(x, layer.norms[0], (y) => {
        const memory = this.remember(y, layer.self, seen);
        const name = `encoder.${number}`;
        const [found, weights] = this.attend(y, layer.self, () => memory, name, changes);
        attention.push(weights);
        return found;
      });
      x = this.around(x, layer.norms[1], (y) => this.feedForward(y, layer));
    });
    if (this.lastNorms.encoder) x = layerNorm(x, ids.length, this.lastNorms.encoder);
    const memories = this.decoder.map((layer) =>
      this.remember(x, /** @type {Projections} */ (layer.cross), seen),
    );
    return { ids, changes, attention, memories };
  }

  /**
   * Pass vectors through the decoder.
   * @param {Float32Array} x (n, d)
   * @param {Source} source
   * @param {(number: number, y: Float32Array) => (r: number) => Memory} lookBack what
   *     the queries of a layer look at in self-attention
   * @returns {{logits: Float32Array[], self: Looks, cross: Looks}}
   */
  passDecoder(x, source, lookBack) {
    const { changes, memories } = source;
    /** @type {Looks} */
    const self = [];
    /** @type {Looks} */
    const cross = [];
    this.decoder.forEach((layer, number) => {
      x = this.around(x, layer.norms[0], (y) => {
        const memory = lookBack(number, y);
        const [found, weights] = this.attend(y, layer.self, memory, `self.${number}`, changes);
        self.push(weights);
        return found;
      });
      x = this.around(x, layer.norms[1], (y) => {
        const part = /** @type {Projections} */ (layer.cross);
        const memory = () => memories[number];
        const [found, weights] = this.attend(y, part, memory, `cross.${number}`, changes);
        cross.push(weights);
        return found;
      });
      x = this.around(x, layer.norms[2], (y) => this.feedForward(y, layer));
    });
    const n = x.length / this.config.d_model;
    if (this.lastNorms.decoder) x = layerNorm(x, n, this.lastNorms.decoder);
    const logits = rowsOf(this.projection.apply(x, n), this.config.tgt_vocab_size);
    return { logits, self, cross };
  }

  /**
   * Pass one more word of each of n hypotheses through the decoder.
   * @param {Source} source
   * @param {{parent: Passed | null, word: number}[]} nexts
   * @returns {Passed[]}
   */
  step(source, nexts) {
    const passed = nexts.map(({ parent, word }) => newlyPassed(parent, word));
    const paths = passed.map(pathTo);
    const seen = paths.map((path) => path.map((one) => one.word !== this.config.pad_id));
    const words = passed.map((one) => one.word);
    const x = this.embed(words, "tgt", (r) => passed[r].depth, source.changes);
    const { logits, self, cross } = this.passDecoder(x, source, (number, y) => {
      const { self: part } = this.decoder[number];
      const fresh = this.remember(y, part, []);
      passed.forEach((one, r) => {
        one.keys.push(fresh.keys[r]);
        one.values.push(fresh.values[r]);
      });
      return (r) => ({
        keys: paths[r].map((one) => one.keys[number]),
        values: paths[r].map((one) => one.values[number]),
        seen: seen[r],
      });
    });
    passed.forEach((one, r) => {
      one.logits = logits[r];
      one.self = self.map((layer) => layer[r]);
      one.cross = cross.map((layer) => layer[r]);
    });
    return passed;
  }

  /**
   * Pass a whole target through the decoder at once, without a cache.
   * @param {Source} source its changes say whether a word sees later ones
   * @param {number[]} ids from `<sos>`
   */
  decode(source, ids) {
    const known = ids.map((id) => id !== this.config.pad_id);
    const x = this.embed(ids, "tgt", (r) => r, source.changes);
    return this.passDecoder(x, source, (number, y) => {
      const memory = this.remember(y, this.decoder[number].self, known);
      if (!source.changes.causal) return () => memory;
      return (r) => ({ ...memory, seen: known.map((seen, j) => seen && j <= r) });
    });
  }
}
