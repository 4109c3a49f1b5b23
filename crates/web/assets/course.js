// Data of a run: its cells with their intervals, both stored and streamed.

const SECOND = 1e9;

/** Operations that add up to the total: those that transfer data, or all if none does. */
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

  /** Adds the server's summary of the run. */
  takeView({ planned, cells, warnings }) {
    this.planned = planned;
    for (const cell of cells) this.done.set(cell.position, cell);
    warnings.forEach((warning) => this.warn(warning));
  }

  /** Adds intervals of cells. For a completed cell, they replace all earlier intervals. */
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

  /** Adds a warning; returns false if it is already known. */
  warn(warning) {
    const isSame = (one) => one.code === warning.code && one.message === warning.message &&
      one.cell === warning.cell;
    if (this.warnings.some(isSame)) return false;
    this.warnings.push(warning);
    return true;
  }

  /** Names of operations, the most frequent first. */
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
   * Points of measured time, cell after cell, in seconds from the start of the first cell. Between
   * two cells there is a point without values, so that no line connects them.
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
      // The chart needs distinct positions on the axis.
      begin = end + 1e-6;
    }
    return points;
  }

  /**
   * The last completed cell, with the results of its record; null if there is none. A cell of an
   * emulated program has several phases: the longest one stands for it.
   */
  last() {
    if (this.done.size === 0) return null;
    const { index } = this.done.get(Math.max(...this.done.keys()));
    const phases = [...this.done.values()].filter((one) => one.index === index);
    return phases.reduce((longest, one) => (one.run_time_ns > longest.run_time_ns ? one : longest));
  }

  /** Index in the plan of the cell that has begun but not ended; null if there is none. */
  running() {
    const cell = this.cells.get(this.current);
    return cell && !this.done.has(this.current) ? cell.index : null;
  }

  /** Number of cells in the plan. */
  get count() {
    return Math.max(this.planned.length, this.done.size);
  }

  /** Planned duration of the run, in seconds; null if a cell does not end by time. */
  whole() {
    if (this.planned.some((cell) => cell.run_time_ns === null)) return null;
    const time = (cell) => cell.run_time_ns + (cell.ramp_time_ns ?? 0);
    return this.planned.reduce((whole, cell) => whole + time(cell), 0) / SECOND;
  }

  /** Remaining duration of the plan, in seconds; null if a remaining cell does not end by time. */
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

/** Inserts an interval in time order; skips one that is already there. */
function put({ intervals }, interval) {
  let place = intervals.length;
  // Nearly always, the interval is the last. After a gap in the stream, later ones may be there.
  while (place > 0 && intervals[place - 1].at_ns > interval.at_ns) place -= 1;
  const isBehind = (one, other) => other.at_ns >= one.at_ns + one.length_ns / 2;
  const [before, after] = [intervals[place - 1], intervals[place]];
  const isNew = (!before || isBehind(before, interval)) && (!after || isBehind(interval, after));
  if (isNew) intervals.splice(place, 0, interval);
}

/** Operations or bytes per second in an interval, for one operation or in total. */
export function rate(interval, what, operation) {
  const figures = operation ? [interval.operations[operation]].filter(Boolean) : counted(interval.operations);
  if (operation && figures.length === 0) return 0;
  return (sum(figures, what) * SECOND) / Math.max(1, interval.length_ns);
}

/** A latency of one operation in an interval, in nanoseconds; null if there is none. */
export const latency = (interval, what, operation) => interval.operations[operation]?.[what] ?? null;

/** Maximum latency of all operations in an interval, in nanoseconds. */
export function slowest(interval) {
  const all = Object.values(interval.operations).map((figures) => figures.max_ns ?? 0);
  return all.length > 0 ? Math.max(...all) : null;
}

/** Number of failed operations. */
export const errors = (interval) => sum(Object.values(interval.operations), "errors");

/** Share of the time in which any task on the machine waited for a CPU, in percent. */
export const pressure = (interval) =>
  interval.pressure_ns === undefined || interval.pressure_ns === null
    ? null
    : Math.min(100, (100 * interval.pressure_ns) / Math.max(1, interval.length_ns));

/** Share of the time in which workers waited for a CPU, in percent. */
export const waiting = (interval, workers) =>
  interval.waited_ns === undefined || interval.waited_ns === null
    ? null
    : Math.min(100, (100 * interval.waited_ns) / Math.max(1, interval.length_ns * workers));

/** Share of the time in which workers ran, in percent. */
export const running = (interval, workers) =>
  typeof interval.ran_ns === "number"
    ? Math.min(100, (100 * interval.ran_ns) / Math.max(1, interval.length_ns * workers))
    : null;

/** A latency percentile from the stored counts, in nanoseconds: the middle of a step, which is
 * about a fifth wide. Null if there are no counts. */
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

/** Merges intervals into one, for all values that add up. */
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
