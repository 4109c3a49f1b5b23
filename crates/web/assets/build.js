// A workload is chosen, changed, checked while it changes, and started. The text is what counts: the
// form beside it changes the text, and shows what the text says.

import { get, post, put, query, remove } from "./api.js";
import { requestOf } from "./again.js";
import { button, choice, confirmed, duration, failure, field, h, table } from "./dom.js";
import { TextEditor, verdictList } from "./editor.js";
import { mixEditor } from "./mix.js";
import { hasTable, keyText, literal, typed, withKey, withSpecs } from "./toml.js";

const CHECK_MS = 350;
const PLAN_SHOWN = 40;
/** Keys with a field of their own: what stands there, and what somebody could write. */
const FIELDS = [
  ["iodepth", "Queue depths", "1, 8"],
  ["workers", "Workers", "1"],
  ["run_time", "Run time", "10s"],
  ["ramp_time", "Ramp time", "2s"],
  ["repetitions", "Repetitions", "1"],
  ["size", "Size of the files", "1GiB"],
];
/** Programs of work on files whose options are a table. */
const PROGRAMS = ["postmark", "fs_mark", "create_remove", "lat_fs"];
const EMPTY = "name = \"mine\"\n\n[[access_spec]]\nname = \"Mine\"\n\n[[access_spec.line]]\nsize = \"4KiB\"\nread = 70\nrandom = 100\n";

export async function showBuild({ main, params, signal }) {
  const [facts, list, own, keys] = await Promise.all(
    ["/api", "/api/workloads", "/api/workloads/own", "/api/keys"].map((path) => get(path, signal)));
  const page = new BuildPage(main, { facts, list, own, keys: keys.keys }, signal);
  page.build();
  const run = params.get("run");
  if (run) await page.takeRun(run);
  else if (params.get("own")) await page.takeOwn(params.get("own"));
  else await page.takeBuiltin(params.get("workload") ?? "file-server");
}

/** A default that fits into a field. */
const short = (text) => (text && text.length <= 18 ? text.replaceAll("`", "") : undefined);

class BuildPage {
  constructor(main, known, signal) {
    Object.assign(this, { main, signal, ...known, timer: null, asking: null, specs: [] });
    this.name = "workload.toml";
    this.builtin = null;
    this.targets = new Set();
    this.devices = new Set();
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  get isToml() {
    return this.name.endsWith(".toml");
  }

  build() {
    this.wrong = h("div");
    this.editor = new TextEditor("Text of the workload", () => this.edited());
    this.form = h("div", { class: "fields" });
    this.mix = h("div", { class: "specs" });
    this.verdicts = h("div", { "aria-live": "polite" });
    this.plan = h("div");
    this.what = h("p", { class: "where" });
    this.start = button("Start", () => this.begin(), { class: "primary", disabled: true });
    const left = h("div", { class: "pane" }, this.source(), h("h2", {}, "Settings"), this.form,
      this.more(), h("h2", {}, "Work"), this.mix, h("h2", {}, "Targets"), this.where());
    const right = h("div", { class: "pane" }, h("h2", {}, "The same as a file"), this.editor.element, this.keep(),
      h("h2", {}, "Verdict and plan"), this.verdicts, this.plan, h("div", { class: "actions" }, this.start));
    this.main.append(h("h1", {}, "Build"), this.what, this.wrong, h("div", { class: "panes" }, left, right));
    this.dropping();
  }

  /** Where workloads come from. */
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
    return h("div", { class: "fields source" },
      field("Built-in workload or pack", this.built),
      field("Your own", this.owned),
      field("File", file, `TOML, Iometer configuration, ${kinds}, PostMark commands; it can also be dropped or pasted here.`),
      button("Empty workload", () => this.take(EMPTY, "workload.toml")));
  }

  listOwn({ files }) {
    const names = files.map((file) => file.name ?? file);
    this.owned.replaceChildren(h("option", { value: "" }, names.length > 0 ? "–" : "none is saved yet"),
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

  /** What a stored run was started with, to be changed. */
  async takeRun(id) {
    const { run } = await get(`/api/runs/${encodeURIComponent(id)}`, this.signal);
    const request = await requestOf(run);
    if (!request) {
      const error = new Error("this run did not keep its workload");
      error.help = "drop the file here";
      this.wrong.replaceChildren(failure(error));
      return this.takeBuiltin("file-server");
    }
    const { workload, settings } = request;
    if (request.targets.length > 0) this.choose(request.targets);
    if (workload.own) await this.takeOwn(workload.own);
    else if (workload.builtin) await this.takeBuiltin(workload.builtin);
    else this.take(workload.text, workload.name ?? "workload.toml");
    if (!this.isToml) return;
    let { text } = this.editor;
    for (const [key, value] of Object.entries(settings)) text = withKey(text, key, literal(value));
    this.editor.text = text;
    this.edited();
  }

  /** Takes a text as the workload. */
  take(text, name, builtin = null) {
    Object.assign(this, { name, builtin, original: text });
    this.editor.text = text;
    if (!builtin) this.built.value = "";
    this.title();
    this.fields();
    this.mix.replaceChildren();
    this.check(0, true);
  }

  title() {
    const changed = this.builtin && this.editor.text !== this.original ? ", changed" : "";
    this.what.textContent = `${this.name}${changed}`;
  }

  /** Somebody typed into the text. */
  edited() {
    this.title();
    this.check(CHECK_MS, true);
  }

  /** The form changed the text. */
  write(text) {
    this.editor.text = text;
    this.title();
    this.check(CHECK_MS);
  }

  /** Fills the form from the text, which is known to be right. */
  async fill() {
    this.fields();
    const { text } = this.editor;
    if (!this.isToml) {
      const turn = button("Turn it into TOML", () => this.doing(() => this.convert()));
      this.mix.replaceChildren(h("p", {}, "This file is run as it is. To change it in the form, turn it into TOML first. "), turn);
      return;
    }
    const shown = await post("/api/show", { text, name: this.name }, this.signal);
    if (this.editor.text !== text) return;
    const isPlain = shown.workloads.length === 1 && !/^\s*\[\[\s*part/m.test(text) && shown.workloads[0].use === null;
    const specs = isPlain ? shown.workloads[0].access_spec ?? [] : [];
    if (!isPlain) {
      this.mix.replaceChildren(h("p", { class: "remark" }, `A pack of ${shown.workloads.length} workloads: change their requests in the text. Settings above hold for all parts that do not say otherwise.`));
    } else if (specs.length === 0) {
      this.mix.replaceChildren(...this.program());
    } else {
      this.specs = specs;
      mixEditor(this.mix, specs, () => this.write(withSpecs(this.editor.text, this.specs)));
    }
  }

  /** A program of work on files by its options, where the text has a table of them. */
  program() {
    const name = PROGRAMS.find((one) => hasTable(this.editor.text, one));
    if (!name) return [h("p", { class: "remark" }, "This workload is made of operations on files, which are changed in the text.")];
    const made = this.keys.filter(({ table }) => table === name).map((about) => {
      const { name: key, words, default: usual, meaning } = about;
      const now = typed(keyText(this.editor.text, key, name));
      const choices = words.length > 0 ? words : about.value === "`true` or `false`" ? ["true", "false"] : [];
      const write = (text) => this.write(withKey(this.editor.text, key, text, name));
      const isKnown = now === "" || choices.includes(now);
      const control = choices.length > 0 && isKnown
        ? choice([["", short(usual) ? `default: ${short(usual)}` : "default"], ...choices], now, {
          // Also a version, which looks like a number, is a word.
          onchange: () => write(words.length > 0 && control.value ? JSON.stringify(control.value) : control.value),
        })
        : h("input", { value: now, placeholder: short(usual), oninput: () => write(literal(control.value)) });
      control.name = `${name}.${key}`;
      const more = usual && !short(usual) ? ` Default: ${usual}.` : "";
      return field(key.replaceAll("_", " "), control, meaning.replaceAll("`", "") + more.replaceAll("`", ""));
    });
    return [h("h3", {}, `Options of ${name.replaceAll("_", "-")}`), h("div", { class: "fields options" }, made)];
  }

  fields() {
    const { text } = this.editor;
    const made = FIELDS.map(([key, label, usual]) => {
      const about = this.keys.find(({ table, name }) => table === "" && name === key);
      const input = h("input", {
        value: typed(keyText(text, key)), placeholder: short(about?.default) ?? usual, disabled: !this.isToml, title: about?.meaning,
        oninput: () => this.write(withKey(this.editor.text, key, literal(input.value))),
      });
      input.name = key;
      return field(label, input);
    });
    const words = ["engine", "cache"].map((key) => {
      const about = this.keys.find(({ table, name }) => table === "" && name === key);
      const select = choice([["", `default${short(about?.default) ? `: ${short(about.default)}` : ""}`], ...(about?.words ?? [])], typed(keyText(text, key)), {
        disabled: !this.isToml, title: about?.meaning,
        onchange: () => this.write(withKey(this.editor.text, key, literal(select.value))),
      });
      select.name = key;
      return field(key[0].toUpperCase() + key.slice(1), select);
    });
    this.form.replaceChildren(...made, ...words);
  }

  /** Any other key of a workload, with its meaning. */
  more() {
    const shown = new Set([...FIELDS.map(([key]) => key), "engine", "cache", "access_spec", "part", "targets"]);
    const others = this.keys.filter(({ table, name, value }) => table === "" && !shown.has(name) && !value.includes("table"));
    const meaning = h("p", { class: "remark" });
    const value = h("input", { "aria-label": "Value" });
    const select = choice([["", "choose a key"], ...others.map(({ name }) => name)], "", { onchange: () => {
      const about = others.find(({ name }) => name === select.value);
      meaning.textContent = about ? about.meaning + (about.default ? ` Default: ${about.default}.` : "") : "";
      value.value = about ? typed(keyText(this.editor.text, about.name)) : "";
    } });
    const set = () => select.value && this.isToml && this.write(withKey(this.editor.text, select.value, literal(value.value)));
    return h("details", {}, h("summary", {}, "Every other setting"),
      h("div", { class: "fields" }, field("Key", select), field("Value", value), button("Set", set)), meaning);
  }

  /** Targets beneath the roots that the server was given. */
  where() {
    this.places = h("div", { class: "places" });
    const { roots, overwrite_devices: devices } = this.facts;
    if (roots.length === 0) {
      return h("p", { class: "warnings" }, "The server was given no targets, so it starts nothing: run ",
        h("code", {}, "pgmeter serve --target DIR"), ".");
    }
    this.known = roots.flatMap((root) => [root.path, ...root.directories.map((path) => path.startsWith("/") ? path : `${root.path}/${path}`)]);
    this.targets.add(roots[0].path);
    this.choose([...this.targets]);
    const other = h("input", { placeholder: `${roots[0].path}/…`, list: "targets" });
    const add = button("Add", () => {
      if (!other.value.trim()) return;
      this.choose([...this.targets, other.value.trim()]);
      other.value = "";
      this.check(0);
    });
    const list = h("datalist", { id: "targets" }, this.known.map((value) => h("option", { value })));
    const forDevices = devices.map((device) => {
      const box = h("input", { type: "checkbox", onchange: () => {
        this.devices[box.checked ? "add" : "delete"](device);
        this.check(0);
      } });
      return h("label", { class: "check danger" }, box, ` Overwrite ${device}: everything on it is lost`);
    });
    return h("div", {}, this.places, h("div", { class: "fields" }, field("Another path beneath them", other), add), list, forDevices);
  }

  choose(targets) {
    this.targets = new Set(targets);
    if (!this.places) return;
    const all = [...new Set([...(this.known ?? []), ...targets])];
    this.places.replaceChildren(...all.map((path) => {
      const box = h("input", { type: "checkbox", checked: this.targets.has(path), onchange: () => {
        this.targets[box.checked ? "add" : "delete"](path);
        this.check(0);
      } });
      return h("label", { class: "check" }, box, ` ${path}`);
    }));
  }

  /** Saving and taking away. */
  keep() {
    this.saveName = h("input", { placeholder: "mine.toml" });
    const save = button("Save", () => this.doing(() => this.save()));
    const drop = button("Delete", () => this.doing(() => this.erase()), { class: "danger" });
    return h("div", { class: "fields" },
      field("Save as your own", this.saveName, `in ${this.facts.folder}`), save, drop,
      button("Download as TOML", () => this.doing(() => this.download("toml"))),
      button("Download as .icf", () => this.doing(() => this.download("icf"))),
      button("Download as a job file of fio", () => this.doing(() => this.download("fio"))));
  }

  async save() {
    const name = this.saveName.value.trim() || this.name;
    const path = `/api/workloads/own/${encodeURIComponent(name)}`;
    const { text } = this.editor;
    try {
      this.listOwn(await put(path, { text, replace: false }));
    } catch (error) {
      if (error.status !== 409) throw error;
      if (!(await confirmed("Replace it?", `There is a workload ${name} already.`, "Replace"))) return;
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
    if (!name || !(await confirmed("Delete it?", `The workload ${name} is removed from your own.`, "Delete"))) return;
    this.listOwn(await remove(`/api/workloads/own/${encodeURIComponent(name)}`));
  }

  async converted(to) {
    const { text, verdicts } = await post("/api/convert", { workload: this.workload(), to }, this.signal);
    if (text !== null) return text;
    this.say(verdicts);
    const formats = { toml: "TOML", icf: "an Iometer configuration", fio: "a job file of fio" };
    throw new Error(`this cannot be said in ${formats[to]}: see the verdict`);
  }

  async convert() {
    const text = await this.converted("toml");
    this.take(text, this.name.replace(/\.[^.]*$|$/, ".toml"));
  }

  async download(to) {
    const text = to === "toml" && this.isToml ? this.editor.text : await this.converted(to);
    const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const base = this.name.replace(/\.[^.]*$/, "");
    h("a", { href, download: `${base}.${to}` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  /** The workload as it is asked for: by its name, as long as it is as it was built in. */
  workload() {
    const { text } = this.editor;
    if (this.builtin && text === this.original) return { builtin: this.builtin };
    return { text, name: this.name };
  }

  request() {
    return { workload: this.workload(), targets: [...this.targets], overwrite_devices: [...this.devices] };
  }

  /** Has the server check it soon; what was asked before is not waited for. The form is filled anew
   * where the text was changed by other means, as soon as it is right. */
  check(delay, fills = false) {
    this.fills ||= fills;
    clearTimeout(this.timer);
    this.asking?.abort();
    this.start.disabled = true;
    this.timer = setTimeout(async () => {
      this.asking = new AbortController();
      const { signal } = this.asking;
      try {
        const answer = await post("/api/check", this.request(), signal);
        if (signal.aborted || this.signal.aborted) return;
        this.judge(answer);
        if (!this.fills || (this.isToml && !answer.is_understood)) return;
        this.fills = false;
        await this.fill();
      } catch (error) {
        if (!signal.aborted && !this.signal.aborted) this.verdicts.replaceChildren(failure(error));
      }
    }, delay);
  }

  judge({ is_understood: isUnderstood, may_start: mayStart, verdicts, plan, planned_ns: planned }) {
    this.say(verdicts);
    this.start.disabled = !mayStart;
    if (!plan) {
      this.plan.replaceChildren(h("p", { class: "remark" }, isUnderstood ? "It has no plan." : "There is no plan until the errors are gone."));
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
    this.plan.replaceChildren(h("p", {}, `${cells.length} ${cells.length === 1 ? "cell" : "cells"}${time}.`),
      table("Plan", ["Cell", "Queue depth", "Workers", "Repetition", "Time", "I/O"], h("tbody", {}, rows)), more,
      mayStart ? "" : h("p", { class: "remark" }, "It can be started from here once every target is beneath a root of the server."));
  }

  say(verdicts) {
    this.editor.mark(verdicts);
    this.verdicts.replaceChildren(verdicts.length === 0
      ? h("p", { class: "status" }, "Nothing is wrong with it.")
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
