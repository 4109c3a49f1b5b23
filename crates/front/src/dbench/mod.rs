//! dbench 4, and the file back-end of dbench 5: replays the recorded calls of a file server.

mod load;
mod options;
mod text;

use description::model::ContentChoice;
use plan::Diagnostic;
use plan::program::{
    Group, OnFailure, Program, ProgramPhase, Trace, TraceCall, TraceOperation as Op,
};

use crate::acts::{NS_PER_SECOND, group, in_turn, phase};
use crate::work::{titled, writing};
use crate::{
    ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork, OriginalDifference,
};
use load::{DbenchLoad, OPERATIONS};
use options::DbenchOptions;

/// Front of dbench 4.00.
pub const FRONT: Front = Front {
    name: "dbench",
    aliases: &[],
    title: "Replays the recorded calls of a file server, with several clients at once",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "dbench 4.00",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences,
    file: Some(FileFront {
        name: "dbench",
        kind: "dbench load file",
        detect: load::detect,
        extensions: &[],
        read,
    }),
    ranks: None,
    without_direct: "",
    text: text::of,
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = DbenchOptions::read(line.arguments)?;
    Ok(work(&options, &line.files.read(&options.load_file)?)?)
}

/// Reads a load file without arguments, for one client.
fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    // The text parses these words again, so they have the form of a command line.
    let remembered = ["-c", file.name, "1"].map(str::to_owned).to_vec();
    let options =
        DbenchOptions::read(&remembered).map_err(|it| Diagnostic::error(file.name, it))?;
    Ok(FrontWork {
        text_input: remembered,
        ..work(&options, file.bytes)?
    })
}

/// Differences of every run.
fn of_every_run() -> impl Iterator<Item = OriginalDifference> {
    OriginalDifference::listed(include_str!("differences.txt"))
}

fn general_differences() -> Vec<OriginalDifference> {
    of_every_run()
        .chain(options::GRAMMAR.refused_options())
        .collect()
}

fn work(options: &DbenchOptions, bytes: &[u8]) -> Result<FrontWork, Diagnostic> {
    let mut load = DbenchLoad::read(bytes, &options.load_file)?;
    if options.fakes_io {
        let moves = |it: &&TraceCall| matches!(it.operation, Op::Read | Op::Write);
        let others = load.trace.calls.iter().filter(|it| !moves(it));
        load.trace.calls = others.copied().collect();
        load.trace.calls_count = load.trace.calls.len() as u64;
    }
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
        // The original ignores the results of most calls and continues.
        failed: OnFailure::Count,
        trace: Some(Box::new(trace)),
        ..group("client", Vec::new())
    };
    let phase = ProgramPhase {
        ramp_ns: options.warm_up_s * NS_PER_SECOND,
        time_ns: (!options.runs_once).then_some(options.time_s * NS_PER_SECOND),
        ..phase("execute", clients)
    };
    let program = Program {
        labels: OPERATIONS.map(|(label, ..)| label.to_owned()).to_vec(),
        ..in_turn([phase])
    };
    let cell = writing(
        // The original writes zeros.
        ContentChoice::Zero,
        titled("dbench", "dbench", options.clients, program),
    );
    let those = [
        (
            options.clients_per_process > 1,
            "`--clients-per-process`",
            "each client has its own thread, so the clients of a process do not take turns",
        ),
        (
            options.fakes_io,
            "`--fake-io`",
            "the bytes of the calls that are left out do not count",
        ),
        (
            options.checks_by_stat,
            "`--stat-check`",
            "no call is checked by stat or left out",
        ),
        (
            options.fixes_one_byte_writes,
            "`--one-byte-write-fix`",
            "writes of one byte are made as recorded",
        ),
    ];
    let differences = of_every_run();
    let ignored = OriginalDifference::applicable(&those, &options.without_effect);
    Ok(FrontWork {
        differences: differences.chain(ignored).chain(load.skipped).collect(),
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

#[cfg(test)]
mod tests;
