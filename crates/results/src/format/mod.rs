//! The number of the record's format, beside its history and the steps from each to the next.

mod from_1;

use description::classics::upgrade_files;
use serde_json::Value;

pub use from_1::upgrade_cell;

/// Name and number of the format that records are written in.
///
/// Within a number, fields are only added; a reader fills in what an older record lacks and
/// passes over what it does not know. The number rises when a field changes its meaning or goes;
/// a record of a lower number is read, and is one of this number from then on.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `phase_figures` of cells in the place of `classic` |
///
/// Added to 1: `first_index` of planned cells, cells and estimates; `workload_index` of planned
/// cells; `curve` of estimates; `standstills` of cells;
/// `level` of warnings. Added to 2: `ran_ns`, `device` and `latencies` of intervals;
/// `workers` and `targets` of intervals; `workload_file`.
pub const FORMAT: &str = "pgmeter-record/2";

/// The format of records in which a program's figures stand by names of their own.
pub(crate) const FORMAT_1: &str = "pgmeter-record/1";

/// What was read as a document of the present format. Early ones of that number have plans that are
/// not written any more and are brought up to date.
///
/// # Errors
/// That of reading it as it is, if bringing it up to date does not help.
pub(crate) fn or_upgraded<T>(
    read: serde_json::Result<T>,
    upgraded: impl FnOnce() -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    match read {
        Err(error) if error.is_data() => upgraded().map_err(|_| error),
        read => read,
    }
}

/// Brings an earlier record up to date, in which a planned cell may have files of a kind that is a
/// program now.
///
/// # Errors
/// Settings that no program can have.
pub(crate) fn upgrade(record: &mut Value) -> serde_json::Result<()> {
    if let Some(Value::Array(cells)) = record.pointer_mut("/plan/cells") {
        let mut files = cells.iter_mut().filter_map(|cell| cell.get_mut("files"));
        files.try_for_each(upgrade_files)?;
    }
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
    fn a_plan_of_no_known_kind_is_told_as_it_is_read() {
        let mut damaged: Value = serde_json::from_str(RECORD_1).unwrap();
        damaged["format"] = FORMAT.into();
        damaged["plan"]["cells"][0]["files"] = serde_json::json!({ "kind": "none" });
        let error = RunRecord::from_json(&damaged.to_string()).unwrap_err();
        assert!(error.to_string().contains("`none`"), "{error}");
    }
}
