// Formats numbers for people, as in the tables.

const ABSENT = "–";

const UNITS = {
  per_second: [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]],
  bytes_per_second: [[1024, " KiB/s"], [1024 ** 2, " MiB/s"], [1024 ** 3, " GiB/s"]],
  bytes: [[1, " B"], [1024, " KiB"], [1024 ** 2, " MiB"], [1024 ** 3, " GiB"], [1024 ** 4, " TiB"]],
  nanoseconds: [[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]],
  seconds: [[1, " s"]],
  percent: [[1, " %"]],
  count: [[1, ""]],
};

/** The largest unit in which the value is at least 1, with its name. */
function fitting(unit, value) {
  const units = UNITS[unit];
  const found = units.findLast(([size]) => Math.abs(value) >= size * 0.9995);
  return found ?? units[unit === "bytes_per_second" && value === 0 ? 1 : 0];
}

/** Formats significant digits, without rounding whole digits. */
function significant(value, digits) {
  if (value === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return value.toFixed(Math.max(0, Math.min(digits - whole, digits - 1)));
}

/** Formats a value with its unit, in significant digits. */
function show(unit, value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  if (unit === "percent") return `${Number(value.toPrecision(7))} %`;
  if (unit === "count") return String(value);
  if (unit === "seconds") return `${Number(value.toFixed(2))} s`;
  const [size, name] = fitting(unit, value);
  return significant(value / size, unit === "nanoseconds" ? 3 : 4) + name;
}

/** Formats a value at an axis, with no more digits than needed. */
function tick(unit, value) {
  const [size, name] = fitting(unit, value);
  return Number((value / size).toPrecision(4)) + name;
}
