/* The inbox: what a fresh list says aloud, an address that follows search and filters,
   and the place one comes back to. The list works without this file. */
(() => {
  "use strict";

  const find = (id) => document.getElementById(id);
  const param = (name) => new URL(location.href).searchParams.get(name);

  if (!find("list")) return;

  // Coming back, the focus is where one left the list, or on what has moved up there.
  const here = document.querySelector("#items [data-following]")
    ?? document.querySelector("#items [aria-current]");
  if (param("item") && here) {
    here.scrollIntoView({ block: "center" });
    here.querySelector(".item-title a").focus({ preventScroll: true });
  }

  // Said aloud, politely: what has come, and what others have decided.
  const rows = () => [...document.querySelectorAll("#items [data-row]")];
  const isDone = (row) => row.classList.contains("item-done");
  const look = () => new Map(rows().map((row) => [row.id, isDone(row)]));
  let known = look();
  let news = find("news")?.textContent ?? "";

  function say(words) {
    if (words.length) find("said").textContent = words.join(". ");
  }

  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (!["items", "list", "more"].includes(detail.target.id)) return;
    const come = rows().filter((row) => !known.has(row.id));
    const words = rows().filter((row) => isDone(row) && known.get(row.id) === false)
      .map((row) => row.dataset.said);
    if (detail.requestConfig.elt.id === "news" && come.length) {
      come.forEach((row) => row.classList.add("item-fresh"));
      come[0].querySelector(".item-title a").focus();
      words.push(`${come.length} shown`);
    } else if (detail.requestConfig.elt.id === "filters") {
      words.push(rows().length ? `${rows().length}${find("more")?.hidden === false ? " or more" : ""} found` : "No item fits");
    } else if (detail.target.id === "more" && come.length) {
      come[0].querySelector(".item-title a").focus();
    }
    const counted = find("news")?.textContent ?? "";
    if (counted && counted !== news) words.push(counted);
    news = counted;
    known = look();
    say(words);
  });

  // The address follows search and filters; one search is one step back, not one a letter.
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.elt.id !== "filters" || !detail.successful) return;
    const asked = new URL(detail.pathInfo.finalRequestPath, location.href);
    const address = new URL(location.pathname, location.href);
    for (const [name, value] of asked.searchParams) {
      if (value) address.searchParams.set(name, value);
    }
    if (param("item")) address.searchParams.set("item", param("item"));
    if (address.href === location.href) return;
    const isTyped = detail.requestConfig.triggeringEvent?.type === "input";
    if (isTyped && history.state?.typed) history.replaceState({ typed: true }, "", address);
    else history.pushState({ typed: isTyped }, "", address);
    lead();
  });

  // What stands beside the list leads on into the list as it is now.
  function lead() {
    const query = new URL(location.href).searchParams;
    query.delete("item");
    for (const node of document.querySelectorAll("#detail [data-in-list]")) {
      const name = node.matches("form") ? "action" : "href";
      const address = new URL(node.getAttribute(name), location.href);
      address.search = query;
      node.setAttribute(name, address.pathname + address.search + address.hash);
    }
  }
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    if (detail.target.id === "detail") lead();
  });

  addEventListener("popstate", async () => {
    find("filters").reset();
    await htmx.ajax("GET", location.href, { target: "#main", select: "#main", swap: "morph:outerHTML" });
    find("filters").reset();
  });
})();
