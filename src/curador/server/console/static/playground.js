// A slider beside a number says the same; where bounds are far apart it is logarithmic.  What it does is drawn when it is
// let go.  Without this script the number is typed.
function shown(part) {
  for (const slider of part.querySelectorAll("[data-slides]")) slider.hidden = false;
}
document.addEventListener("input", ({ target }) => {
  if (!target.dataset.slides) return;
  const number = document.getElementById(target.dataset.slides);
  const { least, most, wide, whole } = target.dataset;
  const part = target.value / target.max;
  const value = wide ? least * (most / least) ** part : Number(least) + (most - least) * part;
  number.value = whole ? Math.round(value) : Number(value.toPrecision(3));
  target.setAttribute("aria-valuetext", number.value);
});
document.addEventListener("htmx:load", (event) => shown(event.detail.elt));
shown(document);
