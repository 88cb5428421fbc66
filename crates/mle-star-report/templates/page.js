// Copies scripts. The page can be read without this file.
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const id = button.dataset.copy;
  const source = document.getElementById(id);
  const status = document.querySelector(`[data-copied="${CSS.escape(id)}"]`);
  const say = (text) => { if (status) status.textContent = text; };
  try {
    await navigator.clipboard.writeText(source.textContent);
    say("copied");
  } catch {
    getSelection().selectAllChildren(source);
    say("selected; copy with the keyboard");
  }
});
// A link to something inside closed sections opens these sections.
const reveal = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  let element = id && document.getElementById(id);
  if (!element) return;
  for (let around = element; around; around = around.parentElement) {
    if (around.tagName === "DETAILS") around.open = true;
  }
  element.scrollIntoView();
};
addEventListener("hashchange", reveal);
// A second click on the same link does not change the address.
document.addEventListener("click", (event) => {
  if (event.target.closest('a[href^="#"]')) setTimeout(reveal);
});
const showButtons = () => document.querySelectorAll("button[data-copy]").forEach((button) => { button.hidden = false; });
new MutationObserver(showButtons).observe(document.documentElement, { childList: true, subtree: true });
const ready = () => { showButtons(); reveal(); };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
else ready();
