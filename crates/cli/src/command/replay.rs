//! `run TRACE`: turns a trace into the jobs that replay it.

use std::path::Path;

use description::{Overrides, Workload};
use plan::facts::TargetFacts;
use planning::wanted_targets;
use replay::{ReplayOptions, ReplayTarget, TraceSource, replay};

use super::DEFAULT_TARGET;
use super::check_trace::{begins_as_trace, open, trace_inputs};
use super::mounts::restore_unmounted;
use crate::args::{CacheArg, EngineArg, ReplayArgs, RunArgs, WorkloadOptions};
use crate::bounds::bounds;
use crate::failure::{CliError, Exit};
use crate::input::{Input, input, overrides, with_options_in_help};

/// The trace or the workloads that the arguments name.
pub(super) fn trace_or_workload(args: &RunArgs) -> Result<Input, CliError> {
    match replay_input(args)? {
        Some(replay) => Ok(replay),
        None => input(&args.workload),
    }
}

/// The replay of the trace that the arguments name; `None` if the first file is no trace.
///
/// # Errors
/// Options of replays without a trace, options that do not apply to one, or a trace that cannot be
/// replayed.
fn replay_input(args: &RunArgs) -> Result<Option<Input>, CliError> {
    let (options, names) = (&args.workload.options, &args.workload.workloads);
    let first = names.first();
    // A page must not learn anything about other files, and `--as` names a kind of workload.
    let is_workload = bounds()?.is_some() || options.kind.is_some();
    let Some(first) = first.filter(|first| !is_workload && begins_as_trace(first)) else {
        return match args.replay == ReplayArgs::default() {
            true => Ok(None),
            false => Err(options_without_trace()),
        };
    };
    if let Some(option) = args.workload.one_line.words().first_option() {
        let message = format!("`{option}` describes a workload, and `{first}` is a trace");
        let help = format!("leave out `{option}`, or the trace");
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    // The size determines the mapping of addresses, which is done here.
    let kept = WorkloadOptions {
        size: Vec::new(),
        ..options.clone()
    };
    let overrides = overrides(&kept)?;
    let options = replay_options(args)?;
    let targets = replay_targets(&options, &overrides)?;
    let files = trace_inputs(names);
    let inputs: Result<Vec<_>, _> = files.iter().map(|file| open(file)).collect();
    let source = TraceSource {
        name: first,
        inputs: inputs?,
    };
    let replayed = replay(source, &options, &targets);
    let (workload, warnings) = replayed.map_err(|error| with_options_in_help(error, |_| true))?;
    Ok(Some(Input {
        workloads: vec![workload],
        warnings,
        overrides,
        check_text: String::new(),
    }))
}

fn options_without_trace() -> CliError {
    let message = "options such as `--speed` and `--map` apply to traces only";
    let help = "leave them out, or name a trace".to_owned();
    CliError::new(Exit::Usage, message, Some(help))
}

fn replay_options(args: &RunArgs) -> Result<ReplayOptions, CliError> {
    let (wanted, options) = (&args.replay, &args.workload.options);
    let size_bytes = match options.size.as_slice() {
        [] => None,
        [only] => Some(only.0),
        _ => {
            let message = "a replay has one `--size`";
            let help = "run it once for each size".to_owned();
            return Err(CliError::new(Exit::Usage, message, Some(help)));
        }
    };
    let is_null = options.engine == [EngineArg::Null];
    let is_cached = !options.cache.is_empty() && !options.cache.contains(&CacheArg::Direct);
    Ok(ReplayOptions {
        reading: wanted.selection.reading(),
        selection: wanted.selection.selection(),
        speed: wanted.speed(),
        map: wanted.map.map(Into::into),
        size_bytes,
        is_unaligned: is_null || is_cached,
        is_null,
    })
}

/// Looks at the targets of the replay: the mapping depends on their sizes and alignments.
fn replay_targets(
    options: &ReplayOptions,
    overrides: &Overrides,
) -> Result<Vec<ReplayTarget>, CliError> {
    if options.is_null {
        return Ok(Vec::new());
    }
    let wanted = wanted_targets(&[Workload::default()], overrides);
    // Before probing: on an unmounted target, pgmeter would see the file system below it.
    restore_unmounted(wanted.iter().map(Path::new))?;
    let facts = storage::system_facts(&wanted, Some(DEFAULT_TARGET));
    let of_facts = |facts: &TargetFacts| ReplayTarget {
        alignment_bytes: facts.direct_unit(),
        fixed_bytes: facts.fixed_bytes(),
    };
    Ok(match wanted.is_empty() {
        true => facts.default_target.iter().map(of_facts).collect(),
        false => facts.targets.iter().map(of_facts).collect(),
    })
}
