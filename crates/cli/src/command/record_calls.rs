//! `record` of system calls.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::Ordering;

use record::{CallRecorder, EndedCalls, TracedPrograms};
use units::format::{bandwidth, count, iops, size, span};

use super::record_live::{LiveRecording, percent, remove};
use crate::args::RecordArgs;
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;
use crate::terminal::{one_line, print};

/// Records the calls until the programs end, the time is over, or Ctrl-C.
pub(super) fn record_calls(
    output: File,
    args: &RecordArgs,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let programs = match args.pid.is_empty() {
        true => TracedPrograms::Command(args.command.clone()),
        false => TracedPrograms::Processes(args.pid.clone()),
    };
    let source = name(args);
    // First, because threads that exist already would take the signals of traced programs.
    let mut recorder = CallRecorder::start(&programs, std::io::BufWriter::new(output))?;
    let stop = stop_flag(on_second_interrupt)?;
    if !args.quiet {
        tell!("recording the calls of {source}; Ctrl-C ends it");
    }
    let mut live = LiveRecording::new(args.quiet, "calls");
    let run = recorder.run(|progress| {
        live.show(progress);
        let is_late = args.duration.is_some_and(|it| progress.elapsed_ns >= it.0);
        !stop.load(Ordering::Relaxed) && !is_late
    });
    drop(live);
    run?;
    let ended = recorder.finish()?;
    // An empty file is no trace, and would stand in the way of the next attempt.
    if ended.size_bytes == 0 {
        remove(&args.output);
    }
    print(text(&source, &ended, &args.output))?;
    tell_notes(args, &ended);
    Ok(Exit::Success)
}

fn name(args: &RecordArgs) -> String {
    match args.command.first() {
        Some(program) => format!("`{}`", one_line(&program.display())),
        None => {
            let pids: Vec<String> = args.pid.iter().map(i32::to_string).collect();
            format!("process {}", pids.join(", "))
        }
    }
}

fn text(source: &str, ended: &EndedCalls, output: &Path) -> String {
    let progress = &ended.progress;
    let elapsed = span(progress.elapsed_ns);
    if ended.size_bytes == 0 {
        return format!("recorded  the calls of {source} for {elapsed}: none, so no file\n");
    }
    let seconds = progress.elapsed_ns.max(1) as f64 / 1e9;
    let file = one_line(&output.display());
    format!(
        "recorded  the calls of {source} for {elapsed}\ncalls     {} in {seconds:.3} s: {}/s, {} \
         read and written\nown CPU   {}; each call took longer because pgmeter stopped it twice\n\
         wrote     {file} ({})\n\nnext: `pgmeter check {file}` shows what it contains; `pgmeter \
         run {file} --target DIR` replays it\n",
        count(progress.request_count),
        iops(progress.request_count as f64 / seconds),
        bandwidth(progress.bytes as f64 / seconds),
        percent(progress.cpu_ns as f64 / progress.elapsed_ns.max(1) as f64),
        size(ended.size_bytes),
    )
}

fn tell_notes(args: &RecordArgs, ended: &EndedCalls) {
    if ended.hidden.submission_count > 0 {
        let calls = count(ended.hidden.submission_count);
        tell!("warning: {calls} calls gave requests to io_uring or Linux AIO, which are missing");
        tell!("help: record their device: `pgmeter record --target DIR`");
    }
    if ended.hidden.mapping_count > 0 {
        let mappings = count(ended.hidden.mapping_count);
        tell!("note: files were mapped {mappings} times; access to their memory is missing");
    }
    match ended.status {
        None if args.pid.is_empty() => tell!("note: the command is still running"),
        Some(status) if !status.success() => {
            tell!("note: the command ended with {status}");
        }
        _ => {}
    }
}
