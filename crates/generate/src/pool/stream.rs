//! The order of operations of a run, as a state machine.

use plan::program::{FileChoice, FilePool, POOL_FILES_MAX};

use super::chooser::Chooser;
use super::slots::{Directories, Slots};
use super::{Mark, Numbers, Operation, Outcome, PoolDirectory, PoolFile, StreamError, Totals};

/// The most bytes of text.
const TEXT_BYTES_MAX: u64 = i32::MAX as u64;
/// Transactions from dot to dot where they do not end.
const ENDLESS_DOT: u64 = 4096;

/// The operations of a run in their order.
///
/// The caller carries each out, or does not, and says how it went with the next call; the random
/// numbers drawn depend on it as they do in the original.
#[derive(Clone)]
pub struct Stream {
    settings: FilePool,
    weight_sum: u32,
    directories: Directories,
    numbers: Numbers,
    slots: Slots,
    chooser: Chooser,
    totals: Totals,
    phase: Phase,
    /// What was asked for last and is not yet counted.
    pending: Operation,
    is_endless: bool,
    has_all_dots: bool,
    is_stopping: bool,
    has_ended_early: bool,
}

/// What the original does not know.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StreamOptions {
    /// Which files transactions work on; with any but the default their operations are not the
    /// original's.
    pub choice: FileChoice,
    /// Whether transactions end by [`Stream::stop`] only, whatever their number is. Files' numbers
    /// begin anew when they no longer fit 32 bits.
    pub is_endless: bool,
    /// Whether every transaction is followed by a dot.
    pub has_all_dots: bool,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    MakeDirectory(u32),
    StartCreating,
    Create(u32),
    StartTransactions,
    /// The first half of a transaction: read or append.
    Access(u32),
    /// The second half: create or delete.
    Change(u32),
    /// A dot, if one is due.
    Progress(u32),
    StartDeleting,
    /// Deletes from this slot on.
    Delete(u32),
    StartRemoving,
    RemoveDirectory(u32),
    End,
}

impl Stream {
    /// The stream of a run; the text is drawn and thrown away.
    ///
    /// # Errors
    /// The pool does not fit into memory, or its numbers do not fit 32 bits.
    pub fn new(settings: &FilePool) -> Result<Self, StreamError> {
        let mut numbers = seeded(settings);
        for _ in 0..text_bytes(settings)? {
            numbers.printable();
        }
        Self::with_numbers(settings, StreamOptions::default(), numbers)
    }

    /// Whether there can be a stream where there is memory enough.
    ///
    /// # Errors
    /// The table or the text is larger than can be.
    pub fn check(settings: &FilePool) -> Result<(), StreamError> {
        if settings.number > POOL_FILES_MAX {
            return Err(StreamError::Table {
                slots_count: 2 * u64::from(settings.number),
            });
        }
        text_bytes(settings).map(drop)
    }

    /// The stream of a run and the text that its files are written from: twice as long as the
    /// largest file, and every write of a file begins at its start.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_text(settings: &FilePool) -> Result<(Self, Vec<u8>), StreamError> {
        Self::with_options(settings, StreamOptions::default())
    }

    /// As [`Self::with_text`], with what the original does not know.
    ///
    /// # Errors
    /// As for [`Self::new`], and when files cannot be chosen so.
    pub fn with_options(
        settings: &FilePool,
        options: StreamOptions,
    ) -> Result<(Self, Vec<u8>), StreamError> {
        let text_bytes = text_bytes(settings)?;
        let mut numbers = seeded(settings);
        let mut text = Vec::new();
        text.try_reserve_exact(text_bytes as usize)
            .map_err(|_| StreamError::Text {
                text_bytes: u64::from(text_bytes),
            })?;
        text.extend((0..text_bytes).map(|_| numbers.printable()));
        Ok((Self::with_numbers(settings, options, numbers)?, text))
    }

    fn with_numbers(
        settings: &FilePool,
        options: StreamOptions,
        numbers: Numbers,
    ) -> Result<Self, StreamError> {
        Self::check(settings)?;
        let locations_count = settings.locations.len().max(1);
        let directories = Directories {
            locations_count: u32::try_from(locations_count).unwrap_or(u32::MAX),
            subdirectories_count: settings.subdirectories_count(),
        };
        let entries_max = if options.is_endless {
            u32::MAX
        } else {
            settings.number.saturating_add(settings.transactions)
        };
        let slots_count = 2 * settings.number;
        let chooser = Chooser::new(options.choice, slots_count, settings.seed)?;
        let reach = chooser.reach(numbers.limit());
        Ok(Self {
            weight_sum: u32::try_from(settings.weight_sum()).unwrap_or(u32::MAX),
            directories,
            slots: Slots::new(slots_count, entries_max, directories, reach)?,
            chooser,
            settings: settings.clone(),
            numbers,
            totals: Totals::default(),
            phase: Phase::Start,
            pending: Operation::Mark(Mark::Creating),
            is_endless: options.is_endless,
            has_all_dots: options.has_all_dots,
            is_stopping: false,
            has_ended_early: false,
        })
    }

    /// The next operation, none after the last; `last` says how the one before went, and means
    /// nothing at the first call and after marks and directories.
    #[inline]
    pub fn next(&mut self, last: Outcome) -> Option<Operation> {
        self.settle(last);
        let operation = loop {
            if let Some(operation) = self.step() {
                break operation;
            }
            if self.phase == Phase::End {
                self.pending = Operation::Mark(Mark::Deleted);
                return None;
            }
        };
        self.pending = operation;
        if let Phase::Change(_) | Phase::Progress(_) = self.phase {
            // What comes next is drawn, too, with one number for its kind before its file.
            self.chooser.fetch_ahead(&self.slots, &self.numbers);
        }
        Some(operation)
    }

    /// Counts the last operation as done before it is; what comes next is not told of it.
    #[inline]
    pub(super) fn take_as_done(&mut self) {
        self.settle(Outcome::Done);
        self.pending = Operation::Mark(Mark::Dot);
    }

    /// Takes back that an operation was counted as done, of whose file there was none since.
    #[cold]
    pub(super) fn take_back(&mut self, operation: &Operation) {
        match *operation {
            Operation::Append {
                file,
                appended_bytes,
                ..
            } => self.slots.shrink(file.slot_index, appended_bytes),
            Operation::Delete { .. } if self.is_after_transactions() => {
                self.totals.deleted_after_count -= 1;
            }
            _ => {}
        }
        self.totals.take_back(operation);
    }

    const fn is_after_transactions(&self) -> bool {
        matches!(
            self.phase,
            Phase::Delete(_) | Phase::StartRemoving | Phase::RemoveDirectory(_) | Phase::End
        )
    }

    /// What was done so far, the last operation not included.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Whether the last operation is known to have been the final one of its transaction.
    #[must_use]
    pub(super) const fn ends_transaction(&self) -> bool {
        match self.phase {
            Phase::Progress(_) => true,
            Phase::Change(_) => self.settings.create_bias.is_none(),
            _ => false,
        }
    }

    /// Ends the creation or the transactions as soon as their current one is done; the files are
    /// still deleted.
    pub const fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// Whether there is no report because files ran out or the run was stopped.
    #[must_use]
    pub const fn has_ended_early(&self) -> bool {
        self.has_ended_early
    }

    /// Counts the last operation.
    #[inline]
    fn settle(&mut self, last: Outcome) {
        let is_done = last == Outcome::Done;
        match self.pending {
            Operation::Create { size_bytes, .. } if is_done => self.totals.add_written(size_bytes),
            Operation::Create { .. } => self.totals.create_failed_count += 1,
            Operation::Read { size_bytes, .. } if is_done => self.totals.add_read(size_bytes),
            Operation::Read { .. } => self.totals.read_failed_count += 1,
            Operation::Append {
                file,
                appended_bytes,
                ..
            } if is_done => {
                self.totals.appended_count += 1;
                self.totals.add_written(appended_bytes);
                self.slots.grow(file.slot_index, appended_bytes);
            }
            Operation::Append { .. } => {
                // The original draws the length only once the file is open.
                self.numbers.undo();
                self.totals.append_failed_count += 1;
            }
            Operation::Delete { file } if is_done => {
                self.totals.deleted_count += 1;
                self.slots.release(file.slot_index);
                let is_after = matches!(self.phase, Phase::Delete(_));
                self.totals.deleted_after_count += u64::from(is_after);
            }
            Operation::Delete { .. } => self.totals.delete_failed_count += 1,
            Operation::Mark(_) | Operation::MakeDirectory(_) | Operation::RemoveDirectory(_) => {}
        }
    }

    /// One step of the state machine; none if it leads to no operation.
    #[inline]
    fn step(&mut self) -> Option<Operation> {
        match self.phase {
            Phase::Access(index) => self.access(index),
            Phase::Change(index) => self.change(index),
            Phase::Progress(index) => self.progress(index),
            Phase::Create(index) => self.fill(index),
            Phase::Delete(slot) => Some(self.delete_from(slot)),
            _ => self.turn(),
        }
    }

    /// The steps between the loops.
    fn turn(&mut self) -> Option<Operation> {
        let has_directories = self.directories.subdirectories_count > 0;
        let (next, operation) = match self.phase {
            Phase::Start if has_directories => (
                Phase::MakeDirectory(0),
                Operation::Mark(Mark::MakingDirectories),
            ),
            Phase::Start | Phase::StartCreating => {
                (Phase::Create(0), Operation::Mark(Mark::Creating))
            }
            Phase::MakeDirectory(number) => match self.directories.subdirectory(number) {
                Some(directory) => (
                    Phase::MakeDirectory(number + 1),
                    Operation::MakeDirectory(directory),
                ),
                None => (Phase::StartCreating, Operation::Mark(Mark::DirectoriesMade)),
            },
            Phase::StartTransactions => (Phase::Access(0), Operation::Mark(Mark::Transactions)),
            Phase::StartDeleting => (Phase::Delete(0), Operation::Mark(Mark::Deleting)),
            Phase::StartRemoving if has_directories => (
                Phase::RemoveDirectory(0),
                Operation::Mark(Mark::RemovingDirectories),
            ),
            Phase::RemoveDirectory(number) => match self.directories.subdirectory(number) {
                Some(directory) => (
                    Phase::RemoveDirectory(number + 1),
                    Operation::RemoveDirectory(directory),
                ),
                None => (Phase::End, Operation::Mark(Mark::DirectoriesRemoved)),
            },
            _ => {
                self.phase = Phase::End;
                return None;
            }
        };
        self.phase = next;
        Some(operation)
    }

    /// The files before the transactions.
    fn fill(&mut self, index: u32) -> Option<Operation> {
        if index < self.settings.number && !self.is_stopping {
            self.phase = Phase::Create(index + 1);
            let operation = self.create();
            self.totals.created_before_count = self.totals.created_count;
            return operation;
        }
        self.phase = Phase::StartTransactions;
        Some(Operation::Mark(Mark::Created))
    }

    fn access(&mut self, index: u32) -> Option<Operation> {
        if index == self.settings.transactions && !self.is_endless {
            self.phase = Phase::StartDeleting;
            return Some(Operation::Mark(Mark::TransactionsDone));
        }
        if self.is_stopping || self.slots.is_empty() {
            self.phase = Phase::StartDeleting;
            self.has_ended_early = true;
            let is_out = !self.is_stopping;
            let mark = if is_out {
                Mark::OutOfFiles
            } else {
                Mark::Stopped
            };
            return Some(Operation::Mark(mark));
        }
        self.phase = Phase::Change(index);
        let read_bias = self.settings.read_bias?;
        let is_read = self.numbers.below(10) < u32::from(read_bias);
        let slot = self.chooser.pick(&self.slots, &mut self.numbers);
        let size_bytes = self.slots.size_bytes(slot);
        if is_read {
            let file = self.slots.file(slot);
            return Some(Operation::Read { file, size_bytes });
        }
        let room_bytes = self.settings.size_high_bytes.saturating_sub(size_bytes);
        if room_bytes == 0 {
            return None;
        }
        Some(Operation::Append {
            file: self.slots.file(slot),
            size_bytes,
            appended_bytes: self.numbers.below(room_bytes) + 1,
        })
    }

    fn change(&mut self, index: u32) -> Option<Operation> {
        self.phase = Phase::Progress(index);
        let create_bias = self.settings.create_bias?;
        if self.numbers.below(10) < u32::from(create_bias) {
            return self.create();
        }
        let slot = self.chooser.pick(&self.slots, &mut self.numbers);
        let file = self.slots.file(slot);
        Some(Operation::Delete { file })
    }

    /// A dot at every tenth of the transactions; where there are fewer than ten, at each, where
    /// the original divides by zero.
    fn progress(&mut self, index: u32) -> Option<Operation> {
        self.totals.transactions_count += 1;
        if self.is_endless {
            self.phase = Phase::Access(0);
            // So that the caller is asked to go on where transactions lead to no operation.
            let count = self.totals.transactions_count;
            return (self.has_all_dots || count.is_multiple_of(ENDLESS_DOT))
                .then_some(Operation::Mark(Mark::Dot));
        }
        self.phase = Phase::Access(index + 1);
        let tenth = match self.has_all_dots {
            true => 1,
            false => (self.settings.transactions / 10).max(1),
        };
        index
            .is_multiple_of(tenth)
            .then_some(Operation::Mark(Mark::Dot))
    }

    /// A new file; nothing is drawn or counted if the table is full.
    fn create(&mut self) -> Option<Operation> {
        let slot_index = self.slots.free_slot()?;
        let directory = self.draw_directory();
        self.totals.created_count += 1;
        let settings = &self.settings;
        let spread_bytes = settings
            .size_high_bytes
            .saturating_sub(settings.size_low_bytes);
        let size_bytes = settings.size_low_bytes + self.numbers.below(spread_bytes);
        let file = PoolFile {
            slot_index,
            number: number_of(self.totals.created_count),
            directory,
        };
        self.slots.occupy(file, size_bytes);
        Some(Operation::Create { file, size_bytes })
    }

    fn draw_directory(&mut self) -> PoolDirectory {
        let mut directory = PoolDirectory::default();
        if self.settings.locations.len() > 1 {
            let mut rest = self.numbers.below(self.weight_sum);
            // The last location needs no look: the weights are exhausted there.
            for location in self.settings.locations.iter().rev().skip(1).rev() {
                if rest < location.weight {
                    break;
                }
                rest -= location.weight;
                directory.location_index += 1;
            }
        }
        if self.directories.subdirectories_count > 0 {
            let index = self.numbers.below(self.directories.subdirectories_count);
            directory.subdirectory_index = Some(index);
        }
        directory
    }

    fn delete_from(&mut self, slot: u32) -> Operation {
        match self.slots.first_from(slot) {
            Some(found) => {
                self.phase = Phase::Delete(found + 1);
                let file = self.slots.file(found);
                Operation::Delete { file }
            }
            None => {
                self.phase = Phase::StartRemoving;
                Operation::Mark(Mark::Deleted)
            }
        }
    }
}

/// The number of the file that is the `count`th: from 1, and from 1 again where 32 bits end.
#[inline]
const fn number_of(count: u64) -> u32 {
    // A remainder of 32 bits has 32 bits.
    ((count - 1) % u32::MAX as u64) as u32 + 1
}

fn seeded(settings: &FilePool) -> Numbers {
    Numbers::new(settings.draws, settings.seed)
}

fn text_bytes(settings: &FilePool) -> Result<u32, StreamError> {
    let text_bytes = 2 * u64::from(settings.size_high_bytes);
    if text_bytes > TEXT_BYTES_MAX {
        return Err(StreamError::Text { text_bytes });
    }
    u32::try_from(text_bytes).map_err(|_| StreamError::Text { text_bytes })
}
