// Text editor for a workload, with line numbers and marks at lines with diagnostics.

import { sentence } from "./charts.js";
import { button, h } from "./dom.js";

export class TextEditor {
  constructor(label, changed) {
    this.numbers = h("pre", { class: "line-numbers", "aria-hidden": "true" });
    this.area = h("textarea", {
      spellcheck: false, "aria-label": label, wrap: "off", rows: 24,
      oninput: () => {
        this.number();
        changed(this.area.value);
      },
      onscroll: () => (this.numbers.scrollTop = this.area.scrollTop),
    });
    this.area.setAttribute("autocapitalize", "off");
    this.element = h("div", { class: "editor" }, this.numbers, this.area);
    this.marked = new Map();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    if (this.area.value === text) return;
    const { scrollTop } = this.area;
    this.area.value = text;
    this.area.scrollTop = scrollTop;
    this.number();
  }

  /** Marks lines; `verdicts` have `line` and `severity`. */
  mark(verdicts) {
    this.marked = new Map();
    for (const { line, severity } of verdicts) {
      if (line && this.marked.get(line) !== "error") this.marked.set(line, severity);
    }
    this.number();
  }

  number() {
    const count = this.area.value.split("\n").length;
    const rows = Array.from({ length: count }, (_, index) =>
      h("span", { class: this.marked.get(index + 1) ?? "" }, `${index + 1}\n`));
    this.numbers.replaceChildren(...rows);
    this.numbers.scrollTop = this.area.scrollTop;
  }

  /** Focuses the editor and selects the line from the column on. */
  go(line, column) {
    const lines = this.area.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(begin + Math.max(0, (column ?? 1) - 1), begin + (lines[line - 1] ?? "").length);
    const height = this.area.scrollHeight / lines.length;
    this.area.scrollTop = Math.max(0, (line - 5) * height);
  }
}

/** List of diagnostics; line numbers are buttons that go to the line. */
export function verdictList(verdicts, editor) {
  const items = verdicts.map(({ severity, line, column, message, help }) => {
    const place = line ? button(`line ${line}${column ? `:${column}` : ""}`, () => editor.go(line, column), { class: "place" }) : "";
    return h("li", { class: severity }, h("strong", {}, severity), " ", place, " ", sentence("span", message),
      help ? h("small", { class: "note" }, "help: ", sentence("span", help)) : null);
  });
  return h("ul", { class: "verdicts" }, items);
}
