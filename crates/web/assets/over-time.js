// Charts of a run over time. A chart is created once and then updated, so that hidden series, zoom
// and selection stay the same while the run continues.

import { figure, figures, redraw } from "./charts.js";
import { errors, latency, percentile, pressure, rate, running, waiting } from "./course.js";

const X = { label: "measured time, cell by cell", unit: "seconds", scale: "linear" };
const LATENCIES = [["p50_ns", "median", "solid"], ["p99_ns", "99 %", "dashed"], ["max_ns", "slowest", "dotted"]];

const upright = (label, unit, scale = "linear") => ({ label, unit, scale });

/** A series with the values that `of` returns for the intervals. */
function series(points, label, color, line, of) {
  return { label, color, line, values: points.map(({ interval, cell }) => interval && of(interval, cell)) };
}

export function throughput(course, points, operations) {
  const view = (label, what, unit) => ({
    label,
    y: upright("", unit),
    series: operations.map((name, index) =>
      series(points, name, index, "solid", (interval) => rate(interval, what, name))),
  });
  const moves = points.some(({ interval }) => interval && rate(interval, "bytes") > 0);
  const views = [view("Operations", "count", "per_second")];
  if (moves) views.push(view("Bytes", "bytes", "bytes_per_second"));
  return {
    title: "Throughput by operation",
    summary: "Operations or bytes per second of measured time.",
    x: X,
    views,
  };
}

export function latencies(course, points, operations) {
  const isCounted = points.some(({ interval }) => interval?.latencies);
  const view = (name) => {
    const all = LATENCIES.map(([what, label, line], index) =>
      series(points, label, index, line, (interval) => latency(interval, what, name) || null));
    if (isCounted) all.splice(2, 0, series(points, "99.9 %", 3, "solid", (it) => percentile(it, 99.9, name)));
    return { label: name, y: upright("", "nanoseconds", "log10"), series: all };
  };
  return {
    title: "Latency over time",
    summary: "Latency percentiles and maximum.",
    x: X,
    views: operations.map(view),
  };
}

export function processor(course, points) {
  const workers = ({ index, position }) => {
    const planned = course.planned.find((cell) => cell.index === index);
    return Math.max(1, course.done.get(position)?.workers ?? planned?.workers ?? 1);
  };
  const all = [
    series(points, "workers ran", 0, "solid", (interval, cell) => running(interval, workers(cell))),
    series(points, "workers waited", 1, "dashed", (interval, cell) => waiting(interval, workers(cell))),
    series(points, "any task on this machine waited", 2, "dotted", pressure),
  ].filter(({ values }) => values.some((value) => value !== null));
  return {
    title: "CPU",
    summary: "Share of the time in which workers ran, and in which tasks waited for a CPU.",
    x: X,
    views: [{ label: "", y: upright("", "percent"), series: all }],
  };
}

export function devices(course, points) {
  const done = (label, color, line, ...names) => series(points, label, color, line, (interval) =>
    interval.device ? (names.reduce((sum, name) => sum + interval.device[name], 0) * 1e9) / Math.max(1, interval.length_ns) : null);
  const asked = (what) => series(points, "requested", 0, "solid", (interval) => rate(interval, what));
  return {
    title: "Requested and device I/O",
    summary: "The difference comes from the page cache, the file system and other programs.",
    x: X,
    views: [
      { label: "Bytes", y: upright("", "bytes_per_second"),
        series: [asked("bytes"), done("read", 1, "dashed", "read_bytes"), done("written", 2, "dotted", "write_bytes")] },
      { label: "Requests", y: upright("", "per_second"),
        series: [asked("count"), done("reads", 1, "dashed", "reads"), done("writes", 2, "dotted", "writes")] },
    ],
  };
}

export function failures(course, points) {
  return {
    title: "Errors",
    summary: "Operations that failed.",
    x: X,
    views: [{ label: "", y: upright("", "count"), series: [series(points, "errors", 6, "steps", errors)] }],
  };
}

/** A chart that is updated while the run continues. */
export class OngoingChart {
  /** `make` creates a chart from a course; `isWanted` returns true if there is anything to show. */
  constructor(parent, make, isWanted = () => true) {
    Object.assign(this, { parent, make, isWanted, state: null, isSeen: true });
    // Charts outside the visible area are not drawn.
    this.seen = new IntersectionObserver(([entry]) => {
      this.isSeen = entry.isIntersecting;
      if (this.isSeen && this.waits) this.update(...this.waits);
    }, { rootMargin: "100px" });
  }

  update(course, points, operations) {
    if (points.length === 0 || operations.length === 0 || !this.isWanted(points)) return;
    if (this.state && !this.isSeen) {
      this.waits = [course, points, operations];
      return;
    }
    this.waits = null;
    const chart = this.make(course, points, operations);
    chart.at = points.map(({ to }) => to);
    if (!this.state || shape(chart) !== shape(this.state.chart)) this.build(chart);
    else this.fill(chart);
  }

  build(chart) {
    const before = this.state;
    figure(chart, this.parent);
    this.state = [...figures].find((state) => state.chart === chart);
    this.element = this.state.target.closest("figure");
    if (before) {
      before.drawn?.destroy();
      figures.delete(before);
      before.target.closest("figure").replaceWith(this.element);
    }
    this.seen.disconnect();
    this.seen.observe(this.element);
    this.bind();
  }

  /** Updates the values of the existing chart. */
  fill(chart) {
    const { chart: kept, drawn } = this.state;
    const [low, high] = [kept.at[0], kept.at.at(-1)];
    const { min, max } = drawn.scales.x;
    const isZoomed = min !== null && (min > low + 1e-6 || max < high - 1e-6);
    kept.at = chart.at;
    chart.views.forEach((view, index) => {
      view.series.forEach((one, place) => (kept.views[index].series[place].values = one.values));
    });
    this.bind();
    const values = kept.views[this.state.view].series.map((one) => one.values);
    this.state.drawn.setData([kept.at, ...values], !isZoomed);
    if (isZoomed) this.state.drawn.setScale("x", { min, max });
    this.refill();
  }

  /** The axis ends at the last value. A single value, of a very short cell, is in its middle. */
  bind() {
    const { chart, drawn } = this.state;
    drawn.scales.x.range = () => {
      const { at } = chart;
      return at.length > 1 ? [at[0], at.at(-1)] : [0, 2 * at[0]];
    };
  }

  /** Rebuilds an open table of the numbers, unless the user is operating it. */
  refill() {
    const details = this.element.querySelector("details.numbers");
    const frame = details?.querySelector(".frame");
    if (!frame || frame.contains(document.activeElement)) return;
    frame.remove();
    if (details.open) details.dispatchEvent(new Event("toggle"));
  }

  /** Redraws the chart in the current colors. */
  recolor() {
    if (!this.state) return;
    redraw(this.state);
    this.bind();
  }
}

/** The properties that cannot change in an existing chart. */
function shape({ views }) {
  return JSON.stringify(views.map(({ label, series }) => [label, series.map((one) => one.label)]));
}
