// Heat map of latency: time on the x axis, latency on a logarithmic y axis, and operations per
// second as color.
//
// Intervals count latencies in four steps per power of two. Without these counts, the map shows an
// estimate: half of the operations are spread around and below the median, 49 % between the median
// and the 99th percentile, and 1 % between that and the maximum.

import { color, faded, logTicks, show, tick } from "./charts.js";
import { choice, field, h, table, th } from "./dom.js";

const STEPS_PER_OCTAVE = 4;
const HEIGHT = 280;
const [LEFT, BOTTOM, TOP, RIGHT] = [58, 26, 8, 12];
/** Lower end of the half below the median, as a share of the median; the minimum is unknown. */
const BELOW = 0.6;
const TABLE_ROWS_MAX = 2000;

export class HeatMap {
  constructor(parent) {
    this.canvas = h("canvas", { role: "img" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.plot = h("div", { class: "heat" }, this.canvas, this.tip);
    this.select = choice([["", "all operations"]], "", { onchange: () => this.draw() });
    this.numbers = h("details", { class: "numbers", ontoggle: () => this.fillTable() },
      h("summary", {}, "Data as a table"));
    const summary = "Latency distribution over time; a stronger color means more operations.";
    this.element = h("figure", { class: "chart wide" },
      h("figcaption", {}, h("h4", {}, "Heat map of latency"), h("p", {}, summary)),
      h("div", { class: "controls" }, field("Operations", this.select)), this.plot, this.numbers);
    this.element.hidden = true;
    parent.append(this.element);
    this.points = [];
    this.isSeen = true;
    this.canvas.addEventListener("pointermove", (event) => this.tell(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    new ResizeObserver(() => this.draw()).observe(this.plot);
    new IntersectionObserver(([entry]) => {
      const wasSeen = this.isSeen;
      this.isSeen = entry.isIntersecting;
      if (!wasSeen && this.isSeen) this.draw();
    }).observe(this.element);
  }

  update(points, operations) {
    this.points = points.filter(({ interval }) => interval);
    const known = [...this.select.options].slice(1).map(({ value }) => value);
    if (known.join() !== operations.join()) {
      const chosen = this.select.value;
      const options = operations.map((name) => h("option", { value: name }, name));
      this.select.replaceChildren(this.select.options[0], ...options);
      this.select.value = operations.includes(chosen) ? chosen : "";
    }
    this.element.hidden = this.points.length === 0;
    if (this.isSeen) this.draw();
    if (this.numbers.open && !this.numbers.contains(document.activeElement)) this.fillTable();
  }

  /** Values of the selected operations in an interval. */
  figures({ operations }) {
    const { value } = this.select;
    const all = Object.entries(operations).filter(([name]) => !value || name === value);
    return all.filter(([, it]) => it.count > 0 && it.p50_ns && it.max_ns);
  }

  /** Steps of an operation in an interval, each with its operations per nanosecond. */
  steps(interval, name, it) {
    const kept = interval.latencies?.[name];
    const each = 1 / Math.max(1, interval.length_ns);
    if (kept) return kept.counts.map((count, index) => [kept.first_step + index, count * each]);
    const p99 = Math.max(it.p99_ns ?? it.max_ns, it.p50_ns);
    return [
      ...spread(it.p50_ns * BELOW, it.p50_ns, 0.5 * it.count * each),
      ...spread(it.p50_ns, p99, 0.49 * it.count * each),
      ...spread(p99, Math.max(it.max_ns, p99), 0.01 * it.count * each),
    ];
  }

  draw() {
    const width = this.plot.clientWidth;
    if (width < 100 || this.points.length === 0) return;
    const ratio = devicePixelRatio;
    const { canvas } = this;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = HEIGHT * ratio;
    }
    const columns = this.density();
    this.scale(width, columns);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    this.paint(context, columns);
    this.axes(context, width);
    const [low, high] = this.ends.map((value) => show("nanoseconds", value));
    canvas.setAttribute("aria-label", `Heat map of latency over ${this.points.length} intervals, ` +
      `from ${low} to ${high}. The same data is in the table below.`);
    // For tests and other scripts.
    canvas.dataset.columns = String(this.points.length);
  }

  /** Sets the scales of both axes. */
  scale(width, columns) {
    let [low, high] = [Infinity, 0];
    for (const steps of columns) {
      for (const step of steps.keys()) [low, high] = [Math.min(low, step), Math.max(high, step + 1)];
    }
    if (high === 0) [low, high] = [40, 80];
    this.ends = [low, high].map((step) => 2 ** (step / STEPS_PER_OCTAVE));
    const [from, to] = [this.points[0].from, this.points.at(-1).to];
    this.x = (time) => LEFT + ((time - from) / Math.max(1e-9, to - from)) * (width - LEFT - RIGHT);
    this.y = (step) => HEIGHT - BOTTOM - ((step - low) / (high - low)) * (HEIGHT - BOTTOM - TOP);
  }

  /** Operations in each step, for each interval. */
  density() {
    return this.points.map(({ interval }) => {
      const steps = new Map();
      for (const [name, it] of this.figures(interval)) {
        for (const [step, amount] of this.steps(interval, name, it)) {
          if (amount > 0) steps.set(step, (steps.get(step) ?? 0) + amount);
        }
      }
      return steps;
    });
  }

  paint(context, columns) {
    const most = columns.reduce((most, steps) => Math.max(most, ...steps.values()), 0);
    if (most === 0) return;
    const shades = Array.from({ length: 33 }, (_, index) => faded(color("color-0"), (index / 32) * 100));
    columns.forEach((steps, index) => {
      const { from, to } = this.points[index];
      // Whole pixels: transparent rectangles with fractional edges would show seams.
      const x = Math.round(this.x(from));
      const width = Math.max(1, Math.round(this.x(to)) - x);
      steps.forEach((amount, step) => {
        // Four powers of ten are distinguishable: 1 % must be visible next to the rest.
        const depth = Math.max(0.08, 1 + Math.log10(amount / most) / 4);
        context.fillStyle = shades[Math.round(Math.min(1, depth) * 32)];
        const [top, bottom] = [step + 1, step].map((edge) => Math.round(this.y(edge)));
        context.fillRect(x, top, width, bottom - top);
      });
    });
  }

  axes(context, width) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = color("muted");
    context.strokeStyle = color("grid");
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of logTicks(...this.ends, 7)) {
      const y = this.y(Math.log2(value) * STEPS_PER_OCTAVE);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
      context.fillText(tick("nanoseconds", value), LEFT - 6, y);
    }
    const [from, to] = [this.points[0].from, this.points.at(-1).to];
    const step = niceStep((to - from) / Math.max(2, Math.floor(width / 60)));
    context.textBaseline = "top";
    context.textAlign = "center";
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const at = Math.min(this.x(time), width - 18);
      context.fillText(tick("seconds", time), at, HEIGHT - BOTTOM + 8);
    }
  }

  /** Shows the values at the pointer. */
  tell({ offsetX }) {
    const point = this.points.findLast(({ from }) => this.x(from) <= offsetX);
    this.tip.hidden = !point || offsetX < LEFT;
    if (this.tip.hidden) return;
    const rows = this.figures(point.interval).map(([name, it]) =>
      h("div", {}, name, h("b", {}, [it.p50_ns, it.p99_ns, it.max_ns].map((ns) => show("nanoseconds", ns)).join(" · "))));
    const head = `${show("seconds", point.from)} to ${show("seconds", point.to)}: median · 99 % · slowest`;
    this.tip.replaceChildren(h("strong", {}, head), ...rows);
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    const wanted = offsetX > this.plot.clientWidth / 2 ? offsetX - this.tip.offsetWidth - 12 : offsetX + 12;
    this.tip.style.left = `${Math.max(0, Math.min(room, wanted))}px`;
  }

  fillTable() {
    this.numbers.querySelector(".frame")?.remove();
    if (!this.numbers.open) return;
    const heads = ["from", "to", "operation", "count", "median", "99 %", "slowest"].map((text) => th(text));
    const rows = this.points.slice(-TABLE_ROWS_MAX).flatMap(({ from, to, interval }) =>
      this.figures(interval).map(([name, it]) => h("tr", {},
        h("th", { scope: "row" }, show("seconds", from)), h("td", {}, show("seconds", to)),
        h("td", { class: "name" }, name), h("td", {}, String(it.count)),
        [it.p50_ns, it.p99_ns, it.max_ns].map((ns) => h("td", {}, show("nanoseconds", ns))))));
    const made = table("Heat map of latency, data", heads, h("tbody", {}, rows));
    made.classList.add("long");
    this.numbers.append(made);
  }
}

/** Spreads an amount evenly over the steps between two latencies. */
function spread(low, high, amount) {
  const [first, last] = [low, high].map((ns) => Math.floor(Math.log2(Math.max(1, ns)) * STEPS_PER_OCTAVE));
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, amount / (last - first + 1)]);
}

/** One, two or five times a power of ten, not less than `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1e-3, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}
