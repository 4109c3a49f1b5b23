// Six large values, as in Iometer. Each shows a statistic of the user's choice with its history and
// a scale that stays the same for the whole run.

import { show } from "./charts.js";
import { errors, latency, pressure, rate, slowest, together } from "./course.js";
import { button, choice, h, svg } from "./dom.js";
import { Gauge } from "./gauge.js";

const KEY = "pgmeter-tiles";
const DEFAULTS = ["rate", "bandwidth", "p50", "p99", "slowest", "errors"];
const COURSE = 60;
const MODES = [["last", "since the last update"], ["cell", "since the cell began"]];
/** Update intervals in seconds; 0 updates with every interval of the run. */
const UPDATES = [["0", "as measured"], ["2", "2 s"], ["5", "5 s"], ["10", "10 s"], ["30", "30 s"], ["60", "60 s"]];

/**
 * Statistics of an interval (`of`), and of a completed cell by its record (`recorded`). Only
 * statistics with `adds` can be computed over several intervals. Without `recorded`, the value of a
 * completed cell comes from its intervals.
 */
function statistics(operations) {
  const fixed = {
    rate: { label: "Operations per second", unit: "per_second", adds: true, of: (it) => rate(it, "count"), recorded: ({ total }) => total.per_second },
    bandwidth: { label: "Bandwidth", unit: "bytes_per_second", adds: true, of: (it) => rate(it, "bytes"), recorded: ({ total }) => total.bytes_per_second },
    slowest: { label: "Slowest", unit: "nanoseconds", adds: true, of: slowest, recorded: slowestRecorded },
    errors: { label: "Errors", unit: "count", adds: true, of: errors, recorded: errors },
    ran: { label: "Workers: CPUs used", unit: "percent", adds: true, of: ran },
    pressure: { label: "Waiting for a CPU", unit: "percent", adds: true, of: pressure },
  };
  const [first] = operations;
  const median = (name) => ({ of: (it) => latency(it, "p50_ns", name), recorded: (cell) => percentile(cell, "50", name) });
  const tail = (name) => ({ of: (it) => latency(it, "p99_ns", name), recorded: (cell) => percentile(cell, "99", name) });
  fixed.p50 = { label: `Median latency: ${first}`, unit: "nanoseconds", ...median(first) };
  fixed.p99 = { label: `99 % latency: ${first}`, unit: "nanoseconds", ...tail(first) };
  const each = operations.flatMap((name) => [
    [`rate ${name}`, { label: `${name}: per second`, unit: "per_second", adds: true, of: (it) => rate(it, "count", name), recorded: (cell) => cell.operations[name]?.per_second ?? 0 }],
    [`bandwidth ${name}`, { label: `${name}: bandwidth`, unit: "bytes_per_second", adds: true, of: (it) => rate(it, "bytes", name), recorded: (cell) => cell.operations[name]?.bytes_per_second ?? 0 }],
    [`p50 ${name}`, { label: `${name}: median latency`, unit: "nanoseconds", ...median(name) }],
    [`p99 ${name}`, { label: `${name}: 99 % latency`, unit: "nanoseconds", ...tail(name) }],
    [`slowest ${name}`, { label: `${name}: slowest`, unit: "nanoseconds", adds: true, of: (it) => latency(it, "max_ns", name), recorded: (cell) => cell.operations[name]?.latency.max_ns ?? null }],
  ]);
  return { ...fixed, ...Object.fromEntries(each) };
}

/** A latency percentile of a completed cell, in nanoseconds. */
const percentile = (cell, percent, name) => cell.operations[name]?.latency.percentiles_ns[percent] ?? null;

/** Maximum latency of a completed cell, in nanoseconds. */
function slowestRecorded({ operations }) {
  const all = Object.values(operations).map((figures) => figures.latency.max_ns ?? 0);
  return all.length > 0 ? Math.max(...all) : null;
}

/** Time that workers ran, in percent of one CPU. */
const ran = (interval) =>
  typeof interval.ran_ns === "number" ? (100 * interval.ran_ns) / Math.max(1, interval.length_ns) : null;

function remembered() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(kept) && kept.length === DEFAULTS.length ? kept : DEFAULTS;
  } catch {
    return DEFAULTS;
  }
}

export class Tiles {
  constructor(parent) {
    this.mode = choice(MODES, "last", { "aria-label": "Values", onchange: () => this.redraw() });
    this.every = choice(UPDATES, "0", { "aria-label": "Update", onchange: () => this.redraw() });
    this.gauge = new Gauge();
    this.shownTo = -Infinity;
    this.list = h("dl", { class: "tiles live" });
    this.moment = h("span", {}, h("label", {}, "Values ", this.mode), " ", h("label", {}, "Update every ", this.every));
    this.recorded = h("p", { class: "remark", hidden: true });
    this.element = h("section", { "aria-label": "Values", hidden: true },
      h("div", { class: "tiles-head" }, this.moment, this.recorded), this.list);
    parent.append(this.element);
    this.tiles = remembered().map((chosen) => new Tile(chosen, () => this.chosen(), (tile) => this.enlarge(tile)));
    this.list.append(...this.tiles.map((tile) => tile.element));
  }

  chosen() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.tiles.map((tile) => tile.chosen)));
    } catch {
      // Without storage, the defaults are used next time.
    }
    this.redraw();
  }

  /** Updates all tiles; `done` is the last completed cell of a run that has ended. */
  update(points, operations, done) {
    if (operations.length === 0) return;
    this.last = [points.filter(({ interval }) => interval), operations, done];
    this.moment.hidden = Boolean(done);
    this.recorded.hidden = !done;
    this.recorded.textContent = done ? `Results of cell ${done.position + 1}, as in its record` : "";
    const isDue = (points.at(-1)?.to ?? 0) - this.shownTo >= Number(this.every.value);
    if (isDue || done) this.redraw();
  }

  redraw() {
    if (!this.last) return;
    const [points, operations, done] = this.last;
    this.element.hidden = points.length === 0;
    if (points.length === 0) return;
    this.shownTo = points.at(-1).to;
    const known = statistics(operations);
    const drawn = { mode: this.mode.value, every: Number(this.every.value), done };
    for (const tile of this.tiles) tile.draw(points, known, drawn);
    if (this.gauge.isOpen) this.gauge.draw(this.large.shown);
  }

  /** Shows a tile's value over the whole screen. */
  enlarge(tile) {
    this.large = tile;
    this.gauge.draw(tile.shown);
    this.gauge.open();
  }
}

class Tile {
  constructor(chosen, changed, enlarge) {
    this.chosen = chosen;
    this.select = h("select", { "aria-label": "Statistic", onchange: () => {
      this.chosen = this.select.value;
      changed();
    } });
    this.value = h("span", { class: "value" });
    this.line = svg("polyline", { fill: "none", "vector-effect": "non-scaling-stroke" });
    this.spark = svg("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" }, this.line);
    this.meter = h("meter", { min: 0 });
    this.scale = h("small");
    const large = button("⤢", () => enlarge(this), { class: "small", title: "Full screen", "aria-label": "Full screen" });
    this.element = h("div", { class: "tile" }, h("dt", {}, this.select, large),
      h("dd", {}, this.value, this.spark, this.meter, this.scale));
  }

  draw(points, known, { mode, every, done }) {
    this.offer(known);
    const statistic = known[this.chosen];
    const values = points.map(({ interval }) => statistic.of(interval));
    const { cell, to } = points.at(-1);
    const isWhole = mode === "cell" && statistic.adds;
    const whole = () => statistic.of(together(cell.intervals));
    const recent = points.filter((point) => point.cell === cell && (point.to === to || point.from > to - every - 1e-3));
    const last = () => (recent.length > 1 && statistic.adds ? statistic.of(together(recent.map(({ interval }) => interval))) : values.at(-1));
    const live = () => (isWhole ? whole() : last());
    const ended = () => (statistic.recorded ? statistic.recorded(done) : whole());
    const now = done ? ended() : live();
    const text = show(statistic.unit, statistic.unit === "percent" && now !== null ? Math.round(now) : now);
    const [number, ...unit] = text.split(" ");
    this.value.replaceChildren(number, unit.length > 0 ? h("small", {}, ` ${unit.join(" ")}`) : "");
    // Percentiles of several intervals cannot be computed from theirs.
    const isLast = !done && !statistic.adds && (mode === "cell" || every > 0);
    const remark = isLast ? "in the last interval" : "";
    this.value.title = remark;
    const most = values.reduce((most, value) => Math.max(most, value ?? 0), now ?? 0);
    const top = statistic.unit === "percent" ? Math.max(100, round(most)) : round(most, statistic.unit);
    this.meter.max = top || 1;
    this.meter.value = now ?? 0;
    this.meter.setAttribute("aria-label", `${statistic.label}: ${text} of ${show(statistic.unit, top)}`);
    this.shown = { label: statistic.label, unit: statistic.unit, value: now, most, top, remark };
    this.scale.textContent = top > 0 ? `of ${show(statistic.unit, top)}` : (done ? "none" : "none so far");
    this.element.classList.toggle("severe", statistic.label === "Errors" && now > 0);
    this.course(values.slice(-COURSE), top || 1);
  }

  /** Refills the menu if the operations have changed. */
  offer(known) {
    const names = Object.keys(known);
    if (!names.includes(this.chosen)) this.chosen = "rate";
    const text = names.map((name) => known[name].label).join("\n");
    if (this.offered === text) return;
    this.offered = text;
    this.select.replaceChildren(...names.map((name) => h("option", { value: name }, known[name].label)));
    this.select.value = this.chosen;
  }

  course(values, top) {
    // A line needs two points.
    const shown = values.length === 1 ? [values[0], values[0]] : values;
    const step = 100 / Math.max(1, shown.length - 1);
    const places = shown.map((value, index) => `${(index * step).toFixed(2)},${(29 - (28 * (value ?? 0)) / top).toFixed(2)}`);
    this.line.setAttribute("points", places.join(" "));
  }
}

/** The value rounded up to one, two or five times a power of ten in its unit. */
function round(most, unit) {
  if (most <= 0) return 0;
  if (unit === "bytes_per_second" && most >= 1024) {
    const size = 1024 ** Math.min(3, Math.floor(Math.log(most) / Math.log(1024)));
    return size * round(most / size);
  }
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= most);
}
