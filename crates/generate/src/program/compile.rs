//! Compiles a group's acts to code.

mod call_requests;
mod picks;
mod places;

use engine::{Operation, RequestObject};
use plan::program::{
    Act, Call, CallObject, Deck, DirectoryWalk, FileOperation, Group, Law, MovedBytes, Program,
    ProgramPhase,
};

use super::code::{
    CallCode, CallLength, CallOffset, CallSubject, Code, DeckCode, FileSizes, Instruction,
    OffsetForm, WaitCode,
};
use super::pick::{Picker, TurnCounter};
use super::sampler::Sampler;
use super::states::FileClaim;
use super::walks::WalkCode;
use super::{TransactionUnit, WorkerContext};
use crate::choice::AliasTable;
use crate::position::Seeds;
use crate::{GenerateError, RESPONSE_KINDS, mix, named};

/// Names of a phase's transactions, by kind. Per group these are the names of its labeled
/// transactions, in order; a group without any has its own name.
pub fn transaction_names(
    program: &Program,
    phase: &ProgramPhase,
    unit: TransactionUnit,
) -> Vec<String> {
    if unit == TransactionUnit::DueRound {
        return named(RESPONSE_KINDS);
    }
    let mut names: Vec<String> = Vec::new();
    for group in &phase.groups {
        let mut labels = Vec::new();
        for acts in [&group.first, &group.body, &group.last] {
            transactions(acts, &mut labels);
        }
        let own = match labels.is_empty() || unit == TransactionUnit::Round {
            true => vec![round_name(phase, group)],
            false => labels
                .iter()
                .map(|label| program.label(*label).to_owned())
                .collect(),
        };
        for name in own {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Name of a round as a transaction.
fn round_name(phase: &ProgramPhase, group: &Group) -> String {
    match phase.groups.len() {
        1 => phase.name.clone(),
        _ => group.name.clone(),
    }
}

fn transactions(acts: &[Act], labels: &mut Vec<u8>) {
    for act in acts {
        if let Act::Transaction(label, _) = act {
            labels.push(*label);
        }
        let lists = act.lists().into_iter();
        lists.for_each(|acts| transactions(acts, labels));
    }
}

/// Compiles the code of a worker.
///
/// # Errors
/// If a parameter of a law or a distribution is out of range.
pub(super) fn compile(context: &WorkerContext<'_>) -> Result<Code, GenerateError> {
    let sets = context.program.filesets.iter().zip(context.states);
    let sizes: Result<Vec<FileSizes>, GenerateError> = sets
        .map(|(set, states)| {
            Ok(match states.intended_sizes() {
                Some(sizes) => FileSizes::PerFile(sizes.clone()),
                None => FileSizes::by_law(&set.size)?,
            })
        })
        .collect();
    let mut compiler = Compiler {
        context,
        kinds: transaction_names(context.program, context.phase, context.unit),
        instructions: Vec::new(),
        calls: Vec::new(),
        samplers: Vec::new(),
        pickers: Vec::new(),
        mixes: Vec::new(),
        decks: Vec::new(),
        waits: Vec::new(),
        walks: Vec::new(),
        register_count: 1,
        buffer_bytes: 512,
    };
    let group = context.group;
    let enter = compiler.section(&group.enter)?;
    let first = compiler.section(&group.first)?;
    let body = compiler.body()?;
    let last = compiler.section(&group.last)?;
    let leave = compiler.section(&group.leave)?;
    Ok(Code {
        instructions: compiler.instructions.into(),
        calls: compiler.calls.into(),
        samplers: compiler.samplers.into(),
        pickers: compiler.pickers.into(),
        mixes: compiler.mixes.into(),
        decks: compiler.decks.into(),
        waits: compiler.waits.into(),
        walks: compiler.walks.into(),
        enter,
        first,
        body,
        last,
        leave,
        kinds: compiler.kinds,
        register_count: compiler.register_count,
        buffer_bytes: compiler.buffer_bytes,
        sizes: sizes?.into(),
    })
}

struct Compiler<'a> {
    context: &'a WorkerContext<'a>,
    kinds: Vec<String>,
    instructions: Vec<Instruction>,
    calls: Vec<CallCode>,
    samplers: Vec<Sampler>,
    pickers: Vec<Picker>,
    mixes: Vec<(AliasTable, Box<[u16]>)>,
    decks: Vec<DeckCode>,
    waits: Vec<WaitCode>,
    walks: Vec<WalkCode>,
    register_count: usize,
    buffer_bytes: u32,
}

impl Compiler<'_> {
    /// Index of the next instruction. A checked program has far fewer than 65,536.
    fn here(&self) -> u16 {
        self.instructions.len() as u16
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.instructions.len() - 1
    }

    fn section(&mut self, acts: &[Act]) -> Result<u16, GenerateError> {
        let begin = self.here();
        self.acts(acts)?;
        self.push(Instruction::SectionEnd);
        Ok(begin)
    }

    /// A body without labeled transactions is a single transaction.
    fn body(&mut self) -> Result<u16, GenerateError> {
        let begin = self.here();
        let group = self.context.group;
        let mut labels = Vec::new();
        for acts in [&group.first, &group.body, &group.last] {
            transactions(acts, &mut labels);
        }
        if labels.is_empty() || self.context.unit != TransactionUnit::Declared {
            let name = round_name(self.context.phase, group);
            self.transaction(&name, None, &group.body)?;
        } else {
            self.acts(&group.body)?;
        }
        self.push(Instruction::RoundEnd);
        Ok(begin)
    }

    fn acts(&mut self, acts: &[Act]) -> Result<(), GenerateError> {
        acts.iter().try_for_each(|act| self.act(act))
    }

    fn act(&mut self, act: &Act) -> Result<(), GenerateError> {
        match act {
            Act::Call(call) => self.call(call)?,
            Act::Times(law, acts) => {
                let sampler = self.sampler(law)?;
                // The end is known only after the body.
                let times = self.push(Instruction::LoopBegin { sampler, end: 0 });
                let body = self.here();
                self.acts(acts)?;
                self.push(Instruction::LoopEnd { body });
                let end = self.here();
                self.instructions[times] = Instruction::LoopBegin { sampler, end };
            }
            Act::Mix(choices) => self.mix(choices)?,
            Act::Deal(deck) => self.deal(deck)?,
            Act::Walk(walk) => self.walk(walk)?,
            Act::Step(label, acts) => self.step(*label, acts)?,
            Act::Transaction(label, acts) => match self.context.unit {
                TransactionUnit::Declared => {
                    let name = self.context.program.label(*label);
                    self.transaction(name, Some(*label), acts)?;
                }
                // The round is the transaction, and this is a part of it.
                TransactionUnit::Round | TransactionUnit::DueRound => self.step(*label, acts)?,
            },
            Act::Think(law) => {
                let sampler = self.sampler(law)?;
                self.push(Instruction::Think(sampler));
            }
            Act::Burn(law) => {
                let sampler = self.sampler(law)?;
                self.push(Instruction::Burn(sampler));
            }
            Act::Put {
                tokens,
                count,
                whose,
            } => self.wait(WaitCode::Put {
                tokens: *tokens,
                count: *count,
                whose: *whose,
                turn: 0,
            }),
            Act::Take {
                tokens,
                count,
                whose,
            } => self.wait(WaitCode::Take {
                tokens: *tokens,
                count: *count,
                whose: *whose,
                turn: 0,
            }),
            Act::Meet(meeting) => self.wait(WaitCode::Meet(*meeting)),
        }
        Ok(())
    }

    fn walk(&mut self, walk: &DirectoryWalk) -> Result<(), GenerateError> {
        let number = self.walks.len() as u16;
        let fileset = &self.context.program.filesets[usize::from(walk.fileset)];
        self.walks.push(WalkCode::new(walk, fileset));
        self.register_count = self.register_count.max(usize::from(walk.handle) + 1);
        self.push(Instruction::WalkBegin(number));
        let read = self.here();
        if !walk.each.is_empty() {
            self.calls.push(CallCode {
                operation: Operation::NextEntry,
                subject: CallSubject::Walk(number),
                second_picker: None,
                handle: walk.handle,
                amount: CallLength::Fixed(0),
                piece_bytes: 1,
                offset: CallOffset::Here,
                form: OffsetForm::Entry(number),
                claim: FileClaim::Shared,
                is_truncating: false,
                label: None,
            });
            self.push(Instruction::Call(self.calls.len() as u16 - 1));
            self.acts(&walk.each)?;
            self.push(Instruction::Jump(read));
        }
        self.walks[usize::from(number)].after = self.here();
        self.acts(&walk.after)?;
        let walk = number;
        self.push(Instruction::WalkNext { walk, read });
        Ok(())
    }

    fn step(&mut self, label: u8, acts: &[Act]) -> Result<(), GenerateError> {
        self.push(Instruction::StepBegin(label));
        self.acts(acts)?;
        self.push(Instruction::StepEnd);
        Ok(())
    }

    fn wait(&mut self, code: WaitCode) {
        self.waits.push(code);
        let number = self.waits.len() as u16 - 1;
        self.push(Instruction::Wait(number));
    }

    /// Pauses at the end of a transaction are moved after it: a transaction ends with its last
    /// call.
    fn transaction(
        &mut self,
        name: &str,
        label: Option<u8>,
        acts: &[Act],
    ) -> Result<(), GenerateError> {
        let is_pause = |act: &&Act| matches!(act, Act::Think(_) | Act::Burn(_));
        let pauses = acts.iter().rev().take_while(is_pause).count();
        let (acts, pauses) = acts.split_at(acts.len() - pauses);
        // With due rounds, the kinds have other names, and the round is kind 0.
        let kind = self.kinds.iter().position(|it| it == name).unwrap_or(0) as u8;
        let instruction = |end| Instruction::TransactionBegin { kind, label, end };
        let begin = self.push(instruction(0));
        self.acts(acts)?;
        let end = self.here();
        self.push(Instruction::TransactionEnd);
        self.instructions[begin] = instruction(end);
        self.acts(pauses)
    }

    fn mix(&mut self, choices: &[(u32, Vec<Act>)]) -> Result<(), GenerateError> {
        let weights: Vec<f64> = choices
            .iter()
            .map(|(weight, _)| f64::from(*weight))
            .collect();
        let number = self.mixes.len() as u16;
        // Reserved first, because nested choices take the next numbers.
        self.mixes.push((AliasTable::new(&weights), Box::default()));
        self.push(Instruction::Mix(number));
        let lists = choices.iter().map(|(_, acts)| acts.as_slice());
        self.mixes[usize::from(number)].1 = self.one_of(lists)?;
        Ok(())
    }

    fn deal(&mut self, deck: &Deck) -> Result<(), GenerateError> {
        let number = self.decks.len();
        self.decks.push(DeckCode {
            cards: deck.cards.clone(),
            turn: match deck.is_shared {
                true => TurnCounter::Shared(self.context.shared.deck(number)),
                false => TurnCounter::Own(0),
            },
            entries: Box::default(),
        });
        self.push(Instruction::Deal(number as u16));
        self.decks[number].entries = self.one_of(deck.choices.iter().map(Vec::as_slice))?;
        Ok(())
    }

    /// Compiles alternative lists of acts, of which one is executed. Returns the start of each.
    fn one_of<'b>(
        &mut self,
        lists: impl Iterator<Item = &'b [Act]>,
    ) -> Result<Box<[u16]>, GenerateError> {
        let mut begins = Vec::new();
        let mut jumps = Vec::new();
        for acts in lists {
            begins.push(self.here());
            self.acts(acts)?;
            jumps.push(self.push(Instruction::Jump(0)));
        }
        let end = self.here();
        for jump in jumps {
            self.instructions[jump] = Instruction::Jump(end);
        }
        Ok(begins.into())
    }

    fn sampler(&mut self, law: &Law) -> Result<u16, GenerateError> {
        self.samplers.push(Sampler::new(law)?);
        Ok(self.samplers.len() as u16 - 1)
    }

    fn call(&mut self, call: &Call) -> Result<(), GenerateError> {
        let (operation, code) = self.operation(call);
        let is_emptying = self.is_emptying(call);
        let claim = claim(call.operation, is_emptying);
        let is_placed = self.makes_directory(call, claim)?;
        let subject = match &call.on {
            CallObject::Name(_) if is_placed => CallSubject::Same,
            CallObject::Handle => CallSubject::Handle,
            CallObject::Same => CallSubject::Same,
            CallObject::Directory => CallSubject::Same,
            CallObject::Name(pick) => CallSubject::Pick(self.picker(pick, claim)?),
        };
        let second = match &call.second {
            // The other name is created or replaced, so no other worker may use it.
            Some(pick) => Some(self.picker(pick, FileClaim::Exclusive)?),
            None => None,
        };
        let moves = operation.moves_bytes();
        let amount = match &call.bytes {
            MovedBytes::Law(law) => match law.always() {
                Some(bytes) => CallLength::Fixed(bytes),
                None => CallLength::Drawn(self.sampler(law)?),
            },
            MovedBytes::Rest => CallLength::Rest,
            MovedBytes::Size => CallLength::SizeOf(call.handle),
            MovedBytes::SizeOf { handle } => CallLength::SizeOf(*handle),
        };
        let piece_bytes = match moves {
            true => call.request_bytes(),
            false => 1,
        };
        if moves {
            self.buffer_bytes = self.buffer_bytes.max(piece_bytes);
        } else if call.operation.has_attribute() {
            self.buffer_bytes = self.buffer_bytes.max(call.request_bytes());
        }
        self.register_count = self.register_count.max(usize::from(call.handle) + 1);
        let offset = self.place(&call.place, operation)?;
        self.calls.push(CallCode {
            operation,
            subject,
            second_picker: second,
            handle: call.handle,
            amount,
            piece_bytes,
            offset,
            form: self.form(call, code),
            claim,
            is_truncating: is_emptying,
            label: call.label,
        });
        let number = self.calls.len() as u16 - 1;
        self.push(Instruction::Call(number));
        Ok(())
    }

    /// Adds a call that makes the directory of a created file, if the way to open requires it. That
    /// call then picks the name. Returns `true` if it was added.
    fn makes_directory(&mut self, call: &Call, claim: FileClaim) -> Result<bool, GenerateError> {
        let mode = self.context.program.ways.get(usize::from(call.way));
        let is_wanted = mode.is_some_and(|mode| mode.makes_directory);
        let (FileOperation::Create, CallObject::Name(pick), true) =
            (call.operation, &call.on, is_wanted)
        else {
            return Ok(false);
        };
        let picker = self.picker(pick, claim)?;
        self.calls.push(CallCode {
            operation: Operation::Mkdir,
            subject: CallSubject::Pick(picker),
            second_picker: None,
            handle: call.handle,
            amount: CallLength::Fixed(0),
            piece_bytes: 1,
            offset: CallOffset::Here,
            form: OffsetForm::Code(RequestObject::Directory.code()),
            claim,
            is_truncating: false,
            label: None,
        });
        let number = self.calls.len() as u16 - 1;
        self.push(Instruction::Call(number));
        Ok(true)
    }

    fn seeds(&self) -> Seeds {
        Seeds {
            order: mix(self.context.seed ^ self.pickers.len() as u64),
            // The same for all workers, so that they share their popular files.
            scatter: self.pickers.len() as u64,
        }
    }
}

/// Index of the worker whose copies, slices and blocks this worker uses.
fn source_worker(context: &WorkerContext<'_>) -> u32 {
    (context.worker_index + context.group.shift) % context.worker_count.max(1)
}

/// The claim of a call on its name. Several workers may create a file at the same time if they do
/// not empty it.
const fn claim(operation: FileOperation, is_emptying: bool) -> FileClaim {
    match operation {
        FileOperation::Create if !is_emptying => FileClaim::Shared,
        FileOperation::Create
        | FileOperation::Unlink
        | FileOperation::Mkdir
        | FileOperation::Rmdir
        | FileOperation::Rename => FileClaim::Exclusive,
        _ => FileClaim::Shared,
    }
}
