// The sentence to translate, the examples, and the translation in one line.

const WAY_BACK = "“As it was”, below Change the model, takes it back.";

/**
 * Say in words what came out.
 * @param {Answer} answer
 * @param {State} state
 */
function outcome({ read, unknown, written, left_out: leftOut }, state) {
  if (read.length === 2) return { translation: "…", remark: "There is no sentence yet: type one." };
  const words = written.slice(1).filter((word) => word !== "<eos>");
  const strange = [...new Set(read.filter((_, i) => unknown[i]))];
  const remarks = [];
  if (strange.length) {
    const which = strange.map((word) => `“${word}”`).join(", ");
    remarks.push(`The model does not know ${which} and reads <unk>.`);
  }
  if (leftOut) {
    const rest = leftOut > 1 ? `last ${leftOut} are` : "last is";
    remarks.push(`It reads ${read.length - 2} words at most: the ${rest} left out.`);
  }
  if (written[written.length - 1] !== "<eos>") remarks.push("It found no end.");
  const changes = changesOf(state);
  if (changes) remarks.push(`Changed: ${changes}. ${WAY_BACK}`);
  return { translation: detokenize(words) || "…", remark: remarks.join(" ") };
}

/**
 * @param {Figure} figure
 * @returns {Part}
 */
function sentencePart(figure) {
  const input = make("input", {
    ...{ type: "text", class: "live-input", lang: "de" },
    ...{ autocomplete: "off", autocapitalize: "off", spellcheck: "false" },
    input: () => figure.change({ text: input.value, hidden: [], step: LAST_STEP }),
  });
  const examples = choice("Examples", (text) => {
    if (text) figure.change({ text, hidden: [], at: 0, step: LAST_STEP });
  });
  const why = make("p", { class: "live-why" });
  const translation = make("strong", { lang: "en" });
  const remark = make("span", { class: "live-remark" });
  const status = make("p", { class: "live-status", role: "status" }, translation, " ", remark);
  const name = make("span", {}, "German sentence");
  const label = make("label", { class: "live-sentence" }, name, input);
  const node = make("div", {}, label, examples.node, why, status);
  return {
    node,
    show() {
      const { text } = figure.state;
      if (input.value !== text) input.value = text;
      const fitting = figure.fittingExamples();
      const known = fitting.find((example) => example.text === text);
      /** @type {[string, string][]} */
      const options = fitting.map((example) => [example.text, example.text]);
      examples.show([["", "choose one …"], ...options], known ? text : "");
      examples.node.hidden = !fitting.length;
      why.textContent = known?.why ?? "";
      const said = outcome(figure.answer, figure.state);
      say(translation, said.translation);
      say(remark, said.remark);
    },
  };
}
