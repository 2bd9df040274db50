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
