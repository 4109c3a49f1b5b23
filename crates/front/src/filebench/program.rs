//! A script as a program.

use std::collections::BTreeMap;

use workload::Diagnostic;
use workload::program::{Ending, Group, Out, Program, ProgramPart, ProgramPhase, Way};

use crate::Difference;

use super::flowops::ThreadWriter;
use super::op::Common;
use super::page::{Page, Place};
use super::script::{Attributes, Mode, Process, Script, Thread, Value};
use super::sets::Sets;
use super::slots::Slots;
use super::values::Scope;
use super::waited::Waited;

/// How long a script runs that does not say it, in seconds.
const RUN_TIME_S: u64 = 60;
/// The longest time of a run, in seconds.
const RUN_TIME_S_MAX: u64 = 30 * 24 * 3600;
/// Workers of a phase, at most.
const WORKERS_MAX: u64 = 1024;

/// What a script stands for.
pub(super) struct Written {
    pub program: Program,
    /// What is done otherwise than in the original.
    pub differences: Vec<Difference>,
    /// Where files lie in the original.
    pub paths: Vec<String>,
    /// Names of processes with how many are started of each.
    pub processes: Vec<(String, u64)>,
}

/// The program of a script.
pub(super) fn program(script: &Script, page: Page<'_>) -> Result<Written, Diagnostic> {
    let locals = BTreeMap::new();
    let scope = Scope {
        page,
        globals: &script.variables,
        locals: &locals,
    };
    let mut common = Common {
        composites: &script.composites,
        sets: Sets::of(script, &scope)?,
        ways: vec![Way {
            name: "read and write".to_owned(),
            ..Way::default()
        }],
        labels: Vec::new(),
        waited: Waited::default(),
        event_rate: event_rate(script, &scope)?,
        differences: Vec::new(),
    };
    let mut groups = Vec::new();
    let mut processes = Vec::new();
    for process in &script.processes {
        let all = &process.attributes;
        let name = scope.needed(all, "name", "process", process.place)?;
        processes.push((name, instances(all, &scope)?));
        for thread in &process.threads {
            groups.push(group(process, thread, script, &mut common, scope)?);
        }
    }
    if groups.is_empty() {
        let message = "the script has no thread, so there is nothing to run";
        let error = Diagnostic::error(page.file, message);
        return Err(error.help("add a `define process` with a `thread` in it"));
    }
    let tokens = common.waited.finished().map_err(|(name, place)| {
        let message = format!("no flowop `{}` waits", workload::printable(&name));
        let error = scope.error(place, message);
        error.help("name a `block` or a `semblock`")
    })?;
    let phase = ProgramPhase {
        name: "run".to_owned(),
        time_ns: time_ns(script, &scope)?,
        // Quotas end it for all, as a lack of files does.
        first_done: (script.mode != Mode::AllDone).then_some(Ending::Stop),
        groups,
        ..ProgramPhase::default()
    };
    let program = Program {
        labels: common.labels,
        filesets: common.sets.plans,
        ways: common.ways,
        parts: vec![ProgramPart::Phase(phase)],
        tokens,
        ..Program::default()
    };
    Ok(Written {
        program,
        differences: common.differences,
        paths: common.sets.paths.into_iter().collect(),
        processes,
    })
}

/// Both processes and threads have so many instances.
fn instances(all: &Attributes, scope: &Scope<'_>) -> Result<u64, Diagnostic> {
    scope.number(all, "instances", 1, WORKERS_MAX)
}

fn group(
    process: &Process,
    thread: &Thread,
    script: &Script,
    common: &mut Common<'_>,
    scope: Scope<'_>,
) -> Result<Group, Diagnostic> {
    let name = scope.needed(&thread.attributes, "name", "thread", thread.place)?;
    let workers = instances(&process.attributes, &scope)? * instances(&thread.attributes, &scope)?;
    if workers > WORKERS_MAX || workers == 0 {
        let message = format!("`{}` has {workers} threads", workload::printable(&name));
        let help = format!("use 1 to {WORKERS_MAX} threads");
        return Err(scope.error(thread.place, message).help(help));
    }
    let mut writer = ThreadWriter {
        common,
        slots: Slots::default(),
        enter: Vec::new(),
        quotas: Vec::new(),
        turns: 1,
        turn: 0,
        // At most 1024.
        workers: workers as u32,
        act_count: 0,
        depth: 0,
    };
    // Once to learn what is closed in the end, and how many slots take turns.
    writer.acts(&thread.flowops, scope, "")?;
    writer.enter.clear();
    writer.slots.begin_again();
    let mut body = Vec::new();
    for turn in 0..writer.turns {
        writer.turn = turn;
        body.extend(writer.acts(&thread.flowops, scope, "")?);
    }
    Ok(Group {
        name,
        // At most 1024.
        workers: Some(workers as u32),
        enter: writer.enter,
        body,
        quotas: writer.quotas,
        out: match script.mode {
            Mode::AllDone => Out::EndWorker,
            Mode::FirstDone | Mode::Timeout => Out::EndPhase,
        },
        ..Group::default()
    })
}

fn event_rate(script: &Script, scope: &Scope<'_>) -> Result<u64, Diagnostic> {
    let Some((rate, place)) = &script.event_rate else {
        return Ok(0);
    };
    count(rate, *place, 1_000_000, scope)
}

/// Without a time, scripts run for a minute, or until files run out where the mode says so.
fn time_ns(script: &Script, scope: &Scope<'_>) -> Result<Option<u64>, Diagnostic> {
    let time = script.run.as_ref();
    let time = time.and_then(|run| Some((run.time.as_ref()?, run.place)));
    let seconds = match time {
        Some((time, place)) => count(time, place, RUN_TIME_S_MAX, scope)?,
        None => 0,
    };
    Ok(match (seconds, script.mode) {
        (0, Mode::Timeout) => Some(RUN_TIME_S * 1_000_000_000),
        (0, Mode::AllDone | Mode::FirstDone) => None,
        (seconds, _) => Some(seconds * 1_000_000_000),
    })
}

fn count(value: &Value, place: Place, most: u64, scope: &Scope<'_>) -> Result<u64, Diagnostic> {
    let number = match scope.settled(value, place)? {
        Value::Number(number) => u64::try_from(number).ok(),
        _ => None,
    };
    number.filter(|number| *number <= most).ok_or_else(|| {
        let error = scope.error(place, "that is not a number that can be used");
        error.help(format!("write a whole number from 0 to {most}"))
    })
}
