// What the reader has chosen: from the page, from a link, and into one.

/**
 * @typedef {object} State
 * @property {string} text
 * @property {number} k
 * @property {number} alpha
 * @property {number} temperature
 * @property {boolean} causal
 * @property {boolean} positions
 * @property {number[]} hidden places of hidden source words
 * @property {string[]} off silenced heads
 * @property {Kind} kind the attention that is shown
 * @property {number} layer
 * @property {number} head -1 for the mean of all
 * @property {number} at the word written that is looked at, from 0
 * @property {number} step of the search that is shown; 99: the last
 */
/** @typedef {{text: string, why: string}} Example */

const LAST_STEP = 99;

/** @type {State} */
const USUAL = {
  ...{ text: "", k: 2, alpha: 0.6, temperature: 1, causal: true, positions: true },
  ...{ hidden: [], off: [], kind: "cross", layer: 1, head: -1, at: 0, step: LAST_STEP },
};

/**
 * Read one value as the kind of thing that stands there already.
 * @param {unknown} usual
 * @param {string} text
 * @returns {unknown} undefined where the text is none
 */
function readValue(usual, text) {
  if (typeof usual === "boolean") return text === "1";
  if (typeof usual === "string") return text;
  if (Array.isArray(usual)) {
    const items = text.split("_").filter(Boolean);
    return items.every((item) => /^\d+$/.test(item)) ? items.map(Number) : items;
  }
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : undefined;
}

/**
 * Keep what a link says within what there is.
 * @param {State} state
 * @returns {State}
 */
function withinBounds(state) {
  /** @type {(value: number, least: number, most: number) => number} */
  const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
  return {
    ...state,
    k: clamp(Math.round(state.k), 1, 5),
    alpha: clamp(state.alpha, 0, 1.5),
    temperature: clamp(state.temperature, 0.2, 3),
    kind: ["encoder", "self", "cross"].includes(state.kind) ? state.kind : "cross",
    hidden: state.hidden.filter(Number.isInteger),
    off: state.off.map(String).filter((name) => /^(encoder|self|cross)\.\d+\.\d+$/.test(name)),
  };
}

/**
 * Read settings, such as `k=2&text=ist+das+das+fahrrad+%3F`.
 * @param {URLSearchParams} settings
 * @param {State} usual what holds where they say nothing
 * @returns {State}
 */
function readState(settings, usual) {
  /** @type {Record<string, unknown>} */
  const state = { ...usual };
  for (const [name, value] of Object.entries(usual)) {
    const text = settings.get(name);
    if (text !== null) state[name] = readValue(value, text) ?? value;
  }
  return withinBounds(/** @type {State} */ (state));
}

/**
 * Write what differs from `usual` as settings.
 * @param {State} state
 * @param {State} usual
 * @returns {URLSearchParams}
 */
function writeState(state, usual) {
  const settings = new URLSearchParams({ text: state.text });
  for (const [name, value] of Object.entries(state)) {
    const before = /** @type {Record<string, unknown>} */ ({ ...usual })[name];
    if (String(value) === String(before)) continue;
    if (typeof value === "boolean") settings.set(name, value ? "1" : "0");
    else settings.set(name, Array.isArray(value) ? value.join("_") : String(value));
  }
  return settings;
}

/**
 * Say what is changed in the model; nothing if it is as it was trained.
 * @param {State} state
 * @returns {string}
 */
function changesOf({ causal, positions, hidden, off }) {
  /** @type {(list: unknown[], one: string, more: string) => string} */
  const some = (list, one, more) => (list.length > 1 ? more : list.length ? one : "");
  const changes = [
    causal ? "" : "no causal mask",
    positions ? "" : "no positions",
    some(off, "1 head silenced", `${off.length} heads silenced`),
    some(hidden, "1 word hidden", `${hidden.length} words hidden`),
  ];
  return changes.filter(Boolean).join(", ");
}

/**
 * Return the question that a state asks the model.
 * @param {State} state
 * @returns {Question}
 */
function questionOf({ text, k, alpha, temperature, causal, positions, hidden, off }) {
  return { text, k, alpha, temperature, changes: { causal, positions, hidden, off } };
}
