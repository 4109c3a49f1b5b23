// Scales and the positions of their ticks.

/** Converts percent to a number of nines: 90 is 1, 99 is 2. */
const nines = (percent) => -Math.log10(1 - percent / 100);

/** Converts positions to coordinates on the axis. */
function placed(axis, at) {
  return axis.scale === "nines" ? at.map(nines) : at;
}

/** Steps between ticks of bytes: whole numbers of KiB, MiB, GiB or TiB. */
const BINARY_STEPS = [1024, 1024 ** 2, 1024 ** 3, 1024 ** 4].flatMap((unit) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * unit));

/** Ticks of a logarithmic axis: one, two or three per power of ten, depending on the room. */
function logTicks(low, high, room) {
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      ticks.push(...steps.map((step) => step * 10 ** power));
    }
    const shown = ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
    if (shown.length <= room || steps.length === 1) return shown;
  }
  return [];
}

/** The horizontal scale. It ends at the outer positions, with a margin if they have marks. */
function along(axis, at) {
  const ends = [at[0], at[at.length - 1]];
  switch (axis.scale) {
    case "log10":
      return { distr: 3, log: 10, range: () => ends };
    case "log2":
      return { distr: 3, log: 2, range: () => [ends[0] / 1.2, ends[1] * 1.2] };
    case "nines":
      return { range: (u, low, high) => [low, high * 1.02] };
    case "places":
      return { range: () => [ends[0] - 0.5, ends[1] + 0.5] };
    default:
      return { range: () => (ends[0] === ends[1] ? [ends[0] - 1, ends[1] + 1] : ends) };
  }
}

/** The vertical scale: from zero, or around the values if it is logarithmic. */
function upward(axis, reach) {
  if (axis.scale === "linear") {
    return { range: (u) => [0, (reach(u)[1] || 1) * 1.08] };
  }
  return { distr: 3, log: 10, range: (u) => roomy(...reach(u)) };
}

/** At least a factor of 4, so that noise does not look like a trend. */
function roomy(low, high) {
  if (high === 0) return [1, 10];
  const [least, most] = [low / 1.25, high * 1.25];
  return most / least > 4 ? [least, most] : [least / 2, most * 2];
}

/** The positions of ticks; undefined to use the chart library's own. */
function splitsOf(axis, at, room) {
  switch (axis.scale) {
    case "log10":
      return (u, index, low, high) => logTicks(low, high, room);
    case "log2":
    case "whole":
      return () => thinned(at, room);
    case "nines":
      return (u, index, low, high) =>
        [50, 90, 99, 99.9, 99.99, 99.999, 99.9999].map(nines).filter((t) => t >= low && t <= high);
    default:
      return undefined;
  }
}

/** Every n-th position, so that the rest fit. */
function thinned(at, room) {
  const step = Math.ceil(at.length / room);
  return at.filter((_, index) => index % step === 0);
}

/** The label of a tick. */
function tickText(axis, value) {
  if (axis.scale !== "nines") return tick(axis.unit, value);
  return tick("percent", Number((100 * (1 - 10 ** -value)).toPrecision(7)));
}
