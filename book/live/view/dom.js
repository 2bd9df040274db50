// Makes elements of the page, and the controls that the figure's parts share.

/** @typedef {Record<string, string | number | boolean | ((event: any) => void)>} Attributes */
/** @typedef {Node | string} Child */
/** @typedef {{node: HTMLElement, show: () => void}} Part of the figure */

/**
 * @param {Element} node
 * @param {Attributes} attributes a function listens to the event after which it is named
 * @param {Child[]} children
 */
function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false) node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
}

/**
 * Make an element of HTML.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  dress(node, attributes, children);
  return node;
}

/**
 * Make an element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
function draw(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  dress(node, attributes, children);
  return node;
}

/**
 * Give a list as many children as it needs; those that are there stay, with their focus.
 * @template {HTMLElement} T
 * @param {HTMLElement} parent
 * @param {number} count
 * @param {(index: number) => T} create
 * @returns {T[]}
 */
function keep(parent, count, create) {
  while (parent.children.length > count) parent.lastElementChild?.remove();
  while (parent.children.length < count) parent.append(create(parent.children.length));
  return /** @type {T[]} */ ([...parent.children]);
}

/**
 * Write a share as a whole number of per cent.
 * @param {number} p
 */
function percent(p) {
  return p < 0.005 ? "< 1 %" : `${Math.round(100 * p)} %`;
}

/**
 * Write a text; one that stands there already is not read out again.
 * @param {HTMLElement} node
 * @param {string} text
 */
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Show a button or not; the focus on one that goes moves to `next`.
 * @param {HTMLElement} button
 * @param {boolean} shown
 * @param {HTMLElement | null | undefined} next
 */
function showButton(button, shown, next) {
  if (!shown && document.activeElement === button) next?.focus();
  button.hidden = !shown;
}

/**
 * A button to press.
 * @param {string} text
 * @param {() => void} press
 */
function pressButton(text, press) {
  return make("button", { type: "button", class: "live-button", click: press }, text);
}

/**
 * A slider with its name and its value.
 * @param {string} name
 * @param {{min: number, max: number, step: number}} range
 * @param {(value: number) => void} change
 */
function slider(name, range, change) {
  const out = make("output", {});
  const moved = () => change(Number(input.value));
  const input = make("input", { type: "range", ...range, input: moved });
  const node = make("label", { class: "live-control" }, make("span", {}, name), input, out);
  return {
    node,
    input,
    /** @type {(value: number, text?: string) => void} */
    show(value, text = String(value)) {
      input.value = String(value);
      input.setAttribute("aria-valuetext", text);
      say(out, text);
    },
  };
}

/**
 * A box to tick, with its name.
 * @param {string} name
 * @param {(checked: boolean) => void} change
 */
function tick(name, change) {
  const input = make("input", { type: "checkbox", change: () => change(input.checked) });
  const node = make("label", { class: "live-control" }, input, make("span", {}, name));
  return {
    node,
    /** @type {(checked: boolean) => void} */
    show(checked) {
      input.checked = checked;
    },
  };
}

/**
 * A choice of one of several, with its name.
 * @param {string} name
 * @param {(value: string) => void} change
 */
function choice(name, change) {
  const select = make("select", { change: () => change(select.value) });
  const node = make("label", { class: "live-control" }, make("span", {}, name), select);
  return {
    node,
    /** @type {(options: [string, string][], value: string) => void} */
    show(options, value) {
      keep(select, options.length, () => make("option")).forEach((option, i) => {
        [option.value, option.textContent] = options[i];
      });
      select.value = value;
    },
  };
}

/**
 * A part that folds.
 * @param {string} title
 * @param {boolean} open
 * @param {...Child} children
 */
function fold(title, open, ...children) {
  return make("details", { class: "live-fold", open }, make("summary", {}, title), ...children);
}

/**
 * A box for what may be too wide; the keyboard reaches it and moves it.
 * @param {string} label
 * @param {...Child} children
 */
function scroller(label, ...children) {
  const attributes = { class: "live-scroll", tabindex: 0, role: "region", "aria-label": label };
  return make("div", attributes, ...children);
}
