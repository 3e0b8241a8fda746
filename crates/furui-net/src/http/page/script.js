// Comfort only: without this, everything works.
"use strict";

// Screen readers hear of changes to what is there already: it is told here that the answer has ended.
const progress = document.getElementById("progress");
const summary = document.getElementById("summary");
if (progress && summary) {
  progress.textContent = summary.textContent;
  progress.className = "told";
}

// A slash leads to the search box, as in many places.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("q");
  if (event.key === "/" && document.activeElement !== box && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});
