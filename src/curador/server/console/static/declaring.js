// What a form that declares a table shows while it is filled in; without it the form works, and says the same later.

// What comes next, or what is wrong, stands at the top of the window.
document.querySelector("main [autofocus]")?.scrollIntoView({ block: "start" });

// Calendars for dates; a text that no calendar can hold stays a text.
const shapes = { date: ["date", /^\d{4}-\d\d-\d\d$/], timestamp: ["datetime-local", /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$/] };
const shape = (select) => {
  const number = select.id.slice("type-".length);
  for (const end of ["low", "high"]) {
    const input = document.getElementById(`${end}-${number}`);
    const [type, pattern] = shapes[select.value] || ["text", /^/];
    if (input.value && !pattern.test(input.value)) { input.type = "text"; continue; }
    const value = input.value;
    input.type = type;
    if (type === "datetime-local") input.step = 1;
    input.value = type === "datetime-local" ? value.replace(" ", "T") : value;
  }
};
for (const select of document.querySelectorAll("select[id^='type-']")) {
  select.addEventListener("change", () => shape(select));
  shape(select);
}

// A list as it will be understood: a value in each line; or in one line, with commas or with semicolons between.
const listed = (text) => {
  const lines = text.split("\n").map((x) => x.trim()).filter((x) => x);
  if (lines.length > 1) {
    const ended = [",", ";"].find((mark) => lines.slice(0, -1).every((line) => line.endsWith(mark)));
    return lines.map((line) => (ended && line.endsWith(ended) ? line.slice(0, -1).trim() : line)).filter((x) => x);
  }
  const marks = [";", ","].filter((mark) => (lines[0] || "").includes(mark));
  if (marks.length > 1) return null;
  return (marks.length ? lines[0].split(marks[0]) : lines).map((x) => x.trim()).filter((x) => x);
};
for (const chips of document.querySelectorAll("[data-chips]")) {
  const field = document.getElementById(chips.dataset.chips);
  const show = () => {
    const found = listed(field.value);
    if (found === null && field.value === field.defaultValue && field.ariaInvalid) return; // it is said already
    chips.replaceChildren(...(found === null ? [chips.dataset.unclear] : found.length > 1 ? found.slice(0, 30) : []).map((text) => {
      const chip = document.createElement("span");
      chip.className = found === null ? "chip unclear" : "chip";
      chip.textContent = text;
      return chip;
    }));
  };
  field.addEventListener("input", show);
  show();
}

// How a CSV file is written is asked of CSV files alone.
const source = document.getElementById("source");
const written = document.getElementById("csv-written");
if (source && written) {
  const look = () => { written.hidden = source.value.trim() !== "" && !/\.csv(\.|$)/i.test(source.value); };
  source.addEventListener("input", look);
  source.addEventListener("change", look);
}
