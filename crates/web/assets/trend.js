// Rate of one cell of a workload in each run, the oldest first. The cell is chosen from a list, so
// that only runs of the same work on the same targets and machine are in one trend.

import { get, query } from "./api.js";
import { figure, show } from "./charts.js";
import { field, h, localTime, table } from "./dom.js";
import { unit } from "./runs.js";

export async function showTrend({ main, params, signal }) {
  const asked = Object.fromEntries(params);
  main.append(h("h1", {}, "Trend"));
  if (asked.cell) {
    await showSeries(main, asked, signal);
    return;
  }
  const { series } = await get("/api/trends", signal);
  const names = JSON.parse(asked.workloads ?? "[]");
  const isAsked = ({ workload, targets, host }) => (names.length === 0 || names.includes(workload)) &&
    (!asked.targets || JSON.stringify(targets) === asked.targets) && (!asked.host || host === asked.host);
  const found = series.filter(isAsked);
  if (asked.targets && found.length === 1) await showSeries(main, fieldsOf(found[0]), signal);
  else choose(main, asked, found);
}

/** Fields of the address of a series. */
const fieldsOf = ({ workload, cell, targets, file_systems: systems, host }) => ({
  workload, cell: JSON.stringify(cell), targets: JSON.stringify(targets), file_systems: JSON.stringify(systems), host,
});

/** The list of series. */
function choose(main, asked, found) {
  // A trend needs two runs. For a user who comes from a run, all cells of its workload are listed.
  const listed = asked.targets ? found : found.filter(({ run_count: count }) => count > 1);
  main.append(h("p", {}, "Choose a cell to see its rate in each complete run, with lasting changes marked. " +
    "A row has only runs with the same settings, targets, file system and machine."));
  const single = found.length - listed.length;
  const left = single === 0 ? "" : h("p", { class: "remark" },
    single === 1 ? "1 cell is not listed because only one run measured it."
      : `${single} cells are not listed because only one run measured each of them.`);
  if (listed.length === 0) {
    main.append(h("p", { class: "nothing" }, "No two complete runs measured the same cell on the same targets and machine."), left);
    return;
  }
  const frame = h("div");
  const search = h("input", { type: "search", oninput: () => fill() });
  const text = (one) => [one.workload, ...settings(one.cell), ...one.targets, ...one.file_systems, one.host].join(" ").toLowerCase();
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = listed.filter((one) => words.every((word) => text(one).includes(word))).map(row);
    frame.replaceChildren(rows.length === 0 ? h("p", { class: "nothing", role: "status" }, "No cell matches.")
      : table("Cells that can be followed", ["Workload", "Cell", "Queue depth", "Workers", "Targets", "File system", "Machine", "Runs", "Newest run"],
        h("tbody", {}, rows), { class: "stack" }));
  };
  fill();
  main.append(h("div", { class: "fields wide", role: "search", "aria-label": "Cells" },
    field("Search", search)), frame, left);
}

function row(one) {
  const { cell } = one;
  return h("tr", {},
    h("th", { scope: "row" }, h("a", { href: query("#/trend", fieldsOf(one)) }, one.workload)),
    h("td", { class: "name" }, [...named(cell), cell.engine, cell.cache].join(", ")),
    h("td", {}, String(cell.iodepth)),
    h("td", {}, String(cell.workers)),
    h("td", { class: "name path" }, one.targets.join(", ")),
    h("td", { class: "name" }, one.file_systems.join(", ")),
    h("td", { class: "name" }, one.host || "unknown"),
    h("td", {}, String(one.run_count)),
    h("td", { class: "name" }, localTime(one.newest_at)));
}

/** Access specification and phase of a cell, where it has its own. */
const named = (cell) => [cell.access_spec, cell.phase === "measure" ? "" : cell.phase].filter(Boolean);

/** Settings of a cell as text. */
function settings(cell) {
  const workers = cell.workers === 1 ? "1 worker" : `${cell.workers} workers`;
  return [...named(cell), `queue depth ${cell.iodepth}`, workers, cell.engine, cell.cache];
}

/** The runs of one series; with `machines`, on all machines. */
async function showSeries(main, asked, signal) {
  const { machines, host, ...like } = asked;
  const trend = await get(query("/api/trend", machines ? like : { ...like, host }), signal);
  const all = h("input", { type: "checkbox", checked: Boolean(machines), onchange: () => {
    location.hash = query("#/trend", { ...asked, machines: all.checked ? "all" : "" });
  } });
  const facts = [asked.targets, asked.file_systems].map((text) => JSON.parse(text || "[]").join(", "));
  main.append(h("p", { class: "where" }, [asked.workload, ...facts, machines ? "" : host].filter(Boolean).join(" · ")),
  h("div", { class: "actions" }, h("a", { class: "button", href: "#/trend" }, "Choose another cell"),
    h("label", { class: "check" }, all, " Runs of all machines")));
  if (trend.runs.length === 0) {
    main.append(h("p", { class: "nothing" }, "No complete run of this cell is stored."));
    return;
  }
  draw(main, trend, Boolean(machines), asked);
}

function draw(main, { runs, changes, of, cell, others }, hasMachines, asked) {
  const frame = h("section", { class: "figures", "aria-label": "Over runs" });
  const name = unit(of);
  const axis = of === "bytes" ? "bytes_per_second" : "per_second";
  const told = (value) => (of === "bytes" ? show(axis, value) : `${show(axis, value)} ${name}`);
  if (runs.length > 1) chart(runs, changes, axis, frame);
  const begins = new Map(changes.map((change) => [change.index, change]));
  const rows = runs.map((run, index) => h("tr", { class: begins.has(index) ? "changed" : "" },
    h("th", { scope: "row" }, String(index + 1), " ", h("a", { href: `#/run/${encodeURIComponent(run.id)}` }, run.short_id)),
    h("td", { class: "name" }, localTime(run.started_at)),
    hasMachines ? h("td", { class: "name" }, run.host || "unknown") : null,
    h("td", { class: "name" }, run.kernel),
    h("td", {}, told(run.per_second)),
    h("td", {}, run.ci95_low === null ? "–" : `${show(axis, run.ci95_low)} to ${show(axis, run.ci95_high)}`),
    h("td", {}, index === 0 ? "–" : change(run.per_second / runs[index - 1].per_second)),
    h("td", { class: "name" }, begins.has(index) ? h("strong", {}, `new level: ${change(begins.get(index).after / begins.get(index).before)}`) : "")));
  const ends = [runs[0].id, runs.at(-1).id].join(",");
  const compare = h("a", { class: "button", href: query("#/compare", { runs: ends }) }, "Compare the oldest with the newest");
  const heads = ["Run", "Started", ...(hasMachines ? ["Machine"] : []), "Kernel", "Rate", "95 % within the run", "vs. previous run", "Level"];
  main.append(followed(cell), said(runs, changes, told), frame, leftOut(others, asked), runs.length > 1 ? h("div", { class: "actions" }, compare) : "",
    table("Runs, oldest first", heads, h("tbody", {}, rows), { class: "stack" }));
}

/** Links to runs of a cell with the same settings, but other work. */
function leftOut(others, asked) {
  if (others.length === 0) return "";
  const link = ({ newest_id: like, newest_at: at, run_count: count }) => h("li", {},
    h("a", { href: query("#/trend", { ...asked, like }) }, count === 1 ? "1 run" : `${count} runs`),
    count === 1 ? ", " : ", the newest ", localTime(at));
  return h("div", { class: "remark" }, h("p", {}, "Not in this trend, because the work differs, for example in its size or its requests:"),
    h("ul", {}, others.map(link)));
}

/** Describes the cell that all these runs measured. */
function followed(cell) {
  if (!cell) return "";
  return h("p", { class: "remark" }, `Measured in each run: ${settings(cell).join(", ")}.`);
}

/** Describes the changes of level. */
function said(runs, changes, told) {
  const items = changes.map(({ index, before, after, p_value: chance }) => h("li", {},
    h("strong", {}, after < before ? "Slower" : "Faster", " since ", localTime(runs[index].started_at)), " (run ",
    h("a", { href: `#/run/${encodeURIComponent(runs[index].id)}` }, `${index + 1}, ${runs[index].short_id}`),
    `): ${told(before)} became ${told(after)}, ${change(after / before)}. Chance alone shows such a change in ${(100 * chance).toFixed(1)} of 100 series. `,
    h("a", { href: query("#/compare", { runs: [runs[index - 1].id, runs[index].id].join(",") }) }, "Compare the runs before and after")));
  const text = changes.length === 0
    ? (runs.length < 8 ? "Fewer than eight runs: too few to detect a change of level." : "No significant change of level over these runs (5 % level).")
    : changes.length === 1 ? "One lasting change:" : `${changes.length} lasting changes:`;
  const [first, last] = [runs[0], runs.at(-1)].map((run) => localTime(run.started_at));
  const span = runs.length > 1 ? [`${runs.length} runs, `, first, " to ", last, ". "] : [];
  return h("div", { id: "changes" }, h("p", {}, ...span, text), items.length > 0 ? h("ul", {}, items) : "");
}

function chart(runs, changes, axis, frame) {
  const values = runs.map((run) => run.per_second);
  const ends = { low: runs.map((run) => run.ci95_low), high: runs.map((run) => run.ci95_high) };
  const series = [{ label: "rate", color: 0, line: "marked", values, ends }];
  if (changes.length > 0) {
    const of = (index) => changes.findLast((change) => change.index <= index)?.after ?? changes[0].before;
    series.push({ label: "median of the level", color: 1, line: "level", values: values.map((_, index) => of(index)) });
    const begins = new Set(changes.map(({ index }) => index));
    series.push({ label: "change", color: 1, line: "ring", values: values.map((value, index) => (begins.has(index) ? value : null)) });
  }
  figure({
    title: "Rate by run",
    summary: `${runs.length} runs, oldest on the left; lines at the points are 95 % intervals of the rate within the run.`,
    x: { label: "start of the run", unit: "count", scale: "whole" },
    at: runs.map((_, index) => index + 1),
    places: { names: runs.map((run, index) => `run ${index + 1}, ${started(run)}`), ticks: dates(runs) },
    views: [{ label: "", y: { label: "", unit: axis, scale: "linear" }, series }],
  }, frame);
}

/** The start of a run as text. */
const started = (run) => localTime(run.started_at).textContent;

/** Labels of the axis: the day at its first run, or the time if all runs are of one day. */
function dates(runs) {
  const as = (options) => {
    const shown = new Intl.DateTimeFormat(undefined, options);
    return runs.map((run) => shown.format(new Date(run.started_at)));
  };
  const days = as({ dateStyle: "medium" });
  const labels = new Set(days).size > 1 ? days : as({ timeStyle: "short" });
  const ticks = labels.map((label, index) => [index + 1, label]);
  return ticks.filter(([, label], index) => index === 0 || label !== labels[index - 1]);
}

const change = (ratio) => `${ratio >= 1 ? "+" : "−"}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`;
