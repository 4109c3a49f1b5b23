//! `as` for the programs of the table of fronts: measured and recorded as every run is, printed as
//! the program would have.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use crew::LeaderOptions;
use description::{Overrides, Workload};
use front::{
    ArgumentError, CommandLine, DifferenceKind, FileAccess, Front, FrontOrigin, FrontWork,
    MadePart, Placement, Refusal,
};
use results::{RunEvent, RunRecord, Status, Warning, WarningCode};
use run::{RunError, RunOptions, RunSpec};
use target::{InPlace, MadeDirectories};

use super::introduction::Introduction;
use super::printed::Printed;
use crate::args::DisplayArg;
use crate::command::planned::{not_mounted, planned};
use crate::command::team::{Part, Team};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::finished::saved;
use crate::live::Live;
use crate::signals::{Continued, stop_flag};
use crate::stored::Place;
use crate::terminal::{StandardOutput, Stream, print_document};
use crate::usage::not_understood;

const PROMISE: &str = "\
Files lie in a work directory \
of pgmeter below the directory that is named, and are removed at the end; those of some programs \
lie in the directory itself, as they would leave them. Existing files are left \
alone. The run is stored as every run is.";

/// Options of ours, before the program's own.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true)]
struct FrontArgs {
    /// List what is not as in the original, and run nothing
    #[arg(long)]
    differences: bool,
    /// Do not store this run
    #[arg(long)]
    no_db: bool,
    /// Print help
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// Its own arguments
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
    place: &Place,
    at_once: fn() -> !,
) -> Result<Exit, Failure> {
    let streams = match (front.text)(&FrontOrigin::default()).is_on_standard_error() {
        true => "What it prints comes to standard error, as all else does.",
        false => "What it prints comes to standard output, all else to standard error.",
    };
    let own = Introduction {
        name: front.name,
        title: front.title,
        promise: &format!("{streams} {PROMISE}"),
        usage: front.usage,
    };
    let args: FrontArgs = match own.read(args) {
        Ok(args) => args,
        Err(error) => return Ok(not_understood(error)),
    };
    let mut arguments = texts(&args.args)?;
    let Gathered { stop, mut team } = match gathered(front, &mut arguments, at_once)? {
        Ok(gathered) => gathered,
        Err(exit) => return Ok(exit),
    };
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    let facts = target::system_facts(&[], None);
    let line = CommandLine {
        arguments: &arguments,
        files: FileAccess::anywhere_with_pipes(),
        host: host.split('.').next().unwrap_or_default(),
        memory_bytes: facts.memory_bytes,
        cpu_count: facts.cpu_count.into(),
        has_ranks: team.is_some(),
        temporary: &std::env::temp_dir(),
    };
    let work = match front.work(&line) {
        Ok(work) => work,
        Err(error) => return not_work(front, error),
    };
    if args.differences {
        list(&work)?;
        return Ok(Exit::Measured);
    }
    tell_notes(front, &work);
    let printed = Printed::new(front.text_of(&origin(&work.cells)))?;
    super::raise_descriptor_limit();
    let store = (!args.no_db).then_some(place);
    let directories = Directories::ready(front.name, &work);
    let crew = (&stop, team.as_mut());
    let ended = directories.and_then(|it| measure(&work, (store, it), crew, printed, at_once));
    ended.map_err(|failure| {
        let mut failure = failure.with_helps(|help| front.own_help(help));
        failure.exit = work.error_code.map_or(failure.exit, Exit::Classic);
        failure
    })
}

/// What becomes of arguments that ask for no work.
fn not_work(front: &Front, error: ArgumentError) -> Result<Exit, Failure> {
    match error {
        ArgumentError::Arguments(message) => refused(&front.refusal(message)),
        ArgumentError::File(diagnostic) => Err(diagnostic.into()),
        ArgumentError::Ended(diagnostic, code) => {
            let mut failure = Failure::from(diagnostic);
            failure.exit = Exit::Classic(code);
            Err(failure)
        }
        ArgumentError::Refused(refusal) => refused(&refusal),
        ArgumentError::Printed(text) => {
            print_document(&Document::prose(text))?;
            Ok(Exit::Measured)
        }
    }
}

/// Who carries out the work.
struct Gathered {
    /// The flag that ends it.
    stop: Arc<AtomicBool>,
    /// Where there are several processes.
    team: Option<Team>,
}

/// The processes that a launcher of MPI has started, of whose number the program is told; how this
/// one ends where it has nothing left to do.
fn gathered(
    front: &Front,
    arguments: &mut Vec<String>,
    at_once: fn() -> !,
) -> Result<Result<Gathered, Exit>, Failure> {
    let Some(option) = front.ranks else {
        let stop = stop_flag(at_once)?;
        return Ok(Ok(Gathered { stop, team: None }));
    };
    let (part, stop) = Part::take(at_once)?;
    let team = match part {
        Part::Done(exit) => return Ok(Err(exit)),
        Part::First(first) => Some(Team::of_ranks(first, LeaderOptions::default(), &stop)?),
        Part::Alone => None,
    };
    if let Some(team) = &team {
        arguments.splice(0..0, [option.to_owned(), team.leader.ranks().to_string()]);
    }
    Ok(Ok(Gathered { stop, team }))
}

/// The arguments as text, which records keep.
///
/// # Errors
/// One that no record can keep.
pub(super) fn texts(args: &[OsString]) -> Result<Vec<String>, Failure> {
    let text = |arg: &OsString| match arg.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let message = format!("the argument `{}` is not UTF-8 text", arg.display());
            let help = Some("use names that are UTF-8".to_owned());
            Err(Failure::new(Exit::Usage, message, help))
        }
    };
    args.iter().map(text).collect()
}

pub(super) fn refused(refusal: &Refusal) -> Result<Exit, Failure> {
    if refusal.exit_code == 0 {
        print_document(&Document::prose(refusal.usage))?;
        return Ok(Exit::Measured);
    }
    Ok(super::refuse(refusal))
}

/// The differences, then the notes on this command line.
fn list(work: &FrontWork) -> Result<(), Failure> {
    let lines = work.differences.iter().map(|it| it.sentence() + "\n");
    let notes = work.warnings.iter().map(|it| format!("note: {it}\n"));
    print_document(&Document::prose(lines.chain(notes).collect::<String>()))
}

/// The notes, and one line where something differs. Scripts take any text on standard error for an
/// error, so only a terminal shows them; the record has them all.
fn tell_notes(front: &Front, work: &FrontWork) {
    if !Stream::Error.is_terminal() {
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

fn differing(work: &FrontWork) -> impl Iterator<Item = &front::Difference> {
    let all = work.differences.iter();
    all.filter(|it| it.kind == DifferenceKind::Differs)
}

fn measure(
    work: &FrontWork,
    (store, directories): (Option<&Place>, Directories),
    (stop, team): (&Arc<AtomicBool>, Option<&mut Team>),
    mut printed: Printed,
    at_once: fn() -> !,
) -> Result<Exit, Failure> {
    // Live figures would be in the way of what is printed there.
    let is_quiet = !Stream::Error.is_terminal() || printed.is_on(Stream::Error);
    let carried = carry_out(
        work,
        (store, directories),
        (stop, at_once, team),
        is_quiet,
        &mut |event| printed.hear(event),
    );
    printed.complain();
    if let Some(broken) = printed.broken() {
        return broken;
    }
    let (record, is_stored) = carried?;
    let own = printed.end(&record)?;
    if !printed.has_complained() {
        for failure in record.failures() {
            tell!("error: {}", failure.message);
        }
    }
    match (own, Exit::of_run(&record, is_stored)) {
        (Some(own), Exit::Measured) => Ok(own),
        (_, exit) => Ok(exit),
    }
}

/// Plans, runs and stores the work, until it is done or nobody hears of it any more; the record,
/// and whether it is in the store.
pub(super) fn carry_out(
    work: &FrontWork,
    (store, directories): (Option<&Place>, Directories),
    (stop, at_once, mut team): (&Arc<AtomicBool>, fn() -> !, Option<&mut Team>),
    is_quiet: bool,
    hear: &mut dyn FnMut(&RunEvent) -> bool,
) -> Result<(RunRecord, bool), Failure> {
    let mut overrides = overrides(&directories.paths)?;
    let planned = match &mut team {
        Some(team) => {
            overrides.set_ranks_of_all(team.leader.ranks());
            team.planned(&work.cells, &overrides, stop)?
        }
        None => planned(&work.cells, &overrides, false)?,
    };
    let continued = Continued::watch()?;
    let options = RunOptions {
        in_place: directories.in_place.clone(),
        status_interval_ns: work.status_interval_ns,
        stop: Arc::clone(stop),
        continued: continued.flag(),
        ..RunOptions::default()
    };
    let elsewhere = not_mounted(&planned.plan, Stream::Error.is_terminal());
    let of_front = work.warnings.iter();
    let of_front = of_front.map(|it| Warning::of_run(WarningCode::Plan, it));
    let differing = differing(work).map(|it| it.sentence());
    let differing = differing.map(|it| Warning::of_run(WarningCode::DiffersFromOriginal, it));
    let warnings = planned.warnings.into_iter().map(Warning::from);
    let warnings = warnings.chain(of_front).chain(differing).chain(elsewhere);
    let mut live = Live::begin((is_quiet, DisplayArg::Line), &options, at_once)?;
    let spec = RunSpec {
        plan: &planned.plan,
        warnings: warnings.collect(),
        workload_file: None,
        store: store.map(Place::open),
        listener: &mut |event| {
            live.hear(event);
            if !hear(event) {
                options.stop.store(true, Ordering::Relaxed);
            }
        },
    };
    let finished = run::measure(spec, &options, team.map(Team::as_crew));
    live.finish();
    let is_in_place = directories.in_place.is_some();
    if is_in_place && finished.error.is_none() && finished.record.status == Status::Complete {
        directories.made.keep();
    }
    // Standard output has the program's own text.
    saved(finished, StandardOutput::Taken)
}

/// Where files lie.
pub(super) struct Directories {
    paths: Vec<PathBuf>,
    in_place: Option<InPlace>,
    made: MadeDirectories,
}

impl Directories {
    /// Those that the work names, made where that is asked for and they are missing.
    pub fn ready(program: &str, work: &FrontWork) -> Result<Self, Failure> {
        let failed = |verb, path, source| RunError::File { verb, path, source };
        let Placement::InPlace {
            names,
            makes_directories,
        } = &work.placement
        else {
            let made = match work.made {
                MadePart::Nothing => Ok(MadeDirectories::default()),
                MadePart::Last => MadeDirectories::make_missing(&work.directories),
                MadePart::All => MadeDirectories::make_missing_with_parents(&work.directories),
            };
            return Ok(Self {
                paths: work.directories.clone(),
                in_place: None,
                made: made.map_err(|(path, source)| failed("make", path, source))?,
            });
        };
        let made = match makes_directories {
            true => MadeDirectories::make_missing(&work.directories)
                .map_err(|(path, source)| failed("make", path, source))?,
            false => MadeDirectories::default(),
        };
        let paths = work.directories.iter().map(|path| {
            let found = std::fs::symlink_metadata(path);
            match found.map(|found| found.is_symlink()) {
                // As the original, which knows of no links.
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
            made,
        })
    }
}

/// The directories that were named are the targets of all cells.
fn overrides(paths: &[PathBuf]) -> Result<Overrides, Failure> {
    let text = |path: &PathBuf| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            let message = format!("the target `{}` is not UTF-8 text", path.display());
            let help = Some("use a path that is UTF-8".to_owned());
            Err(Failure::new(Exit::Usage, message, help))
        }
    };
    let targets: Result<Vec<String>, Failure> = paths.iter().map(text).collect();
    let mut overrides = Overrides::new();
    overrides.set_targets(targets?);
    Ok(overrides)
}

pub(super) fn origin(cells: &[Workload]) -> FrontOrigin {
    let mut origins = cells.iter().filter_map(Workload::origin);
    origins.next().cloned().unwrap_or_default()
}
