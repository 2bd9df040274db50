// Reads safetensors files: a header in JSON, then the numbers.

/** @typedef {{shape: number[], data: Float32Array}} Tensor */
/**
 * @typedef {object} TensorFile
 * @property {Map<string, Tensor>} tensors
 * @property {Record<string, string>} metadata
 */
/** @typedef {{dtype: string, shape: number[], data_offsets: [number, number]}} Entry */

const NOT_SAFETENSORS = "This is no safetensors file";

/** @type {Float32Array | undefined} */
let halves;

/**
 * List the 65,536 numbers of half precision, once.
 * @returns {Float32Array}
 */
function halfTable() {
  halves ??= Float32Array.from({ length: 65536 }, (_, bits) => {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const sign = bits >> 15 ? -1 : 1;
    if (exponent === 0) return sign * fraction * 2 ** -24;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return halves;
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float32Array>} */
const NUMBERS = {
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => {
    if (globalThis.Float16Array) return Float32Array.from(new Float16Array(bytes));
    const table = halfTable();
    const bits = new Uint16Array(bytes);
    const numbers = new Float32Array(bits.length);
    for (let i = 0; i < bits.length; i++) numbers[i] = table[bits[i]];
    return numbers;
  },
  BF16: (bytes) => {
    const bits = new Uint16Array(bytes);
    const wide = new Uint32Array(bits.length);
    for (let i = 0; i < bits.length; i++) wide[i] = bits[i] << 16;
    return new Float32Array(wide.buffer);
  },
};
/** @type {Record<string, number>} */
const BYTES = { F32: 4, F16: 2, BF16: 2 };

/**
 * Read the header, and where the numbers begin.
 * @param {Uint8Array} bytes
 * @returns {{header: Record<string, unknown>, start: number}}
 */
function readHeader(bytes) {
  if (bytes.length < 8) throw new Error(`${NOT_SAFETENSORS}: it has ${bytes.length} bytes.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = 8 + Number(view.getBigUint64(0, true));
  if (start > bytes.length) {
    throw new Error(`${NOT_SAFETENSORS}: its header would be longer than the file.`);
  }
  try {
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
    if (header && typeof header === "object") return { header, start };
  } catch {
    // it is refused below
  }
  throw new Error(`${NOT_SAFETENSORS}: its header cannot be read.`);
}

/**
 * Read one tensor.
 * @param {Uint8Array} bytes of the whole file
 * @param {number} start where the numbers begin
 * @param {string} name
 * @param {Entry} entry
 * @returns {Tensor}
 */
function readTensor(bytes, start, name, { dtype, shape, data_offsets: [from, to] }) {
  if (!NUMBERS[dtype]) {
    throw new Error(`${name}: expected numbers of kind F16, BF16 or F32, found ${dtype}.`);
  }
  if (start + to > bytes.length) {
    throw new Error(`The file ends in the middle of ${name}: it is not whole.`);
  }
  const count = shape.reduce((a, b) => a * b, 1);
  if (to - from !== count * BYTES[dtype]) {
    throw new Error(`${name}: the file has ${to - from} bytes for ${count} numbers.`);
  }
  const own = bytes.slice(start + from, start + to); // so that the numbers are aligned
  return { shape, data: NUMBERS[dtype](/** @type {ArrayBuffer} */ (own.buffer)) };
}

/**
 * Read a safetensors file.
 * @param {Uint8Array} bytes
 * @returns {TensorFile}
 */
function readSafetensors(bytes) {
  const { header, start } = readHeader(bytes);
  const { __metadata__: metadata = {}, ...entries } = header;
  /** @type {Map<string, Tensor>} */
  const tensors = new Map();
  for (const [name, entry] of Object.entries(entries)) {
    const known = /** @type {Entry} */ (entry);
    if (!Array.isArray(known?.shape) || !Array.isArray(known.data_offsets)) {
      throw new Error(`${NOT_SAFETENSORS}: its header does not describe ${name}.`);
    }
    tensors.set(name, readTensor(bytes, start, name, known));
  }
  return { tensors, metadata: /** @type {Record<string, string>} */ (metadata) };
}
