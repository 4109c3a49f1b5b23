//! Checks the form of acts: nesting, counts and draws.

use super::super::walk::calls_of;
use super::super::{
    Act, Deck, DirectoryTree as Tree, DirectoryWalk, FileNames, Group, Law, NESTING_MAX, Program,
    REGISTERS_MAX, Spawn,
};
use super::filesets::check_law;
use super::{InvalidProgram, ProgramStep, WORKERS_MAX, calls, check_label};

/// Maximum number of repetitions of acts.
const TIMES_MAX: u64 = 1_000_000_000;

pub(super) fn check(program: &Program, group: &Group) -> Result<(), InvalidProgram> {
    if group.workers == Some(0) {
        let message = format!("the group `{}` has no worker", group.name);
        return Err(InvalidProgram::new(message, "write `workers = 1` or more"));
    }
    if group.shift > WORKERS_MAX {
        let message = format!("`shift` is more than {WORKERS_MAX}");
        return Err(InvalidProgram::new(
            message,
            "write a number below the number of workers",
        ));
    }
    let has_acts = group.lists().iter().any(|(_, acts)| !acts.is_empty());
    if let Some(spawn) = &group.spawn {
        return check_spawn(program, spawn, has_acts);
    }
    if group.trace.is_none() && group.pool.is_none() && !has_acts {
        let message = format!("the group `{}` does nothing", group.name);
        return Err(InvalidProgram::new(message, "write its acts as `body`"));
    }
    for (list, acts) in group.lists() {
        let nest = ActContext {
            program,
            depth: 1,
            is_in_transaction: false,
            is_in_walk: false,
        };
        nest.check(acts)
            .map_err(|flaw| flaw.within(ProgramStep::Acts(list)))?;
    }
    Ok(())
}

/// A group that starts programs must have no acts.
fn check_spawn(program: &Program, spawn: &Spawn, has_acts: bool) -> Result<(), InvalidProgram> {
    check_label(program, spawn.label)?;
    calls::check_pick(program, &spawn.pick)?;
    if spawn.pick.order.is_single_pass() && !has_acts {
        return Ok(());
    }
    let message = "programs are started once for each file, and for nothing else";
    Err(InvalidProgram::new(message, "leave all acts out"))
}

/// A list of acts, with the context that encloses it.
#[derive(Clone, Copy)]
struct ActContext<'a> {
    program: &'a Program,
    depth: usize,
    is_in_transaction: bool,
    is_in_walk: bool,
}

impl ActContext<'_> {
    fn check(self, acts: &[Act]) -> Result<(), InvalidProgram> {
        if self.depth > NESTING_MAX {
            let message = format!("acts are nested more than {NESTING_MAX} deep");
            return Err(InvalidProgram::new(message, "nest fewer acts"));
        }
        let mut acts = acts.iter().enumerate();
        acts.try_for_each(|(index, act)| {
            self.check_act(act)
                .map_err(|flaw| flaw.within(ProgramStep::Act(index)))
        })
    }

    fn check_act(self, act: &Act) -> Result<(), InvalidProgram> {
        match act {
            Act::Call(call) => calls::check(self.program, call),
            Act::Times(law, acts) => {
                check_times(law)?;
                self.inside(acts)
            }
            Act::Walk(walk) => self.check_walk(walk),
            Act::Deal(deck) => self.check_deck(deck),
            Act::Mix(branches) => self.check_mix(branches),
            Act::Step(label, acts) => {
                self.check_label(*label)?;
                self.inside(acts)
            }
            Act::Transaction(label, acts) => self.check_transaction(*label, acts),
            Act::Think(law) | Act::Burn(law) => check_law(law, "the time"),
            // Checked together with the whole phase.
            Act::Put { .. } | Act::Take { .. } | Act::Meet(_) => Ok(()),
        }
    }

    fn inside(self, acts: &[Act]) -> Result<(), InvalidProgram> {
        if acts.is_empty() {
            return Err(InvalidProgram::new(
                "there is nothing to do in it",
                "write its acts as `do`",
            ));
        }
        let depth = self.depth + 1;
        ActContext { depth, ..self }.check(acts)
    }

    fn check_walk(self, walk: &DirectoryWalk) -> Result<(), InvalidProgram> {
        let fileset = self.program.filesets.get(usize::from(walk.fileset));
        let is_listed = fileset.is_some_and(|it| {
            let is_plain = !matches!(it.names, FileNames::Ways(_));
            is_plain && !matches!(it.tree, Tree::Grown(_) | Tree::DirectoriesOf { .. })
        });
        if !is_listed || usize::from(walk.handle) >= REGISTERS_MAX {
            let message = "`walk` goes through the directories of files by number";
            return Err(InvalidProgram::new(
                message,
                "name a fileset without a grown tree",
            ));
        }
        if self.is_in_transaction {
            let message = "a `walk` is within a transaction";
            return Err(InvalidProgram::new(message, "put the transaction into it"));
        }
        let within = ActContext {
            depth: self.depth + 1,
            is_in_walk: true,
            ..self
        };
        if self.is_in_walk {
            let message = "a `walk` is within another";
            return Err(InvalidProgram::new(message, "put one after the other"));
        }
        if walk.each.is_empty() && walk.after.is_empty() {
            // `inside` has the message for an empty list.
            return self.inside(&[]);
        }
        within.check(&walk.each)?;
        within.check(&walk.after)
    }

    fn check_deck(self, deck: &Deck) -> Result<(), InvalidProgram> {
        let count = deck.choices.len();
        let mut cards = deck.cards.iter();
        if count == 0 || cards.any(|card| usize::from(card.choice) >= count) {
            let message = "a card selects a choice that does not exist";
            return Err(InvalidProgram::new(message, "give it one of the choices"));
        }
        let mut choices = deck.choices.iter().enumerate();
        choices.try_for_each(|(index, acts)| {
            let checked = self.inside(acts);
            checked.map_err(|flaw| flaw.within(ProgramStep::Branch(index)))
        })
    }

    fn check_mix(self, branches: &[(u32, Vec<Act>)]) -> Result<(), InvalidProgram> {
        if branches.is_empty() {
            let message = "the `mix` has nothing to choose from";
            return Err(InvalidProgram::new(
                message,
                "write `mix = [{ share = 1, do = [..] }]`",
            ));
        }
        for (index, (share, acts)) in branches.iter().enumerate() {
            let checked = match share {
                0 => Err(InvalidProgram::new(
                    "a share of 0 is never done",
                    "write a `share` of 1 or more, or take it out",
                )),
                _ => self.inside(acts),
            };
            checked.map_err(|flaw| flaw.within(ProgramStep::Branch(index)))?;
        }
        let sum: u64 = branches.iter().map(|(share, _)| u64::from(*share)).sum();
        if u32::try_from(sum).is_err() {
            let message = format!("the shares add up to {sum}, more than 32 bits can count");
            return Err(InvalidProgram::new(message, "use smaller shares"));
        }
        Ok(())
    }

    fn check_transaction(self, label: u8, acts: &[Act]) -> Result<(), InvalidProgram> {
        self.check_label(label)?;
        if self.is_in_transaction {
            let message = "a transaction is within another";
            return Err(InvalidProgram::new(
                message,
                "write `step` for the inner one",
            ));
        }
        ActContext {
            is_in_transaction: true,
            ..self
        }
        .inside(acts)?;
        if calls_of(acts).is_empty() {
            let message = "the transaction makes no system call";
            return Err(InvalidProgram::new(message, "write `step` instead"));
        }
        Ok(())
    }

    fn check_label(self, label: u8) -> Result<(), InvalidProgram> {
        check_label(self.program, label)
    }
}

fn check_times(law: &Law) -> Result<(), InvalidProgram> {
    check_law(law, "the number of times")?;
    let help = match law.largest() {
        Some(..=TIMES_MAX) => return Ok(()),
        // A fixed number has no law that `most` could limit.
        Some(_) => "use a smaller number",
        None => "limit it with `most`",
    };
    let message = format!("`times` may be more than {TIMES_MAX}");
    Err(InvalidProgram::new(message, help))
}
