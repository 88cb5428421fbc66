// Copies scripts and sorts tables. The page can be read without this file.
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const block = button.closest(".block");
  const source = block.querySelector("pre");
  const status = block.querySelector("[role=status]");
  const say = (text) => { status.textContent = text; };
  try {
    await navigator.clipboard.writeText(source.textContent);
    say("copied");
  } catch {
    getSelection().selectAllChildren(source);
    say("selected; copy with the keyboard");
  }
});
// A link to something inside closed sections opens these sections. A solution opens beside the list if there is room.
const isWide = matchMedia("(min-width: 90rem)");
let opener = null;
const target = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
const mark = () => {
  const node = target()?.closest("details.node");
  for (const other of document.querySelectorAll("details.beside")) if (other !== node) other.classList.remove("beside");
  node?.classList.add("beside");
  return node;
};
const reveal = () => {
  const element = target();
  const node = mark();
  const fold = element?.querySelector(":scope > details.fold");
  if (fold) fold.open = true;
  for (let around = element; around; around = around.parentElement) {
    if (around.tagName === "DETAILS") around.open = true;
    if (around.hidden) around.hidden = false;
  }
  if (node && isWide.matches && opener) node.querySelector(".inside").focus({ preventScroll: true });
  else element?.scrollIntoView();
};
const close = () => {
  const node = document.querySelector("details.beside[open]");
  if (!node) return;
  node.open = false;
  history.replaceState(null, "", "#" + (node.closest("section")?.id || ""));
  mark();
  (opener?.isConnected ? opener : node.querySelector("summary")).focus({ preventScroll: true });
  opener = null;
};
addEventListener("hashchange", reveal);
addEventListener("keydown", (event) => { if (event.key === "Escape" && isWide.matches) close(); });
document.addEventListener("click", (event) => {
  const summary = event.target.closest("details.node > summary");
  if (summary && isWide.matches) {
    event.preventDefault();
    const node = summary.parentElement;
    opener = summary;
    if (node.open && node.classList.contains("beside")) return close();
    location.hash = node.id;
    return reveal();
  }
  const link = event.target.closest('a[href^="#"]');
  if (link?.matches("[data-close]")) {
    event.preventDefault();
    return close();
  }
  // A second click on the same link does not change the address.
  if (!link) return;
  if (!link.closest(".inside")) opener = link;
  if (link.matches(".spot") && isWide.matches) {
    // The chart stays where it is.
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
  }
  setTimeout(reveal);
});

// What a dot of a chart tells stands below the chart. Arrow keys go from dot to dot, so that Tab leaves the chart.
const spotsOf = (spot) => Array.from(spot.closest("svg").querySelectorAll(".spot"));
const point = (event) => {
  const spot = event.target.closest?.(".spot");
  if (!spot) return;
  const figure = spot.closest("figure");
  let pointed = figure.querySelector(".pointed");
  if (!pointed) {
    pointed = document.createElement("p");
    pointed.className = "pointed";
    spot.closest(".wide").after(pointed);
  }
  const node = document.getElementById(spot.getAttribute("href").slice(1));
  const part = (name) => node?.querySelector(name)?.textContent.trim() || "";
  const ended = [part(".outcome"), part(".time")].filter(Boolean).join(", ");
  const lines = [spot.getAttribute("aria-label"), ended, part(".plan").split("\n")[0].slice(0, 300)];
  pointed.textContent = lines.filter(Boolean).join("\n");
};
document.addEventListener("pointerover", point);
document.addEventListener("focusin", point);
document.addEventListener("keydown", (event) => {
  const spot = event.target.closest?.(".spot");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!spot || !step) return;
  event.preventDefault();
  const spots = spotsOf(spot);
  const next = spots[(spots.indexOf(spot) + step + spots.length) % spots.length];
  for (const one of spots) one.setAttribute("tabindex", one === next ? "0" : "-1");
  next.focus();
});
const oneTabStop = () => {
  for (const chart of document.querySelectorAll("svg.chart")) {
    const spots = chart.querySelectorAll(".spot");
    if (spots.length && !chart.querySelector(".spot[tabindex]")) {
      spots.forEach((spot, index) => spot.setAttribute("tabindex", index ? "-1" : "0"));
    }
  }
};

// Shows the solutions of one outcome, of one part.
const filter = (box) => {
  const wanted = (name) => box.querySelector(`select[name=${name}]`).value;
  const [status, group] = [wanted("status"), wanted("group")];
  let [shown, all] = [0, 0];
  for (const part of document.getElementById(box.dataset.filter).querySelectorAll("[data-group]")) {
    const isPart = !group || part.dataset.group === group;
    let some = false;
    for (const node of part.querySelectorAll("details.node")) {
      const isShown = isPart && (!status || node.classList.contains(status));
      node.parentElement.hidden = !isShown;
      some ||= isShown;
      shown += isShown;
      all += 1;
    }
    part.hidden = !some;
  }
  const text = shown === all ? "" : `${shown} of ${all} steps`;
  const told = box.querySelector("[role=status]");
  if (told.textContent !== text) told.textContent = text;
};
document.addEventListener("change", (event) => {
  const box = event.target.closest("[data-filter]");
  if (box) filter(box);
});
const filterAll = () => document.querySelectorAll("[data-filter]").forEach((box) => { box.hidden = false; filter(box); });

// A table is sorted by a click on the head of a column, and again the other way round. It stays so when its section is renewed.
const sorted = new Map();
const heads = (table) => Array.from(table.tHead.rows[0].cells);
const key = (row, at) => {
  const cell = row.cells[at];
  const text = cell.dataset.value ?? cell.textContent.trim();
  return text !== "" && !isNaN(text) ? Number(text) : text;
};
const sortBy = (table, at, isDown) => {
  const body = table.tBodies[0];
  const order = (one, other) => {
    const [a, b] = [key(one, at), key(other, at)];
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return (a === b ? 0 : a > b ? 1 : -1) * (isDown ? -1 : 1);
  };
  const rows = Array.from(body.rows).sort(order);
  if (rows.some((row, place) => row !== body.rows[place])) body.append(...rows);
  heads(table).forEach((head, place) => {
    if (place === at) head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
};
const sortable = () => {
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    if (table.querySelector("button.sort")) continue;
    for (const head of heads(table)) {
      if (head.tagName !== "TH") continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
    }
    const known = sorted.get(table.closest("section")?.id);
    if (known) sortBy(table, ...known);
  }
};
document.addEventListener("click", (event) => {
  // A click elsewhere closes a menu.
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  const head = event.target.closest("button.sort")?.closest("th");
  if (!head) return;
  const table = head.closest("table");
  const at = head.cellIndex;
  // Numbers are first seen from the largest on.
  const isDown = head.ariaSort ? head.ariaSort === "ascending" : typeof key(table.tBodies[0].rows[0], at) === "number" && at > 0;
  sorted.set(table.closest("section")?.id, [at, isDown]);
  sortBy(table, at, isDown);
});

const showButtons = () => document.querySelectorAll("button[data-copy]").forEach((button) => { button.hidden = false; });
const renew = () => { showButtons(); sortable(); oneTabStop(); filterAll(); mark(); };
new MutationObserver(renew).observe(document.documentElement, { childList: true, subtree: true });
const ready = () => { renew(); if (location.hash) reveal(); };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
else ready();
