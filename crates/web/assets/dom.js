// Creates elements without HTML in strings, so that names of runs are never parsed as HTML.

import { sentence } from "./charts.js";

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element. Functions become listeners; names without a property become attributes. */
export function h(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** Creates an SVG element. */
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

/** A button with an action; its text is also its accessible name. */
export function button(text, press, properties = {}) {
  return h("button", { type: "button", onclick: press, ...properties }, text);
}

/**
 * Buttons that move `what`, which is item `at` of `places`, up or down. `name` gives the name of a
 * place's button. `move` gets the place of the neighbor, and the names of the buttons to focus
 * afterwards.
 */
export function moveButtons(what, name, places, at, move) {
  const one = (by, mark, other) => button(mark, () => move(other, [name(other, by), name(other, by === "up" ? "down" : "up")]),
    { name: name(places[at], by), class: "small", disabled: other === undefined, "aria-label": `Move ${what} ${by}` });
  return [one("up", "↑", places[at - 1]), one("down", "↓", places[at + 1])];
}

/** Makes an element draggable; it carries `data` of this type. */
export function draggable(element, type, data) {
  element.draggable = true;
  element.addEventListener("dragstart", (event) => {
    event.stopPropagation();
    event.dataTransfer.setData(type, data);
  });
  return element;
}

/** Calls `take` with what is dropped on an element, if it has this type and `accepts` allows it. */
export function droppable(element, type, take, accepts = () => true) {
  const isWanted = (event) => event.dataTransfer.types.includes(type) && accepts();
  element.addEventListener("dragover", (event) => {
    if (!isWanted(event)) return;
    event.preventDefault();
    element.classList.add("drop");
  });
  element.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!element.contains(relatedTarget)) element.classList.remove("drop");
  });
  element.addEventListener("drop", (event) => {
    element.classList.remove("drop");
    if (!isWanted(event)) return;
    event.preventDefault();
    event.stopPropagation();
    take(event.dataTransfer.getData(type));
  });
  return element;
}

/** A control with its label and an optional hint. */
export function field(text, control, hint) {
  const name = h("span", { class: "field-name" }, text);
  const more = hint ? h("small", {}, hint) : null;
  return h("label", { class: "field" }, name, control, more);
}

/** A select element; each option is a text, or a pair of value and text. */
export function choice(words, chosen, properties = {}) {
  const options = words.map((word) => {
    const [value, text] = Array.isArray(word) ? word : [word, word];
    return h("option", { value, selected: value === chosen }, text);
  });
  return h("select", properties, options);
}

/** A table in its own scrolling frame. `body` is a `tbody` element. */
export function table(caption, heads, body, properties = {}) {
  const named = h("caption", {}, h("span", {}, caption));
  const row = h("tr", {}, heads.map((head) => (head instanceof Node ? head : th(head))));
  // Left-align the heads of columns that contain text, like their cells.
  [...(body.rows?.[0]?.cells ?? [])].forEach((cell, index) => {
    if (cell.tagName === "TH" || cell.classList.contains("name")) row.cells[index]?.classList.add("name");
  });
  // On a narrow screen, CSS stacks the cells of a row, and each shows its label.
  if (properties.class?.split(" ").includes("stack")) {
    for (const { cells } of body.rows ?? []) {
      [...cells].forEach((cell, index) => {
        const label = row.cells[index].textContent;
        if (label) cell.dataset.label = label;
      });
    }
  }
  const made = h("table", properties, named, h("thead", {}, row), body);
  return h("div", { class: "frame", tabIndex: 0, role: "group", "aria-label": caption }, made);
}

/** The head of a column. */
export function th(text, properties = {}) {
  return h("th", { scope: "col", ...properties }, text);
}

/** Announces a change to screen readers. */
export function announce(text) {
  document.getElementById("announce").textContent = text;
}

/** Opens a dialog; `make` gets a function that closes it with a value. Resolves to it, or null. */
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

/** Asks for confirmation before an action that cannot be undone. */
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

/** An error message with advice. */
export function failure(error) {
  const help = error.help ? h("p", {}, "help: ", sentence("span", error.help)) : null;
  return h("div", { class: "warnings", role: "alert" }, sentence("p", error.message), help);
}

/** A time in the locale of the browser. */
export function localTime(text) {
  if (!text) return "–";
  const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  return h("time", { dateTime: text, title: text }, shown.format(new Date(text)));
}

/** Start of a run; of imported results only if their source states it. */
export function startOf(run) {
  return run.origin && !run.origin.time ? "time unknown" : localTime(run.started_at);
}

/** The program whose results were imported; nothing for a run of pgmeter. */
export function originOf({ origin }) {
  if (!origin) return null;
  const title = [origin.program, origin.version].filter(Boolean).join(" ");
  return h("small", { class: "note" }, ` imported from ${title}`);
}

/** A duration as text. */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}
