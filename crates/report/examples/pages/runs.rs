//! The made-up runs of all pages of runs.

use results::RunRecord;

use crate::{clusters, first, loads, made_up, odd};

/// All pages of runs, with their names and records.
pub fn pages() -> Vec<(&'static str, Vec<RunRecord>)> {
    let others = [
        ("quick", vec![first::quick()]),
        ("search", vec![first::search()]),
        ("steady", vec![loads::steady()]),
        ("curve", vec![loads::curve()]),
        ("mixed", vec![odd::mixed()]),
        ("compared-once", odd::compared_once()),
        ("wide", vec![odd::wide()]),
        ("processes", vec![clusters::few()]),
        ("many-processes", vec![clusters::many()]),
    ];
    made_up::pages().into_iter().chain(others).collect()
}
