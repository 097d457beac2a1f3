/* Tables that are wider than the page scroll; without a mouse that needs the focus, which the theme does not give them. */
const reachable = () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((box) => { box.tabIndex = 0; });
new MutationObserver(reachable).observe(document.querySelector("article") ?? document.body, { childList: true, subtree: true });
reachable();
