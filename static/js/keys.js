/* Single keys, listed in reviews/keyboard.py, and Ctrl+Enter in forms. They rest while
   one types or composes, in dialogs, on repeat and with modifiers, and can be turned
   off in the profile. Each does what a link, a button or a field of the page does. */
(() => {
  "use strict";

  const off = document.documentElement.dataset.keys === "off";
  const openSheet = () => document.querySelector(".sheet:popover-open, dialog[open]");
  const rows = () => [...document.querySelectorAll("[data-row] .item-title a")];
  const isTyping = (node) =>
    node.matches?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

  // The inbox beside its list: a click with the mouse, or a move, shows the item there.
  const isWide = () => matchMedia("(width >= 60rem)").matches;
  let pending;

  function choose(link) {
    if (!link.dataset.pane || !isWide()) return false;
    document.querySelector(".item[aria-current]")?.removeAttribute("aria-current");
    link.closest(".item").setAttribute("aria-current", "true");
    clearTimeout(pending);
    pending = setTimeout(() => {
      const address = new URL(location.href);
      address.searchParams.set("item", link.pathname.split("/").at(-2));
      history.replaceState(null, "", address);
      htmx.ajax("GET", link.dataset.pane, { target: "#detail", swap: "innerHTML" });
    }, 120);
    return true;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-pane]");
    const isPlain = event.detail > 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (link && isPlain && choose(link)) event.preventDefault();
  });

  function move(by) {
    const all = rows();
    if (!all.length) return follow(by > 0 ? "next" : "previous");
    const here = all.indexOf(document.activeElement);
    const chosen = all.findIndex((link) => link.closest("[aria-current]"));
    const from = here >= 0 ? here : chosen >= 0 ? chosen : by > 0 ? -1 : all.length;
    const link = all[Math.min(Math.max(from + by, 0), all.length - 1)];
    link.focus();
    link.scrollIntoView({ block: "nearest" });
    choose(link);
  }

  function follow(name) {
    const link = document.querySelector(`[data-go="${name}"]`);
    if (link) link.click();
    return Boolean(link);
  }

  // A row is the one that has the focus, else the one that is shown beside the list.
  function row() {
    return document.activeElement?.closest("[data-row]") ?? document.querySelector("[data-row][aria-current]");
  }
  const box = (where) => where?.querySelector("[data-select]");
  const search = () => document.querySelector("[aria-keyshortcuts='/']");
  const done = () => document.querySelector("main ~ .bar-done, #detail .bar-done");
  const go = (name) => document.querySelector(`[data-go="${name}"]`);
  const button = (key) =>
    [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].find((one) => one.checkVisibility());

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("next") || (rows().length && move(1)),
    x: () => box(row())?.click(),
    Enter: () => follow("open") || (done() && follow("next")) || row()?.querySelector(".item-title a").click(),
    "/": () => search()?.focus(),
    "?": () => document.getElementById("keys")?.togglePopover(),
  };

  // Which of the legend's keys do something on this page, as it is now.
  const isOfUse = {
    j: () => rows().length || go("next") || go("previous"),
    n: () => rows().length || go("next"),
    x: () => box(document),
    Enter: () => go("open") || (done() && go("next")) || row(),
    "/": search,
    "?": () => true,
    Esc: () => true,
    "Ctrl+Enter": () => document.querySelector("form[data-form]"),
  };
  document.getElementById("keys")?.addEventListener("beforetoggle", () => {
    for (const line of document.querySelectorAll("#keys [data-legend]")) {
      const key = line.dataset.legend;
      line.hidden = !(isOfUse[key] ?? (() => button(key)))();
    }
  });

  const isComposing = (event) => event.isComposing || event.keyCode === 229;
  function isResting(event) {
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    return off || event.repeat || hasModifier || isComposing(event) || isTyping(event.target);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return send(event);
    if (event.key === "Escape") return back(event);
    if (isResting(event)) return;
    const sheet = openSheet();
    if (sheet && !(sheet.id === "keys" && event.key === "?")) return;
    if (event.key === "Enter" && event.target !== document.body) return; // what has the focus takes it
    const isLetter = /^[a-z]$/i.test(event.key);
    if (isLetter && event.shiftKey) return;
    press(event, isLetter ? event.key.toLowerCase() : event.key);
  });

  function press(event, key) {
    const opener = button(key);
    if (!Object.hasOwn(actions, key) && !opener) return;
    event.preventDefault();
    if (Object.hasOwn(actions, key)) return actions[key]();
    // A sheet gives the focus back to what had it: that should be its button.
    if (opener.hasAttribute("popovertarget")) opener.focus({ preventScroll: true });
    opener.click();
  }

  // The form one is in, else the one that is shown; never one behind a closed sheet.
  function send(event) {
    if (event.repeat || isComposing(event)) return;
    const shown = [...(openSheet() ?? document).querySelectorAll("form[data-form]")];
    const form = event.target.closest?.("form[method=post]") ?? shown.find((one) => one.checkVisibility());
    if (!form?.checkVisibility()) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector(".btn-primary, .btn-danger-final"));
  }

  function back(event) {
    if (isComposing(event)) return;
    const menu = document.querySelector("details.menu[open]");
    if (openSheet()) return; // it closes by itself
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (isTyping(event.target)) {
      event.target.blur();
    } else if (!off && !event.repeat) {
      follow("back");
    }
  }

  // A sheet that was opened from where nothing had the focus leaves it at its button.
  document.addEventListener("toggle", (event) => {
    const sheet = event.target;
    if (event.newState !== "closed" || !sheet.matches?.(".sheet:not(#keys)")) return;
    if (document.activeElement && document.activeElement !== document.body) return;
    const openers = [...document.querySelectorAll(`[popovertarget="${CSS.escape(sheet.id)}"]`)];
    const opener = openers.find((one) => !sheet.contains(one));
    const place = opener?.checkVisibility() ? opener : opener?.closest("details")?.querySelector("summary");
    place?.focus({ preventScroll: true });
  }, true);
})();
