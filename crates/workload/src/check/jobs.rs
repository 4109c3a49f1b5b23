//! Jobs, and keys that mean nothing beside them: what a job does is said where it comes from.

use super::Flaw;
use crate::model::Workload;

/// Keys that mean something beside jobs.
const KEYS: [&str; 14] = [
    "name",
    "title",
    "source",
    "description",
    "targets",
    "engine",
    "cache",
    "run_time",
    "ramp_time",
    "repetitions",
    "precision",
    "budget",
    "seed",
    "cpus",
];

/// Checks a workload that is complete in itself.
pub(super) fn check_whole(workload: &Workload) -> Result<(), Flaw> {
    if workload.jobs.is_none() {
        return Ok(());
    }
    // Whatever can be written can be serialized.
    let written = toml::Table::try_from(workload as &dyn units::AnySerialize).unwrap_or_default();
    let mut others = written.keys().filter(|key| !KEYS.contains(&key.as_str()));
    let Some(key) = others.find(|key| *key != "keep") else {
        return Ok(());
    };
    let message = format!("`{key}` has no effect on jobs, which say it themselves");
    let help = format!("leave `{key}` out");
    let path = Vec::new();
    Err(Flaw {
        path,
        message,
        help,
    })
}
