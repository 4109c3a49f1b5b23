//! Repeated phases, and the order of all phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

use super::names::ProgramNames;
use super::{NotExpressible, PhaseTable, not_expressible};
use crate::flaw::ValueError;
use crate::model::{Workload, limits};
use crate::nearest::{listed, nearest};
use plan::program::{FilesetPlan, Program, ProgramPart, RoundsEnd};

/// Phases that are repeated together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoundsTable {
    /// Name of the `[[phase]]` after which the rounds start. Default: the last one.
    pub after: Option<String>,
    /// Number of rounds, 1 to 1000000. One of `times`, `spent` and `until_full` is required.
    pub times: Option<u32>,
    /// Repeat until the measured time of all rounds together exceeds this, at most 30 d.
    pub spent: Option<Span>,
    /// Repeat until another round would not fit into the file system. Default: false.
    pub until_full: Option<bool>,
    /// The phases of a round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phase: Vec<PhaseTable>,
}

/// Maximum number of rounds.
const ROUNDS_MAX: u32 = 1_000_000;

/// Location of a part of the program in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartLocation {
    /// The `[[phase]]` with this index.
    Phase(usize),
    /// The `[[rounds]]` with this index.
    Rounds(usize),
}

/// Locations of the parts, in the order in which they run.
pub(super) fn places(workload: &Workload) -> Result<Vec<PartLocation>, ValueError> {
    let names = workload.phase.iter();
    let names = names.map(|phase| phase.name.as_deref().unwrap_or_default());
    let names: Vec<&str> = names.collect();
    let mut following = Vec::with_capacity(workload.rounds.len());
    for (index, rounds) in workload.rounds.iter().enumerate() {
        let phase = match rounds.after.as_deref() {
            // Larger than every index, so that these rounds are sorted to the end.
            None => usize::MAX,
            Some(after) => {
                let phase = names.iter().position(|name| *name == after);
                phase.ok_or_else(|| unknown_phase(after, &names).within("rounds", index))?
            }
        };
        following.push((phase, PartLocation::Rounds(index)));
    }
    let phases = (0..names.len()).map(|index| (index, PartLocation::Phase(index)));
    let mut locations: Vec<_> = phases.chain(following).collect();
    // The sort is stable: rounds after the same phase run in the order in which they are written.
    locations.sort_by_key(|(phase, _)| *phase);
    Ok(locations.into_iter().map(|(_, place)| place).collect())
}

fn unknown_phase(after: &str, names: &[&str]) -> ValueError {
    let help = match nearest(after, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "leave `after` out".to_owned(),
        None => format!("the phases are {}", listed(names.iter().copied())),
    };
    let message = format!("there is no phase `{}`", plan::printable(after));
    ValueError::new("after", message, help)
}

/// The part at this location.
pub(super) fn part(
    location: PartLocation,
    workload: &Workload,
    names: &mut ProgramNames,
    filesets: &[FilesetPlan],
) -> Result<ProgramPart, ValueError> {
    let mut phase = |index: usize, table: &PhaseTable| {
        let phase = table.phase(workload, names, filesets);
        phase
            .map(ProgramPart::Phase)
            .map_err(|flaw| flaw.within("phase", index))
    };
    let index = match location {
        PartLocation::Phase(index) => return phase(index, &workload.phase[index]),
        PartLocation::Rounds(index) => index,
    };
    let table = &workload.rounds[index];
    let mut rounds = || {
        let until = table.until()?;
        let phases = table.phase.iter().enumerate();
        let parts = phases.map(|(index, table)| phase(index, table));
        let parts = parts.collect::<Result<_, _>>()?;
        Ok(ProgramPart::Rounds { until, parts })
    };
    rounds().map_err(|flaw: ValueError| flaw.within("rounds", index))
}

/// The tables for the parts: the phases, and the rounds with the phase that they follow.
pub(super) fn written_parts(
    program: &Program,
    names: &ProgramNames,
) -> Result<(Vec<PhaseTable>, Vec<RoundsTable>), NotExpressible> {
    let mut phases: Vec<PhaseTable> = Vec::new();
    let mut rounds = Vec::new();
    for (index, part) in program.parts.iter().enumerate() {
        let (until, parts) = match part {
            ProgramPart::Phase(of) => {
                phases.push(PhaseTable::of(of, program, names)?);
                continue;
            }
            ProgramPart::Rounds { until, parts } => (*until, parts),
        };
        let mut table = RoundsTable::ending(until)?;
        let is_phase = |part: &ProgramPart| matches!(part, ProgramPart::Phase(_));
        // Rounds at the end of a program need no `after`.
        if program.parts[index..].iter().any(is_phase) {
            let Some(last) = phases.last() else {
                return not_expressible("rounds come before its first phase");
            };
            // `after` always means the first phase of that name.
            if phases.iter().filter(|it| it.name == last.name).count() > 1 {
                return not_expressible("rounds follow one of several phases with the same name");
            }
            table.after.clone_from(&last.name);
        }
        for part in parts {
            let ProgramPart::Phase(of) = part else {
                return not_expressible("it has rounds within rounds");
            };
            table.phase.push(PhaseTable::of(of, program, names)?);
        }
        rounds.push(table);
    }
    Ok((phases, rounds))
}

impl RoundsTable {
    /// The only end condition that is written; an error if there is none or several.
    fn until(&self) -> Result<RoundsEnd, ValueError> {
        limits::time("spent", self.spent)?;
        if self.times.is_some_and(|times| times > ROUNDS_MAX) {
            let message = format!("`times` is not from 1 to {ROUNDS_MAX}");
            let help = format!("write `times = {ROUNDS_MAX}`");
            return Err(ValueError::new("times", message, help));
        }
        match (self.times, self.spent, self.until_full == Some(true)) {
            (Some(times), None, false) => Ok(RoundsEnd::Times(times)),
            (None, Some(spent), false) => Ok(RoundsEnd::Spent { ns: spent.0 }),
            (None, None, true) => Ok(RoundsEnd::Full),
            (None, None, false) => {
                let message = "nothing ends the rounds";
                Err(ValueError::of_value(message, "write `times = 3`"))
            }
            (times, _, _) => {
                let key = if times.is_some() { "times" } else { "spent" };
                let help = "write one of `times`, `spent` and `until_full`";
                Err(ValueError::new(key, "the rounds have two ends", help))
            }
        }
    }

    fn ending(until: RoundsEnd) -> Result<Self, NotExpressible> {
        let mut table = Self::default();
        match until {
            RoundsEnd::Times(times) => table.times = Some(times),
            RoundsEnd::Spent { ns } => table.spent = Some(Span(ns)),
            RoundsEnd::Full => table.until_full = Some(true),
            RoundsEnd::Fitting { .. } => {
                return not_expressible("rounds end before one that would not fit");
            }
            RoundsEnd::Sampled { .. } => return not_expressible("it takes samples"),
        }
        Ok(table)
    }
}
