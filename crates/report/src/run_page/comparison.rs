//! Comparison of several runs with the first one.

use ::compare::{ComparisonOptions, compare_with_first};
use results::RunRecord;

use crate::compare::document_for_run_page;
use crate::document::Document;
use crate::wrap::printable;

/// The comparison with the first run, or the reason why there is none.
pub type ComparisonResult = Result<Document, String>;

/// Compares several runs; `None` for a single run.
#[must_use]
pub fn compared(records: &[RunRecord]) -> Option<ComparisonResult> {
    if records.len() < 2 {
        return None;
    }
    let sides: Vec<&[RunRecord]> = records.iter().map(std::slice::from_ref).collect();
    let options = ComparisonOptions {
        // A page shows any runs next to each other. Different work appears as an alarm.
        force: true,
        paired: are_alternating(records),
    };
    let comparisons = compare_with_first(&sides, options);
    Some(match comparisons {
        Ok(comparisons) => Ok(document_for_run_page(&comparisons)),
        Err(error) => Err(printable(&format!("not compared: {error}"))),
    })
}

/// Returns `true` for two runs that were measured alternately.
fn are_alternating(records: &[RunRecord]) -> bool {
    let [a, b] = records else { return false };
    let alternates = |one: &RunRecord, other: &RunRecord| {
        let alternation = one.alternation.as_ref();
        alternation.is_some_and(|it| it.other == other.id)
    };
    alternates(a, b) && alternates(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn comparison_text(records: &[RunRecord]) -> String {
        let Some(Ok(document)) = compared(records) else {
            panic!("both ran the same plan");
        };
        crate::write::page::write(&document)
    }

    #[test]
    fn differences_of_plan_and_system_are_shown() {
        let mut records = [sample::record(), sample::record()];
        assert!(comparison_text(&records).contains("No difference of plan"));
        records[1].environment.kernel = "6.13.0".to_owned();
        records[1].environment.settings = vec!["pressure.io=some avg10=1".to_owned()];
        records[1].plan.settings[0].value = "20s".to_owned();
        let output = comparison_text(&records);
        assert!(
            output.contains("6.12.9") && output.contains("6.13.0"),
            "{output}"
        );
        assert!(
            output.contains("run-time") && output.contains("20s"),
            "{output}"
        );
        assert!(
            !output.contains("EPYC") && !output.contains("pressure"),
            "{output}"
        );
    }

    #[test]
    fn compared_runs_have_ratios_intervals_and_verdicts() {
        let mut records = [sample::record(), sample::record()];
        for (record, speed) in records.iter_mut().zip([1.0, 0.5]) {
            let first = record.cells[0].clone();
            record.cells = (0..5_u32)
                .map(|repetition| {
                    let mut cell = first.clone();
                    cell.repetition = repetition;
                    cell.total.per_second *= speed * (1.0 + f64::from(repetition) / 100.0);
                    cell
                })
                .collect();
        }
        let output = comparison_text(&records);
        for text in ["B/A", "95 %", "0.500", ">worse<", "B is 50 % slower"] {
            assert!(output.contains(text), "no `{text}` in {output}");
        }
        records[0].cells.truncate(1);
        records[1].cells.truncate(1);
        let output = comparison_text(&records);
        assert!(output.contains("cannot tell: one repetition"), "{output}");
    }
}
