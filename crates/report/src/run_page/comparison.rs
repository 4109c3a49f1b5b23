//! Comparison of several runs: their differences, and bars for equal measurements.

use ::compare::{ComparisonOptions, compare_with_first};
use maud::{Markup, html};
use results::RunRecord;

use super::headline::{bar, value_or_dash};
use super::run::Run;
use crate::compare::document_for_run_page;
use crate::document::Document;
use crate::group::{Metric, RepeatedCell};
use crate::html::frame;
use crate::measure::WorkloadMeasure;
use crate::names::capital;
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

/// Groups of several runs with the same measurement.
struct Match<'a> {
    name: String,
    /// Each run with its group.
    groups: Vec<(&'a Run<'a>, &'a RepeatedCell<'a>)>,
}

fn matches<'a>(runs: &'a [Run<'a>]) -> Vec<Match<'a>> {
    let mut matches: Vec<Match> = Vec::new();
    for run in runs {
        for group in &run.groups {
            let name = run.naming.place(&group.identity);
            let same = |one: &&mut Match| {
                let (_, first) = one.groups[0];
                // A name contains the depth only if it varies within its run.
                one.name == name && first.identity.iodepth == group.identity.iodepth
            };
            match matches.iter_mut().find(same) {
                Some(found) => found.groups.push((run, group)),
                None => matches.push(Match {
                    name,
                    groups: vec![(run, group)],
                }),
            }
        }
    }
    matches.retain(|found| found.groups.len() > 1);
    matches
}

/// Returns a bar per run for each common measurement. Workloads measured by rate and by bandwidth
/// have separate tables.
#[must_use]
pub fn bars(runs: &[Run]) -> Markup {
    let matches = matches(runs);
    if matches.is_empty() {
        return html! { p { "The runs have no cell in common." } };
    }
    let is_long = matches.len() > 20;
    let parts =
        WorkloadMeasure::group_by_measure(matches, |found| WorkloadMeasure::of(found.groups[0].1));
    html! {
        @for (measure, matches) in &parts {
            @let scope = if parts.len() > 1 { measure.scope() } else { "" };
            @let name = capital(measure.name());
            @let caption = format!("{name}{scope}; bars of one workload share a scale");
            (frame(&caption, is_long, &measure_table(runs, *measure, matches, &caption)))
        }
    }
}

fn measure_table(
    runs: &[Run],
    measure: WorkloadMeasure,
    matches: &[Match],
    caption: &str,
) -> Markup {
    let other_name = match measure {
        WorkloadMeasure::Bandwidth => "per second",
        WorkloadMeasure::Rate(_) => "bandwidth",
    };
    html! {
        table.bars {
            caption { span { (caption) } }
            thead {
                tr {
                    th.name scope="col" { "workload" }
                    th.name scope="col" { "run" }
                    th.name scope="col" {
                        (measure.name()) ", with 95 % confidence where repeated"
                    }
                    th scope="col" { (other_name) }
                    th scope="col" { "p50" }
                    th scope="col" { "p99" }
                }
            }
            @for found in matches { (rows(runs, measure, found)) }
        }
    }
}

fn rows(runs: &[Run], measure: WorkloadMeasure, found: &Match) -> Markup {
    let metric = measure.metric();
    let other = match measure {
        WorkloadMeasure::Bandwidth => Metric::PerSecond,
        WorkloadMeasure::Rate(_) => Metric::BytesPerSecond,
    };
    let ends = found.groups.iter().filter_map(|(_, group)| {
        let figure = group.figure(metric)?;
        // The scale must have room for the whiskers, not only for the bars.
        Some(figure.interval.map_or(figure.mean, |[_, high]| high))
    });
    let most = ends.fold(0.0, f64::max);
    let color = |run: &Run| {
        runs.iter()
            .position(|one| one.letter == run.letter)
            .unwrap_or(0)
    };
    html! {
        tbody {
            @for (place, (run, group)) in found.groups.iter().enumerate() {
                tr {
                    @if place == 0 {
                        th scope="rowgroup" rowspan=(found.groups.len()) { (found.name) }
                    }
                    td.name { (run.letter.as_deref().unwrap_or_default()) }
                    td.name { (bar(metric, group.figure(metric), most, color(run))) }
                    td { (value_or_dash(group, other)) }
                    td { (value_or_dash(group, Metric::LatencyP50)) }
                    td { (value_or_dash(group, Metric::LatencyP99)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn cells_with_the_same_settings_are_matched() {
        let mut records = [sample::record(), sample::record()];
        records[1].cells[1].iodepth = 2;
        let runs = Run::all(&records);
        let matches = matches(&runs);
        assert_eq!(matches.len(), 1);
        assert_eq!(matches[0].name, "File Server, 2 workers, depth 8");
    }

    #[test]
    fn large_transfers_have_their_own_table_of_bandwidth() {
        let mut records = [sample::record(), sample::record()];
        for record in &mut records {
            let total = &mut record.cells[1].total;
            total.bytes = total.count << 20;
            total.bytes_per_second = 3e9;
        }
        let page = bars(&Run::all(&records)).into_string();
        assert_eq!(page.matches("<table").count(), 2, "{page}");
        assert!(
            page.contains("Bandwidth of transfers of 64 KiB or more; bars"),
            "{page}"
        );
    }

    #[test]
    fn a_different_target_does_not_prevent_a_match() {
        let mut records = [sample::record(), sample::record()];
        for cell in &mut records[1].cells {
            cell.target = "/mnt/other".to_owned();
        }
        assert_eq!(matches(&Run::all(&records)).len(), 2);
    }

    fn told(records: &[RunRecord]) -> String {
        let Some(Ok(document)) = compared(records) else {
            panic!("both ran the same plan");
        };
        crate::write::page::write(&document)
    }

    #[test]
    fn differences_of_plan_and_system_are_shown() {
        let mut records = [sample::record(), sample::record()];
        assert!(told(&records).contains("No difference of plan"));
        records[1].environment.kernel = "6.13.0".to_owned();
        records[1].environment.settings = vec!["pressure.io=some avg10=1".to_owned()];
        records[1].plan.settings[0].value = "20s".to_owned();
        let output = told(&records);
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
        let output = told(&records);
        for text in ["B/A", "95 %", "0.500", ">worse<", "B is 50 % slower"] {
            assert!(output.contains(text), "no `{text}` in {output}");
        }
        records[0].cells.truncate(1);
        records[1].cells.truncate(1);
        let output = told(&records);
        assert!(output.contains("cannot tell: one repetition"), "{output}");
    }
}
