// The figure as a whole: what the reader chose, what the model answered, its parts.

/** One live translator in the page. */
class Figure {
  /**
   * @param {HTMLElement} box
   * @param {Session} session of the course's model
   */
  constructor(box, session) {
    this.box = box;
    this.home = session;
    this.session = session;
    this.card = session.card; // of the model that gave the answer
    /** @type {Example[]} */
    this.examples = JSON.parse(box.dataset.examples ?? "[]");
    this.usual = readState(new URLSearchParams(box.dataset.settings), USUAL);
    this.state = this.usual;
    this.notice = "";
    this.refused = false;
    /** @type {Answer} */
    this.answer = /** @type {any} */ (null); // there is one before anything is shown
    this.parts = this.makeParts();
    this.followLink();
    window.addEventListener("hashchange", () => this.followLink() && this.ask());
    const theme = new MutationObserver(() => this.show()); // pictures have its colours
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.ask();
  }

  get isHome() {
    return this.session === this.home;
  }

  /** Return the examples that suit the model: for one of the reader's, if it knows the words. */
  fittingExamples() {
    if (this.isHome) return this.examples;
    const { words } = this.session.card;
    return this.examples.filter(({ text }) => tokenize(text).every((word) => words.has(word)));
  }

  /** @returns {Part[]} */
  makeParts() {
    const [sentence, kind, looks] = [sentencePart(this), kindPart(this), new LooksPart(this)];
    const [next, heads, table] = [nextPart(this), new HeadsPart(this), tablePart(this)];
    const [tree, changes, own] = [new TreePart(this), changesPart(this), ownPart(this)];
    const save = savePart(this);
    const main = make("div", { class: "live-main" }, looks.node, next.node);
    const folds = [heads, tree, changes, table, own, save].map((part) => part.node);
    this.box.replaceChildren(sentence.node, kind.node, main, ...folds);
    return [sentence, kind, looks, next, heads, table, tree, changes, own, save];
  }

  /**
   * Tell whether a part is to be unfolded at first.
   * @param {string} name
   */
  opens(name) {
    return (this.box.dataset.open ?? "").split(" ").includes(name);
  }

  /**
   * Change what the model is asked.
   * @param {Partial<State>} changes
   */
  change(changes) {
    this.state = { ...this.state, ...changes };
    this.ask();
  }

  /**
   * Change what is shown of the answer.
   * @param {Partial<State>} changes
   */
  look(changes) {
    this.state = { ...this.state, ...changes };
    this.show();
  }

  /** Take back all changes of the model, and keep the sentence. */
  reset() {
    const { causal, positions, hidden, off } = USUAL;
    this.change({ causal, positions, hidden, off });
  }

  ask() {
    this.box.setAttribute("aria-busy", "true");
    const { card } = this.session;
    this.session.ask(questionOf(this.state), (answer) => {
      Object.assign(this, { answer, card });
      this.box.removeAttribute("aria-busy");
      this.show();
    });
  }

  show() {
    const { layers, heads } = this.card;
    const { layer, head, at } = this.state;
    this.state = {
      ...this.state,
      layer: Math.max(0, Math.min(layer, layers - 1)),
      head: Math.max(-1, Math.min(head, heads - 1)),
      at: Math.max(0, at),
    };
    for (const part of this.parts) part.show();
    this.box.dataset.ready = "yes";
  }

  /**
   * Return the weights of a head of the attention that is shown.
   * @param {number} layer
   * @param {number} head -1 for the mean of all
   * @returns {number[][]} a row for each query
   */
  weights(layer = this.state.layer, head = this.state.head) {
    const rows = this.answer.attention[this.state.kind][layer];
    const { columns } = labelsOf(this.answer, this.state.kind);
    const { heads } = this.card;
    return rows.map((_, i) => columns.map((__, j) => lookOf(rows, heads, head, i, j)));
  }

  /** Return the address of this page with the sentence and the settings. */
  link() {
    const settings = writeState(this.state, this.usual);
    settings.set("live", this.box.id);
    return `#${settings}`;
  }

  /** Take over what the page's address says, if it means this figure. */
  followLink() {
    const settings = new URLSearchParams(window.location.hash.slice(1));
    if (settings.get("live") !== this.box.id) return false;
    this.state = readState(settings, this.usual);
    return true;
  }

  /**
   * Use a model of the reader's own, or say why not.
   * @param {File} file
   */
  async open(file) {
    this.refused = false;
    this.tell(`Reading ${file.name} …`);
    try {
      if (file.size > LARGEST_FILE) {
        const [size, most] = [file.size, LARGEST_FILE].map((bytes) => Math.round(bytes / 1e6));
        throw new Error(`The file has ${size} MB; this page reads up to ${most} MB.`);
      }
      const content = await file.arrayBuffer().catch(() => {
        throw new Error("It cannot be read: is it a folder, or gone from its place?");
      });
      const session = await openSession(new Uint8Array(content));
      const count = session.card.parameters.toLocaleString("en");
      this.notice = `${file.name}: ${count} parameters, ${session.card.layers} layers.`;
      this.moveTo(session);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.refuse(`${file.name} is refused. ${why}`);
    }
  }

  /** @param {string} why a file is not taken */
  refuse(why) {
    this.refused = true;
    this.tell(`${why} The figure keeps the model that it has.`);
  }

  /** @param {string} notice */
  tell(notice) {
    this.notice = notice;
    this.show();
  }

  /** @param {Session} session */
  moveTo(session) {
    if (!this.isHome) this.session.close();
    this.session = session;
    this.state = { ...this.state, hidden: [], off: [], layer: session.card.layers - 1, head: -1 };
    this.ask();
  }

  goHome() {
    this.refused = false;
    this.notice = "The course's model again.";
    this.moveTo(this.home);
  }
}
