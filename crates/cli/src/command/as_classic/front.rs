//! `as` for the programs in the table of fronts. pgmeter measures and records them like any other
//! run, and prints the text of the original.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use cluster::LeaderOptions;
use description::{Overrides, Workload};
use engine::SemaphoreSet;
use front::{
    ArgumentError, CommandLine, CreateMissing, DifferenceKind, FileAccess, FilePlacement, Front,
    FrontOrigin, FrontWork, OriginalDifference, Refusal, SemaphoreTask,
};
use results::{RunEvent, RunRecord, Status, Warning, WarningCode};
use run::{RunError, RunOptions, RunSpec};
use storage::{CreatedDirectories, InPlace};

use super::introduction::ProgramHelp;
use super::printed::EmulatedOutput;
use crate::args::DisplayArg;
use crate::command::cluster::{RankRole, StartedCluster};
use crate::command::planned::{not_mounted, planned};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::finished::saved;
use crate::live::LiveDisplay;
use crate::signals::{ResumeFlag, stop_flag};
use crate::stored::StoreLocation;
use crate::terminal::{OutputStream, StandardOutput, print_document};
use crate::usage::print_usage_error;

const STORE_HELP: &str =
    "pgmeter does not change other files, and stores the run like any other run.";

/// pgmeter's own options, which precede the program's options.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true)]
struct FrontArgs {
    /// List deviations from the original, and run nothing
    #[arg(long)]
    differences: bool,
    /// Do not store this run
    #[arg(long)]
    no_db: bool,
    /// Print help
    // There is no `-h`, because several of the programs use it themselves.
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Arguments of the program
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

/// Runs the program to its end.
pub(super) fn run(
    front: &'static Front,
    args: Vec<OsString>,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let streams = match (front.text)(&FrontOrigin::default()).is_on_standard_error() {
        true => "Its output goes to standard error, like all other messages.",
        false => "Its output goes to standard output, all other messages to standard error.",
    };
    let own = ProgramHelp {
        name: front.name,
        title: front.title,
        details: &format!("{streams} {} {STORE_HELP}", front.files_help),
        usage: front.usage,
    };
    let args: FrontArgs = match own.read(args) {
        Ok(args) => args,
        Err(error) => return Ok(print_usage_error(error)),
    };
    let mut arguments = texts(&args.args)?;
    let RunCluster {
        stop,
        cluster: mut team,
    } = match gathered(front, &mut arguments, on_second_interrupt)? {
        Ok(gathered) => gathered,
        Err(exit) => return Ok(exit),
    };
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let facts = storage::system_facts(&[], None);
    let line = CommandLine {
        arguments: &arguments,
        files: FileAccess::anywhere_with_pipes(),
        host: host.split('.').next().unwrap_or_default(),
        memory_bytes: facts.memory_bytes,
        cpu_count: facts.cpu_count.into(),
        has_ranks: team.is_some(),
        temp_dir: &std::env::temp_dir(),
    };
    let work = front.work(&line);
    // Without arguments, the list is not about a run, so a program that needs some has it, too.
    let has_work = work.is_ok() || matches!(work, Err(ArgumentError::Semaphores(_)));
    if args.differences && (has_work || args.args.is_empty()) {
        list(front, work.as_ref().ok())?;
        return Ok(Exit::Success);
    }
    let work = match work {
        Ok(work) => work,
        Err(error) => return exit_without_work(front, error),
    };
    print_notes(front, &work);
    // A log file that cannot be opened must be reported before the run.
    let printed = EmulatedOutput::new(front.text_of(&origin(&work.cells)))?;
    super::raise_descriptor_limit();
    let store = (!args.no_db).then_some(location);
    let directories = Directories::ready(front.name, &work);
    let cluster = (&stop, team.as_mut());
    let outcome = directories
        .and_then(|it| measure(&work, (store, it), cluster, printed, on_second_interrupt));
    outcome.map_err(|failure| {
        let mut failure = failure.with_helps(|help| match work.own_helps.find(help) {
            Some(own) => own.to_owned(),
            None => front.adapt_help(help),
        });
        // Scripts expect the original's code for errors, such as fio's 1 and IOR's 255.
        failure.exit = work.error_code.map_or(failure.exit, Exit::Classic);
        failure
    })
}

/// Handles arguments that request no work.
fn exit_without_work(front: &Front, error: ArgumentError) -> Result<Exit, CliError> {
    match error {
        ArgumentError::Arguments(message) => refused(&front.refusal(message)),
        ArgumentError::File(diagnostic) => Err(diagnostic.into()),
        ArgumentError::FileWithCode(diagnostic, code) => {
            let mut failure = CliError::from(diagnostic);
            failure.exit = Exit::Classic(code);
            Err(failure)
        }
        ArgumentError::Refused(refusal) => refused(&refusal),
        ArgumentError::PrintOnly(text) => {
            print_document(&OutputText::prose(text))?;
            Ok(Exit::Success)
        }
        ArgumentError::Semaphores(task) => set_semaphores(task),
    }
}

/// Creates or removes semaphores.
fn set_semaphores(task: SemaphoreTask) -> Result<Exit, CliError> {
    let key = task.key;
    let (verb, outcome) = match task.processes {
        Some(processes) => {
            let created = SemaphoreSet::create(key, task.count, processes);
            ("create", created.map(drop))
        }
        None => (
            "remove",
            SemaphoreSet::open(key).and_then(SemaphoreSet::remove),
        ),
    };
    if let Err(error) = outcome {
        let message = format!("cannot {verb} the semaphores with the key {key}: {error}");
        // The original's exit code.
        return Err(CliError::new(Exit::Classic(1), message, None));
    }
    print_document(&OutputText::prose(task.text))?;
    Ok(Exit::Success)
}

/// The processes that carry out the work.
struct RunCluster {
    /// Stops the run when set.
    stop: Arc<AtomicBool>,
    /// `None` for a single process.
    cluster: Option<StartedCluster>,
}

/// Joins the processes that an MPI launcher has started, and passes their number to the program.
/// Returns the exit status instead if this process has nothing left to do.
fn gathered(
    front: &Front,
    arguments: &mut Vec<String>,
    on_second_interrupt: fn() -> !,
) -> Result<Result<RunCluster, Exit>, CliError> {
    let Some(option) = front.ranks else {
        let stop = stop_flag(on_second_interrupt)?;
        return Ok(Ok(RunCluster {
            stop,
            cluster: None,
        }));
    };
    let (part, stop) = RankRole::take(on_second_interrupt)?;
    let cluster = match part {
        RankRole::Done(exit) => return Ok(Err(exit)),
        RankRole::First(first) => Some(StartedCluster::of_ranks(
            first,
            LeaderOptions::default(),
            &stop,
        )?),
        RankRole::Standalone => None,
    };
    if let Some(cluster) = &cluster {
        arguments.splice(
            0..0,
            [option.to_owned(), cluster.leader.ranks().to_string()],
        );
    }
    Ok(Ok(RunCluster { stop, cluster }))
}

/// Returns the arguments as text, for the record.
///
/// # Errors
/// If an argument is not UTF-8.
pub(super) fn texts(args: &[OsString]) -> Result<Vec<String>, CliError> {
    let text = |arg: &OsString| match arg.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let message = format!("the argument `{}` is not UTF-8 text", arg.display());
            let help = Some("use names that are UTF-8".to_owned());
            Err(CliError::new(Exit::Usage, message, help))
        }
    };
    args.iter().map(text).collect()
}

pub(super) fn refused(refusal: &Refusal) -> Result<Exit, CliError> {
    if refusal.exit_code == 0 {
        print_document(&OutputText::prose(refusal.usage))?;
        return Ok(Exit::Success);
    }
    Ok(super::refuse(refusal))
}

/// Prints the differences of this command line, or all known ones if there is none. The options
/// that are refused and the notes on this command line follow.
fn list(front: &Front, work: Option<&FrontWork>) -> Result<(), CliError> {
    let own = work.map_or(&[][..], |it| &it.differences);
    let general = (front.general_differences)();
    let is_listed = |it: &&OriginalDifference| work.is_none() || it.kind == DifferenceKind::Refused;
    let others = general.iter().filter(is_listed);
    let lines = own.iter().chain(others).map(|it| it.sentence() + "\n");
    let notes = work.iter().flat_map(|it| &it.warnings);
    let notes = notes.map(|it| format!("note: {it}\n"));
    print_document(&OutputText::prose(lines.chain(notes).collect::<String>()))
}

/// Prints the notes, and one line if something differs from the original. Only on a terminal,
/// because scripts treat any text on standard error as an error. The record has all of them.
fn print_notes(front: &Front, work: &FrontWork) {
    if !OutputStream::Error.is_terminal() {
        return;
    }
    for warning in &work.warnings {
        tell!("warning: {warning}");
    }
    let count = differing(work).count();
    let things = match count {
        0 => return,
        1 => "1 thing differs".to_owned(),
        count => format!("{count} things differ"),
    };
    tell!(
        "{things} from {}; `--differences` lists them",
        front.version
    );
}

fn differing(work: &FrontWork) -> impl Iterator<Item = &OriginalDifference> {
    let all = work.differences.iter();
    all.filter(|it| it.kind == DifferenceKind::Differs)
}

fn measure(
    work: &FrontWork,
    (store, directories): (Option<&StoreLocation>, Directories),
    (stop, team): (&Arc<AtomicBool>, Option<&mut StartedCluster>),
    mut printed: EmulatedOutput,
    at_once: fn() -> !,
) -> Result<Exit, CliError> {
    // Live results would be mixed up with the program's own text on that stream.
    let is_quiet = !OutputStream::Error.is_terminal() || printed.is_on(OutputStream::Error);
    let carried = carry_out(
        work,
        (store, directories),
        (stop, at_once, team),
        is_quiet,
        &mut |event| printed.on_event(event),
    );
    printed.complain();
    if let Some(broken) = printed.broken() {
        return broken;
    }
    let (record, is_stored) = carried?;
    let own = printed.end(&record)?;
    // The program's own complaints already name the failures.
    if !printed.has_complained() {
        for failure in record.failures() {
            tell!("error: {}", failure.message);
        }
    }
    match (own, Exit::of_run(&record, is_stored)) {
        // Failures that pgmeter found outrank the program's own exit code.
        (Some(own), Exit::Success) => Ok(own),
        (_, exit) => Ok(exit),
    }
}

/// Plans, runs and stores the work, until it is done or its output is closed. Returns the record
/// and `true` if it is stored.
pub(super) fn carry_out(
    work: &FrontWork,
    (store, directories): (Option<&StoreLocation>, Directories),
    (stop, at_once, mut team): (&Arc<AtomicBool>, fn() -> !, Option<&mut StartedCluster>),
    is_quiet: bool,
    on_event: &mut dyn FnMut(&RunEvent) -> bool,
) -> Result<(RunRecord, bool), CliError> {
    let mut overrides = overrides(&directories.paths)?;
    let planned = match &mut team {
        Some(team) => {
            overrides.set_ranks_of_all(team.leader.ranks());
            team.planned(&work.cells, &overrides, stop)?
        }
        None => planned(&work.cells, &overrides, false)?,
    };
    let continued = ResumeFlag::watch()?;
    let options = RunOptions {
        in_place: directories.in_place.clone(),
        status_interval_ns: work.status_interval_ns,
        stop: Arc::clone(stop),
        continued: continued.flag(),
        ..RunOptions::default()
    };
    // Scripts treat any text on standard error as an error; the record has the warning anyway.
    let mount_warnings = not_mounted(&planned.plan, OutputStream::Error.is_terminal());
    let front_warnings = work.warnings.iter();
    let front_warnings = front_warnings.map(|it| Warning::of_run(WarningCode::Plan, it));
    let differing = differing(work).map(|it| it.sentence());
    let differing = differing.map(|it| Warning::of_run(WarningCode::DiffersFromOriginal, it));
    let warnings = planned.warnings.into_iter().map(Warning::from);
    let warnings = warnings
        .chain(front_warnings)
        .chain(differing)
        .chain(mount_warnings);
    let mut live = LiveDisplay::begin((is_quiet, DisplayArg::Line), &options, at_once)?;
    let spec = RunSpec {
        plan: &planned.plan,
        warnings: warnings.collect(),
        workload_file: None,
        store: store.map(StoreLocation::open),
        listener: &mut |event| {
            live.on_event(event);
            if !on_event(event) {
                options.stop.store(true, Ordering::Relaxed);
            }
        },
    };
    let finished = run::measure(spec, &options, team.map(StartedCluster::as_cluster));
    live.finish();
    let is_in_place = directories.in_place.is_some();
    if is_in_place && finished.error.is_none() && finished.record.status == Status::Complete {
        // The original leaves its files there. In all other cases, dropping removes the
        // directories.
        directories.created.keep();
    }
    // Standard output carries the text of the program.
    saved(finished, StandardOutput::Taken)
}

/// Directories for the files of the run.
pub(super) struct Directories {
    paths: Vec<PathBuf>,
    in_place: Option<InPlace>,
    created: CreatedDirectories,
}

impl Directories {
    /// Opens the directories of the work, and creates missing ones if the program does so.
    pub fn ready(program: &str, work: &FrontWork) -> Result<Self, CliError> {
        let failed = |verb, path, source| RunError::File { verb, path, source };
        let FilePlacement::InPlace {
            names,
            makes_directories,
        } = &work.placement
        else {
            let created = match work.create_missing {
                CreateMissing::None => Ok(CreatedDirectories::default()),
                CreateMissing::Last => CreatedDirectories::make_missing(&work.directories),
                CreateMissing::All => {
                    CreatedDirectories::make_missing_with_parents(&work.directories)
                }
            };
            return Ok(Self {
                paths: work.directories.clone(),
                in_place: None,
                created: created.map_err(|(path, source)| failed("make", path, source))?,
            });
        };
        let created = match makes_directories {
            true => CreatedDirectories::make_missing(&work.directories)
                .map_err(|(path, source)| failed("make", path, source))?,
            false => CreatedDirectories::default(),
        };
        let paths = work.directories.iter().map(|path| {
            let metadata = std::fs::symlink_metadata(path);
            match metadata.map(|metadata| metadata.is_symlink()) {
                // The original program follows symbolic links, too.
                // `target` itself refuses links.
                Ok(true) => std::fs::canonicalize(path),
                Ok(false) => Ok(path.clone()),
                Err(error) => Err(error),
            }
            .map_err(|source| failed("open", path.clone(), source))
        });
        let paths: Result<Vec<PathBuf>, RunError> = paths.collect();
        Ok(Self {
            paths: paths?,
            in_place: Some(InPlace {
                program: program.to_owned(),
                names: names.clone(),
            }),
            created,
        })
    }
}

/// Makes the directories the targets of all cells.
fn overrides(paths: &[PathBuf]) -> Result<Overrides, CliError> {
    let text = |path: &PathBuf| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let message = format!("the target `{}` is not UTF-8 text", path.display());
            let help = Some("use a path that is UTF-8".to_owned());
            Err(CliError::new(Exit::Usage, message, help))
        }
    };
    let targets: Result<Vec<String>, CliError> = paths.iter().map(text).collect();
    let mut overrides = Overrides::new();
    overrides.set_targets(targets?);
    Ok(overrides)
}

pub(super) fn origin(cells: &[Workload]) -> FrontOrigin {
    let mut origins = cells.iter().filter_map(Workload::origin);
    origins.next().cloned().unwrap_or_default()
}
