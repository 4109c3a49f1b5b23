//! The order of operations in a run, as a state machine.

use plan::program::{FileChoice, FilePool, POOL_FILES_MAX};

use super::chooser::Chooser;
use super::slots::{PoolDirectories, Slots};
use super::{
    OperationOutcome, PoolDirectory, PoolFile, PoolMark, PoolRandom, PoolStep, StreamError, Totals,
};

/// Maximum length of the text.
// The original counts bytes in an `int`.
const TEXT_BYTES_MAX: u64 = i32::MAX as u64;
/// Number of transactions between dots in an endless run.
const DOT_INTERVAL: u64 = 4096;

/// The operations of a run, in order.
///
/// The caller executes each operation, or skips it, and reports the outcome with the next call. As
/// in the original, the random numbers drawn depend on the outcome.
#[derive(Clone)]
pub struct PoolStream {
    settings: FilePool,
    weight_sum: u32,
    directories: PoolDirectories,
    rng: PoolRandom,
    slots: Slots,
    chooser: Chooser,
    totals: Totals,
    phase: PoolPhase,
    /// Last operation returned, not counted yet.
    pending: PoolStep,
    is_endless: bool,
    has_all_dots: bool,
    is_stopping: bool,
    has_ended_early: bool,
}

/// Options that the original does not have.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StreamOptions {
    /// Selection rule for files. With any rule but the default, operations differ from the
    /// original's.
    pub choice: FileChoice,
    /// `true` if only [`PoolStream::stop`] ends the transactions. File numbers start again when
    /// they no longer fit 32 bits.
    pub is_endless: bool,
    /// `true` if every transaction is followed by a dot.
    pub has_all_dots: bool,
}

/// State of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PoolPhase {
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
    /// Deletes files from this slot on.
    Delete(u32),
    StartRemoving,
    RemoveDirectory(u32),
    End,
}

impl PoolStream {
    /// The stream of a run; the text is drawn and discarded.
    ///
    /// # Errors
    /// If the pool does not fit into memory, or its numbers do not fit 32 bits.
    pub fn new(settings: &FilePool) -> Result<Self, StreamError> {
        let mut numbers = seeded(settings);
        // The original draws the text first, so all later numbers depend on its length.
        for _ in 0..text_bytes(settings)? {
            numbers.printable();
        }
        Self::with_numbers(settings, StreamOptions::default(), numbers)
    }

    /// Checks that the stream can exist if there is enough memory.
    ///
    /// # Errors
    /// If the table or the text is too large.
    pub fn check(settings: &FilePool) -> Result<(), StreamError> {
        if settings.number > POOL_FILES_MAX {
            return Err(StreamError::Table {
                slots_count: 2 * u64::from(settings.number),
            });
        }
        text_bytes(settings).map(drop)
    }

    /// The stream of a run, with the text that its files are written from. The text is twice as
    /// long as the largest file, and every write starts at its beginning.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_text(settings: &FilePool) -> Result<(Self, Vec<u8>), StreamError> {
        Self::with_options(settings, StreamOptions::default())
    }

    /// As [`Self::with_text`], with options that the original does not have.
    ///
    /// # Errors
    /// As for [`Self::new`], and if the file selection is out of range.
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
        numbers: PoolRandom,
    ) -> Result<Self, StreamError> {
        Self::check(settings)?;
        let locations_count = settings.locations.len().max(1);
        let directories = PoolDirectories {
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
            rng: numbers,
            totals: Totals::default(),
            phase: PoolPhase::Start,
            pending: PoolStep::Mark(PoolMark::Creating),
            is_endless: options.is_endless,
            has_all_dots: options.has_all_dots,
            is_stopping: false,
            has_ended_early: false,
        })
    }

    /// The next operation; `None` after the last one. `last` is the outcome of the previous
    /// operation. It is ignored at the first call and after marks and directories.
    #[inline]
    pub fn next(&mut self, last: OperationOutcome) -> Option<PoolStep> {
        self.settle(last);
        let operation = loop {
            if let Some(operation) = self.step() {
                break operation;
            }
            if self.phase == PoolPhase::End {
                self.pending = PoolStep::Mark(PoolMark::Deleted);
                return None;
            }
        };
        self.pending = operation;
        if let PoolPhase::Change(_) | PoolPhase::Progress(_) = self.phase {
            // Prefetch for the operation after this one, which draws one number for its kind before
            // its file.
            self.chooser.fetch_ahead(&self.slots, &self.rng);
        }
        Some(operation)
    }

    /// Counts the last operation as done before it is executed; the next call to `next` does not
    /// count it again.
    #[inline]
    pub(super) fn count_as_done(&mut self) {
        self.settle(OperationOutcome::Done);
        self.pending = PoolStep::Mark(PoolMark::Dot);
    }

    /// Undoes [`Self::count_as_done`] for an operation that failed. There must be no later
    /// operation on its file.
    #[cold]
    pub(super) fn revert(&mut self, operation: &PoolStep) {
        match *operation {
            PoolStep::Append {
                file,
                appended_bytes,
                ..
            } => self.slots.shrink(file.slot_index, appended_bytes),
            PoolStep::Delete { .. } if self.is_after_transactions() => {
                self.totals.deleted_after_count -= 1;
            }
            _ => {}
        }
        self.totals.revert(operation);
    }

    const fn is_after_transactions(&self) -> bool {
        matches!(
            self.phase,
            PoolPhase::Delete(_)
                | PoolPhase::StartRemoving
                | PoolPhase::RemoveDirectory(_)
                | PoolPhase::End
        )
    }

    /// Totals so far, without the last operation.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// `true` if the last operation is known to be the final one of its transaction.
    #[must_use]
    pub(super) const fn ends_transaction(&self) -> bool {
        match self.phase {
            PoolPhase::Progress(_) => true,
            PoolPhase::Change(_) => self.settings.create_bias.is_none(),
            _ => false,
        }
    }

    /// Ends the creation or the transactions after the current one; the files are still deleted.
    pub const fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// `true` if there is no report, because files ran out or the run was stopped.
    #[must_use]
    pub const fn has_ended_early(&self) -> bool {
        self.has_ended_early
    }

    /// Counts the last operation.
    #[inline]
    fn settle(&mut self, last: OperationOutcome) {
        let is_done = last == OperationOutcome::Done;
        match self.pending {
            PoolStep::Create { size_bytes, .. } if is_done => self.totals.add_written(size_bytes),
            PoolStep::Create { .. } => self.totals.create_failed_count += 1,
            PoolStep::Read { size_bytes, .. } if is_done => self.totals.add_read(size_bytes),
            PoolStep::Read { .. } => self.totals.read_failed_count += 1,
            PoolStep::Append {
                file,
                appended_bytes,
                ..
            } if is_done => {
                self.totals.appended_count += 1;
                self.totals.add_written(appended_bytes);
                self.slots.grow(file.slot_index, appended_bytes);
            }
            PoolStep::Append { .. } => {
                // The original draws the length only after the file is open.
                self.rng.undo();
                self.totals.append_failed_count += 1;
            }
            PoolStep::Delete { file } if is_done => {
                self.totals.deleted_count += 1;
                self.slots.release(file.slot_index);
                let is_after = matches!(self.phase, PoolPhase::Delete(_));
                self.totals.deleted_after_count += u64::from(is_after);
            }
            PoolStep::Delete { .. } => self.totals.delete_failed_count += 1,
            PoolStep::Mark(_) | PoolStep::MakeDirectory(_) | PoolStep::RemoveDirectory(_) => {}
        }
    }

    /// One step of the state machine; `None` if it leads to no operation.
    #[inline]
    fn step(&mut self) -> Option<PoolStep> {
        match self.phase {
            PoolPhase::Access(index) => self.access(index),
            PoolPhase::Change(index) => self.change(index),
            PoolPhase::Progress(index) => self.progress(index),
            PoolPhase::Create(index) => self.fill(index),
            PoolPhase::Delete(slot) => Some(self.delete_from(slot)),
            _ => self.turn(),
        }
    }

    /// Steps between the loops.
    fn turn(&mut self) -> Option<PoolStep> {
        let has_directories = self.directories.subdirectories_count > 0;
        let (next, operation) = match self.phase {
            PoolPhase::Start if has_directories => (
                PoolPhase::MakeDirectory(0),
                PoolStep::Mark(PoolMark::MakingDirectories),
            ),
            PoolPhase::Start | PoolPhase::StartCreating => {
                (PoolPhase::Create(0), PoolStep::Mark(PoolMark::Creating))
            }
            PoolPhase::MakeDirectory(number) => match self.directories.subdirectory(number) {
                Some(directory) => (
                    PoolPhase::MakeDirectory(number + 1),
                    PoolStep::MakeDirectory(directory),
                ),
                None => (
                    PoolPhase::StartCreating,
                    PoolStep::Mark(PoolMark::DirectoriesMade),
                ),
            },
            PoolPhase::StartTransactions => {
                (PoolPhase::Access(0), PoolStep::Mark(PoolMark::Transactions))
            }
            PoolPhase::StartDeleting => (PoolPhase::Delete(0), PoolStep::Mark(PoolMark::Deleting)),
            PoolPhase::StartRemoving if has_directories => (
                PoolPhase::RemoveDirectory(0),
                PoolStep::Mark(PoolMark::RemovingDirectories),
            ),
            PoolPhase::RemoveDirectory(number) => match self.directories.subdirectory(number) {
                Some(directory) => (
                    PoolPhase::RemoveDirectory(number + 1),
                    PoolStep::RemoveDirectory(directory),
                ),
                None => (PoolPhase::End, PoolStep::Mark(PoolMark::DirectoriesRemoved)),
            },
            _ => {
                self.phase = PoolPhase::End;
                return None;
            }
        };
        self.phase = next;
        Some(operation)
    }

    /// Creates the files before the transactions.
    fn fill(&mut self, index: u32) -> Option<PoolStep> {
        if index < self.settings.number && !self.is_stopping {
            self.phase = PoolPhase::Create(index + 1);
            let operation = self.create();
            self.totals.created_before_count = self.totals.created_count;
            return operation;
        }
        self.phase = PoolPhase::StartTransactions;
        Some(PoolStep::Mark(PoolMark::Created))
    }

    fn access(&mut self, index: u32) -> Option<PoolStep> {
        if index == self.settings.transactions && !self.is_endless {
            self.phase = PoolPhase::StartDeleting;
            return Some(PoolStep::Mark(PoolMark::TransactionsDone));
        }
        if self.is_stopping || self.slots.is_empty() {
            self.phase = PoolPhase::StartDeleting;
            self.has_ended_early = true;
            let is_out = !self.is_stopping;
            let mark = if is_out {
                PoolMark::OutOfFiles
            } else {
                PoolMark::Stopped
            };
            return Some(PoolStep::Mark(mark));
        }
        self.phase = PoolPhase::Change(index);
        let read_bias = self.settings.read_bias?;
        let is_read = self.rng.below(10) < u32::from(read_bias);
        let slot = self.chooser.pick(&self.slots, &mut self.rng);
        let size_bytes = self.slots.size_bytes(slot);
        if is_read {
            let file = self.slots.file(slot);
            return Some(PoolStep::Read { file, size_bytes });
        }
        let room_bytes = self.settings.size_high_bytes.saturating_sub(size_bytes);
        // For a file of the largest size, the original draws no length and counts nothing.
        if room_bytes == 0 {
            return None;
        }
        Some(PoolStep::Append {
            file: self.slots.file(slot),
            size_bytes,
            appended_bytes: self.rng.below(room_bytes) + 1,
        })
    }

    fn change(&mut self, index: u32) -> Option<PoolStep> {
        self.phase = PoolPhase::Progress(index);
        let create_bias = self.settings.create_bias?;
        if self.rng.below(10) < u32::from(create_bias) {
            return self.create();
        }
        let slot = self.chooser.pick(&self.slots, &mut self.rng);
        let file = self.slots.file(slot);
        Some(PoolStep::Delete { file })
    }

    /// A dot after every tenth of the transactions. With fewer than ten, a dot after each; the
    /// original divides by zero there.
    fn progress(&mut self, index: u32) -> Option<PoolStep> {
        self.totals.transactions_count += 1;
        if self.is_endless {
            self.phase = PoolPhase::Access(0);
            // Returns to the caller even if transactions lead to no operation.
            let count = self.totals.transactions_count;
            return (self.has_all_dots || count.is_multiple_of(DOT_INTERVAL))
                .then_some(PoolStep::Mark(PoolMark::Dot));
        }
        self.phase = PoolPhase::Access(index + 1);
        let tenth = match self.has_all_dots {
            true => 1,
            false => (self.settings.transactions / 10).max(1),
        };
        index
            .is_multiple_of(tenth)
            .then_some(PoolStep::Mark(PoolMark::Dot))
    }

    /// Creates a file; if the table is full, draws and counts nothing.
    fn create(&mut self) -> Option<PoolStep> {
        let slot_index = self.slots.free_slot()?;
        let directory = self.draw_directory();
        self.totals.created_count += 1;
        let settings = &self.settings;
        let spread_bytes = settings
            .size_high_bytes
            .saturating_sub(settings.size_low_bytes);
        // As in the original, the largest size is never drawn.
        let size_bytes = settings.size_low_bytes + self.rng.below(spread_bytes);
        let file = PoolFile {
            slot_index,
            number: number_of(self.totals.created_count),
            directory,
        };
        self.slots.occupy(file, size_bytes);
        Some(PoolStep::Create { file, size_bytes })
    }

    fn draw_directory(&mut self) -> PoolDirectory {
        let mut directory = PoolDirectory::default();
        if self.settings.locations.len() > 1 {
            let mut rest = self.rng.below(self.weight_sum);
            // The last location takes all remaining weight.
            for location in self.settings.locations.iter().rev().skip(1).rev() {
                if rest < location.weight {
                    break;
                }
                rest -= location.weight;
                directory.location_index += 1;
            }
        }
        if self.directories.subdirectories_count > 0 {
            let index = self.rng.below(self.directories.subdirectories_count);
            directory.subdirectory_index = Some(index);
        }
        directory
    }

    fn delete_from(&mut self, slot: u32) -> PoolStep {
        match self.slots.first_from(slot) {
            Some(found) => {
                self.phase = PoolPhase::Delete(found + 1);
                let file = self.slots.file(found);
                PoolStep::Delete { file }
            }
            None => {
                self.phase = PoolPhase::StartRemoving;
                PoolStep::Mark(PoolMark::Deleted)
            }
        }
    }
}

/// Number of the `count`th file: from 1, and from 1 again after 32 bits.
#[inline]
const fn number_of(count: u64) -> u32 {
    // The remainder is below 2^32.
    ((count - 1) % u32::MAX as u64) as u32 + 1
}

fn seeded(settings: &FilePool) -> PoolRandom {
    PoolRandom::new(settings.draws, settings.seed)
}

fn text_bytes(settings: &FilePool) -> Result<u32, StreamError> {
    let text_bytes = 2 * u64::from(settings.size_high_bytes);
    if text_bytes > TEXT_BYTES_MAX {
        return Err(StreamError::Text { text_bytes });
    }
    u32::try_from(text_bytes).map_err(|_| StreamError::Text { text_bytes })
}
