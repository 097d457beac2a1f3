// The budget of a dashboard as one bar whose borders are dragged, or moved by arrow keys; the numbers of the form follow,
// and always sum to 100. Without this script the numbers are typed, and count in proportion.
const board = document.getElementById("board");
const split = document.getElementById("split");
const hint = document.getElementById("split-hint");
const whole = 100;
let shown = [];

const fields = () => [...board.querySelectorAll("input[data-share]")];
const of = (field, name) => board.elements[`${name}-${field.dataset.share}`].value.trim();
const named = (field) => of(field, "title") || of(field, "name") || field.dataset.named;
const counted = () => fields().filter((field) => of(field, "sql") && !of(field, "error"));
const put = (text, a, b) => text.replace("{a}", a).replace("{b}", b);

// Whole numbers that sum to 100, each at least 1, as near to the given proportions as that allows.
function settle(group, room) {
  const given = group.map((field) => Math.max(Number(field.value) || 0, 0));
  const sum = given.reduce((a, b) => a + b, 0);
  const exact = given.map((x) => Math.max(sum ? (room * x) / sum : room / group.length, 1));
  const found = exact.map(Math.floor);
  let rest = room - found.reduce((a, b) => a + b, 0);
  const order = exact.map((x, k) => [x - found[k], k]).sort((a, b) => b[0] - a[0]).map(([, k]) => k);
  for (let i = 0; rest > 0; i += 1, rest -= 1) found[order[i % order.length]] += 1;
  for (; rest < 0; rest += 1) found[found.indexOf(Math.max(...found))] -= 1;
  group.forEach((field, k) => { field.value = found[k]; });
}

function paint() {
  shown.forEach((field, k) => {
    const part = split.querySelector(`[data-part="${k}"]`);
    part.style.flexGrow = field.value;
    part.querySelector("b").textContent = `${field.value} %`;
    part.querySelector("span").textContent = named(field);
    const border = split.querySelector(`[data-border="${k}"]`);
    if (!border) return;
    const next = shown[k + 1];
    border.setAttribute("aria-valuemin", 1);
    border.setAttribute("aria-valuemax", Number(field.value) + Number(next.value) - 1);
    border.setAttribute("aria-valuenow", field.value);
    border.setAttribute("aria-valuetext", `${named(field)} ${field.value} %, ${named(next)} ${next.value} %`);
    border.setAttribute("aria-label", put(split.dataset.border, named(field), named(next)));
  });
}

function tell(field) {
  paint();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// The border after a part moves: what one part gains, its neighbour loses.
function move(k, share) {
  const [one, next] = [shown[k], shown[k + 1]];
  const both = Number(one.value) + Number(next.value);
  const value = Math.min(Math.max(Math.round(share), 1), both - 1);
  if (value === Number(one.value)) return;
  one.value = value;
  next.value = both - value;
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
    const before = shown.slice(0, k).reduce((sum, field) => sum + Number(field.value), 0);
    move(k, (whole * (event.clientX - bar.left)) / bar.width - before);
  });
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -whole, End: whole };
  made.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(k, Number(shown[k].value) + steps[event.key]);
  });
  return made;
}

function build() {
  const now = counted();
  const same = now.length === shown.length && now.every((field, k) => field === shown[k]);
  for (const field of fields()) field.closest("[data-sharing]").hidden = !now.includes(field);
  if (same) return paint();
  const [kept, come] = [now.filter((field) => shown.includes(field)), now.filter((field) => !shown.includes(field))];
  const usual = kept.reduce((sum, field) => sum + Number(field.value), 0) / (kept.length || 1);
  if (kept.length) for (const field of come) field.value = Math.max(Math.round(usual), 1); // as much as one of the others
  shown = now;
  split.hidden = hint.hidden = shown.length < 2;
  split.replaceChildren();
  if (!shown.length) return;
  settle(shown, whole);
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
  board.addEventListener("input", (event) => { if (!event.target.matches("[data-share]")) build(); });
  // A number that is typed keeps its place, and the others share what it leaves.
  board.addEventListener("change", (event) => {
    const field = event.target;
    if (!field.matches("[data-share]") || shown.length < 2) return;
    const most = whole - (shown.length - 1);
    field.value = Math.min(Math.max(Math.round(Number(field.value)) || 1, 1), most);
    settle(shown.filter((other) => other !== field), whole - Number(field.value));
    tell(field);
  });
  build();
}
