//! Output of PostMark, during a run and after it.

use description::classics::postmark::{Compat, PostmarkSettings, ReportForm};
use generate::pool::PoolMark;
use plan::program::{FilePool, PoolPart};
use plan::{Cell, FrontOrigin};
use results::{CellRecord, Phase, PoolFigures, RunEvent, RunRecord, Status};

use super::failures::{DeferredFailures, failures_text};
use super::report::{SessionTimes, report};
use crate::ClassicText;

const TERSE: &str = "terse";
const VERBOSE: &str = "verbose";
/// Approximate number of dots for all transactions.
const DOTS: u64 = 10;

/// Input of the text in addition to the record: the version, and the form of the report.
pub fn remembered(settings: &PostmarkSettings) -> Vec<String> {
    let form = match settings.report {
        ReportForm::Verbose => VERBOSE,
        ReportForm::Terse => TERSE,
    };
    vec![settings.compat.name().to_owned(), form.to_owned()]
}

/// The text of a run.
pub fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    let mut words = origin.arguments.iter().map(String::as_str);
    let compat = words.next().and_then(|name| name.parse().ok());
    Box::new(PostmarkText {
        compat: compat.unwrap_or_default(),
        form: form(words.next().unwrap_or(VERBOSE)),
        pool: FilePool::default(),
        begun: false,
        dots: 0,
        is_within_line: false,
        deferred: DeferredFailures::default(),
    })
}

fn form(name: &str) -> ReportForm {
    match name {
        TERSE => ReportForm::Terse,
        _ => ReportForm::Verbose,
    }
}

struct PostmarkText {
    compat: Compat,
    form: ReportForm,
    pool: FilePool,
    /// `true` if anything was printed.
    begun: bool,
    /// Number of dots printed so far.
    dots: u64,
    is_within_line: bool,
    deferred: DeferredFailures,
}

impl PostmarkText {
    fn begin(&mut self, part: PoolPart) -> String {
        self.begun = true;
        self.is_within_line = true;
        let mark = match part {
            PoolPart::MakeDirectories => PoolMark::MakingDirectories,
            PoolPart::Fill => PoolMark::Creating,
            PoolPart::Transact => PoolMark::Transactions,
            PoolPart::Empty => PoolMark::Deleting,
        };
        mark.text().to_owned()
    }

    fn done(&mut self, part: PoolPart, figures: &PoolFigures) -> String {
        self.is_within_line = false;
        match part {
            PoolPart::MakeDirectories => PoolMark::DirectoriesMade.text().to_owned(),
            PoolPart::Fill => PoolMark::Created.text().to_owned(),
            PoolPart::Transact => {
                let count = figures.transactions_count;
                let dots = self.dots_until(count);
                let end = match count < u64::from(self.pool.transactions) {
                    true => PoolMark::OutOfFiles,
                    false => PoolMark::TransactionsDone,
                };
                dots + end.text()
            }
            PoolPart::Empty if self.pool.subdirectories_count() > 0 => {
                let removed = [PoolMark::RemovingDirectories, PoolMark::DirectoriesRemoved];
                let marks = [PoolMark::Deleted].into_iter().chain(removed);
                marks.map(PoolMark::text).collect()
            }
            PoolPart::Empty => PoolMark::Deleted.text().to_owned(),
        }
    }

    /// Dots for this number of transactions that were not printed yet: one per tenth of all
    /// transactions, or one per transaction if there are fewer than ten.
    fn dots_until(&mut self, count: u64) -> String {
        // The original divides by a tenth of the transactions, so it crashes with fewer than ten.
        let tenth = (u64::from(self.pool.transactions) / DOTS).max(1);
        let dots = count.div_ceil(tenth);
        let more = dots.saturating_sub(self.dots);
        self.dots += more;
        ".".repeat(usize::try_from(more).unwrap_or(0))
    }

    /// All output of a run before its report.
    fn course(&mut self, figures: &PoolFigures) -> String {
        let mut text = String::new();
        for part in self.pool.parts() {
            text += &self.begin(part);
            text += &self.done(part, figures);
        }
        text
    }
}

impl ClassicText for PostmarkText {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { record } => {
                self.pool = pool(record).cloned().unwrap_or_default();
                String::new()
            }
            RunEvent::PoolPartBegun { part, .. } => self.begin(*part),
            RunEvent::PoolPartDone { part, figures, .. } => self.done(*part, figures),
            RunEvent::Progress {
                phase: Phase::Classic(name),
                elapsed_ns,
                total_ns,
                ..
            } if name == PoolPart::Transact.phase_name() && *total_ns > 0 => {
                // Print the last dot only at the end.
                let share = *elapsed_ns as f64 / *total_ns as f64;
                let all = u64::from(self.pool.transactions);
                let count = (share.min(1.0) * all as f64) as u64;
                self.dots_until(count.min(all - all.min(1)))
            }
            RunEvent::Finished { .. } if std::mem::take(&mut self.is_within_line) => {
                PoolMark::Stopped.text().to_owned()
            }
            _ => String::new(),
        }
    }

    fn error_text(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::PoolPartDone {
                figures, failures, ..
            } => {
                self.deferred.set_taken_count(figures);
                failures_text(failures, &self.pool)
            }
            RunEvent::CellDone { record } => {
                self.deferred.add(record);
                String::new()
            }
            RunEvent::Finished { .. } => self.deferred.text(),
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let phases: Vec<&CellRecord> = record.cells.iter().collect();
        let Some(figures) = figures(&phases) else {
            return String::new();
        };
        let is_whole = record.status == Status::Complete;
        let mut text = String::new();
        // A stored run has no events, so its progress lines are printed here.
        if !self.begun && is_whole {
            self.pool = pool(record).cloned().unwrap_or_default();
            text += &self.course(figures);
        }
        // The original prints no report if the pool ran out of files.
        let has_ended = figures.transactions_count >= u64::from(self.pool.transactions);
        if is_whole && has_ended {
            let times = stamps(&phases, figures).unwrap_or_else(|| sums(figures));
            text += &report(self.form, self.compat, figures, &times);
        }
        text
    }
}

/// The pool of files that a run uses.
fn pool(record: &RunRecord) -> Option<&FilePool> {
    let mut cells = record.plan.cells.iter();
    cells.find_map(|cell| cell.program()?.pool.as_deref())
}

fn figures<'a>(phases: &[&'a CellRecord]) -> Option<&'a PoolFigures> {
    let mut cells = phases.iter();
    cells.find_map(|cell| cell.phase_figures.as_ref()?.pool.as_ref())
}

/// Clock readings as the original would take them, from the phases' start times; `None` if the
/// record lacks them.
fn stamps(phases: &[&CellRecord], figures: &PoolFigures) -> Option<SessionTimes> {
    let begin_us = |part: PoolPart| {
        let mut phases = phases.iter();
        let phase = phases.find(|it| it.phase.name() == part.phase_name())?;
        Some(phase.started_at?.as_microsecond())
    };
    let micros = |time_ns: u64| i64::try_from(time_ns / 1000).unwrap_or(i64::MAX);
    let transactions_start_us = begin_us(PoolPart::Transact)?;
    let emptied_ns = figures.deletion_ns - figures.directories_removed_ns.min(figures.deletion_ns);
    Some(SessionTimes {
        // The original does not measure the directories.
        start_us: begin_us(PoolPart::Fill)?.saturating_add(micros(figures.directories_made_ns)),
        transactions_start_us,
        transactions_end_us: transactions_start_us.saturating_add(micros(figures.transactions_ns)),
        end_us: begin_us(PoolPart::Empty)?.saturating_add(micros(emptied_ns)),
    })
}

/// Clock readings from the phases' durations alone, as if there were no gaps between them.
fn sums(figures: &PoolFigures) -> SessionTimes {
    let micros = |time_ns: u64| i64::try_from(time_ns / 1000).unwrap_or(i64::MAX);
    let transactions_start_us = micros(figures.creation_ns);
    let transactions_end_us = transactions_start_us.saturating_add(micros(figures.transactions_ns));
    SessionTimes {
        start_us: 0,
        transactions_start_us,
        transactions_end_us,
        end_us: transactions_end_us.saturating_add(micros(figures.deletion_ns)),
    }
}

/// The report of a cell that ran the program's table. `None` if it did not, or if results were not
/// measured.
#[must_use]
pub fn pool_text(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    let compat = pool_version(record, cell)?;
    let form = form(setting(record, cell, "postmark.report")?);
    let figures = figures(phases)?;
    Some(report(form, compat, figures, &sums(figures)))
}

/// The version in a cell's table; `None` if the cell has no such table.
#[must_use]
pub fn pool_version(record: &RunRecord, cell: &Cell) -> Option<Compat> {
    setting(record, cell, "postmark.compat")?.parse().ok()
}

/// A setting in a workload's table.
fn setting<'a>(record: &'a RunRecord, cell: &Cell, key: &str) -> Option<&'a str> {
    let mut settings = record.plan.settings.iter();
    let setting = settings.find(|it| it.workload == cell.workload && it.key == key);
    setting.map(|it| it.value.as_str())
}
