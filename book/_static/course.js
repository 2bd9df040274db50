// From the disk a page may not read its neighbours. What the search shows of them it
// would fetch; here it comes from scripts that the build writes beside them.
if (
  window.location.protocol === "file:" &&
  DOCUMENTATION_OPTIONS.pagename === "search"
) {
  window.courseExcerpts = {};
  window.fetch = (address) =>
    new Promise((resolve, reject) => {
      const page = address.replace(/^\.\//, "").replace(/\.html$/, "");
      const script = document.createElement("script");
      script.onload = () => resolve({ text: () => window.courseExcerpts[page] });
      script.onerror = reject;
      script.src = `excerpts/${page}.js`;
      document.head.append(script);
    });
}

// Paper is white, and nobody can unfold an answer on it.
window.addEventListener("beforeprint", () => {
  const root = document.documentElement;
  root.dataset.screenTheme = root.dataset.theme;
  root.dataset.theme = "light";
  document.querySelectorAll("details.sd-dropdown:not([open])").forEach((fold) => {
    fold.dataset.foldAgain = "";
    fold.open = true;
  });
});
window.addEventListener("afterprint", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.screenTheme;
  document.querySelectorAll("details[data-fold-again]").forEach((fold) => {
    delete fold.dataset.foldAgain;
    fold.open = false;
  });
});

// A drawing in steps: its slider shows the steps up to a value, and Play walks to the end.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".steps").forEach((row) => {
    const [button, slider, output] = row.querySelectorAll("button, input, output");
    const names = JSON.parse(row.dataset.names);
    const play = button.textContent;
    let walk = null;
    const show = (step) => {
      slider.value = step;
      row.parentElement.dataset.step = step;
      output.textContent = names[step - 1];
      slider.setAttribute("aria-valuetext", names[step - 1]);
    };
    const stop = () => {
      clearInterval(walk);
      walk = null;
      button.textContent = play;
    };
    slider.addEventListener("input", () => {
      stop();
      show(Number(slider.value));
    });
    button.addEventListener("click", () => {
      if (walk) return stop();
      button.textContent = button.dataset.stop;
      if (Number(slider.value) === names.length) show(1);
      walk = setInterval(() => {
        show(Number(slider.value) + 1);
        if (Number(slider.value) === names.length) stop();
      }, 1500);
    });
    row.hidden = false;
  });
});

// A learner's progress, from the file that `python -m transformer.check` writes. The
// page sends it nowhere, and keeps it in this browser if the browser lets it.
const PROGRESS = "course-progress"; // the key in localStorage

function keptProgress() {
  try {
    return JSON.parse(localStorage.getItem(PROGRESS));
  } catch {
    return null;
  }
}

function keepProgress(value) {
  try {
    if (value === null) localStorage.removeItem(PROGRESS);
    else localStorage.setItem(PROGRESS, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

const isTable = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// Show behind each unit in the sidebar how many of its exercises are done.
function markUnits(marks) {
  document.querySelectorAll(".progress-mark").forEach((mark) => mark.remove());
  document.querySelectorAll("nav.bd-links a").forEach((link) => {
    const text = marks?.[link.pathname.split("/").pop().replace(".html", "")];
    if (typeof text !== "string") return;
    const mark = document.createElement("span");
    mark.className = "progress-mark";
    mark.textContent = ` ${text}`;
    link.append(mark);
  });
}

// Count what is done of a unit, in the same way as `autograder/self_study/progress.py`.
function unitProgress(unit, progress) {
  const own = isTable(progress[unit.slug]) ? progress[unit.slug] : {};
  const fact = (step) => (isTable(own[step.name]) ? own[step.name] : {});
  const left = unit.steps.filter((step) => fact(step).passed !== true);
  const graded = unit.steps.filter((step) => step.points);
  const earned = graded.map((step) => Number(fact(step).points) || 0);
  const add = (numbers) => numbers.reduce((sum, one) => sum + one, 0);
  return {
    unit,
    left,
    done: unit.steps.length - left.length,
    count: unit.steps.length,
    points: +add(earned).toFixed(2),
    total: add(unit.steps.map((step) => step.points)),
  };
}

window.addEventListener("DOMContentLoaded", () => {
  markUnits(keptProgress()?.marks);
  const box = document.querySelector(".own-progress");
  if (!box) return;
  const { units, words } = JSON.parse(box.dataset.facts);
  const part = (name) => box.querySelector(name);
  const [hint, next, forget] = ["hint", "next", "forget"].map((name) =>
    part(`[data-${name}]`),
  );
  const [details, input, status] = ["details", "input", "[role=status]"].map(part);
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

  const row = (cells, header) => {
    const line = document.createElement("tr");
    cells.forEach((content, place) => {
      const cell = document.createElement(header || !place ? "th" : "td");
      if (cell.tagName === "TH") cell.scope = header ? "col" : "row";
      cell.append(content);
      line.append(cell);
    });
    return line;
  };

  const unitRow = ({ unit, left: [step], done, count, points, total }) => {
    const link = document.createElement("a");
    link.href = `${unit.slug}.html`;
    link.textContent = `${unit.number} ${unit.title}`;
    const share = (done, count) => fill(words.share, { done, count });
    const more = step ? fill(words.step, step) : words.done;
    return row([link, share(done, count), share(points, total), more]);
  };

  const nextStep = (progress, parts) => {
    const last = units.findLastIndex((unit) => unit.slug in progress);
    const unfinished = parts.filter(({ left }) => left.length);
    const later = unfinished.filter(({ unit }) => units.indexOf(unit) >= last);
    const { unit, left } = later[0] ?? unfinished[0] ?? {};
    if (!unit) return words.finished;
    return fill(words.next, { ...left[0], unit: unit.number });
  };

  const show = (progress) => {
    const parts = units.map((unit) => unitProgress(unit, progress ?? {}));
    const sums = {};
    for (const name of ["done", "count", "points", "total"])
      sums[name] = parts.reduce((sum, one) => sum + one[name], 0);
    hint.hidden = progress !== null;
    next.hidden = details.hidden = forget.hidden = progress === null;
    next.textContent = progress && nextStep(progress, parts);
    part("summary").textContent = fill(words.sum, sums);
    part("table").replaceChildren(row(words.columns, true), ...parts.map(unitRow));
    const begun = parts.filter(({ done }) => done);
    const marks = begun.map(({ unit, left, done, count }) => [
      unit.slug,
      left.length ? `${done}/${count}` : "✓",
    ]);
    const kept = progress && { progress, marks: Object.fromEntries(marks) };
    markUnits(kept?.marks);
    return keepProgress(kept);
  };

  // Return the progress in a file, or throw the reason why it has none.
  const read = async (file) => {
    if (file.size > 1e6) throw words.wrong;
    const text = await file.text().catch(() => {
      throw words.wrong; // such as a folder
    });
    let found = {};
    try {
      if (text.trim()) found = JSON.parse(text);
    } catch {
      throw words.wrong;
    }
    if (!isTable(found)) throw words.wrong;
    if (!Object.keys(found).length) throw words.empty;
    if (!units.some(({ slug }) => isTable(found[slug]))) throw words.foreign;
    return found;
  };

  const take = async (file) => {
    if (!file) return;
    let message;
    try {
      message = show(await read(file)) ? words.kept : words.blocked;
      details.open = true;
    } catch (reason) {
      message = reason;
    }
    status.textContent = fill(message, { name: file.name });
  };

  part("[data-choose]").addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    await take(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  const drag = (event) => {
    event.preventDefault();
    box.classList.toggle("drop", event.type === "dragover");
  };
  ["dragover", "dragleave", "drop"].forEach((name) => box.addEventListener(name, drag));
  box.addEventListener("drop", (event) => take(event.dataTransfer.files[0]));
  forget.addEventListener("click", () => {
    show(null);
    status.textContent = words.forgotten;
    part("[data-choose]").focus();
  });

  const kept = keptProgress()?.progress;
  if (isTable(kept)) show(kept);
  box.hidden = false;
});
