// From the disk a page may not read its neighbours, so the search goes without excerpts.
if (window.location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
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
