// Unfolds what a link leads to, folds and unfolds all, and marks a kernel in both graphs.
"use strict";

function unfoldTarget() {
  const target = location.hash.length > 1 &&
      document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement)
    if (each.tagName === "DETAILS")
      each.open = true;
  if (target) {
    target.scrollIntoView();
    // So that the next Tab continues there.
    const summary = target.querySelector(":scope > summary");
    if (summary)
      summary.focus({preventScroll: true});
  }
}

function foldAll(button) {
  const open = button.dataset.fold === "open";
  for (const each of button.closest("section").querySelectorAll("details"))
    each.open = open;
}

function markGroup(row, on) {
  const group = row && row.dataset.group;
  for (const each of document.querySelectorAll(".row[data-group].same"))
    each.classList.remove("same");
  if (on && group !== undefined)
    for (const each of document.querySelectorAll(`.row[data-group="${group}"]`))
      each.classList.add("same");
}

addEventListener("hashchange", unfoldTarget);
unfoldTarget();
for (const buttons of document.querySelectorAll(".buttons"))
  buttons.hidden = false;
for (const button of document.querySelectorAll("[data-fold]"))
  button.addEventListener("click", () => foldAll(button));
for (const graphs of document.querySelectorAll(".graphs")) {
  const row = (event) => event.target.closest(".row[data-group]");
  graphs.addEventListener("pointerover", (event) => markGroup(row(event), true));
  graphs.addEventListener("focusin", (event) => markGroup(row(event), true));
  graphs.addEventListener("pointerleave", () => markGroup(null, false));
}
