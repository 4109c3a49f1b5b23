// Page to choose, change, check and start a workload. The text is authoritative: the form changes
// the text and shows its content.

import { get, post, put, query, remove, targetPaths } from "./api.js";
import { requestOf } from "./again.js";
import { diskTables } from "./disks.js";
import { button, confirmed, duration, failure, field, h, table } from "./dom.js";
import { TextEditor, verdictList } from "./editor.js";
import { WorkloadForm } from "./form.js";
import { TomlText, literal } from "./toml.js";

const CHECK_MS = 350;
const PLAN_SHOWN = 40;
/** Directories shown in the disk list; others can be typed. */
const LISTED_MAX = 24;
const EMPTY = "name = \"mine\"\n";

export async function showBuild({ main, params, signal }) {
  const [facts, { disks }, list, own, keys] = await Promise.all(
    ["/api", "/api/disks", "/api/workloads", "/api/workloads/own", "/api/keys"].map((path) => get(path, signal)));
  const page = new BuildPage(main, { facts, disks, list, own, keys: keys.keys }, signal);
  page.build();
  const run = params.get("run");
  if (run) await page.takeRun(run);
  else if (params.get("own")) await page.takeOwn(params.get("own"));
  else await page.takeBuiltin(params.get("workload") ?? "file-server");
  // The view itself gets the focus once it is shown.
  if (params.get("import")) requestAnimationFrame(() => page.file.focus());
}

class BuildPage {
  constructor(main, known, signal) {
    Object.assign(this, { main, signal, ...known, timer: null, asking: null });
    this.name = "workload.toml";
    this.builtin = null;
    this.otherText = "";
    this.targets = new Set();
    /** Whether the targets are those in the text, instead of those chosen on the page. */
    this.usesWritten = false;
    this.devices = new Set();
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  get isToml() {
    return this.name.endsWith(".toml");
  }

  /** Text shown in the form: the workload, or the settings for a file of another format. */
  get ours() {
    return this.isToml ? this.editor.text : this.otherText;
  }

  set ours(text) {
    if (this.isToml) this.editor.text = text;
    else this.otherText = text;
  }

  build() {
    this.wrong = h("div");
    this.editor = new TextEditor("Text of the workload", () => this.edited());
    this.form = new WorkloadForm(this.keys, () => this.ours, (text) => this.write(text));
    Object.assign(this.form, { places: () => [...this.offered(), ...this.within()], fileName: () => this.name });
    this.form.failed = (error) => this.wrong.replaceChildren(failure(error));
    this.instead = h("div");
    this.work = h("div", {}, h("h2", {}, "Work"), this.form.work);
    this.shown = h("div", {}, h("h2", {}, "Settings"), this.form.settings, this.work);
    this.verdicts = h("div", { "aria-live": "polite" });
    this.plan = h("div");
    this.what = h("p", { class: "where" });
    this.start = button("Start", () => this.begin(), { class: "primary", disabled: true });
    const left = h("div", { class: "pane" }, this.source(), this.instead, h("h2", {}, "Targets"), this.where(), this.shown);
    const right = h("div", { class: "pane" }, h("h2", {}, "Workload file"), this.editor.element, this.keep(),
      h("h2", {}, "Verdict and plan"), this.verdicts, this.plan);
    this.brief = h("span");
    this.main.append(h("h1", {}, "Build"), this.what, this.wrong, h("div", { class: "panes" }, left, right),
      h("div", { class: "actions start" }, this.start, this.brief));
    this.dropping();
  }

  /** Controls to choose a workload. */
  source() {
    const groups = new Map();
    for (const { name, kind, origin, title } of this.list.workloads) {
      if (!groups.has(origin)) groups.set(origin, []);
      groups.get(origin).push(h("option", { value: name }, `${kind === "pack" ? "Pack: " : ""}${title}`));
    }
    const options = [...groups].map(([label, all]) => h("optgroup", { label }, all));
    this.built = h("select", { onchange: () => this.doing(() => this.takeBuiltin(this.built.value)) },
      h("option", { value: "" }, "–"), options);
    this.owned = h("select", { onchange: () => this.owned.value && this.doing(() => this.takeOwn(this.owned.value)) });
    this.listOwn(this.own);
    const kinds = this.list.programs.map(({ files }) => files).filter(Boolean).join(", ");
    const file = h("input", { type: "file", onchange: () => file.files[0] && this.doing(() => this.takeFile(file.files[0])) });
    this.file = file;
    return h("div", { class: "fields source" },
      field("Built-in workload or pack", this.built),
      field("Your workloads", this.owned),
      field("File", file, `TOML, Iometer configuration, ${kinds} or PostMark commands; you can also drop or paste it here.`),
      button("Empty workload", () => this.take(EMPTY, "workload.toml")));
  }

  listOwn({ files }) {
    const names = files.map((file) => file.name ?? file);
    this.owned.replaceChildren(h("option", { value: "" }, names.length > 0 ? "–" : "none saved yet"),
      ...names.map((name) => h("option", { value: name }, name)));
    this.owned.disabled = names.length === 0;
  }

  dropping() {
    const { main, signal } = this;
    main.addEventListener("dragover", (event) => event.preventDefault(), { signal });
    main.addEventListener("drop", (event) => {
      const [file] = event.dataTransfer.files;
      if (!file) return;
      event.preventDefault();
      this.doing(() => this.takeFile(file));
    }, { signal });
    addEventListener("paste", (event) => {
      const [file] = event.clipboardData.files;
      if (file) this.doing(() => this.takeFile(file));
    }, { signal });
  }

  async doing(deed) {
    this.wrong.replaceChildren();
    try {
      await deed();
    } catch (error) {
      if (!this.signal.aborted) this.wrong.replaceChildren(failure(error));
    }
  }

  async takeBuiltin(name) {
    if (!name) return;
    const shown = await post("/api/show", { builtin: name }, this.signal);
    this.built.value = name;
    this.take(shown.toml, `${name}.toml`, name);
  }

  async takeOwn(name) {
    const { text } = await get(`/api/workloads/own/${encodeURIComponent(name)}`, this.signal);
    this.owned.value = name;
    this.saveName.value = name;
    this.take(text, name);
  }

  async takeFile(file) {
    this.take(await file.text(), file.name);
  }

  /** Loads the workload of a stored run, to be changed. */
  async takeRun(id) {
    const { run } = await get(`/api/runs/${encodeURIComponent(id)}`, this.signal);
    const request = await requestOf(run);
    if (!request) {
      const error = new Error("this run did not store its workload");
      error.help = "drop the workload file here";
      this.wrong.replaceChildren(failure(error));
      return this.takeBuiltin("file-server");
    }
    const { workload, settings } = request;
    if (request.targets.length > 0) this.choose(request.targets);
    if (workload.own) await this.takeOwn(workload.own);
    else if (workload.builtin) await this.takeBuiltin(workload.builtin);
    else this.take(workload.text, workload.name ?? "workload.toml");
    this.apply(Object.entries(settings));
  }

  /** Writes settings into the text shown in the form. */
  apply(settings) {
    for (const [key, value] of settings) {
      const doc = TomlText.read(this.ours);
      const kind = this.keys.find(({ table, name }) => (table ? `${table}.${name}` : name) === key)?.value ?? "";
      if (doc) this.ours = doc.set(key.split("."), literal(value, kind));
    }
    this.edited();
  }

  /** Replaces the workload with a text. */
  take(text, name, builtin = null) {
    Object.assign(this, { name, builtin, original: text, otherText: "" });
    this.editor.text = text;
    if (!builtin) this.built.value = "";
    this.title();
    this.usesWritten = this.names().length > 0 && this.names().every((name) => this.isOffered(name));
    this.fill();
    this.check(0);
  }

  title() {
    const changed = this.builtin && this.editor.text !== this.original ? ", changed" : "";
    this.what.textContent = `${this.name}${changed}`;
  }

  /** Called when the user changes the text. */
  edited() {
    this.title();
    this.check(CHECK_MS, true);
  }

  /** Called when the form changes the text. */
  write(text) {
    const had = this.names().length > 0;
    this.ours = text;
    // A user who gives targets to a worker expects the run to use them.
    if (had !== this.names().length > 0) this.usesWritten = !had;
    this.choose();
    this.title();
    this.check(CHECK_MS);
  }

  /** Fills the form from the text. While the text is not valid TOML, the form is disabled. */
  fill() {
    const doc = TomlText.read(this.ours);
    this.work.hidden = !this.isToml;
    this.shown.inert = !doc;
    if (doc) this.form.show(doc);
    if (doc) this.choose();
    const turn = button("Convert to TOML", () => this.doing(() => this.convert()));
    const foreign = [h("p", {}, "This file runs as it is, with these settings. To change its work in the form, convert it to TOML first. "), turn];
    const waits = h("p", { class: "remark" }, "The form is available again once the text is valid TOML.");
    this.instead.replaceChildren(...(this.isToml ? [doc ? "" : waits] : foreign));
  }

  /** The disk list, and controls to choose targets from it. */
  where() {
    this.places = h("div", { class: "places" });
    const { roots, peers, overwrite_devices: devices } = this.facts;
    if (roots.length + peers.length + devices.length === 0) {
      return h("div", {}, h("p", { class: "warnings" }, "The server offers no targets, so it cannot start runs. Start it with ",
        h("code", {}, "pgmeter serve --target DIR"), "."), this.places);
    }
    this.targets.add(this.disks.find((disk) => disk.is_offered).path);
    const known = targetPaths(roots);
    const other = h("input", { placeholder: `${known[0] ?? ""}/…`, list: "targets" });
    const add = button("Add", () => {
      if (!other.value.trim()) return;
      this.pick(other.value.trim(), true);
      other.value = "";
    });
    const list = h("datalist", { id: "targets" }, known.map((value) => h("option", { value })));
    const forDevices = devices.map((device) => {
      const box = h("input", { type: "checkbox", onchange: () => {
        this.devices[box.checked ? "add" : "delete"](device);
        this.check(0);
      } });
      return h("label", { class: "check danger" }, box, ` Overwrite ${device}: all data on it will be lost`);
    });
    return h("div", {}, this.places, h("div", { class: "fields" }, field("Another path below them", other), add), list, forDevices);
  }

  /** What the server offers. */
  offered() {
    return this.disks.filter((disk) => disk.is_offered).map(({ path }) => path);
  }

  /** Directories within what the server offers, as far as a list can show them. */
  within() {
    const offered = this.offered();
    return targetPaths(this.facts.roots).filter((path) => !offered.includes(path)).slice(0, LISTED_MAX);
  }

  isOffered(name) {
    return this.offered().some((path) => name === path || name.startsWith(`${path.replace(/\/$/, "")}/`));
  }

  /** Targets that the text names, of all workers and of single ones. */
  names() {
    const doc = this.isToml ? TomlText.read(this.editor.text) : null;
    if (!doc) return [];
    const own = Array.from({ length: doc.count(["worker"]) }, (_, place) => doc.strings(["worker", place, "targets"]) ?? []);
    return [doc.strings(["targets"]) ?? [], own].flat(2);
  }

  /** Adds or removes a target: on the page, or in the text if its targets are used. */
  pick(path, isWanted) {
    if (this.usesWritten) {
      const doc = TomlText.read(this.editor.text);
      const now = new Set(doc?.strings(["targets"]) ?? []);
      now[isWanted ? "add" : "delete"](path);
      if (doc) this.ours = doc.set(["targets"], now.size > 0 ? JSON.stringify([...now]) : "");
      this.title();
    } else this.targets[isWanted ? "add" : "delete"](path);
    this.choose();
    this.check(0);
  }

  /** Shows the chosen targets. */
  choose(targets = this.targets) {
    this.targets = new Set(targets);
    if (!this.places) return;
    const names = this.names();
    const chosen = this.usesWritten ? new Set(TomlText.read(this.editor.text)?.strings(["targets"]) ?? []) : this.targets;
    const box = h("input", { type: "checkbox", checked: this.usesWritten, name: "written", onchange: () => {
      this.usesWritten = box.checked;
      this.choose();
      this.check(0);
    } });
    const written = names.length === 0 && !this.usesWritten ? "" : h("label", { class: "check" }, box,
      ` Use the targets that the workload names (${[...new Set(names)].slice(0, 3).join(", ")}${new Set(names).size > 3 ? ", …" : ""})`);
    const remark = this.usesWritten ? h("p", { class: "remark" }, "Choose targets here for workers that name none.") : "";
    const isHere = this.places.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
    this.places.replaceChildren(written, remark, ...diskTables(this.disks, [...new Set([...this.within(), ...chosen])], (path) => chosen.has(path), (path, isWanted) => this.pick(path, isWanted)));
    if (isHere) [...this.places.querySelectorAll("input")].find((one) => one.getAttribute("aria-label") === isHere)?.focus();
  }

  /** Controls to save, delete and download the workload. */
  keep() {
    this.saveName = h("input", { placeholder: "mine.toml" });
    const save = button("Save", () => this.doing(() => this.save()));
    const drop = button("Delete", () => this.doing(() => this.erase()), { class: "danger" });
    return h("div", { class: "fields" },
      field("Save as", this.saveName, `in ${this.facts.folder}`), save, drop,
      button("Download as TOML", () => this.doing(() => this.download("toml"))),
      button("Download as .icf", () => this.doing(() => this.download("icf"))),
      button("Download as fio job file", () => this.doing(() => this.download("fio"))));
  }

  async save() {
    const name = this.saveName.value.trim() || this.name;
    const path = `/api/workloads/own/${encodeURIComponent(name)}`;
    const { text } = this.editor;
    try {
      this.listOwn(await put(path, { text, replace: false }));
    } catch (error) {
      if (error.status !== 409) throw error;
      if (!(await confirmed("Replace it?", `A workload ${name} already exists.`, "Replace"))) return;
      this.listOwn(await put(path, { text, replace: true }));
    }
    this.saveName.value = name;
    this.owned.value = name;
    this.name = name;
    this.builtin = null;
    this.title();
  }

  async erase() {
    const name = this.saveName.value.trim();
    if (!name || !(await confirmed("Delete it?", `This deletes ${name} from your workloads.`, "Delete"))) return;
    this.listOwn(await remove(`/api/workloads/own/${encodeURIComponent(name)}`));
  }

  async converted(to) {
    const { text, verdicts } = await post("/api/convert", { workload: this.workload(), to }, this.signal);
    if (text !== null) return text;
    this.say(verdicts);
    const formats = { toml: "TOML", icf: "an Iometer configuration", fio: "a fio job file" };
    throw new Error(`${formats[to]} cannot express this workload: see the verdict`);
  }

  async convert() {
    const text = await this.converted("toml");
    const settings = this.settings();
    this.take(text, this.name.replace(/\.[^.]*$|$/, ".toml"));
    this.apply(Object.entries(settings));
  }

  async download(to) {
    const text = to === "toml" && this.isToml ? this.editor.text : await this.converted(to);
    const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const base = this.name.replace(/\.[^.]*$/, "");
    h("a", { href, download: `${base}.${to}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  /** The workload for a request: by name while a built-in workload is unchanged. */
  workload() {
    const { text } = this.editor;
    if (this.builtin && text === this.original) return { builtin: this.builtin };
    return { text, name: this.name };
  }

  /** Settings for a file of another format. */
  settings() {
    const doc = TomlText.read(this.otherText);
    return Object.fromEntries([...doc.root.entries.keys()].map((key) => [key, doc.typed([key])]));
  }

  request() {
    const targets = this.usesWritten ? [] : [...this.targets];
    return { workload: this.workload(), settings: this.settings(), targets, overwrite_devices: [...this.devices] };
  }

  /** Schedules a check by the server and cancels the previous one. `fills` refills the form after a
   * change that the form did not make. */
  check(delay, fills = false) {
    this.fills ||= fills;
    clearTimeout(this.timer);
    this.asking?.abort();
    this.start.disabled = true;
    this.timer = setTimeout(async () => {
      this.asking = new AbortController();
      const { signal } = this.asking;
      if (this.fills) this.fill();
      this.fills = false;
      try {
        const answer = await post("/api/check", this.request(), signal);
        if (signal.aborted || this.signal.aborted) return;
        this.judge(answer);
      } catch (error) {
        if (!signal.aborted && !this.signal.aborted) this.verdicts.replaceChildren(failure(error));
      }
    }, delay);
  }

  judge({ is_understood: isUnderstood, may_start: mayStart, verdicts, plan, planned_ns: planned }) {
    this.say(verdicts);
    this.start.disabled = !mayStart;
    const errors = verdicts.filter(({ severity }) => severity === "error").length;
    this.brief.textContent = errors > 0 ? `${errors} ${errors === 1 ? "error" : "errors"} to fix` : mayStart ? "" : "Choose a target first";
    if (!plan) {
      this.plan.replaceChildren(h("p", { class: "remark" }, isUnderstood ? "It has no plan." : "Fix the errors to see the plan."));
      return;
    }
    const { cells } = plan;
    const time = planned > 0 ? `, about ${duration(planned / 1e9)} without preparation` : "";
    const rows = cells.slice(0, PLAN_SHOWN).map((cell) => h("tr", {},
      h("th", { scope: "row" }, cell.access_spec ?? cell.title ?? "operations"),
      h("td", {}, String(cell.iodepth ?? "–")), h("td", {}, String(cell.workers?.length ?? "–")),
      h("td", {}, String((cell.repetition ?? 0) + 1)),
      h("td", {}, cell.run_time_ns ? duration(cell.run_time_ns / 1e9) : "until done"),
      h("td", { class: "name" }, `${cell.engine ?? ""} ${cell.cache ?? ""}`)));
    const more = cells.length > PLAN_SHOWN ? h("p", { class: "remark" }, `and ${cells.length - PLAN_SHOWN} more`) : "";
    if (mayStart) this.brief.textContent = `${cells.length} ${cells.length === 1 ? "cell" : "cells"}${time}`;
    this.plan.replaceChildren(h("p", {}, `${cells.length} ${cells.length === 1 ? "cell" : "cells"}${time}.`),
      table("Plan", ["Cell", "Queue depth", "Workers", "Repetition", "Time", "I/O"], h("tbody", {}, rows)), more,
      mayStart ? "" : h("p", { class: "remark" }, "To start it from this page, choose targets below the roots of the server."));
  }

  say(verdicts) {
    this.editor.mark(verdicts);
    if (this.isToml) this.form.tell(verdicts);
    this.verdicts.replaceChildren(verdicts.length === 0
      ? h("p", { class: "status" }, "Valid, no warnings.")
      : verdictList(verdicts, this.editor));
  }

  async begin() {
    await this.doing(async () => {
      const entry = await post("/api/runs", this.request());
      location.hash = query(`#/live/${encodeURIComponent(entry.id)}`, {}).slice(1);
    });
    this.wrong.scrollIntoView({ block: "nearest" });
  }
}
