// Table of stored runs and labs, with search, filters, sorting, paging, tags, notes, deletion and
// comparison. A lab is one row; its runs are listed by their tag.

import { get, ofRun, put, query, remove } from "./api.js";
import { show } from "./charts.js";
import {
  announce, button, choice, confirmed, dialog, draggable, droppable, failure, field, h, localTime, originOf, startOf, table, th,
} from "./dom.js";
import { eraseLab, isLabTag, isOfLab, labPath, labProgress } from "./labs.js";

const PAGE = 50;
const REFRESH_MS = 3000;
/** Type of dragged data, so that rows accept nothing else. */
const DRAGGED = "application/x-pgmeter-run";
const STATUSES = [["", "any"], "running", "complete", "interrupted", "failed"];

/** Columns: the server's sort key and the head. */
const COLUMNS = [
  ["started", "Run"],
  ["workload", "Workload"],
  ["target", "Target"],
  ["file_system", "File system"],
  ["status", "Status"],
  ["rate", "Best rate"],
  ["bandwidth", "Best bandwidth"],
  ["cells", "Cells"],
  ["note", "Tags and note"],
];

/** What people come for: the address, the title and what it does. */
const TASKS = [
  ["#/build?workload=quick", "Quick test", "Is my disk fast? Takes about a minute."],
  ["#/build", "Test a workload", "Choose one, change it, and start it."],
  ["#/pair", "Compare two targets", "Measures one after the other, with confidence intervals."],
  ["#/labs", "File systems side by side", "Creates each of them and measures the same work."],
  ["#/build?import=true", "Import", "An Iometer, fio or PostMark file, or your own."],
];

/** Runs selected for a comparison, on any page of the table. */
const ticked = new Map();

export async function showRuns({ main, params, signal }) {
  const asked = Object.fromEntries(params);
  const status = h("p", { class: "remark", role: "status" });
  const bar = h("div", { class: "ticked", hidden: true });
  const frame = h("div");
  const byTag = h("div");
  main.append(h("h1", {}, "Runs"), tasks(), filters(asked), byTag, bar, status, frame);
  const view = { asked, status, bar, frame, signal, shown: "", dragged: null };
  await refresh(view);
  byTag.replaceWith(tagForm(await get("/api/tags", signal)));
  const timer = setInterval(() => {
    // Do not replace rows that the user is reading or operating.
    const isIdle = !document.hidden && !view.dragged && !document.querySelector("dialog, details.more[open]");
    if (isIdle) refresh(view).catch(() => {});
  }, REFRESH_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function tasks() {
  const items = TASKS.map(([href, title, text]) => h("li", {}, h("a", { href }, h("strong", {}, title), h("small", {}, text))));
  return h("ul", { class: "tasks", "aria-label": "Tasks" }, items);
}

/** Goes to the same view with another query. */
function go(asked) {
  const { hash } = new URL(query("#/runs", asked), location.href);
  if (hash === location.hash) return;
  location.hash = hash;
}

function filters(asked) {
  const day = (name) => h("input", { type: "date", name, value: dayOf(asked[name], name) });
  const form = h(
    "form",
    { class: "filters", role: "search", "aria-label": "Runs" },
    field("Search", h("input", {
      type: "search", name: "search", value: asked.search ?? "",
      placeholder: "workload, target, tag, host, note",
    })),
    field("Status", choice(STATUSES, asked.status ?? "", { name: "status" })),
    field("Tags", h("input", { name: "tags", value: asked.tags ?? "", placeholder: "a, b" })),
    field("From", day("since")),
    field("Until", day("until")),
    h("button", {}, "Show"),
    button("Reset", () => go({})),
  );
  const changed = () => {
    const { sort, rising } = asked;
    const given = Object.fromEntries(new FormData(form));
    for (const name of ["since", "until"]) {
      if (!given[name]) continue;
      const day = new Date(`${given[name]}T00:00:00`);
      // Include the whole last day.
      if (name === "until") day.setDate(day.getDate() + 1);
      given[name] = day.toISOString();
    }
    go({ sort, rising, ...given, tags: given.tags.split(/[,\s]+/).filter(Boolean).join(",") });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    changed();
  });
  form.querySelector("select").addEventListener("change", changed);
  return form;
}

/** Form that compares the runs of two tags. */
function tagForm({ tags }) {
  if (tags.length < 2) return "";
  const words = tags.map(({ tag, run_count: count }) => [tag, `${tag} (${count === 1 ? "1 run" : `${count} runs`})`]);
  // The newest tag usually marks the state after a change.
  const [before, after] = [tags[1].tag, tags[0].tag].map((tag) => choice(words, tag));
  const wrong = h("div");
  const compare = (event) => {
    event.preventDefault();
    const error = new Error("both tags are the same");
    error.help = "choose the tag of the runs before the change, and that of the runs after it";
    if (before.value === after.value) wrong.replaceChildren(failure(error));
    else location.hash = query("#/compare", { runs: `tag:${before.value},tag:${after.value}` });
  };
  return h("details", { class: "by-tag" }, h("summary", {}, "Compare two tags"),
    h("form", { class: "actions", onsubmit: compare }, field("Tag before", before), field("Tag after", after),
      h("button", {}, "Compare tags")),
    wrong, h("p", { class: "remark" }, "All runs with a tag are combined: runs of the same work count as repetitions."));
}

/** Day in the browser's time zone; for `until`, the last day that is included. */
function dayOf(text, name) {
  if (!text) return "";
  const day = new Date(text);
  if (name === "until") day.setDate(day.getDate() - 1);
  const parts = [day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0"));
  return [day.getFullYear(), ...parts].join("-");
}

async function refresh(view) {
  const { asked, signal } = view;
  const isInLab = (asked.tags ?? "").split(",").some(isLabTag);
  const page = await get(query("/api/runs", { limit: PAGE, fold: !isInLab, ...asked }), signal);
  const text = JSON.stringify(page);
  if (text === view.shown) return;
  view.shown = text;
  const { total_count: total, matching_count: matching, offset } = page;
  const last = offset + page.runs.length;
  const which = matching === total ? "" : `, of ${total} in all`;
  const noun = page.labs.length > 0 ? "runs and labs" : "runs";
  view.status.textContent = matching === 0
    ? (total === 0 ? "No run is stored yet. Choose a task above." : `None of ${total} runs matches.`)
    : `${offset + 1} to ${last} of ${matching} ${noun}${which}`;
  const focused = document.activeElement?.dataset?.key;
  view.frame.replaceChildren(
    page.runs.length > 0 ? list(view, page) : "",
    pages(view, page),
  );
  if (focused) view.frame.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  tick(view);
}

function list(view, { runs, labs, running_lab: running }) {
  const heads = [th(h("span", { class: "unseen" }, "Compare")), ...COLUMNS.map((it) => head(view, it)),
    th(h("span", { class: "unseen" }, "Actions"))];
  const rows = runs.map((run) => {
    const lab = labs.find(({ tag }) => run.tags.includes(tag));
    return lab ? labRow(view, run, lab, running) : row(view, run);
  });
  return table("Stored runs", heads, h("tbody", {}, rows), { class: "list" });
}

/** A head that sorts by its column; a second click reverses the order. */
function head(view, [sort, text]) {
  const { asked } = view;
  const isBy = (asked.sort ?? "started") === sort;
  const isRising = asked.rising === "true";
  const press = () => {
    const rising = isBy ? !isRising : ["workload", "target", "file_system", "note"].includes(sort);
    go({ ...asked, offset: "", sort, rising: rising ? "true" : "" });
  };
  const mark = isBy ? (isRising ? " ↑" : " ↓") : "";
  const order = isBy ? (isRising ? "ascending" : "descending") : "none";
  const made = button([text, h("span", { "aria-hidden": "true" }, mark)], press, { class: "sort" });
  made.dataset.key = `sort-${sort}`;
  return th(made, { "aria-sort": order });
}

function row(view, run) {
  const box = h("input", {
    type: "checkbox",
    checked: ticked.has(run.id),
    "aria-label": `Compare ${run.short_id}`,
    onchange: () => {
      if (box.checked) ticked.set(run.id, run.short_id);
      else ticked.delete(run.id);
      tick(view);
    },
  });
  box.dataset.key = `tick-${run.id}`;
  const link = h("a", { href: `#/run/${encodeURIComponent(run.id)}` }, run.short_id);
  link.dataset.key = `run-${run.id}`;
  const rate = run.headline ? `${show("per_second", run.headline.per_second)} ${unit(run.headline.of)}` : "–";
  const { bytes_per_second_max: bytes } = run;
  return draggableRow(view, run, h("tr", {},
    h("td", { class: "pick" }, box),
    h("th", { scope: "row" }, link, h("small", { class: "when" }, startOf(run))),
    h("td", { class: "name" }, run.workloads.join(", "), originOf(run)),
    h("td", { class: "name path" }, run.targets.join(", ")),
    h("td", { class: "name" }, run.file_systems.join(", ")),
    h("td", { class: "name" }, h("span", { class: `status ${run.status}` }, run.status), doubtsOf(run)),
    h("td", {}, rate),
    h("td", {}, show("bytes_per_second", bytes || null)),
    h("td", { "data-label": "Cells" }, String(run.cell_count)),
    h("td", { class: "name" }, run.tags.map(tagLink), run.note ? h("small", { class: "note" }, run.note) : null),
    h("td", { class: "more" }, more(view, run)),
  ));
}

/** Number of reasons to doubt the results of a run; nothing if there are none. */
function doubtsOf({ doubts }) {
  const count = doubts.length === 1 ? "1 doubt" : `${doubts.length} doubts`;
  return doubts.length > 0 ? h("small", { class: "note", title: doubts.join(", ") }, count) : null;
}

/**
 * Makes a row draggable onto another one, to compare both. The check boxes do the same for the
 * keyboard and on touch screens.
 */
function draggableRow(view, run, row) {
  draggable(row, DRAGGED, run.id);
  row.addEventListener("dragstart", ({ dataTransfer }) => {
    view.dragged = run.id;
    dataTransfer.effectAllowed = "link";
  });
  row.addEventListener("dragend", () => (view.dragged = null));
  return droppable(row, DRAGGED, (id) => (location.hash = comparison([id, run.id])), () => view.dragged !== run.id);
}

/** Address of a comparison. Ids begin with the start time: the oldest run is the baseline. */
const comparison = (ids) => query("#/compare", { runs: [...ids].sort().join(",") });

/** A lab, whose newest matching run is `run`. */
function labRow(view, run, lab, running) {
  const inner = query("#/runs", { tags: lab.tag });
  const progress = labProgress(lab, run, running);
  const link = h("a", { href: lab.id ? labPath(lab.id, "/page") : inner }, lab.tag.slice(0, "lab-20261121-045905".length));
  link.dataset.key = `run-${lab.tag}`;
  const count = lab.run_count === 1 ? "1 run" : `${lab.run_count} runs`;
  const items = lab.id ? [
    h("a", { href: labPath(lab.id, "/page") }, "Table"),
    h("a", { href: labPath(lab.id, "/record"), download: "" }, "Record (JSON)"),
    button("Delete", () => eraseLab({ id: lab.id, title: lab.title }).then((done) => done && refresh(view)), { class: "danger" }),
  ] : [];
  return h("tr", {},
    h("td", { class: "pick" }),
    h("th", { scope: "row" }, link, h("small", { class: "when" }, localTime(lab.started_at))),
    h("td", { class: "name" }, lab.workloads.join(", "), h("small", { class: "note" }, "lab")),
    h("td", { class: "name" }),
    h("td", { class: "name" }, lab.file_systems.join(", ")),
    h("td", { class: "name" }, progress ?? h("span", { class: `status ${run.status}` }, run.status)),
    h("td", {}, h("a", { href: inner }, count)),
    h("td", {}),
    h("td", {}),
    h("td", { class: "name" }, run.tags.filter((tag) => !isOfLab(tag)).map(tagLink),
      lab.title ? h("small", { class: "note" }, lab.title) : null),
    h("td", { class: "more" }, menu(lab.tag, [h("a", { href: inner }, "Its runs"), ...items])),
  );
}

/** Link to the runs with a tag. */
export const tagLink = (tag) => h("a", { class: "tag", href: query("#/runs", { tags: tag }) }, tag);

/** Unit of the headline rate. */
export function unit(of) {
  return { requests: "IOPS", bytes: "B/s", operations: "operations/s", transactions: "transactions/s" }[of];
}

/** Menu of actions for a run. */
function more(view, run) {
  return menu(run.short_id, [
    h("a", { href: ofRun(run.id, "/page") }, "Report"),
    h("a", { href: ofRun(run.id, "/summary") }, "Summary on one sheet"),
    h("a", { href: ofRun(run.id, "/record"), download: "" }, "Record (JSON)"),
    h("a", { href: ofRun(run.id, "/csv"), download: "" }, "Table (CSV)"),
    button("Tags and note", () => edit(run).then((done) => done && refresh(view))),
    button("Delete", () => erase(view, run), { class: "danger" }),
  ]);
}

function menu(name, items) {
  const summary = h("summary", { "aria-label": `More of ${name}` }, "More");
  const made = h("details", { class: "more" }, summary, h("div", { class: "menu" }, items));
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    made.open = false;
    summary.focus();
  });
  made.addEventListener("focusout", (event) => {
    if (!made.contains(event.relatedTarget)) made.open = false;
  });
  return made;
}

/** Edits tags and note; resolves to the changed run, or null if canceled. */
export function edit(run) {
  return dialog(`Tags and note of ${run.short_id}`, (end) => {
    const tags = h("input", { value: run.tags.join(", "), autofocus: true });
    const note = h("textarea", { rows: 3, value: run.note });
    const wrong = h("div");
    const save = async (event) => {
      event.preventDefault();
      const words = tags.value.split(",").map((word) => word.trim()).filter(Boolean);
      try {
        end(await put(ofRun(run.id, "/notes"), { tags: words, note: note.value }));
      } catch (error) {
        wrong.replaceChildren(failure(error));
      }
    };
    return h("form", { onsubmit: save }, field("Tags, separated by commas", tags), field("Note", note), wrong,
      h("div", { class: "actions" }, h("button", { class: "primary" }, "Save"),
        button("Cancel", () => end(null))));
  });
}

async function erase(view, run) {
  const text = `Run ${run.short_id} of ${run.workloads.join(", ")} is deleted with all its results.`;
  if (!(await confirmed("Delete this run?", text, "Delete"))) return;
  try {
    await remove(ofRun(run.id));
    ticked.delete(run.id);
    announce(`${run.short_id} deleted`);
    await refresh(view);
  } catch (error) {
    view.frame.prepend(failure(error));
  }
}

/** Shows the actions for the selected runs. */
function tick(view) {
  const { bar } = view;
  bar.hidden = ticked.size === 0;
  const names = [...ticked.values()].join(", ");
  const compare = ticked.size > 1
    ? h("a", { class: "button primary", href: comparison(ticked.keys()) }, `Compare ${ticked.size} runs`)
    : h("span", {}, "Select another run to compare the two, or drag one row onto another.");
  const clear = button("Clear selection", () => {
    ticked.clear();
    for (const box of view.frame.querySelectorAll("td.pick input")) box.checked = false;
    tick(view);
  });
  bar.replaceChildren(h("span", {}, `Selected: ${names}`), compare, clear);
}

function pages(view, { offset, matching_count: matching }) {
  if (matching <= PAGE) return "";
  const turn = (by) => go({ ...view.asked, offset: Math.max(0, offset + by) || "" });
  return h("div", { class: "actions" },
    button("Earlier page", () => turn(-PAGE), { disabled: offset === 0 }),
    button("Later page", () => turn(PAGE), { disabled: offset + PAGE >= matching }));
}
