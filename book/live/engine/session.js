// Who translates: this page for the course's small model, a worker for larger ones.

/**
 * @typedef {object} Card of a model
 * @property {number} layers
 * @property {number} heads
 * @property {number} parameters
 * @property {Set<string>} words that it reads
 */
/**
 * @typedef {object} Session
 * @property {Card} card
 * @property {(question: Question, done: (answer: Answer) => void) => void} ask a later
 *     question takes the place of an earlier one that is not answered yet
 * @property {() => void} close
 */
/** @typedef {{number: number, question: Question}} Task */

/**
 * @param {ModelFile} file
 * @returns {Card}
 */
function cardOf({ config, tensors, words }) {
  let parameters = 0;
  for (const { data } of tensors.values()) parameters += data.length;
  const { n_layers: layers, n_heads: heads } = config;
  return { layers, heads, parameters, words: new Set(words[0]) };
}

/**
 * Translate here and at once.
 * @param {ModelFile} file
 * @returns {Session}
 */
function localSession(file) {
  const translator = new Translator(file);
  return {
    card: cardOf(file),
    ask(question, done) {
      const answering = translator.answer(question);
      let turn = answering.next();
      while (!turn.done) turn = answering.next();
      done(turn.value);
    },
    close() {},
  };
}

/**
 * Open a model of the reader's own in a worker, so that the page never waits for it.
 * @param {Uint8Array} bytes of its file; they go to the worker
 * @returns {Promise<Session>} rejected with a sentence that says what is wrong
 */
function workerSession(bytes) {
  const code = new Blob([`(${String(courseLive)})()`], { type: "text/javascript" });
  const address = URL.createObjectURL(code);
  const worker = new Worker(address);
  let number = 0;
  /** @type {(answer: Answer) => void} */
  let finish = () => {};
  return new Promise((resolve, reject) => {
    worker.onerror = () => reject(new Error("This browser could not read the model."));
    worker.onmessage = ({ data }) => {
      URL.revokeObjectURL(address);
      if (data.refused) {
        worker.terminate();
        reject(new Error(data.refused));
      } else if (data.card) {
        resolve({
          card: data.card,
          ask(question, done) {
            finish = done;
            worker.postMessage({ number: ++number, question });
          },
          close: () => worker.terminate(),
        });
      } else if (data.number === number) finish(data.answer);
    };
    worker.postMessage(bytes, [bytes.buffer]);
  });
}

/** Be the worker: read a model, then answer, word by word, the latest question. */
function serveInWorker() {
  /** @type {Translator | null} */
  let translator = null;
  let latest = 0;
  /** @param {MessageEvent<Uint8Array | Task>} message */
  globalThis.onmessage = async ({ data }) => {
    try {
      if (data instanceof Uint8Array) {
        const file = readModelFile(data);
        translator = new Translator(file);
        postMessage({ card: cardOf(file) });
      } else if (translator) {
        latest = data.number;
        const answering = translator.answer(data.question);
        let rested = performance.now();
        let turn = answering.next();
        while (!turn.done) {
          if (performance.now() - rested > 30) {
            await new Promise((next) => setTimeout(next)); // a newer question may come in
            rested = performance.now();
          }
          if (latest !== data.number) return;
          turn = answering.next();
        }
        postMessage({ number: data.number, answer: turn.value });
      }
    } catch (error) {
      postMessage({ refused: error instanceof Error ? error.message : String(error) });
    }
  };
}
