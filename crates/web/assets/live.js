// The way to the run that goes on: of an entry of the queue, or the newest that is running.

import { get } from "./api.js";
import { h } from "./dom.js";
import { showRun } from "./run.js";

const LOOK_MS = 500;
const IDLE_MS = 2000;

export async function showLive({ main, rest: [entry], signal }) {
  const status = h("p", { role: "status" });
  main.append(h("h1", {}, "Live"), status);
  const look = async () => {
    const { entries } = await get("/api/queue", signal);
    if (!entry) return running(entries, signal);
    const found = entries.find(({ id }) => id === entry);
    if (found?.run_id) return found.run_id;
    say(status, found);
    return null;
  };
  for (;;) {
    const id = document.hidden ? null : await look();
    if (signal.aborted) return;
    if (id) {
      // The address then names the run, and going back does not come here again.
      history.replaceState(null, "", `#/run/${encodeURIComponent(id)}`);
      main.replaceChildren();
      await showRun({ main, rest: [id], signal });
      return;
    }
    if (!entry && status.childElementCount === 0) status.append(...nothing());
    await new Promise((done) => setTimeout(done, entry ? LOOK_MS : IDLE_MS));
    if (signal.aborted) return;
  }
}

async function running(entries, signal) {
  const entry = entries.find(({ state, run_id: id }) => state === "running" && id);
  if (entry) return entry.run_id;
  const { runs } = await get("/api/runs?status=running&limit=1", signal);
  return runs[0]?.id ?? null;
}

const nothing = () => [
  "No run goes on. ",
  h("a", { href: "#/build" }, "Start one"),
  ", or look at those that are ",
  h("a", { href: "#/runs" }, "stored"),
  ". A run that is started on the command line appears here by itself.",
];

/** Says what an entry of the queue waits for, or why it came to nothing. */
function say(status, entry) {
  const text = JSON.stringify(entry ?? null);
  if (status.dataset.said === text) return;
  status.dataset.said = text;
  if (!entry) {
    status.replaceChildren("This run is not in the queue any more.");
    return;
  }
  const queue = h("a", { href: "#/queue" }, "queue");
  if (entry.state === "ended") {
    status.replaceChildren(`${entry.title} ended before anything was measured (exit code ${entry.exit_code ?? "unknown"}).`,
      h("pre", { class: "command" }, entry.remarks || "It said nothing."));
  } else if (entry.state === "waiting") {
    status.replaceChildren(`${entry.title} waits in the `, queue,
      entry.waits_for ? ` for ${entry.waits_for}.` : ".");
  } else {
    status.replaceChildren(`${entry.title} is starting: its files are being made.`);
  }
}
