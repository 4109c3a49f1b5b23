// Elements, without markup in strings: what a run is called is never read as HTML.

import { sentence } from "./charts.js";

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element. Functions are listeners; what an element has no property for is an attribute. */
export function h(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** Makes a part of a drawing. */
export function svg(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(made, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else if (key !== "list" && key in made && made.namespaceURI !== SVG) made[key] = value;
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return made;
}

/** A button that does something; what it says is also its name. */
export function button(text, press, properties = {}) {
  return h("button", { type: "button", onclick: press, ...properties }, text);
}

/** A control with its name beside it. */
export function field(text, control, hint) {
  const name = h("span", { class: "field-name" }, text);
  const more = hint ? h("small", {}, hint) : null;
  return h("label", { class: "field" }, name, control, more);
}

/** A choice among words; each is a text, or a pair of value and text. */
export function choice(words, chosen, properties = {}) {
  const options = words.map((word) => {
    const [value, text] = Array.isArray(word) ? word : [word, word];
    return h("option", { value, selected: value === chosen }, text);
  });
  return h("select", properties, options);
}

/** A table in a frame that scrolls by itself; rows are lists of cells. */
export function table(caption, heads, body, properties = {}) {
  const named = h("caption", {}, h("span", {}, caption));
  const row = h("tr", {}, heads.map((head) => (head instanceof Node ? head : th(head))));
  // What stands above words begins where they do.
  [...(body.rows?.[0]?.cells ?? [])].forEach((cell, index) => {
    if (cell.tagName === "TH" || cell.classList.contains("name")) row.cells[index]?.classList.add("name");
  });
  // Where there is no room for columns, each cell stands below the one before and says what it is.
  if (properties.class === "stack") {
    for (const { cells } of body.rows ?? []) {
      [...cells].forEach((cell, index) => (cell.dataset.label = row.cells[index].textContent));
    }
  }
  const made = h("table", properties, named, h("thead", {}, row), body);
  return h("div", { class: "frame", tabIndex: 0, role: "group", "aria-label": caption }, made);
}

/** The head of a column. */
export function th(text, properties = {}) {
  return h("th", { scope: "col", ...properties }, text);
}

/** Tells a screen reader what changed. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}

/** Asks in a dialog; `make` gets a function that ends it with a value. Resolves to it, or null. */
export function dialog(title, make) {
  return new Promise((resolve) => {
    let answer = null;
    const before = document.activeElement;
    const end = (value) => {
      answer = value;
      made.close();
    };
    const head = h("h2", { id: "dialog-title" }, title);
    const made = h("dialog", { "aria-labelledby": "dialog-title" }, head, make(end));
    made.addEventListener("close", () => {
      made.remove();
      if (before?.isConnected) before.focus();
      resolve(answer);
    });
    document.body.append(made);
    made.showModal();
  });
}

/** Asks before something that cannot be taken back. */
export function confirmed(title, text, deed) {
  return dialog(title, (end) => [
    h("p", {}, text),
    h(
      "div",
      { class: "actions" },
      button(deed, () => end(true), { class: "danger" }),
      button("Cancel", () => end(null)),
    ),
  ]);
}

/** A note that something failed, with what to do about it. */
export function failure(error) {
  const help = error.help ? h("p", {}, "help: ", sentence("span", error.help)) : null;
  return h("div", { class: "warnings", role: "alert" }, sentence("p", error.message), help);
}

/** A time as people of the browser's place write it. */
export function localTime(text) {
  if (!text) return "–";
  const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  return h("time", { dateTime: text, title: text }, shown.format(new Date(text)));
}

/** A stretch of time in words. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}
