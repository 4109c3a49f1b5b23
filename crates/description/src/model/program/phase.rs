//! Phases: work on files, one phase after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

use super::names::ProgramNames;
use super::{GroupTable, NotExpressible, not_expressible};
use crate::flaw::ValueError;
use crate::model::limits;
use crate::model::{OneOrMany, Workload};
use plan::program::{FilesetPlan, PhaseEndAction, PhasePreparation, Program, ProgramPhase};

/// Work of groups of workers on files at the same time; the next phase starts when all are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PhaseTable {
    /// Name in records and reports. Required.
    pub name: Option<String>,
    /// Run the phase but keep it out of records. Default: false.
    pub hidden: Option<bool>,
    /// What happens before the phase, never timed: `sync`, `drop-caches`, `remount` or `{ pause =
    /// "10s" }` of at most 30 d, or several in a list; dropping caches and remounting need root.
    /// Default: nothing.
    pub before: Option<OneOrMany<BeforeChoice>>,
    /// Time at the beginning that is not measured, at most 30 d. Default: the workload's
    /// `ramp_time`.
    pub ramp_time: Option<Span>,
    /// Time after which all workers stop, at most 30 d; 0 means until files or amounts end the
    /// phase. Default: the workload's `run_time`, if no group has its own end.
    pub run_time: Option<Span>,
    /// What happens when `run_time` is over: all workers stop (`stop`), continue to their own ends
    /// (`finish`), or continue until each has done as many rounds as the fastest one (`level`).
    /// Default: `stop`.
    pub time_up: Option<PhaseEndAction>,
    /// What the other workers do when the first one is done: `stop`, or `finish` their own work;
    /// their progress at that moment is recorded. Default: they continue.
    pub first_done: Option<PhaseEndAction>,
    /// Groups of workers and their work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<GroupTable>,
}

/// What happens before a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BeforeChoice {
    /// All file systems are synced.
    Sync,
    /// Dirty pages are written, then the kernel's caches are dropped.
    DropCaches,
    /// The file system is unmounted and mounted again.
    Remount,
    /// A pause of this length.
    Pause(Span),
}

impl From<BeforeChoice> for PhasePreparation {
    fn from(choice: BeforeChoice) -> Self {
        match choice {
            BeforeChoice::Sync => Self::Sync,
            BeforeChoice::DropCaches => Self::DropCaches,
            BeforeChoice::Remount => Self::Remount,
            BeforeChoice::Pause(span) => Self::Pause { ns: span.0 },
        }
    }
}

impl BeforeChoice {
    fn of(before: PhasePreparation) -> Result<Self, NotExpressible> {
        Ok(match before {
            PhasePreparation::Sync => Self::Sync,
            PhasePreparation::DropCaches => Self::DropCaches,
            PhasePreparation::Remount => Self::Remount,
            PhasePreparation::Pause { ns } => Self::Pause(Span(ns)),
            PhasePreparation::Semaphore { .. } => {
                return not_expressible("its phases wait at a semaphore");
            }
            PhasePreparation::Prompt { .. } => {
                return not_expressible("its phases wait for a line on standard input");
            }
        })
    }
}

/// Default name of a group that is the `index`-th of `count` in its phase.
fn default_name(phase: &str, index: usize, count: usize) -> String {
    match count {
        1 => phase.to_owned(),
        _ => format!("{phase}-{}", index + 1),
    }
}

impl PhaseTable {
    /// The phase, resolved with the names and filesets of the workload.
    pub(super) fn phase(
        &self,
        workload: &Workload,
        names: &mut ProgramNames,
        filesets: &[FilesetPlan],
    ) -> Result<ProgramPhase, ValueError> {
        let Some(name) = self.name.clone() else {
            let help = "add `name`, which appears in the report";
            return Err(ValueError::new("name", "a phase has no `name`", help));
        };
        limits::time("run_time", self.run_time)?;
        limits::time("ramp_time", self.ramp_time)?;
        let before = self.before.as_ref().map_or(&[][..], OneOrMany::as_slice);
        for (index, choice) in before.iter().enumerate() {
            if let BeforeChoice::Pause(span) = choice {
                let pause = limits::time("pause", Some(*span));
                pause.map_err(|flaw| flaw.within("before", index))?;
            }
        }
        let is_hidden = self.hidden.unwrap_or(false);
        // The workload's time applies only if nothing else ends a group.
        let time = match self.run_time {
            None if is_hidden || self.group.iter().any(GroupTable::has_end) => None,
            own => own.or(workload.run_time),
        };
        let time_ns = time.map(|time| time.0).filter(|ns| *ns > 0);
        let ramp = match (self.ramp_time, time_ns) {
            // A hidden phase has no results, so a ramp would only take time.
            (None, Some(_)) if !is_hidden => workload.ramp_time,
            (own, _) => own,
        };
        let mut groups = Vec::with_capacity(self.group.len());
        for (index, table) in self.group.iter().enumerate() {
            let usual = default_name(&name, index, self.group.len());
            let group = table
                .clone()
                .group(usual, workload.workers, names, filesets);
            groups.push(group.map_err(|flaw| flaw.within("group", index))?);
        }
        Ok(ProgramPhase {
            name,
            is_hidden,
            before: before.iter().copied().map(PhasePreparation::from).collect(),
            ramp_ns: ramp.map_or(0, |ramp| ramp.0),
            time_ns,
            time_up: self.time_up.unwrap_or_default(),
            first_done: self.first_done,
            groups,
        })
    }

    pub(super) fn of(
        phase: &ProgramPhase,
        program: &Program,
        names: &ProgramNames,
    ) -> Result<Self, NotExpressible> {
        let mut group = Vec::with_capacity(phase.groups.len());
        for (index, of) in phase.groups.iter().enumerate() {
            let usual = default_name(&phase.name, index, phase.groups.len());
            group.push(GroupTable::of(of, &usual, program, names)?);
        }
        let before = phase.before.iter().copied().map(BeforeChoice::of);
        let before: Vec<_> = before.collect::<Result<_, _>>()?;
        Ok(Self {
            name: Some(phase.name.clone()),
            hidden: phase.is_hidden.then_some(true),
            before: (!before.is_empty()).then(|| OneOrMany::from(before)),
            ramp_time: (phase.ramp_ns > 0).then_some(Span(phase.ramp_ns)),
            run_time: phase.time_ns.map(Span),
            time_up: (phase.time_up != PhaseEndAction::Stop).then_some(phase.time_up),
            first_done: phase.first_done,
            group,
        })
    }
}
