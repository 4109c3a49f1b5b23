//! Checks which files are open at each act, on every path through the acts of a group.

use super::super::walk::visit_acts;
use super::super::{
    Access, Act, ActList, Call, CallObject, DirectoryWalk, FileOperation, Group, MovedBytes,
    OpenModePlan, Program, REGISTERS_MAX,
};
use super::{InvalidProgram, ProgramStep};

/// Open file of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegisterState {
    Closed,
    /// Open in the way of this number; `None` if the way depends on the path.
    Open(Option<u8>),
    /// Open on some paths only.
    MaybeOpen,
}

/// State of a register that holds on every path to an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Register {
    /// Whether a file was picked.
    is_known: bool,
    state: RegisterState,
}

impl Register {
    const UNUSED: Self = Self {
        is_known: false,
        state: RegisterState::Closed,
    };

    /// The state that holds where two paths meet.
    fn join(self, other: Self) -> Self {
        let opened = match (self.state, other.state) {
            (one, other) if one == other => one,
            (RegisterState::Open(_), RegisterState::Open(_)) => RegisterState::Open(None),
            _ => RegisterState::MaybeOpen,
        };
        Self {
            is_known: self.is_known && other.is_known,
            state: opened,
        }
    }
}

type Registers = Vec<Register>;

fn join(one: &Registers, other: &Registers) -> Registers {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one.join(*other)).collect()
}

/// Checks the registers of a group. If a worker has several flows in progress, a file that one flow
/// opened before its body is not open in the others.
pub(super) fn check(
    program: &Program,
    group: &Group,
    has_several_flows: bool,
) -> Result<(), InvalidProgram> {
    let unused = vec![Register::UNUSED; register_count(group).min(REGISTERS_MAX)];
    let path = Path { program };
    let mut before = unused.clone();
    for (list, acts) in group.lists() {
        let is_body = list == ActList::Body;
        let own = match is_body && has_several_flows {
            true => &unused,
            false => &before,
        };
        let done = match is_body {
            true => path.repeated(own, acts, true),
            false => path.through(own.clone(), acts),
        };
        let done = done.map_err(|flaw| {
            let flaw = match is_body && has_several_flows {
                true => blame_iodepth(flaw),
                false => flaw,
            };
            flaw.within(ProgramStep::Acts(list))
        })?;
        // Flows have separate registers, so `last` sees the state that `first` left.
        if !(is_body && has_several_flows) {
            before = done;
        }
    }
    Ok(())
}

/// The same flaw, if the acts would be right with a single flow.
fn blame_iodepth(flaw: InvalidProgram) -> InvalidProgram {
    let message = format!("{}, because `iodepth` is above 1", flaw.message);
    let help = "open files in `body`, or use `iodepth = 1` and more workers";
    InvalidProgram {
        message,
        help: help.to_owned(),
        ..flaw
    }
}

/// Number of registers that the acts of a group need.
fn register_count(group: &Group) -> usize {
    let mut count = 0;
    for (_, acts) in group.lists() {
        visit_acts(acts, &mut |act| {
            let last = match act {
                Act::Call(call) => match call.bytes {
                    MovedBytes::SizeOf { handle } => call.handle.max(handle),
                    _ => call.handle,
                },
                Act::Walk(walk) => walk.handle,
                _ => return,
            };
            count = count.max(usize::from(last) + 1);
        });
    }
    count
}

struct Path<'a> {
    program: &'a Program,
}

impl Path<'_> {
    fn through(&self, mut before: Registers, acts: &[Act]) -> Result<Registers, InvalidProgram> {
        for (index, act) in acts.iter().enumerate() {
            before = self
                .act(before, act)
                .map_err(|flaw| flaw.within(ProgramStep::Act(index)))?;
        }
        Ok(before)
    }

    /// Repeated acts: the state that holds before the first round and after every round.
    fn repeated(
        &self,
        before: &Registers,
        acts: &[Act],
        may_be_left_out: bool,
    ) -> Result<Registers, InvalidProgram> {
        let mut entered = before.clone();
        loop {
            let done = self.through(entered.clone(), acts)?;
            let again = join(&entered, &done);
            // The loop ends, because a join only makes a state less certain, and there are few
            // states.
            if again == entered {
                return Ok(match may_be_left_out {
                    true => again,
                    false => done,
                });
            }
            entered = again;
        }
    }

    fn act(&self, before: Registers, act: &Act) -> Result<Registers, InvalidProgram> {
        match act {
            Act::Call(call) => self.call(before, call),
            Act::Times(law, acts) => self.repeated(&before, acts, law.smallest() == 0),
            Act::Step(_, acts) | Act::Transaction(_, acts) => self.through(before, acts),
            Act::Walk(walk) => self.walk(before, walk),
            Act::Mix(_) | Act::Deal(_) => {
                let mut met: Option<Registers> = None;
                for (index, acts) in act.lists().into_iter().enumerate() {
                    let done = self
                        .through(before.clone(), acts)
                        .map_err(|flaw| flaw.within(ProgramStep::Branch(index)))?;
                    met = Some(met.map_or(done.clone(), |met| join(&met, &done)));
                }
                Ok(met.unwrap_or(before))
            }
            Act::Think(_) | Act::Burn(_) | Act::Put { .. } | Act::Take { .. } | Act::Meet(_) => {
                Ok(before)
            }
        }
    }

    fn walk(
        &self,
        mut before: Registers,
        walk: &DirectoryWalk,
    ) -> Result<Registers, InvalidProgram> {
        let handle = usize::from(walk.handle);
        before[handle].is_known = true;
        let before = self.repeated(&before, &walk.each, true)?;
        if before[handle].state != RegisterState::Closed {
            let message = "a file is left open under the handle of the `walk`";
            return Err(InvalidProgram::new(message, "write `\"close\"` after it"));
        }
        self.through(before, &walk.after)
    }

    fn call(&self, mut before: Registers, call: &Call) -> Result<Registers, InvalidProgram> {
        if let MovedBytes::SizeOf { handle } = call.bytes {
            known(before[usize::from(handle)], "size of")?;
        }
        let register = &mut before[usize::from(call.handle)];
        let verb = call.operation.name();
        match call.on {
            CallObject::Handle if call.operation == FileOperation::Sync => {}
            CallObject::Handle => {
                self.check_open(*register, call)?;
                if call.operation == FileOperation::Close {
                    register.state = RegisterState::Closed;
                }
            }
            CallObject::Same | CallObject::Directory => known(*register, verb)?,
            CallObject::Name(_)
                if register.state != RegisterState::Closed && !call.operation.opens() =>
            {
                let message = format!(
                    "`{verb}` picks a file under the handle of one that {} open",
                    verb_of_opened(register.state)
                );
                return Err(InvalidProgram::new(message, "give it its own `handle`"));
            }
            CallObject::Name(_) => register.is_known = true,
        }
        if call.operation.opens() {
            if register.state != RegisterState::Closed {
                let message = format!(
                    "`{verb}` opens a file under the handle of one that {} open",
                    verb_of_opened(register.state)
                );
                let help = "write `\"close\"` before it, or give it its own `handle`";
                return Err(InvalidProgram::new(message, help));
            }
            register.state = RegisterState::Open(Some(call.way));
        }
        Ok(before)
    }

    /// Checks that an operation on an open file has one, opened for this kind of access.
    fn check_open(&self, register: Register, call: &Call) -> Result<(), InvalidProgram> {
        let verb = call.operation.name();
        let RegisterState::Open(way) = register.state else {
            let message = match register.state {
                RegisterState::MaybeOpen => {
                    format!("`{verb}` works on a file that may not be open")
                }
                _ => format!("`{verb}` works on a file, but none is open under its handle"),
            };
            return Err(InvalidProgram::new(
                message,
                "write `{ open = \"FILESET\" }` before it",
            ));
        };
        let Some(mode) = way.and_then(|way| self.program.ways.get(usize::from(way))) else {
            return Ok(());
        };
        let wanted = match (call.operation, mode.access) {
            (FileOperation::Read, Access::Write) => "read",
            (FileOperation::Write | FileOperation::Truncate, Access::Read) => "write",
            _ => return Ok(()),
        };
        Err(not_open_for(wanted, mode))
    }
}

fn not_open_for(wanted: &str, mode: &OpenModePlan) -> InvalidProgram {
    let message = format!(
        "the file is opened in the way `{}`, not to {wanted}",
        mode.name
    );
    InvalidProgram::new(message, "write `access = \"read-write\"` in that `[[way]]`")
}

fn verb_of_opened(opened: RegisterState) -> &'static str {
    match opened {
        RegisterState::MaybeOpen => "may be",
        _ => "is",
    }
}

fn known(register: Register, verb: &str) -> Result<(), InvalidProgram> {
    if register.is_known {
        return Ok(());
    }
    let message = format!("`{verb}` names `@`, but no file was picked under that handle before");
    Err(InvalidProgram::new(
        message,
        "name a fileset, from which a file is picked",
    ))
}
