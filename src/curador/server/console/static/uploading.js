// A file goes to the server as it is, without a form around it; its name and the page's token go beside it.
const file = document.getElementById("file-to-send");
const send = document.getElementById("send-file");
const told = document.getElementById("file-told");
const bar = document.getElementById("file-bar");
if (file && send) {
  document.getElementById("file-field").hidden = false;
  send.addEventListener("click", () => {
    if (!file.files.length) return file.focus();
    const chosen = file.files[0];
    const request = new XMLHttpRequest();
    request.open("POST", "/console/tables/upload");
    request.setRequestHeader("X-Form-Token", file.form.elements.form_token.value);
    request.setRequestHeader("X-File-Name", encodeURIComponent(chosen.name));
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    const ended = () => { bar.hidden = true; send.disabled = false; };
    request.addEventListener("error", () => { ended(); told.textContent = told.dataset.failed; });
    request.addEventListener("load", () => {
      ended();
      if (request.status === 201) {
        document.getElementById("source").value = JSON.parse(request.responseText).source;
        told.textContent = told.dataset.done;
      } else {
        told.innerHTML = request.responseText; // the server's own words, in which everything is escaped
      }
    });
    told.textContent = "";
    bar.value = 0;
    bar.hidden = false;
    send.disabled = true;
    request.send(chosen);
  });
}
