// Makes the parts of a model from its tensors, and the nodes of a hypothesis.

/** The tensors of a model by what they are for. */
class Parts {
  /**
   * @param {Map<string, Tensor>} tensors
   * @param {Config} config
   * @param {Kernel | null} kernel
   */
  constructor(tensors, config, kernel) {
    this.tensors = tensors;
    this.config = config;
    this.kernel = kernel;
  }

  /**
   * @param {string} name
   * @returns {Tensor}
   */
  get(name) {
    const found = this.tensors.get(name);
    if (!found) throw new Error(`The file lacks tensors of the model: ${name}.`);
    return found;
  }

  /** @param {string} name */
  linear(name) {
    return new Linear(this.get(`${name}.weight`), this.get(`${name}.bias`), this.kernel);
  }

  /**
   * @param {string} name
   * @returns {Norm}
   */
  norm(name) {
    return { scale: this.get(`${name}.weight`).data, shift: this.get(`${name}.bias`).data };
  }

  /**
   * The last normalisation of a stack, which a model with `norm_first` has.
   * @param {string} stack
   */
  lastNorm(stack) {
    return this.config.norm_first ? this.norm(`${stack}.norm`) : null;
  }

  /**
   * @param {string} name
   * @returns {Projections}
   */
  attention(name) {
    const [q, k, v, o] = [..."qkvo"].map((letter) => this.linear(`${name}.w_${letter}`));
    return { q, k, v, o };
  }

  /**
   * @param {"encoder" | "decoder"} stack
   * @param {boolean} hasCross
   * @returns {Layer[]}
   */
  stack(stack, hasCross) {
    const kind = this.config.feed_forward === "conv" ? "conv" : "linear";
    return Array.from({ length: this.config.n_layers }, (_, number) => {
      const name = `${stack}.layers.${number}`;
      return {
        self: this.attention(`${name}.self_attention`),
        cross: hasCross ? this.attention(`${name}.cross_attention`) : null,
        inner: [
          this.linear(`${name}.feed_forward.${kind}1`),
          this.linear(`${name}.feed_forward.${kind}2`),
        ],
        norms: (hasCross ? [1, 2, 3] : [1, 2]).map((n) => this.norm(`${name}.add_norm${n}.norm`)),
      };
    });
  }

  /**
   * The table of words; a shared one is saved once, under the first of its names.
   * @param {"src" | "tgt"} side
   */
  table(side) {
    const holder = this.config.tie === "all" ? "src" : side;
    return this.get(`${holder}_embedding.tokens.table.weight`);
  }

  /** @param {"src" | "tgt"} side */
  positions(side) {
    const { positions, max_len: length, d_model: d } = this.config;
    if (positions === "none") return null;
    if (positions === "sinusoidal") return sinusoids(length, d);
    return this.get(`${side}_embedding.positions.table.weight`).data;
  }

  projection() {
    const own = this.config.tie === "none";
    const weight = own ? this.get("projection.weight") : this.table("tgt");
    return new Linear(weight, this.get("projection.bias"), this.kernel);
  }
}

/**
 * Make a node for a word that is about to pass through the decoder.
 * @param {Passed | null} parent
 * @param {number} word
 * @returns {Passed}
 */
function newlyPassed(parent, word) {
  const depth = parent ? parent.depth + 1 : 0;
  const logits = new Float32Array(0);
  return { parent, word, depth, keys: [], values: [], self: [], cross: [], logits };
}

/**
 * List the words of a hypothesis up to a node, the first one first.
 * @param {Passed} last
 * @returns {Passed[]}
 */
function pathTo(last) {
  const path = [last];
  for (let one = last.parent; one; one = one.parent) path.unshift(one);
  return path;
}
