// Finds the current run: the run of a queue entry, or the newest running one.

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
      // Replace the address by that of the run, so that going back skips this view.
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
  "Nothing is running. ",
  h("a", { href: "#/build" }, "Start a run"),
  ", or open a ",
  h("a", { href: "#/runs" }, "stored one"),
  ". Runs started on the command line appear here automatically.",
];

/** Shows why a queue entry waits, or why it failed. */
function say(status, entry) {
  const text = JSON.stringify(entry ?? null);
  if (status.dataset.said === text) return;
  status.dataset.said = text;
  if (!entry) {
    status.replaceChildren("This run is no longer in the queue.");
    return;
  }
  const queue = h("a", { href: "#/queue" }, "queue");
  if (entry.state === "ended") {
    status.replaceChildren(`${entry.title} ended before anything was measured (exit code ${entry.exit_code ?? "unknown"}).`,
      h("pre", { class: "command" }, entry.remarks || "It printed nothing."));
  } else if (entry.state === "waiting") {
    status.replaceChildren(`${entry.title} waits in the `, queue,
      entry.waits_for ? ` for ${entry.waits_for}.` : ".");
  } else {
    status.replaceChildren(`${entry.title} is starting: it creates its files.`);
  }
}
