//! A script as a program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use workload::program::{Access, Ending, Group, Out, ProgramPart, ProgramPhase};
use workload::{Diagnostic, printable};

use crate::acts::described;
use crate::{Difference, FrontWork, cell};

use super::attributes::{Attributes, Variables};
use super::script::{Mode, Read, Script};
use super::text::remembered;
use super::writer::{Thread, Writer};
use crate::tokens::error;

/// How long a script runs that does not say it, in seconds.
const RUN_TIME_S: u64 = 60;
/// The longest time of a run, in seconds.
const RUN_TIME_S_MAX: u64 = 30 * 24 * 3600;
/// The most events of the generator in a second.
const EVENT_RATE_MAX: u64 = 1_000_000;
/// Workers of a phase, at most.
const WORKERS_MAX: u64 = 1024;

/// What a script of that name stands for.
pub(super) fn work(script: &Script, name: &str) -> Read<FrontWork> {
    let variables = Variables {
        globals: &script.variables,
        locals: &BTreeMap::new(),
    };
    let mut writer = Writer {
        composites: &script.composites,
        differences: script.differences.clone(),
        ..Writer::default()
    };
    let way = described(Access::ReadWrite, false, false);
    writer.program.ways.push(way);
    for entity in &script.filesets {
        writer.define(&Attributes { entity, variables })?;
    }
    let own = Attributes {
        entity: &script.own(),
        variables,
    };
    writer.event_rate = own.number("rate", EVENT_RATE_MAX)?.unwrap_or(0);
    let mut groups = Vec::new();
    let mut processes = Vec::new();
    for entity in &script.processes {
        let process = Attributes { entity, variables };
        processes.push((process.needed("name")?, instances(&process)?));
        for thread in &entity.inner {
            let thread = process.of(thread);
            groups.push(writer.group(&process, &thread, script.mode)?);
        }
    }
    if groups.is_empty() {
        let error = Diagnostic::error("", "the script has no thread, so there is nothing to run");
        return Err(error.help("add a `define process` with a `thread` in it"));
    }
    writer.make_room()?;
    let phase = ProgramPhase {
        name: "run".to_owned(),
        time_ns: time_ns(script.mode, own.number("run", RUN_TIME_S_MAX)?),
        // Quotas end it for all, as a lack of files does.
        first_done: (script.mode != Mode::AllDone).then_some(Ending::Stop),
        groups,
        ..ProgramPhase::default()
    };
    writer.program.parts.push(ProgramPart::Phase(phase));
    let mut work = FrontWork::new(vec![cell(name, writer.program)]);
    work.differences = writer.differences;
    if !script.has_run {
        let note = "it runs as if `run` stood at its end";
        let difference = Difference::differs("a script without `run`", note);
        work.differences.push(difference);
    }
    let mut paths = writer.paths.iter();
    if let Some(path) = paths.next() {
        work.directories = vec![PathBuf::from(path)];
    }
    work.differences.extend(paths.map(|other| {
        let what = format!("`path={}`", printable(other));
        Difference::differs(&what, "all files lie below the same directory")
    }));
    work.remembered = remembered(&script.echoes, &processes);
    Ok(work)
}

/// Both processes and threads have so many instances.
fn instances(all: &Attributes<'_>) -> Read<u64> {
    Ok(all.number("instances", WORKERS_MAX)?.unwrap_or(1))
}

impl Writer<'_> {
    fn group(
        &mut self,
        process: &Attributes<'_>,
        thread: &Attributes<'_>,
        mode: Mode,
    ) -> Read<Group> {
        let name = thread.needed("name")?;
        let workers = instances(process)? * instances(thread)?;
        if workers > WORKERS_MAX || workers == 0 {
            let message = format!("`{}` has {workers} threads", printable(&name));
            let help = format!("use 1 to {WORKERS_MAX} threads");
            return Err(error(thread.entity.place, message, help));
        }
        self.thread = Thread::default();
        self.thread.group = Group {
            name,
            // At most 1024.
            workers: Some(workers as u32),
            out: match mode {
                Mode::AllDone => Out::EndWorker,
                Mode::FirstDone | Mode::Timeout => Out::EndPhase,
            },
            ..Group::default()
        };
        self.flowops(thread)?;
        Ok(std::mem::take(&mut self.thread.group))
    }
}

/// Without a time, scripts run for a minute, or until files run out where the mode says so.
fn time_ns(mode: Mode, seconds: Option<u64>) -> Option<u64> {
    let seconds = match (seconds.unwrap_or(0), mode) {
        (0, Mode::Timeout) => RUN_TIME_S,
        (0, Mode::AllDone | Mode::FirstDone) => return None,
        (seconds, _) => seconds,
    };
    Some(seconds * 1_000_000_000)
}
