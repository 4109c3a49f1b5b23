//! Warnings of a record: the most severe first, equal ones together, each with its location.

use std::collections::BTreeSet;

use plan::CurvePart;
use results::{
    CellNames, CellRecord, Claim, Phase, RunRecord, Warning, WarningCode, WarningLevel, effect,
};

use crate::names::cache_name;
use crate::wrap::printable;

/// Maximum number of warnings about the whole run that are shown per kind.
const SAME_KIND_MAX: usize = 3;

/// A warning or a note, with the cells it applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelWarning {
    /// Code of the warning.
    pub code: String,
    /// Location and message.
    pub message: String,
    /// `true` if the result is invalid, not only doubtful.
    pub is_severe: bool,
    /// `true` for a note, which is no reason to doubt a result.
    pub is_note: bool,
}

/// Warnings with the same message.
struct GroupedWarnings<'a> {
    warning: &'a Warning,
    cells: Vec<u32>,
    count: usize,
    effect: f64,
}

/// Returns the warnings, then the notes, each sorted by their possible effect. Warnings about cells
/// appear once per kind, for the cell where the effect is largest.
pub fn warnings(record: &RunRecord) -> Vec<ModelWarning> {
    let groups = grouped(record);
    let mut kinds: Vec<(&WarningCode, f64)> = Vec::new();
    for one in &groups {
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
        .flat_map(|(code, _)| of_kind(record, &groups, code));
    lines.collect()
}

/// Groups the warnings by message.
fn grouped(record: &RunRecord) -> Vec<GroupedWarnings<'_>> {
    let mut groups: Vec<GroupedWarnings> = Vec::new();
    for warning in &record.warnings {
        let effect = effect(warning, record);
        let same = groups.iter_mut().find(|group| {
            group.warning.code == warning.code
                && group.warning.message == warning.message
                // A warning about the whole run must not appear as one about some cells.
                && group.cells.is_empty() == warning.cell.is_none()
        });
        match same {
            Some(known) => {
                known.cells.extend(warning.cell);
                known.count += 1;
                known.effect = known.effect.max(effect);
            }
            None => groups.push(GroupedWarnings {
                warning,
                cells: warning.cell.into_iter().collect(),
                count: 1,
                effect,
            }),
        }
    }
    groups
}

/// Returns the warnings of a kind: one for all cells, and the first few about the whole run.
fn of_kind(
    record: &RunRecord,
    groups: &[GroupedWarnings],
    code: &WarningCode,
) -> Vec<ModelWarning> {
    let mut same: Vec<&GroupedWarnings> = groups
        .iter()
        .filter(|one| one.warning.code == *code)
        .collect();
    // The sort is stable, so warnings with equal effects stay in the order of the cells.
    same.sort_by(|a, b| b.effect.total_cmp(&a.effect));
    // Which operations failed is different in each cell, so those are not put together.
    let is_grouped = |it: &&GroupedWarnings| !it.cells.is_empty() && !is_severe(code);
    let (of_cells, same): (Vec<_>, Vec<_>) = same.into_iter().partition(is_grouped);
    let worst = of_cells.first().map(|one| {
        let others = other_cells(record, &of_cells);
        line(code, &format!("{}{others}", sentence(record, one)))
    });
    let shown = same.iter().take(SAME_KIND_MAX);
    let shown = shown.map(|one| line(code, &sentence(record, one)));
    let mut lines: Vec<ModelWarning> = worst.into_iter().chain(shown).collect();
    if let Some(more_count) = same.len().checked_sub(SAME_KIND_MAX).filter(|it| *it > 0) {
        let id = &record.id;
        let more =
            format!("{more_count} more of this kind; `pgmeter report {id} --format json` has them");
        lines.push(line(code, &more));
    }
    lines
}

/// Says how many cells have a warning of the same kind as the first of `groups`; empty if only that
/// one has.
fn other_cells(record: &RunRecord, groups: &[&GroupedWarnings]) -> String {
    let cells: BTreeSet<u32> = groups.iter().flat_map(|it| &it.cells).copied().collect();
    let (count, all) = (cells.len(), cell_count(record));
    let noun = match groups.first().map(|it| it.warning.level()) {
        Some(WarningLevel::Note) => "note",
        _ => "warning",
    };
    let have = match groups.len() {
        0 | 1 => return String::new(),
        _ if count == 2 && all == 2 => "both cells".to_owned(),
        _ if count >= all => format!("all {all} cells"),
        _ => format!("{count} of {all} cells"),
    };
    format!(" ({have} have this {noun}; the worst is shown)")
}

fn cell_count(record: &RunRecord) -> usize {
    // A cell of a classic program has one record per phase.
    let measured: BTreeSet<u32> = record.cells.iter().map(|cell| cell.index).collect();
    // After an interruption, the plan has more cells than the record.
    measured.len().max(record.plan.cells.len())
}

/// Formats a warning with its location. For the whole run, adds how often it occurred.
fn sentence(record: &RunRecord, group: &GroupedWarnings) -> String {
    let location = place(record, &group.cells);
    let often = match group.count {
        count if count > 1 && group.cells.is_empty() => format!(" ({count} times)"),
        _ => String::new(),
    };
    format!("{location}{}{often}", group.warning.message)
}

/// `true` if results with this warning are invalid.
fn is_severe(code: &WarningCode) -> bool {
    code.contradicted_claims().contains(&Claim::Valid)
}

fn line(code: &WarningCode, message: &str) -> ModelWarning {
    ModelWarning {
        code: printable(code.as_str()),
        message: printable(message),
        is_severe: is_severe(code),
        is_note: code.level() == WarningLevel::Note,
    }
}

/// Returns the cells that a warning applies to, as a prefix of its message; empty if it applies to
/// all.
fn place(record: &RunRecord, cells: &[u32]) -> String {
    let distinct: BTreeSet<u32> = cells.iter().copied().collect();
    if distinct.is_empty() || distinct.len() == cell_count(record) {
        return String::new();
    }
    if distinct.len() > 3 {
        return format!("{} cells: ", distinct.len());
    }
    let cell_names = CellNames::of(&record.plan);
    let names: Vec<String> = distinct
        .iter()
        .map(
            |index| match record.cells.iter().find(|cell| cell.index == *index) {
                Some(cell) => cell_place(record, &cell_names, cell),
                None => format!("cell {}", u64::from(*index) + 1),
            },
        )
        .collect();
    format!("{}: ", names.join("; "))
}

/// Returns a name for a cell that is unique within its record.
pub(super) fn cell_place(record: &RunRecord, names: &CellNames, cell: &CellRecord) -> String {
    let is_repeated = record.cells.iter().any(|cell| cell.repetition > 0);
    let own = short_place(names, cell, is_repeated);
    // Phases of a classic program share an index, and a warning has only the index.
    let others = record.cells.iter().filter(|it| it.index != cell.index);
    let mut twins: Vec<&CellRecord> = others
        .filter(|it| short_place(names, it, is_repeated) == own)
        .collect();
    let mut location = own;
    let parts: [fn(&CellRecord) -> String; 5] = [
        |cell| cell.workload.clone(),
        |cell| format!("on `{}`", cell.target),
        |cell| cell.engine.name().to_owned(),
        |cell| cache_name(cell.cache).to_owned(),
        |cell| match cell.workers {
            1 => "1 worker".to_owned(),
            count => format!("{count} workers"),
        },
    ];
    for part in parts {
        let own = part(cell);
        // Only properties that exclude a remaining twin, so that the name stays short.
        if twins.iter().any(|twin| part(twin) != own) {
            twins.retain(|twin| part(twin) == own);
            location.push_str(&format!(", {own}"));
        }
    }
    if !twins.is_empty() {
        location.push_str(&format!(", cell {}", u64::from(cell.index) + 1));
    }
    location
}

fn short_place(names: &CellNames, cell: &CellRecord, is_repeated: bool) -> String {
    let mut location = names.name(cell);
    // Classic programs always have one operation in flight.
    if !matches!(cell.phase, Phase::Classic(_)) {
        location.push_str(&format!(" at queue depth {}", cell.iodepth));
    }
    if let Some(CurvePart::Point { percent, .. }) = cell.curve {
        location.push_str(&format!(", {percent} % of the peak"));
    }
    if let Some(CurvePart::Trial { number, .. }) = cell.curve {
        location.push_str(&format!(", trial {number}"));
    }
    if is_repeated {
        location.push_str(&format!(", repetition {}", u64::from(cell.repetition) + 1));
    }
    location
}
