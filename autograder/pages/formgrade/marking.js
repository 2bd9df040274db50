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

function focusOnFirstOpenAnswer() {
  if (!formgrader.last_selected.is(".score, .comment, .extra-credit")) {
    const fields = pointsByHand();
    const isOpen = (field) => field.classList.contains("needs_manual_grade");
    const first = fields.find(isOpen) || fields[0];
    if (first) focusOn(first);
  }
}

function goToNextAnswer(event) {
  const fields = pointsByHand();
  const place = fields.indexOf(cellOf(event.currentTarget).querySelector(".score"));
  if (place < 0) return;
  event.preventDefault();
  event.stopPropagation();
  if (place + 1 < fields.length) {
    focusOn(fields[place + 1]);
  } else {
    formgrader.setCurrentIndex(formgrader.getIndex(fields[0]));
    formgrader.nextAssignment();
  }
}

function label(fields, purpose, suffix) {
  document.querySelectorAll(fields).forEach((field) => {
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
  formgrader.grades.once("sync", focusOnFirstOpenAnswer);
});
