// Access lines as in Iometer's editor: lines that share the requests, with a picture of their mix.

import { button, h, svg } from "./dom.js";
import { literal, nameOf } from "./toml.js";

const LINE = "access_spec.line";
/** Keys with a column each: the key, the head, and the default. */
const COLUMNS = [
  ["size", "Size", "4KiB"], ["of_size", "Share %", "100"], ["read", "Read %", "100"], ["random", "Random %", "0"],
  ["delay", "Delay", "0s"], ["burst", "Burst", "1"], ["align", "Align", ""], ["reply", "Reply", ""],
];

/** Keys with a slider, and their default. */
const SLIDERS = [["of_size", "Share", 100], ["read", "Reads", 100], ["random", "Random", 0]];

/** Editor for the lines of an access specification, with a picture that follows the input. */
export function accessLines(form, path) {
  const picture = h("div", { class: "mix" });
  const sum = h("p", { class: "remark" });
  const note = form.note(path);
  const count = form.doc.count(path);
  let current = 0;
  const sliders = h("div", { class: "sliders", role: "group", "aria-label": "Sliders of the line that was edited last" });
  const inputOf = (place, key) => table.querySelector(`[name="${CSS.escape(nameOf([...path, place, key]))}"]`);
  const slide = () => sliders.replaceChildren(...SLIDERS.map(([key, text, usual]) => {
    const output = h("output", {});
    const input = h("input", { type: "range", min: 0, max: 100, step: 1, value: percent(form.doc.typed([...path, current, key]), usual), "aria-label": `${text} of line ${current + 1}`,
      oninput: () => {
        output.textContent = `${input.value} %`;
        const field = inputOf(current, key);
        field.value = input.value;
        field.dispatchEvent(new Event("input"));
      } });
    output.textContent = `${input.value} %`;
    return h("label", {}, `${text}, line ${current + 1}`, output, input);
  }));
  const show = () => {
    const lines = Array.from({ length: count }, (_, place) => Object.fromEntries(
      COLUMNS.map(([key]) => [key, form.doc.typed([...path, place, key])])));
    picture.replaceChildren(pictureOf(lines));
    sum.textContent = sumOf(lines);
  };
  const row = (place) => {
    const own = [...path, place];
    const cells = COLUMNS.map(([key, text, usual]) => {
      const { meaning, value } = form.about(LINE, key);
      const name = nameOf([...own, key]);
      const input = h("input", {
        value: form.doc.typed([...own, key]), placeholder: usual, name, "aria-label": `${text}, line ${place + 1}`, title: meaning.replaceAll("`", ""),
        inputMode: /^(percent|number)$/.test(value) ? "decimal" : "text",
        oninput: () => {
          form.edit((doc) => doc.set([...own, key], literal(input.value, value)));
          show();
          if (!sliders.contains(document.activeElement)) slide();
        },
        onfocus: () => {
          current = place;
          slide();
        },
      });
      input.dataset.key = key;
      form.note([...own, key], input, note);
      return h("td", {}, input);
    });
    const remove = button("×", () => form.remove(own, `${nameOf(path)}.add`, `line ${place + 1}`), { "aria-label": `Remove line ${place + 1}`, disabled: count < 2 });
    return h("tr", {}, cells, h("td", {}, remove));
  };
  const heads = [...COLUMNS.map(([key, text]) => h("th", { scope: "col", title: form.about(LINE, key).meaning.replaceAll("`", "") }, text)),
    h("th", { scope: "col" }, h("span", { class: "unseen" }, "Remove"))];
  const add = button("Add a line", () => form.edit((doc) => {
    const last = doc.at([...path, count - 1])?.entries ?? new Map();
    const same = [...last].filter(([, { style }]) => !style || style === "inline").map(([key, { begin, end }]) => [key, doc.text.slice(begin, end)]);
    return doc.add(path, { size: '"4KiB"', ...Object.fromEntries(same), of_size: "0" });
  }, `${nameOf([...path, count])}.size`), { name: `${nameOf(path)}.add` });
  const table = h("table", { class: "lines" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, Array.from({ length: count }, (_, place) => row(place))));
  show();
  slide();
  return h("div", {}, picture, h("div", { class: "frame", tabIndex: 0, role: "group", "aria-label": "Access lines" }, table),
    note, sliders, sum, h("div", { class: "actions" }, add));
}

/** Share of each line in percent; lines without a share divide the rest equally. */
function shares(lines) {
  const said = lines.map(({ of_size: share }) => (share === "" ? null : percent(share, 0)));
  const left = Math.max(0, 100 - said.reduce((sum, share) => sum + (share ?? 0), 0));
  const silent = said.filter((share) => share === null).length;
  return said.map((share) => share ?? left / silent);
}

const percent = (text, usual) => (/\d/.test(text) ? Math.min(100, Math.max(0, parseFloat(text))) : usual);

function sumOf(lines) {
  const sum = shares(lines).reduce((sum, share) => sum + share, 0);
  const rounded = Number(sum.toFixed(2));
  return rounded === 100 ? "The shares add up to 100 %." : `The shares add up to ${rounded} %, not 100 %.`;
}

/** Picture of the mix: the width is the share, reads are above writes, random parts are hatched. */
function pictureOf(lines) {
  const all = shares(lines);
  const whole = Math.max(1, all.reduce((sum, share) => sum + share, 0));
  let x = 0;
  const parts = lines.flatMap((line, index) => {
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
  const said = lines.map((line, index) => `${Number(all[index].toFixed(1))} % ${line.size}`).join(", ");
  const hatch = svg("pattern", { id: "hatch", width: 1, height: 4, patternUnits: "userSpaceOnUse" },
    svg("rect", { width: 0.4, height: 4, class: "hatch" }));
  const picture = svg("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img", "aria-label": `The mix: ${said}` },
    svg("defs", {}, hatch), parts);
  const key = (kind, text) => h("span", {}, h("i", { class: `swatch ${kind}` }), text);
  return h("div", {}, picture, h("p", { class: "remark legend" }, key("read", "reads"), key("write", "writes"),
    key("random", "hatched: random access")));
}
