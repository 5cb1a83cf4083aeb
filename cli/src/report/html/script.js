"use strict";
const viewer = document.getElementById("viewer");
const fade = document.getElementById("fade");

function show() {
  viewer.style.setProperty("--fade", fade.value / 100);
}
fade.addEventListener("input", show);

for (const way of viewer.querySelectorAll("[name=how]")) {
  way.addEventListener("change", () => {
    fade.value = way.dataset.fade;
    show();
  });
}

for (const slider of viewer.querySelectorAll("figure input")) {
  const figure = slider.closest("figure");
  const offsets = slider.dataset.offsets.split(",");
  slider.addEventListener("input", () => {
    const place = `${slider.dataset.axis} ${offsets[slider.value]} mm`;
    figure.style.setProperty("--slice", slider.value);
    figure.querySelector("output").value = place;
    slider.setAttribute("aria-valuetext", place);
  });
}

addEventListener("keydown", (event) => {
  if (event.key === "b" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const before = document.getElementById("before");
    (before.checked ? document.getElementById("after") : before).click();
  }
});
// Browsers keep what was chosen when a page is loaded again.
viewer.querySelectorAll("[type=range]").forEach((slider) => slider.dispatchEvent(new Event("input")));
