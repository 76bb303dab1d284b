/* Live pages: what a morph keeps, times that go on, copying, small comforts.
   Every page works without this file. */
(() => {
  "use strict";

  // A morph takes the server's markup, but not what the reader has done to the page:
  // open folds, the chosen row, ticked boxes, typed text.
  function isTouched(node, name) {
    return (name === "checked" && node.checked !== node.defaultChecked)
      || (name === "value" && "defaultValue" in node && node.type !== "hidden" && node.value !== node.defaultValue);
  }
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && node.tagName === "DETAILS") &&
    !(name === "aria-current" && node.matches?.(".item")) &&
    !isTouched(node, name);
  Idiomorph.defaults.callbacks.beforeNodeMorphed = (old) =>
    !(old.nodeType === 1 && old.matches("[data-keep].loaded, :popover-open"));
  Idiomorph.defaults.callbacks.beforeNodeRemoved = (node) =>
    !(node.nodeType === 1 && node.matches(":popover-open"));

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.matches("[data-keep]")) event.detail.target.classList.add("loaded");
    tick();
    showCount();
    mark();
  });

  // Times: the server writes them, the browser keeps them true between two answers.
  const units = (s) =>
    s < 60 ? `${s} s` : s < 3600 ? `${Math.floor(s / 60)} min`
      : s < 86400 ? `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} m` : ""}`
        : `${Math.floor(s / 86400)} d`;
  function say(time, text) {
    if (time.textContent !== text) time.textContent = text;
  }

  function tick() {
    const now = Date.now();
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const seconds = Math.floor((now - Date.parse(time.dateTime)) / 1000);
      if (seconds < 0 || seconds > 30 * 86400) continue;
      const age = seconds < 10 ? "just now"
        : seconds >= 3600 && seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago` : `${units(seconds)} ago`;
      say(time, `${time.dataset.ago} ${age}`.trim());
    }
    for (const time of document.querySelectorAll("time[data-left]")) {
      const seconds = Math.floor((Date.parse(time.dateTime) - now) / 1000);
      say(time, seconds < 0 ? `overdue by ${units(-seconds)}` : `${units(seconds)} left`);
    }
  }
  setInterval(tick, 5000);

  // The number in the tab's title.
  function showCount() {
    const count = document.getElementById("inbox-count");
    if (!count) return;
    const bare = document.title.replace(/^\(\d+\) /, "");
    const wanted = count.hidden || count.dataset.count === "0" ? bare : `(${count.dataset.count}) ${bare}`;
    if (document.title !== wanted) document.title = wanted;
  }
  showCount();

  // Say so when the server does not answer, and when it does again. Where a page has a
  // feed of its own, that counts; a request that is taken back says nothing.
  const STALE_MS = 12_000;
  let lastAnswer = new Date();
  let isLive = true;
  const clock = (date) => date.toLocaleTimeString([], { hour12: false, timeZone: document.documentElement.dataset.zone });
  const feed = () => document.querySelector("[data-feed]");
  const isFeed = (event) => !feed() || event.target === feed();

  function mark() {
    for (const live of document.querySelectorAll("[data-live]")) {
      live.dataset.tone = isLive ? "good" : "wait";
      live.firstElementChild.textContent = isLive
        ? `Live, ${clock(lastAnswer)}` : `Updated ${clock(lastAnswer)}, reconnecting`;
    }
    for (const part of document.querySelectorAll("[data-when]")) {
      part.hidden = part.dataset.when !== (isLive ? "fresh" : "stale");
    }
  }
  function heard(is) {
    const said = document.getElementById("said");
    if (said && is !== isLive) said.textContent = is ? "Up to date again" : "Not up to date, reconnecting";
    isLive = is;
    mark();
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    hear(event.detail.xhr);
    if (!event.detail.successful) return;
    showSignedOut(false);
    if (!isFeed(event)) return;
    lastAnswer = new Date();
    heard(true);
  });
  for (const trouble of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(trouble, (event) => {
      const { xhr } = event.detail;
      if (xhr?.status === 401 || (xhr?.status === 403 && !xhr.getResponseHeader("X-Token"))) showSignedOut(true);
      if (isFeed(event)) heard(false);
    });
  }
  setInterval(() => {
    if (feed() && isLive && new Date() - lastAnswer > STALE_MS) heard(false);
  }, 1000);
  function refresh() {
    if (feed() && document.visibilityState === "visible") htmx.trigger(feed(), "refresh");
  }
  document.addEventListener("visibilitychange", refresh);
  addEventListener("online", refresh);
  addEventListener("pageshow", (event) => event.persisted && refresh());

  // Who signs in anew in another tab ends the tokens of the forms that are open here:
  // they get the new one. They do not if it is somebody else who has signed in.
  function hear(answer) {
    const token = answer?.getResponseHeader("X-Token");
    if (!token) return;
    const isSame = answer.getResponseHeader("X-Person") === document.body.dataset.person;
    document.getElementById("somebody-else")?.toggleAttribute("hidden", isSame);
    if (!isSame) return;
    showSignedOut(false);
    for (const field of document.querySelectorAll("input[name=csrfmiddlewaretoken]")) field.value = token;
    const notice = document.getElementById("sent-too-late");
    if (notice && answer.status === 403) notice.hidden = false;
  }
  document.addEventListener("htmx:beforeRequest", (event) => {
    const notice = document.getElementById("sent-too-late");
    if (notice && event.detail.requestConfig.triggeringEvent?.type === "submit") notice.hidden = true;
  });
  document.addEventListener("agentops:answer", (event) => {
    hear(event.detail);
    if (event.detail.status === 401) showSignedOut(true);
  });

  function showSignedOut(is) {
    const notice = document.getElementById("signed-out");
    if (!notice || notice.hidden === !is) return;
    const link = notice.querySelector("[data-sign-in]");
    link.search = `?next=${encodeURIComponent(location.pathname + location.search)}`;
    notice.hidden = !is;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from]");
    if (!button) return;
    const source = button.dataset.copyFrom;
    const text = source ? document.getElementById(source).textContent : button.dataset.copy;
    navigator.clipboard?.writeText(text).then(() => {
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 1500);
    });
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-autosubmit]")) event.target.form.requestSubmit();
  });

  // A menu closes when one clicks or steps outside of it.
  for (const kind of ["click", "focusin"]) {
    document.addEventListener(kind, (event) => {
      for (const menu of document.querySelectorAll("details.menu[open]")) {
        if (!menu.contains(event.target)) menu.open = false;
      }
    });
  }

  // A sheet that opens puts the cursor where one begins to type.
  document.addEventListener("toggle", (event) => {
    if (event.newState !== "open" || !event.target.matches?.(".sheet")) return;
    event.target.querySelector("[autofocus], textarea, input:not([type=hidden], [type=radio]), select, button:not([form])")?.focus();
  }, true);

  // A step that the address names is shown open.
  function unfold() {
    const step = location.hash && document.getElementById(location.hash.slice(1));
    const fold = step?.querySelector?.("details");
    if (fold && step.matches(".step")) {
      fold.open = true;
      step.scrollIntoView({ block: "nearest" });
    }
  }
  addEventListener("hashchange", unfold);
  unfold();

  // An edit shows what it changes, line by line, before it is sent.
  const lines = (text) => text.replace(/\r\n/g, "\n").split("\n");
  function changes(field) {
    const was = lines(field.dataset.was ?? field.defaultValue ?? ""), is = lines(field.value);
    if (was.join("\n") === is.join("\n")) return [];
    const name = field.labels?.[0]?.firstChild.textContent.trim() ?? "";
    return [
      ...was.filter((line) => line && !is.includes(line)).map((line) => ["del", `${name}: ${line}`]),
      ...is.filter((line) => line && !was.includes(line)).map((line) => ["ins", `${name}: ${line}`]),
    ];
  }
  document.addEventListener("input", (event) => compare(event.target.form));
  document.addEventListener("toggle", (event) => compare(event.target.querySelector?.("form")), true);
  function compare(form) {
    const box = form?.querySelector("[data-diff]");
    if (!box) return;
    const fields = form.querySelectorAll("[name^='arguments.']:is(input, textarea, select)");
    const found = [...fields].flatMap(changes);
    box.hidden = found.length === 0;
    box.querySelector(".diff").replaceChildren(...found.map(([tag, text]) => {
      const element = document.createElement(tag);
      element.textContent = text;
      return element;
    }));
  }

  // The task, with the form's values where the agent's template has braces.
  const task = document.querySelector("[data-template]");
  const form = task && document.getElementById("task");
  function fill() {
    const values = new FormData(form);
    task.textContent = task.dataset.template.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values.get(`inputs.${name}`);
      return value === null || value === "" ? whole : value;
    });
  }
  if (task) {
    form.addEventListener("input", fill);
    fill();
  }
})();
