//! The text of create/remove: the published page's form, and a table with rates.

use workload::classics::create_remove::{Act, Between, Step};

use crate::numbers::{ABSENT, digits};
use crate::{Column, Page, Table};

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

/// Times of a step, of the process and of the children it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// On the clock.
    pub real_ns: u64,
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepFigures {
    /// The step.
    pub step: Step,
    /// Files that it was done to.
    pub file_count: u64,
    /// Files of which an operation failed.
    pub failed_count: u64,
    /// What it took.
    pub times: Times,
    /// What starting as many programs that do nothing took, in `mode = "exec"`.
    pub baseline: Option<Times>,
}

impl Times {
    /// What is left of these times without others; nothing, where there is less than that.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self {
            real_ns: self.real_ns.saturating_sub(other.real_ns),
            user_ns: self.user_ns.saturating_sub(other.user_ns),
            system_ns: self.system_ns.saturating_sub(other.system_ns),
        }
    }

    /// These times as `count` of `of` files would have taken them; 0 if there are none.
    ///
    /// For a baseline that was measured with fewer programs than there are files.
    #[must_use]
    pub fn scaled(self, count: u64, of: u64) -> Self {
        let scale = |time_ns: u64| {
            let scaled = u128::from(time_ns) * u128::from(count) / u128::from(of.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self {
            real_ns: scale(self.real_ns),
            user_ns: scale(self.user_ns),
            system_ns: scale(self.system_ns),
        }
    }
}

impl StepFigures {
    /// Files a second of the clock; none where no time passed.
    #[must_use]
    pub fn files_per_second(&self) -> Option<f64> {
        per_second(self.file_count, self.times.real_ns)
    }

    /// Bytes of content a second of the clock; none for a step without content.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        let payload_bytes = self.step.payload_bytes(self.file_count);
        if payload_bytes == 0 {
            return None;
        }
        per_second(payload_bytes, self.times.real_ns)
    }
}

fn per_second(count: u64, time_ns: u64) -> Option<f64> {
    (time_ns > 0).then(|| count as f64 * SECOND_NS / time_ns as f64)
}

/// The steps as the original script printed them.
#[must_use]
pub fn page(figures: &[StepFigures]) -> String {
    figures.iter().map(step_text).collect()
}

fn step_text(figures: &StepFigures) -> String {
    let Step {
        act,
        size_bytes,
        then,
    } = figures.step;
    let count = figures.file_count.saturating_add(figures.failed_count);
    let head = match (act, size_bytes) {
        (Act::Create, 0) => format!("Creating {count} empty files"),
        (Act::Create, _) => format!("Creating {count} files of size {size_bytes} bytes"),
        (Act::Stat, _) => format!("Statting {count} files of size {size_bytes} bytes"),
        (Act::Remove, _) => format!("Deleting {count} files of size {size_bytes} bytes"),
    };
    let between = match then {
        Between::Remount => "Remounting\n\n",
        Between::DropCaches => "Dropping caches\n\n",
        Between::Nothing => "",
    };
    let times = [
        ("real", figures.times.real_ns),
        ("user", figures.times.user_ns),
        ("sys", figures.times.system_ns),
    ];
    let times = times.map(|(name, time_ns)| format!("{name}\t{}\n", shell_time(time_ns)));
    format!("{head}\n\n{}Done\n\n{between}", times.concat())
}

/// A time as the shell prints it, cut to milliseconds.
fn shell_time(time_ns: u64) -> String {
    let milliseconds = time_ns / 1_000_000;
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    format!("{minutes}m{}.{:03}s", rest / 1000, rest % 1000)
}

/// The steps as a table: seconds of each, microseconds a file, rates; MB are millions of bytes.
///
/// With a baseline, what a file takes without the start of its program has its own column.
#[must_use]
pub fn table(figures: &[StepFigures], page: Page) -> String {
    let mut table = Table {
        columns: [
            ("real s", 9),
            ("user s", 6),
            ("system s", 6),
            ("real µs/file", 7),
            ("user µs/file", 4),
            ("system µs/file", 4),
            ("without start µs/file", 8),
            ("files/s", 10),
            ("MB/s", 9),
            ("errors", 5),
        ]
        .map(|(head, priority)| Column::number(head, priority))
        .into(),
        rows: figures.iter().map(row).collect(),
        span: None,
    };
    table.columns.insert(0, Column::name("step"));
    let is_absent = |column: usize| table.rows.iter().all(|row| row[column] == ABSENT);
    let mut idle = Vec::new();
    if is_absent(7) {
        idle.push("without start µs/file");
    }
    if figures.iter().all(|figures| figures.failed_count == 0) {
        idle.push("errors");
    }
    if !table.rows.is_empty() {
        table.drop_uniform(&idle);
    }
    let lines = table.lines(page.width);
    lines
        .head
        .into_iter()
        .chain(lines.body)
        .map(|line| line + "\n")
        .collect()
}

fn row(figures: &StepFigures) -> Vec<String> {
    let times = figures.times;
    let seconds = |time_ns: u64| format!("{:.3}", time_ns as f64 / SECOND_NS);
    let each = |time_ns: u64| match figures.file_count {
        0 => ABSENT.to_owned(),
        count => digits(time_ns as f64 / count as f64 / 1000.0),
    };
    let rate = |rate: Option<f64>| rate.map_or_else(|| ABSENT.to_owned(), digits);
    let alone = figures.baseline.map(|baseline| times.without(baseline));
    vec![
        format!("{} {}", figures.step.act.name(), figures.step.size_bytes),
        seconds(times.real_ns),
        seconds(times.user_ns),
        seconds(times.system_ns),
        each(times.real_ns),
        each(times.user_ns),
        each(times.system_ns),
        alone.map_or_else(|| ABSENT.to_owned(), |times| each(times.real_ns)),
        rate(figures.files_per_second()),
        rate(figures.bytes_per_second().map(|rate| rate / 1e6)),
        figures.failed_count.to_string(),
    ]
}

#[cfg(test)]
mod tests;
