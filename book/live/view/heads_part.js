// All heads of one kind of attention side by side; each can be chosen, and silenced.

/** @type {[Kind, string][]} */
const KINDS = [
  ["cross", "decoder: looks at the source"],
  ["self", "decoder: looks back at what is written"],
  ["encoder", "encoder: the source looks at itself"],
];

/**
 * Paint weights as a picture of one point each, the stronger the less transparent.
 * @param {HTMLCanvasElement} canvas
 * @param {number[][]} weights
 * @param {string} colour as "r g b"
 */
function paint(canvas, weights, colour) {
  canvas.width = weights[0].length;
  canvas.height = weights.length;
  const points = canvas.getContext("2d");
  if (!points) return;
  const image = points.createImageData(canvas.width, canvas.height);
  const hue = colour.split(" ").map(Number);
  weights.flat().forEach((p, i) => image.data.set([...hue, Math.round(255 * p)], 4 * i));
  points.putImageData(image, 0, 0);
}

/**
 * Make the small picture of one head, with a box to silence it.
 * @param {(press: "choose" | "silence") => void} pressed
 */
function smallHead(pressed) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const name = make("span", {});
  const attributes = { type: "button", class: "live-map", click: () => pressed("choose") };
  const button = make("button", attributes, canvas, name);
  return make("div", { class: "live-head" }, button, tick("on", () => pressed("silence")).node);
}

const HEADS_HELP =
  "Each picture is one head: a row for each word that looks, a column for each word that is " +
  "looked at. Press one to draw its arcs. Without its tick a head is silenced: its part of " +
  "the output becomes 0.";

/** The small pictures of all heads of the attention that is shown. */
class HeadsPart {
  /** @param {Figure} figure */
  constructor(figure) {
    this.figure = figure;
    this.grid = make("div", { class: "live-maps" });
    this.all = pressButton("All heads on", () => figure.change({ off: [] }));
    const help = make("p", { class: "live-help" }, HEADS_HELP);
    this.node = fold("All heads", figure.opens("heads"), help, this.grid, this.all);
    this.node.addEventListener("toggle", () => figure.show());
  }

  /** @param {number} index of a picture */
  place(index) {
    const { heads } = this.figure.card;
    const [layer, head] = [Math.floor(index / heads), index % heads];
    const title = `layer ${layer + 1}, head ${head + 1}`;
    return { layer, head, title, name: `${this.figure.state.kind}.${layer}.${head}` };
  }

  /**
   * @param {number} index
   * @param {"choose" | "silence"} press
   */
  pressed(index, press) {
    const { layer, head, name } = this.place(index);
    if (press === "choose") return this.figure.look({ layer, head });
    const { off } = this.figure.state;
    const without = off.filter((one) => one !== name);
    this.figure.change({ off: without.length < off.length ? without : [...off, name] });
  }

  show() {
    const lastTick = this.grid.lastElementChild?.querySelector("input");
    showButton(this.all, this.figure.state.off.length > 0, lastTick);
    if (!this.node.open) return;
    const { layers, heads } = this.figure.card;
    const create = (/** @type {number} */ i) => smallHead((press) => this.pressed(i, press));
    const colour = getComputedStyle(this.figure.box).getPropertyValue("--live-rgb");
    keep(this.grid, layers * heads, create).forEach((picture, i) => {
      this.showHead(picture, i, colour);
    });
  }

  /**
   * @param {HTMLElement} picture
   * @param {number} index
   * @param {string} colour
   */
  showHead(picture, index, colour) {
    const { state } = this.figure;
    const { layer, head, title, name } = this.place(index);
    const off = state.off.includes(name);
    const [button, label] = picture.children;
    const [canvas, caption] = button.children;
    const weights = this.figure.weights(layer, head);
    paint(/** @type {HTMLCanvasElement} */ (canvas), weights, colour);
    caption.textContent = title;
    const chosen = state.layer === layer && state.head === head;
    button.setAttribute("aria-pressed", String(chosen));
    const input = /** @type {HTMLInputElement} */ (label.firstElementChild);
    input.checked = !off;
    input.setAttribute("aria-label", `${title} on`);
    picture.classList.toggle("live-off", off);
  }
}

/**
 * The choice of an attention, and of one of its heads or their mean.
 * @param {Figure} figure
 * @returns {Part}
 */
function kindPart(figure) {
  const kind = choice("Attention", (value) => figure.look({ kind: /** @type {Kind} */ (value) }));
  const head = choice("Head", (value) => {
    const [layer, number] = value.split(" ").map(Number);
    figure.look({ layer, head: number });
  });
  return {
    node: make("div", { class: "live-row" }, kind.node, head.node),
    show() {
      const { state, card } = figure;
      /** @type {[string, string][]} */
      const options = [];
      for (let layer = 0; layer < card.layers; layer++) {
        options.push([`${layer} -1`, `layer ${layer + 1}, mean of all`]);
        for (let h = 0; h < card.heads; h++) {
          options.push([`${layer} ${h}`, `layer ${layer + 1}, head ${h + 1}`]);
        }
      }
      kind.show(KINDS, state.kind);
      head.show(options, `${state.layer} ${state.head}`);
    },
  };
}
