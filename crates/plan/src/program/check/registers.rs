//! What is open when, on every path through the acts of a group.

use super::super::walk::each_act;
use super::super::{
    Access, Act, ActList, Bytes, Call, DirectoryWalk, FileOperation, Group, On, Program,
    REGISTERS_MAX, Way,
};
use super::{ProgramFlaw, ProgramStep};

/// What a register has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    No,
    /// In the way of this number; none where that depends on the path.
    Yes(Option<u8>),
    /// On some paths.
    Perhaps,
}

/// What is known of a register on every path to an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Register {
    /// Whether a file was picked.
    is_known: bool,
    opened: Opened,
}

impl Register {
    const UNUSED: Self = Self {
        is_known: false,
        opened: Opened::No,
    };

    /// What is known where two paths meet.
    fn join(self, other: Self) -> Self {
        let opened = match (self.opened, other.opened) {
            (one, other) if one == other => one,
            (Opened::Yes(_), Opened::Yes(_)) => Opened::Yes(None),
            _ => Opened::Perhaps,
        };
        Self {
            is_known: self.is_known && other.is_known,
            opened,
        }
    }
}

type Registers = Vec<Register>;

fn join(one: &Registers, other: &Registers) -> Registers {
    let pairs = one.iter().zip(other);
    pairs.map(|(one, other)| one.join(*other)).collect()
}

/// Checks the registers of a group; where a worker has several flows in progress, what one opened
/// before its body is not open in the others.
pub(super) fn check(
    program: &Program,
    group: &Group,
    has_several_flows: bool,
) -> Result<(), ProgramFlaw> {
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
                true => by_depth(flaw),
                false => flaw,
            };
            flaw.within(ProgramStep::Acts(list))
        })?;
        if !(is_body && has_several_flows) {
            before = done;
        }
    }
    Ok(())
}

/// The same, where it would be right for one flow.
fn by_depth(flaw: ProgramFlaw) -> ProgramFlaw {
    let message = format!("{}, as `iodepth` is above 1", flaw.message);
    let help = "open files in `body`, or use `iodepth = 1` and more workers";
    ProgramFlaw {
        message,
        help: help.to_owned(),
        ..flaw
    }
}

/// How many registers there must be for the acts of a group.
fn register_count(group: &Group) -> usize {
    let mut count = 0;
    for (_, acts) in group.lists() {
        each_act(acts, &mut |act| {
            let last = match act {
                Act::Call(call) => match call.bytes {
                    Bytes::SizeOf { handle } => call.handle.max(handle),
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
    fn through(&self, mut before: Registers, acts: &[Act]) -> Result<Registers, ProgramFlaw> {
        for (index, act) in acts.iter().enumerate() {
            before = self
                .act(before, act)
                .map_err(|flaw| flaw.within(ProgramStep::Act(index)))?;
        }
        Ok(before)
    }

    /// Acts over and over: what holds before the first round and behind every one of them.
    fn repeated(
        &self,
        before: &Registers,
        acts: &[Act],
        may_be_left_out: bool,
    ) -> Result<Registers, ProgramFlaw> {
        let mut entered = before.clone();
        loop {
            let done = self.through(entered.clone(), acts)?;
            let again = join(&entered, &done);
            if again == entered {
                return Ok(match may_be_left_out {
                    true => again,
                    false => done,
                });
            }
            entered = again;
        }
    }

    fn act(&self, before: Registers, act: &Act) -> Result<Registers, ProgramFlaw> {
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

    fn walk(&self, mut before: Registers, walk: &DirectoryWalk) -> Result<Registers, ProgramFlaw> {
        let handle = usize::from(walk.handle);
        before[handle].is_known = true;
        let before = self.repeated(&before, &walk.each, true)?;
        if before[handle].opened != Opened::No {
            let message = "a file is left open under the handle of the `walk`";
            return Err(ProgramFlaw::new(message, "write `\"close\"` behind it"));
        }
        self.through(before, &walk.after)
    }

    fn call(&self, mut before: Registers, call: &Call) -> Result<Registers, ProgramFlaw> {
        if let Bytes::SizeOf { handle } = call.bytes {
            known(before[usize::from(handle)], "size of")?;
        }
        let register = &mut before[usize::from(call.handle)];
        let verb = call.operation.name();
        match call.on {
            On::Handle if call.operation == FileOperation::Sync => {}
            On::Handle => {
                self.check_open(*register, call)?;
                if call.operation == FileOperation::Close {
                    register.opened = Opened::No;
                }
            }
            On::Same | On::Directory => known(*register, verb)?,
            On::Name(_) if register.opened != Opened::No && !call.operation.opens() => {
                let message = format!(
                    "`{verb}` picks a file under the handle of one that {} open",
                    be(register.opened)
                );
                return Err(ProgramFlaw::new(message, "give it a `handle` of its own"));
            }
            On::Name(_) => register.is_known = true,
        }
        if call.operation.opens() {
            if register.opened != Opened::No {
                let message = format!(
                    "`{verb}` opens a file under the handle of one that {} open",
                    be(register.opened)
                );
                let help = "write `\"close\"` before it, or give it a `handle` of its own";
                return Err(ProgramFlaw::new(message, help));
            }
            register.opened = Opened::Yes(Some(call.way));
        }
        Ok(before)
    }

    /// What works on an open file needs one, opened for what is done.
    fn check_open(&self, register: Register, call: &Call) -> Result<(), ProgramFlaw> {
        let verb = call.operation.name();
        let Opened::Yes(way) = register.opened else {
            let message = match register.opened {
                Opened::Perhaps => format!("`{verb}` works on a file that may not be open"),
                _ => format!("`{verb}` works on a file, but none is open under its handle"),
            };
            return Err(ProgramFlaw::new(
                message,
                "write `{ open = \"FILESET\" }` before it",
            ));
        };
        let Some(way) = way.and_then(|way| self.program.ways.get(usize::from(way))) else {
            return Ok(());
        };
        let wanted = match (call.operation, way.access) {
            (FileOperation::Read, Access::Write) => "read",
            (FileOperation::Write | FileOperation::Truncate, Access::Read) => "write",
            _ => return Ok(()),
        };
        Err(not_open_for(wanted, way))
    }
}

fn not_open_for(wanted: &str, way: &Way) -> ProgramFlaw {
    let message = format!(
        "the file is opened in the way `{}`, not to {wanted}",
        way.name
    );
    ProgramFlaw::new(message, "write `access = \"read-write\"` in that `[[way]]`")
}

fn be(opened: Opened) -> &'static str {
    match opened {
        Opened::Perhaps => "may be",
        _ => "is",
    }
}

fn known(register: Register, verb: &str) -> Result<(), ProgramFlaw> {
    if register.is_known {
        return Ok(());
    }
    let message = format!("`{verb}` names `@`, but no file was picked under that handle before");
    Err(ProgramFlaw::new(
        message,
        "name a fileset, from which a file is picked",
    ))
}
