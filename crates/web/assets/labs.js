// Labs, which measure workloads on newly created file systems, and published experiments, which can
// be repeated. The queue starts both.

import { get, post, query, remove } from "./api.js";
import { sentence } from "./charts.js";
import {
  announce, button, choice, confirmed, duration, failure, field, h, localTime, table,
} from "./dom.js";

/** `true` for the tag of the runs of a single lab. */
export const isLabTag = (tag) => /^lab-\d/.test(tag);

/** `true` for the tags that `pgmeter lab run` gives to its runs. */
export const isOfLab = (tag) => tag === "lab" || isLabTag(tag);

/** Tag of a run's lab, if it belongs to one. */
export const labTag = ({ tags }) => tags.find(isLabTag);

/** The path of a lab in the API. */
export const labPath = (id, what = "") => `/api/labs/${encodeURIComponent(id)}${what}`;

/**
 * Progress of a lab over all its runs; null if it is not running. `newest` is its newest run, and
 * `running` the lab of the queue that is running.
 */
export function labProgress(lab, newest, running) {
  const isOfQueue = running?.tag === lab.tag;
  if (!isOfQueue && newest.status !== "running") return null;
  const status = h("span", { class: "status running" }, "running");
  const expected = isOfQueue ? running.expected_count : null;
  const { ended_count: ended } = lab;
  // A lab on the command line tells nobody how many runs it plans.
  if (expected === null) return h("span", {}, status, h("small", { class: "note" }, `${ended} runs complete`));
  const left = Math.max(0, expected - ended);
  const spent = ended > 0 ? (Date.parse(lab.finished_at) - Date.parse(lab.started_at)) / 1000 / ended : null;
  const when = spent === null ? "" : `, about ${duration(spent * left)} left`;
  return h("span", {}, status,
    h("progress", { max: expected, value: Math.min(ended, expected), "aria-label": "Runs of the lab" }),
    h("small", { class: "note" }, `${ended} of ${expected} runs${when}`));
}

/** Deletes a lab after confirmation; resolves to true if it was deleted. */
export async function eraseLab({ id, title }) {
  if (!(await confirmed("Delete this lab?", `This deletes the table of ${title}. Its runs stay in the store.`, "Delete"))) return false;
  await remove(labPath(id));
  announce("Lab deleted");
  return true;
}

export async function showLabs({ main, signal }) {
  main.append(h("h1", {}, "Labs"),
    h("p", {}, "A lab creates file systems, measures workloads on each of them in turn, and compares them in one table."));
  const frame = h("div");
  main.append(frame);
  await list(frame, signal);
  const [known, found, facts] = await Promise.all(
    ["/api/workloads", "/api/file-systems", "/api"].map((path) => get(path, signal)));
  const workloads = h("select", { multiple: true, size: 6, name: "workloads", required: true },
    known.workloads.map(({ name, title }) => h("option", { value: name, selected: name === "postmark" }, title)));
  main.append(h("h2", {}, "Start a lab"), starter({ found, facts, needsFileSystem: true, repetitions: 5 },
    field("Workloads", workloads, "several with Ctrl or Shift"),
    () => ({ workloads: [...workloads.selectedOptions].map(({ value }) => value) })));
}

export async function showPapers({ main, params, signal }) {
  main.append(h("h1", {}, "Papers"),
    h("p", {}, "Published experiments. You can repeat them here and compare your results with the published ones."));
  const [{ papers }, found, facts] = await Promise.all(
    ["/api/papers", "/api/file-systems", "/api"].map((path) => get(path, signal)));
  const rows = papers.map(({ name, title, source, full_size: size, has_figures: has }) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: `/api/papers/${encodeURIComponent(name)}/page` }, name)),
    h("td", { class: "name" }, title, h("small", { class: "note" }, source)),
    h("td", { class: "name" }, size),
    h("td", { class: "name" }, has ? "yes" : "no"),
    h("td", { class: "name" }, h("a", { class: "button", href: query("#/papers", { paper: name }), "aria-label": `Repeat ${name}` }, "Repeat"))));
  main.append(table("Published experiments", ["Name", "What", "Full size", "Published results", "Repeat"], h("tbody", {}, rows), { class: "stack" }));
  const paper = choice(papers.map(({ name, title }) => [name, `${name}: ${title}`]), params.get("paper") ?? papers[0].name, { name: "paper" });
  const head = h("h2", { tabIndex: -1 }, "Repeat an experiment");
  main.append(head, starter({ found, facts, needsFileSystem: false, repetitions: 1 },
    field("Experiment", paper), () => ({ paper: paper.value })));
  // A link to one experiment scrolls to the form that repeats it.
  if (params.get("paper")) requestAnimationFrame(() => head.scrollIntoView());
}

/** Table of the stored labs. */
async function list(frame, signal) {
  const { labs } = await get("/api/labs", signal);
  if (labs.length === 0) {
    frame.replaceChildren(h("p", { class: "remark" }, "No lab is stored yet."));
    return;
  }
  const rows = labs.map((lab) => {
    const erase = button("Delete", async () => {
      if (await eraseLab(lab)) await list(frame, signal);
    }, { class: "danger", "aria-label": `Delete lab ${lab.short_id}` });
    const few = lab.run_ids.slice(0, 32);
    return h("tr", {},
      h("th", { scope: "row" }, h("a", { href: labPath(lab.id, "/page") }, lab.short_id), h("small", { class: "note" }, localTime(lab.started_at))),
      h("td", { class: "name" }, lab.title), h("td", { class: "name" }, lab.columns.join(", ")),
      h("td", {}, String(lab.run_ids.length)), h("td", { class: "name" }, lab.kernel),
      h("td", { class: "name" }, h("div", { class: "actions" },
        few.length > 0 ? h("a", { class: "button", href: query("#/runs", { search: few[0].slice(0, 15) }) }, "First run") : "",
        h("a", { class: "button", href: labPath(lab.id, "/record"), download: "" }, "Record"), erase)));
  });
  frame.replaceChildren(table("Stored labs", ["Lab", "What", "File systems", "Runs", "Kernel", "Actions"], h("tbody", {}, rows), { class: "stack" }));
}

/** Form to start a lab or an experiment, or a message if no directory is available. */
function starter({ found, facts, needsFileSystem, repetitions }, what, chosen) {
  const places = facts.roots.filter(({ is_directory: is }) => is).map(({ path }) => path);
  if (places.length === 0) {
    return h("p", { class: "warnings" }, "The server offers no directory, so it cannot start labs. Start it with ",
      h("code", {}, "pgmeter serve --target DIR"), ".");
  }
  const can = found.file_systems.filter((one) => one.can_be_made);
  const cannot = found.file_systems.filter((one) => !one.can_be_made);
  const boxes = can.map(({ name, title }) => ({ name, box: h("input", { type: "checkbox" }), title }));
  const target = h("input", { name: "target", value: places[0], list: "lab-places", required: true });
  const size = h("input", { name: "image_size", placeholder: "8GiB" });
  const often = h("input", { name: "repetitions", inputMode: "numeric", placeholder: String(repetitions) });
  const scale = h("input", { name: "scale", inputMode: "decimal", placeholder: "1" });
  const cold = h("input", { type: "checkbox" });
  const wrong = h("div");
  const begin = async (event) => {
    event.preventDefault();
    wrong.replaceChildren();
    const text = ({ value }) => value.trim() || undefined;
    const names = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
    if (needsFileSystem && names.length === 0) {
      const error = new Error("no file system was chosen");
      error.help = "select one or more of them";
      wrong.replaceChildren(failure(error));
      return;
    }
    try {
      const entry = await post("/api/labs", {
        ...chosen(), file_systems: names, target: target.value.trim(), image_size: text(size),
        scale: text(scale), cold: cold.checked, repetitions: text(often) && Number(often.value),
      });
      location.hash = `#/live/${encodeURIComponent(entry.id)}`;
    } catch (error) {
      wrong.replaceChildren(failure(error));
    }
  };
  const none = needsFileSystem && can.length === 0;
  return h("form", { onsubmit: begin },
    h("div", { class: "fields lab" }, what,
      field("Directory", target, "for the images; must be below a root of the server"),
      field("Size of each image", size), field("Repetitions", often), field("Scale", scale, "above 0, at most 1")),
    h("datalist", { id: "lab-places" }, places.map((value) => h("option", { value }))),
    h("fieldset", {}, h("legend", {}, needsFileSystem ? "File systems" : "File systems to create (none: use the directory itself)"),
      h("div", { class: "checks" }, boxes.map(({ name, box, title }) => h("label", { class: "check" }, box, ` ${name}`, h("small", { class: "note" }, ` ${title}`)))),
      missing(cannot)),
    h("label", { class: "check" }, cold, " Drop the kernel's caches before each workload"),
    wrong, h("div", { class: "actions" }, h("button", { class: "primary", disabled: none }, "Start")),
    h("p", { class: "remark" }, "Options of file systems, devices and guests are available only on the command line: ",
      h("code", {}, needsFileSystem ? "pgmeter lab run" : "pgmeter paper run"), "."));
}

/** Requirements of the file systems that cannot be created here. */
function missing(cannot) {
  if (cannot.length === 0) return "";
  const items = cannot.map(({ name, missing: what }) => h("li", {}, h("strong", {}, name), " needs ", sentence("span", what.join(", "))));
  return h("details", {}, h("summary", {}, `${items.length} others cannot be created here`), h("ul", {}, items));
}
