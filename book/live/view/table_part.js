// The weights of the chosen head as a table of numbers.

/** @type {Record<Kind, string>} */
const CAPTIONS = {
  encoder: "The encoder's attention",
  self: "The decoder's attention to what is written",
  cross: "The decoder's attention to the source",
};

/**
 * Name the attention that is shown.
 * @param {State} state
 * @returns {string}
 */
function captionOf({ kind, layer, head }) {
  const which = head < 0 ? "mean of all heads" : `head ${head + 1}`;
  return `${CAPTIONS[kind]}, layer ${layer + 1}, ${which}`;
}

/**
 * Write a label of a row: "the → predicts woman".
 * @param {Label} label
 */
function rowHead({ word, from, lang }) {
  const head = make("th", { scope: "row", lang });
  head.textContent = from ? `${from} → predicts ${word}` : word;
  return head;
}

/**
 * @param {Figure} figure
 * @returns {Part}
 */
function tablePart(figure) {
  const box = scroller("Attention weights");
  const node = fold("The numbers", figure.opens("table"), box);
  node.addEventListener("toggle", () => figure.show());
  return {
    node,
    show() {
      if (!node.open) return;
      const { rows, columns } = labelsOf(figure.answer, figure.state.kind);
      const heads = columns.map(({ word, lang }) => make("th", { scope: "col", lang }, word));
      const weights = figure.weights();
      const body = rows.map((label, i) => {
        const cells = weights[i].map((p) => {
          return make("td", { style: `--p:${p.toFixed(3)}` }, String(Math.round(100 * p)));
        });
        return make("tr", {}, rowHead(label), ...cells);
      });
      const units = ", in per cent. Each row sums to 100.";
      const about = make("span", {}, captionOf(figure.state) + units);
      const caption = make("caption", {}, about);
      const top = make("thead", {}, make("tr", {}, make("td"), ...heads));
      box.replaceChildren(make("table", {}, caption, top, make("tbody", {}, ...body)));
    },
  };
}
