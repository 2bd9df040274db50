// Sums of vectors and softmaxes: all the arithmetic but the matrix products.

/**
 * Add two vectors of one length.
 * @param {Float32Array} x
 * @param {Float32Array} y
 * @returns {Float32Array}
 */
function add(x, y) {
  const sum = new Float32Array(x.length);
  for (let i = 0; i < sum.length; i++) sum[i] = x[i] + y[i];
  return sum;
}

/**
 * Replace negative numbers by 0, in place.
 * @param {Float32Array} x
 * @returns {Float32Array} x
 */
function relu(x) {
  for (let i = 0; i < x.length; i++) if (x[i] < 0) x[i] = 0;
  return x;
}

/**
 * Give each of n vectors mean 0 and variance 1, then scale and shift it.
 * @param {Float32Array} x (n, d)
 * @param {number} n
 * @param {{scale: Float32Array, shift: Float32Array}} norm each (d,)
 * @returns {Float32Array} (n, d)
 */
function layerNorm(x, n, { scale, shift }) {
  const d = scale.length;
  const y = new Float32Array(n * d);
  for (let at = 0; at < n * d; at += d) {
    let mean = 0;
    let variance = 0;
    for (let i = 0; i < d; i++) mean += x[at + i] / d;
    for (let i = 0; i < d; i++) variance += (x[at + i] - mean) ** 2 / d;
    const factor = 1 / Math.sqrt(variance + 1e-5);
    for (let i = 0; i < d; i++) {
      y[at + i] = scale[i] * (x[at + i] - mean) * factor + shift[i];
    }
  }
  return y;
}

/**
 * Turn scores into weights that sum to 1, in place; without any score, into zeros.
 * @param {Float32Array} scores -Infinity for what may not be looked at
 * @returns {Float32Array} scores
 */
function softmax(scores) {
  const top = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  if (top === -Infinity) return scores.fill(0);
  let sum = 0;
  for (let i = 0; i < scores.length; i++) {
    scores[i] = Math.exp(scores[i] - top);
    sum += scores[i];
  }
  for (let i = 0; i < scores.length; i++) scores[i] /= sum;
  return scores;
}

/**
 * Compute the logarithms of the probabilities that belong to logits.
 * @param {Float32Array} logits
 * @param {number} temperature above 1 evens the probabilities out
 * @returns {Float64Array}
 */
function logSoftmax(logits, temperature = 1) {
  const top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  let sum = 0;
  for (const logit of logits) sum += Math.exp((logit - top) / temperature);
  const rest = Math.log(sum);
  return Float64Array.from(logits, (logit) => (logit - top) / temperature - rest);
}

/**
 * Find the n largest values, the largest first; of equal ones the earlier.
 * @param {Float64Array} values
 * @param {number} n
 * @returns {number[]} their places
 */
function largest(values, n) {
  /** @type {number[]} */
  const places = [];
  for (let i = 0; i < values.length; i++) {
    let at = places.length;
    if (at === n && values[i] <= values[places[n - 1]]) continue;
    while (at > 0 && values[places[at - 1]] < values[i]) at--;
    places.splice(at, 0, i);
    if (places.length > n) places.pop();
  }
  return places;
}

/**
 * Write each position as a row of sines and cosines, as the paper's Section 3.5 does.
 * @param {number} length
 * @param {number} d even
 * @returns {Float32Array} (length, d)
 */
function sinusoids(length, d) {
  const table = new Float32Array(length * d);
  for (let position = 0; position < length; position++) {
    for (let i = 0; i < d; i += 2) {
      const angle = position * 10000 ** (-i / d);
      table[position * d + i] = Math.sin(angle);
      table[position * d + i + 1] = Math.cos(angle);
    }
  }
  return table;
}
