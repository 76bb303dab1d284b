/* Drafts: what is typed into a form with `data-draft` is kept at that address a second
   later, and when the page is left. What was restored is the server's work. */
(() => {
  "use strict";

  const PAUSE_MS = 1000;
  const waiting = new Map();

  function later(form) {
    clearTimeout(waiting.get(form));
    waiting.set(form, setTimeout(() => save(form), PAUSE_MS));
  }

  function rest(form) {
    clearTimeout(waiting.get(form));
    waiting.delete(form);
  }

  async function save(form) {
    rest(form);
    let status = 0;
    try {
      const answer = await fetch(form.dataset.draft, { method: "POST", body: new FormData(form) });
      status = answer.status;
      const getResponseHeader = (name) => answer.headers.get(name);
      document.dispatchEvent(new CustomEvent("agentops:answer", { detail: { status, getResponseHeader } }));
      if (status === 403 && answer.headers.get("X-Token")) later(form); // with the new token
    } catch {
      later(form); // the server is away: again, as long as the page is there
    }
    say(form, {
      204: "Draft kept.", 409: "Not kept as a draft: this is closed.", 422: "Too long to be kept as a draft.",
    }[status] ?? "Not kept as a draft yet.");
  }

  function say(form, words) {
    let place = form.querySelector(".draft-state");
    if (!place) {
      place = document.createElement("small");
      place.className = "draft-state muted";
      place.setAttribute("role", "status");
      (form.querySelector(".actions") ?? form).append(place);
    }
    place.textContent = words;
  }

  // Leaving: what has not been kept yet goes along, and the browser does not wait.
  function flush() {
    for (const form of waiting.keys()) {
      rest(form);
      navigator.sendBeacon(form.dataset.draft, new FormData(form));
    }
  }

  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form?.dataset.draft) later(form);
  });
  // What is sent is kept by who receives it, where it is refused.
  document.addEventListener("submit", (event) => rest(event.target));
  document.addEventListener("htmx:beforeSwap", (event) => {
    if ([...waiting.keys()].some((form) => event.detail.target.contains(form))) flush();
  });
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") flush();
  });
})();
