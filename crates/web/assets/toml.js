// A workload file as tables, lists and values with their positions in the text, so that a change
// leaves the rest as the user wrote it. It reads only what the form needs; the server checks the
// file.

const BARE = /[A-Za-z0-9_-]+/y;
const SPACE = /[ \t]*/y;
const GAP = /(?:\s|#.*)*/y;
const STRING = /"""(?:[^\\]|\\[^])*?"{3,5}|'''[^]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;
const SCALAR = /[^\s,[\]{}#"'=]+(?: \d\d:[^\s,\]}#]+)?/y;
const ESCAPES = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\x1b" };

/** A path as one dotted name. */
export const nameOf = (path) => path.join(".");

/** The text is not valid TOML, or uses a feature that this reader does not support. */
class Unreadable extends Error {}

/** Parses a text into nodes with offsets. `begin` to `end` is the value. `from` to `to` also
 * includes its key, or the comments above a section. */
class Reader {
  constructor(text) {
    Object.assign(this, { text, at: 0, sections: [] });
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  take(word) {
    const isHere = this.text.startsWith(word, this.at);
    if (isHere) this.at += word.length;
    return isHere;
  }

  want(word) {
    if (!this.take(word)) throw new Unreadable(`no ${word} at ${this.at}`);
  }

  read() {
    const root = { kind: "table", style: "section", path: [], entries: new Map(), from: 0, begin: 0, end: 0, body: 0 };
    this.sections.push(root);
    let table = root;
    for (this.match(GAP); this.at < this.text.length; this.match(GAP)) {
      const isHeader = this.text[this.at] === "[";
      if (isHeader) table = this.header(root);
      else this.entry(table);
      this.match(SPACE);
      if (this.at < this.text.length && !/[\n#\r]/.test(this.text[this.at])) throw new Unreadable(`more at ${this.at}`);
      if (isHeader) table.body = table.end = lineEnd(this.text, this.at);
    }
    // A section includes its subsections.
    this.sections.forEach((section, index) => {
      const inner = (other) => section.path.every((step, depth) => other.path[depth] === step);
      const next = this.sections.slice(index + 1).find((other) => !inner(other));
      section.to = next ? next.from : this.text.length;
    });
    return root;
  }

  header(root) {
    const begin = this.at;
    const isList = this.take("[[");
    if (!isList) this.want("[");
    const keys = this.keys();
    this.want(isList ? "]]" : "]");
    const section = { kind: "table", style: "section", entries: new Map(), begin, from: withComments(this.text, begin) };
    let above = root;
    const path = [];
    for (const [depth, key] of keys.entries()) {
      const isLast = depth === keys.length - 1;
      let node = above.entries.get(key);
      path.push(key);
      if (isLast && !isList) {
        if (node && node.style !== "implied") throw new Unreadable(`${key} twice`);
        section.entries = node?.entries ?? section.entries;
        above.entries.set(key, section);
      } else if (isLast) {
        node ??= { kind: "list", style: "sections", items: [] };
        if (node.style !== "sections") throw new Unreadable(`${key} twice`);
        above.entries.set(key, node);
        path.push(node.items.push(section) - 1);
      } else {
        if (!node) above.entries.set(key, (node = { kind: "table", style: "implied", entries: new Map() }));
        if (node.style === "sections") path.push(node.items.length - 1);
        above = node.style === "sections" ? node.items.at(-1) : node;
        if (above.kind !== "table") throw new Unreadable(`${key} is no table`);
      }
    }
    section.path = path;
    this.sections.push(section);
    return section;
  }

  /** Reads a key with its value into a table. */
  entry(table) {
    const from = this.at;
    const keys = this.keys();
    this.want("=");
    this.match(SPACE);
    const node = this.value();
    Object.assign(node, { from, to: node.end });
    let above = table;
    for (const key of keys.slice(0, -1)) {
      if (!above.entries.has(key)) above.entries.set(key, { kind: "table", style: "dotted", entries: new Map(), from, to: node.end });
      above = above.entries.get(key);
      if (above.kind !== "table") throw new Unreadable(`${key} is no table`);
    }
    if (above.entries.has(keys.at(-1))) throw new Unreadable(`${keys.at(-1)} twice`);
    above.entries.set(keys.at(-1), node);
    if (table.style === "section") table.end = lineEnd(this.text, node.end);
  }

  keys() {
    const keys = [];
    do {
      this.match(SPACE);
      const quoted = /["']/.test(this.text[this.at] ?? "") ? this.match(STRING) : null;
      const key = quoted === null ? this.match(BARE) : meant(quoted);
      if (key === null) throw new Unreadable(`no key at ${this.at}`);
      keys.push(key);
      this.match(SPACE);
    } while (this.take("."));
    return keys;
  }

  value() {
    const begin = this.at;
    if (this.take("[")) return this.list(begin);
    if (this.take("{")) return this.inline(begin);
    const text = this.match(STRING) ?? this.match(SCALAR);
    if (text === null) throw new Unreadable(`no value at ${this.at}`);
    return { kind: "value", begin, end: this.at, value: scalar(text) };
  }

  list(begin) {
    const items = [];
    for (this.match(GAP); !this.take("]"); this.match(GAP)) {
      const node = this.value();
      items.push(Object.assign(node, { from: node.begin, to: node.end }));
      this.match(GAP);
      if (!this.take(",") && this.text[this.at] !== "]") throw new Unreadable(`no , at ${this.at}`);
    }
    return { kind: "list", style: "inline", items, begin, end: this.at };
  }

  inline(begin) {
    const table = { kind: "table", style: "inline", entries: new Map(), begin };
    for (this.match(GAP); !this.take("}"); this.match(GAP)) {
      this.entry(table);
      this.match(GAP);
      if (!this.take(",") && this.text[this.at] !== "}") throw new Unreadable(`no , at ${this.at}`);
    }
    return Object.assign(table, { end: this.at });
  }
}

/** Offset after the line that contains `at`, including its line end. */
function lineEnd(text, at) {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

const lineBegin = (text, at) => text.lastIndexOf("\n", at - 1) + 1;
const indentAt = (text, at) => /^[ \t]*/.exec(text.slice(lineBegin(text, at)))[0];
/** Check that only blanks precede an offset, or that only a comma or a comment follows it. */
const isFirst = (text, at) => text.slice(lineBegin(text, at), at).trim() === "";
const isLast = (text, at) => /^[ \t]*,?[ \t]*(?:#.*)?$/.test(text.slice(at, lineEnd(text, at)).replace(/\r?\n$/, ""));

/** Offset of the comments directly above a line. */
function withComments(text, at) {
  let begin = lineBegin(text, at);
  while (begin > 0) {
    const above = lineBegin(text, begin - 1);
    if (!/^\s*#/.test(text.slice(above, begin))) break;
    begin = above;
  }
  return begin;
}

/** Content of a quoted string. */
function meant(text) {
  const isLong = /^("""|''')/.test(text);
  const inner = isLong ? text.slice(3, -3).replace(/^\r?\n/, "") : text.slice(1, -1);
  if (text[0] === "'") return inner;
  return inner.replace(/\\(?:[ \t]*\r?\n\s*|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))/g, (all, four, eight, two, one) => {
    const code = four ?? eight ?? two;
    if (code) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff));
    return one ? ESCAPES[one] ?? one : "";
  });
}

/** Value of a scalar. Numbers stay text: large ones would lose digits in JavaScript. */
const scalar = (text) => (/^["']/.test(text) ? meant(text) : text === "true" ? true : text === "false" ? false : { number: text });

/** A parsed workload file; its methods return the text after a change. */
export class TomlText {
  /** Parses a text; null if it is not valid TOML. */
  static read(text) {
    try {
      return new TomlText(text);
    } catch (error) {
      if (error instanceof Unreadable) return null;
      throw error;
    }
  }

  constructor(text) {
    const reader = new Reader(text);
    Object.assign(this, { text, root: reader.read(), sections: reader.sections });
  }

  /** Node at a path of keys and list positions. */
  at(path) {
    return path.reduce((node, step) => (typeof step === "number" ? node?.items?.[step] : node?.entries?.get(step)), this.root);
  }

  /** The workload file with another text. */
  after(text) {
    return new TomlText(text);
  }

  /** Number of items in a list. */
  count(path) {
    return this.at(path)?.items?.length ?? 0;
  }

  /** A value, or a list of values, as the user would type it; a table as it is in the text. */
  typed(path) {
    const node = this.at(path);
    return node === undefined ? "" : this.typedNode(node);
  }

  /** The texts in a list, or a single text; null if there is no such key. */
  strings(path) {
    const node = this.at(path);
    if (node === undefined) return null;
    return (node.items ?? [node]).filter(({ kind }) => kind === "value").map(({ value }) => value.number ?? String(value));
  }

  typedNode(node) {
    if (node.kind === "value") return node.value.number ?? String(node.value);
    const isPlain = node.kind === "list" && node.style === "inline" && node.items.every(({ kind, value }) => kind === "value" && !/,/.test(value));
    if (isPlain && node.items.length > 0) return node.items.map((item) => this.typedNode(item)).join(", ");
    return node.begin === undefined || node.style === "section" ? "" : this.text.slice(node.begin, node.end);
  }

  /** Path of the item at a line and, if known, a column; both count characters from 1. */
  pathAt(line, column) {
    const lines = this.text.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const own = lines[line - 1] ?? "";
    const at = before + (column ? [...own].slice(0, column - 1).join("").length : own.search(/\S|$/));
    const path = [];
    for (let node = this.root; node; ) {
      const inner = node.kind === "table" ? [...node.entries] : [...(node.items ?? []).entries()];
      const isIn = ([, one]) => {
        if (one.from !== undefined) return one.from <= at && at < Math.max(one.to, one.from + 1);
        return (one.items ?? [...one.entries.values()]).some((each) => isIn([null, each]));
      };
      const found = inner.find(isIn);
      if (found) path.push(found[0]);
      node = found?.[1];
    }
    return path;
  }

  /** The text with a key set to a literal; an empty literal removes the key. */
  set(path, literal) {
    const node = this.at(path);
    if (literal === "") return node ? this.drop(path) : this.text;
    if (node) return this.put(node.begin, node.end, literal);
    let depth = path.length - 1;
    while (this.at(path.slice(0, depth))?.style === "dotted") depth -= 1;
    const table = this.at(path.slice(0, depth));
    const entry = `${path.slice(depth).map(bare).join(".")} = ${literal}`;
    if (!table) return this.set(path.slice(0, depth), `{ ${entry} }`);
    if (table.style === "implied") {
      const { from } = this.sections.find((section) => path.slice(0, depth).every((step, index) => section.path[index] === step));
      return this.put(from, from, `[${named(path.slice(0, depth))}]\n${entry}\n\n`);
    }
    if (table.style === "section") return this.line(table, entry);
    // An act that is a plain word becomes a table.
    if (table.kind === "value") return this.put(table.begin, table.end, `{ ${table.value} = "@", ${entry} }`);
    const last = Math.max(0, ...[...table.entries.values()].map(({ to }) => to));
    return last > 0 ? this.put(last, last, `, ${entry}`) : this.put(table.begin, table.end, `{ ${entry} }`);
  }

  put(begin, end, text) {
    return this.text.slice(0, begin) + text + this.text.slice(end);
  }

  /** The text with a new line at the end of a section. */
  line(section, entry) {
    const own = [...section.entries.values()].filter(({ style, from }) => style !== "section" && from !== undefined);
    if (own.length > 0) {
      const before = this.text.slice(0, section.end);
      return `${before}${before.endsWith("\n") ? "" : "\n"}${indentAt(this.text, own[0].from)}${entry}\n${this.text.slice(section.end)}`;
    }
    if (section !== this.root) {
      const before = this.text.slice(0, section.body);
      return `${before}${before.endsWith("\n") ? "" : "\n"}${entry}\n${this.text.slice(section.body)}`;
    }
    const place = this.sections[1]?.from ?? this.text.length;
    const before = this.text.slice(0, place);
    return `${before}${/^$|\n$/.test(before) ? "" : "\n"}${entry}\n${place < this.text.length ? "\n" : ""}${this.text.slice(place)}`;
  }

  /** The text without the item at a path. */
  drop(path) {
    const node = this.at(path);
    const [above, step] = [this.at(path.slice(0, -1)), path.at(-1)];
    if (node.style === "section") return this.without(node.from, node.to);
    const all = above.items ?? [...above.entries.values()];
    if (above.style === "inline" && all.length === 1 && typeof path.at(-2) !== "number" && above.kind === "table") return this.drop(path.slice(0, -1));
    if (above.style === "inline" && all.length === 1) return this.put(above.begin, above.end, above.kind === "table" ? "{}" : "[]");
    // If the item fills whole lines, remove them, too.
    if (isFirst(this.text, node.from) && isLast(this.text, node.to)) return this.put(lineBegin(this.text, node.from), lineEnd(this.text, node.to), "");
    const place = typeof step === "number" ? step : all.indexOf(node);
    if (place + 1 < all.length) return this.put(node.from, all[place + 1].from, "");
    return this.put(all[place - 1].to, node.to, "");
  }

  /** The text without a section; one empty line remains in its place. */
  without(from, to) {
    const before = this.text.slice(0, from).replace(/\n+$/, "\n");
    const after = this.text.slice(to);
    if (after === "") return before;
    return before.trim() === "" ? before.trim() + after : `${before}\n${after}`;
  }

  /** The text with a new item at the end of a list. The item is a literal or an object whose values
   * are literals or lists of such objects. */
  add(path, item) {
    const list = this.at(path);
    const above = this.at(path.slice(0, -1));
    if (list?.style === "inline") return this.addInline(list, inline(item));
    if (typeof item === "string" || above.style !== "section") {
      const indent = above.style === "section" ? "" : indentAt(this.text, above.begin);
      return this.set(path, `[\n${indent}  ${inline(item)},\n${indent}]`);
    }
    return this.append((list?.items.at(-1) ?? above).to, sections(named(path), item));
  }

  /** The text with a copy of a list item behind another item, by default behind itself. */
  copy(path, behind = path.at(-1)) {
    const list = this.at(path.slice(0, -1));
    const item = list.items[path.at(-1)];
    if (list.style === "inline") return this.addInline(list, this.text.slice(item.begin, item.end));
    return this.append(list.items[behind].to, `${this.text.slice(item.from, item.to).trim()}\n`);
  }

  /** The text with a new empty table. */
  open(name) {
    return this.append(this.text.length, `[${name}]\n`);
  }

  /** The text with a section inserted at an offset, separated by one empty line. */
  append(place, section) {
    const before = this.text.slice(0, place).replace(/\s+$/, "");
    const after = this.text.slice(place);
    return `${before}${before === "" ? "" : "\n\n"}${section}${after === "" ? "" : `\n${after}`}`;
  }

  addInline(list, literal) {
    const { text } = this;
    const indent = indentAt(text, list.begin);
    const last = list.items.at(-1);
    if (!last) return this.put(list.begin, list.end, `[\n${indent}  ${literal},\n${indent}]`);
    if (!isFirst(text, last.from)) {
      const items = [...list.items.map(({ begin, end }) => text.slice(begin, end)), literal];
      return this.put(list.begin, list.end, `[\n${items.map((item) => `${indent}  ${item},\n`).join("")}${indent}]`);
    }
    const comma = /^(?:\s|#.*)*,/.exec(text.slice(last.end, list.end))?.[0].length;
    const behind = last.end + (comma ?? 0);
    const end = isLast(text, behind) ? lineEnd(text, behind) - 1 : behind;
    const line = `\n${indentAt(text, last.from)}${literal},`;
    return text.slice(0, last.end) + (comma ? text.slice(last.end, behind) : ",") + text.slice(behind, end) + line + text.slice(end);
  }

  /** The text with a list item moved before its predecessor. */
  raise(path) {
    const place = path.at(-1);
    const list = this.at(path.slice(0, -1));
    const [one, other] = [list.items[place - 1], list.items[place]];
    const [begin, end] = list.style === "inline" ? ["begin", "end"] : ["from", "to"];
    const piece = (node) => this.text.slice(node[begin], node[end]);
    const parts = [piece(other), this.text.slice(one[end], other[begin]), piece(one)];
    if (list.style === "inline") return this.put(one.begin, other.end, parts.join(""));
    const [upper, between, lower] = parts.map((part) => part.replace(/\s+$/, ""));
    const tail = /\s*$/.exec(parts[0])[0];
    return this.put(one.from, other.to, [upper, between, lower].filter(Boolean).join("\n\n") + tail);
  }
}

const bare = (key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
const named = (path) => path.filter((step) => typeof step === "string").map(bare).join(".");

/** An item as inline TOML. */
function inline(item) {
  if (typeof item === "string") return item;
  if (Array.isArray(item)) return `[${item.map(inline).join(", ")}]`;
  return `{ ${Object.entries(item).map(([key, value]) => `${bare(key)} = ${inline(value)}`).join(", ")} }`;
}

/** A table of a list as sections, including its nested lists. */
function sections(name, item) {
  const lists = Object.entries(item).filter(([, value]) => Array.isArray(value));
  const own = Object.entries(item).filter(([, value]) => !Array.isArray(value));
  const head = [`[[${name}]]`, ...own.map(([key, value]) => `${bare(key)} = ${value}`), ""].join("\n");
  return [head, ...lists.flatMap(([key, items]) => items.map((one) => sections(`${name}.${bare(key)}`, one)))].join("\n");
}

/** A user's input as a TOML literal. `kind` is the type from the key reference. */
export function literal(typed, kind) {
  const text = typed.trim();
  if (text === "") return "";
  if (kind === "text" || kind === "word") return JSON.stringify(typed);
  if (/^[[{"']/.test(text) && TomlText.read(`a = ${text}`)) return text;
  const isNumber = (part) => /^[+-]?\d[\d_]*(\.\d+)?$/.test(part);
  const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
  const isList = text.includes(",") && (kind === "list of numbers or text" ? parts.every(isNumber) : kind.includes("list"));
  if (isList) return `[${parts.map((part) => literal(part, kind.replace(/,? (?:or )?(?:a )?list( of)?/, ""))).join(", ")}]`;
  return isNumber(text) || text === "true" || text === "false" ? text : JSON.stringify(text);
}
