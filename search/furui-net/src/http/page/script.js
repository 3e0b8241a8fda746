// Everything also works without this script.
"use strict";

// Screen readers report changes only of elements that were there from the beginning. So when the answer is complete,
// its summary is copied into `progress`.
const progress = document.getElementById("progress");
const summary = document.getElementById("summary");
if (progress && summary) {
  progress.textContent = summary.textContent;
  progress.className = "told";
}

// The key "/" moves the cursor into the search box, as on many sites.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("q");
  if (event.key === "/" && document.activeElement !== box && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});
