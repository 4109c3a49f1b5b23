// The queue of runs: what goes on, what waits, and in which order.

import { get, put, query, remove } from "./api.js";
import { sentence } from "./charts.js";
import { announce, button, confirmed, failure, h, localTime, table } from "./dom.js";

const LOOK_MS = 1000;
/** No more runs are compared at once. */
const RUNS_MAX = 32;

export async function showQueue({ main, signal }) {
  const view = { frame: h("div"), wrong: h("div"), shown: "" };
  main.append(h("h1", {}, "Queue"),
    h("p", {}, "Runs start one at a time, once no other run of this store goes on: on other targets, too, " +
      "since two that measure at once share processors and memory, and neither has its own figures. They are " +
      "processes of their own: they go on when this page is closed or the server ends."),
    view.wrong, view.frame);
  take(view, await get("/api/queue", signal));
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try {
      take(view, await get("/api/queue", signal));
    } catch {
      // It is asked again.
    }
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Shows a queue, unless it is shown already. */
function take(view, queue) {
  const text = JSON.stringify(queue);
  if (text === view.shown) return;
  view.shown = text;
  const focused = document.activeElement?.dataset?.key;
  const waiting = queue.entries.filter(({ state }) => state === "waiting");
  view.frame.replaceChildren(controls(view, queue, waiting), list(view, queue, waiting));
  if (focused) view.frame.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

async function change(view, asked, said) {
  view.wrong.replaceChildren();
  try {
    take(view, await asked);
    announce(said);
  } catch (error) {
    view.wrong.replaceChildren(failure(error));
  }
}

function controls(view, queue, waiting) {
  const hold = queue.is_paused
    ? button("Let them go on", () => change(view, put("/api/queue/pause", { is_paused: false }), "The queue goes on"))
    : button("Hold those that wait", () => change(view, put("/api/queue/pause", { is_paused: true }), "The queue is held"));
  hold.dataset.key = "hold";
  const clear = button("Clear", async () => {
    const text = `${waiting.length} runs that wait are taken out. What was measured stays.`;
    if (await confirmed("Clear the queue?", text, "Clear")) change(view, remove("/api/queue"), "The queue is clear");
  }, { disabled: waiting.length === 0, class: "danger" });
  const said = queue.is_paused ? h("p", { class: "remark" }, "The queue is held: no run that waits is started.") : "";
  if (queue.starts_none) hold.disabled = true;
  const none = queue.starts_none ? h("p", { class: "remark" }, sentence("span", queue.starts_none)) : "";
  return h("div", {}, h("div", { class: "actions" }, hold, clear), said, none);
}

function list(view, queue, waiting) {
  if (queue.entries.length === 0) {
    return h("p", {}, "No run was asked for. ", h("a", { href: "#/build" }, "Build one"), ".");
  }
  const rows = queue.entries.map((entry) => row(view, entry, waiting));
  return table("Runs that were asked for", ["Run", "Targets", "Asked for", "State", "Actions"], h("tbody", {}, rows), { class: "stack" });
}

function row(view, entry, waiting) {
  const place = waiting.indexOf(entry);
  const move = (by) => {
    const ids = waiting.map(({ id }) => id);
    ids.splice(place + by, 0, ...ids.splice(place, 1));
    change(view, put("/api/queue/order", { ids }), `${entry.title} is number ${place + by + 1} of those that wait`);
  };
  const key = (made, name) => {
    made.dataset.key = `${name}-${entry.id}`;
    return made;
  };
  const takeOut = key(button("Take out", () =>
    change(view, remove(`/api/queue/${encodeURIComponent(entry.id)}`), `${entry.title} is taken out`),
  { "aria-label": `Take out ${entry.title}` }), "out");
  const actions = [];
  if (place >= 0) {
    actions.push(
      key(button("↑", () => move(-1), { disabled: place === 0, "aria-label": `Run ${entry.title} earlier` }), "up"),
      key(button("↓", () => move(1), { disabled: place === waiting.length - 1, "aria-label": `Run ${entry.title} later` }), "down"),
    );
  }
  if (place >= 0 || entry.state === "ended") actions.push(takeOut);
  if (entry.lab_id) {
    actions.push(h("a", { class: "button", href: `/api/labs/${encodeURIComponent(entry.lab_id)}/page` }, "Table of the lab"));
  } else if (entry.lab?.paper && entry.run_ids.length > 0) {
    const asked = { runs: entry.run_ids.slice(0, RUNS_MAX).join(","), published: entry.lab.paper, force: "true" };
    actions.push(h("a", { class: "button", href: query("#/compare", asked) }, "Beside the publication"));
  }
  const link = entry.run_id ? `#/run/${encodeURIComponent(entry.run_id)}` : `#/live/${encodeURIComponent(entry.id)}`;
  const code = entry.exit_code ? ` (exit code ${entry.exit_code})` : "";
  return h("tr", {},
    h("th", { scope: "row" }, h("a", { href: link }, entry.title)),
    h("td", { class: "name path" }, entry.lab?.target ?? entry.request.targets.join(", ")),
    h("td", { class: "name" }, localTime(entry.added_at)),
    h("td", { class: "name" }, entry.state + code,
      entry.waits_for ? h("small", { class: "note" }, `for ${entry.waits_for}`) : null,
      entry.remarks ? h("small", { class: "note" }, entry.remarks) : null),
    h("td", { class: "name" }, actions.length > 0 ? h("div", { class: "actions" }, actions) : null));
}
