//! A run as a stream of requests: the operations in their order, each as a chain.

mod due;
mod left;
mod options;

use std::collections::HashSet;

use engine::{Completion, Operation as Primitive, OperationSet, Request};
use plan::program::{FilePool, Fsync, PoolPart};

use super::chain::{After, Chain, Handle, Rules};
use super::kept::Kept;
use super::whole::Whole;
use super::{
    CallPattern, Mark, Operation, Outcome, Stream, StreamError, StreamOptions, TextContent, Totals,
};
use crate::program::Unit;
use crate::{Flow, Generator, Step, named};

pub use left::Failures;
pub use options::PlayOptions;

/// The transaction kinds, by their number.
const KINDS: [&str; 4] = ["create", "read", "append", "delete"];

/// What no file has as its number.
const NO_FILE: u32 = 0;

/// The system's number for a name that is taken.
const EEXIST: i32 = 17;

/// Whether a part of a run is over at that mark.
const fn ends_with(part: PoolPart, mark: Mark) -> bool {
    match part {
        PoolPart::MakeDirectories => matches!(mark, Mark::DirectoriesMade),
        PoolPart::Fill => matches!(mark, Mark::Created),
        PoolPart::Transact => matches!(
            mark,
            Mark::TransactionsDone | Mark::OutOfFiles | Mark::Stopped
        ),
        PoolPart::Empty => false,
    }
}

/// A run of PostMark; the caller begins each phase and asks for requests until all slots have
/// finished.
///
/// Operations start in the stream's order. A file that one is in progress on is not touched by
/// another, which waits, and all behind it; with one slot each starts when the one before is done,
/// so that the stream hears how it went. With more slots the stream is told at the start that all
/// goes well, and what then fails is taken out of the totals: a file that could not be created
/// stays in the pool, where its other operations fail, and one that could not be removed leaves it.
///
/// Every operation on a file is a flow; the flow of one that failed is done, too, and has a request
/// that failed. What the original passes over, as failed and short reads and writes, changes
/// nothing but the counts of requests. Names that were taken belong to somebody else, so nothing
/// more is asked of them.
///
/// Nothing may be open when a phase begins: each has an engine of its own. A loop that ends in the
/// middle of chains does no harm then: what was in progress counts as done, and what is left of
/// it is forgotten.
#[derive(Clone)]
pub struct Play {
    stream: Stream,
    rules: Rules,
    transactions_count: Option<u64>,
    makes_subdirectories: bool,
    chains: Box<[Chain]>,
    /// For each slot the number of the file in use, or that of none.
    files_in_use: Box<[u32]>,
    busy_count: u32,
    /// The stream's next operation, which waits for a file or for all slots.
    waiting: Option<Operation>,
    /// Whether the next operation waits for all slots.
    is_barrier: bool,
    /// What the stream is told of its last operation.
    outcome: Outcome,
    phase: Option<PoolPart>,
    is_phase_over: bool,
    end: Option<Mark>,
    /// How long the phase lasts whose first request has not been asked for.
    span_ns: Option<u64>,
    deadline_ns: u64,
    /// Numbers of files whose names were taken.
    foreign: HashSet<u32>,
    /// Which files are open; none where each is closed behind its operation.
    kept: Option<Kept>,
    /// Subdirectories that could not be made, which may be somebody else's.
    not_made: HashSet<u32>,
    taken_directories_count: u64,
    failures: Failures,
    /// When the last file was removed; 0 before that.
    emptied_ns: u64,
    /// Where transactions are counted as wholes.
    whole: Option<Box<Whole>>,
}

impl Play {
    /// A run and what its files are written with.
    ///
    /// # Errors
    /// The pool or the text do not fit into memory, or files cannot be chosen so.
    pub fn new(
        settings: &FilePool,
        options: &PlayOptions,
    ) -> Result<(Self, TextContent), StreamError> {
        let stream_options = StreamOptions {
            choice: options.choice,
            is_endless: options.is_endless,
            has_all_dots: options.unit != Unit::Own,
        };
        let (stream, text) = Stream::with_options(settings, stream_options)?;
        let buffer_bytes = settings.is_buffered.then_some(options.stdio_buffer_bytes);
        let pattern = |block_bytes: u32| CallPattern {
            block_bytes: block_bytes.max(1),
            buffer_bytes: buffer_bytes.map(|buffer_bytes| buffer_bytes.max(1)),
        };
        let slot_count = options.slot_count.max(1) as usize;
        let play = Self {
            stream,
            rules: Rules {
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
            outcome: Outcome::Done,
            phase: None,
            is_phase_over: true,
            end: None,
            span_ns: None,
            deadline_ns: u64::MAX,
            foreign: HashSet::new(),
            kept: (options.kept_open_max > 0)
                .then(|| Kept::new(2 * settings.number, options.kept_open_max)),
            not_made: HashSet::new(),
            taken_directories_count: 0,
            failures: Failures::default(),
            emptied_ns: 0,
            whole: Whole::of(options.unit).map(Box::new),
        };
        Ok((play, TextContent::new(text)))
    }

    /// Bytes of the longest read or write of a run: what an engine's buffers must hold.
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

    /// Begins the first or the next phase; none behind the last.
    ///
    /// A phase that has not come to its end goes on until the operations that its stop let pass
    /// are done; they belong to the next.
    pub fn begin_next_phase(&mut self) -> Option<PoolPart> {
        if !self.is_phase_over {
            self.stream.stop();
        }
        self.chains.fill(Chain::IDLE);
        self.files_in_use.fill(NO_FILE);
        self.busy_count = 0;
        if let Some(kept) = &mut self.kept {
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
        (self.span_ns, self.deadline_ns) = (None, u64::MAX);
        self.phase = next.or(self.phase);
        next
    }

    /// Ends the creation or the transactions as soon as their current one is done; the files are
    /// still deleted.
    pub const fn stop(&mut self) {
        self.stream.stop();
    }

    /// As [`Self::stop`], so many nanoseconds after the first request of the phase that has begun.
    pub const fn stop_after(&mut self, span_ns: u64) {
        self.span_ns = Some(span_ns);
    }

    /// What was done so far. While operations are in progress, they are counted if there is more
    /// than one slot.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        self.stream.totals()
    }

    /// Transactions that are to be done; none if only time ends them.
    #[must_use]
    pub const fn transactions_count(&self) -> Option<u64> {
        self.transactions_count
    }

    /// Files that transactions leave open, at most; 0 where each is closed behind its operation.
    #[must_use]
    pub fn kept_open_max(&self) -> u32 {
        self.kept.as_ref().map_or(0, Kept::max_count)
    }

    /// How the transactions ended; none before that.
    #[must_use]
    pub const fn end(&self) -> Option<Mark> {
        self.end
    }

    /// Whether files ran out or the run was stopped.
    #[must_use]
    pub const fn has_ended_early(&self) -> bool {
        self.stream.has_ended_early()
    }

    const fn has_own_directories(&self) -> bool {
        self.makes_subdirectories && self.rules.subdirectories_count > 0
    }

    /// Gives an idle slot its operation; a step if there is none for it.
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

    /// What becomes of the handle of an operation's file.
    #[inline]
    fn handle(&mut self, operation: &Operation) -> Handle {
        let (Some(kept), Some(file)) = (&mut self.kept, operation.file()) else {
            return Handle::Passing;
        };
        match operation {
            Operation::Delete { .. } => kept.close(file.slot_index),
            _ if self.phase == Some(PoolPart::Transact) => kept.open(file.slot_index),
            _ => Handle::Passing,
        }
    }

    #[inline]
    fn is_in_use(&self, number: u32) -> bool {
        number != NO_FILE && self.files_in_use.contains(&number)
    }

    /// The stream's next operation that asks for anything, or what to do without.
    fn draw(&mut self, now_ns: u64) -> Result<Operation, Step> {
        if let Some(span_ns) = self.span_ns.take() {
            self.deadline_ns = now_ns.saturating_add(span_ns);
        }
        if now_ns >= self.deadline_ns {
            self.stream.stop();
        }
        self.begin_whole(now_ns)?;
        let mut has_dot = false;
        loop {
            let outcome = std::mem::replace(&mut self.outcome, Outcome::Done);
            let Some(operation) = self.stream.next(outcome) else {
                self.is_phase_over = true;
                return Err(Step::Finished);
            };
            match operation {
                Operation::Mark(Mark::Dot) if has_dot => {
                    // Transactions without operations could go on here forever.
                    let until_ns = now_ns + 1;
                    return Err(Step::Wait { until_ns });
                }
                Operation::Mark(Mark::Dot) => {
                    has_dot = true;
                    if let Some(whole) = &mut self.whole {
                        whole.end();
                        self.begin_whole(now_ns)?;
                    }
                }
                Operation::Mark(mark) => {
                    if mark == Mark::Deleted {
                        self.emptied_ns = now_ns;
                    }
                    self.pass(mark)?;
                }
                _ if self.is_left_out(&operation) => {}
                _ => {
                    if self.chains.len() > 1 {
                        self.stream.take_as_done();
                    }
                    return Ok(operation);
                }
            }
        }
    }

    /// Takes note of a mark; an error if nothing comes behind it in this phase.
    fn pass(&mut self, mark: Mark) -> Result<(), Step> {
        if ends_with(PoolPart::Transact, mark) {
            self.end = Some(mark);
        }
        self.is_barrier |= matches!(mark, Mark::Creating | Mark::RemovingDirectories);
        if self.phase.is_some_and(|part| ends_with(part, mark)) {
            self.is_phase_over = true;
            return Err(Step::Finished);
        }
        Ok(())
    }

    /// Whether nothing is asked for: of somebody else's file, or of subdirectories that are there.
    #[inline]
    fn is_left_out(&mut self, operation: &Operation) -> bool {
        match operation {
            Operation::MakeDirectory(_) => !self.makes_subdirectories,
            Operation::RemoveDirectory(directory) => {
                let number = self.rules.directory_number(*directory);
                !self.makes_subdirectories || self.not_made.contains(&number)
            }
            Operation::Create { .. } | Operation::Mark(_) => false,
            _ if self.foreign.is_empty() => false,
            _ => {
                let is_foreign = self.foreign.contains(&file_number(operation));
                if is_foreign {
                    self.failures.add(*operation);
                    self.outcome = Outcome::Failed;
                }
                is_foreign
            }
        }
    }

    /// Tells the stream, now or with its next operation, that one failed.
    #[cold]
    fn note_failure(&mut self, operation: Operation, handle: Handle, result: i32) {
        if let (Some(kept), Some(file), Handle::Opened) = (&mut self.kept, operation.file(), handle)
        {
            kept.close(file.slot_index);
        }
        match operation {
            Operation::Create { file, .. } if result == -EEXIST => {
                self.foreign.insert(file.number);
            }
            Operation::MakeDirectory(directory) => {
                self.not_made.insert(self.rules.directory_number(directory));
                self.taken_directories_count += u64::from(result == -EEXIST);
            }
            _ => {}
        }
        if operation.file().is_some() {
            self.failures.add(operation);
        }
        if self.chains.len() == 1 {
            self.outcome = Outcome::Failed;
        } else {
            self.stream.take_back(&operation);
        }
    }
}

impl Generator for Play {
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
        match (&self.whole, self.phase) {
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
        if after == After::More {
            return Flow::Continues;
        }
        let (operation, handle) = (chain.operation, chain.handle);
        self.files_in_use[index] = NO_FILE;
        self.busy_count -= 1;
        if after == After::Failed {
            self.note_failure(operation, handle, completion.result);
        }
        if let (Some(whole), Some(PoolPart::Transact)) = (&mut self.whole, self.phase) {
            let errno = match after {
                After::Failed => completion.result,
                _ => 0,
            };
            return whole.operation_done(now_ns, errno, self.stream.ends_transaction());
        }
        kind(&operation).map_or(Flow::Apart, Flow::Done)
    }
}

/// The kind of an operation on a file.
#[inline]
const fn kind(operation: &Operation) -> Option<u8> {
    match operation {
        Operation::Create { .. } => Some(0),
        Operation::Read { .. } => Some(1),
        Operation::Append { .. } => Some(2),
        Operation::Delete { .. } => Some(3),
        Operation::MakeDirectory(_) | Operation::RemoveDirectory(_) | Operation::Mark(_) => None,
    }
}

/// The number of the file that an operation is on; one that no file has if it is on none.
#[inline]
const fn file_number(operation: &Operation) -> u32 {
    match operation.file() {
        Some(file) => file.number,
        None => NO_FILE,
    }
}

#[cfg(test)]
mod tests;
