// Where it begins: in a page, near a figure; in a worker; or in a test.

/** How far above and below the window a figure is made ready. */
const NEAR = "800px";
const ADDRESS = globalThis.document?.currentScript?.getAttribute("src") ?? "";

/** @type {Promise<Session> | undefined} */
let home;

/**
 * Load the course's model, once for all figures of a page.
 * @returns {Promise<Session>}
 */
function loadHome() {
  if (window.CourseModel) home ??= Promise.resolve(localSession(shippedFile()));
  home ??= new Promise((resolve, reject) => {
    const src = ADDRESS.replace(/live\.js[^/]*$/, "tiny-model.js");
    const load = () => resolve(localSession(shippedFile()));
    const script = make("script", { src, load, error: reject });
    document.head.append(script);
  });
  return home;
}

/**
 * Read the shipped model, whose weights are safetensors files in base64.
 * @returns {ModelFile}
 */
function shippedFile() {
  const { config, words, weights } = window.CourseModel;
  const files = weights.map((text) => readSafetensors(fromBase64(text)));
  const tensors = new Map(files.flatMap((file) => [...file.tensors]));
  return { config, words, tensors };
}

/**
 * Open a reader's model in a worker, or here where the browser has none.
 * @param {Uint8Array} bytes
 * @returns {Promise<Session>}
 */
async function openSession(bytes) {
  if (typeof Worker === "function") return workerSession(bytes);
  return localSession(readModelFile(bytes));
}

/**
 * Bring a figure to life.
 * @param {Element} figure
 */
async function enliven(figure) {
  const session = await loadHome();
  const box = /** @type {HTMLElement} */ (figure.querySelector(".live-translator"));
  new Figure(box, session);
  figure.classList.add("live-ready");
}

/** Bring each figure to life once it is near: at once where the model is there already. */
function start() {
  const figures = [...document.querySelectorAll(".live-figure")];
  if (window.CourseModel) return figures.forEach(enliven);
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        enliven(target);
      }
    },
    { rootMargin: NEAR },
  );
  for (const figure of figures) near.observe(figure);
}

if ("importScripts" in globalThis) serveInWorker();
else if (typeof document === "undefined") { /* a test asks for what it needs */ }
else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
