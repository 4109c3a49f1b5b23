//! The format number of records, its history, and the upgrades from one number to the next.

mod from_1;

use description::classics::upgrade_files;
use serde_json::Value;

pub use from_1::upgrade_cell;

/// Name and number of the format that records are written in.
///
/// Within one number, fields are only added. A reader fills in fields that an older record lacks
/// and ignores unknown ones. The number increases when a field is removed or changes its meaning. A
/// record with a lower number is upgraded while it is read.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `phase_figures` of cells instead of `classic` |
///
/// Added to 1: `first_index` of planned cells, cells and estimates; `workload_index` of planned
/// cells; `curve` of estimates; `standstills` of cells;
/// `level` of warnings. Added to 2: `ran_ns`, `device` and `latencies` of intervals;
/// `workers` and `targets` of intervals; `workload_file`; `split_latencies` of workers; `import`.
pub const FORMAT: &str = "pgmeter-record/2";

/// The format of records that store a program's results by name.
pub(crate) const FORMAT_1: &str = "pgmeter-record/1";

/// Parses a document of the current format. Early documents of this number have an old form of
/// plan, which `upgraded` converts.
///
/// # Errors
/// The error of the first attempt, if the upgrade fails, too.
pub(crate) fn or_upgraded<T>(
    read: serde_json::Result<T>,
    upgraded: impl FnOnce() -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    match read {
        // Invalid JSON is not an old form, so only errors in the data are retried.
        Err(error) if error.is_data() => upgraded().map_err(|_| error),
        read => read,
    }
}

/// Upgrades an older record, also planned cells whose files are of a kind that is a program now.
///
/// # Errors
/// If settings are not possible for any program.
pub(crate) fn upgrade(record: &mut Value) -> serde_json::Result<()> {
    if let Some(Value::Array(cells)) = record.pointer_mut("/plan/cells") {
        let mut files = cells.iter_mut().filter_map(|cell| cell.get_mut("files"));
        files.try_for_each(upgrade_files)?;
    }
    // The files of planned cells changed within format 2 as well, so they come before this check.
    if record["format"] != FORMAT_1 {
        return Ok(());
    }
    record["format"] = FORMAT.into();
    if let Some(Value::Array(cells)) = record.get_mut("cells") {
        cells.iter_mut().for_each(upgrade_cell);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::RunRecord;

    const RECORD_1: &str = include_str!("../../tests/formats/1.json");

    #[test]
    fn plans_with_a_kind_for_each_table_are_read_in_both_formats() {
        let mut early: Value = serde_json::from_str(RECORD_1).unwrap();
        early["format"] = FORMAT.into();
        early["cells"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(upgrade_cell);
        let text = early.to_string();
        let wanted = RunRecord::from_json(RECORD_1).unwrap();
        assert_eq!(RunRecord::from_json(&text).unwrap(), wanted);
        assert_eq!(RunRecord::read(Cursor::new(&text)).unwrap(), wanted);
        assert!(wanted.plan.cells.iter().all(|it| it.program().is_some()));
    }

    #[test]
    fn a_plan_of_unknown_kind_is_refused_with_its_name() {
        let mut damaged: Value = serde_json::from_str(RECORD_1).unwrap();
        damaged["format"] = FORMAT.into();
        damaged["plan"]["cells"][0]["files"] = serde_json::json!({ "kind": "none" });
        let error = RunRecord::from_json(&damaged.to_string()).unwrap_err();
        assert!(error.to_string().contains("`none`"), "{error}");
    }
}
