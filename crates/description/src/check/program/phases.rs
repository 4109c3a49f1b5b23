//! Phases, groups and rounds as they are written.

use units::Span;

use super::super::{Flaw, Step};
use super::Writer;
use super::names::{Handles, Names};
use crate::check::values::TIME_MAX;
use crate::model::{BeforeChoice, GroupTable, OneOrMany, PhaseTable, RoundsTable, Workload};
use crate::nearest::{listed, nearest};
use plan::program::{
    Before, FilesetPlan, Group, Measure, ProgramPart, ProgramPhase, Quota, Share, Until,
};

/// The groups of all phases, those of rounds behind the others.
pub(super) fn groups(workload: &Workload) -> impl Iterator<Item = &GroupTable> {
    let of_rounds = workload.rounds.iter().flat_map(|rounds| &rounds.phase);
    let phases = workload.phase.iter().chain(of_rounds);
    phases.flat_map(|phase| &phase.group)
}

/// Rounds, at most.
const TIMES_MAX: u32 = 1_000_000;

/// Where a part of the program is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartPlace {
    /// As the `[[phase]]` of this index.
    Phase(usize),
    /// As the `[[rounds]]` of this index.
    Rounds(usize),
}

/// The parts in their order, and where each is written.
pub(super) fn parts(
    workload: &Workload,
    names: &mut Names,
    filesets: &[FilesetPlan],
) -> Result<(Vec<ProgramPart>, Vec<PartPlace>), Flaw> {
    let mut reader = Reader {
        workload,
        names,
        filesets,
    };
    let mut parts = Vec::new();
    let mut places = Vec::new();
    let afters = afters(workload)?;
    for index in 0..workload.phase.len() {
        let phase = reader.phase(&workload.phase[index]);
        parts.push(ProgramPart::Phase(
            phase.map_err(|flaw| flaw.within("phase", index))?,
        ));
        places.push(PartPlace::Phase(index));
        for rounds in indexes(&afters, Some(index)) {
            parts.push(reader.rounds_at(rounds)?);
            places.push(PartPlace::Rounds(rounds));
        }
    }
    for rounds in indexes(&afters, None) {
        parts.push(reader.rounds_at(rounds)?);
        places.push(PartPlace::Rounds(rounds));
    }
    Ok((parts, places))
}

fn indexes(afters: &[Option<usize>], after: Option<usize>) -> Vec<usize> {
    let all = afters.iter().enumerate();
    all.filter(|(_, it)| **it == after)
        .map(|(index, _)| index)
        .collect()
}

/// Behind which phase each of the rounds comes; none behind the last one.
fn afters(workload: &Workload) -> Result<Vec<Option<usize>>, Flaw> {
    let names: Vec<&str> = workload
        .phase
        .iter()
        .map(|phase| phase.name.as_deref().unwrap_or_default())
        .collect();
    let of_rounds = |(index, rounds): (usize, &RoundsTable)| {
        let Some(after) = rounds.after.as_deref() else {
            return Ok(None);
        };
        if let Some(phase) = names.iter().position(|name| *name == after) {
            return Ok(Some(phase));
        }
        let help = match nearest(after, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "leave `after` out".to_owned(),
            None => format!("the phases are {}", listed(names.iter().copied())),
        };
        let message = format!("there is no phase `{}`", plan::printable(after));
        Err(Flaw::new("after", message, help).within("rounds", index))
    };
    workload.rounds.iter().enumerate().map(of_rounds).collect()
}

/// A time that an honest file may have.
fn limited(key: &'static str, time: Option<Span>) -> Result<(), Flaw> {
    match time {
        Some(time) if time > TIME_MAX => {
            let message = format!("`{key}` is {time}, more than {TIME_MAX}");
            let help = format!("write `{key} = \"{TIME_MAX}\"` or less");
            Err(Flaw::new(key, message, help))
        }
        _ => Ok(()),
    }
}

struct Reader<'a, 'b> {
    workload: &'a Workload,
    names: &'b mut Names,
    filesets: &'b [FilesetPlan],
}

impl Reader<'_, '_> {
    fn rounds_at(&mut self, index: usize) -> Result<ProgramPart, Flaw> {
        let workload = self.workload;
        self.rounds(&workload.rounds[index])
            .map_err(|flaw| flaw.within("rounds", index))
    }

    fn rounds(&mut self, table: &RoundsTable) -> Result<ProgramPart, Flaw> {
        limited("spent", table.spent)?;
        let until = until(table)?;
        let phases = table.phase.iter().enumerate().map(|(index, phase)| {
            let phase = self.phase(phase);
            phase
                .map(ProgramPart::Phase)
                .map_err(|flaw| flaw.within("phase", index))
        });
        Ok(ProgramPart::Rounds {
            until,
            parts: phases.collect::<Result<_, _>>()?,
        })
    }

    fn phase(&mut self, table: &PhaseTable) -> Result<ProgramPhase, Flaw> {
        let Some(name) = table.name.clone() else {
            let message = "a phase has no `name`";
            return Err(Flaw::new(
                "name",
                message,
                "add `name`, which stands in the report",
            ));
        };
        limited("run_time", table.run_time)?;
        limited("ramp_time", table.ramp_time)?;
        let is_hidden = table.hidden.unwrap_or(false);
        let time_ns = self.time_ns(table, is_hidden);
        let ramp = match (table.ramp_time, time_ns) {
            (None, Some(_)) if !is_hidden => self.workload.ramp_time,
            (own, _) => own,
        };
        let mut groups = Vec::with_capacity(table.group.len());
        for (index, group) in table.group.iter().enumerate() {
            let default = match table.group.len() {
                1 => name.clone(),
                _ => format!("{name}-{}", index + 1),
            };
            let group = self.group(group, default);
            groups.push(group.map_err(|flaw| flaw.within("group", index))?);
        }
        let before = table.before.as_ref().map_or(&[][..], OneOrMany::as_slice);
        Ok(ProgramPhase {
            name,
            is_hidden,
            before: before.iter().map(|it| before_of(*it)).collect(),
            ramp_ns: ramp.map_or(0, |ramp| ramp.0),
            time_ns,
            time_up: table.time_up.unwrap_or_default(),
            first_done: table.first_done,
            groups,
        })
    }

    /// The phase's own time, or the workload's where nothing else ends a group of it.
    fn time_ns(&self, table: &PhaseTable, is_hidden: bool) -> Option<u64> {
        let is_counted = |group: &GroupTable| {
            let amounts = [group.rounds, group.calls, group.bytes.map(|it| it.0)];
            let has_steps = !group.steps.is_empty() || !group.step_bytes.is_empty();
            has_steps || amounts.iter().any(Option::is_some)
        };
        let time = match table.run_time {
            Some(own) => Some(own),
            None if is_hidden || table.group.iter().any(is_counted) => None,
            None => self.workload.run_time,
        };
        time.map(|time| time.0).filter(|ns| *ns > 0)
    }

    fn group(&mut self, table: &GroupTable, default: String) -> Result<Group, Flaw> {
        let handles = Handles::of(table);
        let mut list = |key: &'static str, acts| {
            let mut writer = Writer {
                names: self.names,
                handles: &handles,
                filesets: self.filesets,
            };
            writer.list(key, acts)
        };
        Ok(Group {
            name: table.name.clone().unwrap_or(default),
            workers: table.workers.or(self.workload.workers),
            shift: table.shift.unwrap_or(0),
            enter: list("enter", &table.enter)?,
            first: list("first", &table.first)?,
            body: list("body", &table.body)?,
            last: list("last", &table.last)?,
            leave: list("leave", &table.leave)?,
            quotas: self.quotas(table)?,
            out: table.when_out.unwrap_or_default(),
            failed: table.on_failure.unwrap_or_default(),
            ..Group::default()
        })
    }

    fn quotas(&self, table: &GroupTable) -> Result<Vec<Quota>, Flaw> {
        let of = match table.together {
            Some(true) => Share::Group,
            _ => Share::Each,
        };
        let amounts = [
            (Measure::Rounds, table.rounds),
            (Measure::Bytes, table.bytes.map(|bytes| bytes.0)),
            (Measure::Calls, table.calls),
        ];
        let amounts = amounts.into_iter();
        let mut quotas: Vec<Quota> = amounts
            .filter_map(|(what, count)| {
                let count = count?;
                Some(Quota { what, count, of })
            })
            .collect();
        for (label, count) in &table.steps {
            let label = self.names.known_label("steps", label)?;
            quotas.push(Quota {
                what: Measure::Steps(label),
                count: *count,
                of,
            });
        }
        for (label, bytes) in &table.step_bytes {
            let label = self.names.known_label("step_bytes", label)?;
            quotas.push(Quota {
                what: Measure::StepBytes(label),
                count: bytes.0,
                of,
            });
        }
        if quotas.is_empty() && table.together == Some(true) {
            let message = "`together` needs an amount";
            return Err(Flaw::new(
                "together",
                message,
                "write `rounds`, `bytes` or `calls`",
            ));
        }
        Ok(quotas)
    }
}

fn before_of(choice: BeforeChoice) -> Before {
    match choice {
        BeforeChoice::Sync => Before::Sync,
        BeforeChoice::DropCaches => Before::DropCaches,
        BeforeChoice::Remount => Before::Remount,
        BeforeChoice::Pause(span) => Before::Pause { ns: span.0 },
    }
}

/// The only end of rounds that is written.
fn until(table: &RoundsTable) -> Result<Until, Flaw> {
    let is_full = table.until_full == Some(true);
    if table.times.is_some_and(|times| times > TIMES_MAX) {
        let message = format!("`times` is not from 1 to {TIMES_MAX}");
        return Err(Flaw::new(
            "times",
            message,
            format!("write `times = {TIMES_MAX}`"),
        ));
    }
    match (table.times, table.spent, is_full) {
        (Some(times), None, false) => Ok(Until::Times(times)),
        (None, Some(spent), false) => Ok(Until::Spent { ns: spent.0 }),
        (None, None, true) => Ok(Until::Full),
        (None, None, false) => Err(Flaw {
            path: Vec::<Step>::new(),
            message: "nothing ends the rounds".to_owned(),
            help: "write `times = 3`".to_owned(),
        }),
        (times, _, _) => {
            let key = if times.is_some() { "times" } else { "spent" };
            let message = "the rounds have two ends";
            Err(Flaw::new(
                key,
                message,
                "write one of `times`, `spent` and `until_full`",
            ))
        }
    }
}
