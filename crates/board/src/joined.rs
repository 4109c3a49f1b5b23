//! Joins runs of the same work to one record.

use results::{CellRecord, RunRecord, Status, estimates};

use crate::work::works;

/// Joins runs that did the same work on the same system, in the order of their starts. The cells of
/// each later run become further repetitions of the cells of the first one, so that a submission
/// has all repetitions that `pgmeter lab run` measured in separate runs.
///
/// Returns `None` without any run, or if two of them did different work.
#[must_use]
pub fn joined(mut runs: Vec<RunRecord>) -> Option<RunRecord> {
    runs.sort_by_key(|run| run.started_at);
    let mut runs = runs.into_iter();
    let mut whole = runs.next()?;
    let work = works(&whole);
    for run in runs {
        if works(&run) != work {
            return None;
        }
        append(&mut whole, run);
    }
    Some(whole)
}

fn append(whole: &mut RunRecord, run: RunRecord) {
    // A number that no cell has yet.
    let offset = whole.plan.cells.iter().map(|it| it.index + 1).max();
    let offset = offset.unwrap_or(0);
    let repetitions = whole.cells.iter().map(|it| it.repetition + 1).max();
    let repetitions = repetitions.unwrap_or(0);
    // `first_index` stays: both plans have the same cells, so it names the cell of the first run.
    whole
        .plan
        .cells
        .extend(run.plan.cells.into_iter().map(|it| plan::Cell {
            index: it.index + offset,
            repetition: it.repetition + repetitions,
            ..it
        }));
    whole
        .cells
        .extend(run.cells.into_iter().map(|it| CellRecord {
            index: it.index + offset,
            repetition: it.repetition + repetitions,
            ..it
        }));
    for mut warning in run.warnings {
        warning.cell = warning.cell.map(|cell| cell + offset);
        if !whole.warnings.contains(&warning) {
            whole.warnings.push(warning);
        }
    }
    whole.preconditions.extend(run.preconditions);
    whole.finished_at = run.finished_at;
    if run.status != Status::Complete {
        whole.status = run.status;
    }
    whole.estimates = estimates(&whole.cells);
}

#[cfg(test)]
mod tests {
    use results::Timestamp;

    use super::*;
    use crate::{BoardConfig, Checker, RuleLevel, Values, new_board, table_of};

    fn run(text: &str) -> RunRecord {
        RunRecord::from_json(text).unwrap()
    }

    fn reads() -> RunRecord {
        run(include_str!("../tests/records/reads-repeated.json"))
    }

    fn moved(time: Timestamp, seconds: i64) -> Timestamp {
        Timestamp::from_second(time.as_second() + seconds).unwrap()
    }

    /// The same run, this many seconds later.
    fn later(mut run: RunRecord, seconds: i64) -> RunRecord {
        run.started_at = moved(run.started_at, seconds);
        run.finished_at = run.finished_at.map(|it| moved(it, seconds));
        for cell in &mut run.cells {
            cell.started_at = cell.started_at.map(|it| moved(it, seconds));
        }
        run.id = run.started_at.strftime("%Y%m%d-%H%M%S-000-1").to_string();
        run
    }

    #[test]
    fn repetitions_of_several_runs_are_those_of_one_record() {
        let count = reads().cells.len();
        let whole = joined(vec![later(reads(), 60), reads()]).unwrap();
        assert_eq!(whole.id, reads().id);
        let repetitions: Vec<u32> = whole.cells.iter().map(|it| it.repetition).collect();
        let wanted: Vec<u32> = (0..2 * count as u32).collect();
        assert_eq!(repetitions, wanted);
        assert!(
            whole
                .cells
                .iter()
                .all(|it| it.key() == whole.cells[0].key())
        );
        for cell in &whole.cells {
            assert_eq!(
                whole.plan.cell(cell.index).unwrap().repetition,
                cell.repetition
            );
        }
        assert_eq!(whole.estimates[0].n, 2 * count as u32);
        // The rules find nothing wrong, and its value has all repetitions.
        let config = &new_board(None, true)[0].text;
        let mut config = BoardConfig::read("board.toml", config).unwrap();
        config.tables.push(table_of("reads", &whole).unwrap());
        let now = whole.finished_at.unwrap();
        let checked = Checker::new(&config, now).check_alone("joined", &whole);
        let mut findings = checked.findings.iter();
        assert!(
            findings.all(|it| it.level != RuleLevel::Error),
            "{:#?}",
            checked.findings
        );
        let values = Values::of_record(&whole, &config);
        let value = &values[0].columns["IOPS"];
        assert_eq!(value.n, 2 * count as u64);
    }

    #[test]
    fn runs_of_other_work_are_not_joined() {
        let pool = run(include_str!("../tests/records/small-pool.json"));
        assert_eq!(joined(vec![reads(), pool]), None);
        assert_eq!(joined(Vec::new()), None);
        assert_eq!(joined(vec![reads()]), Some(reads()));
    }
}
