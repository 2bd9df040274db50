// The beam search: its settings, its tree that grows step by step, and its hypotheses.

const PACE = 900; // milliseconds a step while it plays

/**
 * Draw the line from a branch to one that grows out of it.
 * @param {Leaf} from
 * @param {Leaf} to
 */
function twig(from, to) {
  const [start, end] = [from.x + LETTER * from.name.length + 4, to.x - 5];
  const middle = (start + end) / 2;
  return `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${end} ${to.y}`;
}

/**
 * Draw the tree up to a step.
 * @param {Answer} answer
 * @param {number} step
 * @returns {{svg: SVGSVGElement, column: number}} the picture, and the width of a step
 */
function treePicture(answer, step) {
  const { leaves, column, width, height } = layOut(answer);
  const places = new Map(leaves.map((leaf) => [leaf.branch.id, leaf]));
  const alive = new Set(answer.steps[step]);
  const svg = draw("svg", { class: "live-tree", width, height, "aria-hidden": "true" });
  /** @type {(leaf: Leaf) => string} */
  const kindOf = ({ branch, kept }) => {
    if (alive.has(branch.id)) return "live-alive";
    return kept ? "live-kept" : "live-cut";
  };
  const grown = leaves.filter(({ branch }) => branch.depth <= step);
  for (const leaf of grown) {
    const parent = places.get(leaf.branch.parent);
    if (!parent) continue;
    svg.append(draw("path", { class: kindOf(leaf), d: twig(parent, leaf) }));
  }
  for (const leaf of grown) {
    const { branch, name, x, y } = leaf;
    const text = draw("text", { x, y: y + 1 }, name);
    const p = Math.exp(branch.logProb);
    const share = branch.depth ? p.toPrecision(2).replace(/e.*/, "…") : "";
    const number = draw("text", { class: "live-p", x, y: y + 14 }, p < 0.001 ? "< 0.001" : share);
    svg.append(draw("g", { class: kindOf(leaf) }, text, number));
  }
  return { svg, column };
}

/**
 * List the hypotheses of a step, the best first.
 * @param {Answer} answer
 * @param {number} step
 */
function hypotheses({ tree, steps, names }, step) {
  return steps[step].map((id) => {
    const words = [];
    for (let at = id; at > 0; at = tree[at].parent) words.unshift(names[at]);
    const { logProb, score } = tree[id];
    const said = make("span", { lang: "en" }, words.join(" ") || "<sos>");
    const p = Math.exp(logProb);
    const share = p < 0.0001 ? "< 0.0001" : p.toFixed(4);
    const numbers = `probability ${share}, score ${score.toFixed(3)}`;
    return make("li", {}, said, make("span", { class: "live-numbers" }, ` ${numbers}`));
  });
}

/** The search's settings, its tree and its list. */
class TreePart {
  /** @param {Figure} figure */
  constructor(figure) {
    this.figure = figure;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.k = slider("Beam size k", { min: 1, max: 5, step: 1 }, (k) => this.change({ k }));
    const alpha = { min: 0, max: 1.5, step: 0.1 };
    this.alpha = slider("Length penalty α", alpha, (value) => this.change({ alpha: value }));
    const warm = { min: 0.2, max: 3, step: 0.1 };
    this.warmth = slider("Temperature", warm, (value) => this.change({ temperature: value }));
    this.step = slider("Step", { min: 0, max: 1, step: 1 }, (step) => this.goTo(step));
    this.button = pressButton("Play", () => this.play());
    this.box = scroller("The tree of the beam search");
    this.list = make("ol", { class: "live-hypotheses" });
    const settings = make("div", { class: "live-row" });
    settings.append(this.k.node, this.alpha.node, this.warmth.node);
    const steps = make("div", { class: "live-row live-steps" }, this.button, this.step.node);
    const open = figure.opens("beam");
    this.node = fold("The search", open, settings, steps, this.box, this.list);
    this.node.addEventListener("toggle", () => this.figure.show());
  }

  /** @param {Partial<State>} settings */
  change(settings) {
    this.stop();
    this.figure.change({ ...settings, step: LAST_STEP });
  }

  /** @param {number} step */
  goTo(step) {
    this.stop();
    this.figure.look({ step });
  }

  /** Let the tree grow from where it is, from its root where it is grown; or stop it. */
  play() {
    if (this.timer) return this.stop();
    const last = this.figure.answer.steps.length - 1;
    if (this.figure.state.step >= last) this.figure.look({ step: 0 });
    this.button.textContent = "Stop";
    this.timer = window.setInterval(() => {
      const { step } = this.figure.state;
      this.figure.look({ step: step + 1 });
      if (step + 1 >= this.figure.answer.steps.length - 1) this.stop();
    }, PACE);
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.button.textContent = "Play";
  }

  show() {
    if (!this.node.open) return this.stop();
    const { answer, state } = this.figure;
    const last = answer.steps.length - 1;
    const step = Math.min(state.step, last);
    this.k.show(state.k);
    this.alpha.show(state.alpha, state.alpha.toFixed(1));
    this.warmth.show(state.temperature, state.temperature.toFixed(1));
    this.step.input.max = String(last);
    this.step.show(step, `${step} of ${last}`);
    const { svg, column } = treePicture(answer, step);
    this.box.replaceChildren(svg);
    if (step < last) this.box.scrollLeft = (step + 2) * column - this.box.clientWidth;
    this.list.replaceChildren(...hypotheses(answer, step));
  }
}
