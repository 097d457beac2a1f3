// A file goes to the server as it is, as soon as it is chosen, without a form around it; its name and the page's token
// go beside it.
const file = document.getElementById("file-to-send");
const told = document.getElementById("file-told");
const bar = document.getElementById("file-bar");
if (file) {
  const buttons = [...file.form.querySelectorAll("button")];
  document.getElementById("file-field").hidden = false;
  file.addEventListener("change", () => {
    if (!file.files.length) return;
    const chosen = file.files[0];
    const request = new XMLHttpRequest();
    request.open("POST", "/console/tables/upload");
    request.setRequestHeader("X-Form-Token", file.form.elements.form_token.value);
    request.setRequestHeader("X-File-Name", encodeURIComponent(chosen.name));
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    const ended = () => { bar.hidden = true; for (const one of buttons) one.disabled = false; };
    request.addEventListener("error", () => { ended(); told.textContent = told.dataset.failed; });
    request.addEventListener("load", () => {
      ended();
      if (request.status === 201) {
        const source = document.getElementById("source");
        const kept = JSON.parse(request.responseText);
        source.value = kept.source;
        source.dispatchEvent(new Event("change"));
        told.textContent = kept.declared && told.dataset.declared ? told.dataset.declared : told.dataset.done;
      } else {
        told.innerHTML = request.responseText; // the server's own words, in which everything is escaped
        file.value = "";
      }
    });
    told.textContent = told.dataset.sending;
    bar.value = 0;
    bar.hidden = false;
    for (const one of buttons) one.disabled = true; // nothing is read of half a file
    request.send(chosen);
  });
}
