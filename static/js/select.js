/* Selecting: how many are ticked, in the inbox and in the table before a decision.
   Without this file the boxes and their buttons work as the forms they are. */
(() => {
  "use strict";

  // The inbox: the list is refreshed every few seconds, what is ticked stays ticked.
  const bar = document.querySelector("[data-pick]");
  if (bar) {
    const boxes = () => [...document.querySelectorAll("[data-select]")];
    const picked = new Set();
    const said = bar.querySelector("[data-picked]");
    const most = Number(bar.dataset.most);

    const show = () => {
      const number = picked.size;
      bar.hidden = number === 0;
      const words = number > most ? `${number} selected; ${most} at a time` : `${number} selected`;
      if (said.textContent !== words) said.textContent = words;
    };
    const read = () => {
      for (const box of boxes()) picked[box.checked ? "add" : "delete"](box.value);
      show();
    };
    const restore = () => {
      const there = new Set();
      for (const box of boxes()) {
        box.checked = picked.has(box.value);
        there.add(box.value);
      }
      for (const id of [...picked]) if (!there.has(id)) picked.delete(id); // decided meanwhile
      show();
    };

    document.addEventListener("change", (event) => {
      if (event.target.matches("[data-select]")) read();
    });
    bar.addEventListener("reset", () => setTimeout(read));
    document.addEventListener("htmx:afterSettle", (event) => {
      if (["items", "list", "more"].includes(event.detail.target.id)) restore();
    });
    addEventListener("pageshow", read);
    read();
  }

  // The table before a decision: the button says on how many it will be made.
  const form = document.querySelector("[data-bulk]");
  const button = document.querySelector("[data-final]");
  if (form && button) {
    const count = () => {
      const number = form.querySelectorAll("[data-tick]:checked").length;
      button.querySelector("[data-ticked]").textContent = number;
      button.querySelector("[data-items]").textContent = number === 1 ? "item" : "items";
    };
    form.addEventListener("change", count);
    addEventListener("pageshow", count);
    count();
  }
})();
