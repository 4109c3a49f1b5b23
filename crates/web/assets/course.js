// The course of a run: its cells and their intervals, as they were stored and as they come.

const SECOND = 1e9;

/** Operations that move bytes together, or all where none moves any: what a total is made of. */
function counted(operations) {
  const all = Object.values(operations);
  const moving = all.filter((figures) => figures.bytes > 0);
  return moving.length > 0 ? moving : all;
}

const sum = (figures, name) => figures.reduce((total, one) => total + one[name], 0);

export class Course {
  constructor() {
    this.cells = new Map();
    this.done = new Map();
    this.planned = [];
    this.warnings = [];
    this.current = null;
  }

  /** Takes what the server knows of the run. */
  takeView({ planned, cells, warnings }) {
    this.planned = planned;
    for (const cell of cells) this.done.set(cell.position, cell);
    warnings.forEach((warning) => this.warn(warning));
  }

  /** Takes intervals of cells; those of complete cells take the place of all that came before. */
  takeIntervals(cells) {
    for (const { position, index, is_complete: isComplete, intervals } of cells) {
      const cell = this.begin(position, index);
      if (isComplete) Object.assign(cell, { intervals, isComplete });
      else if (!cell.isComplete) intervals.forEach((interval) => put(cell, interval));
    }
  }

  begin(position, index) {
    const cell = this.cells.get(position) ?? { position, index, intervals: [] };
    this.cells.set(position, cell);
    this.current = Math.max(this.current ?? 0, position);
    return cell;
  }

  interval({ position, index, interval }) {
    const cell = this.begin(position, index);
    if (!cell.isComplete) put(cell, interval);
  }

  /** A warning, once; whether it is new. */
  warn(warning) {
    const isSame = (one) => one.code === warning.code && one.message === warning.message &&
      one.cell === warning.cell;
    if (this.warnings.some(isSame)) return false;
    this.warnings.push(warning);
    return true;
  }

  /** Names of operations, those that are asked for most first. */
  operations() {
    const counts = new Map();
    for (const { intervals } of this.cells.values()) {
      for (const interval of intervals) {
        for (const [name, { count }] of Object.entries(interval.operations)) {
          counts.set(name, (counts.get(name) ?? 0) + count);
        }
      }
    }
    return [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  }

  /**
   * Stretches of measured time one after the other, in seconds from the beginning of the first
   * cell; between two cells is one without figures, so that no line joins them.
   */
  points() {
    const points = [];
    let begin = 0;
    for (const position of [...this.cells.keys()].sort((one, other) => one - other)) {
      const cell = this.cells.get(position);
      if (points.length > 0) points.push({ from: begin, to: begin, cell, interval: null });
      let end = begin;
      for (const interval of cell.intervals) {
        const from = begin + interval.at_ns / SECOND;
        end = from + interval.length_ns / SECOND;
        points.push({ from, to: end, cell, interval });
      }
      // Two places of the axis are never the same.
      begin = end + 1e-6;
    }
    return points;
  }

  /** The last cell that is complete, with the figures of its record; null where there is none. */
  last() {
    const positions = [...this.done.keys()];
    return positions.length > 0 ? this.done.get(Math.max(...positions)) : null;
  }

  /** How many cells the plan has. */
  get count() {
    return Math.max(this.planned.length, this.done.size);
  }

  /** How long the whole plan takes, in seconds; null where it does not end by time. */
  whole() {
    if (this.planned.some((cell) => cell.run_time_ns === null)) return null;
    const time = (cell) => cell.run_time_ns + (cell.ramp_time_ns ?? 0);
    return this.planned.reduce((whole, cell) => whole + time(cell), 0) / SECOND;
  }

  /** How long the rest of the plan takes, in seconds; null where it does not end by time. */
  left() {
    const isDone = new Set([...this.done.values()].map((cell) => cell.index));
    let left = 0;
    for (const cell of this.planned) {
      if (isDone.has(cell.index)) continue;
      if (cell.run_time_ns === null) return null;
      left += cell.run_time_ns + (cell.ramp_time_ns ?? 0);
    }
    const current = this.cells.get(this.current);
    const last = current?.intervals.at(-1);
    if (last && !this.done.has(this.current)) {
      const planned = this.planned.find((cell) => cell.index === current.index);
      left -= last.at_ns + last.length_ns + (planned?.ramp_time_ns ?? 0);
    }
    return Math.max(0, left / SECOND);
  }
}

/** Puts an interval where it belongs; what is told twice is taken once. */
function put({ intervals }, interval) {
  let place = intervals.length;
  // Nearly always it is the last; after a gap, others are there before.
  while (place > 0 && intervals[place - 1].at_ns > interval.at_ns) place -= 1;
  const isBehind = (one, other) => other.at_ns >= one.at_ns + one.length_ns / 2;
  const [before, after] = [intervals[place - 1], intervals[place]];
  const isNew = (!before || isBehind(before, interval)) && (!after || isBehind(interval, after));
  if (isNew) intervals.splice(place, 0, interval);
}

/** Operations or bytes a second of an interval: of one operation, or of all. */
export function rate(interval, what, operation) {
  const figures = operation ? [interval.operations[operation]].filter(Boolean) : counted(interval.operations);
  if (operation && figures.length === 0) return 0;
  return (sum(figures, what) * SECOND) / Math.max(1, interval.length_ns);
}

/** A latency of one operation in an interval, in nanoseconds; null where there was none. */
export const latency = (interval, what, operation) => interval.operations[operation]?.[what] ?? null;

/** The largest latency of any operation. */
export function slowest(interval) {
  const all = Object.values(interval.operations).map((figures) => figures.max_ns ?? 0);
  return all.length > 0 ? Math.max(...all) : null;
}

/** How many operations failed. */
export const errors = (interval) => sum(Object.values(interval.operations), "errors");

/** Share of the time in which something waited for a processor, in percent. */
export const pressure = (interval) =>
  interval.pressure_ns === undefined || interval.pressure_ns === null
    ? null
    : Math.min(100, (100 * interval.pressure_ns) / Math.max(1, interval.length_ns));

/** Share of the time in which a worker waited for a processor, in percent. */
export const waiting = (interval, workers) =>
  interval.waited_ns === undefined || interval.waited_ns === null
    ? null
    : Math.min(100, (100 * interval.waited_ns) / Math.max(1, interval.length_ns * workers));

/** Share of the time in which a worker ran, in percent. */
export const running = (interval, workers) =>
  typeof interval.ran_ns === "number"
    ? Math.min(100, (100 * interval.ran_ns) / Math.max(1, interval.length_ns * workers))
    : null;

/** A latency that so many percent did not exceed, from how often which was measured: the middle of a
 * step, which is a fifth wide. Null where that was not kept. */
export function percentile(interval, percent, operation) {
  const kept = interval.latencies?.[operation];
  if (!kept) return null;
  const all = kept.counts.reduce((sum, count) => sum + count, 0);
  let left = (all * percent) / 100;
  const step = kept.counts.findIndex((count) => (left -= count) <= 1e-9);
  if (all === 0 || step < 0) return null;
  const middle = 2 ** ((kept.first_step + step + 0.5) / 4);
  return Math.min(middle, interval.operations[operation]?.max_ns ?? middle);
}

/** Several intervals as one, for what adds up. */
export function together(intervals) {
  const whole = { at_ns: 0, length_ns: 0, ran_ns: null, waited_ns: null, pressure_ns: null, operations: {} };
  for (const interval of intervals) {
    whole.length_ns += interval.length_ns;
    for (const name of ["ran_ns", "waited_ns", "pressure_ns"]) {
      if (typeof interval[name] === "number") whole[name] = (whole[name] ?? 0) + interval[name];
    }
    for (const [name, figures] of Object.entries(interval.operations)) {
      const all = (whole.operations[name] ??= { count: 0, bytes: 0, errors: 0, max_ns: 0 });
      for (const key of ["count", "bytes", "errors"]) all[key] += figures[key];
      all.max_ns = Math.max(all.max_ns, figures.max_ns ?? 0);
    }
  }
  return whole;
}
