// What a model predicts follows the model: one that says a number gets a column of numbers, and what is predicted is not
// learned from. Without this script the page says what is wrong.
const fit = document.getElementById("fit");
const label = document.getElementById("label");
const kinds = { classes: "keyed", number: "numeric" };

function boxOf(name) {
  return [...fit.querySelectorAll(".ticks input")].find((box) => box.value === name);
}

if (fit && label) {
  let before = label.value;
  const predicted = (name) => {
    const [old, now] = [boxOf(before), boxOf(name)];
    if (old && old !== now && !old.disabled) old.checked = true;
    if (now) now.checked = false;
    label.value = before = name;
  };
  label.addEventListener("change", () => predicted(label.value));
  for (const model of fit.querySelectorAll('input[name="model"]')) {
    model.addEventListener("change", () => {
      const kind = kinds[model.closest("[data-family]").dataset.family];
      if (!kind) return; // a shape has nothing to predict
      const group = label.querySelector(`[data-kind="${kind}"]`);
      const fitting = group ? [...group.querySelectorAll("option")] : [];
      if (fitting.length && !fitting.some((one) => one.value === label.value)) predicted(fitting.at(-1).value);
    });
  }
}
