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
