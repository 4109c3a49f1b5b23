//! The warnings of a record: the gravest first, what is alike together, each with what it is about.

use std::collections::BTreeSet;

use plan::CurvePart;
use results::{
    CellNames, CellRecord, Claim, Phase, RunRecord, Warning, WarningCode, WarningLevel, effect,
};

use crate::names::{cache_name, engine_name};
use crate::wrap::printable;

/// So many warnings of one kind are told in full.
const SAME_KIND_MAX: usize = 3;

/// A reason to doubt a figure or something worth knowing, with the cells it holds for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWarning {
    /// The kind of warning.
    pub code: String,
    /// Where and what.
    pub message: String,
    /// Whether something failed, rather than being doubtful.
    pub severe: bool,
    /// Whether it is worth knowing, but no reason to doubt a figure.
    pub is_note: bool,
}

/// Warnings that say the same.
struct Told<'a> {
    warning: &'a Warning,
    cells: Vec<u32>,
    count: usize,
    effect: f64,
}

/// The warnings, then the notes, each ordered by what they may change: those that say the same
/// are told once with their cells, and of each kind only the first few.
pub fn warnings(record: &RunRecord) -> Vec<ModelWarning> {
    let told = told(record);
    let mut kinds: Vec<(&WarningCode, f64)> = Vec::new();
    for one in &told {
        let code = &one.warning.code;
        match kinds.iter_mut().find(|(known, _)| *known == code) {
            Some((_, most)) => *most = most.max(one.effect),
            None => kinds.push((code, one.effect)),
        }
    }
    kinds.sort_by(|(a, effect_a), (b, effect_b)| {
        let levels = a.level().cmp(&b.level());
        levels.then(effect_b.total_cmp(effect_a))
    });
    let lines = kinds
        .into_iter()
        .flat_map(|(code, _)| of_kind(record, &told, code));
    lines.collect()
}

/// What is told, each text once.
fn told(record: &RunRecord) -> Vec<Told<'_>> {
    let mut told: Vec<Told> = Vec::new();
    for warning in &record.warnings {
        let effect = effect(warning, record);
        let same = told.iter_mut().find(|known| {
            known.warning.code == warning.code
                && known.warning.message == warning.message
                && known.cells.is_empty() == warning.cell.is_none()
        });
        match same {
            Some(known) => {
                known.cells.extend(warning.cell);
                known.count += 1;
                known.effect = known.effect.max(effect);
            }
            None => told.push(Told {
                warning,
                cells: warning.cell.into_iter().collect(),
                count: 1,
                effect,
            }),
        }
    }
    told
}

/// The first few warnings of a kind, and how many more there are.
fn of_kind(record: &RunRecord, told: &[Told], code: &WarningCode) -> Vec<ModelWarning> {
    let mut same: Vec<&Told> = told
        .iter()
        .filter(|one| one.warning.code == *code)
        .collect();
    // Stable: what may change as much stays in the order of the cells.
    same.sort_by(|a, b| b.effect.total_cmp(&a.effect));
    let shown = same.iter().take(SAME_KIND_MAX);
    let mut lines: Vec<ModelWarning> = shown
        .map(|one| line(code, &sentence(record, one)))
        .collect();
    if let Some(more_count) = same.len().checked_sub(SAME_KIND_MAX).filter(|it| *it > 0) {
        let rest = format!("and {more_count} more of this kind, see the record");
        lines.push(line(code, &rest));
    }
    lines
}

/// What is said, with what it is about, and how often it was where it is about the whole run.
fn sentence(record: &RunRecord, told: &Told) -> String {
    let place = place(record, &told.cells);
    let often = match told.count {
        count if count > 1 && told.cells.is_empty() => format!(" ({count} times)"),
        _ => String::new(),
    };
    format!("{place}{}{often}", told.warning.message)
}

fn line(code: &WarningCode, message: &str) -> ModelWarning {
    let severe = code.undermines().contains(&Claim::Valid);
    ModelWarning {
        code: printable(code.as_str()),
        message: printable(message),
        severe,
        is_note: code.level() == WarningLevel::Note,
    }
}

/// The cells a warning is about, before its message; nothing when it holds for all of them.
fn place(record: &RunRecord, cells: &[u32]) -> String {
    let distinct: BTreeSet<u32> = cells.iter().copied().collect();
    if distinct.is_empty() || distinct.len() == record.cells.len().max(record.plan.cells.len()) {
        return String::new();
    }
    if distinct.len() > 3 {
        return format!("{} cells: ", distinct.len());
    }
    let known = CellNames::of(&record.plan);
    let names: Vec<String> = distinct
        .iter()
        .map(
            |index| match record.cells.iter().find(|cell| cell.index == *index) {
                Some(cell) => cell_place(record, &known, cell),
                None => format!("cell {}", u64::from(*index) + 1),
            },
        )
        .collect();
    format!("{}: ", names.join("; "))
}

/// What a cell is called, so that it is not taken for another one.
pub(super) fn cell_place(record: &RunRecord, names: &CellNames, cell: &CellRecord) -> String {
    let is_repeated = record.cells.iter().any(|cell| cell.repetition > 0);
    let own = short_place(names, cell, is_repeated);
    let others = record.cells.iter().filter(|it| it.index != cell.index);
    let mut twins: Vec<&CellRecord> = others
        .filter(|it| short_place(names, it, is_repeated) == own)
        .collect();
    let mut place = own;
    let parts: [fn(&CellRecord) -> String; 5] = [
        |cell| cell.workload.clone(),
        |cell| format!("on `{}`", cell.target),
        |cell| engine_name(cell.engine).to_owned(),
        |cell| cache_name(cell.cache).to_owned(),
        |cell| match cell.workers {
            1 => "1 worker".to_owned(),
            count => format!("{count} workers"),
        },
    ];
    for part in parts {
        let own = part(cell);
        if twins.iter().any(|twin| part(twin) != own) {
            twins.retain(|twin| part(twin) == own);
            place.push_str(&format!(", {own}"));
        }
    }
    if !twins.is_empty() {
        place.push_str(&format!(", cell {}", u64::from(cell.index) + 1));
    }
    place
}

fn short_place(names: &CellNames, cell: &CellRecord, is_repeated: bool) -> String {
    let mut place = names.name(cell);
    // A classic program has one operation in flight, always.
    if !matches!(cell.phase, Phase::Classic(_)) {
        place.push_str(&format!(" at queue depth {}", cell.iodepth));
    }
    if let Some(CurvePart::Point { percent, .. }) = cell.curve {
        place.push_str(&format!(", {percent} % of the peak"));
    }
    if let Some(CurvePart::Trial { number, .. }) = cell.curve {
        place.push_str(&format!(", trial {number}"));
    }
    if is_repeated {
        place.push_str(&format!(", repetition {}", u64::from(cell.repetition) + 1));
    }
    place
}
