//! `fit`: a synthetic workload that is like a trace, and how well it fits.

use std::fmt::Write;
use std::path::Path;

use fit::{FitError, FitOptions, FittedSpread, FittedTrace, WhatIfChange, workload_text};
use plan::Diagnostic;
use replay::{ReplayedRequests, TraceSource, requests, stem};
use units::format::{count, iops, size};
use units::printable;

use super::check_trace::{begins_as_trace, open, trace_inputs};
use crate::args::FitArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::input::with_options_in_help;
use crate::output::{is_stdout, write_new};
use crate::terminal::{one_line, print};

/// Fits a workload, prints how well it fits, and writes it.
pub(crate) fn fit(args: &FitArgs) -> Result<Exit, CliError> {
    let first = args.traces.first().map(String::as_str).unwrap_or_default();
    if first != "-" && !begins_as_trace(first) {
        // A file that cannot be read is no trace either, and its error says more.
        open(Path::new(first))?;
        let message = format!("`{first}` is no trace");
        let help = "`pgmeter record` makes traces, and `docs/traces.md` lists the formats";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    }
    let read = read(args, first)?;
    let options = FitOptions {
        phases_max: usize::try_from(args.phases).unwrap_or(usize::MAX),
        lines_max: usize::try_from(args.lines).unwrap_or(usize::MAX),
        seed: args.seed,
    };
    let mut fitted = fit::fit(&read.requests, read.span_bytes, &options).map_err(cannot_fit)?;
    let report = report(&fitted);
    let mut changes = Vec::new();
    for phase in &mut fitted.phases {
        let wanted = args.scale.iter().chain(&args.set);
        let done: Result<Vec<WhatIfChange>, FitError> =
            wanted.map(|change| change.apply(phase)).collect();
        changes.push(done.map_err(cannot_fit)?);
    }
    for warning in &read.warnings {
        tell_text!("{warning}\n");
    }
    let name = match &args.output {
        Some(path) if !is_stdout(path) => stem(&path.to_string_lossy()),
        _ => stem(first),
    };
    let report = report + &changes_text(&changes);
    let Some(path) = &args.output else {
        print(report + "\nnext: `-o mine.toml` writes the workload\n")?;
        return Ok(Exit::Success);
    };
    let text = workload_text(&fitted, &name, &printable(first), &changes);
    write_new(Some(path), &OutputText::Data(text))?;
    if is_stdout(path) {
        tell!("{}", report.trim_end());
    } else {
        let file = one_line(&path.display());
        let next = format!("\nnext: `pgmeter run {file} --target DIR` measures it\n");
        print(report + &next)?;
    }
    Ok(Exit::Success)
}

fn read(args: &FitArgs, first: &str) -> Result<ReplayedRequests, CliError> {
    let files = trace_inputs(&args.traces);
    let inputs: Result<Vec<_>, _> = files.iter().map(|file| open(file)).collect();
    let source = TraceSource {
        name: first,
        inputs: inputs?,
    };
    let selection = &args.selection;
    let read = requests(source, selection.reading(), selection.selection());
    Ok(read.map_err(|error: Diagnostic| with_options_in_help(error, |_| true))?)
}

fn cannot_fit(error: FitError) -> CliError {
    let help = match error {
        FitError::TooFew { .. } => "use a longer trace, or select more of it",
        FitError::OutOfRange { .. } => "use a factor closer to 1",
        _ => "leave out `--set`",
    };
    CliError::new(Exit::Usage, error, Some(help.to_owned()))
}

/// The model and its distances, phase by phase.
fn report(fitted: &FittedTrace) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_report(&mut text, fitted);
    text
}

fn write_report(text: &mut String, fitted: &FittedTrace) -> std::fmt::Result {
    let many = fitted.phases.len() > 1;
    for (index, (phase, distances)) in fitted.phases.iter().zip(&fitted.distances).enumerate() {
        if many {
            writeln!(text, "phase {}", index + 1)?;
        }
        writeln!(
            text,
            "requests   {} in {:.3} s: {}/s, {} arrivals",
            count(phase.request_count),
            phase.span_ns as f64 / 1e9,
            iops(phase.rate),
            phase.arrivals.name()
        )?;
        writeln!(
            text,
            "mix        {:.1} % reads, {:.1} % random, {:.0} B on average, in {} lines",
            phase.read_percent(),
            phase.random_percent(),
            phase.mean_bytes(),
            phase.lines.len()
        )?;
        let spread = match &phase.spread {
            FittedSpread::Uniform => "uniform".to_owned(),
            FittedSpread::Zipf(exponent) => format!("Zipf's law with {exponent:.2}"),
            FittedSpread::Zones(zones) => format!("{} zones", zones.len()),
        };
        writeln!(
            text,
            "places     {spread}, over {}; sequential streams: {}",
            size(phase.size_bytes),
            phase.streams
        )?;
        if phase.replaced_count > 0 {
            let replaced = count(phase.replaced_count);
            writeln!(text, "replaced   the rare sizes of {replaced} requests")?;
        }
        writeln!(text, "\nproperty                distance  by chance  fit")?;
        for it in distances {
            let (property, verdict) = (it.property, it.verdict().name());
            let (distance, by_chance) = (it.distance, it.by_chance);
            writeln!(
                text,
                "{property:<22}  {distance:8.3}  {by_chance:9.3}  {verdict}"
            )?;
        }
        writeln!(text)?;
    }
    if fitted.left_out > 0 {
        let left_out = count(fitted.left_out);
        writeln!(text, "left out   {left_out} flushes and discards")?;
    }
    match fitted.verdict() {
        (verdict, Some(property)) if verdict > fit::FitVerdict::Good => {
            writeln!(text, "fit        {}: {property}", verdict.name())
        }
        (verdict, _) => writeln!(text, "fit        {}", verdict.name()),
    }
}

fn changes_text(changes: &[Vec<WhatIfChange>]) -> String {
    let mut text = String::new();
    for (index, changes) in changes.iter().enumerate() {
        for change in changes {
            let phase = match index {
                0 => String::new(),
                _ => format!(" of phase {}", index + 1),
            };
            let WhatIfChange {
                property,
                before,
                after,
            } = change;
            let _ = writeln!(
                text,
                "changed    {property}{phase}: {after} instead of {before}"
            );
        }
    }
    text
}
