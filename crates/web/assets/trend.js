// One workload over time: its best rate in each run, the oldest first.

import { get, query } from "./api.js";
import { figure, show } from "./charts.js";
import { button, field, h, localTime, table } from "./dom.js";

const RUNS_MAX = 1000;

export async function showTrend({ main, params, signal }) {
  const asked = { workload: params.get("workload") ?? "", target: params.get("target") ?? "" };
  main.append(h("h1", {}, "Trend"),
    h("p", {}, "The best rate of one workload in each complete run, the oldest first. A run stands for " +
      "itself here: whether two differ, a comparison tells."));
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
  const page = await get(query("/api/runs", { ...asked, status: "complete", sort: "started", rising: "true", limit: RUNS_MAX }), signal);
  // The server finds names that contain it.
  const runs = page.runs.filter(({ workloads, headline }) => headline && workloads.includes(asked.workload));
  if (runs.length === 0) {
    main.append(h("p", { class: "nothing" }, "No complete run of this workload is stored."));
    return;
  }
  draw(main, runs);
}

function draw(main, runs) {
  const frame = h("section", { class: "figures", "aria-label": "Over runs" });
  const unit = "per_second";
  const values = runs.map(({ headline }) => headline.per_second);
  if (runs.length > 1) {
    figure({
      title: "Best rate by run",
      summary: `${runs.length} runs, the oldest at the left.`,
      x: { label: "run", unit: "count", scale: "linear" },
      at: runs.map((_, index) => index + 1),
      views: [{ label: "", y: { label: "", unit, scale: "linear" },
        series: [{ label: "best rate", color: 0, line: "marked", values }] }],
    }, frame);
  }
  const rows = runs.map((run, index) => h("tr", {},
    h("th", { scope: "row" }, String(index + 1), " ", h("a", { href: `#/run/${encodeURIComponent(run.id)}` }, run.short_id)),
    h("td", { class: "name" }, localTime(run.started_at)),
    h("td", { class: "name path" }, run.targets.join(", ")),
    h("td", { class: "name" }, run.kernel),
    h("td", {}, show(unit, run.headline.per_second)),
    h("td", {}, index === 0 ? "–" : change(values[index] / values[index - 1]))));
  const ends = [runs[0].id, runs.at(-1).id].join(",");
  const compare = button("Compare the oldest with the newest", () => {
    location.hash = query("#/compare", { runs: ends }).slice(1);
  });
  main.append(frame, runs.length > 1 ? h("div", { class: "actions" }, compare) : "",
    table("Runs, the oldest first", ["Run", "Started", "Targets", "Kernel", "Best rate", "To the one before"], h("tbody", {}, rows)));
}

const change = (ratio) => `${ratio >= 1 ? "+" : "−"}${(Math.abs(ratio - 1) * 100).toFixed(1)} %`;
