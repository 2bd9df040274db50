// Questions of the tests to the engine, in the page that holds it.
(() => {
  const { CourseLive: live } = globalThis;
  const usual = { causal: true, positions: true, hidden: [], off: [] };

  const toBase64 = (rows) => {
    const bytes = rows.map((row) => new Uint8Array(row.buffer, row.byteOffset, row.byteLength));
    let text = "";
    for (const part of bytes) for (const byte of part) text += String.fromCharCode(byte);
    return btoa(text);
  };

  const fileOf = (base64) =>
    base64 ? live.readModelFile(live.fromBase64(base64)) : live.shippedFile();

  /** Open a model: the shipped one without a file, without WebAssembly if `plain`. */
  const open = (base64, plain = false) => {
    const { tensors, config } = fileOf(base64);
    const kernel = plain ? null : live.Kernel.make();
    if (!plain && !kernel) throw new Error("no WebAssembly");
    globalThis.model = new live.Transformer(tensors, config, kernel);
  };

  const run = (generator) => {
    let turn = generator.next();
    while (!turn.done) turn = generator.next();
    return turn.value;
  };

  /** Logits of all places of one target, at once and word by word with the cache. */
  const logits = (src, tgt) => {
    const { model } = globalThis;
    const source = model.encode(src, usual);
    const whole = model.decode(source, tgt).logits;
    let parent = null;
    const cached = tgt.map((word) => {
      [parent] = model.step(source, [{ parent, word }]);
      return parent.logits;
    });
    return [toBase64(whole), toBase64(cached)];
  };

  /** All hypotheses of a search, the best first, with their scores. */
  const beams = (src, settings) => {
    const { model } = globalThis;
    const source = model.encode(src, { ...usual, ...settings.changes });
    const { tree, steps } = run(live.search(model, source, { temperature: 1, ...settings }));
    return steps[steps.length - 1].map((id) => [live.wordsOf(tree, id), tree[id].score]);
  };

  /** Milliseconds of one greedy step, the middle one of many. */
  const stepTime = (src, tgt) => {
    const { model } = globalThis;
    const source = model.encode(src, usual);
    const times = [];
    for (let again = 0; again < 20; again++) {
      let parent = null;
      for (const word of tgt) {
        const began = performance.now();
        [parent] = model.step(source, [{ parent, word }]);
        times.push(performance.now() - began);
      }
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
  };

  /** The numbers of one tensor of a file. */
  const numbers = (file, name) => {
    const { tensors } = live.readSafetensors(live.fromBase64(file));
    return toBase64([tensors.get(name).data]);
  };

  /** The translation of a text by the shipped model, as the figure asks for it. */
  const say = (text, { k = 2, alpha = 0.6, ...changes }) => {
    globalThis.shipped ??= new live.Translator(live.shippedFile());
    const question = { text, k, alpha, temperature: 1, changes: { ...usual, ...changes } };
    const answer = run(globalThis.shipped.answer(question));
    return answer.written.slice(1, -1).join(" ");
  };

  globalThis.ask = { open, logits, beams, stepTime, numbers, say };
})();
