//! Converts the events of a run to entries. Pure; nothing is written here.

use std::hash::{DefaultHasher, Hasher};
use std::io;

use results::{CellRecord, IntervalRecord, RunEvent, RunRecord, Warning};

use crate::best::BestRates;
use crate::entry::{CompleteCell, EventRows, interval_text, text_fingerprint};

/// An event that the store keeps.
#[derive(Debug, Clone)]
pub(crate) enum PersistedEvent {
    /// The cell with this number in the plan begins.
    CellStarted(u32),
    /// An interval of the cell with this number in the plan.
    Interval(u32, IntervalRecord),
    /// A cell is complete.
    CellDone(Box<CellRecord>),
    /// The plan has additional cells (JSON each).
    CellsAdded(Vec<String>),
    /// The run has a warning.
    Warning(Warning),
}

impl PersistedEvent {
    /// The part of an event to keep; `None` for events that only displays need.
    pub(crate) fn of(event: &RunEvent) -> Option<Self> {
        match event {
            RunEvent::CellStarted { index, .. } => Some(Self::CellStarted(*index)),
            RunEvent::Interval { cell, interval } => Some(Self::Interval(*cell, interval.clone())),
            RunEvent::CellDone { record } => Some(Self::CellDone(record.clone())),
            RunEvent::CellsAdded { cells, .. } => {
                // Every key of a cell is text, so each can be written.
                let texts = cells.iter().filter_map(|it| units::json_line(it).ok());
                Some(Self::CellsAdded(texts.collect()))
            }
            RunEvent::Warning { warning } => Some(Self::Warning(warning.clone())),
            _ => None,
        }
    }
}

/// State of a run as reported so far.
#[derive(Debug, Default)]
pub(crate) struct RunDraft {
    /// Fingerprint of each complete cell, in running order.
    done: Vec<u64>,
    open: Option<OpenCell>,
    warning_count: u32,
    rates: BestRates,
}

/// The cell being measured.
#[derive(Debug)]
struct OpenCell {
    index: u32,
    /// Fingerprints of its intervals.
    intervals: Vec<u64>,
}

impl RunDraft {
    /// The entries to write for an event.
    pub(crate) fn entries(&mut self, event: PersistedEvent) -> serde_json::Result<Vec<EventRows>> {
        Ok(match event {
            PersistedEvent::CellStarted(index) => vec![self.begin(index)],
            PersistedEvent::Interval(index, interval) => {
                let is_open = |open: &OpenCell| open.index == index;
                let mut entries = Vec::new();
                // An interval needs the row of its cell, even if the event of its beginning is
                // missing.
                if !self.open.as_ref().is_some_and(is_open) {
                    entries.push(self.begin(index));
                }
                entries.extend(self.interval(&interval)?);
                entries
            }
            PersistedEvent::CellDone(record) => vec![self.finish(&record)?],
            PersistedEvent::CellsAdded(cells) => vec![EventRows::CellsAdded(cells)],
            PersistedEvent::Warning(warning) => {
                let number = self.warning_count;
                self.warning_count += 1;
                vec![EventRows::Warning { number, warning }]
            }
        })
    }

    /// Entries that make the stored cells equal to the record; empty if they already are.
    pub(crate) fn corrections(&mut self, record: &RunRecord) -> serde_json::Result<Vec<EventRows>> {
        // The record is complete, so nothing continues after it.
        self.open = None;
        // Recalculated from the start, because the final record may differ from what was reported.
        self.rates = BestRates::default();
        let mut entries = Vec::new();
        for (position, cell) in (0..).zip(&record.cells) {
            self.rates.add(cell);
            // Comparing fingerprints avoids keeping a copy of every record of a long run.
            if self.done.get(position as usize) != Some(&fingerprint(cell)?) {
                let done = CompleteCell::of(position, cell, &[], self.rates.best())?;
                entries.push(EventRows::CellDone(Box::new(done)));
            }
        }
        Ok(entries)
    }

    /// Position of the open cell, or of the next one if none is open.
    fn position(&self) -> u32 {
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }

    fn begin(&mut self, index: u32) -> EventRows {
        self.open = Some(OpenCell {
            index,
            intervals: Vec::new(),
        });
        EventRows::CellStarted {
            position: self.position(),
            index,
        }
    }

    fn interval(&mut self, interval: &IntervalRecord) -> serde_json::Result<Option<EventRows>> {
        let position = self.position();
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let figures = interval_text(interval)?;
        let number = u32::try_from(open.intervals.len()).unwrap_or(u32::MAX);
        open.intervals.push(text_fingerprint(&figures));
        Ok(Some(EventRows::Interval {
            position,
            number,
            figures,
        }))
    }

    fn finish(&mut self, record: &CellRecord) -> serde_json::Result<EventRows> {
        self.rates.add(record);
        // Intervals of another cell must not count for this cell.
        let open = self.open.take().filter(|open| open.index == record.index);
        let fingerprints = open.map(|open| open.intervals).unwrap_or_default();
        let done = CompleteCell::of(self.position(), record, &fingerprints, self.rates.best())?;
        self.done.push(fingerprint(record)?);
        Ok(EventRows::CellDone(Box::new(done)))
    }
}

fn fingerprint(record: &CellRecord) -> serde_json::Result<u64> {
    struct HashWriter(DefaultHasher);
    impl io::Write for HashWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    // Fingerprints stay in this process, so the algorithm may differ between versions of Rust.
    let mut hashing = HashWriter(DefaultHasher::new());
    units::write_json(&mut hashing, record)?;
    Ok(hashing.0.finish())
}
