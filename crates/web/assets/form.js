// Form of a workload, built from the reference of its keys: a field for each key, a group for each
// table. Input changes the text at once, and the form shows the content of the text.

import { announce, button, choice, draggable, h, moveButtons } from "./dom.js";
import { actList } from "./acts.js";
import { testSetup } from "./cycling.js";
import { chooseSpecs } from "./library.js";
import { accessLines } from "./mix.js";
import { TomlText, literal, nameOf } from "./toml.js";
import { SPEC_DRAG, assignments, nextName, topology, workerTargets } from "./topology.js";

/** Keys of a table that are always shown, in this order. The others are under "More settings" until
 * they are set. For a table that is not listed here, all keys are shown. */
const FIRST = {
  "": ["iodepth", "workers", "run_time", "ramp_time", "repetitions", "size", "engine", "cache"],
  worker: ["name", "targets", "access_specs", "iodepth", "size", "start", "content", "seed", "count"],
  job: ["name", "engine", "read", "random", "block_size", "size", "iodepth", "rate", "run_time"],
  "job.reads": [],
  fileset: ["name", "count", "size", "present"],
  way: ["name", "access", "append", "sync"],
  phase: ["name", "run_time", "group"],
  "phase.group": ["name", "workers", "rounds", "body"],
  "phase.group.body.mix": ["share", "transaction", "do"],
};
/** Tables that have the keys of another table. */
const SAME = {
  "job.writes": "job.reads", "fileset.paths": "fileset.nested", "rounds.phase": "phase",
  "cycling.targets": "cycling.workers",
};
/** Tables that describe work, with the initial content of a new one. */
const LISTS = {
  access_spec: { one: "access specification", make: (number) => ({
    name: `"Specification ${number}"`, line: [{ size: '"4KiB"', read: "100", random: "100" }],
  }) },
  worker: { one: "worker", make: (number) => ({ name: `"Worker ${number}"` }) },
  job: { one: "job", make: (number) => ({
    name: `"job-${number}"`, read: "70", random: "100", block_size: '"4KiB"', size: '"64MiB"', run_time: '"10s"',
  }) },
  fileset: { one: "fileset", make: (number) => ({ name: `"files-${number}"`, count: "100", present: '"100%"', size: '"16KiB"' }) },
  way: { one: "way", make: (number) => ({ name: `"way-${number}"` }) },
  tokens: { one: "token counter", make: (number) => ({ name: `"tokens-${number}"` }) },
  phase: { one: "phase", make: (number, form) => ({ name: `"phase-${number}"`, group: [newGroup(form)] }) },
  "phase.group": { one: "group of workers", make: (_, form) => newGroup(form) },
  rounds: { one: "sequence of rounds", make: () => ({ times: "2" }) },
  "phase.group.body.mix": { one: "branch", make: (_, form) => newBranch(form) },
};
const KINDS = [["access_spec", "worker"], ["job"], ["fileset", "way", "tokens", "phase", "rounds"]];
const PROGRAMS = ["postmark", "fs_mark", "create_remove", "lat_fs"];
/** Keys that are not settings: work, and keys with their own controls on the page. */
const NO_SETTINGS = new Set([...KINDS.flat(), ...PROGRAMS, "part", "targets", "iometer"]);
/** Keys that the test setup shows if there are access specifications. */
const TEST_SETUP = new Set(["test_type", "cycling"]);
/** Keys with controls of a special kind. */
const SPECIAL = { "access_spec.line": accessLines, "worker.targets": workerTargets, "worker.access_specs": assignments };
const LABELS = { iodepth: "Queue depth (iodepth)" };

const newBranch = (form) => ({ share: "1", do: `[{ stat = ${JSON.stringify(form.names("fileset")[0] ?? "@")} }]` });
const newGroup = (form) => ({ body: `[\n  { open = ${JSON.stringify(form.names("fileset")[0] ?? "files-1")} },\n  { read = "rest", piece = "64KiB" },\n  "close",\n]` });

/** Help texts up to this number of characters are shown in full. */
const HELP_SHORT = 80;

/** A default that is short enough for a placeholder. */
const short = (text) => (text && text.length <= 18 ? text.replaceAll("`", "") : undefined);
/** Help for a key: its first sentence, and the rest after a click. */
function helpOf(text, id) {
  const end = text.search(/[.:;] /) + 1;
  if (end === 0 || text.length < HELP_SHORT) return h("small", { id, class: "help" }, text);
  return h("details", { id, class: "help" }, h("summary", {}, text.slice(0, end).replace(/[:;]$/, "")), text.slice(end + 1));
}

/** What a table of a list is called, and how a new one is made. */
const kindOf = (path, table) => LISTS[table] ?? { one: path.at(-1).replaceAll("_", " "), make: () => ({}) };

/** The name, or the next one with a number, that no table of a list has. */
function free(doc, path, name) {
  const used = new Set(Array.from({ length: doc.count(path) }, (_, place) => doc.typed([...path, place, "name"])));
  return used.has(name) ? nextName(name, used) : name;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

export class WorkloadForm {
  /** `text` returns the text of the workload; `changed` receives the new text. */
  constructor(keys, text, changed) {
    Object.assign(this, { text, changed, verdicts: [], controls: new Map(), open: new Map(), folds: new Map(), tables: new Map(), hosts: new Map() });
    // The page replaces these.
    Object.assign(this, { places: () => [], fileName: () => "workload.toml", failed: () => {} });
    for (const key of keys) {
      if (!this.tables.has(key.table)) this.tables.set(key.table, []);
      this.tables.get(key.table).push(key);
    }
    this.settings = h("div");
    this.work = h("div", { class: "specs" });
  }

  /** Keys of a table, as in the reference. */
  keys(table) {
    return this.tables.get(table) ?? [];
  }

  about(table, name) {
    return this.keys(table).find((key) => key.name === name);
  }

  /** Names of all tables in a list. */
  names(list) {
    const count = this.doc?.count([list]) ?? 0;
    return Array.from({ length: count }, (_, place) => this.doc.typed([list, place, "name"])).filter(Boolean);
  }

  /** Shows the content of a text. */
  show(doc) {
    this.doc = doc;
    this.controls.clear();
    this.folds.clear();
    const isBeside = (name) => TEST_SETUP.has(name) && this.isForSpecs();
    this.settings.replaceChildren(...this.group([], "", this.keys("").filter(({ name }) => !NO_SETTINGS.has(name) && !isBeside(name))));
    this.work.replaceChildren(...this.whole());
  }

  /** Applies a change to the current text. With `focus`, the form is rebuilt and the named control
   * gets the focus. */
  edit(change, focus) {
    const now = TomlText.read(this.text());
    const doc = now && TomlText.read(change(now));
    if (!doc) return;
    this.doc = doc;
    this.changed(doc.text);
    if (focus === undefined) return;
    this.show(doc);
    const next = [].concat(focus).map((name) => document.getElementsByName(name)[0]).find((one) => one && !one.disabled);
    next?.focus();
  }

  set(path, text, kind) {
    this.edit((doc) => doc.set(path, literal(text, kind)));
  }

  /** Whether the text has access specifications or workers for them. */
  isForSpecs() {
    return KINDS[0].some((name) => this.doc.at([name]) !== undefined);
  }

  /** Groups for all work in the text, or buttons to begin with. */
  whole() {
    const { doc } = this;
    const has = (name) => doc.at([name]) !== undefined;
    if (has("part")) {
      return [h("p", { class: "remark" }, `A pack of ${doc.count(["part"])} workloads: change their requests in the text. Settings above apply to all parts that do not set their own.`)];
    }
    const kinds = KINDS.filter((lists) => lists.some(has)).flat();
    const programs = PROGRAMS.filter(has);
    const used = has("use") ? [h("p", { class: "remark" }, `It is based on ${doc.typed(["use"])}; settings here take precedence.`)] : [];
    if (kinds.length + programs.length === 0) return [...used, this.beginnings()];
    const lists = kinds.filter((list) => list !== "worker").map((list) => this.list([list], list));
    const empty = lists.filter(({ items }) => items.length === 0).map(({ add }) => add);
    return [...used, ...lists.filter(({ items }) => items.length > 0).flatMap(({ items, add }) => [...items, h("div", { class: "actions" }, add)]),
      empty.length > 0 ? h("div", { class: "actions" }, empty) : "", this.isForSpecs() ? [topology(this), testSetup(this)] : [],
      ...programs.map((name) => this.program(name))].flat();
  }

  /** Buttons to add the first work to a workload. */
  beginnings() {
    const add = (text, change) => button(text, () => this.edit(change, "none"));
    const made = (list) => LISTS[list].make(1, this);
    const programs = PROGRAMS.map((name) => add(`Files as in ${name.replaceAll("_", "-")}`, (doc) => doc.open(name)));
    return h("div", {}, h("p", { class: "remark" }, "There is no work yet. Start with:"), h("div", { class: "actions" },
      add("An access specification", (doc) => doc.add(["access_spec"], made("access_spec"))),
      add("A job", (doc) => doc.add(["job"], made("job"))),
      add("Files and a phase", (doc) => new TomlText(doc.add(["fileset"], made("fileset"))).add(["phase"], made("phase"))),
      programs));
  }

  /** Options of an emulated program. */
  program(name) {
    const title = `Options of ${name.replaceAll("_", "-")}`;
    return h("fieldset", {}, h("legend", {}, title), this.note([name]), this.group([name], name),
      h("div", { class: "actions" }, button(`Remove ${name.replaceAll("_", "-")}`, () => this.edit((doc) => doc.drop([name]), "none"))));
  }

  /** Tables of a list: each is a group of fields that can be added, copied, moved and removed. */
  list(path, table) {
    const { one, make } = kindOf(path, table);
    const count = this.doc.count(path);
    const items = Array.from({ length: count }, (_, place) => this.item([...path, place], table, { count, moves: this.moves([...path, place], count, `${one} ${place + 1}`) }));
    const add = button(`Add ${/^[aeiou]/.test(one) ? "an" : "a"} ${one}`, () => {
      this.open.set(nameOf([...path, count]), true);
      this.edit((doc) => doc.add(path, make(count + 1, this)), [`${nameOf(path)}.${count}.name`, `${nameOf(path)}.${count}.remove`]);
    }, { name: `${nameOf(path)}.add` });
    return { items, add: table === "access_spec" ? h("div", { class: "actions" }, add, this.library(count)) : add };
  }

  /** A table of a list. `moves` are its buttons to move it; `summary` follows its title. */
  item(path, table, { count, moves, summary = "" }) {
    const { one } = kindOf(path.slice(0, -1), table);
    const what = `${one} ${path.at(-1) + 1}`;
    const title = this.titleOf(path);
    const focus = [`${nameOf(path.slice(0, -1))}.add`, "worker.add"];
    const made = () => [...this.group(path, table), h("div", { class: "actions" }, moves,
      button("Duplicate", () => this.duplicate(path), { name: `${nameOf(path)}.copy`, "aria-label": `Duplicate ${what}` }),
      button(`Remove ${one}`, () => this.remove(path, focus, what), { name: `${nameOf(path)}.remove`, "aria-label": `Remove ${what}` }))];
    const full = `${capital(what)}${title ? `: ${title}` : ""}`;
    const fold = this.folded(path, summary ? [full, h("small", { class: "note" }, summary)] : full, made, count === 1);
    const element = h("div", { class: "item" }, this.note(path), fold);
    return table === "access_spec" && title ? draggable(element, SPEC_DRAG, title) : element;
  }

  /** Button that adds access specifications from a library. */
  library(count) {
    return button("Add from a library…", async () => {
      try {
        const chosen = await chooseSpecs();
        if (chosen.length === 0) return;
        this.edit((doc) => chosen.reduce((now, { name, line }) => {
          const unique = free(now, ["access_spec"], name);
          return now.after(now.add(["access_spec"], { name: JSON.stringify(unique), line }));
        }, doc).text, `access_spec.${count}.name`);
        announce(`${chosen.length} specifications added`);
      } catch (error) {
        this.failed(error);
      }
    }, { name: "access_spec.library" });
  }

  /** Inserts a copy after a table, with a new name. */
  duplicate(path) {
    const later = [...path.slice(0, -1), path.at(-1) + 1];
    this.edit((doc) => {
      const copied = doc.after(doc.copy(path));
      const name = copied.typed([...later, "name"]);
      if (name === "") return copied.text;
      return copied.set([...later, "name"], JSON.stringify(free(doc, path.slice(0, -1), name)));
    }, [`${nameOf(later)}.name`, `${nameOf(later)}.copy`]);
    announce("copy added");
  }

  /** A name that no table of a list has. */
  freeName(path, name) {
    return free(this.doc, path, name);
  }

  /** Title of a table in a list. */
  titleOf(path) {
    return ["name", "label", "step", "transaction"].map((key) => this.doc.typed([...path, key])).find(Boolean) ?? "";
  }

  remove(path, focus, what) {
    this.edit((doc) => doc.drop(path), focus);
    announce(`${what} removed`);
  }

  /** Buttons that move a table within its list. */
  moves(path, count, what) {
    if (count < 2) return [];
    const place = path.at(-1);
    const at = (other) => [...path.slice(0, -1), other];
    const state = (other) => nameOf(at(other));
    const places = [...Array(count).keys()];
    return moveButtons(what, (other, by) => nameOf([...at(other), by]), places, place, (other, focus) => {
      const [mine, theirs] = [this.open.get(state(place)), this.open.get(state(other))];
      this.open.set(state(place), theirs).set(state(other), mine);
      this.edit((doc) => doc.raise(at(Math.max(place, other))), focus);
      announce(`${what} is now number ${other + 1}`);
    });
  }

  /** Fields of a table: keys that come first or are set, and the others under "More settings". */
  group(path, table, keys = this.keys(table), wanted = FIRST[table]) {
    // The topology shows the group of a worker as its manager.
    const isElsewhere = ({ name }) => table === "worker" && name === "group";
    const isShown = ({ name }) => !wanted || wanted.includes(name) || this.doc.at([...path, name]) !== undefined;
    const order = wanted ?? ["name"];
    const place = ({ name }) => (order.includes(name) ? order.indexOf(name) : order.length);
    const shown = keys.filter((key) => isShown(key) && !isElsewhere(key)).sort((one, other) => place(one) - place(other));
    const others = keys.filter((key) => !isShown(key) && !isElsewhere(key));
    return [...this.fields(path, table, shown), ...(others.length > 0 ? [this.more(path, table, others)] : [])];
  }

  fields(path, table, keys) {
    const made = keys.map((about) => this.field([...path, about.name], table, about));
    const small = made.filter((one) => one.classList.contains("field"));
    const large = made.filter((one) => !one.classList.contains("field"));
    return [small.length > 0 ? h("div", { class: "fields options" }, small) : [], large].flat();
  }

  /** Fields that are created when the user opens them. */
  more(path, table, keys) {
    return this.folded([...path, "more"], `More settings (${keys.length})`, () => this.fields(path, table, keys));
  }

  /** A group that is created when it is opened, and stays open when the form is rebuilt. */
  folded(path, title, make, isOpenFirst = false) {
    const name = nameOf(path);
    const box = h("div");
    const fill = () => box.childElementCount > 0 || box.replaceChildren(...[make()].flat());
    const isOpen = this.open.get(name) ?? isOpenFirst;
    if (isOpen) fill();
    const element = h("details", { class: "folded", open: isOpen, ontoggle: () => {
      this.open.set(name, element.open);
      if (!element.open || box.childElementCount > 0) return;
      fill();
      this.tell(this.verdicts);
    } }, h("summary", {}, title), box);
    this.folds.set(name, { element, fill });
    return element;
  }

  /** Control for a key: a field, or a group if its value is a table or a list of tables or acts. */
  field(path, table, about) {
    const { name, value } = about;
    const inner = SAME[`${table}.${name}`] ?? (table === "" ? name : `${table}.${name}`);
    const node = this.doc.at(path);
    const meaning = h("p", { class: "remark" }, about.meaning.replaceAll("`", ""));
    if (SPECIAL[inner]) return SPECIAL[inner](this, path);
    if (value === "list of acts") return h("div", { class: "acts" }, name === "do" ? "" : [h("h4", {}, capital(name)), meaning], this.note(path), actList(this, path));
    const hasKeys = this.keys(inner).length > 0;
    if (hasKeys && (node?.style === "sections" || value.startsWith("list of tables"))) {
      const { items, add } = this.list(path, inner);
      return h("div", {}, meaning, items, h("div", { class: "actions" }, add));
    }
    const isWritten = node?.style === "section" || node?.style === "dotted" || node?.style === "implied";
    if (hasKeys && (isWritten || (value === "table" && about.words.length === 0))) {
      return this.folded([...path, "keys"], capital(name.replaceAll("_", " ")), () => [meaning, this.note(path), ...this.group(path, inner)]);
    }
    return this.named(path, about, this.control(path, about));
  }

  /** Input for a key; every input changes the text. */
  control(path, { name: key, value, words: own, default: usual }) {
    const now = this.doc.typed(path);
    // The values of a key that overrides the workload's are explained there.
    const words = own.length === 0 && usual === `the workload's \`${key}\`` ? this.about("", key)?.words ?? [] : own;
    const choices = words.length > 0 && /^(word|table)$/.test(value) ? words : value === "`true` or `false`" ? ["true", "false"] : [];
    const kind = words.length > 0 && choices.length > 0 ? "word" : value;
    if (choices.length > 0 && (now === "" || choices.includes(now))) {
      const select = choice([["", short(usual) ? `default: ${short(usual)}` : "default"], ...choices], now, {
        onchange: () => this.set(path, select.value, kind),
      });
      return select;
    }
    const known = words.length > 0 ? words : this.suggestions(key);
    const list = known.length > 0 ? h("datalist", { id: `words-${nameOf(path)}` }, known.map((word) => h("option", { value: word }))) : null;
    const input = h(now.includes("\n") ? "textarea" : "input", {
      value: now, placeholder: short(usual) ?? "", list: list?.id, oninput: () => this.set(path, input.value, kind),
      inputMode: /^(number|percent)$/.test(kind) ? "decimal" : "text",
    });
    input.setAttribute("autocapitalize", "off");
    return list ? [input, list] : input;
  }

  /** Names of other tables that a key can refer to. */
  suggestions(key) {
    const lists = { way: "way", to: "fileset", directories_of: "fileset", after: "job", take: "tokens", put: "tokens" };
    return lists[key] ? this.names(lists[key]) : [];
  }

  /** An input with the label and the help of its key, and room for its errors. */
  named(path, { name: key, meaning, default: usual }, control) {
    const name = nameOf(path);
    const [input, ...inline] = [].concat(control);
    const more = usual && !short(usual) ? ` Default: ${usual}.` : "";
    const help = helpOf((meaning + more).replaceAll("`", ""), `help-${name}`);
    Object.assign(input, { name, id: `field-${name}` });
    input.setAttribute("aria-describedby", help.id);
    const label = h("label", { class: "field-name", htmlFor: input.id }, LABELS[name] ?? LABELS[key] ?? capital(key.replaceAll("_", " ")));
    return h("div", { class: "field" }, label, input, inline, this.note(path, input), help);
  }

  /** The same in one line, with the help as a tooltip. */
  inline(path, { name: key, meaning, ...about }) {
    const [input, ...inline] = [].concat(this.control(path, { name: key, meaning, ...about }));
    Object.assign(input, { name: nameOf(path), title: meaning.replaceAll("`", "") });
    return [h("label", { class: "inline" }, `${key.replaceAll("_", " ")} `, input), inline, this.note(path, input)];
  }

  /** Place for the errors at a path, linked to its input if there is one. */
  note(path, control = null, note = h("p", { class: "wrong", id: `wrong-${nameOf(path)}`, hidden: true })) {
    this.controls.set(nameOf(path), { control, note });
    return note;
  }

  /** Shows errors at their fields, or at the innermost group that contains them. */
  tell(verdicts) {
    this.verdicts = verdicts;
    for (const { control, note } of this.controls.values()) {
      note.hidden = true;
      note.replaceChildren();
      control?.removeAttribute("aria-invalid");
      control?.removeAttribute("aria-errormessage");
    }
    const doc = TomlText.read(this.text());
    for (const { line, column, severity, message, help } of verdicts) {
      if (!doc || !line || severity === "note") continue;
      const path = doc.pathAt(line, column);
      if (severity === "error") this.unfold(path);
      while (path.length > 0 && !this.controls.has(nameOf(path))) path.pop();
      const { control, note } = this.controls.get(nameOf(path)) ?? {};
      if (!note) continue;
      note.hidden = false;
      note.className = `wrong ${severity}`;
      note.append(h("span", {}, `${message.replaceAll("`", "")}${help ? `: ${help.replaceAll("`", "")}` : ""}. `));
      if (!control || severity !== "error") continue;
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-errormessage", note.id);
    }
  }

  /** Opens all groups along a path. */
  unfold(path) {
    for (let depth = 1; depth <= path.length; depth += 1) {
      const fold = this.folds.get(nameOf(path.slice(0, depth)));
      fold?.fill();
      if (fold) fold.element.open = true;
    }
  }
}
