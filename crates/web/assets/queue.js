// The queue of runs: running, waiting and ended entries, in order.

import { get, put, query, remove } from "./api.js";
import { sentence } from "./charts.js";
import { announce, button, confirmed, failure, h, localTime, table } from "./dom.js";
import { labPath, labProgress } from "./labs.js";

const LOOK_MS = 1000;
/** The server compares at most this many runs at once. */
const RUNS_MAX = 32;

export async function showQueue({ main, signal }) {
  const view = { frame: h("div"), wrong: h("div"), shown: "" };
  main.append(h("h1", {}, "Queue"),
    h("p", {}, "Runs start one at a time, even on different targets, so that they do not disturb each other. " +
      "They wait for any other run of this store to end, and keep running if you close this page or stop the server."),
    view.wrong, view.frame);
  take(view, await load(signal));
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try {
      take(view, await load(signal));
    } catch {
      // The next tick asks again.
    }
  }, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** The queue, with the progress of its running lab. */
async function load(signal) {
  const queue = await get("/api/queue", signal);
  const entry = queue.entries.find(({ state, lab }) => state === "running" && lab);
  if (!entry) return queue;
  // Only one run is active at a time, so the newest one belongs to the lab.
  const { runs, labs, running_lab: running } = await get("/api/runs?fold=true&limit=1", signal);
  const isIt = running?.entry_id === entry.id && labs[0]?.tag === running.tag;
  return { ...queue, labOf: isIt ? { lab: labs[0], newest: runs[0], running } : null };
}

/** Shows a queue, unless it is unchanged. */
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
    ? button("Resume queue", () => change(view, put("/api/queue/pause", { is_paused: false }), "Queue resumed"))
    : button("Pause queue", () => change(view, put("/api/queue/pause", { is_paused: true }), "Queue paused"));
  hold.dataset.key = "hold";
  const clear = button("Clear", async () => {
    const text = `This removes ${waiting.length} waiting runs. Stored results stay.`;
    if (await confirmed("Clear the queue?", text, "Clear")) change(view, remove("/api/queue"), "Queue cleared");
  }, { disabled: waiting.length === 0, class: "danger" });
  const said = queue.is_paused ? h("p", { class: "remark" }, "The queue is paused: no waiting run will start.") : "";
  if (queue.starts_none) hold.disabled = true;
  const none = queue.starts_none ? h("p", { class: "remark" }, sentence("span", queue.starts_none)) : "";
  return h("div", {}, h("div", { class: "actions" }, hold, clear), said, none);
}

function list(view, queue, waiting) {
  if (queue.entries.length === 0) {
    return h("p", {}, "The queue is empty. ", h("a", { href: "#/build" }, "Build a run"), ".");
  }
  const rows = queue.entries.map((entry) => row(view, entry, waiting, queue.labOf));
  return table("Queued runs", ["Run", "Targets", "Queued at", "State", "Actions"], h("tbody", {}, rows), { class: "stack" });
}

function row(view, entry, waiting, labOf) {
  const place = waiting.indexOf(entry);
  const move = (by) => {
    const ids = waiting.map(({ id }) => id);
    ids.splice(place + by, 0, ...ids.splice(place, 1));
    change(view, put("/api/queue/order", { ids }), `${entry.title} is now number ${place + by + 1} in the queue`);
  };
  const key = (made, name) => {
    made.dataset.key = `${name}-${entry.id}`;
    return made;
  };
  const takeOut = key(button("Remove", () =>
    change(view, remove(`/api/queue/${encodeURIComponent(entry.id)}`), `${entry.title} removed`),
  { "aria-label": `Remove ${entry.title}` }), "out");
  const actions = [];
  if (place >= 0) {
    actions.push(
      key(button("↑", () => move(-1), { disabled: place === 0, "aria-label": `Run ${entry.title} earlier` }), "up"),
      key(button("↓", () => move(1), { disabled: place === waiting.length - 1, "aria-label": `Run ${entry.title} later` }), "down"),
    );
  }
  if (place >= 0 || entry.state === "ended") actions.push(takeOut);
  if (entry.lab_id) {
    actions.push(h("a", { class: "button", href: labPath(entry.lab_id, "/page") }, "Lab table"));
  } else if (published(entry)) {
    actions.push(h("a", { class: "button", href: published(entry) }, "Compare with published results"));
  }
  const isLab = labOf?.running.entry_id === entry.id;
  const state = isLab ? labProgress(labOf.lab, labOf.newest, labOf.running) : entry.state + code(entry);
  return h("tr", {},
    h("th", { scope: "row" }, h("a", { href: address(entry) }, entry.title)),
    h("td", { class: "name path" }, entry.lab?.target ?? entry.request.targets.join(", ")),
    h("td", { class: "name" }, localTime(entry.added_at)),
    h("td", { class: "name" }, state,
      entry.waits_for ? h("small", { class: "note" }, `for ${entry.waits_for}`) : null,
      entry.remarks ? h("small", { class: "note" }, entry.remarks) : null),
    h("td", { class: "name" }, actions.length > 0 ? h("div", { class: "actions" }, actions) : null));
}

const code = ({ exit_code: number }) => (number ? ` (exit code ${number})` : "");

/** Address of an entry: the results of a lab are its table, or its comparison, not one of its runs. */
function address(entry) {
  if (entry.lab_id) return labPath(entry.lab_id, "/page");
  if (published(entry)) return published(entry);
  return entry.run_id ? `#/run/${encodeURIComponent(entry.run_id)}` : `#/live/${encodeURIComponent(entry.id)}`;
}

/** Comparison of a repeated experiment with its published results; null if there is none. */
function published({ lab, run_ids: ids }) {
  if (!lab?.paper || ids.length === 0) return null;
  return query("#/compare", { runs: ids.slice(0, RUNS_MAX).join(","), published: lab.paper, force: "true" });
}
