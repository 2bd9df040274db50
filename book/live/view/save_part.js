// Keeps what is shown: as a picture, and as a link.

const INK = { text: "#1b1b1b", soft: "#5a5a5a", arc: "#0a5fa5", paper: "#ffffff" };
const LINE = 30; // height of a row in the picture

/**
 * Draw words and arcs as a picture that stands alone, dark on white.
 * @param {Figure} figure
 * @returns {SVGSVGElement}
 */
function standAlone(figure) {
  const { answer, state } = figure;
  const { rows, columns } = labelsOf(answer, state.kind);
  const changes = changesOf(state);
  const about = captionOf(state) + (changes && `. Changed: ${changes}`);
  const weights = figure.weights();
  const height = LINE * (Math.max(rows.length, columns.length) + 2);
  const size = { width: 640, height, viewBox: `0 0 640 ${height}` };
  const svg = draw("svg", { ...size, "font-family": "sans-serif", "font-size": 15 });
  svg.append(draw("title", {}, about));
  svg.append(draw("rect", { width: 640, height, fill: INK.paper }));
  /** @type {(i: number) => number} */
  const y = (i) => LINE * (i + 1);
  weights.forEach((row, i) =>
    row.forEach((p, j) => {
      if (p < FAINTEST) return;
      const d = `M400 ${y(i)}C330 ${y(i)} 270 ${y(j)} 200 ${y(j)}`;
      const look = { stroke: INK.arc, "stroke-width": (0.5 + 5 * p).toFixed(2), fill: "none" };
      svg.append(draw("path", { d, ...look, opacity: (0.15 + 0.85 * p).toFixed(2) }));
    }),
  );
  columns.forEach(({ word }, j) => {
    svg.append(draw("text", { x: 192, y: y(j) + 5, "text-anchor": "end", fill: INK.text }, word));
  });
  rows.forEach(({ word, from }, i) => {
    const before = draw("tspan", { fill: INK.soft, "font-size": 12 }, from && `${from} → `);
    svg.append(draw("text", { x: 408, y: y(i) + 5, fill: INK.text }, before, word));
  });
  const caption = { x: 20, y: height - 12, "font-size": 11, fill: INK.soft };
  svg.append(draw("text", caption, about));
  return svg;
}

/**
 * Hand a drawing to the reader as a file.
 * @param {SVGSVGElement} drawing
 * @param {string} name
 */
function download(drawing, name) {
  const text = new XMLSerializer().serializeToString(drawing);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * @param {Figure} figure
 * @returns {Part}
 */
function savePart(figure) {
  const save = () => download(standAlone(figure), "attention.svg");
  const picture = pressButton("Download the picture (SVG)", save);
  const link = make("a", { class: "live-link" });
  return {
    node: make("div", { class: "live-row live-save" }, picture, link),
    show() {
      link.href = figure.link();
      const whose = figure.isHome ? "" : ", with the course's model";
      link.textContent = `Link to this sentence and these settings${whose}`;
    },
  };
}
