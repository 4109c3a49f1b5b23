//! Output of lat_fs: size, number of files, creations and removals per second.

use plan::FrontOrigin;
use plan::program::Program;
use results::{CellRecord, FilesetFigures, PhaseFigures, RoundRule, RunEvent, RunRecord, Status};

use crate::{ClassicText, TableText};

/// Text for runs of the table, which has two phases per size.
pub const TEXT: TableText = TableText {
    title: "lat-fs",
    text: of_table,
};

fn of_table(_: &RunRecord, _: &Program, phases: &[&CellRecord]) -> Option<String> {
    let sizes = phases.chunks_exact(2);
    let lines: String = sizes.filter_map(|size| line_of(size[0], size[1])).collect();
    (!lines.is_empty()).then_some(lines)
}

/// The text for any arguments.
pub fn classic(_: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(LatFsText::default())
}

/// Prints a line when a size is finished.
#[derive(Default)]
struct LatFsText {
    /// Results of creating files of a size, until removing them is finished.
    created: Option<CellRecord>,
    /// Number of lines printed so far.
    count: usize,
}

impl ClassicText for LatFsText {
    fn event(&mut self, event: &RunEvent) -> String {
        let RunEvent::CellDone { record } = event else {
            return String::new();
        };
        // Both phases of a size belong to one cell; another index starts the next size.
        let created = self.created.take().filter(|it| it.index == record.index);
        let Some(created) = created else {
            self.created = Some(CellRecord::clone(record));
            return String::new();
        };
        let line = line_of(&created, record);
        self.count += usize::from(line.is_some());
        line.unwrap_or_default()
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let sizes = record.cells.chunk_by(|one, next| one.index == next.index);
        let lines = sizes.filter_map(|size| match size {
            [create, remove] => line_of(create, remove),
            // Interrupted before any file was removed.
            _ => None,
        });
        lines.skip(self.count).collect()
    }

    fn is_on_standard_error(&self) -> bool {
        // lmbench prints its results on standard error.
        true
    }
}

/// The line of a size, with its line break; `None` if it was not measured completely.
fn line_of(create: &CellRecord, remove: &CellRecord) -> Option<String> {
    if remove.status == Status::Interrupted {
        return None;
    }
    let (create, remove) = (
        create.phase_figures.as_ref()?,
        remove.phase_figures.as_ref()?,
    );
    let size_bytes = create.fileset()?.file_bytes;
    match (Passes::of(create), Passes::of(remove)) {
        (Some(Passes::Best(create)), Some(Passes::Best(remove))) => {
            Some(best_line(size_bytes, create, remove))
        }
        (create, remove) => {
            let sample = |passes: Option<Passes>| match passes {
                Some(Passes::Median(sample)) => Some(sample),
                _ => None,
            };
            Some(median_line(size_bytes, sample(create), sample(remove)))
        }
    }
}

/// Number of files, and the representative duration of a pass over them in nanoseconds.
type TimedPass = (u64, u64);

/// The pass that represents all passes of a phase.
enum Passes {
    /// The fastest, for version 1.6.
    Best(TimedPass),
    /// The median, for version 3.
    Median(TimedPass),
}

impl Passes {
    fn of(figures: &PhaseFigures) -> Option<Self> {
        let FilesetFigures { file_count, .. } = *figures.fileset()?;
        let round = figures.reported_round?;
        let timed = (file_count, round.time_ns);
        Some(match round.rule {
            RoundRule::Best => Self::Best(timed),
            RoundRule::Median => Self::Median(timed),
        })
    }
}

/// The line of version 1.6. A time of 0 counts as 1 ns; the original would print `inf`.
pub fn best_line(size_bytes: u64, create: TimedPass, remove: TimedPass) -> String {
    let rate = |(count, time_ns): TimedPass| per_second((count, time_ns.max(1)));
    format!(
        "{}k\t{}\t{:.0}\t{:.0}\n",
        size_bytes >> 10,
        create.0,
        rate(create),
        rate(remove),
    )
}

/// The line of version 3. The number of files is from the creations. Times are truncated to
/// microseconds; -1 stands for a missing or zero time.
pub fn median_line(
    size_bytes: u64,
    create: Option<TimedPass>,
    remove: Option<TimedPass>,
) -> String {
    let cut = |(count, time_ns): TimedPass| (count, time_ns - time_ns % 1000);
    let timed = |sample: Option<TimedPass>| sample.map(cut).filter(|(_, time_ns)| *time_ns > 0);
    let absent = || "-1".to_owned();
    let rate = |sample: TimedPass| format!("{:.0}", per_second(sample));
    let created = timed(create);
    format!(
        "{}k\t{}\t{}\t{}\n",
        size_bytes >> 10,
        created.map_or_else(absent, |(count, _)| count.to_string()),
        created.map_or_else(absent, rate),
        timed(remove).map_or_else(absent, rate),
    )
}

fn per_second((count, time_ns): TimedPass) -> f64 {
    count as f64 * 1e9 / time_ns as f64
}
