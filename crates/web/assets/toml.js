// Changes in the text of a workload file, which leave all else as somebody wrote it. What is wrong in
// a file is not found here: the server checks it.

const HEADER = /^\s*\[/;
const SPEC = /^\s*\[\[?\s*access_spec\b/;

/** Lines at which tables begin. */
function headers(lines) {
  const all = [];
  let quote = null;
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    if (!quote && depth === 0 && HEADER.test(line)) {
      all.push(index);
      continue;
    }
    for (const mark of line.match(/'''|"""|"(?:[^"\\]|\\.)*"|'[^']*'|#.*$|[[\]]/g) ?? []) {
      if (quote) quote = mark === quote ? null : quote;
      else if (mark === "'''" || mark === '"""') quote = mark;
      else if (mark === "[") depth += 1;
      else if (mark === "]") depth -= 1;
    }
  }
  return all;
}

/** From which line to which a table's own keys go, those of the head by default; null without it. */
function within(lines, name) {
  const all = headers(lines);
  if (!name) return { begin: 0, end: all[0] ?? lines.length };
  const wanted = new RegExp(`^\\s*\\[\\s*${name}\\s*\\]`);
  const at = all.findIndex((line) => wanted.test(lines[line]));
  return at < 0 ? null : { begin: all[at] + 1, end: all[at + 1] ?? lines.length };
}

/** Whether a file has a table of that name. */
export const hasTable = (text, name) => within(text.split("\n"), name) !== null;

const isKey = (key) => new RegExp(`^\\s*(?:${key}|"${key}")\\s*=`);

/** From which line to which a key of a table goes; a value may have several lines. */
function found(lines, key, name) {
  const { begin, end } = within(lines, name) ?? { begin: 0, end: 0 };
  const place = lines.slice(begin, end).findIndex((line) => isKey(key).test(line));
  if (place < 0) return null;
  const first = begin + place;
  let last = first + 1;
  const next = /^\s*(?:[A-Za-z_][\w-]*|"[^"]*")\s*=|^\s*(?:#.*)?$/;
  const isOpen = () => {
    const text = lines.slice(first, last).join("\n").replace(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*$/gm, "");
    return (text.match(/\[/g) ?? []).length > (text.match(/\]/g) ?? []).length;
  };
  while (last < end && isOpen() && !(next.test(lines[last]) && !isOpen())) last += 1;
  return { first, last, end };
}

/** What the head, or a table, says of a key, as it is written; empty where it says nothing. */
export function keyText(text, key, name = "") {
  const lines = text.split("\n");
  const at = found(lines, key, name);
  if (!at) return "";
  const value = lines.slice(at.first, at.last).join(" ").replace(/^[^=]*=/, "");
  return value.replace(/\s#[^"']*$/, "").trim();
}

/** The text with a key of the head, or of a table that is there, as it is given, or without it where
 * that is empty. */
export function withKey(text, key, literal, name = "") {
  const lines = text.split("\n");
  const at = found(lines, key, name);
  const line = literal === "" ? [] : [`${key} = ${literal}`];
  if (at) lines.splice(at.first, at.last - at.first, ...line);
  else if (line.length > 0) {
    const { begin, end } = within(lines, name);
    let place = end;
    while (place > begin && lines[place - 1].trim() === "") place -= 1;
    lines.splice(place, 0, ...line);
    if (HEADER.test(lines[place + 1] ?? "")) lines.splice(place + 1, 0, "");
  }
  return lines.join("\n");
}

/** What somebody typed into a field, as a value of the file. */
export function literal(typed) {
  const text = typed.trim();
  if (text === "") return "";
  if (/^[["'{]/.test(text)) return text;
  if (text.includes(",")) return `[${text.split(",").map(literal).filter(Boolean).join(", ")}]`;
  if (/^[+-]?\d+(\.\d+)?$/.test(text) || text === "true" || text === "false") return text;
  return JSON.stringify(text);
}

/** A value of the file as somebody would type it. */
export function typed(literalText) {
  const inner = literalText.replace(/^\[(.*)\]$/s, "$1");
  const parts = inner.split(",").map((part) => part.trim()).filter(Boolean);
  return parts.map((part) => part.replace(/^"(.*)"$|^'(.*)'$/, "$1$2")).join(", ");
}

const LINE_KEYS = ["size", "of_size", "read", "random", "delay", "burst", "align", "reply", "distribution", "sequence"];

/** A value of the server's as it is written. */
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const parts = Object.entries(value).filter(([, one]) => one !== null).map(([key, one]) => `${key} = ${written(one)}`);
    return `{ ${parts.join(", ")} }`;
  }
  return JSON.stringify(value);
}

/** Access specifications as tables of the file. */
function specsText(specs) {
  return specs.flatMap((spec) => {
    const own = Object.entries(spec).filter(([key, value]) => key !== "line" && value !== null && value !== undefined);
    const head = ["[[access_spec]]", ...own.map(([key, value]) => `${key} = ${written(value)}`), ""];
    const lines = spec.line.flatMap((line) => {
      const keys = [...LINE_KEYS, ...Object.keys(line).filter((key) => !LINE_KEYS.includes(key))];
      const said = keys.filter((key) => line[key] !== null && line[key] !== undefined && line[key] !== "");
      return ["[[access_spec.line]]", ...said.map((key) => `${key} = ${written(line[key])}`), ""];
    });
    return [...head, ...lines];
  });
}

/** The text with its access specifications as given; what else it says stays. */
export function withSpecs(text, specs) {
  const bare = withKey(text, "access_spec", "");
  const lines = bare.split("\n");
  const first = lines.findIndex((line) => SPEC.test(line));
  let last = first;
  if (first >= 0) {
    const after = lines.slice(first).findIndex((line) => HEADER.test(line) && !SPEC.test(line));
    last = after < 0 ? lines.length : first + after;
    lines.splice(first, last - first, ...specsText(specs));
  } else {
    while (lines.length > 0 && lines.at(-1).trim() === "") lines.pop();
    lines.push("", ...specsText(specs));
  }
  return `${lines.join("\n").replace(/\n+$/, "")}\n`;
}
