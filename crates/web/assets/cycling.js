// Iometer's test types: series of cells with growing numbers of workers, targets or requests.

import { choice, field, h } from "./dom.js";

const AXES = { workers: "Workers", targets: "Targets", iodepth: "Queue depth" };
/** The label of each test type in Iometer, and what it varies. */
const TYPES = {
  normal: ["Normal: one run with all workers and targets", []],
  "cycle-targets": ["Cycle targets", ["targets"]],
  "cycle-workers": ["Cycle workers", ["workers"]],
  "increment-targets-parallel": ["Increment targets, in parallel over all workers", ["targets"]],
  "increment-targets-serial": ["Increment targets, one worker after the other", ["targets"]],
  "cycle-workers-and-targets": ["Cycle workers and targets", ["workers", "targets"]],
  "cycle-outstanding-ios": ["Cycle the queue depth (outstanding I/Os)", ["iodepth"]],
  "cycle-outstanding-ios-and-targets": ["Cycle the queue depth and targets", ["targets", "iodepth"]],
};
const SHOWN_MAX = 12;
const USUAL = { workers: [1, 1, "linear"], targets: [1, 1, "linear"], iodepth: [1, 2, "exponential"] };
const DEPTH_END = 32;

/** Test type, and the steps of what it varies. */
export function testSetup(form) {
  const now = form.doc.typed(["test_type"]) || "normal";
  const select = choice(Object.entries(TYPES).map(([value, [text]]) => [value, text]), now, {
    name: "test_type", onchange: () => form.edit((doc) => doc.set(["test_type"], select.value === "normal" ? "" : JSON.stringify(select.value)), "test_type"),
  });
  const varied = TYPES[now]?.[1] ?? [];
  const isWritten = (axis) => form.doc.at(["cycling", axis]) !== undefined;
  const shown = Object.keys(AXES).filter((axis) => varied.includes(axis) || isWritten(axis));
  return h("fieldset", {}, h("legend", {}, "Test setup"), field("Test type", select), form.note(["test_type"]), form.note(["cycling"]),
    shown.map((axis) => steps(form, axis, varied.includes(axis))));
}

function steps(form, axis, isUsed) {
  const table = axis === "iodepth" ? "cycling.iodepth" : "cycling.workers";
  const path = ["cycling", axis];
  const series = h("p", { class: "remark" });
  const show = () => (series.textContent = isUsed ? seriesOf(form.doc, axis) : "This test type does not use these steps.");
  const order = ["start", "end", "step", "kind"];
  const keys = form.keys(table).toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  const row = h("div", { class: "act", oninput: () => queueMicrotask(show), onchange: () => queueMicrotask(show) },
    keys.map((key) => form.inline([...path, key.name], key)));
  show();
  return h("div", {}, h("h4", {}, AXES[axis]), form.note(path), row, series);
}

/** The numbers that the steps yield. */
function seriesOf(doc, axis) {
  const [start, step, kind] = USUAL[axis];
  const value = (key, usual) => Number(doc.typed(["cycling", axis, key]) || usual) || 1;
  const [first, by] = [value("start", start), value("step", step)];
  const grows = (doc.typed(["cycling", axis, "kind"]) || kind) === "linear" || by === 1;
  const end = axis === "iodepth" ? Number(doc.typed(["cycling", axis, "end"]) || DEPTH_END) : Infinity;
  const all = [];
  for (let now = first; now <= end && all.length <= SHOWN_MAX; now = grows ? now + by : now * by) all.push(now);
  const numbers = `${all.slice(0, SHOWN_MAX).join(", ")}${all.length > SHOWN_MAX ? ", …" : ""}`;
  if (all.length === 0) return "No step: the first is beyond the end.";
  return axis === "iodepth" ? `Steps: ${numbers}.` : `Steps: ${numbers}${all.length > SHOWN_MAX ? "" : ", …"} until no ${axis === "workers" ? "worker" : "target"} is added.`;
}
