//! Checks that each phase ends.

use super::super::walk::{any_act, calls_of};
use super::super::{
    Act, Call, CallObject, FileFilter, Group, Measure, OnNoFile, PhaseEndAction, Pick, Program,
    ProgramPhase,
};
use super::{InvalidProgram, check_label};

/// Checks that each quota can be reached.
pub(super) fn check_quotas(program: &Program, group: &Group) -> Result<(), InvalidProgram> {
    for quota in &group.quotas {
        if quota.count == 0 {
            let message = format!("the workers of `{}` stop before they begin", group.name);
            return Err(InvalidProgram::new(message, "write an amount of 1 or more"));
        }
        if let Measure::Steps(label) | Measure::StepBytes(label) = quota.what {
            check_label(program, label)?;
            if !counts(&group.body, label) {
                let name = &program.labels[usize::from(label)];
                let message = format!("nothing in `body` is counted as `{name}`");
                let help = format!("write `transaction = \"{name}\"` or `step = \"{name}\"` there");
                return Err(InvalidProgram::new(message, help));
            }
        }
        let is_moved = quota.what == Measure::Bytes;
        let mut calls = calls_of(&group.body).into_iter();
        if is_moved && !calls.any(|it| it.operation.moves()) {
            let message = format!("the workers of `{}` move no bytes", group.name);
            return Err(InvalidProgram::new(
                message,
                "write `rounds` instead of `bytes`",
            ));
        }
    }
    Ok(())
}

/// Whether any of the acts is counted under the label.
fn counts(acts: &[Act], label: u8) -> bool {
    any_act(acts, &|act| match act {
        Act::Step(own, _) | Act::Transaction(own, _) => *own == label,
        Act::Call(call) => call.label == Some(label),
        _ => false,
    })
}

/// Refuses a phase that never ends, because no time, amount or lack of files ends it.
pub(super) fn check(phase: &ProgramPhase) -> Result<(), InvalidProgram> {
    if phase.time_ns.is_none() && phase.time_up != PhaseEndAction::Stop {
        let message = format!("the phase `{}` has `time_up` but no `run_time`", phase.name);
        return Err(InvalidProgram::new(
            message,
            "write `run_time` for the phase",
        ));
    }
    if phase.first_done == Some(PhaseEndAction::Level) {
        let message = "`level` does not apply to `first_done`";
        return Err(InvalidProgram::new(message, "write `stop` or `finish`"));
    }
    // With `finish`, the workers continue after the time, so it does not end the phase.
    if phase.time_ns.is_some() && phase.time_up != PhaseEndAction::Finish {
        return Ok(());
    }
    let is_ended_by_one = |group: &Group| group.out == OnNoFile::EndPhase && runs_out(group, phase);
    if phase.groups.iter().any(is_ended_by_one) {
        return Ok(());
    }
    let endless = |group: &&Group| {
        // `check_quotas` has already made sure that each quota can be reached.
        let is_repeated = !group.body.is_empty() && group.quotas.is_empty();
        group.is_endless_trace() || is_repeated && !runs_out(group, phase)
    };
    let Some(group) = phase.groups.iter().find(endless) else {
        return Ok(());
    };
    let message = format!(
        "nothing ends the phase `{}`: `{}` never ends",
        phase.name, group.name
    );
    let help = "write `run_time` for the phase, or `rounds` for the group";
    Err(InvalidProgram::new(message, help))
}

/// Whether the group runs out of files: some pick stops finding files, whatever the random choices.
fn runs_out(group: &Group, phase: &ProgramPhase) -> bool {
    let picks = picks_of(&group.body);
    let is_finite = |(call, pick): &(&Call, &Pick)| is_finite(call, pick, phase);
    match group.out {
        // Only a round in which no pick finds a file ends the worker.
        OnNoFile::Skip => !picks.is_empty() && picks.iter().all(is_finite),
        OnNoFile::EndWorker | OnNoFile::EndPhase => picks.iter().any(is_finite),
    }
}

/// The picks of acts, second names included.
fn picks_of(acts: &[Act]) -> Vec<(&Call, &Pick)> {
    let mut picks = Vec::new();
    for call in calls_of(acts) {
        if let CallObject::Name(pick) = &call.on {
            picks.push((call, pick));
        }
        picks.extend(call.second.iter().map(|pick| (call, pick)));
    }
    picks
}

/// Whether the number of successful picks is limited: because the order passes through the set
/// once, or because each pick leaves fewer files and nothing in the phase creates more.
fn is_finite(call: &Call, pick: &Pick, phase: &ProgramPhase) -> bool {
    if pick.order.is_single_pass() {
        return true;
    }
    let takes_a_name = call.operation.makes() || call.second.as_ref() == Some(pick);
    let all = || {
        let calls = phase.groups.iter().flat_map(|group| group.calls());
        calls.collect::<Vec<_>>()
    };
    let is_same_set = |it: &Pick| it.fileset == pick.fileset;
    let is_named = |call: &Call| match &call.on {
        CallObject::Name(it) => is_same_set(it),
        // A file that was picked before may belong to this set.
        _ => true,
    };
    match pick.which {
        FileFilter::Absent if takes_a_name => {
            let frees = |call: &&Call| call.operation.removes() && is_named(call);
            !all().iter().any(frees)
        }
        FileFilter::Present if call.operation.removes() => {
            let fills = |call: &&Call| {
                let makes = call.operation.makes() && is_named(call);
                makes || call.second.as_ref().is_some_and(is_same_set)
            };
            !all().iter().any(fills)
        }
        _ => false,
    }
}
