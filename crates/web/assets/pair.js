// Measures a workload on two targets, one after the other, and leads to the comparison.

import { get, post, query, remove, targetPaths } from "./api.js";
import { announce, choice, failure, field, h } from "./dom.js";

const LOOK_MS = 1000;
const REPETITIONS = "5";

export async function showPair({ main, rest, signal }) {
  main.append(h("h1", {}, "Compare two targets"));
  if (rest.length === 2) await follow(main, rest, signal);
  else await starter(main, signal);
}

/** Form for the workload and the targets. */
async function starter(main, signal) {
  const [facts, { workloads }] = await Promise.all(
    ["/api", "/api/workloads"].map((path) => get(path, signal)));
  const paths = targetPaths(facts.roots);
  if (paths.length === 0) {
    main.append(h("p", { class: "warnings" }, "The server offers no targets, so it cannot start runs. Start it with ",
      h("code", {}, "pgmeter serve --target DIR --target DIR"), "."));
    return;
  }
  const workload = choice(workloads.map(({ name, title }) => [name, title]), "oltp", { name: "workload" });
  const target = (name, value) => h("input", { name, value, list: "pair-targets", required: true });
  const targets = [target("a", paths[0]), target("b", facts.roots[1]?.path ?? "")];
  const often = h("input", { name: "repetitions", inputMode: "numeric", value: REPETITIONS, required: true });
  const wrong = h("div");
  const begin = async (event) => {
    event.preventDefault();
    wrong.replaceChildren();
    try {
      const [a, b] = targets.map(({ value }) => value.trim());
      if (a === b) {
        const error = new Error("both targets are the same");
        error.help = "choose two directories, such as one on each disk";
        throw error;
      }
      const order = (path) => post("/api/runs", {
        workload: { builtin: workload.value }, targets: [path], settings: { repetitions: often.value.trim() },
      });
      // B comes first: it is the one that is more likely to be refused, and A is not measured for nothing.
      const second = await order(b);
      const first = await order(a).catch(async (error) => {
        await remove(`/api/queue/${encodeURIComponent(second.id)}`).catch(() => {});
        throw error;
      });
      location.hash = `#/pair/${[first, second].map(({ id }) => encodeURIComponent(id)).join("/")}`;
    } catch (error) {
      wrong.replaceChildren(failure(error));
    }
  };
  main.append(
    h("p", {}, "Measures the workload on both, one after the other, and compares the two with confidence intervals."),
    h("form", { onsubmit: begin },
      h("div", { class: "fields pair" }, field("Workload", workload), field("Target A", targets[0]),
        field("Target B", targets[1]), field("Repetitions", often, "on each target")),
      h("datalist", { id: "pair-targets" }, paths.map((value) => h("option", { value }))),
      wrong, h("div", { class: "actions" }, h("button", { class: "primary" }, "Start"))),
    h("p", { class: "remark" }, "A slow change of the machine between the two runs looks like a difference. " +
      "This command measures the targets alternately, which cancels it:"),
    h("pre", { class: "command" }, "pgmeter compare WORKLOAD --target A --target B"));
}

/** Waits for both runs, then shows the way to their comparison. */
async function follow(main, ids, signal) {
  const status = h("ol", { role: "status" });
  main.append(status);
  for (;;) {
    const { entries } = await get("/api/queue", signal);
    const found = ids.map((id) => entries.find((entry) => entry.id === id));
    status.replaceChildren(...found.map(said));
    const runs = found.map((entry) => (entry?.state === "ended" ? entry.run_id : null));
    if (runs.every(Boolean)) {
      announce("Both runs have ended");
      main.append(h("div", { class: "actions" },
        h("a", { class: "button primary", href: query("#/compare", { runs: runs.join(",") }) }, "Open the comparison")));
      return;
    }
    if (found.some((entry) => !entry || (entry.state === "ended" && !entry.run_id))) {
      main.append(h("p", {}, "There is nothing to compare. ", h("a", { href: "#/pair" }, "Start again")));
      return;
    }
    await new Promise((done) => setTimeout(done, LOOK_MS));
    if (signal.aborted) return;
  }
}

/** One of the two runs, as an item of a list. */
function said(entry) {
  if (!entry) return h("li", {}, "This run is no longer in the queue.");
  const place = entry.request.targets.join(", ");
  const link = entry.run_id
    ? h("a", { href: `#/run/${encodeURIComponent(entry.run_id)}` }, entry.title)
    : entry.title;
  const failed = entry.state === "ended" && !entry.run_id ? `: ${entry.remarks ?? "no run was stored"}` : "";
  return h("li", {}, link, ` on ${place}: ${entry.state}${failed}`);
}
