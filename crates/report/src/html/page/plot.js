// Draws a view of a chart with uPlot.

const FONT = "12px system-ui, sans-serif";
const DASHES = { dashed: [7, 4], dotted: [2, 3] };

/** Draws a view into `target` and returns the plot. */
function plot(chart, view, hidden, target) {
  const width = Math.max(target.clientWidth, 240);
  const options = {
    width,
    height: height(width),
    scales: {
      x: { time: false, ...along(chart.x, chart.at) },
      y: upward(view.y, (u) => reach(u, view)),
    },
    axes: [axis(chart.x, chart.at, width / 60, chart.places?.ticks), axis(view.y, null, 6)],
    series: [
      {},
      ...view.series.map((series, index) => drawn(series, !hidden.has(index), width / chart.at.length)),
    ],
    bands: (view.bands ?? []).map(([upper, lower], index) => ({
      series: [upper + 1, lower + 1],
      fill: faded(seriesColor(view.series[upper].color), index === 0 ? 10 : 22),
    })),
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { x: true, y: false } },
    padding: [8, 20, 0, 0],
    hooks: { draw: [(u) => whiskers(u, view)], setCursor: [(u) => tell(u, chart, view)] },
  };
  const values = view.series.map((series) => series.values);
  const made = new uPlot(options, [placed(chart.x, chart.at), ...values], target);
  made.over.append(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));
  return made;
}

/** Returns the height of a chart for a width, in pixels. */
const height = (width) => Math.round(Math.min(280, Math.max(200, width * 0.5)));

/** Returns the range of the visible values, including the ends of their intervals. */
function reach(u, view) {
  const shown = view.series.filter((series, index) => u.series[index + 1].show);
  const all = shown.flatMap((series) => [
    ...series.values,
    ...(series.ends?.low ?? []),
    ...(series.ends?.high ?? []),
  ]);
  const known = all.filter((value) => value !== null);
  return known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [
    Infinity,
    0,
  ]);
}

/** Returns an axis. `named` maps positions to labels of ticks. */
function axis(axis, at, room, named) {
  const grid = color("grid");
  const names = named && new Map(named);
  const text = (value) => names?.get(value) ?? tickText(axis, value);
  return {
    label: axis.label,
    labelFont: FONT,
    labelSize: 20,
    font: FONT,
    stroke: color("muted"),
    grid: { stroke: grid, width: 1, show: at === null },
    ticks: { stroke: grid, width: 1, size: 4 },
    border: { show: at !== null, stroke: grid, width: 1 },
    size: at === null ? widthOf : 30,
    gap: 4,
    incrs: axis.unit === "bytes_per_second" ? BINARY_STEPS : undefined,
    splits: names ? () => [...names.keys()] : splitsOf(axis, at, room),
    filter: at === null ? (u, splits) => splits : (u, splits) => apart(u, text, splits),
    values: (u, splits) => splits.map((value) => (value === null ? "" : text(value))),
  };
}

/** Removes ticks whose labels would overlap or be cut off at the ends of the chart. */
function apart(u, text, splits) {
  const GAP = 6;
  const left = u.bbox.left / devicePixelRatio;
  let taken = -left;
  return splits.map((value) => {
    const half = textWidth(u, text(value)) / 2;
    const at = u.valToPos(value, "x");
    if (at - half < taken || at + half > u.width - left) return null;
    taken = at + half + GAP;
    return value;
  });
}

function textWidth(u, text) {
  u.ctx.save();
  u.ctx.font = FONT;
  const { width } = u.ctx.measureText(text);
  u.ctx.restore();
  return width;
}

/** Returns the width of the longest label at the axis. */
function widthOf(u, texts) {
  if (!texts) return 50;
  return Math.ceil(Math.max(...texts.map((text) => textWidth(u, text)), 20)) + 12;
}

/** Returns the style of a series; `room` is the number of pixels per position. */
function drawn(series, isShown, room) {
  const stroke = seriesColor(series.color);
  const points = { show: true, size: 5, width: 0, fill: stroke, filter: lone };
  const shared = { label: series.label, show: isShown, stroke, points };
  switch (series.line) {
    case "steps":
      return {
        ...shared,
        width: 1.5,
        points: { show: false },
        fill: faded(stroke, 16),
        paths: uPlot.paths.stepped({ align: 1 }),
      };
    case "marked":
      return { ...shared, width: 2, spanGaps: true, points: { show: true, size: 7, fill: stroke } };
    case "level":
      return { ...shared, width: 2, dash: DASHES.dashed, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) };
    case "ring":
      return { ...shared, width: 0, points: { show: true, size: 16, width: 2, fill: "transparent" } };
    case "dots":
      return { ...shared, width: 0, points: { show: true, size: room < 4 ? 3 : 8, width: 0, fill: stroke } };
    default:
      return { ...shared, width: series.line === "dotted" ? 1.25 : 2, dash: DASHES[series.line] };
  }
}

/** Returns the indexes of values between gaps, which lines do not show. */
function lone(u, series) {
  const values = u.data[series];
  const isGap = (place) => (values[place] ?? null) === null;
  return [...values.keys()].filter((place) => !isGap(place) && isGap(place - 1) && isGap(place + 1));
}

/** Draws confidence intervals as whiskers. */
function whiskers(u, view) {
  const { ctx } = u;
  ctx.save();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  const half = 4 * devicePixelRatio;
  view.series.forEach((series, index) => {
    if (!series.ends || !u.series[index + 1].show) return;
    ctx.strokeStyle = seriesColor(series.color);
    ctx.beginPath();
    u.data[0].forEach((at, place) => {
      const [low, high] = [series.ends.low[place], series.ends.high[place]];
      if (low === null || high === null) return;
      const x = u.valToPos(at, "x", true);
      const [bottom, top] = [low, high].map((value) => u.valToPos(value, "y", true));
      ctx.moveTo(x, bottom);
      ctx.lineTo(x, top);
      for (const y of [bottom, top]) {
        ctx.moveTo(x - half, y);
        ctx.lineTo(x + half, y);
      }
    });
    ctx.stroke();
  });
  ctx.restore();
}

/** Shows the values at the cursor in a tip. */
function tell(u, chart, view) {
  const tip = u.over.querySelector(".tip");
  const { idx, left } = u.cursor;
  if (!tip) return;
  tip.hidden = idx === null || idx === undefined || left < 0;
  if (tip.hidden) return;
  const rows = view.series.flatMap((series, index) => {
    const isElsewhere = series.line === "dots" && series.values[idx] === null;
    if (!u.series[index + 1].show || isElsewhere) return [];
    return [tipRow(series, view.y.unit, idx)];
  });
  const head = document.createElement("strong");
  head.textContent = place(chart, view, idx);
  tip.replaceChildren(head, ...rows);
  stand(u, tip, left);
}

/** Puts the tip next to the cursor, on the side with more room, within the chart. */
function stand(u, tip, cursor) {
  const [GAP, EDGE] = [12, 2];
  const first = EDGE - u.over.offsetLeft;
  tip.style.maxWidth = `${u.width - 2 * EDGE}px`;
  const { offsetWidth } = tip;
  const isRight = cursor > u.over.clientWidth / 2;
  const wanted = isRight ? cursor - GAP - offsetWidth : cursor + GAP;
  const last = first + u.width - 2 * EDGE - offsetWidth;
  tip.style.left = `${Math.max(first, Math.min(wanted, last))}px`;
}

/** Returns the name of a position on the axis. A bin has two ends. */
function place(chart, view, index) {
  if (chart.places) return chart.places.names[index];
  const { unit } = chart.x;
  const next = chart.at[index + 1];
  if (view.series[0].line === "steps" && next !== undefined) {
    return `${show(unit, chart.at[index])} to ${show(unit, next)}`;
  }
  const text = show(unit, chart.at[index]);
  // A bare number does not say what it counts: `queue depth (iodepth)` is `queue depth 8`.
  return unit === "count" ? `${chart.x.label.replace(/ \(.*/, "")} ${text}` : text;
}

function tipRow(series, unit, index) {
  const row = document.createElement("div");
  const mark = Object.assign(document.createElement("i"), { className: `mark ${series.line}` });
  mark.style.color = seriesColor(series.color);
  const value = document.createElement("b");
  value.textContent = show(unit, series.values[index]);
  row.append(mark, sentence("span", series.label), value);
  return row;
}
