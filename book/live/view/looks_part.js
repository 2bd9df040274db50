// Who looks at whom: the words read and written as buttons, and arcs between them.

/**
 * A word of a row or a column of attention weights.
 * @typedef {object} Label
 * @property {string} word
 * @property {string} from the word whose query it is, where the row predicts another
 * @property {"de" | "en"} lang
 * @property {boolean} unknown
 */

/**
 * Name the rows (queries) and the columns (keys) of one kind of attention.
 * @param {Answer} answer
 * @param {Kind} kind
 * @returns {{rows: Label[], columns: Label[]}}
 */
function labelsOf({ read, unknown, written }, kind) {
  /** @type {Label[]} */
  const source = read.map((word, i) => ({ word, from: "", lang: "de", unknown: unknown[i] }));
  /** @type {(word: string, from: string) => Label} */
  const english = (word, from) => ({ word, from, lang: "en", unknown: false });
  const inputs = written.slice(0, -1);
  const rows = inputs.map((from, i) => english(written[i + 1], from));
  if (kind === "encoder") return { rows: source, columns: source };
  const columns = kind === "cross" ? source : inputs.map((word) => english(word, ""));
  return { rows, columns };
}

/** @type {Record<Kind, [string, string]>} what is above the columns, and above the rows */
const TITLES = {
  encoder: ["read", "read, looking"],
  self: ["written so far", "predicts"],
  cross: ["read", "predicts"],
};
const FAINTEST = 0.02; // an arc of a smaller weight is not drawn

/**
 * Write the arcs of all weights as paths, one unit high a row and 100 wide.
 * @param {number[][]} weights
 */
function arcs(weights) {
  return weights.flatMap((row, i) =>
    row.flatMap((p, j) => {
      if (p < FAINTEST) return [];
      const [from, to] = [i + 0.5, j + 0.5];
      const d = `M100 ${from}C55 ${from} 45 ${to} 0 ${to}`;
      return [draw("path", { d, "data-row": i, "data-key": j, style: `--p:${p.toFixed(3)}` })];
    }),
  );
}

/**
 * @typedef {object} Mark what is lit up
 * @property {"row" | "key"} side
 * @property {number} index
 */

/** The two columns of words and the arcs between them. */
class LooksPart {
  /** @param {Figure} figure */
  constructor(figure) {
    this.figure = figure;
    /** @type {Mark | null} where the pointer or the focus is */
    this.near = null;
    /** @type {number[][]} */
    this.weights = [];
    this.titles = [1, 2].map(() => make("p", { class: "live-title" }));
    this.keys = make("div", { class: "live-words live-keys", role: "group" });
    this.rows = make("div", { class: "live-words live-rows", role: "group" });
    const still = { preserveAspectRatio: "none", "aria-hidden": "true" };
    this.svg = draw("svg", { class: "live-arcs", ...still });
    const [left, right] = this.titles;
    const below = [this.keys, this.svg, this.rows];
    this.node = make("div", { class: "live-looks" }, left, make("span"), right, ...below);
  }

  /**
   * @param {Mark["side"]} side
   * @param {number} index
   */
  button(side, index) {
    const light = () => this.light({ side, index });
    const leave = () => this.light(null);
    const listeners = { mouseenter: light, focus: light, mouseleave: leave, blur: leave };
    const press = () => (side === "row" ? this.figure.look({ at: index }) : this.hide(index));
    const attributes = { type: "button", class: "live-word", click: press, ...listeners };
    const spans = ["live-from", "live-text", "live-share"].map((name) => {
      return make("span", { class: name });
    });
    return make("button", attributes, ...spans);
  }

  /** @param {number} index of a source word that is hidden, or shown again */
  hide(index) {
    const { hidden, kind } = this.figure.state;
    if (kind === "self") return;
    const without = hidden.filter((place) => place !== index);
    const added = without.length === hidden.length ? [index] : [];
    this.figure.change({ hidden: [...without, ...added] });
  }

  /** @param {Mark | null} mark */
  light(mark) {
    this.near = mark;
    this.showMark();
  }

  show() {
    const { answer, state } = this.figure;
    const { rows, columns } = labelsOf(answer, state.kind);
    this.weights = this.figure.weights();
    TITLES[state.kind].forEach((title, i) => (this.titles[i].textContent = title));
    const about = state.kind === "self" ? "Words so far" : "Words read; press one to hide it";
    this.keys.setAttribute("aria-label", about);
    this.rows.setAttribute("aria-label", "Words that look; press one to keep it lit up");
    this.fill(this.keys, "key", columns);
    this.fill(this.rows, "row", rows);
    const most = Math.max(rows.length, columns.length);
    this.node.style.setProperty("--rows", String(most));
    this.svg.setAttribute("viewBox", `0 0 100 ${most}`);
    this.svg.replaceChildren(...arcs(this.weights));
    this.showMark();
  }

  /**
   * @param {HTMLElement} box
   * @param {Mark["side"]} side
   * @param {Label[]} labels
   */
  fill(box, side, labels) {
    const { hidden, kind, at } = this.figure.state;
    const buttons = keep(box, labels.length, (i) => this.button(side, i));
    buttons.forEach((button, i) => {
      const { word, from, lang, unknown } = labels[i];
      const [before, text] = button.children;
      before.textContent = from && `${from} →`;
      text.textContent = word;
      button.lang = lang;
      button.title = unknown ? `${word}: unknown, read as <unk>` : "";
      button.classList.toggle("live-unknown", unknown);
      const canHide = side === "key" && kind !== "self";
      button.classList.toggle("live-hidden", canHide && hidden.includes(i));
      if (side === "row") button.setAttribute("aria-pressed", String(i === at));
      else if (canHide) button.setAttribute("aria-pressed", String(hidden.includes(i)));
      else button.removeAttribute("aria-pressed");
    });
  }

  /** Light up one word's arcs, with numbers on the other side. */
  showMark() {
    const { weights } = this;
    const at = Math.min(this.figure.state.at, weights.length - 1);
    const mark = this.near ?? { side: "row", index: at };
    for (const path of this.svg.children) {
      const place = path.getAttribute(mark.side === "row" ? "data-row" : "data-key");
      path.classList.toggle("live-lit", Number(place) === mark.index);
    }
    const row = mark.side === "row" ? weights[mark.index] : undefined;
    const column = mark.side === "key" ? weights.map((one) => one[mark.index]) : undefined;
    this.showShares(this.keys, row, mark.side === "key" ? mark.index : -1);
    this.showShares(this.rows, column, mark.side === "row" ? mark.index : -1);
  }

  /**
   * @param {HTMLElement} box
   * @param {number[] | undefined} shares
   * @param {number} lit
   */
  showShares(box, shares, lit) {
    [...box.children].forEach((button, i) => {
      const p = shares?.[i] ?? 0;
      /** @type {HTMLElement} */ (button).style.setProperty("--p", p.toFixed(3));
      button.children[2].textContent = p < 0.005 ? "" : percent(p);
      button.classList.toggle("live-lit", i === lit);
    });
  }
}
