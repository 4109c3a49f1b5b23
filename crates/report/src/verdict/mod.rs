//! Verdicts: conclusions from the results of a run in words, limited to what their confidence
//! intervals support.

mod cells;
mod class;
mod depth;
pub(crate) mod fit;
mod known;
mod limit;
mod rate;
pub(crate) mod search;

use results::{Claim, RunRecord, next_action};
use units::format;

use crate::group::{Naming, RepeatedCell, groups};
use crate::names::cache_name;
use crate::table::{Column, Table};
use crate::warnings::ModelWarning;
use crate::wrap::printable;

use class::DeviceClass;
pub(crate) use depth::{Knee, sweeps};
use known::{DeviceAccess, KnownRate};
use limit::{LimitSubject, RateLimits};
pub(crate) use search::searches;

/// Minimum number of access patterns for a verdict on a target.
const ACCESSES_MIN: usize = 2;
/// Maximum number of targets with a verdict; for more, the tables are enough.
const TARGETS_MAX: usize = 4;

/// Maximum number of sweeps and searches with a sentence each.
const SENTENCES_MAX: usize = 2;

/// The answer of a run: its main results, how sure they are, what limits them, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunVerdict {
    /// Target, engine and cache mode of the verdict, if the run has several.
    pub subject: Option<String>,
    /// The main results.
    pub figures: Vec<VerdictFigure>,
    /// Number of results that are not among the main ones.
    pub more_count: usize,
    /// `true` if the main results are those that data sheets of devices state.
    pub is_of_device: bool,
    /// Other conclusions, each with its topic.
    pub sentences: Vec<(&'static str, String)>,
}

/// One of the main results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictFigure {
    /// Name of the access or the cell, such as `4 KiB random read`.
    pub name: String,
    /// Number of requests in flight, if it distinguishes the result from others.
    pub depth: Option<u64>,
    /// Rate with its unit.
    pub value: String,
    /// Uncertainty in words.
    pub uncertainty: String,
}

impl VerdictFigure {
    /// Returns the name of the result with its depth.
    pub(crate) fn label(&self) -> String {
        match self.depth {
            Some(depth) => format!("{}, depth {depth}", self.name),
            None => self.name.clone(),
        }
    }
}

impl RunVerdict {
    /// Adds the subject to a text, if there are several.
    pub(crate) fn of_subject(&self, text: &str) -> String {
        match &self.subject {
            Some(subject) => format!("{subject}: {text}"),
            None => text.to_owned(),
        }
    }

    /// Returns the results, in one row each.
    pub(crate) fn table(&self) -> Table {
        let has_depth = self.figures.iter().any(|it| it.depth.is_some());
        let row = |figure: &VerdictFigure| {
            let depth = figure.depth.map(|depth| format!("depth {depth}"));
            let mut row = vec![figure.name.clone(), figure.value.clone()];
            row.extend(has_depth.then(|| depth.unwrap_or_default()));
            row.push(figure.uncertainty.clone());
            row
        };
        let name = if self.is_of_device {
            "access"
        } else {
            "workload"
        };
        let mut columns = vec![Column::name(name), Column::number("rate", 40)];
        columns.extend(has_depth.then(|| Column::number("queue depth", 30)));
        columns.push(Column::name("how sure"));
        Table::new(columns, self.figures.iter().map(row))
    }

    /// Says how many results are not among the main ones.
    pub(crate) fn more(&self) -> Option<String> {
        match self.more_count {
            0 => None,
            1 => Some("1 more result is in the tables".to_owned()),
            count => Some(format!(
                "{} more results are in the tables",
                format::count(count as u64)
            )),
        }
    }
}

/// Returns the verdicts on a run: one on each target measured like a data sheet, or else one on all
/// cells. The last one also has what the whole run shows.
pub(crate) fn verdicts(record: &RunRecord, warnings: &[ModelWarning]) -> Vec<RunVerdict> {
    let groups = groups(record);
    let naming = Naming::of(record);
    let mut verdicts = target_verdicts(record, &groups);
    if verdicts.is_empty() {
        verdicts.push(cells::verdict(record, &groups, &naming));
    }
    let found = searches(record, &naming).into_iter();
    let found = first_sentences(found.map(|(_, sentence)| sentence).collect(), "searches");
    let advice = first_sentences(depth::advice(&groups, &naming), "sweeps over queue depths");
    let named = |name, texts: Vec<String>| texts.into_iter().map(move |text| (name, text));
    let of_run = named("queue depth", advice)
        .chain(named("highest rate", found))
        .chain(main_doubt(record, warnings))
        .chain([("next", next_action(record))]);
    // Only once, because these are about the whole run.
    if let Some(last) = verdicts.last_mut() {
        last.sentences.extend(of_run);
    }
    verdicts
}

/// The first sentences, and how many others there are.
fn first_sentences(mut texts: Vec<String>, what: &str) -> Vec<String> {
    let more_count = texts.len().saturating_sub(SENTENCES_MAX);
    texts.truncate(SENTENCES_MAX);
    texts.extend((more_count > 0).then(|| format!("{more_count} more {what} are in the tables")));
    texts
}

/// Returns a verdict on each target with results that data sheets state.
fn target_verdicts(record: &RunRecord, groups: &[RepeatedCell]) -> Vec<RunVerdict> {
    let mut targets: Vec<(&RepeatedCell, Vec<KnownRate>)> = Vec::new();
    for (group, access) in groups
        .iter()
        .filter_map(|it| Some((it, KnownRate::of(it, record)?)))
    {
        match targets.iter_mut().find(|(first, _)| is_same(first, group)) {
            Some((_, known)) => known.push(access),
            None => targets.push((group, vec![access])),
        }
    }
    let has_enough = |(_, known): &(&RepeatedCell, Vec<KnownRate>)| {
        let mut kinds: Vec<DeviceAccess> = known.iter().map(|it| it.access).collect();
        // The same access at several depths counts once.
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len() >= ACCESSES_MIN
    };
    targets.retain(has_enough);
    if targets.len() > TARGETS_MAX {
        return Vec::new();
    }
    let is_alone = targets.len() == 1;
    let verdict_of = |(first, known): &(&RepeatedCell, Vec<KnownRate>)| {
        let mut verdict = target_verdict(record, &known::best(known), groups, first);
        verdict.subject = (!is_alone).then(|| target_name(first));
        verdict
    };
    targets.iter().map(verdict_of).collect()
}

/// Returns `true` if both have the same target, engine and cache mode.
fn is_same(one: &RepeatedCell, other: &RepeatedCell) -> bool {
    let (one, other) = (one.identity, other.identity);
    one.target == other.target && one.cache == other.cache && one.engine == other.engine
}

fn target_name(group: &RepeatedCell) -> String {
    let identity = group.identity;
    let cache = cache_name(identity.cache);
    let engine = identity.engine.name();
    format!("{}, {engine}, {cache}", printable(identity.target))
}

fn target_verdict(
    record: &RunRecord,
    rates: &[KnownRate],
    groups: &[RepeatedCell],
    first: &RepeatedCell,
) -> RunVerdict {
    let subjects = rates.iter().map(|rate| LimitSubject {
        name: rate.name(),
        group: rate.group,
    });
    let limits = RateLimits {
        record,
        known: rates,
        subjects: subjects.collect(),
        groups: groups.iter().filter(|it| is_same(it, first)).collect(),
    };
    let like = class_of(record, rates).map(|it| ("like", it.sentence(rates)));
    let limit = ("limit", limits.sentence());
    RunVerdict {
        subject: None,
        figures: rates.iter().map(KnownRate::figure).collect(),
        more_count: 0,
        is_of_device: true,
        sentences: like.into_iter().chain([limit]).collect(),
    }
}

/// Returns the classes of device that fit the results; `None` if the results are not sufficient.
fn class_of(record: &RunRecord, rates: &[KnownRate]) -> Option<class::MatchingClasses> {
    let is_against = |claim| record.warnings.iter().any(|it| it.contradicts(claim));
    // Rates from memory or a cache say nothing about a device.
    let in_memory = is_against(Claim::OnStorage)
        || record
            .environment
            .stacks
            .iter()
            .any(|stack| stack.in_memory);
    if in_memory {
        let why = "the target is in this machine's memory";
        return Some(class::MatchingClasses::known(DeviceClass::Memory, why));
    }
    if is_against(Claim::ReadFromDevice) {
        let why = "the page cache served reads, so no device was measured";
        return Some(class::MatchingClasses::known(DeviceClass::Memory, why));
    }
    if is_against(Claim::DeviceClass) {
        return None;
    }
    let at = |access, depth| known::find(rates, access, depth).map(|it| it.rate);
    let classes = class::matching_classes(&class::DeviceRates {
        shallow: at(DeviceAccess::RandomRead, Some(1))?,
        deep: at(DeviceAccess::RandomRead, Some(known::DEEP)),
        sequential: at(DeviceAccess::SequentialRead, None),
    });
    Some(classes.on(record.environment.virtualization.as_deref()))
}

/// Returns the most important warning, with the number of others; `None` if nothing was measured.
fn main_doubt(record: &RunRecord, warnings: &[ModelWarning]) -> Option<(&'static str, String)> {
    let mut doubts = warnings.iter().filter(|it| !it.is_note);
    let Some(first) = doubts.next() else {
        let none = || ("doubt", "no warnings for these results".to_owned());
        return (!record.cells.is_empty()).then(none);
    };
    let more = match doubts.count() {
        0 => String::new(),
        1 => " (and 1 more reason to doubt)".to_owned(),
        count => format!(
            " (and {} more reasons to doubt)",
            format::count(count as u64)
        ),
    };
    Some(("doubt", format!("{}{more}", first.message)))
}

#[cfg(test)]
mod tests;
