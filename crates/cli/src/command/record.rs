//! `record`: records the requests to block devices into a trace.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

use record::{
    EndedRecording, RecordError, RecordLayer, RecordOptions, RecordProgress, RecordedDevice,
    TraceRecorder, check_output, choose_layer,
};
use units::format::{bandwidth, count, iops, size, span};

use super::record_calls::record_calls;
use super::record_live::{LiveRecording, percent, remove};
use crate::args::{RecordArgs, RecordLayerArg};
use crate::failure::{CliError, Exit};
use crate::output::{cannot_write, is_stdout};
use crate::signals::stop_flag;
use crate::terminal::{one_line, print};

/// Share of lost events above which the recording fails.
const LOST_SHARE_MAX: f64 = 0.001;
/// Share of a CPU above which pgmeter's own work may disturb the recorded programs.
const OWN_CPU_MAX: f64 = 0.05;

/// Records until the time is over, the command ends, or Ctrl-C.
pub(crate) fn record(args: &RecordArgs, on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    if [
        args.device.len(),
        args.target.len(),
        args.pid.len(),
        args.command.len(),
    ] == [0; 4]
    {
        let message = "nothing to record was given";
        let help = "add a command after `--`, `--pid PID`, `--target DIR` or `--device DEV`";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    }
    let has_device = !args.device.is_empty() || !args.target.is_empty();
    let wanted = args.layer.map(RecordLayerArg::of_device);
    if wanted.is_some_and(|layer| layer.is_some() != has_device) {
        return Err(unsuitable_layer(has_device));
    }
    let devices = devices(args)?;
    let layer = match has_device {
        true => Some(choose_layer(wanted.flatten(), &devices)?),
        false => None,
    };
    if !args.force {
        check_output(&args.output, &devices)?;
    }
    if is_stdout(&args.output) {
        let message = "a trace cannot be written to standard output";
        let help = "name a file with `-o`".to_owned();
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    let output = File::create_new(&args.output);
    let output = output.map_err(|reason| cannot_write(&args.output, &reason))?;
    let recorded = match layer {
        Some(layer) => record_into(output, args, devices, layer, on_second_interrupt),
        None => record_calls(output, args, on_second_interrupt),
    };
    // An empty file would stand in the way of the next attempt.
    if recorded.is_err() && fs::metadata(&args.output).is_ok_and(|found| found.len() == 0) {
        remove(&args.output);
    }
    recorded
}

fn unsuitable_layer(has_device: bool) -> CliError {
    let (message, help) = match has_device {
        true => (
            "the layer `calls` belongs to programs, not to devices",
            "leave out `--device` and `--target`, and name a command or `--pid`",
        ),
        false => (
            "the layers `issue` and `queue` belong to devices, and none was given",
            "name one with `--device` or `--target`, or leave out `--layer`",
        ),
    };
    CliError::new(Exit::Usage, message, Some(help.to_owned()))
}

fn record_into(
    output: File,
    args: &RecordArgs,
    devices: Vec<RecordedDevice>,
    layer: RecordLayer,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let names: Vec<String> = devices.iter().map(|it| it.name.clone()).collect();
    let source = format!("{} at the layer `{}`", names.join(", "), layer.name());
    let options = RecordOptions {
        devices,
        layer,
        about: format!("recorded by pgmeter from {source}"),
    };
    let stop = stop_flag(on_second_interrupt)?;
    let mut recorder = TraceRecorder::start(&options, output)?;
    if !args.quiet {
        tell!("recording {source}; Ctrl-C ends it");
    }
    // A trace of nothing would stand in the way of the next attempt.
    let mut command = started(args).inspect_err(|_| remove(&args.output))?;
    let mut live = LiveRecording::new(args.quiet, "requests");
    let run = recorder.run(|progress| {
        live.show(progress);
        !is_over(args, progress, &stop, command.as_mut())
    });
    drop(live);
    run?;
    let recording = recorder.finish()?;
    print(text(&source, &recording, &args.output))?;
    match command.as_mut().map(Child::try_wait) {
        Some(Ok(None)) => tell!("note: the command is still running"),
        Some(Ok(Some(status))) if !status.success() => {
            tell!("note: the command ended with {status}");
        }
        _ => {}
    }
    Ok(verdict(&recording.progress))
}

fn devices(args: &RecordArgs) -> Result<Vec<RecordedDevice>, RecordError> {
    let mut devices = Vec::new();
    for path in &args.device {
        devices.push(RecordedDevice::at(path)?);
    }
    for path in &args.target {
        devices.extend(RecordedDevice::under(path)?);
    }
    // Several directories may be on one device.
    devices.sort_by_key(|device| device.number);
    devices.dedup();
    Ok(devices)
}

fn started(args: &RecordArgs) -> Result<Option<Child>, CliError> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Ok(None);
    };
    let child = Command::new(program).args(arguments).spawn();
    let child = child.map_err(|error| {
        let message = format!("cannot start `{}`: {error}", program.display());
        let help = "check the command after `--`".to_owned();
        CliError::new(Exit::Usage, message, Some(help))
    })?;
    Ok(Some(child))
}

fn is_over(
    args: &RecordArgs,
    progress: &RecordProgress,
    stop: &AtomicBool,
    command: Option<&mut Child>,
) -> bool {
    let is_late = |limit: units::Span| progress.elapsed_ns >= limit.0;
    stop.load(Ordering::Relaxed)
        || args.duration.is_some_and(is_late)
        // A command whose state is unknown must not keep the recording running forever.
        || command.is_some_and(|child| !matches!(child.try_wait(), Ok(None)))
}

fn text(source: &str, recording: &EndedRecording, output: &Path) -> String {
    let progress = &recording.progress;
    let requests = count(progress.request_count);
    let rates = match recording.span_ns.filter(|ns| *ns > 0) {
        Some(ns) => {
            let rate = |number: u64| number as f64 * 1e9 / ns as f64;
            let (per_second, moved) = (rate(progress.request_count), rate(progress.bytes));
            format!(
                " in {:.3} s: {}/s, {}",
                ns as f64 / 1e9,
                iops(per_second),
                bandwidth(moved)
            )
        }
        None => String::new(),
    };
    let own = progress.cpu_ns as f64 / progress.elapsed_ns.max(1) as f64;
    let disturbs = match own > OWN_CPU_MAX {
        true => "; the recording may have slowed down the recorded programs",
        false => "",
    };
    let file = one_line(&output.display());
    format!(
        "recorded  {source} for {}\nrequests  {requests}{rates}\nevents    {}, {} lost\nown CPU   \
         {}{disturbs}\nwrote     {file} ({})\n\nnext: `pgmeter check {file}` shows what it \
         contains; `pgmeter run {file} --target DIR` replays it\n",
        span(progress.elapsed_ns),
        count(progress.event_count),
        count(progress.lost_count),
        percent(own),
        size(recording.size_bytes),
    )
}

fn verdict(progress: &RecordProgress) -> Exit {
    let all = progress.event_count + progress.lost_count;
    let is_bad = progress.lost_count as f64 > all as f64 * LOST_SHARE_MAX;
    if !is_bad {
        return Exit::Success;
    }
    tell!(
        "error: the kernel dropped {} of {} events, more than 0.1 %",
        count(progress.lost_count),
        count(all)
    );
    tell!("help: record fewer devices, or while the machine is less busy");
    Exit::Failed
}

#[cfg(test)]
mod tests {
    use super::super::record_live::tests::progress;
    use super::*;

    #[test]
    fn a_recording_that_lost_more_than_a_thousandth_fails() {
        assert_eq!(verdict(&progress()), Exit::Success);
        let worse = RecordProgress {
            lost_count: 7,
            ..progress()
        };
        assert_eq!(verdict(&worse), Exit::Failed);
    }

    #[test]
    fn the_end_shows_counts_and_the_next_step() {
        let recording = EndedRecording {
            progress: progress(),
            span_ns: Some(1_500_000_000),
            size_bytes: 40 << 10,
        };
        let text = text("loop0", &recording, Path::new("a.pgt"));
        for wanted in [
            "loop0 for 0:02",
            "3,000 in 1.500 s: 2.000k/s, 2.000 MiB/s",
            "6,000, 6 lost",
            "1.5 %\n",
            "a.pgt (40 KiB)",
            "`pgmeter check a.pgt`",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
        let idle = EndedRecording {
            span_ns: None,
            ..recording
        };
        assert!(super::text("loop0", &idle, Path::new("a.pgt")).contains("requests  3,000\n"));
    }
}
