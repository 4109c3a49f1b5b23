//! State of a slot in its code.

use engine::SecondName;
use plan::program::NESTING_MAX;

use super::walks::WalkProgress;

/// Section that a slot executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotSection {
    /// Executed once before the window.
    Enter,
    /// Executed once at the start of the window.
    First,
    /// Repeated.
    Body,
    /// Waiting until it is known whether there is another round.
    Between,
    /// Executed once at the end of the window.
    Last,
    /// Executed once after the window.
    Leave,
    /// Nothing to execute.
    Finished,
}

/// Enclosing unit in which a file was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum OpenScope {
    /// Before the current round.
    #[default]
    Before,
    /// In the current round.
    InRound,
    /// In the current transaction.
    InTransaction,
}

/// A picked file, which may be open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SlotRegister {
    pub fileset: u8,
    pub file: u32,
    pub is_open: bool,
    /// Unit in which it was opened.
    pub scope: OpenScope,
    /// Offset of the next consecutive call.
    pub next_offset_bytes: u64,
    /// Offset of the last call.
    pub last_offset_bytes: u64,
    /// Position of the open file, if calls use it.
    pub position_bytes: u64,
}

/// A step in progress.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenStep {
    pub label: u8,
    pub start_ns: u64,
    pub bytes: u64,
    pub has_failed: bool,
}

/// A transaction or the round: the unit that is skipped, after closing its files, when a call in it
/// fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallFrame {
    /// Kind of the transaction; `None` for a round.
    pub kind: Option<u8>,
    /// Label under which it is counted.
    pub label: Option<u8>,
    /// Number of bytes read and written in it.
    pub bytes: u64,
    /// Index of the instruction that ends it.
    pub end: u16,
    pub loop_count: u8,
    pub step_count: u8,
    /// Time when its first call was issued; 0 before.
    pub start_ns: u64,
    /// First negated errno; 0 for none.
    pub errno: i32,
}

/// The call in progress.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OngoingCall {
    /// `true` if there is one.
    pub is_begun: bool,
    pub offset_bytes: u64,
    /// Bytes still to be moved.
    pub left_bytes: u64,
    pub moved_bytes: u64,
    /// `true` if it ends with a read of nothing.
    pub reads_to_end: bool,
    pub start_ns: u64,
    /// Name of the call; `is_claimed` is `true` if it is claimed.
    pub fileset: u8,
    pub file: u32,
    pub is_claimed: bool,
    /// The other name.
    pub second: SecondName,
    /// Number of bytes that the request in flight moves if it succeeds.
    pub expected_bytes: u32,
}

/// Progress of an act that waits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitProgress {
    pub is_begun: bool,
    /// Amount to take from or to put into each counter.
    pub count: u64,
    /// The counter, and the number of further counters.
    pub counter: u32,
    pub more_count: u32,
    /// `true` if the amount that it wants to take has been announced to the others.
    pub is_announced: bool,
    /// Number of the meeting to wait for.
    pub meeting: u32,
    pub pause_ns: u64,
}

#[derive(Debug, Clone)]
pub(super) struct SlotState {
    pub instruction: u16,
    pub section: SlotSection,
    pub call: OngoingCall,
    pub frame: CallFrame,
    /// `true` while it closes files before the end of the frame.
    pub is_closing: bool,
    /// Progress of an act that waits for other workers.
    pub waiting: WaitProgress,
    /// Progress in the directories that it walks through.
    pub walking: WalkProgress,
    /// Number of the last card.
    pub card: u32,
    /// Time until which it sleeps; 0 if it does not.
    pub wake_ns: u64,
    /// Time since when it waits for a file that others use; 0 if it does not.
    pub busy_since_ns: u64,
    pub loops: [u64; NESTING_MAX],
    pub loop_count: u8,
    pub steps: [OpenStep; NESTING_MAX],
    pub step_count: u8,
    /// Number of consecutive rounds without requests.
    pub idle_rounds: u32,
    /// `true` if there was a request in this round.
    pub is_round_busy: bool,
    pub registers: Box<[SlotRegister]>,
}

impl SlotState {
    pub(super) fn new(register_count: usize) -> Self {
        Self {
            instruction: 0,
            section: SlotSection::Finished,
            call: OngoingCall::default(),
            frame: CallFrame {
                kind: None,
                label: None,
                bytes: 0,
                end: 0,
                loop_count: 0,
                step_count: 0,
                start_ns: 0,
                errno: 0,
            },
            is_closing: false,
            waiting: WaitProgress::default(),
            walking: WalkProgress::default(),
            card: 0,
            wake_ns: 0,
            busy_since_ns: 0,
            loops: [0; NESTING_MAX],
            loop_count: 0,
            steps: [OpenStep::default(); NESTING_MAX],
            step_count: 0,
            idle_rounds: 0,
            is_round_busy: false,
            registers: vec![SlotRegister::default(); register_count].into(),
        }
    }

    /// Goes to the start of a section, outside of any loop, step and transaction. Open files stay
    /// open.
    pub(super) fn enter(&mut self, section: SlotSection, at: u16) {
        self.section = section;
        self.instruction = at;
        self.call = OngoingCall::default();
        self.is_closing = false;
        self.waiting = WaitProgress::default();
        (self.wake_ns, self.busy_since_ns) = (0, 0);
        (self.loop_count, self.step_count) = (0, 0);
        self.open_frame(None, None, 0);
        // Files that are open now belong to no later round or transaction.
        for register in &mut self.registers {
            register.scope = OpenScope::Before;
        }
    }

    /// Begins a loop with a number of repetitions; it ends before `end`.
    #[inline]
    pub(super) fn begin_loop(&mut self, times: u64, end: u16) {
        if times == 0 {
            self.instruction = end;
            return;
        }
        self.loops[usize::from(self.loop_count)] = times;
        self.loop_count += 1;
        self.instruction += 1;
    }

    /// Goes back to the start of a loop, or continues after it.
    #[inline]
    pub(super) fn next_iteration(&mut self, body: u16) {
        let left = &mut self.loops[usize::from(self.loop_count) - 1];
        *left -= 1;
        if *left > 0 {
            self.instruction = body;
        } else {
            self.loop_count -= 1;
            self.instruction += 1;
        }
    }

    /// Begins a transaction, or continues after one.
    #[inline]
    pub(super) fn open_frame(&mut self, kind: Option<u8>, label: Option<u8>, end: u16) {
        self.frame = CallFrame {
            kind,
            label,
            bytes: 0,
            end,
            loop_count: self.loop_count,
            step_count: self.step_count,
            start_ns: 0,
            errno: 0,
        };
    }

    /// Unit in which the next file is opened.
    #[inline]
    pub(super) fn opening(&self) -> OpenScope {
        match self.frame.kind {
            Some(_) => OpenScope::InTransaction,
            None => OpenScope::InRound,
        }
    }

    /// A register that must be closed before the frame can end.
    pub(super) fn register_to_close(&self) -> Option<usize> {
        // A failed transaction closes the files that it opened. A failed round also closes the
        // files of its transactions.
        let least = self.opening();
        let is_left = |it: &SlotRegister| it.is_open && it.scope >= least;
        self.registers.iter().position(is_left)
    }

    /// Passes open files on: files of a transaction to the round, and files of a round to later
    /// ones.
    #[inline]
    pub(super) fn pass_on_open_files(&mut self) {
        let is_round = self.frame.kind.is_none();
        for register in &mut self.registers {
            register.scope = match register.scope {
                OpenScope::InTransaction if !is_round => OpenScope::InRound,
                OpenScope::InRound if !is_round => OpenScope::InRound,
                _ => OpenScope::Before,
            };
        }
    }
}
