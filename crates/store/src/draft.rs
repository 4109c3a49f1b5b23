//! From events to entries: what a run has told so far. Pure; nothing is written here.

use std::hash::{DefaultHasher, Hasher};
use std::io;

use results::{CellRecord, IntervalRecord, RunEvent, RunRecord, Warning};

use crate::best::Rates;
use crate::entry::{DoneCell, Entry, interval_text, text_fingerprint};

/// An event that the store keeps.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// The cell of this number in the plan begins.
    CellBegun(u32),
    /// Of the cell of this number in the plan.
    Interval(u32, IntervalRecord),
    /// A cell is complete.
    CellDone(Box<CellRecord>),
    /// The plan has more cells (JSON each).
    CellsAdded(Vec<String>),
    /// There is a doubt.
    Warning(Warning),
}

impl Told {
    /// What is kept of an event; nothing of those that only displays need.
    pub(crate) fn of(event: &RunEvent) -> Option<Self> {
        match event {
            RunEvent::CellStarted { index, .. } => Some(Self::CellBegun(*index)),
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

/// What a run has told so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// A fingerprint of each complete cell, in the order of running.
    done: Vec<u64>,
    open: Option<OpenCell>,
    warning_count: u32,
    rates: Rates,
}

/// The cell that is being measured.
#[derive(Debug)]
struct OpenCell {
    index: u32,
    /// Fingerprints of its intervals.
    intervals: Vec<u64>,
}

impl Draft {
    /// The entries that follow from what is told.
    pub(crate) fn entries(&mut self, told: Told) -> serde_json::Result<Vec<Entry>> {
        Ok(match told {
            Told::CellBegun(index) => vec![self.begin(index)],
            Told::Interval(index, interval) => {
                let is_open = |open: &OpenCell| open.index == index;
                let mut entries = Vec::new();
                if !self.open.as_ref().is_some_and(is_open) {
                    entries.push(self.begin(index));
                }
                entries.extend(self.interval(&interval)?);
                entries
            }
            Told::CellDone(record) => vec![self.finish(&record)?],
            Told::CellsAdded(cells) => vec![Entry::CellsAdded(cells)],
            Told::Warning(warning) => {
                let number = self.warning_count;
                self.warning_count += 1;
                vec![Entry::Warning { number, warning }]
            }
        })
    }

    /// The entries that make the cells in the store those of the record; none when all is well.
    pub(crate) fn corrections(&mut self, record: &RunRecord) -> serde_json::Result<Vec<Entry>> {
        self.open = None;
        self.rates = Rates::default();
        let mut entries = Vec::new();
        for (position, cell) in (0..).zip(&record.cells) {
            self.rates.add(cell);
            if self.done.get(position as usize) != Some(&fingerprint(cell)?) {
                let done = DoneCell::of(position, cell, &[], self.rates.best())?;
                entries.push(Entry::CellDone(Box::new(done)));
            }
        }
        Ok(entries)
    }

    /// The place of the cell that is open or will be next.
    fn position(&self) -> u32 {
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }

    fn begin(&mut self, index: u32) -> Entry {
        self.open = Some(OpenCell {
            index,
            intervals: Vec::new(),
        });
        Entry::CellBegun {
            position: self.position(),
            index,
        }
    }

    fn interval(&mut self, interval: &IntervalRecord) -> serde_json::Result<Option<Entry>> {
        let position = self.position();
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let figures = interval_text(interval)?;
        let number = u32::try_from(open.intervals.len()).unwrap_or(u32::MAX);
        open.intervals.push(text_fingerprint(&figures));
        Ok(Some(Entry::Interval {
            position,
            number,
            figures,
        }))
    }

    fn finish(&mut self, record: &CellRecord) -> serde_json::Result<Entry> {
        self.rates.add(record);
        let open = self.open.take().filter(|open| open.index == record.index);
        let told = open.map(|open| open.intervals).unwrap_or_default();
        let done = DoneCell::of(self.position(), record, &told, self.rates.best())?;
        self.done.push(fingerprint(record)?);
        Ok(Entry::CellDone(Box::new(done)))
    }
}

fn fingerprint(record: &CellRecord) -> serde_json::Result<u64> {
    struct Hashing(DefaultHasher);
    impl io::Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hashing = Hashing(DefaultHasher::new());
    units::write_json(&mut hashing, record)?;
    Ok(hashing.0.finish())
}
