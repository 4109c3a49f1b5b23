//! Where a slot stands in its code.

use engine::SecondName;
use plan::program::NESTING_MAX;

use super::walks::Walking;

/// What a slot is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// What is done before the window, once.
    Enter,
    /// What is done at its beginning, once.
    First,
    /// What is repeated.
    Body,
    /// Before another round, of which nobody knows yet whether there is to be one.
    Between,
    /// What is done at its end, once.
    Last,
    /// What is done behind it, once.
    Leave,
    /// Nothing.
    Over,
}

/// What of that which goes on a file was opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Opened {
    /// Before.
    #[default]
    Before,
    /// In this round.
    InRound,
    /// In this transaction.
    InTransaction,
}

/// A file that was picked, and whether it is open.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Register {
    pub fileset: u8,
    pub file: u32,
    pub is_open: bool,
    /// What it was opened in.
    pub opened: Opened,
    /// Where the next call goes that follows another.
    pub here_bytes: u64,
    /// Where the last call began.
    pub last_bytes: u64,
    /// Where the open file stands, if it is read and written there.
    pub stands_bytes: u64,
}

/// A step that goes on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenStep {
    pub label: u8,
    pub start_ns: u64,
    pub bytes: u64,
    pub has_failed: bool,
}

/// What is left out, and closed, when a call in it fails: a transaction, or the round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// The kind of the transaction; none for a round.
    pub kind: Option<u8>,
    /// The label that it is counted under.
    pub label: Option<u8>,
    /// Bytes read and written in it.
    pub bytes: u64,
    /// Where its end stands.
    pub end: u16,
    pub loop_count: u8,
    pub step_count: u8,
    /// When its first call was issued; 0 before.
    pub start_ns: u64,
    /// The negated number of its first error; 0 for none.
    pub errno: i32,
}

/// The call that goes on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OngoingCall {
    /// Whether there is one.
    pub is_begun: bool,
    pub offset_bytes: u64,
    /// What is still to be moved.
    pub left_bytes: u64,
    pub moved_bytes: u64,
    /// It ends with a read of nothing.
    pub is_rest: bool,
    pub start_ns: u64,
    /// The name in the call, and whether it is claimed.
    pub fileset: u8,
    pub file: u32,
    pub is_claimed: bool,
    /// The other name.
    pub second: SecondName,
    /// Bytes that the request in flight moves if all goes well.
    pub expected_bytes: u32,
}

/// How far a slot is with an act that waits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waiting {
    /// Whether it has begun to wait.
    pub is_begun: bool,
    /// How much it is to take or to put in each counter.
    pub count: u64,
    /// The counter, and how many of them come behind it.
    pub counter: u32,
    pub more: u32,
    /// Whether the others know what it wants to take.
    pub is_wanting: bool,
    /// The meeting that is to pass.
    pub meeting: u32,
    pub pause_ns: u64,
}

/// Where a slot stands.
#[derive(Debug, Clone)]
pub(super) struct SlotState {
    pub at: u16,
    pub section: Section,
    pub call: OngoingCall,
    pub frame: Frame,
    /// Of the frame's end everything opened in it is closed first.
    pub is_closing: bool,
    /// How far it is with an act that waits for others.
    pub waiting: Waiting,
    /// How far it is with the directories that it goes through.
    pub walking: Walking,
    /// The number of the last card.
    pub card: u32,
    /// Until when it sleeps; 0 for not at all.
    pub wake_ns: u64,
    /// Since when it waits for a file that others have; 0 for not at all.
    pub busy_ns: u64,
    pub loops: [u64; NESTING_MAX],
    pub loop_count: u8,
    pub steps: [OpenStep; NESTING_MAX],
    pub step_count: u8,
    /// Rounds in a row in which nothing was asked for.
    pub idle_rounds: u32,
    /// Whether something was asked for in this round.
    pub is_round_busy: bool,
    pub registers: Box<[Register]>,
}

impl SlotState {
    pub(super) fn new(register_count: usize) -> Self {
        Self {
            at: 0,
            section: Section::Over,
            call: OngoingCall::default(),
            frame: Frame {
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
            waiting: Waiting::default(),
            walking: Walking::default(),
            card: 0,
            wake_ns: 0,
            busy_ns: 0,
            loops: [0; NESTING_MAX],
            loop_count: 0,
            steps: [OpenStep::default(); NESTING_MAX],
            step_count: 0,
            idle_rounds: 0,
            is_round_busy: false,
            registers: vec![Register::default(); register_count].into(),
        }
    }

    /// Goes to the beginning of a section, outside of everything. Whatever is open stays so.
    pub(super) fn enter(&mut self, section: Section, at: u16) {
        self.section = section;
        self.at = at;
        self.call = OngoingCall::default();
        self.is_closing = false;
        self.waiting = Waiting::default();
        (self.wake_ns, self.busy_ns) = (0, 0);
        (self.loop_count, self.step_count) = (0, 0);
        self.open_frame(None, None, 0);
        for register in &mut self.registers {
            register.opened = Opened::Before;
        }
    }

    /// Begins what is done so many times, which ends before `end`.
    #[inline]
    pub(super) fn begin_loop(&mut self, times: u64, end: u16) {
        if times == 0 {
            self.at = end;
            return;
        }
        self.loops[usize::from(self.loop_count)] = times;
        self.loop_count += 1;
        self.at += 1;
    }

    /// Goes back to the beginning of a loop, or on behind it.
    #[inline]
    pub(super) fn once_more(&mut self, body: u16) {
        let left = &mut self.loops[usize::from(self.loop_count) - 1];
        *left -= 1;
        if *left > 0 {
            self.at = body;
        } else {
            self.loop_count -= 1;
            self.at += 1;
        }
    }

    /// Begins a transaction, or goes on behind one.
    #[inline]
    pub(super) fn open_frame(&mut self, kind: Option<u8>, label: Option<u8>, end: u16) {
        self.frame = Frame {
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

    /// What the next file is opened in.
    #[inline]
    pub(super) fn opening(&self) -> Opened {
        match self.frame.kind {
            Some(_) => Opened::InTransaction,
            None => Opened::InRound,
        }
    }

    /// A register that has to be closed before the frame can end.
    pub(super) fn to_close(&self) -> Option<usize> {
        let least = self.opening();
        let is_left = |it: &Register| it.is_open && it.opened >= least;
        self.registers.iter().position(is_left)
    }

    /// What was opened in a transaction is the round's, and what was opened in a round stays.
    #[inline]
    pub(super) fn keep_opened(&mut self) {
        let is_round = self.frame.kind.is_none();
        for register in &mut self.registers {
            register.opened = match register.opened {
                Opened::InTransaction if !is_round => Opened::InRound,
                Opened::InRound if !is_round => Opened::InRound,
                _ => Opened::Before,
            };
        }
    }
}
