//! A verdict: what the figures of a run say, in words, and no more than their intervals show.

mod class;
mod depth;
mod known;
mod limit;
mod rate;
pub(crate) mod search;

use results::{Claim, RunRecord};
use units::format;

use crate::group::{Group, Naming, groups};
use crate::names::{cache_name, engine_name};
use crate::table::{Column, Table};
use crate::warnings::ModelWarning;
use crate::wrap::printable;

use class::DeviceClass;
pub(crate) use depth::{Knee, sweeps};
pub use known::KnownFigure;
use known::{Access, Known};
use limit::Limits;
pub(crate) use search::searches;

/// Figures of fewer kinds of access are no first impression.
const ACCESSES_MIN: usize = 2;
/// More places than these are told by their tables.
const PLACES_MAX: usize = 4;

/// What the figures of a run say, in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// What it is of, where the run has several.
    pub of: Option<String>,
    /// The figures by which people know a device.
    pub figures: Vec<KnownFigure>,
    /// What else is to be said, each by what it is about.
    pub sentences: Vec<(&'static str, String)>,
}

impl Verdict {
    /// The figures, a row each.
    pub(crate) fn table(&self) -> Table {
        let row = |figure: &KnownFigure| {
            let depth = format!("depth {}", figure.depth);
            [
                figure.name.to_owned(),
                figure.value.clone(),
                depth,
                figure.sure.clone(),
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

/// The verdicts on a run: on each place that was measured as a device is, on its sweeps over queue
/// depths, and on the rates that it looked for.
pub(crate) fn verdicts(record: &RunRecord, warnings: &[ModelWarning]) -> Vec<Verdict> {
    let groups = groups(record);
    let mut verdicts = of_places(record, &groups, warnings);
    let advice = depth::advice(&groups, &Naming::of(record));
    let found = searches(record, &Naming::of(record)).into_iter();
    let found: Vec<String> = found.map(|(_, said)| said).collect();
    if !advice.is_empty() || !found.is_empty() {
        let named = |name, texts: Vec<String>| texts.into_iter().map(move |text| (name, text));
        let sentences = named("queue depth", advice).chain(named("highest rate", found));
        verdicts.push(Verdict {
            sentences: sentences.collect(),
            ..Verdict::default()
        });
    }
    verdicts
}

/// The verdict on each place of which the figures are there that people know devices by.
fn of_places(record: &RunRecord, groups: &[Group], warnings: &[ModelWarning]) -> Vec<Verdict> {
    let mut places: Vec<(&Group, Vec<Known>)> = Vec::new();
    for (group, access) in groups
        .iter()
        .filter_map(|it| Some((it, Known::of(it, record)?)))
    {
        match places.iter_mut().find(|(first, _)| is_same(first, group)) {
            Some((_, known)) => known.push(access),
            None => places.push((group, vec![access])),
        }
    }
    let has_enough = |(_, known): &(&Group, Vec<Known>)| {
        let mut kinds: Vec<Access> = known.iter().map(|it| it.access).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len() >= ACCESSES_MIN
    };
    places.retain(has_enough);
    if places.len() > PLACES_MAX {
        return Vec::new();
    }
    let is_alone = places.len() == 1;
    let of_place = |(first, known): &(&Group, Vec<Known>)| {
        let mut verdict = of_place(record, &known::best(known), groups, first);
        verdict.of = (!is_alone).then(|| place_name(first));
        verdict
    };
    let mut verdicts: Vec<Verdict> = places.iter().map(of_place).collect();
    if let Some(last) = verdicts.last_mut() {
        last.sentences.extend(before_relying(warnings));
    }
    verdicts
}

/// Whether both were measured in the same place, in the same way.
fn is_same(one: &Group, other: &Group) -> bool {
    let (one, other) = (one.place, other.place);
    one.target == other.target && one.cache == other.cache && one.engine == other.engine
}

fn place_name(group: &Group) -> String {
    let place = group.place;
    let cache = cache_name(place.cache);
    let engine = engine_name(place.engine);
    format!("{}, {engine}, {cache}", printable(place.target))
}

fn of_place(record: &RunRecord, known: &[Known], groups: &[Group], first: &Group) -> Verdict {
    let limits = Limits {
        record,
        known,
        groups: groups.iter().filter(|it| is_same(it, first)).collect(),
    };
    let sentences = [
        ("like", class_of(record, known).map(|it| it.sentence(known))),
        ("limit", limits.sentence()),
    ];
    let sentences = sentences.into_iter();
    Verdict {
        of: None,
        figures: known.iter().map(Known::figure).collect(),
        sentences: sentences
            .filter_map(|(name, text)| Some((name, text?)))
            .collect(),
    }
}

/// The classes of device that the figures fit; none where they tell of none.
fn class_of(record: &RunRecord, known: &[Known]) -> Option<class::Likeness> {
    let is_against = |claim| record.warnings.iter().any(|it| it.contradicts(claim));
    let in_memory = is_against(Claim::OnStorage)
        || record
            .environment
            .stacks
            .iter()
            .any(|stack| stack.in_memory);
    if in_memory {
        let why = "the target is in this machine's memory";
        return Some(class::Likeness::known(DeviceClass::Memory, why));
    }
    if is_against(Claim::ReadFromDevice) {
        let why = "the page cache served reads, so no device was measured";
        return Some(class::Likeness::known(DeviceClass::Memory, why));
    }
    if is_against(Claim::TellsDevice) {
        return None;
    }
    let at = |access, depth| known::find(known, access, depth).map(|it| it.rate);
    let likeness = class::likeness(&class::Seen {
        one: at(Access::RandomRead, Some(1))?,
        deep: at(Access::RandomRead, Some(known::DEEP)),
        sequential: at(Access::SequentialRead, None),
    });
    Some(likeness.on(record.environment.virtualization.as_deref()))
}

/// The one reason to doubt that matters most, and how many more there are.
fn before_relying(warnings: &[ModelWarning]) -> Option<(&'static str, String)> {
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
