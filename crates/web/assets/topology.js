// Managers and workers, as in Iometer's topology. Each worker has targets, access specifications in
// order, and settings. The list of workers in the text is flat: workers of one group form a manager.

import { announce, button, choice, draggable, droppable, field, h, moveButtons } from "./dom.js";
import { literal, nameOf } from "./toml.js";

const LIST = ["worker"];
/** Type of a dragged access specification. */
export const SPEC_DRAG = "application/x-pgmeter-specification";
const WORKER_DRAG = "application/x-pgmeter-worker";
const NAME_FIRST = "Manager 1";

/** Managers in the order of their first worker; the name of workers without a group is empty. */
function managersOf(doc) {
  const managers = new Map();
  for (let place = 0; place < doc.count(LIST); place += 1) {
    const name = doc.typed([...LIST, place, "group"]);
    if (!managers.has(name)) managers.set(name, { name, workers: [] });
    managers.get(name).workers.push(place);
  }
  return [...managers.values()];
}

/** Managers with their workers, and buttons to change them. */
export function topology(form) {
  const managers = managersOf(form.doc);
  const add = managers.length === 0
    ? button("Add a worker", () => addWorker(form, ""), { name: "worker.add" })
    : button("Add a manager", () => addManager(form, managers), { name: "manager.add" });
  return h("section", { class: "topology", "aria-label": "Managers and workers" }, h("h3", {}, "Managers and workers"),
    managers.length > 0 ? h("p", { class: "remark" }, "A manager is a group of workers. You can drag a worker to another manager, and a specification to a worker.") : "",
    managers.map((manager, index) => managerItem(form, managers, index)),
    h("div", { class: "actions" }, add), onHosts(form, managers));
}

function managerItem(form, managers, index) {
  const { name, workers } = managers[index];
  const what = name === "" ? "manager" : `manager ${name}`;
  const label = `manager.${index}`;
  const moves = moveButtons(what, (other, by) => `manager.${other}.${by}`, [...managers.keys()], index, (other, focus) => {
    const [first, second] = [Math.min(index, other), Math.max(index, other)];
    form.edit((doc) => moved(doc, managers[second].workers, managers[first].workers[0]), focus);
    announce(`${what} is now number ${other + 1}`);
  });
  const actions = h("div", { class: "actions" },
    button("Add a worker", () => addWorker(form, name), { name: `${label}.add`, "aria-label": `Add a worker to ${what}` }),
    button("Duplicate manager", () => duplicateManager(form, managers, index), { "aria-label": `Duplicate ${what}` }),
    managers.length > 1 ? moves : [],
    button("Remove manager", () => {
      form.edit((doc) => [...workers].reverse().reduce((now, place) => now.after(now.drop([...LIST, place])), doc).text, ["manager.add", "worker.add"]);
      announce(`${what} removed`);
    }, { "aria-label": `Remove ${what}` }));
  const element = h("div", { class: "item manager" }, heading(form, managers, index),
    workers.map((place, at) => workerItem(form, managers[index], at, managers)), actions);
  return droppable(element, WORKER_DRAG, (place) => moveToManager(form, Number(place), name));
}

/** Name and host of a manager. A single manager needs neither. */
function heading(form, managers, index) {
  const { name, workers } = managers[index];
  const title = h("input", { value: name, name: `manager.${index}.name`, placeholder: "this machine", oninput: () => {
    // Workers without a group would join another manager.
    if (title.value === "" && managers.length > 1) return;
    const host = form.hosts.get(managers[index].name);
    form.hosts.delete(managers[index].name);
    if (host) form.hosts.set(title.value, host);
    managers[index].name = title.value;
    form.edit((doc) => workers.reduce((now, place) => now.after(now.set([...LIST, place, "group"], literal(title.value, "text"))), doc).text);
    form.redrawHosts();
  }, onchange: () => form.edit((doc) => doc.text, `manager.${index}.name`) });
  const host = h("input", { value: form.hosts.get(name) ?? "", name: `manager.${index}.host`, placeholder: "this machine", oninput: () => {
    if (host.value.trim()) form.hosts.set(managers[index].name, host.value.trim());
    else form.hosts.delete(managers[index].name);
    form.redrawHosts();
  } });
  return h("div", { class: "fields" }, field("Manager", title), managers.length > 1 || name !== "" ? field("Host", host) : "");
}

/** The command that runs the managers on their hosts. This server measures on its own machine only. */
function onHosts(form, managers) {
  const box = h("div", { "aria-live": "polite" });
  form.redrawHosts = () => {
    const named = managers.filter(({ name }) => form.hosts.has(name));
    const missing = managers.filter(({ name }) => !form.hosts.has(name));
    if (named.length === 0) {
      box.replaceChildren();
      return;
    }
    const hosts = named.map(({ name }) => `--host ${quoted(`${name}=${form.hosts.get(name)}`)}`).join(" ");
    const copy = button("Copy", () => navigator.clipboard?.writeText(command.textContent).then(() => announce("copied")), { class: "small" });
    const command = h("pre", { class: "command" }, `pgmeter run ${quoted(form.fileName())} ${hosts}`);
    box.replaceChildren(h("p", { class: "remark" }, missing.length > 0
      ? `Name a host for ${missing.map(({ name }) => name).join(", ")}, too: either all managers have one or none.`
      : "Started from this page, all managers run on this machine. Save the workload, and run it on these hosts with:"),
    ...(missing.length > 0 ? [] : [command, copy]));
  };
  form.redrawHosts();
  return box;
}

/** A word of a shell's command line. */
const quoted = (text) => (/^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function workerItem(form, { workers }, at, managers) {
  const place = workers[at];
  const path = [...LIST, place];
  const what = `worker ${place + 1}`;
  const moves = workers.length < 2 ? [] : moveButtons(what, (other, by) => nameOf([...LIST, other, by]), workers, at, (other, focus) => {
    form.edit((doc) => moved(doc, [Math.max(place, other)], Math.min(place, other)), focus);
    announce(`${what} is now number ${other + 1}`);
  });
  const manager = managers.length > 1 ? managerOf(form, path, managers) : [];
  const element = form.item(path, "worker", { count: form.doc.count(LIST), moves: [manager, moves].flat(), summary: summaryOf(form.doc, path) });
  draggable(element, WORKER_DRAG, String(place));
  return droppable(element, SPEC_DRAG, (name) => assign(form, [...path, "access_specs"], [...assignedTo(form, path), name]));
}

/** Menu that moves a worker to another manager. */
function managerOf(form, path, managers) {
  const select = choice(managers.map(({ name }) => [name, name]), form.doc.typed([...path, "group"]), {
    name: nameOf([...path, "group"]), "aria-label": `Manager of worker ${path[1] + 1}`,
    onchange: () => moveToManager(form, path[1], select.value),
  });
  return select;
}

function moveToManager(form, place, name) {
  form.edit((doc) => doc.set([...LIST, place, "group"], literal(name, "text")), nameOf([...LIST, place, "group"]));
  announce(`worker ${place + 1} is now in ${name}`);
}

/** What a worker does, in a few words. */
function summaryOf(doc, path) {
  const targets = doc.strings([...path, "targets"]);
  const specs = doc.strings([...path, "access_specs"]);
  const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const depth = doc.typed([...path, "iodepth"]);
  const count = Number(doc.typed([...path, "count"]) || 1);
  return [count > 1 ? many(count, "equal worker") : "", targets ? many(targets.length, "target") : "", specs ? many(specs.length, "specification") : "all specifications",
    depth ? `queue depth ${depth}` : ""].filter(Boolean).join(", ");
}

/** The text with workers moved before another one, in their order. */
function moved(doc, places, before) {
  let now = doc;
  places.forEach((place, index) => {
    for (let at = place; at > before + index; at -= 1) now = now.after(now.raise([...LIST, at]));
  });
  return now.text;
}

function addWorker(form, group) {
  const place = form.doc.count(LIST);
  form.open.set(nameOf([...LIST, place]), true);
  form.edit((doc) => doc.add(LIST, { name: JSON.stringify(form.freeName(LIST, "Worker 1")), ...(group ? { group: JSON.stringify(group) } : {}) }), nameOf([...LIST, place, "name"]));
}

/** Adds a manager with one worker. Workers without a group become the first manager. */
function addManager(form, managers) {
  const names = new Set(managers.map(({ name }) => name || NAME_FIRST));
  const name = nextName(NAME_FIRST, names);
  form.edit((doc) => {
    const silent = managers.find((one) => one.name === "")?.workers ?? [];
    const now = silent.reduce((all, place) => all.after(all.set([...LIST, place, "group"], JSON.stringify(NAME_FIRST))), doc);
    return now.add(LIST, { name: JSON.stringify(form.freeName(LIST, "Worker 1")), group: JSON.stringify(name) });
  }, `manager.${managers.length}.name`);
}

function duplicateManager(form, managers, index) {
  const { name, workers } = managers[index];
  const first = name || NAME_FIRST;
  const copy = nextName(first, new Set([...managers.map((one) => one.name), first]));
  const count = form.doc.count(LIST);
  form.edit((doc) => {
    const named = name ? doc : workers.reduce((all, place) => all.after(all.set([...LIST, place, "group"], JSON.stringify(first))), doc);
    return workers.reduce((all, place, at) => {
      const copied = all.after(all.copy([...LIST, place], count + at - 1));
      return copied.after(copied.set([...LIST, count + at, "group"], JSON.stringify(copy)));
    }, named).text;
  }, `manager.${managers.length}.name`);
  announce(`${copy} added`);
}

/** A name with the next number that is not in use. */
export function nextName(name, used) {
  const [, stem, number] = /^(.*?)(\d*)$/s.exec(name);
  const separated = number === "" ? `${stem.trimEnd()} ` : stem;
  for (let next = Number(number || 2); ; next += 1) {
    if (!used.has(`${separated}${next}`) && `${separated}${next}` !== name) return `${separated}${next}`;
  }
}

/** Checkboxes for the targets of a worker. */
export function workerTargets(form, path) {
  const written = form.doc.strings(path);
  const known = [...new Set([...form.places(), ...(written ?? [])])];
  const set = (names) => form.edit((doc) => doc.set(path, names === null ? "" : listOf(names)), `${nameOf(path)}.other`);
  const boxes = known.map((name) => {
    const box = h("input", { type: "checkbox", checked: written?.includes(name) ?? false, onchange: () => {
      const kept = known.filter((one) => (one === name ? box.checked : written?.includes(one)));
      set(kept.length > 0 ? kept : null);
    } });
    return h("label", { class: "check path" }, box, ` ${name}`);
  });
  const other = h("input", { name: `${nameOf(path)}.other`, placeholder: "path or tcp://HOST:PORT" });
  const add = () => other.value.trim() && set([...new Set([...(written ?? []), other.value.trim()])]);
  const rest = written === null ? "The worker uses the workload's targets." : written.length === 0 ? "The worker has no target and stays idle." : "";
  return h("fieldset", {}, h("legend", {}, "Targets"), form.note(path), h("div", { class: "places" }, boxes),
    rest ? h("p", { class: "remark" }, rest) : "", h("div", { class: "fields" }, field("Another target", other), button("Add", add)));
}

const listOf = (names) => `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;

function assignedTo(form, path) {
  return form.doc.strings([...path, "access_specs"]) ?? form.names("access_spec");
}

function assign(form, path, names, focus = `${nameOf(path)}.assign`) {
  form.edit((doc) => doc.set(path, names === null ? "" : listOf(names)), focus);
  if (names !== null) announce(`${names.length} specifications assigned`);
}

/** The access specifications of a worker, in the order in which it runs them. */
export function assignments(form, path) {
  const written = form.doc.strings(path);
  const all = form.names("access_spec");
  const names = written ?? all;
  const label = nameOf(path);
  const without = (place) => names.filter((_, at) => at !== place);
  const swapped = (place, other) => names.map((name, at) => (at === place ? names[other] : at === other ? names[place] : name));
  const rows = names.map((name, place) => h("li", {}, h("span", { class: "path" }, name), h("span", { class: "act-buttons" },
    moveButtons(name, (other, by) => `${label}.${other}.${by}`, [...names.keys()], place, (other, focus) => assign(form, path, swapped(place, other), focus)),
    button("×", () => assign(form, path, without(place)), { class: "small", "aria-label": `Unassign ${name}` }))));
  const select = choice([["", "Assign a specification…"], ...all.map((name) => [name, name])], "", {
    name: `${label}.assign`, "aria-label": "Assign a specification",
    onchange: () => select.value && assign(form, path, [...(written ?? []), select.value]),
  });
  const state = written === null ? "All specifications of the file, in order." : names.length === 0 ? "None: the worker is idle." : "";
  return h("fieldset", {}, h("legend", {}, "Access specifications"), form.note(path),
    state ? h("p", { class: "remark" }, state) : "", h("ol", { class: "assigned" }, rows),
    h("div", { class: "actions" }, select, written === null ? "" : button("Assign all", () => assign(form, path, null)),
      names.length === 0 ? "" : button("Assign none", () => assign(form, path, []))));
}
