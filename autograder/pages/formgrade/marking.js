// Let a few keys give points by hand on formgrader's page of a submission.
// nbgrader's `formgrade.js` defines `formgrader`, which saves the fields.

function cellOf(field) {
  return field.closest(".nbgrader_cell");
}

function pointsByHand() {
  return Array.from(document.querySelectorAll(".score")).filter((field) =>
    cellOf(field).querySelector(".comment"),
  );
}

function focusOn(field) {
  formgrader.selectInput(formgrader.getIndex(field));
}

// Until the marks are here, nbgrader would overwrite the text of a field.
function fields() {
  return document.querySelectorAll(".score, .comment, .extra-credit");
}

function begin() {
  fields().forEach((field) => (field.disabled = false));
  const isOpen = (field) => field.classList.contains("needs_manual_grade");
  const byHand = pointsByHand();
  const last = formgrader.last_selected[0];
  const chosen = Array.from(fields()).includes(last) ? last : null;
  const first = chosen || byHand.find(isOpen) || byHand[0];
  if (first) focusOn(first);
}

// nbgrader leaves the page when the first of several fields is saved.
function leaveWhenAllIsSaved() {
  let hasFailed = false;
  $(document).one("ajaxError.leave", () => (hasFailed = true));
  $(document).one("ajaxStop", () => {
    $(document).off("ajaxError.leave");
    if (!hasFailed) window.location = formgrader.navigateTo("next");
  });
}

function goToNextAnswer(event) {
  const byHand = pointsByHand();
  const place = byHand.indexOf(cellOf(event.currentTarget).querySelector(".score"));
  if (place < 0) return;
  event.preventDefault();
  event.stopPropagation();
  if (place + 1 < byHand.length) {
    focusOn(byHand[place + 1]);
  } else {
    formgrader.setCurrentIndex(formgrader.getIndex(byHand[0]));
    leaveWhenAllIsSaved();
    $(event.currentTarget).blur().trigger("change"); // nbgrader saves the field
  }
}

function label(selector, purpose, suffix) {
  document.querySelectorAll(selector).forEach((field) => {
    const name = field.id.slice(0, field.id.length - suffix.length);
    field.setAttribute("aria-label", `${purpose} ${name}`);
  });
}

document.addEventListener("DOMContentLoaded", () => {
  // Tab then leads from the points to the comment, and not to the extra credit.
  document.querySelectorAll(".extra-credit").forEach((field) => {
    cellOf(field).append(field.parentElement);
    field.parentElement.classList.add("extra-credit-line");
  });
  fields().forEach((field) => (field.disabled = true));
  label(".score", "Points for", "");
  label(".comment", "Comment on", "-comment");
  label(".extra-credit", "Extra credit for", "_extra_credit");
});

window.addEventListener("load", () => {
  const help = "Save, and move to the next answer with points by hand";
  const next = { handler: goToNextAnswer, help: help };
  const keys = formgrader.keyboard_manager;
  keys.register({ ...next, selector: ".score", keybinding: "enter" });
  keys.register({ ...next, selector: ".comment", keybinding: "control-enter" });
  $(document).one("ajaxStop", () => {
    if (formgrader.grades.loaded && formgrader.comments.loaded) begin();
  });
});
