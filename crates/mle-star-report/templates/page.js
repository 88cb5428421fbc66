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
const isWide = matchMedia("(min-width: 80rem)");
let opener = null;
const target = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
const mark = () => {
  const node = target()?.closest("details.node");
  for (const other of document.querySelectorAll("details.beside")) if (other !== node) other.classList.remove("beside");
  node?.classList.add("beside");
  for (const spot of document.querySelectorAll("a.spot")) {
    spot.classList.toggle("chosen", spot.getAttribute("href") === "#" + node?.id);
  }
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
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (isWide.matches) close();
  unpoint();
});
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
  const spot = link.closest(".card") ? document.querySelector(".pointed") : link.closest(".spot");
  if (isTouch && link === spot && !spot.matches(".pointed")) {
    // The first touch tells, the second opens.
    event.preventDefault();
    return point(spot, event.target);
  }
  if (!link.closest(".inside")) opener = spot ?? link;
  unpoint();
  const opens = document.getElementById(link.getAttribute("href").slice(1))?.matches("details.node");
  if (opens && isWide.matches) {
    // What the reader came from stays where it is.
    event.preventDefault();
    history.pushState(null, "", link.getAttribute("href"));
  }
  setTimeout(reveal);
});

// A point of the picture has a card with the row of its solution. Arrow keys go from point to point, so that Tab leaves the
// picture.
let isTouch = false;
const make = (name, text, className = "") => Object.assign(document.createElement(name), { textContent: text, className });
let pointedAt = null;
const unpoint = () => {
  pointedAt = null;
  document.querySelectorAll(".card").forEach((card) => card.remove());
  document.querySelectorAll(".pointed").forEach((spot) => spot.classList.remove("pointed"));
};
const point = (spot, mark) => {
  const row = document.getElementById("row-" + spot.getAttribute("href").slice(1));
  if (!row || spot.matches(".pointed")) return;
  unpoint();
  pointedAt = spot.getAttribute("href");
  spot.classList.add("pointed");
  const [card, list] = [make("div", "", "card"), make("dl", "")];
  for (const cell of row.querySelectorAll(":scope > :not(.strips)")) {
    const [head, words] = [row.closest("table").tHead.rows[0].cells[cell.cellIndex], cell.matches("td") && cell.title || cell.textContent];
    if (words) list.append(make("dt", head.textContent), make("dd", words));
  }
  const open = Object.assign(make("a", "Plan, change and code", "open"), { href: spot.getAttribute("href") });
  const name = make("p", "");
  name.append(make("strong", row.querySelector("th").title));
  card.append(name, list, open);
  const figure = spot.closest("figure");
  figure.append(card);
  // Beside the point, or below it if there is no room.
  const [at, around] = [mark.getBoundingClientRect(), figure.getBoundingClientRect()];
  const [right, left] = [at.right - around.left + 10, at.left - around.left - card.offsetWidth - 10];
  const isBeside = around.width > right + card.offsetWidth || left > 0;
  const [top, most] = [at.top - card.offsetHeight / 2, innerHeight - card.offsetHeight - 8];
  const x = around.width > right + card.offsetWidth ? right : Math.max(0, Math.min(left, at.left - around.left));
  const y = isBeside ? Math.max(8, Math.min(top, most)) : at.bottom + 10;
  [card.style.left, card.style.top] = [`${x}px`, `${y - around.top}px`];
};
const pointFocused = () => {
  const spot = document.activeElement.closest?.("a.spot");
  if (spot) point(spot, spot.querySelector(".mark"));
};
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const spot = event.target.closest?.("a.spot");
  if (spot) return point(spot, event.target);
  unpoint();
  pointFocused();
});
document.addEventListener("pointerdown", (event) => {
  isTouch = event.pointerType === "touch";
  if (!event.target.closest?.("a.spot, .card")) unpoint();
});
document.addEventListener("focusin", () => { if (!isTouch) pointFocused(); });
document.addEventListener("focusout", () => { if (!isTouch) unpoint(); });
document.addEventListener("keydown", (event) => {
  isTouch = false;
  const spot = event.target.closest?.("a.spot");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!spot || !step) return;
  event.preventDefault();
  const spots = Array.from(spot.closest("svg").querySelectorAll("a.spot"));
  const next = spots[(spots.indexOf(spot) + step + spots.length) % spots.length];
  for (const one of spots) one.setAttribute("tabindex", one === next ? "0" : "-1");
  next.focus();
});
const renewSpots = () => {
  // The card says what the tooltip would.
  for (const title of document.querySelectorAll("a.spot > title")) {
    title.parentElement.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  // A picture that is drawn again keeps its card.
  const same = pointedAt && !document.querySelector(".card") &&
    Array.from(document.querySelectorAll("a.spot")).find((spot) => spot.getAttribute("href") === pointedAt && spot.checkVisibility());
  if (same) point(same, same.querySelector(".mark"));
  for (const picture of document.querySelectorAll("svg.story:not(:has([tabindex]))")) {
    picture.querySelectorAll("a.spot").forEach((spot, index) => spot.setAttribute("tabindex", index ? "-1" : "0"));
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
const renew = () => { showButtons(); sortable(); renewSpots(); filterAll(); mark(); };
new MutationObserver(renew).observe(document.documentElement, { childList: true, subtree: true });
const ready = () => { renew(); if (location.hash) reveal(); };
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
else ready();
