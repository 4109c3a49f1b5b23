//! dbench 4, and the file back-end of dbench 5: a file server's recorded calls, played again.

mod line;
mod load;
mod options;
mod text;
mod words;

use workload::Diagnostic;
use workload::program::{Failed, Group, Program, ProgramPart, ProgramPhase, Trace, Way};

use crate::acts::{group, phase};
use crate::work::titled;
use crate::{ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork};
use load::{Load, OPERATIONS};
use options::Options;

const NANOS: u64 = 1_000_000_000;

/// dbench.
pub const FRONT: Front = Front {
    name: "dbench",
    title: "A file server's recorded calls, by several clients at once",
    version: "dbench 4.00",
    usage: include_str!("usage.txt"),
    arguments,
    file: Some(FileFront {
        kind: "dbench load file",
        detect: load::detect,
        endings: &[],
        read,
    }),
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
    let bytes = (line.read)(&options.load_file)?;
    let load = Load::read(&bytes, &options.load_file)?;
    Ok(work(&options, load))
}

fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    let options = Options::of_file(file.name);
    let load = Load::read(file.bytes, file.name)?;
    Ok(FrontWork {
        remembered: options.remembered(),
        ..work(&options, load)
    })
}

fn work(options: &Options, load: Load) -> FrontWork {
    let trace = Trace {
        file: options.load_file.clone(),
        is_repeated: !options.runs_once,
        is_timed: load.trace.is_timed && options.bytes_per_second == 0,
        bytes_per_second: options.bytes_per_second,
        is_searching: options.is_resolving,
        is_sync: options.is_sync,
        syncs_writes: options.syncs_writes,
        syncs_directories: options.syncs_directories,
        ..load.trace
    };
    let clients = Group {
        failed: Failed::Count,
        trace: Some(Box::new(trace)),
        ..group("client", Vec::new())
    };
    let phase = ProgramPhase {
        ramp_ns: options.warm_up_s * NANOS,
        time_ns: (!options.runs_once).then_some(options.time_s * NANOS),
        ..phase("execute", clients)
    };
    let program = Program {
        labels: OPERATIONS.map(|(label, ..)| label.to_owned()).to_vec(),
        ways: vec![Way::default()],
        parts: vec![ProgramPart::Phase(phase)],
        ..Program::default()
    };
    let cell = titled("dbench", "dbench", options.clients, program);
    let mut differences = options.differences();
    differences.extend(load.skipped);
    FrontWork {
        differences,
        ..FrontWork::below(&options.directory, vec![cell])
    }
}

#[cfg(test)]
mod tests;
