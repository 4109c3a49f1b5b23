//! Replays of system calls: one worker does all calls on files again, below its directory.
//!
//! The calls of all threads run in their recorded order. Calls of one thread often need what
//! another thread did before, which a trace does not say, so running them at the same time could
//! fail where the program did not.

mod convert;
mod names;

use description::Workload;
use description::model::ConvertedProgram;
use plan::Diagnostic;
use plan::program::{
    Group, OnFailure, OpenModePlan, Program, ProgramPart, ProgramPhase, Trace, TraceCall,
    TraceOpenMode, TraceOperation as Op, TraceResult,
};
use trace::{TraceBatch, TraceReader};
use units::printable;

use crate::collect::unreadable;
use crate::recording::Recording;
use crate::select::Selector;
use crate::{PAUSE_NS_MAX, ReplayOptions, stem};
use convert::{CallConverter, LABELS, label};
use names::TracedFile;

/// Files that existed before are written in pieces of this size, in bytes.
const PREPARED_BYTES: u64 = 1 << 20;
/// Number of left-out calls that a warning names.
const NAMED_MAX: usize = 6;

/// The cell that replays the calls of a trace, and warnings about it.
pub(crate) fn replay_calls(
    name: &str,
    mut reader: TraceReader<'_>,
    options: &ReplayOptions,
) -> Result<(Workload, Vec<Diagnostic>), Diagnostic> {
    let error = |message: String| Diagnostic::error(name, message);
    refuse_options(options).map_err(|option| {
        error(format!(
            "`{option}` selects requests, and the trace has system calls"
        ))
        .help(format!("leave out `{option}`"))
    })?;
    let mut converter = CallConverter::default();
    let selector = Selector::new(&options.selection);
    let (mut begin_ns, mut last_ns, mut taken) = (None, 0, 0);
    let mut batch = TraceBatch::default();
    'trace: while reader.read(&mut batch).map_err(|it| Diagnostic {
        file: name.to_owned(),
        ..unreadable(it)
    })? {
        for call in &batch.calls {
            let begin_ns = *begin_ns.get_or_insert(call.time_ns);
            let at_ns = i128::from(call.time_ns) - i128::from(begin_ns);
            let at_ns = u64::try_from(at_ns).unwrap_or(0);
            if selector.is_over(at_ns, taken) {
                break 'trace;
            }
            let Some(due_ns) = at_ns.checked_sub(options.selection.from_ns) else {
                continue;
            };
            let due_ns = due_ns.max(last_ns);
            if options.speed.is_some() && due_ns - last_ns > PAUSE_NS_MAX {
                let message = format!(
                    "row {} comes more than a day after the one before",
                    call.row
                );
                return Err(error(message)
                    .help("replay a part with `--from` and `--to`, or use `--pace as-fast`"));
            }
            last_ns = due_ns;
            let due_ns = match options.speed {
                Some(speed) => (due_ns as f64 / speed) as u64,
                None => due_ns,
            };
            taken += 1;
            converter
                .add(call, reader.names(), due_ns)
                .map_err(|reason| {
                    error(format!("row {}: {reason}", call.row))
                        .help("replay the calls before it with `--first`")
                })?;
        }
    }
    if converter.recording.count() == 0 {
        let message = format!("none of the {taken} calls of the trace is on files");
        let help = "`pgmeter check` shows the calls and files of a trace";
        return Err(error(message).help(help));
    }
    let mut warnings: Vec<Diagnostic> = reader
        .notices()
        .iter()
        .map(|notice| Diagnostic::warning(name, notice))
        .collect();
    warnings.extend(converter.warnings().map(|it| Diagnostic::warning(name, it)));
    let workload = workload(name, reader.format_name(), converter, options).map_err(error)?;
    Ok((workload, warnings))
}

/// The first option that applies to requests only.
fn refuse_options(options: &ReplayOptions) -> Result<(), &'static str> {
    let selection = &options.selection;
    for (option, is_given) in [
        ("--map", options.map.is_some()),
        ("--size", options.size_bytes.is_some()),
        ("--only", !selection.kinds.is_empty()),
        ("--device", !selection.devices.is_empty()),
        ("--process", !selection.processes.is_empty()),
        ("--sample", selection.sample_percent.is_some()),
    ] {
        if is_given {
            return Err(option);
        }
    }
    Ok(())
}

fn workload(
    name: &str,
    format_name: &str,
    converter: CallConverter,
    options: &ReplayOptions,
) -> Result<Workload, String> {
    let preparation = preparation(&converter.files.origins())?;
    let finished = |recording: Recording| Trace {
        file: name.to_owned(),
        is_bare: true,
        ..recording.trace(b"")
    };
    let calls = Trace {
        is_timed: options.speed.is_some(),
        ..finished(converter.recording)
    };
    let phase = |phase: &str, is_hidden, trace| ProgramPhase {
        name: phase.to_owned(),
        is_hidden,
        groups: vec![Group {
            name: "replay".to_owned(),
            workers: Some(1),
            failed: OnFailure::Count,
            trace: Some(Box::new(trace)),
            ..Group::default()
        }],
        ..ProgramPhase::default()
    };
    let mut phases = Vec::new();
    if preparation.count() > 0 {
        phases.push(phase("prepare", true, finished(preparation)));
    }
    phases.push(phase("replay", false, calls));
    let program = Program {
        labels: LABELS.map(str::to_owned).to_vec(),
        ways: vec![OpenModePlan::default()],
        parts: phases.into_iter().map(ProgramPart::Phase).collect(),
        ..Program::default()
    };
    Ok(Workload {
        name: Some(stem(name)),
        title: Some(format!("replay of `{}`", printable(name))),
        source: Some(format!("trace ({format_name})")),
        built: Some(Box::new(ConvertedProgram::of(program))),
        ..Workload::default()
    })
}

/// Calls that create what existed before the trace.
fn preparation(origins: &[&TracedFile]) -> Result<Recording, String> {
    let mut recording = Recording::default();
    let blank = |operation| TraceCall {
        expected: TraceResult::Success,
        label: label(operation),
        ..TraceCall::new(operation)
    };
    for (handle, file) in (1..).zip(origins) {
        let name = recording.name(file.origin.as_deref().unwrap_or_default())?;
        if file.is_directory {
            recording.push(TraceCall {
                name,
                ..blank(Op::Mkdir)
            })?;
            continue;
        }
        let register = recording.open(handle, name, true)?;
        let on_file = |operation| TraceCall {
            name,
            handle: register,
            ..blank(operation)
        };
        recording.push(on_file(Op::Open(TraceOpenMode::Created)))?;
        let mut offset_bytes = 0;
        while offset_bytes < file.needed_bytes {
            let bytes = (file.needed_bytes - offset_bytes).min(PREPARED_BYTES);
            let mut write = TraceCall {
                second: bytes as u32,
                ..on_file(Op::Write)
            };
            recording.transfer(&mut write, offset_bytes, bytes)?;
            recording.push(write)?;
            offset_bytes += bytes;
        }
        recording.push(on_file(Op::Close))?;
        recording.close(handle);
    }
    Ok(recording)
}

impl CallConverter {
    /// What differs from the recorded calls.
    fn warnings(&self) -> impl Iterator<Item = String> {
        let mut left_out: Vec<(&String, &u64)> = self.left_out.iter().collect();
        left_out.sort_unstable_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let total: u64 = left_out.iter().map(|(_, count)| **count).sum();
        let mut named: Vec<String> = left_out
            .iter()
            .take(NAMED_MAX)
            .map(|(name, count)| format!("{count} {}", printable(name)))
            .collect();
        if left_out.len() > NAMED_MAX {
            named.push("others".to_owned());
        }
        let named = named.join(", ");
        let texts = [
            (
                total,
                format!(
                    "{total} calls are left out, because they are not on files or have no \
                     counterpart: {named}"
                ),
            ),
            (
                self.added_opens,
                format!(
                    "{} opens are added, because files were open before the trace or were \
                     inherited",
                    self.added_opens
                ),
            ),
            (
                self.direct_opens,
                format!(
                    "{} opens with O_DIRECT are replayed through the page cache",
                    self.direct_opens
                ),
            ),
            (
                self.sync_opens,
                format!(
                    "{} opens with O_SYNC or O_DSYNC are replayed without them, so writes are \
                     faster than recorded",
                    self.sync_opens
                ),
            ),
        ];
        texts
            .into_iter()
            .filter_map(|(count, text)| (count > 0).then_some(text))
    }
}
