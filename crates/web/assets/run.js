// One run, live or stored. Both use the same view, so that nothing moves when a run ends, and a
// page opened late shows the same as one opened early.

import { get, ofRun, post, query } from "./api.js";
import { requestOf, startAgain } from "./again.js";
import { showStandings } from "./board.js";
import { sentence, show } from "./charts.js";
import { Course, errors } from "./course.js";
import {
  announce, button, confirmed, duration, failure, h, originOf, startOf, table,
} from "./dom.js";
import { HeatMap } from "./heat.js";
import { isOfLab, labPath, labProgress, labTag } from "./labs.js";
import { OngoingChart, devices, failures, latencies, processor, throughput } from "./over-time.js";
import { Parts } from "./parts.js";
import { edit, tagLink } from "./runs.js";
import { stream } from "./stream.js";
import { Tiles } from "./tiles.js";

const POINTS = 2000;
/** Time between two looks at the lab that the run belongs to. */
const LAB_MS = 3000;
/** Minimum time between two redraws. */
const DRAW_MS = 100;
const CELLS_SHOWN = 500;

export async function showRun({ main, rest: [id], signal }) {
  // Load the intervals before the rest: the stream repeats all events after them, so none is lost.
  const told = await get(query(ofRun(id, "/intervals"), { points: POINTS }), signal);
  const view = await get(ofRun(id), signal);
  const page = new RunPage(main, view.run, signal);
  page.crew = view.crew;
  page.course.takeView(view);
  page.course.takeIntervals(told.cells);
  page.build();
  page.draw();
  page.followLab();
  if (view.run.status === "running") {
    stream(view.run.id, told.next, (name, data) => page.take(name, data), (text) => page.lost(text), signal);
    const timer = setInterval(() => page.progress(), 1000);
    signal.addEventListener("abort", () => clearInterval(timer));
  }
}

class RunPage {
  constructor(main, run, signal) {
    Object.assign(this, { main, run, signal, course: new Course(), timer: null });
    const recolor = () => {
      for (const chart of this.charts) chart.recolor();
      this.heat.draw();
    };
    addEventListener("theme", recolor);
    document.addEventListener("visibilitychange", () => this.changed(), { signal });
    signal.addEventListener("abort", () => {
      removeEventListener("theme", recolor);
      clearTimeout(this.timer);
    });
  }

  get isRunning() {
    return this.run.status === "running";
  }

  build() {
    const { main } = this;
    this.head = h("header");
    this.lab = h("div");
    this.connection = h("p", { class: "remark", role: "status" });
    this.actions = h("div", { class: "actions" });
    this.bar = h("progress", { "aria-label": "Progress" });
    this.time = h("p", { class: "remark" });
    this.progressBox = h("div", { class: "progress" }, this.bar, this.time);
    main.append(this.head, this.lab, this.actions, this.progressBox, this.connection);
    this.verdict = h("section", { "aria-label": "Verdict" });
    this.standing = h("section", { "aria-label": "Board" });
    main.append(this.verdict, this.standing);
    this.tiles = new Tiles(main);
    this.warnings = h("section", { "aria-label": "Warnings" });
    main.append(this.warnings);
    const rows = ["Over time", "Latency", "Devices and CPU"].map((label) =>
      h("section", { class: "figures", "aria-label": label }));
    main.append(...rows);
    const some = (has) => (points) => points.some(({ interval }) => interval && has(interval));
    this.charts = [
      new OngoingChart(rows[0], throughput),
      new OngoingChart(rows[0], latencies),
      new OngoingChart(rows[2], devices, some((it) => it.device)),
      new OngoingChart(rows[2], processor, some((it) => [it.ran_ns, it.pressure_ns].some(Number.isFinite))),
      new OngoingChart(rows[2], failures, some((it) => errors(it) > 0)),
    ];
    this.heat = new HeatMap(rows[1]);
    this.parts = new Parts(main);
    this.cells = h("section", { "aria-label": "Cells" });
    main.append(this.cells, this.cost = h("p", { class: "remark" }));
    this.title();
    this.offer();
    this.warn();
    this.list();
    this.tellCost();
    this.judge();
  }

  /** Shows the verdict of a finished run, which is at the top of its report, and its place on the board. */
  async judge() {
    if (this.isRunning) return;
    showStandings(this.standing, this.run.id, this.signal);
    const address = ofRun(this.run.id, "/page");
    // Errors are ignored: the button that opens the report shows them.
    const answer = await fetch(address, { signal: this.signal }).catch(() => null);
    const page = answer?.ok ? await answer.text() : "";
    // The policy of this page refuses styles in markup, but not those that a script sets.
    const header = page.slice(page.indexOf("<header"), page.indexOf("</header>")).replaceAll(" style=", " data-style=");
    const { body } = new DOMParser().parseFromString(header, "text/html");
    for (const styled of body.querySelectorAll("[data-style]")) styled.style.cssText = styled.dataset.style;
    const parts = [...body.querySelectorAll("header > *")];
    const [first, last] = ["h1", "dl.facts:not(.verdict)"].map((it) => parts.findIndex((part) => part.matches(it)));
    // The first line below the title names the target, as this page does.
    const verdict = parts.slice(first + 1, last).filter((part, index) => index > 0 || !part.matches(".where"));
    for (const link of verdict.flatMap((part) => [...part.querySelectorAll("a[href^='#']")])) {
      link.setAttribute("href", address + link.getAttribute("href"));
    }
    this.verdict.replaceChildren(...verdict);
  }

  title() {
    const { run } = this;
    const host = this.crew?.place ?? run.host;
    const facts = [run.targets.join(", "), run.file_systems.join(", "), host].filter(Boolean).join(" · ");
    const name = run.workloads.join(", ") || "Run";
    document.title = `${name} – pgmeter`;
    this.head.replaceChildren(
      h("h1", {}, name),
      h("p", { class: "where" }, facts || "unknown target", " · ", startOf(run), originOf(run)),
      h("p", {}, h("span", { class: `status ${run.status}` }, run.status), ` · ${run.short_id} `,
        run.tags.filter((tag) => !isOfLab(tag)).map(tagLink),
        run.note ? h("span", { class: "note" }, ` ${run.note}`) : null),
    );
  }

  /**
   * Shows the lab of the run with its progress until it ends. If the run was watched until its end,
   * the page continues with the next run of the lab.
   */
  async followLab() {
    const tag = labTag(this.run);
    if (!tag) return;
    const wasLive = this.isRunning;
    for (;;) {
      // Errors are ignored: the lab is shown with the next answer.
      const found = await get(query("/api/runs", { tags: tag, fold: true, limit: 1 }), this.signal).catch(() => null);
      if (this.signal.aborted) return;
      const [newest, lab] = [found?.runs[0], found?.labs[0]];
      if (lab) {
        const isNext = newest.id !== this.run.id && newest.status === "running";
        if (wasLive && isNext && !this.isRunning) {
          location.replace(`#/run/${encodeURIComponent(newest.id)}`);
          return;
        }
        const progress = labProgress(lab, newest, found.running_lab);
        this.lab.replaceChildren(labLine(lab, progress, isNext ? newest : null));
        if (!progress && !this.isRunning) return;
      }
      await new Promise((done) => setTimeout(done, LAB_MS));
      if (this.signal.aborted) return;
    }
  }

  /** Buttons for the actions that the state of the run allows. */
  offer() {
    const id = encodeURIComponent(this.run.id);
    const made = this.isRunning ? [
      button("Stop", () => this.control("stop", "The run is stopping; its results so far are kept.")),
      button("Skip this cell", () => this.control("skip", "Cell skipped; the next one starts.")),
      button("Abort", () => this.abort(), { class: "danger" }),
    ] : [
      h("a", { class: "button primary", href: ofRun(this.run.id, "/page") }, "Open the report"),
      // Imported results have no plan that pgmeter could run.
      ...(this.run.origin ? [] : [
        button("Run again", () => this.again()),
        h("a", { class: "button", href: `#/build?run=${id}` }, "Change and run"),
      ]),
      button("Tags and note", () => this.edit()),
      h("a", { class: "button", href: ofRun(this.run.id, "/record"), download: "" }, "Record"),
      h("a", { class: "button", href: ofRun(this.run.id, "/csv"), download: "" }, "CSV"),
      h("a", { class: "button", href: query("#/compare", { runs: this.run.id }) }, "Compare with published results"),
      // A lab removes its file systems, so no later run has the same target.
      ...(labTag(this.run) ? [] : [h("a", { class: "button", href: query("#/trend", {
        // The cells of a pack have the names of its workloads.
        workloads: JSON.stringify([...new Set([...this.course.done.values()].map(({ workload }) => workload))]), targets: JSON.stringify(this.run.targets), host: this.run.host,
      }) }, "Trend")]),
    ];
    this.actions.replaceChildren(...made);
    this.progressBox.hidden = !this.isRunning;
  }

  async control(deed, said) {
    await this.doing(async () => {
      await post(ofRun(this.run.id, `/${deed}`));
      announce(said);
      this.connection.textContent = said;
    });
  }

  async abort() {
    const text = "This stops the run and removes it from the store with all its results.";
    if (!(await confirmed("Abort this run?", text, "Abort"))) return;
    await this.doing(async () => {
      await post(ofRun(this.run.id, "/abort"));
      announce("Run aborted");
      location.hash = "#/runs";
    });
  }

  async again() {
    await this.doing(async () => {
      const request = await requestOf(this.run);
      if (!request) {
        const error = new Error("this run did not store its workload");
        error.help = "build it again, or drop its file on the Build page";
        throw error;
      }
      const { targets } = request;
      location.hash = targets.length > 0 ? await startAgain(request) : query("#/build", { run: this.run.id });
    });
  }

  async edit() {
    const view = await edit(this.run);
    if (!view) return;
    this.run = view.run;
    this.title();
  }

  /** Runs an action; shows its error below the buttons. */
  async doing(deed) {
    this.wrong?.remove();
    try {
      await deed();
    } catch (error) {
      this.wrong = failure(error);
      this.actions.after(this.wrong);
    }
  }

  /** Processes an event of the stream. */
  take(name, data) {
    const { course } = this;
    const before = course.current;
    switch (name) {
      case "cell-start":
        course.begin(data.position, data.index);
        break;
      case "interval":
        course.interval(data);
        break;
      case "cell-end":
        course.done.set(data.position, data);
        announce(`Cell ${course.done.size} of ${course.count} is complete`);
        this.refetch({ cell: data.position });
        this.list();
        break;
      case "warning":
        if (course.warn(data)) this.warn();
        break;
      case "gap":
        this.refetch({ from: data.from });
        break;
      case "run-end":
        this.end();
        break;
      default:
    }
    // The list marks the running cell.
    if (course.current !== before) this.list();
    this.progress();
    this.changed();
  }

  /** Loads intervals again, because a completed cell has finer ones than the stream sent. */
  async refetch(which) {
    const share = Math.max(60, Math.floor(POINTS / Math.max(1, this.course.count)));
    const points = which.from ? POINTS : share;
    try {
      const told = await get(query(ofRun(this.run.id, "/intervals"), { ...which, points }), this.signal);
      this.course.takeIntervals(told.cells);
      this.changed();
    } catch (error) {
      if (!this.signal.aborted) this.lost(error.message);
    }
  }

  async end() {
    try {
      const view = await get(ofRun(this.run.id), this.signal);
      this.run = view.run;
      this.course.takeView(view);
      announce(`The run is ${this.run.status}; its report can be opened`);
      this.title();
      this.offer();
      this.warn();
      this.list();
      this.judge();
      this.lost("");
      this.changed();
    } catch (error) {
      // The run was aborted here or elsewhere, or the server cannot be reached.
      if (this.signal.aborted) return;
      this.actions.replaceChildren(h("a", { class: "button", href: "#/runs" }, "Stored runs"));
      this.progressBox.hidden = true;
      this.lost(error.status === 404 ? "The run was aborted and removed." : error.message);
    }
  }

  lost(text) {
    this.connection.textContent = text;
  }

  progress() {
    if (!this.isRunning) return;
    const { course } = this;
    const cell = Math.min(course.done.size + 1, course.count);
    const [left, whole] = [course.left(), course.planned.length > 0 ? course.whole() : null];
    this.bar.max = whole || Math.max(1, course.count);
    this.bar.value = whole ? whole - left : course.done.size;
    const measured = course.cells.get(course.current);
    const phase = !measured || course.done.has(course.current) ? "preparing or ramping up" : "measuring";
    const when = left === null ? "it ends when its work is done" : `about ${duration(left)} left`;
    this.time.textContent = `Cell ${cell} of ${course.count}, ${phase} · ${when}`;
  }

  /** Schedules a redraw, unless the page is hidden. */
  changed() {
    if (this.timer || document.hidden) return;
    this.timer = setTimeout(() => {
      requestAnimationFrame(() => {
        this.timer = null;
        if (!this.signal.aborted) this.draw();
      });
    }, DRAW_MS);
  }

  draw() {
    const points = this.course.points();
    const operations = this.course.operations();
    this.tiles.update(points, operations, this.isRunning ? null : this.course.last());
    for (const chart of this.charts) chart.update(this.course, points, operations);
    this.heat.update(points, operations);
    this.parts.update(this.course);
    this.progress();
  }

  warn() {
    const { warnings } = this.course;
    if (warnings.length === 0) {
      this.warnings.replaceChildren();
      return;
    }
    const items = alike(warnings).map(({ code, message, level, cells }) =>
      h("li", { class: level === "severe" ? "severe" : "" }, h("code", { class: "kind" }, code), " ",
        cells.length > 0 ? `cell ${cells.join(", ")}: ` : "", sentence("span", message)));
    this.warnings.replaceChildren(h("div", { class: "warnings" },
      h("h2", {}, items.length === 1 ? "1 warning" : `${items.length} warnings`),
      h("ul", {}, items)));
  }

  /** Table of all cells: completed cells with their results, the others as planned. */
  list() {
    const { done, planned } = this.course;
    const running = this.isRunning ? this.course.running() : null;
    const ended = [...done.values()].sort((one, other) => one.position - other.position);
    const isDone = new Set(ended.map(({ index }) => index));
    const rest = planned.filter(({ index }) => index === running || !isDone.has(index));
    const state = ({ index }) => (index === running ? "running" : this.isRunning ? "planned" : "not run");
    const all = [...ended.map(measured), ...rest.map((cell) => waits(cell, state(cell)))];
    const heads = ["Cell", "Queue depth", "Workers", "Repetition", "Status", "Per second", "Bandwidth", "Median", "99 %", "Slowest", "Errors"];
    const more = all.length > CELLS_SHOWN ? h("p", { class: "remark" }, `${all.length - CELLS_SHOWN} more cells are in the report.`) : "";
    const made = table("Cells", heads, h("tbody", {}, all.slice(0, CELLS_SHOWN)));
    this.cells.replaceChildren(h("h2", {}, "Cells"), made, more);
  }

  /** Shows the server's CPU time, because observing a run affects it. */
  async tellCost() {
    // Errors are ignored: the user may have left the page, and the line is optional.
    const facts = await get("/api", this.signal).catch(() => null);
    if (!facts) return;
    const { own_cpu_ns: cpu, up_ns: up } = facts;
    const percent = ((100 * cpu) / Math.max(1, up)).toFixed(2);
    this.cost.textContent = `This server has used ${percent} % of one CPU since it started. ` +
      "Each open live page adds a little load: close those that you do not need.";
  }
}

/** Links from a run to its lab. `current` is the running run, if it is another one. */
function labLine(lab, progress, current) {
  const count = lab.run_count === 1 ? "1 run" : `all ${lab.run_count} runs`;
  return h("div", { class: "lab-line" },
    progress ? h("span", {}, "Lab: ", progress) : "This run belongs to a lab.",
    lab.id ? h("a", { class: "button primary", href: labPath(lab.id, "/page") }, "Open the lab's table") : "",
    current ? h("a", { class: "button", href: `#/run/${encodeURIComponent(current.id)}` }, "Go to the running run") : "",
    h("a", { class: "button", href: query("#/runs", { tags: lab.tag }) }, `List ${count}`));
}

/** Merges identical warnings of several cells. */
function alike(warnings) {
  const all = new Map();
  for (const warning of warnings) {
    const key = `${warning.code} ${warning.message}`;
    if (!all.has(key)) all.set(key, { ...warning, cells: [] });
    if (typeof warning.cell === "number") all.get(key).cells.push(warning.cell + 1);
  }
  return [...all.values()];
}

function measured(cell) {
  const { total } = cell;
  const { percentiles_ns: at, max_ns: most } = total.latency;
  const phase = cell.phase === "measure" ? "" : `${cell.phase}: `;
  return h("tr", {},
    h("th", { scope: "row" }, phase + (cell.access_spec ?? cell.workload)),
    [cell.iodepth, cell.workers, cell.repetition + 1].map((number) => h("td", {}, String(number))),
    h("td", { class: "name" }, h("span", { class: `status ${cell.status}` }, cell.status)),
    h("td", {}, show("per_second", total.per_second)),
    h("td", {}, show("bytes_per_second", total.bytes > 0 ? total.bytes_per_second : null)),
    [at["50"], at["99"], most].map((ns) => h("td", {}, show("nanoseconds", ns))),
    h("td", { class: total.errors > 0 ? "severe" : "" }, String(total.errors)));
}

function waits(cell, state) {
  return h("tr", { class: "planned" },
    h("th", { scope: "row" }, cell.title),
    [cell.iodepth, cell.workers, (cell.repetition ?? 0) + 1].map((number) => h("td", {}, String(number ?? "–"))),
    h("td", { class: "name" }, state === "running" ? h("span", { class: "status running" }, state) : state),
    Array.from({ length: 6 }, () => h("td", {}, "–")));
}
