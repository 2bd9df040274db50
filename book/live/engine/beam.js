// Beam search as a tree: every beginning of a sentence that was considered is a node.

/**
 * @typedef {object} SearchSettings
 * @property {number} k hypotheses kept; 1 is greedy search
 * @property {number} alpha of the length penalty
 * @property {number} temperature of the softmax; 1 leaves the model as it is
 * @property {number} maxLen most words to write
 */
/**
 * A beginning of a sentence.
 * @typedef {object} Branch
 * @property {number} id
 * @property {number} parent id of the beginning without the last word; -1: none
 * @property {number} word the last word
 * @property {number} depth words after `<sos>`
 * @property {number} logProb of all its words together
 * @property {number} score log-probability divided by the length penalty
 * @property {boolean} done whether it ends with `<eos>`
 */
/**
 * @typedef {object} Found
 * @property {Branch[]} tree every beginning that was considered; its id is its place
 * @property {number[][]} steps the ids that were kept, the best first; step 0 is `<sos>`
 * @property {Map<number, Passed>} passed what the decoder made of the last words
 */

/** Continuations of a hypothesis that are shown, even where fewer are kept. */
const SHOWN = 4;

/**
 * Compute the length penalty, Eq. 14 of Wu et al. (2016).
 * @param {number} length
 * @param {number} alpha
 */
function lengthPenalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

/**
 * Score the next words of hypotheses.
 * @param {Transformer} model
 * @param {Source} source
 * @param {Branch[]} open
 * @param {Found} found
 * @returns {Float32Array[]} logits
 */
function scoreNext(model, source, open, found) {
  if (!source.changes.causal) {
    // Without the mask earlier words change with every new one: nothing can be kept.
    return open.map((branch) => {
      const { logits } = model.decode(source, wordsOf(found.tree, branch.id));
      return logits[logits.length - 1];
    });
  }
  const nexts = open.map(({ parent, word }) => {
    return { parent: found.passed.get(parent) ?? null, word };
  });
  const passed = model.step(source, nexts);
  open.forEach((branch, i) => found.passed.set(branch.id, passed[i]));
  return passed.map((one) => one.logits);
}

/**
 * List the words of a beginning, from `<sos>`.
 * @param {Branch[]} tree
 * @param {number} id
 */
function wordsOf(tree, id) {
  const words = [];
  for (let at = id; at >= 0; at = tree[at].parent) words.unshift(tree[at].word);
  return words;
}

/**
 * Add the likeliest continuations of a hypothesis to the tree.
 * @param {Branch[]} tree
 * @param {Branch} branch
 * @param {Float32Array} logits
 * @param {SearchSettings} settings
 * @returns {Branch[]}
 */
function continuations(tree, branch, logits, { k, alpha, temperature }) {
  const logProbs = logSoftmax(logits, temperature);
  const depth = branch.depth + 1;
  return largest(logProbs, Math.max(k, SHOWN)).map((word) => {
    const logProb = branch.logProb + logProbs[word];
    const score = logProb / lengthPenalty(depth, alpha);
    const done = word === EOS;
    const next = { id: tree.length, parent: branch.id, word, depth, logProb, score, done };
    tree.push(next);
    return next;
  });
}

/**
 * Search for the best translation, one word a step, as the course's `beam_search` does.
 * @param {Transformer} model
 * @param {Source} source
 * @param {SearchSettings} settings
 * @returns {Generator<void, Found>} pauses after every step
 */
function* search(model, source, settings) {
  /** @type {Branch} */
  const root = { id: 0, parent: -1, word: SOS, depth: 0, logProb: 0, score: 0, done: false };
  /** @type {Found} */
  const found = { tree: [root], steps: [[0]], passed: new Map() };
  let beams = [root];
  while (found.steps.length <= settings.maxLen && !beams.every((branch) => branch.done)) {
    const open = beams.filter((branch) => !branch.done);
    const logits = scoreNext(model, source, open, found);
    const candidates = beams.flatMap((branch) => {
      if (branch.done) return [branch];
      return continuations(found.tree, branch, logits[open.indexOf(branch)], settings);
    });
    candidates.sort((a, b) => b.score - a.score);
    beams = candidates.slice(0, settings.k);
    found.steps.push(beams.map((branch) => branch.id));
    yield;
  }
  return found;
}
