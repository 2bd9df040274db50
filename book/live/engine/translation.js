// One question to a model, and its whole answer: what the figure shows.

/**
 * @typedef {object} Question
 * @property {string} text
 * @property {number} k
 * @property {number} alpha
 * @property {number} temperature
 * @property {Changes} changes
 */
/** @typedef {{word: string, p: number}} Likely */
/**
 * @typedef {object} Answer
 * @property {string[]} read the tokens, `<sos>` and `<eos>` among them
 * @property {boolean[]} unknown which of them the model does not know
 * @property {string[]} written the best translation, from `<sos>`
 * @property {Likely[][]} likely for each word written, the likeliest words there
 * @property {Record<Kind, Looks>} attention row i is of the query before written word i + 1
 * @property {Branch[]} tree
 * @property {string[]} names the last word of each branch
 * @property {number[][]} steps
 * @property {number} left_out words at the end of a sentence that is too long
 */
/** @typedef {"encoder" | "self" | "cross"} Kind of attention */

const LONGEST_TRANSLATION = 50;
const LIKELY = 6;

/** A model with its words. */
class Translator {
  /** @param {ModelFile} file */
  constructor({ config, words, tensors }) {
    this.model = new Transformer(tensors, config);
    this.source = new Vocabulary(words[0]);
    this.target = new Vocabulary(words[1]);
  }

  /**
   * Split a text into as many tokens as the model has places for.
   * @param {string} text
   */
  tokens(text) {
    return tokenize(text).slice(0, this.model.config.max_len - 2);
  }

  /**
   * Translate, and keep all that was looked at.
   * @param {Question} question
   * @returns {Generator<void, Answer>} pauses after every word
   */
  *answer({ text, changes, ...settings }) {
    const tokens = this.tokens(text);
    const ids = this.source.encode(tokens);
    const source = this.model.encode(ids, changes);
    const maxLen = Math.min(LONGEST_TRANSLATION, this.model.config.max_len);
    const found = yield* search(this.model, source, { ...settings, maxLen });
    const best = found.steps[found.steps.length - 1][0];
    const written = wordsOf(found.tree, best);
    const { logits, self, cross } = this.looks(source, found, written, best);
    const target = this.target.words;
    return {
      read: ["<sos>", ...tokens, "<eos>"],
      unknown: ids.map((id) => id === UNK),
      written: written.map((id) => target[id]),
      likely: logits.map((row) => this.likely(row, settings.temperature)),
      attention: { encoder: source.attention, self, cross },
      tree: found.tree,
      names: found.tree.map((branch) => target[branch.word]),
      steps: found.steps,
      left_out: tokenize(text).length - tokens.length,
    };
  }

  /**
   * Gather what the decoder looked at while it wrote the best translation.
   * @param {Source} source
   * @param {Found} found
   * @param {number[]} written
   * @param {number} best
   * @returns {{logits: Float32Array[], self: Looks, cross: Looks}}
   */
  looks(source, found, written, best) {
    if (!source.changes.causal) return this.model.decode(source, written.slice(0, -1));
    const last = /** @type {Passed} */ (found.passed.get(found.tree[best].parent));
    const path = pathTo(last);
    const layers = [...last.self.keys()];
    return {
      logits: path.map((one) => one.logits),
      self: layers.map((layer) => path.map((one) => one.self[layer])),
      cross: layers.map((layer) => path.map((one) => one.cross[layer])),
    };
  }

  /**
   * @param {Float32Array} logits
   * @param {number} temperature
   * @returns {Likely[]}
   */
  likely(logits, temperature) {
    const logProbs = logSoftmax(logits, temperature);
    return largest(logProbs, LIKELY).map((id) => {
      return { word: this.target.words[id], p: Math.exp(logProbs[id]) };
    });
  }
}

/**
 * Read how much the query of a row looked at a key; a later word counts 0.
 * @param {Float32Array[]} rows of one layer, each (h, keys)
 * @param {number} heads
 * @param {number} head -1 for the mean of all
 * @param {number} row
 * @param {number} key
 * @returns {number}
 */
function lookOf(rows, heads, head, row, key) {
  const keys = rows[row].length / heads;
  if (key >= keys) return 0;
  if (head >= 0) return rows[row][head * keys + key];
  let sum = 0;
  for (let h = 0; h < heads; h++) sum += rows[row][h * keys + key];
  return sum / heads;
}
