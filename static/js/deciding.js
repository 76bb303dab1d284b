/* Deciding: no key that is held down sends anything, nothing is sent twice, and how
   long a decision can be taken back. Every page works without this file. */
(() => {
  "use strict";

  const SETTLE_MS = 300; // what comes sooner after a sheet opened may not be meant for it
  let openedAt = -Infinity;
  let opener = ""; // the key that opened the sheet, until it is let go

  document.addEventListener("beforetoggle", (event) => { // "toggle" comes later
    if (event.newState === "open" && event.target.matches?.(".sheet")) openedAt = performance.now();
  }, true);

  // Who has typed or chosen something in it means it.
  document.addEventListener("input", (event) => {
    if (event.target.closest?.(".sheet")) openedAt = -Infinity;
  }, true);

  // A key that opened a sheet, or Enter, goes on repeating while it is held down.
  document.addEventListener("keydown", (event) => {
    if (!event.repeat) opener = event.key;
    else if (event.key === opener && (event.key === "Enter" || performance.now() - openedAt < 5000)) {
      if (event.target.closest?.(".sheet, .bar")) {
        event.preventDefault();
        event.stopPropagation();
      }
    }
  }, true);

  // The second step is a deliberate one: the sheet is open, and has been for a moment.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const sheet = form.closest(".sheet");
    const isTooSoon = sheet && (!sheet.matches(":popover-open") || performance.now() - openedAt < SETTLE_MS);
    if (isTooSoon || form.dataset.sent) {
      event.preventDefault();
      event.stopPropagation();
    } else if (form.matches("[data-once], [data-form]")) {
      form.dataset.sent = "yes";
    }
  }, true);
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("[data-sent]")) delete form.dataset.sent;
  });

  // After a decision the way to the next item is one Enter away; the page stays put.
  document.querySelector(".bar-done [data-focus]")?.focus({ preventScroll: true });

  // How long the decision can be taken back: counted from the server's word, by no
  // clock that somebody has set.
  function count(form) {
    const end = performance.now() + Number(form.dataset.undo) * 1000;
    const left = form.querySelector("[data-undo-left]");
    const timer = setInterval(show, 200);
    function show() {
      const seconds = Math.ceil((end - performance.now()) / 1000);
      if (seconds > 0) {
        const text = `${seconds} s left`;
        if (left.textContent !== text) left.textContent = text;
        return;
      }
      clearInterval(timer);
      const over = form.nextElementSibling;
      if (over?.matches("[data-undo-over]")) over.hidden = false;
      form.remove();
    }
    show();
  }
  for (const form of document.querySelectorAll("form[data-undo]")) count(form);
})();
