// What makes the page of questions live.  Without it every button still works.
const form = document.getElementById("ask") || document.querySelector("form[data-pays]");

// Whoever comes back from an answer finds the question that was asked: its parts go into this entry of the history.
function keep() {
  if (form.id !== "ask") return;
  const asked = new URLSearchParams();
  for (const name of ["sql", "epsilon", "delta", "confidence"]) {
    const field = form.elements[name];
    if (field && field.value) asked.set(name, field.value);
  }
  history.replaceState(null, "", `${location.pathname}?${asked}`);
}

// While an answer is waited for, the page says so. That one click pays once is seen to by console.js and by the form's key.
if (form) {
  const status = form.querySelector("[data-working]");
  form.addEventListener("submit", (event) => {
    if (event.submitter && !["pay", "anyway"].includes(event.submitter.value)) return;
    keep();
    if (status) status.textContent = status.dataset.working;
  });
  window.addEventListener("pageshow", () => {
    if (status) status.textContent = "";
  });
}

// The slider is logarithmic, and says the same as the number beside it.
for (const holder of document.querySelectorAll("[data-slides]")) {
  const number = document.getElementById(holder.dataset.slides);
  const slider = holder.querySelector("input");
  const say = () => slider.setAttribute("aria-valuetext", `ε ${number.value}`);
  const follow = () => {
    const value = Number(number.value);
    if (value > 0) slider.value = Math.round(100 * Math.log10(value));
    say();
  };
  slider.addEventListener("input", () => {
    const end = slider.value === slider.max && slider.dataset.all; // all that remains is all of it
    number.value = end || Number((10 ** (slider.value / 100)).toPrecision(2));
    const priced = form && form.querySelector('input[name="by"][value="epsilon"]');
    if (priced) priced.checked = true;
    say();
  });
  number.addEventListener("input", () => {
    const priced = form && form.querySelector('input[name="by"][value="epsilon"]');
    if (priced) priced.checked = true;
    follow();
  });
  follow();
  holder.hidden = false;
}
// What is chosen becomes SQL first (on change), and that is estimated: not what was asked before, as well.
document.addEventListener("input", (event) => {
  if (event.target.closest("#builder")) event.stopPropagation();
}, true);
for (const [field, way] of [["error", "error"], ["epsilon", "epsilon"]]) {
  const typed = document.getElementById(field);
  const by = form && form.querySelector(`input[name="by"][value="${way}"]`);
  if (typed && by) typed.addEventListener("input", () => { by.checked = true; });
}

// Enter in a box applies what was typed, as leaving it does: the page stays, and so does the cursor.
if (form) {
  form.addEventListener("keydown", (event) => {
    const box = event.target;
    const typed = box.matches("input:not([type=radio]):not([type=checkbox]):not([type=hidden])");
    if (event.key !== "Enter" || event.isComposing || !typed || !window.htmx) return;
    event.preventDefault();
    box.dispatchEvent(new Event(box.closest("#builder") ? "change" : "input", { bubbles: true }));
  });
}

// A price that is not of what stands there now is not paid: the button waits for the new one.
const asks = form && form.id === "ask";
const price = form && (document.getElementById("estimate") || document.getElementById("plan"));
function waits(on) {
  const pay = document.getElementById("pay");
  if (pay && on) pay.disabled = true;
  price.setAttribute("aria-busy", String(on));
}
if (price) {
  form.addEventListener("input", (event) => { // not on change: that comes when a button is about to be pressed
    if (!["because", "override"].includes(event.target.name)) waits(true);
    if (event.target.id === "sql") document.getElementById("builder").inert = true; // it is of another question
  });
  document.addEventListener("htmx:afterSwap", (event) => { if (event.target === price) waits(false); });
  for (const failed of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
    document.addEventListener(failed, () => {
      waits(false);
      document.getElementById("pay").disabled = false;
      if (asks) document.getElementById("builder").inert = false;
    });
  }
}
if (asks) {
  form.addEventListener("change", (event) => { if (event.target.closest("#builder")) waits(true); });
  // Folds that are open stay so when what is in them changes.
  let open = [];
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.target.id === "more") open = [...event.target.querySelectorAll("details[open]")].map((one) => one.id);
  });
  document.addEventListener("htmx:oobAfterSwap", () => {
    for (const id of open) { const fold = document.getElementById(id); if (fold) fold.open = true; }
  });
  // What is typed while the choices are on their way is not lost with the boxes that are replaced.
  let [sent, typed] = [{}, {}];
  const texts = () => Object.fromEntries([...document.querySelectorAll("#builder input")].map((box) => [box.id, box.value]));
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target.id === "question") sent = texts();
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target.id !== "question") return;
    typed = Object.fromEntries(Object.entries(texts()).filter(([id, text]) => id in sent && text !== sent[id]));
  });
  const late = () => Object.keys(typed).map((id) => document.getElementById(id)).filter(Boolean);
  document.addEventListener("htmx:afterSwap", () => { for (const box of late()) box.value = typed[box.id]; });
  document.addEventListener("htmx:afterSettle", () => {
    const [box] = late();
    typed = {};
    if (box) box.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// Who goes back from an answer, or changes the language, finds the question again: it stays in this tab, and is sent nowhere.
if (asks) {
  const kept = ["sql", "by", "epsilon", "error", "rows", "confidence", "delta", "because"];
  const asked = () => {
    const now = new FormData(form);
    return Object.fromEntries(kept.map((name) => [name, now.get(name) ?? ""]));
  };
  const keep = () => history.replaceState({ asked: asked() }, "");
  const settings = document.querySelector("form.choices");
  if (settings) settings.addEventListener("submit", () => sessionStorage.setItem("asked", JSON.stringify(asked())));
  const handed = sessionStorage.getItem("asked");
  sessionStorage.removeItem("asked");
  document.addEventListener("DOMContentLoaded", () => {
    const [how] = performance.getEntriesByType("navigation");
    const back = how && how.type !== "navigate" && history.state && history.state.asked;
    const was = handed ? JSON.parse(handed) : back;
    if (was) {
      for (const name of kept) {
        for (const field of form.querySelectorAll(`[name="${name}"]`)) {
          if (field.type === "radio") field.checked = field.value === was[name];
          else field.value = was[name];
        }
      }
      for (const name of ["epsilon", "sql"]) {
        const field = document.getElementById(name);
        const by = form.querySelector("input[name=by]:checked");
        field.dispatchEvent(new Event("input", { bubbles: true }));
        if (by) by.checked = true;
      }
    }
    for (const kind of ["input", "change", "submit", "htmx:afterSettle"]) form.addEventListener(kind, keep);
  });
}

// Completion of tables, columns, functions and keywords: a listbox below the text, arrows, Enter or Tab, Escape.
const words = form && form.dataset.words ? JSON.parse(form.dataset.words) : null;
let list = null;
let at = -1;
function close() {
  if (list) list.remove();
  list = null;
  at = -1;
  const area = document.querySelector("[data-complete]");
  if (area) { area.removeAttribute("aria-activedescendant"); area.setAttribute("aria-expanded", "false"); }
}
function begun(area) {
  return /[A-Za-z_][\w]*$/.exec(area.value.slice(0, area.selectionStart));
}
function options(area) {
  const found = begun(area);
  if (!found || found[0].length < 1) return [];
  const start = found[0].toLowerCase();
  const used = Object.keys(words.tables).filter((t) => new RegExp(`\\b${t}\\b`).test(area.value));
  const columns = (used.length ? used : Object.keys(words.tables)).flatMap((t) => words.tables[t]);
  const all = [...new Set([...columns, ...Object.keys(words.tables), ...words.functions, ...words.keywords])];
  return all.filter((w) => w.toLowerCase().startsWith(start) && w.toLowerCase() !== start).slice(0, 8);
}
function mark(area, place) {
  at = place;
  [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
  if (at >= 0) area.setAttribute("aria-activedescendant", list.children[at].id);
}
function take(area, word) {
  const found = begun(area);
  const end = area.selectionStart;
  const start = end - (found ? found[0].length : 0);
  area.setRangeText(/^[A-Za-z_]\w*( \w+)?$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`, start, end, "end");
  close();
  area.dispatchEvent(new Event("input", { bubbles: true }));
}
function suggest(area) {
  close();
  const found = options(area);
  if (!found.length) return;
  list = document.createElement("ul");
  list.id = "completions";
  list.className = "completions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", form.dataset.completions);
  found.forEach((word, k) => {
    const item = document.createElement("li");
    item.id = `completion-${k}`;
    item.setAttribute("role", "option");
    item.textContent = word;
    item.addEventListener("mousedown", (event) => { event.preventDefault(); take(area, word); });
    list.append(item);
  });
  area.parentElement.append(list);
  area.setAttribute("aria-expanded", "true");
  mark(area, -1);
}
if (words) {
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-complete]") && event.isTrusted) suggest(event.target);
  });
  document.addEventListener("focusin", (event) => {
    const area = event.target;
    if (!area.matches("[data-complete]")) return;
    for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-haspopup", "listbox"],
      ["aria-expanded", "false"], ["aria-controls", "completions"]]) area.setAttribute(name, value);
  });
  document.addEventListener("focusout", (event) => { if (event.target.matches("[data-complete]")) close(); });
  document.addEventListener("keydown", (event) => {
    const area = event.target;
    if (!list || !area.matches("[data-complete]")) return;
    const n = list.children.length;
    if (event.key === "ArrowDown") mark(area, (at + 1) % n);
    else if (event.key === "ArrowUp") mark(area, (at + n - 1 + (at < 0 ? 1 : 0)) % n);
    else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(area, list.children[at].textContent);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}
