/* Holding an item: opening is looking; the first edit claims; a page that is looked at
   keeps the lease, one that is left ends it. Every page works without this file. */
(() => {
  "use strict";

  const channel = "BroadcastChannel" in window ? new BroadcastChannel("agentops-hold") : null;
  const box = () => document.getElementById("held");
  const form = () => document.getElementById("hold");
  // A narrow window has the item beside the list in its markup, but does not show it.
  function facts() {
    const list = document.querySelector("#held [data-hold]");
    return list?.checkVisibility() ? list.dataset : {};
  }
  const state = () => facts().hold ?? "";
  const isEdit = (edited) => edited?.matches("[data-form], [data-draft]");

  // What this page holds: where to say so, and the lease as this page has renewed it.
  let ours = null;
  let renewed = 0;
  let isAsking = false;
  let isSending = false;

  async function wish(act) {
    const source = form();
    if (!source || isAsking) return;
    isAsking = true;
    renewed = Date.now();
    try {
      await htmx.ajax("POST", source.action, {
        source, target: "#held", swap: "morph:innerHTML", values: { act },
      });
    } finally {
      isAsking = false;
    }
  }

  // After each answer: what has become of what this page held?
  function look() {
    const act = box()?.dataset.act;
    if (ours && ours.act !== act) leave();
    const now = state();
    if (now === "yours") {
      ours = { act, until: facts().until, token: new FormData(form()).get("csrfmiddlewaretoken") };
      document.querySelectorAll("form .held-notice").forEach((notice) => notice.remove());
    } else if (now === "nobodys" && ours && document.visibilityState === "visible") {
      ours = null;
      wish("keep"); // another page of ours was left, or the time ran out: it is ours if nobody came
    } else {
      if (now === "others" && ours) warn(openForm());
      ours = null;
    }
  }

  // Another person holds it: say so where one types, and take nothing.
  const openForm = () => document.querySelector(".sheet:popover-open form[data-form]");
  function warn(form) {
    const notice = document.querySelector("#held > .held-notice");
    if (!form || !notice || form.querySelector(".held-notice")) return;
    const copy = notice.cloneNode(true);
    copy.removeAttribute("id");
    copy.hidden = false;
    form.querySelector("h2, .field")?.before(copy);
  }

  function leave() {
    if (!ours) return;
    const left = new FormData();
    left.set("csrfmiddlewaretoken", ours.token);
    left.set("act", "leave");
    left.set("until", ours.until);
    navigator.sendBeacon(ours.act, left);
    channel?.postMessage(ours.act);
    ours = null;
  }

  document.addEventListener("input", (event) => {
    if (!isEdit(event.target.form)) return;
    if (state() === "nobodys" && !isAsking) wish("claim");
    if (state() === "others") warn(event.target.form);
  });

  function keep() {
    if (ours && document.visibilityState === "visible") wish("keep");
  }
  setInterval(() => {
    const beat = Number(facts().beat ?? 0) * 1000;
    if (beat && Date.now() - renewed >= beat) keep();
  }, 500);
  document.addEventListener("visibilitychange", keep);
  channel?.addEventListener("message", (event) => {
    if (ours?.act === event.data) keep();
  });

  // A form that is sent takes its page along; that is no leaving.
  document.addEventListener("submit", (event) => {
    isSending = !event.defaultPrevented && event.target.action.includes("/reviews/");
  });
  addEventListener("pagehide", () => {
    if (!isSending) leave();
  });
  addEventListener("pageshow", (event) => {
    isSending = false;
    if (event.persisted && state() === "yours") wish("keep");
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target.id !== "held" || event.detail.requestConfig.verb !== "post") return;
    document.querySelector("#take-over:popover-open")?.hidePopover();
  });
  document.addEventListener("htmx:afterSwap", look);
  look();
})();
