//! Checks whether a program can run, without accessing the system.

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
    ATTRIBUTES_MAX, Act, ActList, FILESETS_MAX, LABELS_MAX, OPEN_MODES_MAX, Program, ProgramPart,
    ProgramPhase, RoundsEnd,
};

/// Maximum nesting of rounds.
const ROUNDS_NESTED_MAX: usize = 4;
/// Maximum number of workers of a phase; each is a thread.
const WORKERS_MAX: u32 = 1024;

/// A step on the path to an error in a program; all indexes are 0-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramStep {
    /// The fileset with this index.
    Fileset(usize),
    /// A way of opening files.
    OpenMode(usize),
    /// Counters that workers wait for.
    Tokens(usize),
    /// A phase or rounds, in the program or in enclosing rounds.
    Part(usize),
    /// A group of a phase.
    Group(usize),
    /// A list of acts of a group.
    Acts(ActList),
    /// An act of a list.
    Act(usize),
    /// A branch of a mix.
    Branch(usize),
}

/// Reason why a program cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidProgram {
    /// Path to the faulty part.
    pub path: Vec<ProgramStep>,
    /// Error message.
    pub message: String,
    /// One action.
    pub help: String,
}

impl InvalidProgram {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            message: message.into(),
            help: help.into(),
        }
    }

    /// The same flaw, with an enclosing step added to its path.
    fn within(mut self, step: ProgramStep) -> Self {
        self.path.insert(0, step);
        self
    }
}

impl Program {
    /// Checks that the program can run.
    ///
    /// # Errors
    /// The first reason why it cannot.
    pub fn check(&self) -> Result<(), InvalidProgram> {
        self.check_counts()?;
        pools::check(self)?;
        filesets::check(self)?;
        tokens::check_all(self)?;
        self.check_parts(&self.parts, 0)?;
        // Last, because it indexes filesets by numbers that the other checks have validated.
        calls::check_sets(self)
    }

    /// Checks that the program can run with `iodepth` files in progress per worker.
    ///
    /// # Errors
    /// If acts of the body use a file that was opened outside it, because only one flow has it
    /// open.
    pub fn check_depth(&self, iodepth: u32) -> Result<(), InvalidProgram> {
        if iodepth <= 1 {
            return Ok(());
        }
        check_each_group(&self.parts, &mut |group| {
            registers::check(self, group, true)
        })
    }

    fn check_counts(&self) -> Result<(), InvalidProgram> {
        for (count, most, what) in [
            (self.filesets.len(), FILESETS_MAX, "filesets"),
            (self.ways.len(), OPEN_MODES_MAX, "ways"),
            (self.labels.len(), LABELS_MAX, "labels"),
            (self.attributes.len(), ATTRIBUTES_MAX, "attributes"),
        ] {
            if count > most {
                let message = format!("there are {count} {what}, more than {most}");
                return Err(InvalidProgram::new(message, format!("use fewer {what}")));
            }
        }
        for name in &self.attributes {
            calls::check_attribute_name(name)?;
        }
        if self.ways.is_empty() && self.pool.is_none() {
            let message = "there is no way of opening a file";
            return Err(InvalidProgram::new(message, "add one to read and to write"));
        }
        if self.phases().is_empty() {
            let message = "there is no phase, so there is nothing to run";
            return Err(InvalidProgram::new(message, "add a `[[phase]]`"));
        }
        Ok(())
    }

    fn check_parts(&self, parts: &[ProgramPart], depth: usize) -> Result<(), InvalidProgram> {
        for (index, part) in parts.iter().enumerate() {
            let checked = match part {
                ProgramPart::Phase(phase) => self.check_phase(phase),
                ProgramPart::Rounds { until, parts } => {
                    self.check_rounds(*until, parts, depth).and_then(|()| {
                        // Phases inside rounds are checked like those outside.
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
        until: RoundsEnd,
        parts: &[ProgramPart],
        depth: usize,
    ) -> Result<(), InvalidProgram> {
        if parts.is_empty() {
            let message = "the rounds have no phase, so there is nothing to repeat";
            return Err(InvalidProgram::new(message, "add a `[[rounds.phase]]`"));
        }
        if depth >= ROUNDS_NESTED_MAX {
            let message = format!("rounds are nested more than {ROUNDS_NESTED_MAX} deep");
            return Err(InvalidProgram::new(message, "nest fewer rounds"));
        }
        match until {
            RoundsEnd::Times(0) => {
                let message = "`times` is 0, so no round would run";
                Err(InvalidProgram::new(message, "write `times = 1` or more"))
            }
            RoundsEnd::Spent { ns: 0 } => {
                let message = "`spent` is 0, so no round would run";
                Err(InvalidProgram::new(message, "write a `spent` above 0"))
            }
            RoundsEnd::Sampled { fileset, .. } if usize::from(fileset) >= self.filesets.len() => {
                let message = format!("there is no fileset with the number {fileset}");
                Err(InvalidProgram::new(message, "add the fileset"))
            }
            RoundsEnd::Sampled { samples: 0, .. } => {
                let message = "there are 0 samples";
                Err(InvalidProgram::new(message, "use 1 or more"))
            }
            _ => Ok(()),
        }
    }

    fn check_phase(&self, phase: &ProgramPhase) -> Result<(), InvalidProgram> {
        named(&phase.name, "phase")?;
        if phase.groups.is_empty() {
            let message = format!("the phase `{}` has no group and no workers", phase.name);
            return Err(InvalidProgram::new(message, "add a `[[phase.group]]`"));
        }
        if phase.time_ns == Some(0) {
            let message = format!("the phase `{}` lasts 0 s", phase.name);
            return Err(InvalidProgram::new(message, "give it a time above 0"));
        }
        let mut workers = 0_u32;
        for (index, group) in phase.groups.iter().enumerate() {
            let checked = named(&group.name, "group")
                .and_then(|()| acts::check(self, group))
                // The depth is known only when a cell is planned; `check_depth` then checks several
                // flows.
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
            return Err(InvalidProgram::new(message, "use fewer `workers`"));
        }
        tokens::check(self, phase)?;
        ends::check(phase)
    }
}

/// Applies a check to each group, at any nesting level.
fn check_each_group(
    parts: &[ProgramPart],
    check: &mut impl FnMut(&super::Group) -> Result<(), InvalidProgram>,
) -> Result<(), InvalidProgram> {
    for (index, part) in parts.iter().enumerate() {
        let checked = match part {
            ProgramPart::Rounds { parts, .. } => check_each_group(parts, check),
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

/// Applies a check to each act, at any nesting level.
fn check_each_act(
    acts: &[Act],
    check: &mut impl FnMut(&Act) -> Result<(), InvalidProgram>,
) -> Result<(), InvalidProgram> {
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

/// Checks that a label exists.
fn check_label(program: &Program, label: u8) -> Result<(), InvalidProgram> {
    if usize::from(label) < program.labels.len().min(LABELS_MAX) {
        return Ok(());
    }
    let message = format!("there is no label with the number {label}");
    Err(InvalidProgram::new(message, "add the label"))
}

/// Checks a name, which appears in tables and records: it must be one non-empty line.
fn named(name: &str, noun: &str) -> Result<(), InvalidProgram> {
    if !name.trim().is_empty() && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let message = format!("a {noun} has no name on one line");
    Err(InvalidProgram::new(
        message,
        format!("give the {noun} a `name`"),
    ))
}
