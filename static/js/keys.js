/* Single keys: j k Enter a e r g … n / ? Esc, and Ctrl+Enter in forms.
   They rest while one types, on repeat and with modifiers, and can be turned off. */
(() => {
  "use strict";

  const off = document.documentElement.dataset.keys === "off";
  const openSheet = () => document.querySelector(".sheet:popover-open");
  const rows = () => [...document.querySelectorAll("[data-row] .item-title a")];
  const row = () => document.activeElement.closest("[data-row]") ?? document.querySelector("[data-row][aria-current]");
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
      address.searchParams.set("item", link.href.split("/").at(-2));
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

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    n: () => follow("next"),
    x: () => row()?.querySelector("[data-select]")?.click(),
    Enter: () => follow("open"),
    "/": () => document.querySelector("[aria-keyshortcuts='/']")?.focus(),
    "?": () => document.getElementById("keys")?.togglePopover(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const form = event.target.closest?.("form[method=post]") ?? document.querySelector("form[data-form]");
      if (form) {
        event.preventDefault();
        form.requestSubmit(form.querySelector(".btn-primary, .btn-danger-final"));
      }
      return;
    }
    if (event.key === "Escape") return back(event);
    if (off || event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (openSheet() && event.key !== "?") return;
    if (event.key === "Enter" && event.target !== document.body) return; // what has the focus takes it
    const opener = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (opener) {
      event.preventDefault();
      opener.click();
    } else if (Object.hasOwn(actions, event.key)) {
      event.preventDefault();
      actions[event.key]();
    }
  });

  function back(event) {
    const menu = document.querySelector("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    } else if (!openSheet() && isTyping(event.target)) {
      event.target.blur();
    } else if (!openSheet() && !off) {
      follow("back");
    }
  }
})();
