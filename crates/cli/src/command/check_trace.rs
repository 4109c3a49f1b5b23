//! `check TRACE`: counts of a trace, and how pgmeter understands it.

use std::fs::File;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};

use description::Overrides;
use report::{CheckedTrace, trace_text};
use trace::{TraceBatch, TraceError, TraceOptions, TraceReader, TraceSummary, is_trace};

use crate::args::CheckArgs;
use crate::bounds::bounds;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::input::{STDIN, overrides};
use crate::json::JsonOutput;
use crate::terminal::OutputStream;

/// Number of bytes of a file that decide whether it is a trace.
const HEAD_BYTES: u64 = 64 << 10;

/// Files of the trace that the arguments name; `None` if the first file is no trace.
///
/// # Errors
/// Options apply only to workloads.
pub(super) fn trace_files(args: &CheckArgs) -> Result<Option<Vec<PathBuf>>, CliError> {
    let names = &args.workload.workloads;
    // A page must not learn anything about other files, and `--kind` names a kind of workload.
    let is_workload = bounds()?.is_some() || args.workload.options.kind.is_some();
    let first = names
        .first()
        .filter(|first| !is_workload && begins_as_trace(first));
    let Some(first) = first else {
        return match args.layer.is_some() || args.time_unit.is_some() {
            true => Err(options_of_traces()),
            false => Ok(None),
        };
    };
    let has_options = overrides(&args.workload.options)? != Overrides::new();
    let is_one_line = args.workload.one_line.words().first_option().is_some();
    if has_options || is_one_line || !args.host.is_empty() {
        let message = format!("options of workloads do not apply to the trace `{first}`");
        let help = "leave out all options except `--json`, `--layer` and `--time-unit`";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    }
    Ok(Some(trace_inputs(names)))
}

/// All files of the trace with these names.
pub(super) fn trace_inputs(names: &[String]) -> Vec<PathBuf> {
    match names {
        [only] => with_other_cpus(Path::new(only)),
        _ => names.iter().map(PathBuf::from).collect(),
    }
}

fn options_of_traces() -> CliError {
    let message = "`--layer` and `--time-unit` apply to traces only";
    let help = "leave them out, or name a trace".to_owned();
    CliError::new(Exit::Usage, message, Some(help))
}

/// Looks at the start without taking it: a workload is read later.
pub(super) fn begins_as_trace(name: &str) -> bool {
    if name == STDIN {
        let stdin = std::io::stdin();
        return !stdin.is_terminal() && stdin.lock().fill_buf().is_ok_and(is_trace);
    }
    let path = Path::new(name);
    // Opening a pipe without a writer would block.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && is_trace(&head)
}

/// blktrace writes a file for each CPU, `DEVICE.blktrace.CPU`: one name stands for all.
fn with_other_cpus(path: &Path) -> Vec<PathBuf> {
    let alone = vec![path.to_owned()];
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let base = name
        .as_deref()
        .and_then(|name| name.rsplit_once(".blktrace."));
    let is_cpu = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some((base, _)) = base.filter(|(_, cpu)| is_cpu(cpu)) else {
        return alone;
    };
    let prefix = format!("{base}.blktrace.");
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let entries = std::fs::read_dir(directory.unwrap_or(Path::new(".")));
    let names = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name());
    let is_part = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        name.strip_prefix(&prefix).is_some_and(is_cpu)
    };
    let mut files: Vec<PathBuf> = names
        .filter(is_part)
        .map(|name| path.with_file_name(name))
        .collect();
    files.sort();
    match files.is_empty() {
        true => alone,
        false => files,
    }
}

/// Reads a trace to its end and prints its counts.
pub(super) fn check_trace(
    args: &CheckArgs,
    files: &[PathBuf],
    output: JsonOutput,
) -> Result<Exit, CliError> {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let failed = |error: TraceError| {
        let files = match names.as_slice() {
            [only] => format!("`{only}`"),
            _ => format!("`{}` and {} more files", names[0], names.len() - 1),
        };
        let message = format!("cannot check {files}: {error}");
        CliError::new(Exit::Usage, message, error.help().map(str::to_owned))
    };
    let options = TraceOptions {
        layer: args.layer.map(Into::into),
        time_unit: args.time_unit.map(Into::into),
        ..TraceOptions::default()
    };
    let inputs = files
        .iter()
        .map(|file| open(file))
        .collect::<Result<_, _>>()?;
    let mut reader = TraceReader::open(inputs, options).map_err(failed)?;
    let mut summary = TraceSummary::default();
    let mut batch = TraceBatch::default();
    while reader.read(&mut batch).map_err(failed)? {
        summary.add(&batch);
    }
    let checked = CheckedTrace::new(names.clone(), &reader, &mut summary);
    output.give(&checked, || {
        let columns = match OutputStream::Output.is_terminal() {
            true => OutputStream::Output.page().width,
            false => usize::MAX,
        };
        OutputText::prose(trace_text(&checked, columns))
    })?;
    Ok(Exit::Success)
}

/// Opens a file of a trace.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, CliError> {
    if path.as_os_str() == STDIN {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let name = path.display();
    let file = File::open(path).map_err(|error| {
        let message = format!("cannot read `{name}`: {error}");
        CliError::new(Exit::Usage, message, Some("check the path".to_owned()))
    })?;
    Ok(Box::new(file))
}
