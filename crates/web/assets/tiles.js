// Six figures as large as Iometer's: each of a statistic that can be chosen, with its course and a
// scale that is held for the whole run.

import { show } from "./charts.js";
import { errors, latency, pressure, rate, slowest, together } from "./course.js";
import { choice, h, svg } from "./dom.js";

const KEY = "pgmeter-tiles";
const DEFAULTS = ["rate", "bandwidth", "p50", "p99", "slowest", "errors"];
const COURSE = 60;
const MODES = [["last", "in the last interval"], ["cell", "since the cell began"]];

/** Statistics of an interval. Those without `adds` cannot be had of several intervals together. */
function statistics(operations) {
  const fixed = {
    rate: { label: "Operations per second", unit: "per_second", adds: true, of: (it) => rate(it, "count") },
    bandwidth: { label: "Bandwidth", unit: "bytes_per_second", adds: true, of: (it) => rate(it, "bytes") },
    slowest: { label: "Slowest", unit: "nanoseconds", adds: true, of: slowest },
    errors: { label: "Errors", unit: "count", adds: true, of: errors },
    ran: { label: "Workers: processors used", unit: "percent", adds: true, of: ran },
    pressure: { label: "Waiting for a processor", unit: "percent", adds: true, of: pressure },
  };
  const [first] = operations;
  const main = (what) => (it) => latency(it, what, first);
  fixed.p50 = { label: `Median latency: ${first}`, unit: "nanoseconds", of: main("p50_ns") };
  fixed.p99 = { label: `99 % latency: ${first}`, unit: "nanoseconds", of: main("p99_ns") };
  const each = operations.flatMap((name) => [
    [`rate ${name}`, { label: `${name}: per second`, unit: "per_second", adds: true, of: (it) => rate(it, "count", name) }],
    [`bandwidth ${name}`, { label: `${name}: bandwidth`, unit: "bytes_per_second", adds: true, of: (it) => rate(it, "bytes", name) }],
    [`p50 ${name}`, { label: `${name}: median latency`, unit: "nanoseconds", of: (it) => latency(it, "p50_ns", name) }],
    [`p99 ${name}`, { label: `${name}: 99 % latency`, unit: "nanoseconds", of: (it) => latency(it, "p99_ns", name) }],
    [`slowest ${name}`, { label: `${name}: slowest`, unit: "nanoseconds", adds: true, of: (it) => latency(it, "max_ns", name) }],
  ]);
  return { ...fixed, ...Object.fromEntries(each) };
}

/** Time that workers ran, in percent of one processor. */
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
    this.mode = choice(MODES, "last", { "aria-label": "Figures", onchange: () => this.redraw() });
    this.list = h("dl", { class: "tiles live" });
    this.element = h("section", { "aria-label": "Figures of now", hidden: true },
      h("div", { class: "tiles-head" }, h("label", {}, "Figures ", this.mode)), this.list);
    parent.append(this.element);
    this.tiles = remembered().map((chosen) => new Tile(chosen, () => this.chosen()));
    this.list.append(...this.tiles.map((tile) => tile.element));
  }

  chosen() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.tiles.map((tile) => tile.chosen)));
    } catch {
      // A browser that keeps nothing shows the defaults next time.
    }
    this.redraw();
  }

  update(points, operations) {
    if (operations.length === 0) return;
    this.last = [points.filter(({ interval }) => interval), operations];
    this.redraw();
  }

  redraw() {
    if (!this.last) return;
    const [points, operations] = this.last;
    this.element.hidden = points.length === 0;
    if (points.length === 0) return;
    const known = statistics(operations);
    for (const tile of this.tiles) tile.draw(points, known, this.mode.value);
  }
}

class Tile {
  constructor(chosen, changed) {
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
    this.element = h("div", { class: "tile" }, h("dt", {}, this.select),
      h("dd", {}, this.value, this.spark, this.meter, this.scale));
  }

  draw(points, known, mode) {
    this.offer(known);
    const statistic = known[this.chosen];
    const values = points.map(({ interval }) => statistic.of(interval));
    const { cell } = points.at(-1);
    const isWhole = mode === "cell" && statistic.adds;
    const now = isWhole ? statistic.of(together(cell.intervals)) : values.at(-1);
    const text = show(statistic.unit, statistic.unit === "percent" && now !== null ? Math.round(now) : now);
    const [number, ...unit] = text.split(" ");
    this.value.replaceChildren(number, unit.length > 0 ? h("small", {}, ` ${unit.join(" ")}`) : "");
    this.value.title = mode === "cell" && !isWhole ? "in the last interval" : "";
    const most = values.reduce((most, value) => Math.max(most, value ?? 0), now ?? 0);
    const top = statistic.unit === "percent" ? Math.max(100, round(most)) : round(most, statistic.unit);
    this.meter.max = top || 1;
    this.meter.value = now ?? 0;
    this.meter.setAttribute("aria-label", `${statistic.label}: ${text} of ${show(statistic.unit, top)}`);
    this.scale.textContent = top > 0 ? `of ${show(statistic.unit, top)}` : "none so far";
    this.element.classList.toggle("severe", statistic.label === "Errors" && now > 0);
    this.course(values.slice(-COURSE), top || 1);
  }

  /** Fills the menu where the operations are others than before. */
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
    const step = 100 / Math.max(1, values.length - 1);
    const places = values.map((value, index) => `${(index * step).toFixed(2)},${(29 - (28 * (value ?? 0)) / top).toFixed(2)}`);
    this.line.setAttribute("points", places.join(" "));
  }
}

/** The next of one, two and five times a power of ten of the unit. */
function round(most, unit) {
  if (most <= 0) return 0;
  if (unit === "bytes_per_second" && most >= 1024) {
    const size = 1024 ** Math.min(3, Math.floor(Math.log(most) / Math.log(1024)));
    return size * round(most / size);
  }
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= most);
}
