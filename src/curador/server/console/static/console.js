// The code of a link that works once is behind its "#", which browsers never send: it is put into the form, and taken
// out of the address, so that it stays in no history.
const code = document.getElementById("code");
if (code && location.hash.startsWith("#cur_")) {
  code.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
