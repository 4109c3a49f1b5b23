//! JUnit's XML, which CI servers show as test results: one test case per cell.
//!
//! A case fails if something that the run was asked to do failed. Doubts about results are no
//! failures, so they are printed as the output of their case.

use maud::{Markup, html};
use results::{CellRecord, RunRecord, Status, Warning, WarningLevel};
use units::{format, printable};

use crate::group::Naming;
use crate::names::status_name;

/// Returns the document.
pub fn render(record: &RunRecord) -> String {
    let naming = Naming::of(record);
    let cases: Vec<TestCase> = record
        .cells
        .iter()
        .map(|it| TestCase::of(record, it))
        .collect();
    let of_run: Vec<&Warning> = record.failures().filter(|it| it.cell.is_none()).collect();
    let run_count = usize::from(!of_run.is_empty());
    let failed_count = cases.iter().filter(|it| it.is_failed()).count();
    let time_ns: u64 = record.cells.iter().map(|it| it.run_time_ns).sum();
    let started_at = record.started_at.strftime("%Y-%m-%dT%H:%M:%S");
    let document = html! {
        testsuites {
            testsuite name=(format!("pgmeter {}", printable(&record.id)))
                timestamp=(started_at) tests=(cases.len() + run_count)
                failures=(failed_count + run_count) errors="0" skipped="0"
                time=(seconds(time_ns)) {
                properties {
                    property name="version" value=(printable(&record.pgmeter.version)) {}
                    property name="command" value=(printable(&record.command.join(" "))) {}
                }
                @if run_count > 0 {
                    testcase classname="pgmeter" name="run" time="0" {
                        (failure(&of_run, Status::Failed))
                    }
                }
                @for case in &cases {
                    (case.markup(&naming))
                }
            }
        }
    };
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    format!("{head}\n{}\n", document.into_string())
}

/// A cell and the warnings about it.
struct TestCase<'a> {
    cell: &'a CellRecord,
    failures: Vec<&'a Warning>,
    doubts: Vec<&'a Warning>,
}

impl<'a> TestCase<'a> {
    fn of(record: &'a RunRecord, cell: &'a CellRecord) -> Self {
        let is_own = |it: &&Warning| it.cell == Some(cell.index);
        let failures: Vec<&Warning> = record.failures().filter(is_own).collect();
        let doubts = record.warnings.iter().filter(is_own);
        let doubts = doubts.filter(|it| it.level() == WarningLevel::Warning);
        Self {
            cell,
            doubts: doubts.filter(|it| !failures.contains(it)).collect(),
            failures,
        }
    }

    fn is_failed(&self) -> bool {
        !self.failures.is_empty() || self.cell.status == Status::Failed
    }

    fn markup(&self, naming: &Naming) -> Markup {
        let class = printable(&self.cell.workload);
        html! {
            testcase classname=(format!("pgmeter.{}", class.replace('.', "-")))
                name=(naming.cell(self.cell)) time=(seconds(self.cell.run_time_ns)) {
                @if self.is_failed() {
                    (failure(&self.failures, self.cell.status))
                }
                system-out { (self.output()) }
            }
        }
    }

    /// Returns the main results and the doubts, a line each.
    fn output(&self) -> String {
        let total = &self.cell.total;
        let mut lines = vec![format!("{} per second", format::iops(total.per_second))];
        if total.bytes > 0 {
            lines.push(format::bandwidth(total.bytes_per_second));
        }
        if let Some(ns) = total.latency.mean_ns {
            lines.push(format!("mean latency {}", format::latency(ns)));
        }
        if self.cell.status == Status::Interrupted {
            lines.push(status_name(self.cell.status).to_owned());
        }
        let doubts = self.doubts.iter();
        lines.extend(doubts.map(|it| format!("doubt: {}", printable(&it.message))));
        lines.join("\n")
    }
}

/// Returns the reasons for a failure. The first is the message that lists of results show.
fn failure(reasons: &[&Warning], status: Status) -> Markup {
    let reasons: Vec<_> = reasons.iter().map(|it| printable(&it.message)).collect();
    let first = reasons.first().map_or(status_name(status), |it| &**it);
    html! {
        failure message=(first) { (reasons.join("\n")) }
    }
}

fn seconds(ns: u64) -> String {
    format!("{:.3}", ns as f64 / 1e9)
}
