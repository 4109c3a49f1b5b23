// Verdicts on two or more runs, each compared with the first. The full comparison is a separate
// page.

import { get, query } from "./api.js";
import { sentence, show } from "./charts.js";
import { choice, failure, field, h, table } from "./dom.js";

const WORDS = {
  better: ["better", "complete"],
  worse: ["worse", "failed"],
  "no-difference-shown": ["no difference shown", "open"],
  "cannot-tell": ["cannot tell", "interrupted"],
};

const FIGURES = {
  per_second: ["operations per second", "per_second"],
  bytes_per_second: ["bandwidth", "bytes_per_second"],
};

export async function showCompare({ main, params, signal }) {
  const runs = params.get("runs") ?? "";
  const force = params.get("force") ?? "";
  const published = params.get("published") ?? "";
  main.append(h("h1", {}, "Comparison"));
  const asked = { runs, force, published };
  main.append(await publications(asked, signal));
  // A comparison needs two runs or published results.
  if (!runs.includes(",") && !published) return;
  let document;
  try {
    document = await get(query("/api/compare", asked), signal);
  } catch (error) {
    if (signal.aborted) return;
    main.append(failure(error));
    if (force || error.status === 0 || !runs.includes(",")) return;
    main.append(h("div", { class: "actions" },
      h("a", { class: "button", href: query("#/compare", { ...asked, force: "true" }) }, "Compare anyway")));
    return;
  }
  main.append(h("div", { class: "actions" },
    h("a", { class: "button primary", href: query("/api/compare/page", asked) }, "Open the full comparison"),
    h("a", { class: "button", href: "#/runs" }, "Stored runs")));
  for (const comparison of document.comparisons) main.append(part(comparison));
  for (const publication of document.published) main.append(publishedTables(publication));
}

/** Choice of the published experiment to show next to the runs. */
async function publications(asked, signal) {
  const { papers } = await get("/api/papers", signal);
  const known = papers.filter(({ has_figures: has }) => has).map(({ name, title }) => [name, title]);
  const select = choice([["", "none"], ...known], asked.published, { name: "published", onchange: () => {
    location.hash = query("#/compare", { ...asked, published: select.value }).slice(1);
  } });
  return h("div", { class: "fields wide" }, field("Compare with published results", select,
    "of an experiment with the same work as these runs"));
}

/** Published results next to the results of the runs. */
function publishedTables({ title, source, full_size: size, remark, sides, tables }) {
  const others = sides.filter(({ other_size: other }) => other);
  return h("section", { "aria-label": title },
    h("h2", {}, title), h("p", { class: "where" }, source), h("p", {}, `Work in the publication: ${size}.`),
    others.map(({ name, other_size: other }) => h("p", { class: "remark" }, `${name}: ${other}`)),
    remark ? sentence("p", remark) : "",
    tables.map(({ table: name, figures }) => {
      const systems = [...new Set(figures.flatMap(({ published }) => published.map(({ system }) => system)))];
      const heads = ["Result", ...systems.map((system) => `${system}, published`), ...sides.map((side) => `${side.name}: ${side.target}`)];
      const rows = figures.map((figure) => h("tr", {}, h("th", { scope: "row" }, figure.figure),
        systems.map((system) => h("td", {}, number(figure.published.find((it) => it.system === system)?.value))),
        figure.measured.map((it) => h("td", {}, number(it?.mean)))));
      return table(name || title, heads, h("tbody", {}, rows), { class: "published" });
    }));
}

/** The row's label contains the unit of its published numbers. */
const number = (value) => (value === null || value === undefined ? "–"
  : new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false }).format(value));

function part({ a, b, cells, plan_differences: plan, environment_differences: environment }) {
  const names = (side) => side.runs.flatMap((id, index) =>
    [index > 0 ? ", " : "", h("a", { href: `#/run/${encodeURIComponent(id)}` }, id)]);
  const rows = cells.flatMap((cell) => cell.figures
    .filter(({ scope, figure }) => scope.of === "total" && (FIGURES[figure] || /p50|p99|mean/.test(figure)))
    .map((figure) => row(cell, figure)));
  const heads = ["Cell", "Result", "Before", "After", "Change", "Verdict"];
  const differences = [...plan, ...environment].map(said);
  return h("section", {},
    h("h2", {}, a.name && b.name ? `${b.name} compared with ${a.name}` : "Compared with the first run"),
    h("p", { class: "where" }, names(b), " compared with ", names(a)),
    Math.max(a.runs.length, b.runs.length) > 1 ? h("p", { class: "remark" },
      "Runs of the same work on one side count as repetitions.") : "",
    verdict(rows),
    differences.length > 0 ? h("div", { class: "warnings notes" }, h("h2", {}, "Other differences"),
      h("ul", {}, differences.map((text) => sentence("li", text)))) : "",
    table("Results with verdicts", heads, h("tbody", {}, rows.map((one) => one.element)), { class: "stack" }));
}

/** Summary of the verdicts in one sentence. */
function verdict(rows) {
  const counts = new Map();
  for (const { word } of rows) counts.set(word, (counts.get(word) ?? 0) + 1);
  const text = [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
  return h("p", { class: "lead", id: "verdict" }, `${rows.length} values compared: ${text}.`);
}

function row(cell, it) {
  const [word, kind] = WORDS[it.verdict] ?? [it.verdict, ""];
  const [name, unit] = FIGURES[it.figure] ?? [it.figure.replaceAll("_", " "), it.unit === "ns" ? "nanoseconds" : "count"];
  const percent = (ratio) => `${ratio >= 1 ? "+" : "−"}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`;
  const ends = it.ci95_low === null ? "" : ` (${percent(it.ci95_low)} to ${percent(it.ci95_high)})`;
  const change = it.ratio === null ? "–" : percent(it.ratio) + ends;
  const title = `${cell.access_spec ?? cell.workload}, depth ${cell.iodepth}`;
  const element = h("tr", {},
    h("th", { scope: "row" }, title),
    h("td", { class: "name" }, name),
    [it.a, it.b].map((side) => h("td", {}, show(unit, side?.mean ?? null))),
    h("td", {}, change),
    h("td", { class: "name" }, h("span", { class: `status ${kind}` }, word)));
  return { element, word };
}

/** A difference as text, for any kind of difference. */
function said(difference) {
  if (typeof difference === "string") return difference;
  const { name, key, what, a, b } = difference;
  return `${name ?? key ?? what}: ${a ?? "none"} before, ${b ?? "none"} after`;
}
