//! Rules about several submissions, and levels of trust that need more than one.

use std::collections::HashMap;

use results::RunRecord;
use serde_json::Value;
use units::json_value;

use super::{BoardRule, CheckedSubmission, RuleFinding, RuleLevel};
use crate::entry::{TrustLevel, Values};
use crate::hash::hash_of;
use crate::session::PoolSession;
use crate::{BoardConfig, BoardTable};

/// Returns the hash of a record's results, without names, times of day and machine, so that a copy
/// under another name has the same hash.
pub(super) fn fingerprint(record: &RunRecord) -> String {
    if let Some(import) = &record.import {
        let figures = import.results.iter().map(|it| json_value(&it.figures));
        return hash_of(&Value::Array(figures.flatten().collect()));
    }
    let cells = record.cells.iter().map(|cell| {
        let operations = json_value(&cell.operations).unwrap_or_default();
        serde_json::json!([cell.run_time_ns, operations])
    });
    hash_of(&Value::Array(cells.collect()))
}

/// Returns the effect of equal results. PostMark prints whole seconds, and its seed determines all
/// counts, so two systems may have the same report.
pub(super) fn copy_level(record: &RunRecord) -> RuleLevel {
    let import = record.import.as_ref();
    match import.is_some_and(PoolSession::is_of) {
        true => RuleLevel::Warning,
        false => RuleLevel::Error,
    }
}

/// Returns the class of the hardware: processor, kind of device and file system. Outputs of other
/// programs do not state it.
pub(super) fn hardware(record: &RunRecord) -> Option<String> {
    if record.import.is_some() {
        return None;
    }
    let environment = &record.environment;
    let devices = environment.devices.iter();
    let devices = devices.map(|it| format!("{} {} {:?}", it.kind, it.model, it.rotational));
    let file_systems = environment.file_systems.iter().map(|it| it.kind.clone());
    let parts: Vec<String> = devices.chain(file_systems).collect();
    Some(format!("{}, {}", environment.cpu.model, parts.join(", ")))
}

/// Compares all submissions of a board with each other.
pub fn check_together(config: &BoardConfig, submissions: &mut [CheckedSubmission]) {
    refuse_copies(submissions);
    let confirmed = confirmed(config, submissions);
    for (it, is_confirmed) in submissions.iter_mut().zip(confirmed) {
        if is_confirmed && it.trust == TrustLevel::Repeated {
            it.trust = TrustLevel::Reproduced;
        }
    }
}

/// Refuses every submission whose run or results an earlier one has, in the order of their names.
fn refuse_copies(submissions: &mut [CheckedSubmission]) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for it in submissions {
        let keys = [
            ("run", &it.run, BoardRule::Unique.level()),
            ("results", &it.fingerprint, it.copy_level),
        ];
        let mut found = Vec::new();
        for (what, key, level) in keys {
            let Some(key) = key else { continue };
            match seen.get(key) {
                None => {
                    seen.insert(key.clone(), it.slug.clone());
                }
                Some(other) => found.push(RuleFinding {
                    rule: BoardRule::Unique.id(),
                    name: BoardRule::Unique.name(),
                    level,
                    place: what.to_owned(),
                    expected: format!("no other submission with the same {what}"),
                    actual: format!("`{other}` has the same {what}"),
                }),
            }
        }
        it.findings.splice(0..0, found);
        it.findings.sort_by_key(|it| it.level);
    }
}

/// Returns for each submission whether another submitter's record agrees with it.
fn confirmed(config: &BoardConfig, submissions: &[CheckedSubmission]) -> Vec<bool> {
    let is_confirmed = |index: usize| {
        let it = &submissions[index];
        submissions.iter().enumerate().any(|(other_index, other)| {
            index != other_index
                && !other.is_refused()
                && it.submitter != other.submitter
                && it.hardware.is_some()
                && it.hardware == other.hardware
                && it.values.iter().any(|values| {
                    let same = other.values.iter().find(|it| it.table == values.table);
                    let table = config.table(&values.table);
                    same.zip(table)
                        .is_some_and(|(same, table)| agree(table, values, same))
                })
        })
    };
    (0..submissions.len()).map(is_confirmed).collect()
}

/// Returns `true` if each of two means is within the other's interval, for the same work.
fn agree(table: &BoardTable, a: &Values, b: &Values) -> bool {
    let value = |it: &Values| it.columns.get(&table.rank_by).cloned();
    let (Some(a_value), Some(b_value)) = (value(a), value(b)) else {
        return false;
    };
    let contains = |interval: Option<[f64; 2]>, mean: f64| {
        interval.is_some_and(|[low, high]| (low..=high).contains(&mean))
    };
    a.work.is_some()
        && a.work == b.work
        && contains(a_value.interval, b_value.mean)
        && contains(b_value.interval, a_value.mean)
}
