// Matrix products: by WebAssembly, four numbers at once, or else in plain JavaScript.

/** `linear.wat`, compiled; a test compiles it again and compares. */
const KERNEL =
  "AGFzbQEAAAABEAJgAXsBfWAHf39/f39/fwADAwIAAQUDAQABBxMCBm1lbW9yeQIABmxpbmVhcgABCuICAhkA" +
  "IAD9HwAgAP0fAZIgAP0fAiAA/R8DkpILxQICCX8FeyACQQJ0IQoDQCADIApqIQ0gDSAKaiEOIA4gCmohDyAA" +
  "IQsgBiAHQQJ0aiEMQQAhCANA/QwAAAAAAAAAAAAAAAAAAAAAIREgESESIBEhEyARIRRBACEJA0AgCyAJav0A" +
  "BAAhECARIBAgAyAJav0ABAD95gH95AEhESASIBAgDSAJav0ABAD95gH95AEhEiATIBAgDiAJav0ABAD95gH9" +
  "5AEhEyAUIBAgDyAJav0ABAD95gH95AEhFCAJQRBqIQkgCSAKSQ0ACyAMIAUqAgAgERAAkjgCACAMIAUqAgQg" +
  "EhAAkjgCBCAMIAUqAgggExAAkjgCCCAMIAUqAgwgFBAAkjgCDCALIApqIQsgDCAEQQJ0aiEMIAhBAWohCCAI" +
  "IAFJDQALIA8gCmohAyAFQRBqIQUgB0EEaiEHIAcgBEkNAAsL";

/**
 * Read bytes that are written in base64.
 * @param {string} text
 * @returns {Uint8Array}
 */
function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/**
 * Round up to a multiple of 4.
 * @param {number} n
 */
const by4 = (n) => Math.ceil(n / 4) * 4;

/** The compiled product, and the memory in which a model's matrices lie for it. */
class Kernel {
  constructor() {
    const compiled = new WebAssembly.Module(fromBase64(KERNEL));
    const { memory, linear } = new WebAssembly.Instance(compiled).exports;
    this.memory = /** @type {WebAssembly.Memory} */ (memory);
    this.run = /** @type {(...numbers: number[]) => void} */ (linear);
    this.numbers = new Float32Array(this.memory.buffer);
    this.used = 0;
    this.workbench = { at: 0, size: 0 };
  }

  /**
   * Make a kernel, or return null where the browser cannot run it.
   * @returns {Kernel | null}
   */
  static make() {
    try {
      return new Kernel();
    } catch {
      return null;
    }
  }

  /**
   * Set aside room for numbers and return where it begins.
   * @param {number} size
   */
  take(size) {
    const at = this.used;
    this.used += by4(size);
    const missing = this.used * 4 - this.memory.buffer.byteLength;
    if (missing > 0) {
      this.memory.grow(Math.ceil(missing / 65536));
      this.numbers = new Float32Array(this.memory.buffer);
    }
    return at;
  }

  /**
   * Lay n rows of numbers into the memory, each filled up with zeros to a multiple of 4.
   * @param {Float32Array} values (n, width)
   * @param {number} n
   * @param {number} at where to, counted in numbers
   */
  lay(values, n, at) {
    const width = values.length / n;
    const wide = by4(width);
    if (width === wide) return this.numbers.set(values, at);
    for (let r = 0; r < n; r++) {
      const row = values.subarray(r * width, (r + 1) * width);
      this.numbers.set(row, at + r * wide);
      this.numbers.fill(0, at + r * wide + width, at + (r + 1) * wide);
    }
  }

  /**
   * Return where there is room for `size` numbers that are needed for a moment.
   * @param {number} size
   */
  bench(size) {
    if (size > this.workbench.size) this.workbench = { at: this.take(size), size };
    return this.workbench.at;
  }
}

/** A linear layer: y = x Wᵀ + b. */
class Linear {
  /**
   * @param {Tensor} weight (out, width), or (out, width, 1) of a convolution
   * @param {Tensor} bias (out,)
   * @param {Kernel | null} kernel
   */
  constructor(weight, bias, kernel) {
    const [out, width] = weight.shape;
    this.out = out;
    this.width = width;
    this.weight = weight.data;
    this.bias = bias.data;
    this.kernel = kernel;
    this.at = { weight: 0, bias: 0 };
    if (kernel) {
      this.at.weight = kernel.take(by4(this.out) * by4(this.width));
      kernel.lay(this.weight, this.out, this.at.weight);
      this.at.bias = kernel.take(this.out);
      kernel.numbers.set(this.bias, this.at.bias);
    }
  }

  /**
   * @param {Float32Array} x (n, width)
   * @param {number} n
   * @returns {Float32Array} (n, out)
   */
  apply(x, n) {
    return this.kernel ? this.compiled(x, n, this.kernel) : this.plain(x, n);
  }

  /**
   * @param {Float32Array} x (n, width)
   * @param {number} n
   * @param {Kernel} kernel
   * @returns {Float32Array} (n, out)
   */
  compiled(x, n, kernel) {
    const width = by4(this.width);
    const out = by4(this.out);
    const from = kernel.bench(n * (width + out));
    const to = from + n * width;
    kernel.lay(x, n, from);
    const bytes = [from, this.at.weight, this.at.bias, to].map((place) => place * 4);
    kernel.run(bytes[0], n, width, bytes[1], out, bytes[2], bytes[3]);
    if (out === this.out) return kernel.numbers.slice(to, to + n * out);
    const y = new Float32Array(n * this.out);
    for (let r = 0; r < n; r++) {
      const row = to + r * out;
      y.set(kernel.numbers.subarray(row, row + this.out), r * this.out);
    }
    return y;
  }

  /**
   * @param {Float32Array} x (n, width)
   * @param {number} n
   * @returns {Float32Array} (n, out)
   */
  plain(x, n) {
    const { weight, bias, out, width } = this;
    const y = new Float32Array(n * out);
    for (let r = 0; r < n; r++) {
      for (let o = 0; o < out; o++) {
        let sum = bias[o];
        for (let i = 0; i < width; i++) sum += weight[o * width + i] * x[r * width + i];
        y[r * out + o] = sum;
      }
    }
    return y;
  }
}
