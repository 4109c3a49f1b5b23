// Small charts of workers and targets in the current cell. They share one scale, so that a slow one
// stands out. Values that the intervals do not contain are not shown.

import { show } from "./charts.js";
import { choice, h, svg, table } from "./dom.js";

const SECOND = 1e9;
const COURSE = 60;
/** With fewer workers or targets without a rate, none is marked as behind: the median says too
 * little. */
const COMPARED_MIN = 3;
/** Below this share of the median rate, a worker or target is marked as behind. */
const BEHIND = 0.5;
const KINDS = [["workers", "worker_names", "Workers"], ["targets", "target_paths", "Targets"]];
const perSecond = (what) => (part, length) => ((part[what] ?? 0) * SECOND) / Math.max(1, length);
const STATISTICS = {
  rate: { label: "Operations per second", unit: "per_second", of: perSecond("count"), isRate: true },
  bandwidth: { label: "Bandwidth", unit: "bytes_per_second", of: perSecond("bytes"), isRate: true },
  slowest: { label: "Slowest", unit: "nanoseconds", of: (part) => part.max_ns || null },
  errors: { label: "Errors", unit: "count", of: (part) => part.errors ?? 0 },
};

export class Parts {
  constructor(parent) {
    this.select = choice(Object.entries(STATISTICS).map(([name, { label }]) => [name, label]), "rate",
      { "aria-label": "Statistic of workers and targets", onchange: () => this.redraw() });
    this.cell = h("select", { "aria-label": "Cell of workers and targets", onchange: () => this.redraw() });
    this.groups = KINDS.map(([kind, names, title]) => new Group(kind, names, title));
    this.remark = h("p", { class: "remark" });
    this.element = h("section", { "aria-label": "Workers and targets", hidden: true },
      h("div", { class: "tiles-head" }, h("label", {}, "Workers and targets ", this.select), " ", this.cell),
      this.remark, this.box = h("div"));
    parent.append(this.element);
  }

  update(course) {
    this.course = course;
    this.redraw();
  }

  redraw() {
    const { course } = this;
    const planned = (cell) => course.planned.find(({ index }) => index === cell.index);
    const wanted = [...course.cells.values()].filter((cell) => cell.intervals.length > 0 && (planned(cell)?.workers ?? 1) +
      (planned(cell)?.target_paths?.length ?? 0) > 1);
    this.element.hidden = wanted.length === 0;
    if (wanted.length === 0) {
      this.box.replaceChildren();
      return;
    }
    this.offer(wanted);
    const chosen = this.cell.value === "" ? wanted.at(-1) : wanted.find(({ position }) => String(position) === this.cell.value);
    const cell = chosen ?? wanted.at(-1);
    const plan = planned(cell);
    for (const group of this.groups) group.draw(cell, plan, STATISTICS[this.select.value]);
    const shown = this.groups.filter(({ isTold }) => isTold).map(({ element }) => element);
    const isSame = shown.length === this.box.children.length && shown.every((one, index) => one === this.box.children[index]);
    if (!isSame) this.box.replaceChildren(...shown);
    const isTold = shown.length > 0;
    this.select.disabled = !isTold;
    const limited = plan?.worker_has_rate?.some(Boolean) ? ", except workers that a rate limits" : "";
    this.remark.textContent = isTold
      ? `All share one scale. Those below half of the median rate in the last interval are marked as behind${limited}.`
      : `The intervals of this cell have no results of its ${plan.workers} workers: ` +
        (plan.workers > 64 ? "there are more than 64." : "an earlier version measured it.");
  }

  /** Updates the menu of cells; the default is the newest cell. */
  offer(cells) {
    const text = cells.map(({ position }) => position).join();
    if (this.offered === text) return;
    this.offered = text;
    const { value } = this.cell;
    this.cell.replaceChildren(h("option", { value: "" }, "newest cell"),
      ...cells.map(({ position }) => h("option", { value: String(position) }, `cell ${position + 1}`)));
    this.cell.value = value;
    this.cell.hidden = cells.length < 2;
  }
}

/** The charts of all workers, or of all targets. */
class Group {
  constructor(kind, names, title) {
    Object.assign(this, { kind, names, title, cards: [] });
    this.list = h("ul", { class: "multiples" });
    this.scale = h("small", { class: "note" });
    this.numbers = h("details", { class: "numbers", ontoggle: () => this.fillTable() }, h("summary", {}, "Data as a table"));
    this.isTold = false;
    this.element = h("div", {}, h("h3", {}, title), this.list, this.scale, this.numbers);
  }

  draw(cell, plan, statistic) {
    const told = cell.intervals.filter((interval) => (interval[this.kind] ?? []).length > 0);
    this.isTold = told.length > 0;
    if (!this.isTold) return;
    this.told = told;
    const last = told.at(-1);
    const count = last[this.kind].length;
    while (this.cards.length < count) this.cards.push(new Card());
    this.cards.length = count;
    if (this.list.childElementCount !== count) this.list.replaceChildren(...this.cards.map(({ element }) => element));
    const shown = told.slice(-COURSE);
    const values = this.cards.map((_, place) => shown.map((interval) => valueOf(interval, this.kind, place, statistic)));
    const top = Math.max(...values.flat().map((value) => value ?? 0));
    const now = values.map((all) => all.at(-1) ?? 0);
    // A rate holds a worker back on purpose, so it says nothing about the others.
    const hasRate = (place) => this.kind === "workers" && Boolean(plan?.worker_has_rate?.[place]);
    const compared = now.filter((_, place) => !hasRate(place));
    const middle = median(compared);
    this.cards.forEach((card, place) => {
      const isBehind = statistic.isRate && compared.length >= COMPARED_MIN && !hasRate(place) && now[place] < BEHIND * middle;
      card.draw(this.name(plan, place), statistic, values[place], top, isBehind ? now[place] / middle : null);
    });
    this.scale.textContent = top > 0 ? `Scale: 0 to ${show(statistic.unit, top)}` : "";
    this.plan = plan;
    if (this.numbers.open && !this.numbers.contains(document.activeElement)) this.fillTable();
  }

  name(plan, place) {
    return plan?.[this.names]?.[place] || `${this.title.slice(0, -1)} ${place + 1}`;
  }

  /** Table of the totals over the whole cell. */
  fillTable() {
    this.numbers.querySelector(".frame")?.remove();
    if (!this.numbers.open || !this.told) return;
    const length = this.told.reduce((sum, interval) => sum + interval.length_ns, 0);
    const rows = this.cards.map((_, place) => {
      const whole = { count: 0, bytes: 0, errors: 0, max_ns: 0 };
      for (const interval of this.told) {
        const part = interval[this.kind][place] ?? {};
        for (const key of ["count", "bytes", "errors"]) whole[key] += part[key] ?? 0;
        whole.max_ns = Math.max(whole.max_ns, part.max_ns ?? 0);
      }
      return h("tr", {}, h("th", { scope: "row" }, this.name(this.plan, place)),
        Object.values(STATISTICS).map(({ unit, of }) => h("td", {}, show(unit, of(whole, length)))));
    });
    const heads = [this.title.slice(0, -1), ...Object.values(STATISTICS).map(({ label }) => label)];
    this.numbers.append(table(`${this.title} in the whole cell`, heads, h("tbody", {}, rows)));
  }
}

class Card {
  constructor() {
    this.name = h("span", { class: "field-name path" });
    this.value = h("strong");
    this.mark = h("small", { class: "severe", hidden: true });
    this.line = svg("polyline", { fill: "none", "vector-effect": "non-scaling-stroke" });
    const spark = svg("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", class: "spark", "aria-hidden": "true" }, this.line);
    this.element = h("li", {}, this.name, this.value, spark, this.mark);
  }

  draw(name, { unit }, values, top, share) {
    this.name.textContent = name;
    this.value.textContent = show(unit, values.at(-1));
    const step = 100 / Math.max(1, values.length - 1);
    this.line.setAttribute("points", values.map((value, index) =>
      `${(index * step).toFixed(2)},${(29 - (28 * (value ?? 0)) / (top || 1)).toFixed(2)}`).join(" "));
    this.mark.hidden = share === null;
    if (share !== null) this.mark.textContent = `behind: ${Math.round(share * 100)} % of the median`;
  }
}

const valueOf = (interval, kind, place, { of }) => {
  const part = interval[kind][place];
  return part ? of(part, interval.length_ns) : null;
};

function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
