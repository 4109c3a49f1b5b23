// Access specifications from Iometer's list, built-in workloads and the user's own, for a dialog that
// adds them to a workload.

import { get, post } from "./api.js";
import { button, choice, dialog, failure, field, h } from "./dom.js";

const IOMETER = ["iometer-defaults", "Iometer's default specifications"];
const BUILT_IN = ["oltp", "workstation", "file-server", "web-server", "database"];

/** Lets the user choose specifications; resolves to them as `{ name, line }` of TOML literals. */
export async function chooseSpecs() {
  const { files } = await get("/api/workloads/own");
  const own = files.map((file) => file.name ?? file);
  const sources = [[`builtin:${IOMETER[0]}`, IOMETER[1]], ...BUILT_IN.map((name) => [`builtin:${name}`, `Built-in workload ${name}`]),
    ...own.map((name) => [`own:${name}`, `Your workload ${name}`])];
  return (await dialog("Add access specifications", (end) => chooser(sources, end))) ?? [];
}

function chooser(sources, end) {
  const list = h("div", { class: "library", role: "group", "aria-label": "Specifications" });
  const add = button("Add", () => end(found.filter((_, place) => boxes[place].checked)), { class: "primary", disabled: true });
  const filter = h("input", { type: "search", oninput: () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.forEach(({ text }, place) => (boxes[place].parentElement.hidden = !words.every((word) => text.toLowerCase().includes(word))));
  } });
  let [found, boxes] = [[], []];
  const show = async () => {
    try {
      found = await specsOf(source.value);
      boxes = found.map(() => h("input", { type: "checkbox", onchange: () => (add.disabled = !boxes.some(({ checked }) => checked)) }));
      list.replaceChildren(...found.map(({ text }, place) => h("label", { class: "check" }, boxes[place], ` ${text}`)));
      if (found.length === 0) list.replaceChildren(h("p", { class: "remark" }, "It has no access specifications."));
    } catch (error) {
      [found, boxes] = [[], []];
      list.replaceChildren(failure(error));
    }
    add.disabled = true;
    filter.value = "";
  };
  const source = choice(sources, sources[0][0], { onchange: show });
  show();
  return [h("div", { class: "fields" }, field("From", source), field("Filter", filter)), list,
    h("div", { class: "actions" }, add, button("Cancel", () => end(null)))];
}

/** Specifications of a source, with a text for each. */
async function specsOf(source) {
  const [kind, name] = [source.slice(0, source.indexOf(":")), source.slice(source.indexOf(":") + 1)];
  const { workloads } = await post("/api/show", { [kind]: name });
  return workloads.flatMap((workload) => (workload.access_spec ?? []).map(({ name: own, line }) => ({
    name: own ?? workload.title ?? workload.name,
    line: line.map((entry) => Object.fromEntries(written(entry).map(([key, value]) => [key, literalOf(value)]))),
    text: `${own ?? workload.title ?? workload.name}${line.length > 1 ? ` (${line.length} lines)` : ""}`,
  })));
}

/** The keys that are written, with their values. */
const written = (entry) => Object.entries(entry).filter(([, value]) => value !== null);

/** A value of JSON as TOML. */
function literalOf(value) {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(", ")}]`;
  if (value !== null && typeof value === "object") return `{ ${written(value).map(([key, inner]) => `${key} = ${literalOf(inner)}`).join(", ")} }`;
  return JSON.stringify(value);
}
