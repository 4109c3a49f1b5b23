// Access specifications as Iometer's editor has them: lines that share the requests, and a picture
// of the mix that they make.

import { button, field, h, svg } from "./dom.js";

const COLUMNS = [
  ["size", "Size", "how much a request moves, such as 4KiB", "4KiB"],
  ["of_size", "Share %", "how many of 100 requests are of this line", "100"],
  ["read", "Read %", "how many of 100 are reads", "100"],
  ["random", "Random %", "how many of 100 are at a random place", "0"],
  ["delay", "Delay", "pause before a burst, such as 1ms", "0s"],
  ["burst", "Burst", "requests in a row between two pauses", "1"],
  ["align", "Align", "offsets are multiples of it; the size by default", ""],
  ["reply", "Reply", "bytes written as the answer to a read", ""],
];
const NUMBERS = new Set(["of_size", "read", "random", "burst"]);

/** Builds the editor into `parent`; `changed` gets the specifications after each change. */
export function mixEditor(parent, specs, changed) {
  const draw = (focus) => {
    parent.replaceChildren(
      ...specs.map((spec, index) => specification(spec, index)),
      button("Add a specification", () => {
        specs.push({ name: `Specification ${specs.length + 1}`, line: [{ size: "4KiB", read: 100, random: 100 }] });
        changed(specs);
        draw();
      }),
    );
    if (focus) parent.querySelector(focus)?.focus();
  };
  const specification = (spec, index) => {
    const picture = h("div", { class: "mix" });
    const sum = h("p", { class: "remark" });
    const show = () => {
      picture.replaceChildren(pictureOf(spec));
      sum.textContent = sumOf(spec);
    };
    const edited = () => {
      show();
      changed(specs);
    };
    const name = h("input", { value: spec.name ?? "", oninput: () => {
      spec.name = name.value;
      changed(specs);
    } });
    const rows = spec.line.map((line, place) => row(line, place, edited, () => {
      spec.line.splice(place, 1);
      changed(specs);
      draw(`fieldset:nth-of-type(${index + 1}) .add`);
    }, spec.line.length > 1));
    const heads = [...COLUMNS.map(([, text, title]) => h("th", { scope: "col", title }, text)),
      h("th", { scope: "col" }, h("span", { class: "unseen" }, "Remove"))];
    const add = button("Add a line", () => {
      spec.line.push({ ...spec.line.at(-1), of_size: 0 });
      changed(specs);
      draw(`fieldset:nth-of-type(${index + 1}) tbody tr:last-child input`);
    }, { class: "add" });
    const drop = specs.length > 1 ? button("Remove this specification", () => {
      specs.splice(index, 1);
      changed(specs);
      draw();
    }) : "";
    show();
    return h("fieldset", {},
      h("legend", {}, `Access specification ${specs.length > 1 ? index + 1 : ""}`),
      field("Name", name), picture,
      h("div", { class: "frame", tabIndex: 0, role: "group", "aria-label": "Access lines" },
        h("table", { class: "lines" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows))),
      sum, h("div", { class: "actions" }, add, drop));
  };
  draw();
}

function row(line, place, edited, drop, canDrop) {
  const cells = COLUMNS.map(([key, text, title, usual]) => {
    const input = h("input", {
      value: line[key] ?? "", placeholder: usual, "aria-label": `${text}, line ${place + 1}`, title,
      inputMode: NUMBERS.has(key) ? "decimal" : "text",
      oninput: () => {
        line[key] = value(key, input.value);
        edited();
      },
    });
    input.dataset.key = key;
    return h("td", {}, input);
  });
  const remove = button("×", drop, { "aria-label": `Remove line ${place + 1}`, disabled: !canDrop });
  return h("tr", {}, cells, h("td", {}, remove));
}

/** What was typed, as a value: a number where it is one. */
function value(key, text) {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** How many of 100 requests are of each line; lines that do not say it share what is left. */
function shares({ line }) {
  const said = line.map(({ of_size: share }) => (typeof share === "number" ? share : null));
  const left = Math.max(0, 100 - said.reduce((sum, share) => sum + (share ?? 0), 0));
  const silent = said.filter((share) => share === null).length;
  return said.map((share) => share ?? left / silent);
}

const percent = (number, usual) => (typeof number === "number" ? Math.min(100, Math.max(0, number)) : usual);

function sumOf(spec) {
  const sum = shares(spec).reduce((sum, share) => sum + share, 0);
  const rounded = Number(sum.toFixed(2));
  return rounded === 100 ? "The shares add up to 100 %." : `The shares add up to ${rounded} %, not 100 %.`;
}

/** Each line is as wide as its share; reads stand above writes, and what is random is hatched. */
function pictureOf(spec) {
  const all = shares(spec);
  const whole = Math.max(1, all.reduce((sum, share) => sum + share, 0));
  let x = 0;
  const parts = spec.line.flatMap((line, index) => {
    const width = (all[index] / whole) * 100;
    const reads = percent(line.read, 100) / 100;
    const random = percent(line.random, 0) / 100;
    const at = x;
    x += width;
    const box = (kind, y, height) => height <= 0 ? [] : [
      svg("rect", { class: kind, x: at, y, width: Math.max(0, width - 0.3), height }),
      svg("rect", { class: "random", x: at, y, width: Math.max(0, width - 0.3) * random, height }),
    ];
    const title = svg("title", {}, `${line.size ?? "?"}: ${Number(all[index].toFixed(2))} %, of which ${reads * 100} % reads, ${random * 100} % random`);
    return [svg("g", {}, title, box("read", 0, 30 * reads), box("write", 30 * reads, 30 * (1 - reads)))];
  });
  const said = spec.line.map((line, index) => `${Number(all[index].toFixed(1))} % ${line.size}`).join(", ");
  const hatch = svg("pattern", { id: "hatch", width: 1, height: 4, patternUnits: "userSpaceOnUse" },
    svg("rect", { width: 0.4, height: 4, class: "hatch" }));
  const picture = svg("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img", "aria-label": `The mix: ${said}` },
    svg("defs", {}, hatch), parts);
  const key = (kind, text) => h("span", {}, h("i", { class: `swatch ${kind}` }), text);
  return h("div", {}, picture, h("p", { class: "remark legend" }, key("read", "reads"), key("write", "writes"),
    key("random", "hatched: at random places")));
}
