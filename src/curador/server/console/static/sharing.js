// The budget of a dashboard as one bar whose borders are dragged, or moved by arrow keys; the numbers of the form follow.
// Shares count in proportion, so that a number that somebody typed is never written anew: the bar says what it comes to.
const board = document.getElementById("board");
const split = document.getElementById("split");
const hint = document.getElementById("split-hint");
const typed = document.getElementById("typed");
const whole = 100;
let shown = [];

const fields = () => [...board.querySelectorAll("input[data-share]")];
const of = (field, name) => board.elements[`${name}-${field.dataset.share}`].value.trim();
const named = (field) => of(field, "title") || of(field, "name") || field.dataset.named;
const counted = () => fields().filter((field) => of(field, "sql") && !of(field, "error"));
const touched = () => new Set(typed.value.split(" ").filter(Boolean));
const weight = (field) => Math.max(Number(field.value.replace(",", ".").replace("%", "")) || 0, 0);
const total = () => shown.reduce((sum, field) => sum + weight(field), 0);
const percent = (field) => Math.round((whole * weight(field)) / (total() || 1));
// The step by which borders move: about a hundredth of all, as a power of ten.
const step = () => 10 ** Math.ceil(Math.log10((total() || whole) / whole) - 0.31);
const rounded = (x) => Number((Math.round(x / step()) * step()).toPrecision(12));
const put = (text, a, b) => text.replace("{a}", a).replace("{b}", b);

// Boxes that nobody has touched share evenly, in whole numbers that sum to 100.
function settle(group) {
  group.forEach((field, k) => { field.value = Math.floor(whole / group.length) + (k < whole % group.length ? 1 : 0); });
}

function touch(...changed) {
  typed.value = [...new Set([...touched(), ...changed.map((field) => field.dataset.share)])].join(" ");
}

function paint() {
  shown.forEach((field, k) => {
    const part = split.querySelector(`[data-part="${k}"]`);
    part.style.flexGrow = Math.max(percent(field), 1);
    part.querySelector("b").textContent = `${percent(field)} %`;
    part.querySelector("span").textContent = named(field);
    const border = split.querySelector(`[data-border="${k}"]`);
    if (!border) return;
    const next = shown[k + 1];
    border.setAttribute("aria-valuemin", 1);
    border.setAttribute("aria-valuemax", Math.max(percent(field) + percent(next) - 1, 1));
    border.setAttribute("aria-valuenow", percent(field));
    border.setAttribute("aria-valuetext", `${named(field)} ${percent(field)} %, ${named(next)} ${percent(next)} %`);
    border.setAttribute("aria-label", put(split.dataset.border, named(field), named(next)));
  });
}

function tell(field) {
  paint();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// The border after a part moves: what one part gains, its neighbour loses, and no other changes.
function move(k, share) {
  const [one, next] = [shown[k], shown[k + 1]];
  const both = weight(one) + weight(next);
  const value = Math.min(Math.max(rounded(share), step()), rounded(both - step()));
  if (value === weight(one) || value <= 0 || both - value <= 0) return;
  one.value = value;
  next.value = Number((both - value).toPrecision(12));
  touch(...shown);
  tell(one);
}

function border(k) {
  const made = document.createElement("div");
  made.className = "border";
  made.tabIndex = 0;
  made.dataset.border = k;
  made.setAttribute("role", "slider");
  made.addEventListener("pointerdown", (event) => {
    made.setPointerCapture(event.pointerId);
    made.focus();
    event.preventDefault();
  });
  made.addEventListener("pointermove", (event) => {
    if (!made.hasPointerCapture(event.pointerId)) return;
    const bar = split.getBoundingClientRect();
    const before = shown.slice(0, k).reduce((sum, field) => sum + weight(field), 0);
    move(k, (total() * (event.clientX - bar.left)) / bar.width - before);
  });
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -whole, End: whole };
  made.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(k, weight(shown[k]) + steps[event.key] * step());
  });
  return made;
}

function build() {
  const now = counted();
  const same = now.length === shown.length && now.every((field, k) => field === shown[k]);
  for (const field of fields()) field.closest("[data-sharing]").hidden = !now.includes(field);
  if (same) return paint();
  const [kept, come] = [now.filter((field) => shown.includes(field)), now.filter((field) => !shown.includes(field))];
  const usual = kept.reduce((sum, field) => sum + weight(field), 0) / (kept.length || 1);
  const byHand = touched();
  shown = now;
  split.hidden = hint.hidden = shown.length < 2;
  split.replaceChildren();
  if (!shown.length) return;
  if (!shown.some((field) => byHand.has(field.dataset.share))) settle(shown);
  else if (kept.length) { // a new one begins with as much as one of the others
    for (const field of come) if (!byHand.has(field.dataset.share)) field.value = rounded(usual) || 1;
  }
  shown.forEach((field, k) => {
    const part = document.createElement("div");
    part.className = `part-of s${(k % 6) + 1}`;
    part.dataset.part = k;
    part.append(document.createElement("b"), document.createElement("span"));
    split.append(part);
    if (k + 1 < shown.length) split.append(border(k));
  });
  paint();
}

if (board && split) {
  board.addEventListener("input", (event) => {
    if (event.isTrusted && event.target.matches("[data-share]")) touch(event.target);
    build();
  });
  build();
}
