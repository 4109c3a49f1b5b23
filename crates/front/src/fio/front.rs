//! The fio front: turns fio's arguments and job files into work, and a record into fio's output.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use plan::FrontOrigin;
use plan::{Diagnostic, DiagnosticCode};

use super::output::OutputOptions;
use super::work::{ParserInputs, work};
use super::{Action, FioInvocation, JobSet, ParserEnvironment, read_arguments, text};
use super::{files_touched, picture, verdicts};
use crate::text::ClassicText;
use crate::{ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork};

/// Option that asks for fio's own quirks.
const COMPAT_OPTION: &str = "--fio-compat";

/// The entry of fio in the list of fronts.
pub(crate) const FRONT: Front = Front {
    name: "fio",
    aliases: &[],
    title: "Runs jobs of I/O requests against files and devices",
    files_help: "\
        pgmeter creates files in a work directory below the given directory. At the end, it moves \
        files that a job wrote with `verify` to their names, unless the user has files there, and \
        removes the others.",
    version: "fio 3.42",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: Vec::new,
    file: Some(FileFront {
        name: "fio",
        kind: "fio job file",
        detect,
        extensions: &[".fio"],
        read,
    }),
    ranks: None,
    without_direct: "use `direct=0`; direct I/O needs sizes and offsets in multiples of a sector, \
                     usually 512 bytes",
    text: text_of,
};

/// Width of the output of `check`, in columns.
const CHECK_COLUMNS: usize = 100;

/// Number of lines that format detection looks at.
const DETECTED_LINES_MAX: usize = 10_000;

/// `true` if the file has a section and an option in fio's notation.
fn detect(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = || text.lines().map(str::trim).take(DETECTED_LINES_MAX);
    lines().any(is_section) && lines().any(is_fio_option)
}

fn is_section(line: &str) -> bool {
    // In TOML, two brackets begin an array of tables.
    line.starts_with('[') && line.ends_with(']') && !line.starts_with("[[")
}

fn is_fio_option(line: &str) -> bool {
    let keys = [
        "rw",
        "readwrite",
        "ioengine",
        "bs",
        "blocksize",
        "bssplit",
        "bsrange",
        "numjobs",
        "filename",
        "directory",
        "runtime",
        "time_based",
        "group_reporting",
        "stonewall",
        "rwmixread",
        "nrfiles",
        "read_iolog",
    ];
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    // fio's values are not quoted; TOML strings are.
    keys.contains(&key.trim()) && !value.trim().starts_with(['"', '\''])
}

/// fio's exit code for all errors.
const ERROR_CODE: u8 = 1;

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    read_command_line(line).map_err(|error| match error {
        ArgumentError::File(diagnostic) => ArgumentError::FileWithCode(diagnostic, ERROR_CODE),
        error => error,
    })
}

fn read_command_line(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let is_to_the_letter = line.arguments.iter().any(|it| it == COMPAT_OPTION);
    // The option is pgmeter's own, so fio's parser must not see it.
    let arguments = line
        .arguments
        .iter()
        .filter(|it| *it != COMPAT_OPTION)
        .cloned();
    let inputs = ParserInputs {
        arguments: arguments.collect(),
        is_to_the_letter,
        // Every state has keys from the system's random numbers.
        random_seed: Some(RandomState::new().hash_one(0)),
        ..ParserInputs::default()
    };
    let (inputs, (invocation, set)) = read_jobs(line, inputs)?;
    match invocation.action {
        Action::Print(text) => return Err(ArgumentError::PrintOnly(text)),
        Action::ParseOnly => return Err(ArgumentError::PrintOnly(invocation.trace)),
        Action::Run => {}
    }
    let name = set.jobs.first().map_or("fio", |job| &job.section);
    let mut work = work(&set, name_of(name), is_to_the_letter, line)?;
    work.error_code = Some(ERROR_CODE);
    work.status_interval_ns = invocation.status_interval_us.saturating_mul(1000);
    work.warnings.extend(notes(&set).map(|note| {
        let prefix = match note.line {
            Some(line) => format!("{}:{line}: ", note.file),
            None => String::new(),
        };
        format!("{prefix}{}", note.message)
    }));
    Ok(complete_work(&set, work, &inputs))
}

fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    let inputs = ParserInputs {
        arguments: vec![file.name.to_owned()],
        ..ParserInputs::default()
    };
    let (inputs, (_, set)) = read_jobs(&file.context, inputs)?;
    let stem = Path::new(file.name).file_stem();
    let name = stem.and_then(|it| it.to_str()).unwrap_or("fio");
    let mut work = work(&set, name_of(name), false, &file.context)?;
    // Only fio's own output includes logs and submission latencies, so there is no need to record
    // requests or to time their submissions.
    let jobs = work.cells.iter_mut().filter_map(|it| it.jobs.as_mut());
    for jobs in jobs {
        for job in &mut jobs.jobs {
            job.plan.is_noted = false;
            job.plan.times_submission = false;
        }
        // `pgmeter run` removes all files, whatever kind of workload it runs.
        jobs.files
            .files
            .iter_mut()
            .for_each(|it| it.is_left = false);
    }
    work.findings.extend(notes(&set).cloned());
    Ok(complete_work(&set, work, &inputs))
}

/// The name if it is valid for a workload, else `fio`.
fn name_of(name: &str) -> &str {
    match name.is_empty() || name.len() > 64 || name.contains(char::is_control) {
        true => "fio",
        false => name,
    }
}

/// Notes on values that may surprise the user, without the differences from fio, which the work
/// already lists.
fn notes(set: &JobSet) -> impl Iterator<Item = &Diagnostic> {
    let notes = set.notes.iter();
    notes.filter(|it| it.code != Some(DiagnosticCode::DiffersFromOriginal))
}

/// Adds the inputs to remember and the `check` output to the work.
fn complete_work(set: &JobSet, mut work: FrontWork, inputs: &ParserInputs) -> FrontWork {
    work.text_input = vec![inputs.text()];
    work.check_text = check_text(set);
    work
}

/// The output of `check`: how each option is handled, what runs when, and the files touched.
fn check_text(set: &JobSet) -> String {
    let options = verdicts(set, CHECK_COLUMNS);
    let (picture, files) = (picture(set, CHECK_COLUMNS), files_touched(set));
    format!("options\n{options}\nwhat runs when\n{picture}\nfiles\n{files}\n")
}

type ParsedJobs = (ParserInputs, (FioInvocation, JobSet));

/// Reads the jobs and records every file and variable that they depend on. `given` has the
/// arguments and what does not come from the machine.
fn read_jobs(line: &CommandLine<'_>, given: ParserInputs) -> Result<ParsedJobs, Diagnostic> {
    let (arguments, random_seed) = (given.arguments.clone(), given.random_seed);
    // The parser takes `Fn` closures, so they need interior mutability to record what they read.
    let inputs = RefCell::new(ParserInputs {
        cpu_count: line.cpu_count.max(1),
        memory_bytes: line.memory_bytes,
        // Fixed, because `CommandLine` has no page size.
        page_bytes: 4096,
        ..given
    });
    let surroundings = ParserEnvironment {
        read: &|name| {
            let bytes = line.files.read(name)?;
            // Only comments may contain other bytes, so replacing them changes no option.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            inputs.borrow_mut().files.insert(name.to_owned(), text);
            Ok(bytes)
        },
        variable: &|name| {
            let value = line.files.variable(name)?;
            let variable = (name.to_owned(), value.clone());
            inputs.borrow_mut().variables.extend([variable]);
            Some(value)
        },
        cpu_count: line.cpu_count.max(1),
        memory_bytes: line.memory_bytes,
        page_bytes: 4096,
        random_seed,
    };
    let read = read_arguments(&arguments, &surroundings)?;
    Ok((inputs.into_inner(), read))
}

fn text_of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    let inputs = origin.arguments.first().and_then(|it| ParserInputs::of(it));
    let read = inputs.and_then(|it| it.read().ok());
    // A record from another version may hold jobs that this one rejects. Its text then shows no
    // jobs.
    let (invocation, set) = read.unwrap_or_default();
    text::text(set, OutputOptions::from(&invocation))
}
