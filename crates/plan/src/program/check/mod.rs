//! Whether a program can be done at all: pure, before anything is prepared.

mod acts;
mod calls;
mod ends;
mod filesets;
mod places;
mod pools;
mod registers;
#[cfg(test)]
mod tests;
mod tokens;

use super::{
    Act, ActList, FILESETS_MAX, LABELS_MAX, Program, ProgramPart, ProgramPhase, Until, WAYS_MAX,
};

/// How deep rounds may be nested.
const ROUNDS_NESTED_MAX: usize = 4;
/// Workers of a phase, at most: each is a thread.
const WORKERS_MAX: u32 = 1024;

/// A step on the way to what is wrong in a program; all are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramStep {
    /// One of the filesets.
    Fileset(usize),
    /// One of the ways of opening.
    Way(usize),
    /// One of the counters that workers wait for.
    Tokens(usize),
    /// A phase or rounds, in the program or in rounds.
    Part(usize),
    /// A group of a phase.
    Group(usize),
    /// A list of acts of a group.
    Acts(ActList),
    /// An act of a list.
    Act(usize),
    /// One of those of a mix.
    Branch(usize),
}

/// What keeps a program from being done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFlaw {
    /// The way to it.
    pub path: Vec<ProgramStep>,
    /// What is wrong.
    pub message: String,
    /// One action.
    pub help: String,
}

impl ProgramFlaw {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            message: message.into(),
            help: help.into(),
        }
    }

    /// The same flaw, seen from further out.
    fn within(mut self, step: ProgramStep) -> Self {
        self.path.insert(0, step);
        self
    }
}

impl Program {
    /// Whether it can be done.
    ///
    /// # Errors
    /// The first thing that keeps it from being done.
    pub fn check(&self) -> Result<(), ProgramFlaw> {
        self.check_counts()?;
        pools::check(self)?;
        filesets::check(self)?;
        tokens::check_all(self)?;
        self.check_parts(&self.parts, 0)?;
        calls::check_sets(self)
    }

    /// Whether it can be done with so many files worked on at once by each worker.
    ///
    /// # Errors
    /// What is opened once cannot be used by several flows of acts.
    pub fn check_depth(&self, iodepth: u32) -> Result<(), ProgramFlaw> {
        if iodepth <= 1 {
            return Ok(());
        }
        each_group(&self.parts, &mut |group| {
            registers::check(self, group, true)
        })
    }

    fn check_counts(&self) -> Result<(), ProgramFlaw> {
        for (count, most, what) in [
            (self.filesets.len(), FILESETS_MAX, "filesets"),
            (self.ways.len(), WAYS_MAX, "ways"),
            (self.labels.len(), LABELS_MAX, "labels"),
        ] {
            if count > most {
                let message = format!("there are {count} {what}, more than {most}");
                return Err(ProgramFlaw::new(message, format!("use fewer {what}")));
            }
        }
        if self.ways.is_empty() && self.pool.is_none() {
            let message = "there is no way of opening a file";
            return Err(ProgramFlaw::new(message, "add one to read and to write"));
        }
        if self.phases().is_empty() {
            let message = "there is no phase, so there is nothing to run";
            return Err(ProgramFlaw::new(message, "add a `[[phase]]`"));
        }
        Ok(())
    }

    fn check_parts(&self, parts: &[ProgramPart], depth: usize) -> Result<(), ProgramFlaw> {
        for (index, part) in parts.iter().enumerate() {
            let checked = match part {
                ProgramPart::Phase(phase) => self.check_phase(phase),
                ProgramPart::Rounds { until, parts } => {
                    self.check_rounds(*until, parts, depth).and_then(|()| {
                        // What is in rounds is checked as what is not.
                        self.check_parts(parts, depth + 1)
                    })
                }
            };
            checked.map_err(|flaw| flaw.within(ProgramStep::Part(index)))?;
        }
        Ok(())
    }

    fn check_rounds(
        &self,
        until: Until,
        parts: &[ProgramPart],
        depth: usize,
    ) -> Result<(), ProgramFlaw> {
        if parts.is_empty() {
            let message = "the rounds have no phase, so there is nothing to repeat";
            return Err(ProgramFlaw::new(message, "add a `[[rounds.phase]]`"));
        }
        if depth >= ROUNDS_NESTED_MAX {
            let message = format!("rounds are nested more than {ROUNDS_NESTED_MAX} deep");
            return Err(ProgramFlaw::new(
                message,
                "repeat fewer things in each other",
            ));
        }
        match until {
            Until::Times(0) => {
                let message = "the rounds are done 0 times";
                Err(ProgramFlaw::new(message, "write `times = 1` or more"))
            }
            Until::Spent { ns: 0 } => {
                let message = "the rounds end as they begin";
                Err(ProgramFlaw::new(message, "write a `spent` above 0"))
            }
            Until::Sampled { fileset, .. } if usize::from(fileset) >= self.filesets.len() => {
                let message = format!("there is no fileset of the number {fileset}");
                Err(ProgramFlaw::new(message, "add the fileset"))
            }
            Until::Sampled { samples: 0, .. } => {
                let message = "there are 0 samples";
                Err(ProgramFlaw::new(message, "use 1 or more"))
            }
            _ => Ok(()),
        }
    }

    fn check_phase(&self, phase: &ProgramPhase) -> Result<(), ProgramFlaw> {
        named(&phase.name, "phase")?;
        if phase.groups.is_empty() {
            let message = format!("the phase `{}` has no group, so nobody works", phase.name);
            return Err(ProgramFlaw::new(message, "add a `[[phase.group]]`"));
        }
        if phase.time_ns == Some(0) {
            let message = format!("the phase `{}` ends as it begins", phase.name);
            return Err(ProgramFlaw::new(message, "give it a time above 0"));
        }
        let mut workers = 0_u32;
        for (index, group) in phase.groups.iter().enumerate() {
            let checked = named(&group.name, "group")
                .and_then(|()| acts::check(self, group))
                .and_then(|()| registers::check(self, group, false))
                .and_then(|()| places::check(self, group))
                .and_then(|()| ends::check_quotas(self, group));
            checked.map_err(|flaw| flaw.within(ProgramStep::Group(index)))?;
            workers = workers.saturating_add(group.worker_count());
        }
        if workers > WORKERS_MAX {
            let message = format!(
                "the groups of `{}` have {workers} workers, more than {WORKERS_MAX}",
                phase.name
            );
            return Err(ProgramFlaw::new(message, "use fewer `workers`"));
        }
        tokens::check(self, phase)?;
        ends::check(phase)
    }
}

/// Applies a check to each group, wherever it is.
fn each_group(
    parts: &[ProgramPart],
    check: &mut impl FnMut(&super::Group) -> Result<(), ProgramFlaw>,
) -> Result<(), ProgramFlaw> {
    for (index, part) in parts.iter().enumerate() {
        let checked = match part {
            ProgramPart::Rounds { parts, .. } => each_group(parts, check),
            ProgramPart::Phase(phase) => {
                let mut groups = phase.groups.iter().enumerate();
                groups.try_for_each(|(index, group)| {
                    check(group).map_err(|flaw| flaw.within(ProgramStep::Group(index)))
                })
            }
        };
        checked.map_err(|flaw| flaw.within(ProgramStep::Part(index)))?;
    }
    Ok(())
}

/// Applies a check to each act, wherever it stands.
fn check_each_act(
    acts: &[Act],
    check: &mut impl FnMut(&Act) -> Result<(), ProgramFlaw>,
) -> Result<(), ProgramFlaw> {
    for (index, act) in acts.iter().enumerate() {
        let checked = check(act).and_then(|()| match act {
            Act::Mix(branches) => {
                let mut branches = branches.iter().enumerate();
                branches.try_for_each(|(branch, (_, acts))| {
                    check_each_act(acts, check)
                        .map_err(|flaw| flaw.within(ProgramStep::Branch(branch)))
                })
            }
            other => {
                let mut lists = other.lists().into_iter();
                lists.try_for_each(|acts| check_each_act(acts, check))
            }
        });
        checked.map_err(|flaw| flaw.within(ProgramStep::Act(index)))?;
    }
    Ok(())
}

/// A label that there is.
fn check_label(program: &Program, label: u8) -> Result<(), ProgramFlaw> {
    if usize::from(label) < program.labels.len().min(LABELS_MAX) {
        return Ok(());
    }
    let message = format!("there is no label of the number {label}");
    Err(ProgramFlaw::new(message, "add the label"))
}

/// Names stand in tables and records.
fn named(name: &str, what: &str) -> Result<(), ProgramFlaw> {
    if !name.trim().is_empty() && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let message = format!("a {what} has no name of one line");
    Err(ProgramFlaw::new(
        message,
        format!("give the {what} a `name`"),
    ))
}
