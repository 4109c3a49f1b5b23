//! Layout of acts in a written file: one act per line, in lists within their groups, as in files
//! written by hand. The TOML writer alone would start a table for each act.

use serde::Serialize as _;
use toml::ser::{Error, ValueSerializer};
use units::AnySerialize;

use crate::model::{ActChoice, ActTable, BranchTable, GroupTable, Workload};

/// Lists longer than this have one line per act.
const COLUMNS: usize = 80;

/// The workload as TOML.
pub(super) fn text(workload: &Workload) -> Result<String, Error> {
    let mut bare = workload.clone();
    let taken = take_groups(&mut bare);
    let unmarked = toml_text(&bare)?;
    if taken.is_empty() {
        return Ok(unmarked);
    }
    // The mark must occur nowhere else in the text, or another line would be replaced.
    let marks = (0_u32..).map(|number| format!("group-{number}-"));
    let mark = marks
        .into_iter()
        .find(|mark| !unmarked.contains(mark.as_str()));
    let mark = mark.unwrap_or_default();
    for (index, group) in groups_of(&mut bare).into_iter().enumerate() {
        group.name = Some(format!("{mark}{index}"));
    }
    // The name is the first key of a group, so what replaces its line precedes all of its
    // subtables.
    let begin = format!("name = \"{mark}");
    let mut text = String::with_capacity(unmarked.len());
    for line in toml_text(&bare)?.lines() {
        let index = line
            .strip_prefix(&begin)
            .and_then(|it| it.strip_suffix('"'));
        match index.and_then(|index| taken.get(index.parse::<usize>().ok()?)) {
            Some(group) => write_group(group, &mut text)?,
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    Ok(text)
}

/// All groups, in the order in which they are written.
fn groups_of(workload: &mut Workload) -> Vec<&mut GroupTable> {
    let mut groups = Vec::new();
    let round_phases = workload
        .rounds
        .iter_mut()
        .flat_map(|rounds| &mut rounds.phase);
    let phases = workload.phase.iter_mut().chain(round_phases);
    groups.extend(phases.flat_map(|phase| &mut phase.group));
    groups.extend(workload.part.iter_mut().flat_map(groups_of));
    groups
}

/// Moves the keys that this module writes out of each group.
fn take_groups(workload: &mut Workload) -> Vec<GroupTable> {
    let groups = groups_of(workload).into_iter();
    let taken = groups.map(|group| GroupTable {
        name: group.name.take(),
        workers: group.workers.take(),
        enter: std::mem::take(&mut group.enter),
        first: std::mem::take(&mut group.first),
        body: std::mem::take(&mut group.body),
        last: std::mem::take(&mut group.last),
        leave: std::mem::take(&mut group.leave),
        ..GroupTable::default()
    });
    taken.collect()
}

fn write_group(group: &GroupTable, text: &mut String) -> Result<(), Error> {
    let mut line = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
    if let Some(name) = &group.name {
        line("name", value(name)?);
    }
    if let Some(workers) = group.workers {
        line("workers", workers.to_string());
    }
    for (key, acts) in group.lists() {
        if !acts.is_empty() {
            line(key, list(acts, 0, act)?);
        }
    }
    Ok(())
}

/// The text as the TOML writer formats it.
fn toml_text(value: &dyn AnySerialize) -> Result<String, Error> {
    // A trait object, so that the code of the writer is compiled once.
    toml::to_string(value)
}

fn value(value: &dyn AnySerialize) -> Result<String, Error> {
    let mut text = String::new();
    value.serialize(ValueSerializer::new(&mut text))?;
    Ok(text)
}

/// A list nested at this depth: on one line if it is short, else one line per item.
fn list<T>(
    all: &[T],
    depth: usize,
    one: fn(&T, usize) -> Result<String, Error>,
) -> Result<String, Error> {
    let all: Vec<String> = all
        .iter()
        .map(|it| one(it, depth + 1))
        .collect::<Result<_, _>>()?;
    let line = format!("[{}]", all.join(", "));
    // An outermost list always has one act per line, as files written by hand do.
    if depth > 0 && line.len() <= COLUMNS && !line.contains('\n') {
        return Ok(line);
    }
    let indent = "  ".repeat(depth);
    let lines = all.iter().map(|it| format!("{indent}  {it},\n"));
    Ok(format!("[\n{}{indent}]", lines.collect::<String>()))
}

fn act(act: &ActChoice, depth: usize) -> Result<String, Error> {
    let table = match act {
        ActChoice::Word(word) => return value(word),
        ActChoice::Table(table) => table,
    };
    if let Some(branches) = &table.mix {
        let branches = list(branches, depth, branch)?;
        return Ok(format!("{{ mix = {branches} }}"));
    }
    let head = ActTable {
        acts: Vec::new(),
        ..(**table).clone()
    };
    insert_acts(value(&head)?, &table.acts, depth)
}

fn branch(branch: &BranchTable, depth: usize) -> Result<String, Error> {
    let head = BranchTable {
        acts: Vec::new(),
        ..branch.clone()
    };
    insert_acts(value(&head)?, &branch.acts, depth)
}

/// Inserts a list of acts at the end of a table.
fn insert_acts(table: String, acts: &[ActChoice], depth: usize) -> Result<String, Error> {
    match table.strip_suffix('}').map(str::trim_end) {
        Some(open) if !acts.is_empty() => {
            let acts = list(acts, depth, act)?;
            Ok(format!("{open}, do = {acts} }}"))
        }
        _ => Ok(table),
    }
}
