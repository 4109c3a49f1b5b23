// Rate of one workload in each run, the oldest first.

import { get, query } from "./api.js";
import { figure, show } from "./charts.js";
import { button, field, h, localTime, table } from "./dom.js";
import { unit } from "./runs.js";

export async function showTrend({ main, params, signal }) {
  const asked = { workload: params.get("workload") ?? "", target: params.get("target") ?? "" };
  main.append(h("h1", {}, "Trend"),
    h("p", {}, "The rate of one workload in each complete run of the same cell, oldest first, with lasting changes marked. " +
      "To test whether two runs differ, compare them."));
  const newest = await get(query("/api/runs", { limit: 200, status: "complete" }), signal);
  const names = [...new Set(newest.runs.flatMap(({ workloads }) => workloads))].sort();
  const workload = h("input", { name: "workload", value: asked.workload, list: "workloads", required: true });
  const target = h("input", { name: "target", value: asked.target });
  const go = (event) => {
    event.preventDefault();
    location.hash = query("#/trend", { workload: workload.value, target: target.value }).slice(1);
  };
  main.append(h("form", { class: "filters", onsubmit: go },
    field("Workload", workload), field("Target", target), h("button", {}, "Show"),
    h("datalist", { id: "workloads" }, names.map((value) => h("option", { value })))));
  if (!asked.workload) return;
  const trend = await get(query("/api/trend", asked), signal);
  if (trend.runs.length === 0) {
    main.append(h("p", { class: "nothing" }, "No complete run of this workload is stored."));
    return;
  }
  draw(main, trend);
}

function draw(main, { runs, changes, of, cell, matching_count: matching }) {
  const frame = h("section", { class: "figures", "aria-label": "Over runs" });
  const name = unit(of);
  const axis = of === "bytes" ? "bytes_per_second" : "per_second";
  const told = (value) => (of === "bytes" ? show(axis, value) : `${show(axis, value)} ${name}`);
  if (runs.length > 1) chart(runs, changes, axis, frame);
  const begins = new Map(changes.map((change) => [change.index, change]));
  const rows = runs.map((run, index) => h("tr", { class: begins.has(index) ? "changed" : "" },
    h("th", { scope: "row" }, String(index + 1), " ", h("a", { href: `#/run/${encodeURIComponent(run.id)}` }, run.short_id)),
    h("td", { class: "name" }, localTime(run.started_at)),
    h("td", { class: "name path" }, run.targets.join(", ")),
    h("td", { class: "name" }, run.kernel),
    h("td", {}, told(run.per_second)),
    h("td", {}, run.ci95_low === null ? "–" : `${show(axis, run.ci95_low)} to ${show(axis, run.ci95_high)}`),
    h("td", {}, index === 0 ? "–" : change(run.per_second / runs[index - 1].per_second)),
    h("td", { class: "name" }, begins.has(index) ? h("strong", {}, `new level: ${change(begins.get(index).after / begins.get(index).before)}`) : "")));
  const ends = [runs[0].id, runs.at(-1).id].join(",");
  const compare = button("Compare the oldest with the newest", () => {
    location.hash = query("#/compare", { runs: ends }).slice(1);
  });
  const left = matching > runs.length ? h("p", { class: "remark" },
    `${runs.length} of ${matching} complete runs with this name: the newest ones that measured the same cell of this workload.`) : "";
  const heads = ["Run", "Started", "Targets", "Kernel", "Rate", "95 % within the run", "vs. previous run", "Level"];
  main.append(followed(cell), said(runs, changes, told), frame, left, runs.length > 1 ? h("div", { class: "actions" }, compare) : "",
    table("Runs, oldest first", heads, h("tbody", {}, rows), { class: "stack" }));
}

/** Describes the cell that all these runs measured. */
function followed(cell) {
  if (!cell) return "";
  const named = [cell.access_spec, cell.phase === "measure" ? "" : cell.phase].filter(Boolean);
  const workers = cell.workers === 1 ? "1 worker" : `${cell.workers} workers`;
  const parts = [...named, `queue depth ${cell.iodepth}`, workers, cell.engine, cell.cache];
  return h("p", { class: "remark" }, `Measured in each run: ${parts.join(", ")}.`);
}

/** Describes the changes of level. */
function said(runs, changes, told) {
  const items = changes.map(({ index, before, after, p_value: chance }) => h("li", {},
    "From run ", h("a", { href: `#/run/${encodeURIComponent(runs[index].id)}` }, `${index + 1} (${runs[index].short_id})`),
    ` on: ${told(before)} became ${told(after)}, ${change(after / before)}; by chance in ${(100 * chance).toFixed(1)} of 100 series.`));
  const text = changes.length === 0
    ? (runs.length < 8 ? "Fewer than eight runs: too few to detect a change of level." : "No significant change of level over these runs (5 % level).")
    : changes.length === 1 ? "The level changes once." : `The level changes ${changes.length} times.`;
  return h("div", { id: "changes" }, h("p", {}, text), items.length > 0 ? h("ul", {}, items) : "");
}

function chart(runs, changes, axis, frame) {
  const values = runs.map((run) => run.per_second);
  const ends = { low: runs.map((run) => run.ci95_low), high: runs.map((run) => run.ci95_high) };
  const series = [{ label: "rate", color: 0, line: "marked", values, ends }];
  if (changes.length > 0) {
    const of = (index) => changes.findLast((change) => change.index <= index)?.after ?? changes[0].before;
    series.push({ label: "median of the level", color: 1, line: "dashed", values: values.map((_, index) => of(index)) });
    const begins = new Set(changes.map(({ index }) => index));
    series.push({ label: "change", color: 1, line: "ring", values: values.map((value, index) => (begins.has(index) ? value : null)) });
  }
  figure({
    title: "Rate by run",
    summary: `${runs.length} runs, oldest on the left; lines at the points are 95 % intervals of the rate within the run.`,
    x: { label: "run", unit: "count", scale: "whole" },
    at: runs.map((_, index) => index + 1),
    views: [{ label: "", y: { label: "", unit: axis, scale: "linear" }, series }],
  }, frame);
}

const change = (ratio) => `${ratio >= 1 ? "+" : "−"}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`;
