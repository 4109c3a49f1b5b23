//! A run as a stream of requests: the operations in order, each as a chain.

mod due;
mod left;
mod options;

use std::collections::HashSet;

use engine::{Completion, Operation as Primitive, OperationSet, Request};
use plan::program::{FilePool, Fsync, PoolPart};

use super::chain::{Chain, ChainRules, ChainState, HandleUse};
use super::kept::OpenFileBits;
use super::whole::WholeTransactions;
use super::{
    CallPattern, OperationOutcome, PoolMark, PoolStep, PoolStream, StreamError, StreamOptions,
    TextContent, Totals,
};
use crate::program::TransactionUnit;
use crate::{Flow, Generator, Step, named};

pub use left::Failures;
pub use options::PlayOptions;

/// Transaction kinds, by number.
const KINDS: [&str; 4] = ["create", "read", "append", "delete"];

/// Number that no file has.
const NO_FILE: u32 = 0;

/// The error number for a name that already exists.
const EEXIST: i32 = 17;

/// `true` if a part of a run ends at this mark.
const fn ends_with(part: PoolPart, mark: PoolMark) -> bool {
    match part {
        PoolPart::MakeDirectories => matches!(mark, PoolMark::DirectoriesMade),
        PoolPart::Fill => matches!(mark, PoolMark::Created),
        PoolPart::Transact => matches!(
            mark,
            PoolMark::TransactionsDone | PoolMark::OutOfFiles | PoolMark::Stopped
        ),
        PoolPart::Empty => false,
    }
}

/// A run of PostMark. The caller begins each phase and asks for requests until all slots have
/// finished.
///
/// Operations start in the order of the stream. An operation on a file that is in use waits, and
/// all later operations wait with it. With one slot, each operation starts when the previous one is
/// done, so that the stream knows its outcome. With more slots, the stream takes each operation as
/// successful when it starts. If one fails later, it is removed from the totals. A file that could
/// not be created then stays in the pool, where its other operations fail; one that could not be
/// removed leaves the pool.
///
/// Every operation on a file is a flow; a failed operation also ends its flow, with a failed
/// request. Failed and short reads and writes, which the original ignores, only affect the counts
/// of requests. Files whose names already existed belong to other programs and are not used
/// further.
///
/// No file may be open when a phase begins, because each phase has its own engine. Ending a loop in
/// the middle of chains is therefore safe: operations in progress count as done, and the rest of
/// their chains is dropped.
#[derive(Clone)]
pub struct PoolRun {
    stream: PoolStream,
    rules: ChainRules,
    transactions_count: Option<u64>,
    makes_subdirectories: bool,
    chains: Box<[Chain]>,
    /// Number of the file in use by each slot, or [`NO_FILE`].
    files_in_use: Box<[u32]>,
    busy_count: u32,
    /// Next operation of the stream, which waits for a file or for all slots.
    waiting: Option<PoolStep>,
    /// `true` if the next operation waits for all slots.
    is_barrier: bool,
    /// Outcome of the last operation, to be reported to the stream.
    outcome: OperationOutcome,
    phase: Option<PoolPart>,
    is_phase_over: bool,
    end: Option<PoolMark>,
    /// Time limit of a phase that has not issued its first request yet.
    time_limit_ns: Option<u64>,
    deadline_ns: u64,
    /// Numbers of files whose names already existed.
    existing_files: HashSet<u32>,
    /// Files that are open; `None` if each is closed after its operation.
    open_files: Option<OpenFileBits>,
    /// Subdirectories that could not be created, and may belong to other programs.
    failed_directories: HashSet<u32>,
    existing_directories_count: u64,
    failures: Failures,
    /// Time when the last file was removed; 0 before that.
    emptied_ns: u64,
    /// Present if whole transactions are counted.
    transactions: Option<Box<WholeTransactions>>,
}

impl PoolRun {
    /// A run, with the content of its files.
    ///
    /// # Errors
    /// If the table or the text does not fit into memory, or the file selection is out of range.
    pub fn new(
        settings: &FilePool,
        options: &PlayOptions,
    ) -> Result<(Self, TextContent), StreamError> {
        let stream_options = StreamOptions {
            choice: options.choice,
            is_endless: options.is_endless,
            has_all_dots: options.unit != TransactionUnit::Declared,
        };
        let (stream, text) = PoolStream::with_options(settings, stream_options)?;
        let buffer_bytes = settings.is_buffered.then_some(options.stdio_buffer_bytes);
        let pattern = |block_bytes: u32| CallPattern {
            block_bytes: block_bytes.max(1),
            buffer_bytes: buffer_bytes.map(|buffer_bytes| buffer_bytes.max(1)),
        };
        let slot_count = options.slot_count.max(1) as usize;
        let play = Self {
            stream,
            rules: ChainRules {
                reads: pattern(settings.read_block_bytes),
                writes: pattern(settings.write_block_bytes),
                fsync: options.fsync,
                has_file_offsets: options.has_file_offsets,
                reads_whole: options.reads_whole,
                subdirectories_count: settings.subdirectories_count(),
            },
            transactions_count: (!options.is_endless).then_some(settings.transactions.into()),
            makes_subdirectories: options.makes_subdirectories,
            chains: vec![Chain::IDLE; slot_count].into(),
            files_in_use: vec![NO_FILE; slot_count].into(),
            busy_count: 0,
            waiting: None,
            is_barrier: false,
            outcome: OperationOutcome::Done,
            phase: None,
            is_phase_over: true,
            end: None,
            time_limit_ns: None,
            deadline_ns: u64::MAX,
            existing_files: HashSet::new(),
            open_files: (options.kept_open_max > 0)
                // The table has two slots per file.
                .then(|| OpenFileBits::new(2 * settings.number, options.kept_open_max)),
            failed_directories: HashSet::new(),
            existing_directories_count: 0,
            failures: Failures::default(),
            emptied_ns: 0,
            transactions: WholeTransactions::of(options.unit).map(Box::new),
        };
        Ok((play, TextContent::new(text)))
    }

    /// Length of the longest read or write of a run: the required size of an engine's buffers.
    #[must_use]
    pub fn buffer_bytes(settings: &FilePool, stdio_buffer_bytes: u32) -> u32 {
        let blocks = [settings.read_block_bytes, settings.write_block_bytes];
        let longest = blocks.map(|block_bytes| {
            let pattern = CallPattern {
                block_bytes,
                buffer_bytes: settings.is_buffered.then_some(stdio_buffer_bytes),
            };
            pattern.longest_call_bytes(settings.size_high_bytes)
        });
        longest.into_iter().max().unwrap_or(0).max(1)
    }

    /// Begins the first or next phase; `None` after the last one.
    ///
    /// A phase that has not ended is stopped. Operations that remain after the stop become part of
    /// the next phase.
    pub fn begin_next_phase(&mut self) -> Option<PoolPart> {
        if !self.is_phase_over {
            self.stream.stop();
        }
        self.chains.fill(Chain::IDLE);
        self.files_in_use.fill(NO_FILE);
        self.busy_count = 0;
        if let Some(kept) = &mut self.open_files {
            kept.clear();
        }
        let next = match self.phase {
            None if self.has_own_directories() => Some(PoolPart::MakeDirectories),
            None | Some(PoolPart::MakeDirectories) => Some(PoolPart::Fill),
            Some(PoolPart::Fill) => Some(PoolPart::Transact),
            Some(PoolPart::Transact) => Some(PoolPart::Empty),
            Some(PoolPart::Empty) => None,
        };
        self.is_phase_over = next.is_none();
        (self.time_limit_ns, self.deadline_ns) = (None, u64::MAX);
        self.phase = next.or(self.phase);
        next
    }

    /// Ends the creation or the transactions after the current one; the files are still deleted.
    pub const fn stop(&mut self) {
        self.stream.stop();
    }

    /// As [`Self::stop`], but `span_ns` nanoseconds after the first request of the current phase.
    pub const fn stop_after(&mut self, span_ns: u64) {
        self.time_limit_ns = Some(span_ns);
    }

    /// Totals so far. With more than one slot, operations in progress are included.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        self.stream.totals()
    }

    /// Number of transactions to perform; `None` if only time ends them.
    #[must_use]
    pub const fn transactions_count(&self) -> Option<u64> {
        self.transactions_count
    }

    /// Maximum number of files that transactions leave open; 0 if each is closed after its
    /// operation.
    #[must_use]
    pub fn kept_open_max(&self) -> u32 {
        self.open_files.as_ref().map_or(0, OpenFileBits::max_count)
    }

    /// The mark at which the transactions ended; `None` before.
    #[must_use]
    pub const fn end(&self) -> Option<PoolMark> {
        self.end
    }

    /// `true` if files ran out or the run was stopped.
    #[must_use]
    pub const fn has_ended_early(&self) -> bool {
        self.stream.has_ended_early()
    }

    const fn has_own_directories(&self) -> bool {
        self.makes_subdirectories && self.rules.subdirectories_count > 0
    }

    /// Gives an idle slot its operation; returns a step if there is none.
    #[inline]
    fn start(&mut self, index: usize, now_ns: u64) -> Option<Step> {
        if self.is_phase_over {
            return Some(Step::Finished);
        }
        let operation = match self.waiting.take() {
            Some(operation) => operation,
            None => match self.draw(now_ns) {
                Ok(operation) => operation,
                Err(step) => return Some(step),
            },
        };
        let number = file_number(&operation);
        if self.busy_count > 0 && (self.is_barrier || self.is_in_use(number)) {
            self.waiting = Some(operation);
            return Some(Step::Park);
        }
        self.is_barrier = false;
        let handle = self.handle(&operation);
        self.chains[index] = Chain::new(operation, &self.rules, handle);
        self.files_in_use[index] = number;
        self.busy_count += 1;
        None
    }

    /// Use of the handle for an operation's file.
    #[inline]
    fn handle(&mut self, operation: &PoolStep) -> HandleUse {
        let (Some(kept), Some(file)) = (&mut self.open_files, operation.file()) else {
            return HandleUse::Transient;
        };
        match operation {
            PoolStep::Delete { .. } => kept.close(file.slot_index),
            // Files stay open from their first transaction on, not from their creation.
            _ if self.phase == Some(PoolPart::Transact) => kept.open(file.slot_index),
            _ => HandleUse::Transient,
        }
    }

    #[inline]
    fn is_in_use(&self, number: u32) -> bool {
        number != NO_FILE && self.files_in_use.contains(&number)
    }

    /// The next operation of the stream that issues requests, or as an error the step to take
    /// instead.
    fn draw(&mut self, now_ns: u64) -> Result<PoolStep, Step> {
        if let Some(span_ns) = self.time_limit_ns.take() {
            self.deadline_ns = now_ns.saturating_add(span_ns);
        }
        if now_ns >= self.deadline_ns {
            self.stream.stop();
        }
        // Before the stream draws: a transaction that is not due yet must not advance it.
        self.begin_whole_transaction(now_ns)?;
        let mut has_dot = false;
        loop {
            let outcome = std::mem::replace(&mut self.outcome, OperationOutcome::Done);
            let Some(operation) = self.stream.next(outcome) else {
                self.is_phase_over = true;
                return Err(Step::Finished);
            };
            match operation {
                PoolStep::Mark(PoolMark::Dot) if has_dot => {
                    // Transactions without operations could otherwise loop here forever.
                    let until_ns = now_ns + 1;
                    return Err(Step::Wait { until_ns });
                }
                PoolStep::Mark(PoolMark::Dot) => {
                    has_dot = true;
                    if let Some(whole) = &mut self.transactions {
                        whole.end();
                        self.begin_whole_transaction(now_ns)?;
                    }
                }
                PoolStep::Mark(mark) => {
                    if mark == PoolMark::Deleted {
                        self.emptied_ns = now_ns;
                    }
                    self.pass(mark)?;
                }
                _ if self.is_left_out(&operation) => {}
                _ => {
                    // The next operation may start before this one ends, so its success is assumed.
                    if self.chains.len() > 1 {
                        self.stream.count_as_done();
                    }
                    return Ok(operation);
                }
            }
        }
    }

    /// Records a mark; an error if it ends the phase.
    fn pass(&mut self, mark: PoolMark) -> Result<(), Step> {
        if ends_with(PoolPart::Transact, mark) {
            self.end = Some(mark);
        }
        // Directories must exist before files are created in them, and be empty before removal.
        self.is_barrier |= matches!(mark, PoolMark::Creating | PoolMark::RemovingDirectories);
        if self.phase.is_some_and(|part| ends_with(part, mark)) {
            self.is_phase_over = true;
            return Err(Step::Finished);
        }
        Ok(())
    }

    /// `true` if no request is issued: for another program's file, or for existing subdirectories.
    #[inline]
    fn is_left_out(&mut self, operation: &PoolStep) -> bool {
        match operation {
            PoolStep::MakeDirectory(_) => !self.makes_subdirectories,
            PoolStep::RemoveDirectory(directory) => {
                let number = self.rules.directory_number(*directory);
                !self.makes_subdirectories || self.failed_directories.contains(&number)
            }
            PoolStep::Create { .. } | PoolStep::Mark(_) => false,
            // The usual case, which needs no lookup.
            _ if self.existing_files.is_empty() => false,
            _ => {
                let is_existing = self.existing_files.contains(&file_number(operation));
                if is_existing {
                    self.failures.add(*operation);
                    self.outcome = OperationOutcome::Failed;
                }
                is_existing
            }
        }
    }

    /// Reports a failed operation to the stream, now or with its next operation.
    #[cold]
    fn note_failure(&mut self, operation: PoolStep, handle: HandleUse, result: i32) {
        if let (Some(kept), Some(file), HandleUse::Opened) =
            (&mut self.open_files, operation.file(), handle)
        {
            kept.close(file.slot_index);
        }
        match operation {
            PoolStep::Create { file, .. } if result == -EEXIST => {
                self.existing_files.insert(file.number);
            }
            PoolStep::MakeDirectory(directory) => {
                self.failed_directories
                    .insert(self.rules.directory_number(directory));
                self.existing_directories_count += u64::from(result == -EEXIST);
            }
            _ => {}
        }
        if operation.file().is_some() {
            self.failures.add(operation);
        }
        // With more slots, the stream has already counted the operation as done.
        if self.chains.len() == 1 {
            self.outcome = OperationOutcome::Failed;
        } else {
            self.stream.revert(&operation);
        }
    }
}

impl Generator for PoolRun {
    fn operations(&self) -> OperationSet {
        let mut operations = OperationSet::EMPTY
            .with(Primitive::Create)
            .with(Primitive::Open)
            .with(Primitive::Read)
            .with(Primitive::Write)
            .with(Primitive::Close)
            .with(Primitive::Unlink);
        if self.rules.reads_whole {
            operations = operations.with(Primitive::ReadWhole);
        }
        if self.rules.fsync != Fsync::None {
            operations = operations.with(Primitive::Fsync);
        }
        if self.has_own_directories() {
            operations = operations.with(Primitive::Mkdir).with(Primitive::Rmdir);
        }
        operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        match (&self.transactions, self.phase) {
            (Some(whole), Some(PoolPart::Transact)) => whole.kinds(),
            _ => named(&KINDS),
        }
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let index = slot as usize;
        if self.chains[index].is_idle()
            && let Some(step) = self.start(index, now_ns)
        {
            return step;
        }
        Step::Issue(self.chains[index].request(slot, &self.rules))
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, _result: i32) -> u32 {
        self.chains[request.slot as usize].expected_bytes(request)
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let index = completion.slot as usize;
        let chain = &mut self.chains[index];
        let after = chain.settle(completion.result, &self.rules);
        if after == ChainState::More {
            return Flow::Continues;
        }
        let (operation, handle) = (chain.operation, chain.handle);
        self.files_in_use[index] = NO_FILE;
        self.busy_count -= 1;
        if after == ChainState::Failed {
            self.note_failure(operation, handle, completion.result);
        }
        if let (Some(whole), Some(PoolPart::Transact)) = (&mut self.transactions, self.phase) {
            let errno = match after {
                ChainState::Failed => completion.result,
                _ => 0,
            };
            return whole.complete_operation(now_ns, errno, self.stream.ends_transaction());
        }
        kind(&operation).map_or(Flow::Uncounted, Flow::Done)
    }
}

/// Transaction kind of an operation on a file; `None` for other operations.
#[inline]
const fn kind(operation: &PoolStep) -> Option<u8> {
    match operation {
        PoolStep::Create { .. } => Some(0),
        PoolStep::Read { .. } => Some(1),
        PoolStep::Append { .. } => Some(2),
        PoolStep::Delete { .. } => Some(3),
        PoolStep::MakeDirectory(_) | PoolStep::RemoveDirectory(_) | PoolStep::Mark(_) => None,
    }
}

/// Number of an operation's file; [`NO_FILE`] if it has none.
#[inline]
const fn file_number(operation: &PoolStep) -> u32 {
    match operation.file() {
        Some(file) => file.number,
        None => NO_FILE,
    }
}

#[cfg(test)]
mod tests;
