//! Phases, groups and rounds as they are written.

use units::{Bytes, Span};

use super::Unsaid;
use super::acts::Acts;
use super::names::Names;
use crate::model::{BeforeChoice, GroupTable, OneOrMany, PhaseTable, RoundsTable};
use plan::program::{
    Before, Ending, Group, Measure, Program, ProgramPart, ProgramPhase, Quota, Share, Until,
};

/// The phases, and the rounds with the names of the phases that they come behind.
pub(super) fn parts(
    program: &Program,
    names: &Names,
) -> Result<(Vec<PhaseTable>, Vec<RoundsTable>), Unsaid> {
    let mut phases: Vec<PhaseTable> = Vec::new();
    let mut rounds = Vec::new();
    for (index, part) in program.parts.iter().enumerate() {
        let (until, parts) = match part {
            ProgramPart::Phase(of) => {
                phases.push(phase(of, program, names)?);
                continue;
            }
            ProgramPart::Rounds { until, parts } => (*until, parts),
        };
        let is_phase = |part: &ProgramPart| matches!(part, ProgramPart::Phase(_));
        let is_followed = program.parts[index..].iter().any(is_phase);
        let after = match phases.last() {
            _ if !is_followed => None,
            Some(last) if phases.iter().filter(|it| it.name == last.name).count() == 1 => {
                last.name.clone()
            }
            Some(_) => {
                let message = "rounds come behind one of several phases of the same name";
                return Err(Unsaid(message.to_owned()));
            }
            None => return Err(Unsaid("rounds come before its first phase".to_owned())),
        };
        rounds.push(RoundsTable {
            after,
            phase: phases_of(parts, program, names)?,
            ..ends(until)?
        });
    }
    Ok((phases, rounds))
}

fn ends(until: Until) -> Result<RoundsTable, Unsaid> {
    let mut table = RoundsTable::default();
    match until {
        Until::Times(times) => table.times = Some(times),
        Until::Spent { ns } => table.spent = Some(Span(ns)),
        Until::Full => table.until_full = Some(true),
        Until::Fitting { .. } => {
            return Err(Unsaid(
                "rounds end before one that would not fit".to_owned(),
            ));
        }
        Until::Sampled { .. } => return Err(Unsaid("it takes samples".to_owned())),
    }
    Ok(table)
}

fn phases_of(
    parts: &[ProgramPart],
    program: &Program,
    names: &Names,
) -> Result<Vec<PhaseTable>, Unsaid> {
    let phases = parts.iter().map(|part| match part {
        ProgramPart::Phase(of) => phase(of, program, names),
        ProgramPart::Rounds { .. } => Err(Unsaid("it has rounds within rounds".to_owned())),
    });
    phases.collect()
}

fn phase(phase: &ProgramPhase, program: &Program, names: &Names) -> Result<PhaseTable, Unsaid> {
    let groups = phase.groups.iter().enumerate().map(|(index, of)| {
        let usual = match phase.groups.len() {
            1 => phase.name.clone(),
            _ => format!("{}-{}", phase.name, index + 1),
        };
        let name = (of.name != usual).then(|| of.name.clone());
        Ok(GroupTable {
            name,
            ..group(of, program, names)?
        })
    });
    let before: Vec<BeforeChoice> = phase.before.iter().map(|it| before(*it)).collect();
    Ok(PhaseTable {
        name: Some(phase.name.clone()),
        hidden: phase.is_hidden.then_some(true),
        before: (!before.is_empty()).then(|| OneOrMany::from(before)),
        ramp_time: (phase.ramp_ns > 0).then_some(Span(phase.ramp_ns)),
        run_time: phase.time_ns.map(Span),
        time_up: (phase.time_up != Ending::Stop).then_some(phase.time_up),
        first_done: phase.first_done,
        group: groups.collect::<Result<_, _>>()?,
    })
}

const fn before(before: Before) -> BeforeChoice {
    match before {
        Before::Sync => BeforeChoice::Sync,
        Before::DropCaches => BeforeChoice::DropCaches,
        Before::Remount => BeforeChoice::Remount,
        Before::Pause { ns } => BeforeChoice::Pause(Span(ns)),
    }
}

fn group(group: &Group, program: &Program, names: &Names) -> Result<GroupTable, Unsaid> {
    if let Some(trace) = &group.trace {
        let file = plan::printable(&trace.file);
        let calls = trace.calls_count;
        return Err(Unsaid(format!(
            "it has the {calls} recorded calls of `{file}`"
        )));
    }
    let name = plan::printable(&group.name);
    if group.pool.is_some() {
        return Err(Unsaid(format!("`{name}` works on a pool of files")));
    }
    if group.spawn.is_some() {
        return Err(Unsaid(format!("`{name}` starts programs")));
    }
    let acts = Acts::of(group, program, names);
    let mut table = GroupTable {
        workers: group.workers,
        shift: (group.shift > 0).then_some(group.shift),
        enter: acts.list(&group.enter)?,
        first: acts.list(&group.first)?,
        body: acts.list(&group.body)?,
        last: acts.list(&group.last)?,
        leave: acts.list(&group.leave)?,
        when_out: (group.out != Default::default()).then_some(group.out),
        on_failure: (group.failed != Default::default()).then_some(group.failed),
        ..GroupTable::default()
    };
    write_quotas(group, names, &mut table)?;
    Ok(table)
}

/// Of several amounts of the same, the least is reached first.
fn write_quotas(group: &Group, names: &Names, table: &mut GroupTable) -> Result<(), Unsaid> {
    let Some(first) = group.quotas.first() else {
        return Ok(());
    };
    if group.quotas.iter().any(|quota| quota.of != first.of) {
        let name = plan::printable(&group.name);
        let what = "amounts of each worker and amounts of all together end";
        return Err(Unsaid(format!("{what} the group `{name}`")));
    }
    table.together = (first.of == Share::Group).then_some(true);
    let label = |label: u8| names.labels[usize::from(label)].clone();
    for Quota { what, count, .. } in group.quotas.iter().copied() {
        let least = |seen: Option<u64>| Some(seen.map_or(count, |seen| seen.min(count)));
        match what {
            Measure::Rounds => table.rounds = least(table.rounds),
            Measure::Calls => table.calls = least(table.calls),
            Measure::Bytes => table.bytes = least(table.bytes.map(|it| it.0)).map(Bytes),
            Measure::Steps(of) => {
                let entry = table.steps.entry(label(of)).or_insert(count);
                *entry = count.min(*entry);
            }
            Measure::StepBytes(of) => {
                let entry = table.step_bytes.entry(label(of)).or_insert(Bytes(count));
                *entry = Bytes(count).min(*entry);
            }
        }
    }
    Ok(())
}
