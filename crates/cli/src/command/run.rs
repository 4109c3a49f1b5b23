//! `run`: measures, shows, and writes what was asked for.

use std::io::IsTerminal;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use display::{Asked, Display, Kind, Surroundings};
use report::{Format, render};
use results::{RunRecord, Status, Warning, WarningCode};
use run::RunOptions;
use workload::plan::Plan;
use workload::{Diagnostic, plan, wanted_targets};

use crate::args::{DisplayArg, RunArgs};
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::output::{OutputFile, is_stdout, no_color, page, print};
use crate::signals::stop_flag;

/// Without a target, a work directory is made in the current directory.
const DEFAULT_TARGET: &str = ".";

/// Measures what the arguments ask for; `at_once` is called at the second Ctrl-C.
pub(crate) fn run(args: &RunArgs, at_once: fn() -> !) -> Result<Exit, Failure> {
    let Input {
        workloads,
        warnings,
        overrides,
    } = input(&args.workload)?;
    let wanted = wanted_targets(&workloads, &overrides);
    look_at(&wanted)?;
    let facts = target::system_facts(&wanted, Some(DEFAULT_TARGET));
    let planned = plan(&workloads, &overrides, &facts)?;
    if let Some(refusal) = planned.refusals.into_iter().next() {
        return Err(refusal.into());
    }
    let outputs = Outputs::open(args)?;
    let stop = stop_flag(at_once)?;
    let options = RunOptions {
        overwrite_devices: args.overwrite_device.clone(),
        keep: keeps(&planned.plan),
        command: std::env::args().collect(),
        stop,
    };
    let warnings = warnings
        .into_iter()
        .chain(planned.warnings)
        .map(of_plan)
        .collect();
    let mut live = live(args)?;
    let stop = Arc::clone(&options.stop);
    let finished = run::run(&planned.plan, warnings, &options, &mut |event| {
        if live.on_event(event) != Asked::Nothing {
            stop.store(true, Ordering::Relaxed);
        }
    });
    live.finish();
    let began = finished.error.is_none() || !finished.record.cells.is_empty();
    outputs.write(&finished.record, args, began)?;
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok(exit(&finished.record)),
    }
}

/// Refuses what cannot be a target before the plan is made for it. Devices wait for the plan, which
/// tells whether they will be written.
fn look_at(wanted: &[String]) -> Result<(), Failure> {
    for path in wanted.iter().map(Path::new) {
        let is_device =
            std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_block_device());
        if !is_device {
            target::admit(path, &target::Permission::default())?;
        }
    }
    Ok(())
}

fn live(args: &RunArgs) -> Result<Display, Failure> {
    let kind = match args.display {
        _ if args.quiet => Kind::None,
        DisplayArg::Line => Kind::Line,
        DisplayArg::Full => Kind::Full,
        DisplayArg::None => Kind::None,
    };
    let surroundings = Surroundings {
        is_terminal: std::io::stderr().is_terminal(),
        no_color: no_color(),
    };
    Display::new(kind, surroundings)
        .map_err(|error| Failure::system("cannot use the terminal for live figures", &error))
}

fn keeps(plan: &Plan) -> bool {
    plan.settings
        .iter()
        .any(|setting| setting.key == "keep" && setting.value == "true")
}

/// A remark on the workload or the plan, as part of the record.
fn of_plan(diagnostic: Diagnostic) -> Warning {
    let place = match (diagnostic.file.as_str(), diagnostic.line) {
        ("", _) => String::new(),
        (file, Some(line)) => format!("{file}:{line}: "),
        (file, None) => format!("{file}: "),
    };
    let help = diagnostic
        .help
        .map(|help| format!("; {help}"))
        .unwrap_or_default();
    let message = format!("{place}{}{help}", diagnostic.message);
    Warning::of_run(WarningCode::Other("plan".to_owned()), message)
}

fn exit(record: &RunRecord) -> Exit {
    let errors = record.cells.iter().any(|cell| cell.total.errors > 0);
    let mismatch = |warning: &Warning| warning.code == WarningCode::VerifyMismatch;
    match record.status {
        Status::Interrupted => Exit::Interrupted,
        Status::Failed => Exit::System,
        Status::Complete if errors || record.warnings.iter().any(mismatch) => Exit::Failed,
        Status::Complete => Exit::Measured,
    }
}

/// The files that were asked for.
struct Outputs {
    json: Option<OutputFile>,
    csv: Option<OutputFile>,
}

impl Outputs {
    fn open(args: &RunArgs) -> Result<Self, Failure> {
        let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_stdout);
        if to_stdout(&args.json) && to_stdout(&args.csv) {
            let message = "`--json -` and `--csv -` both want standard output";
            let help = Some("give one of them a file name".to_owned());
            return Err(Failure::new(Exit::Usage, message, help));
        }
        let open = |path: &Option<PathBuf>| {
            let path = path.as_deref().filter(|path| !is_stdout(path));
            path.map(OutputFile::create).transpose()
        };
        Ok(Self {
            json: open(&args.json)?,
            csv: open(&args.csv)?,
        })
    }

    /// Writes the files and prints the results; where a document was asked for on standard
    /// output, the results go to standard error.
    fn write(self, record: &RunRecord, args: &RunArgs, began: bool) -> Result<(), Failure> {
        let to_stdout = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_stdout);
        if let Some(file) = self.json {
            file.finish(&record.to_json())?;
        }
        if let Some(file) = self.csv {
            file.finish(&render(
                record,
                Format::IometerCsv,
                page(&std::io::stderr()),
            ))?;
        }
        if to_stdout(&args.json) {
            print(&record.to_json())?;
        } else if to_stdout(&args.csv) {
            print(&render(
                record,
                Format::IometerCsv,
                page(&std::io::stderr()),
            ))?;
        } else if began {
            return print(&render(record, Format::Text, page(&std::io::stdout())));
        }
        if began && !args.quiet {
            eprint!("{}", render(record, Format::Text, page(&std::io::stderr())));
        }
        Ok(())
    }
}
