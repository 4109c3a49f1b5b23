// Editor for the acts of a group of workers. An act has a verb, an operand and options.

import { button, choice, h } from "./dom.js";
import { literal, nameOf } from "./toml.js";

const ACT = "phase.group.body";
const SECOND = ["rename", "link", "symlink"];
const FILES = ["create", "open", "stat", "unlink", "mkdir", "rmdir", "list", "chmod", ...SECOND];
const HANDLES = ["close", "fsync", "fdatasync", "fstat"];
const AMOUNTS = ["read", "write", "truncate"];
const LISTS = ["times", "step", "transaction"];
/** Keys that are options, with the verbs that accept them. */
const VERBS_OF = {
  do: LISTS, pick: FILES, which: FILES, turn: FILES, way: ["create", "open"],
  to: SECOND, to_pick: SECOND, to_which: SECOND, to_turn: SECOND,
  piece: ["read", "write"], at: ["read", "write"], handle: [...FILES, ...AMOUNTS], label: [...FILES, ...HANDLES, ...AMOUNTS],
  count: ["put", "take"], whose: ["put", "take"], per_calls: ["take"], per_bytes: ["take"], of: ["take"],
};
/** Initial operands of some verbs, as TOML. */
const USUAL = { times: "10", think: '"10ms"', burn: '"10ms"', meet: '"all"' };

/** Verb of an act, and whether the act is written as a plain word. */
function verbOf(doc, path) {
  const node = doc.at(path);
  if (node?.kind === "value") return { verb: node.value, isWord: true };
  const keys = [...(node?.entries?.keys() ?? [])];
  return { verb: keys.find((key) => !VERBS_OF[key]) ?? "", isWord: false };
}

/** List of acts under a key, with buttons to add, move and remove acts. */
export function actList(form, path) {
  const { doc } = form;
  const count = doc.count(path);
  const add = button("Add an act", () => form.edit((doc) => doc.add(path, '"close"'), `${nameOf([...path, count])}.verb`), { name: `${nameOf(path)}.add` });
  const rows = Array.from({ length: count }, (_, place) => act(form, [...path, place], count));
  return h("div", {}, rows.length > 0 ? h("ol", { class: "act-list" }, rows) : [], add);
}

function act(form, path, count) {
  const { verb } = verbOf(form.doc, path);
  const what = `act ${path.at(-1) + 1}`;
  const verbs = form.keys(ACT).map(({ name }) => name).filter((name) => !VERBS_OF[name]);
  const select = choice([...new Set([...verbs, "sync", verb])], verb, {
    name: `${nameOf(path)}.verb`, "aria-label": `What ${what} does`,
    onchange: () => {
      form.edit((doc) => doc.set(path, withVerb(form, doc, path, select.value)));
      fill();
    },
  });
  const row = h("div", { class: "act" }, select);
  const made = h("li", {}, row);
  // Keep the select element, so that the user can go on typing a verb.
  const fill = () => {
    for (const first of [select, row]) while (first.nextSibling) first.nextSibling.remove();
    row.append(...inRow(form, path, what, count));
    made.append(form.note(path), ...listsOf(form, path).map((key) => form.field([...path, key.name], ACT, key)));
  };
  fill();
  return made;
}

/** Keys of an act whose values are lists of acts or branches. */
function listsOf(form, path) {
  const { verb } = verbOf(form.doc, path);
  const isList = ({ name, value }) => /^list of (acts|tables)$/.test(value) && (name === verb || VERBS_OF[name]?.includes(verb));
  return form.keys(ACT).filter(isList);
}

/** Controls after the verb of an act. */
function inRow(form, path, what, count) {
  const { verb, isWord } = verbOf(form.doc, path);
  const about = form.about(ACT, verb);
  const lists = listsOf(form, path);
  const options = form.keys(ACT).filter((key) => VERBS_OF[key.name]?.includes(verb) && !lists.includes(key));
  const isWritten = ({ name }) => form.doc.at([...path, name]) !== undefined;
  const others = options.filter((key) => !isWritten(key));
  const remove = button("×", () => form.remove(path, `${nameOf(path.slice(0, -1))}.add`, what), { class: "small", "aria-label": `Remove ${what}` });
  return [about && !lists.includes(about) ? operand(form, path, verb, about, isWord) : [],
    options.filter(isWritten).map((key) => form.inline([...path, key.name], key)),
    others.length > 0 ? form.folded([...path, "more"], "more", () => form.fields(path, ACT, others)) : [],
    h("span", { class: "act-buttons" }, form.moves(path, count, what), remove)].flat(3);
}

/** Control for the operand of an act. */
function operand(form, path, verb, about, isWord) {
  const own = [...path, verb];
  const names = FILES.includes(verb) ? [...form.names("fileset"), "@"] : HANDLES.includes(verb) ? ["@"] : AMOUNTS.includes(verb) ? ["rest", "size"] : form.suggestions(verb);
  const list = names.length > 0 ? h("datalist", { id: `words-${nameOf(own)}` }, names.map((value) => h("option", { value }))) : [];
  const input = h("input", {
    value: isWord ? "@" : form.doc.typed(own), name: nameOf(own), title: about.meaning.replaceAll("`", ""), "aria-label": `${verb}: ${about.value}`, list: list.id,
    oninput: () => {
      const text = literal(input.value, about.value) || '""';
      form.edit((doc) => (doc.at(path).kind === "value" ? doc.set(path, `{ ${verb} = ${text} }`) : doc.set(own, text)));
    },
  });
  input.setAttribute("autocapitalize", "off");
  return [input, list, form.note(own, input)];
}

/** The act as TOML with another verb. Keeps the options and the operand that are still valid. */
function withVerb(form, doc, path, verb) {
  const { verb: before } = verbOf(doc, path);
  const kind = (name) => [FILES, HANDLES, AMOUNTS, LISTS, ["put", "take"], ["think", "burn"]].findIndex((all) => all.includes(name));
  const entries = [...(doc.at(path).entries ?? [])];
  const text = ({ begin, end }) => doc.text.slice(begin, end);
  const kept = entries.filter(([key]) => VERBS_OF[key]?.includes(verb)).map(([key, node]) => [key, text(node)]);
  const isSame = kind(verb) >= 0 && kind(verb) === kind(before) && (verb === "times") === (before === "times");
  const same = isSame ? entries.find(([key]) => key === before) : null;
  const to = same ? text(same[1]) : usual(form, verb);
  if (verb === "sync" || (HANDLES.includes(verb) && to === '"@"' && kept.length === 0)) return JSON.stringify(verb);
  if (LISTS.includes(verb) && !kept.some(([key]) => key === "do")) kept.push(["do", '["close"]']);
  if (SECOND.includes(verb) && !kept.some(([key]) => key === "to")) kept.push(["to", usual(form, "open")]);
  return `{ ${[[verb, to], ...kept].map(([key, value]) => `${key} = ${value}`).join(", ")} }`;
}

function usual(form, verb) {
  if (USUAL[verb]) return USUAL[verb];
  if (verb === "mix") return `[{ share = 1, do = [{ stat = ${usual(form, "stat")} }] }]`;
  if (HANDLES.includes(verb)) return '"@"';
  if (AMOUNTS.includes(verb)) return '"4KiB"';
  const name = FILES.includes(verb) ? form.names("fileset")[0] ?? "@" : form.suggestions(verb)[0] ?? verb;
  return JSON.stringify(name);
}
