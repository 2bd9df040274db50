// The likeliest words at one place of the translation, as bars.

/**
 * @param {Figure} figure
 * @returns {Part}
 */
function nextPart(figure) {
  const title = make("p", { class: "live-title" });
  const bars = make("ol", { class: "live-bars" });
  const node = make("div", { class: "live-next" }, title, bars);
  const bar = () => {
    return make("li", {}, make("span", { lang: "en" }), make("span", { class: "live-share" }));
  };
  return {
    node,
    show() {
      const { likely, written } = figure.answer;
      const at = Math.min(figure.state.at, likely.length - 1);
      title.textContent = "after ";
      const before = written.slice(Math.max(0, at - 2), at + 1).join(" ");
      title.append(make("span", { lang: "en" }, at > 2 ? `… ${before}` : before));
      keep(bars, likely[at].length, bar).forEach((item, i) => {
        const { word, p } = likely[at][i];
        item.style.setProperty("--p", p.toFixed(3));
        item.children[0].textContent = word;
        item.children[1].textContent = percent(p);
        item.classList.toggle("live-taken", word === written[at + 1]);
      });
    },
  };
}
