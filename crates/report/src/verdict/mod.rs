//! Verdicts: conclusions from the results of a run in words, limited to what their confidence
//! intervals support.

mod class;
mod depth;
mod known;
mod limit;
mod rate;
pub(crate) mod search;

use results::{Claim, RunRecord};
use units::format;

use crate::group::{Naming, RepeatedCell, groups};
use crate::names::cache_name;
use crate::table::{Column, Table};
use crate::warnings::ModelWarning;
use crate::wrap::printable;

use class::DeviceClass;
pub(crate) use depth::{Knee, sweeps};
pub use known::KnownFigure;
use known::{DeviceAccess, KnownRate};
use limit::RateLimits;
pub(crate) use search::searches;

/// Minimum number of access patterns for a verdict on a target.
const ACCESSES_MIN: usize = 2;
/// Maximum number of targets with a verdict; for more, the tables are enough.
const TARGETS_MAX: usize = 4;

/// Conclusions from the results of a run, in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunVerdict {
    /// Target, engine and cache mode of the verdict, if the run has several.
    pub subject: Option<String>,
    /// Results that data sheets of devices state.
    pub figures: Vec<KnownFigure>,
    /// Other conclusions, each with its topic.
    pub sentences: Vec<(&'static str, String)>,
}

impl RunVerdict {
    /// Returns the results, in one row each.
    pub(crate) fn table(&self) -> Table {
        let row = |figure: &KnownFigure| {
            let depth = format!("depth {}", figure.depth);
            [
                figure.name.to_owned(),
                figure.value.clone(),
                depth,
                figure.uncertainty.clone(),
            ]
            .into()
        };
        let columns = [
            Column::name("access"),
            Column::number("rate", 40),
            Column::number("queue depth", 30),
            Column::name("how sure"),
        ];
        Table::new(columns, self.figures.iter().map(row))
    }
}

/// Returns the verdicts on a run: on each target measured like a data sheet, on sweeps over queue
/// depths, and on searches for the highest rate.
pub(crate) fn verdicts(record: &RunRecord, warnings: &[ModelWarning]) -> Vec<RunVerdict> {
    let groups = groups(record);
    let mut verdicts = of_places(record, &groups, warnings);
    let advice = depth::advice(&groups, &Naming::of(record));
    let found = searches(record, &Naming::of(record)).into_iter();
    let found: Vec<String> = found.map(|(_, said)| said).collect();
    if !advice.is_empty() || !found.is_empty() {
        let named = |name, texts: Vec<String>| texts.into_iter().map(move |text| (name, text));
        let sentences = named("queue depth", advice).chain(named("highest rate", found));
        verdicts.push(RunVerdict {
            sentences: sentences.collect(),
            ..RunVerdict::default()
        });
    }
    verdicts
}

/// Returns a verdict on each target with results that data sheets state.
fn of_places(
    record: &RunRecord,
    groups: &[RepeatedCell],
    warnings: &[ModelWarning],
) -> Vec<RunVerdict> {
    let mut places: Vec<(&RepeatedCell, Vec<KnownRate>)> = Vec::new();
    for (group, access) in groups
        .iter()
        .filter_map(|it| Some((it, KnownRate::of(it, record)?)))
    {
        match places.iter_mut().find(|(first, _)| is_same(first, group)) {
            Some((_, known)) => known.push(access),
            None => places.push((group, vec![access])),
        }
    }
    let has_enough = |(_, known): &(&RepeatedCell, Vec<KnownRate>)| {
        let mut kinds: Vec<DeviceAccess> = known.iter().map(|it| it.access).collect();
        // The same access at several depths counts once.
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len() >= ACCESSES_MIN
    };
    places.retain(has_enough);
    if places.len() > TARGETS_MAX {
        return Vec::new();
    }
    let is_alone = places.len() == 1;
    let verdict_of = |(first, known): &(&RepeatedCell, Vec<KnownRate>)| {
        let mut verdict = of_place(record, &known::best(known), groups, first);
        verdict.subject = (!is_alone).then(|| place_name(first));
        verdict
    };
    let mut verdicts: Vec<RunVerdict> = places.iter().map(verdict_of).collect();
    // Only once, because warnings are about the whole run.
    if let Some(last) = verdicts.last_mut() {
        last.sentences.extend(main_caveat(warnings));
    }
    verdicts
}

/// Returns `true` if both have the same target, engine and cache mode.
fn is_same(one: &RepeatedCell, other: &RepeatedCell) -> bool {
    let (one, other) = (one.identity, other.identity);
    one.target == other.target && one.cache == other.cache && one.engine == other.engine
}

fn place_name(group: &RepeatedCell) -> String {
    let identity = group.identity;
    let cache = cache_name(identity.cache);
    let engine = identity.engine.name();
    format!("{}, {engine}, {cache}", printable(identity.target))
}

fn of_place(
    record: &RunRecord,
    rates: &[KnownRate],
    groups: &[RepeatedCell],
    first: &RepeatedCell,
) -> RunVerdict {
    let limits = RateLimits {
        record,
        known: rates,
        groups: groups.iter().filter(|it| is_same(it, first)).collect(),
    };
    let sentences = [
        ("like", class_of(record, rates).map(|it| it.sentence(rates))),
        ("limit", limits.sentence()),
    ];
    let sentences = sentences.into_iter();
    RunVerdict {
        subject: None,
        figures: rates.iter().map(KnownRate::figure).collect(),
        sentences: sentences
            .filter_map(|(name, text)| Some((name, text?)))
            .collect(),
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
    let likeness = class::likeness(&class::Seen {
        shallow: at(DeviceAccess::RandomRead, Some(1))?,
        deep: at(DeviceAccess::RandomRead, Some(known::DEEP)),
        sequential: at(DeviceAccess::SequentialRead, None),
    });
    Some(likeness.on(record.environment.virtualization.as_deref()))
}

/// Returns the most important warning, with the number of others.
fn main_caveat(warnings: &[ModelWarning]) -> Option<(&'static str, String)> {
    let mut doubts = warnings.iter().filter(|it| !it.is_note);
    let first = doubts.next()?;
    let more = match doubts.count() {
        0 => String::new(),
        1 => " (and 1 more reason to doubt)".to_owned(),
        count => format!(
            " (and {} more reasons to doubt)",
            format::count(count as u64)
        ),
    };
    Some(("but", format!("{}{more}", first.message)))
}

#[cfg(test)]
mod tests;
