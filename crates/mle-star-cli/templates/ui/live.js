// Updates the page while runs go on. The page can be read without this file.
"use strict";

(function () {
  const main = document.getElementById("main");
  if (!main || !main.dataset.events || !window.EventSource) return;
  let since = main.dataset.since;
  let source = null;
  const unseen = new Set();

  // Browsers limit connections to one address, so only a visible page holds one.
  function connect() {
    if (source || document.hidden) return;
    source = new EventSource(main.dataset.events + "?since=" + since);
    source.onmessage = function (event) {
      since = event.lastEventId || since;
      for (const section of JSON.parse(event.data)) renew(section.id, section.html, section.is_new);
    };
  }

  function disconnect() {
    if (source) source.close();
    source = null;
  }

  function renew(id, html, isNew) {
    // A pending version is older than this one.
    waiting.delete(id);
    const old = document.getElementById(id);
    if (!old) return announce(id, html, isNew);
    if (!html) return old.remove();
    if (isBeingSelected(old)) return waiting.set(id, html);
    const template = document.createElement("template");
    template.innerHTML = html;
    const fresh = template.content.firstElementChild;
    const kept = state(old);
    old.replaceWith(fresh);
    const link = document.querySelector(`nav a[href="#${id}"]`);
    if (link) link.parentElement.hidden = fresh.hidden;
    restore(fresh, kept);
    if (main.dataset.now) tick();
  }

  // A section with selected text is replaced after the selection ends.
  const waiting = new Map();

  function isBeingSelected(section) {
    const selection = getSelection();
    return selection && !selection.isCollapsed && section.contains(selection.anchorNode);
  }

  document.addEventListener("selectionchange", function () {
    if (waiting.size === 0 || !getSelection().isCollapsed) return;
    const late = Array.from(waiting);
    waiting.clear();
    for (const [id, html] of late) renew(id, html);
  });

  // The user's state of a section: open details, scroll positions, checked boxes, focus.
  function state(section) {
    const open = new Map();
    for (const [key, details] of keyed(section, "details")) open.set(key, details.open);
    const scrolled = new Map();
    for (const [key, box] of keyed(section, "pre, .wide")) {
      const atEnd = box.scrollTop > 0 && box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
      scrolled.set(key, { top: box.scrollTop, left: box.scrollLeft, atEnd: atEnd });
    }
    const checked = new Set(Array.from(section.querySelectorAll("input:checked"), function (box) { return box.value; }));
    const chosen = new Map();
    for (const [key, box] of keyed(section, "[data-filter] select")) chosen.set(key, box.value);
    let focus = null;
    for (const [key, element] of keyed(section, "a, button, summary, input, select, [tabindex]")) {
      if (element === document.activeElement) focus = key;
    }
    return { open: open, scrolled: scrolled, checked: checked, chosen: chosen, focus: focus };
  }

  function restore(section, kept) {
    for (const [key, details] of keyed(section, "details")) {
      if (kept.open.has(key)) details.open = kept.open.get(key);
    }
    for (const [key, box] of keyed(section, "pre, .wide")) {
      const was = kept.scrolled.get(key);
      if (was) box.scrollTop = was.atEnd ? box.scrollHeight : was.top;
      if (was) box.scrollLeft = was.left;
    }
    for (const box of section.querySelectorAll("input[type=checkbox]")) box.checked = kept.checked.has(box.value);
    for (const [key, box] of keyed(section, "[data-filter] select")) {
      if (kept.chosen.has(key)) box.value = kept.chosen.get(key);
    }
    if (kept.focus === null) return;
    for (const [key, element] of keyed(section, "a, button, summary, input, select, [tabindex]")) {
      if (key === kept.focus) element.focus({ preventScroll: true });
    }
  }

  // Elements by a key that survives insertions before them.
  function keyed(section, selector) {
    const seen = new Map();
    return Array.from(section.querySelectorAll(selector), function (element) {
      const label = element.tagName === "DETAILS" ? element.querySelector("summary") : element;
      const about = element.id || element.dataset.key || element.getAttribute("name") || element.getAttribute("href") ||
        (element.tagName === "PRE" ? "" : (label ? label.textContent.trim() : ""));
      const name = element.tagName + " " + about;
      const count = (seen.get(name) || 0) + 1;
      seen.set(name, count);
      return [name + " " + count, element];
    });
  }

  // Counts runs that began after the page was made. The filter may hide other rows that are not on the page.
  function announce(id, html, isNew) {
    const news = document.getElementById("news");
    if (!news) return;
    if (!html) unseen.delete(id);
    else if (isNew) unseen.add(id);
    if (unseen.size === 0) return news.replaceChildren();
    const link = document.createElement("a");
    link.href = withoutFilter();
    link.textContent = unseen.size === 1 ? "A new run has begun: show it" : unseen.size + " new runs have begun: show them";
    news.replaceChildren(link);
  }

  // The filter may hide a new run.
  function withoutFilter() {
    const address = new URL(location.href);
    for (const field of ["text", "page"]) address.searchParams.delete(field);
    return address.href;
  }

  // Time goes on between updates, by the server's clock.
  const ahead = Date.now() / 1000 - Number(main.dataset.now || 0);

  function brief(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    const two = function (number) { return String(number).padStart(2, "0"); };
    if (hours) return hours + "h" + (minutes ? " " + two(minutes) + "m" : "");
    if (minutes) return minutes + "m" + (rest ? " " + two(rest) + "s" : "");
    return rest + "s";
  }

  function tick() {
    const now = Date.now() / 1000 - ahead;
    const bar = document.querySelector("[data-zero]");
    if (bar) {
      const progress = bar.querySelector("progress");
      const used = now - bar.dataset.zero;
      const told = [brief(used) + " of " + brief(progress.max) + " used", brief(progress.max - used) + " left"];
      progress.value = used;
      if (!isBeingSelected(bar)) bar.querySelector("span").textContent = told.join(", ");
    }
    for (const part of document.querySelectorAll("[data-began]")) {
      if (!isBeingSelected(part.parentElement)) part.textContent = ", " + brief(now - part.dataset.began) + " by now";
    }
  }

  if (main.dataset.now) setInterval(tick, 1000);

  document.addEventListener("visibilitychange", function () {
    if (document.hidden) disconnect(); else connect();
  });
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);
  connect();
})();

// Says that something takes a while, and takes files that are dropped anywhere on the page.
(function () {
  const busy = document.getElementById("busy");
  if (!busy) return;
  function say(event) {
    if (event.target.closest("[data-busy]") && !event.defaultPrevented && !event.ctrlKey && !event.metaKey) busy.hidden = false;
  }
  document.addEventListener("submit", say);
  document.addEventListener("click", function (event) {
    if (event.target.closest("a")) say(event);
  });
  window.addEventListener("pageshow", function () { busy.hidden = true; });
  const drop = document.querySelector(".drop");
  if (!drop) return;
  const files = drop.querySelector("input");
  drop.querySelector("button").hidden = true;
  files.addEventListener("change", function () { if (files.files.length) drop.requestSubmit(); });
  document.addEventListener("dragover", function (event) {
    event.preventDefault();
    drop.classList.add("is-over");
  });
  document.addEventListener("dragleave", function () { drop.classList.remove("is-over"); });
  document.addEventListener("drop", function (event) {
    event.preventDefault();
    drop.classList.remove("is-over");
    if (!event.dataTransfer.files.length) return;
    files.files = event.dataTransfer.files;
    drop.requestSubmit();
  });
})();

// Lays the scores of the chosen runs over each other, above the list.
(function () {
  const overlay = document.getElementById("overlay");
  if (!overlay) return;
  let latest = 0;
  document.addEventListener("change", async function (event) {
    if (!event.target.matches(".pick input")) return;
    const mine = ++latest;
    const chosen = new URLSearchParams(new FormData(document.getElementById("chosen")));
    if (![...chosen].length) return overlay.replaceChildren();
    const answer = await fetch("/compare?" + chosen);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine !== latest) return;
    overlay.replaceChildren(...page.querySelectorAll("svg.unseen, main > .trouble, main > .note, #curves"));
  });
})();
