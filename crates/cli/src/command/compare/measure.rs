//! `compare --target A --target B`: measures both targets alternately, then compares them.

use std::cell::RefCell;
use std::path::Path;

use compare::{Comparison, ComparisonOptions, compare as compare_records, planned_differences};
use plan::Plan;
use planning::check_space_together;
use report::{ComparisonDocument, VerdictPosition};
use results::{RunEvent, Status, Warning};
use run::{Finished, RunOptions, RunSpec, measure_alternately};

use super::live::MergedRuns;
use super::{document, verdict};
use crate::args::{CompareArgs, CompareFormat, WorkloadArgs};
use crate::command::planned::{not_mounted, planned, toml_for_record};
use crate::failure::{CliError, Exit};
use crate::finished::saved;
use crate::input::{Input, input};
use crate::json::JsonOutput;
use crate::live::LiveDisplay;
use crate::output::{try_new, write_measured};
use crate::signals::{ResumeFlag, stop_flag};
use crate::stored::StoreLocation;

/// Default number of repetitions. Fewer give no confidence interval for percentiles.
const REPETITIONS_DEFAULT: &str = "5";

/// Measures two targets alternately, prints the comparison and stores both runs.
pub(super) fn measure(
    args: &CompareArgs,
    format: CompareFormat,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    try_new(args.output.as_deref())?;
    let json = args.json.open()?;
    json.has_destination_for_text(args.output.as_deref())?;
    let sides = sides(args)?;
    let plans = [&sides[0].plan, &sides[1].plan];
    refuse_incomparable_plans(plans, args.force)?;
    let paths = plans.iter().flat_map(|plan| &plan.targets);
    let paths: Vec<String> = paths
        .map(|it| it.path.to_string_lossy().into_owned())
        .collect();
    // Both targets may be on the same file system, which then needs room for both.
    check_space_together(&plans, &storage::system_facts(&paths, None))?;
    let continued = ResumeFlag::watch()?;
    let options = RunOptions {
        overwrite_devices: args.overwrite_device.clone(),
        create: args.measure.create,
        stop: stop_flag(on_second_interrupt)?,
        continued: continued.flag(),
        ..RunOptions::default()
    };
    let live = LiveDisplay::begin((args.quiet, args.display), &options, on_second_interrupt)?;
    let store = (!args.no_db).then_some(location);
    // Each run is saved, even if saving the other fails.
    let [a, b] = in_turn(sides, &options, store, live).map(|it| saved(it, json.stdout()));
    let ((a, is_stored_a), (b, is_stored_b)) = (a?, b?);
    if args.no_db {
        tell!("neither run was stored (`--no-db`)");
    } else if is_stored_a && is_stored_b {
        tell!("A is run {}, B is run {}", a.id, b.id);
    }
    let is_interrupted = [&a, &b].iter().any(|it| it.status == Status::Interrupted);
    let exits = [Exit::of_run(&a, is_stored_a), Exit::of_run(&b, is_stored_b)];
    let compared = compare_records(
        &[a],
        &[b],
        ComparisonOptions {
            force: args.force,
            // Repetitions of A and B alternated, so a drift of the machine affects both values of a
            // pair.
            paired: true,
        },
    );
    let comparison = match compared {
        Ok(comparison) => comparison,
        // There may be nothing to compare yet, but the results so far are stored.
        Err(_) if is_interrupted => {
            json.write(&ComparisonDocument::default())?;
            return Ok(Exit::Interrupted);
        }
        Err(error) => return Err(error.into()),
    };
    let comparisons = [comparison];
    present(&comparisons, args, (format, json))?;
    let verdict_exit = verdict(&comparisons, args);
    // A failed run makes the verdict doubtful, so its code comes first.
    let worst = exits.into_iter().find(|exit| *exit != Exit::Success);
    Ok(worst.unwrap_or(verdict_exit))
}

/// Prints the comparison and writes its document. An error in one does not prevent the other.
fn present(
    comparisons: &[Comparison],
    args: &CompareArgs,
    (format, json): (CompareFormat, JsonOutput),
) -> Result<(), CliError> {
    let output = args.output.as_deref();
    let shown = match json.has_destination_for_text(output)? {
        true => write_measured(
            output,
            &document(comparisons, &[], (format, VerdictPosition::Last), args),
            json.stdout(),
        ),
        false => Ok(()),
    };
    let written = json.write(&ComparisonDocument {
        comparisons,
        published: &[],
    });
    shown.and(written)
}

/// The plan of one of the two targets.
struct PlannedSide {
    plan: Plan,
    warnings: Vec<Warning>,
    workload_file: Option<String>,
}

/// Plans the same workloads and options for both targets.
fn sides(args: &CompareArgs) -> Result<[PlannedSide; 2], CliError> {
    let [a, b] = args.measure.target.as_slice() else {
        let message = format!(
            "`compare` measures two targets, not {}",
            args.measure.target.len()
        );
        let help = match args.measure.target.len() {
            ..2 => "write `compare --target A --target B WORKLOAD`; A and B may be the same",
            _ => "for more, write `pgmeter lab run WORKLOAD --fs path:A,path:B,path:C`",
        };
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    };
    Ok([side(args, a)?, side(args, b)?])
}

fn side(args: &CompareArgs, target: &Path) -> Result<PlannedSide, CliError> {
    // With `--target`, the positional arguments are workloads instead of runs.
    let names = args
        .runs
        .iter()
        .map(|name| name.to_string_lossy().into_owned());
    let mut workload = WorkloadArgs {
        workloads: names.collect(),
        options: args.measure.clone(),
        one_line: args.one_line.clone(),
    };
    workload.options.target = vec![target.to_owned()];
    let Input {
        workloads,
        warnings,
        mut overrides,
        ..
    } = input(&workload)?;
    let is_given = overrides.has("repetitions")
        || workloads
            .iter()
            .any(|workload| workload.repetitions.is_some());
    if !is_given {
        overrides.set("repetitions", REPETITIONS_DEFAULT)?;
    }
    let planned = planned(&workloads, &overrides, args.measure.create)?;
    let warnings = warnings.into_iter().chain(planned.warnings);
    let mount_warnings = not_mounted(&planned.plan, true);
    Ok(PlannedSide {
        warnings: warnings.map(Warning::from).chain(mount_warnings).collect(),
        workload_file: toml_for_record(&workloads, &overrides),
        plan: planned.plan,
    })
}

/// Refuses plans that cannot be compared, before any time is spent on measuring.
fn refuse_incomparable_plans([a, b]: [&Plan; 2], force: bool) -> Result<(), CliError> {
    let differences = planned_differences(a, b);
    let have_as_many = a.cells.len() == b.cells.len();
    // Even with `--force`, each cell of A needs a cell of B to alternate with.
    if have_as_many && (force || differences.is_empty()) {
        return Ok(());
    }
    let listed = differences.iter().take(5).map(|it| {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{} is `{}` and `{}`", it.what, text(&it.a), text(&it.b))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let message = format!("different things would be measured on the two targets: {listed}");
    let help = "make them the same, for example with `--size 1g`, or compare anyway with `--force`";
    Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
}

/// Runs both plans alternately, each into its own record, on one shared display.
fn in_turn(
    [a, b]: [PlannedSide; 2],
    options: &RunOptions,
    store: Option<&StoreLocation>,
    live: LiveDisplay,
) -> [Finished; 2] {
    // Both listeners run on this thread, one at a time, so the borrow never fails.
    let display = RefCell::new((live, MergedRuns::default()));
    let show = |side: usize, event: &RunEvent| {
        let (live, both) = &mut *display.borrow_mut();
        if let Some(event) = both.translate(side, event) {
            live.on_event(&event);
        }
    };
    let finished = measure_alternately(
        [
            RunSpec {
                plan: &a.plan,
                warnings: a.warnings,
                workload_file: a.workload_file,
                store: store.map(StoreLocation::open),
                listener: &mut |event| show(0, event),
            },
            RunSpec {
                plan: &b.plan,
                warnings: b.warnings,
                workload_file: b.workload_file,
                store: store.map(StoreLocation::open),
                listener: &mut |event| show(1, event),
            },
        ],
        options,
    );
    display.into_inner().0.finish();
    finished
}
