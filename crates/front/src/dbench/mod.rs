//! dbench 4, and the file back-end of dbench 5: a file server's recorded calls, played again.

mod line;
mod load;
mod options;
mod text;
mod words;

use std::path::PathBuf;

use workload::Diagnostic;
use workload::program::{Failed, Group, Program, ProgramPart, ProgramPhase, Trace, Way};

use crate::{ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork, cell};
use load::Load;
use options::Options;

/// The operations as the table calls them, in its order; labels are their numbers.
const LABELS: [&str; 17] = [
    "NTCreateX",
    "Close",
    "Rename",
    "Unlink",
    "Deltree",
    "Rmdir",
    "Mkdir",
    "Qpathinfo",
    "Qfileinfo",
    "Qfsinfo",
    "Sfileinfo",
    "Find",
    "WriteX",
    "ReadX",
    "LockX",
    "UnlockX",
    "Flush",
];
const NANOS: u64 = 1_000_000_000;

/// dbench.
pub const FRONT: Front = Front {
    name: "dbench",
    title: "A file server's recorded calls, by several clients at once",
    version: "dbench 4.00",
    usage: options::USAGE,
    arguments,
    file: Some(FileFront {
        kind: "dbench load file",
        detect: load::detect,
        read,
    }),
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let bytes = (line.read)(&options.load_file)?;
    let load = Load::read(&bytes).map_err(|mistake| mistake.at(&options.load_file))?;
    Ok(work(&options, load))
}

fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    let options = Options::of_file(file.name);
    let load = Load::read(file.bytes).map_err(|mistake| mistake.at(file.name))?;
    let mut work = work(&options, load);
    work.remembered = options.remembered();
    Ok(work)
}

fn work(options: &Options, load: Load) -> FrontWork {
    let has_times = load.has_times;
    let mut trace = load.trace;
    trace.file.clone_from(&options.load_file);
    trace.is_repeated = !options.runs_once;
    trace.is_timed = has_times && options.bytes_per_second == 0;
    trace.bytes_per_second = options.bytes_per_second;
    trace.is_searching = options.is_resolving;
    trace.is_sync = options.is_sync;
    trace.syncs_writes = options.syncs_writes;
    trace.syncs_directories = options.syncs_directories;
    let mut cell = cell("dbench", program(options, trace));
    cell.title = Some("dbench".to_owned());
    cell.workers = Some(options.clients);
    let mut work = FrontWork::new(vec![cell]);
    work.directories = vec![PathBuf::from(&options.directory)];
    work.differences = options.differences();
    work.differences.extend(load.skipped);
    work
}

fn program(options: &Options, trace: Trace) -> Program {
    let group = Group {
        name: "client".to_owned(),
        failed: Failed::Count,
        trace: Some(Box::new(trace)),
        ..Group::default()
    };
    let phase = ProgramPhase {
        name: "execute".to_owned(),
        ramp_ns: options.warm_up_s * NANOS,
        time_ns: (!options.runs_once).then_some(options.time_s * NANOS),
        groups: vec![group],
        ..ProgramPhase::default()
    };
    Program {
        labels: LABELS.map(str::to_owned).to_vec(),
        ways: vec![Way::default()],
        parts: vec![ProgramPart::Phase(phase)],
        ..Program::default()
    }
}

#[cfg(test)]
mod tests;
