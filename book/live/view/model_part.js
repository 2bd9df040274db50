// What can be changed in the model itself, and a model of the reader's own.

/**
 * The causal mask and the positions.
 * @param {Figure} figure
 * @returns {Part}
 */
function changesPart(figure) {
  const causal = tick("causal mask", (checked) => figure.change({ causal: checked }));
  const positions = tick("positions", (checked) => figure.change({ positions: checked }));
  const back = pressButton("As it was", () => figure.reset());
  const help = make("p", { class: "live-help" });
  help.textContent =
    "The model was trained with both. Take one away and it runs on without: " +
    "without the mask a word also looks at the words after it, as far as they are written; " +
    "without positions a sentence is a bag of words.";
  const row = make("div", { class: "live-row" }, causal.node, positions.node, back);
  return {
    node: fold("Change the model", figure.opens("model"), help, row),
    show() {
      causal.show(figure.state.causal);
      positions.show(figure.state.positions);
    },
  };
}

/**
 * A model of the reader's own: dropped on the figure, or chosen.
 * @param {Figure} figure
 * @returns {Part}
 */
function ownPart(figure) {
  const input = make("input", {
    ...{ type: "file", accept: ".safetensors" },
    change: () => input.files?.[0] && figure.open(input.files[0]),
    click: () => {
      input.value = ""; // so that a file written anew can be chosen again
    },
  });
  const name = make("span", {}, "Choose the file");
  const label = make("label", { class: "live-control" }, name, input);
  const back = pressButton("Back to the course's model", () => figure.goHome());
  const about = make("p", { class: "live-help", role: "status" });
  const help = make("p", { class: "live-help" });
  const command = make("code", {}, "python -m transformer page RUN");
  help.append(command, " writes the model of a training run into one file. ");
  help.append("Drop it on this figure or choose it here: it stays on your machine.");
  figure.box.addEventListener("dragover", (event) => event.preventDefault());
  figure.box.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = event.dataTransfer?.files ?? [];
    if (files.length > 1) figure.refuse("Drop one file at a time.");
    else if (files.length) figure.open(files[0]);
  });
  const row = make("div", { class: "live-row" }, label, back);
  const node = fold("Your own model", figure.opens("own"), help, row, about);
  return {
    node,
    show() {
      showButton(back, !figure.isHome, input);
      say(about, figure.notice);
      if (figure.notice && !figure.isHome) node.open = true;
      if (figure.refused) node.open = true;
    },
  };
}
