// The code of a link that works once is behind its "#", which browsers never send: it is put into the form, and taken
// out of the address, so that it stays in no history.
const code = document.getElementById("code");
if (code && location.hash.startsWith("#cur_")) {
  code.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
// Who changes the language or the theme keeps the code, and the name that was typed: in this tab, until the next page.
if (code) {
  const held = { code, login: document.getElementById("login") };
  const kept = JSON.parse(sessionStorage.getItem("start") || "{}");
  sessionStorage.removeItem("start");
  for (const [name, field] of Object.entries(held)) if (kept[name] && !field.value) field.value = kept[name];
  document.querySelector("form.choices")?.addEventListener("submit", () => {
    sessionStorage.setItem("start", JSON.stringify({ code: code.value, login: held.login.value }));
  });
}

// On a narrow window the pages are a strip: the one that is shown is in sight.
document.querySelector(".pages [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// What a form was sent for is in sight, and has the focus.
document.getElementById("here")?.focus();

// A button that copies the text of a field; without a script the text can be selected.
function offered(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}
offered(document);
document.addEventListener("htmx:load", (event) => offered(event.target));
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  field.select?.();
  try {
    await navigator.clipboard.writeText(field.value ?? field.textContent);
    button.textContent = button.dataset.done;
  } catch {
    document.execCommand("copy");
  }
});

// A form that is on its way is not sent a second time.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post" || event.defaultPrevented) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
