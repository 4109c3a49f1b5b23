//! `compare --target A --target B`: measures both in turn, then compares them.

use std::cell::RefCell;
use std::path::Path;

use compare::{Comparison, ComparisonOptions, compare as compare_records, planned_differences};
use plan::Plan;
use planning::{check_space_together, plan, wanted_targets};
use report::ComparisonDocument;
use results::{RunEvent, RunRecord, Status, Warning};
use run::{Finished, RunOptions, Turn, run_in_turn};

use super::live::Both;
use super::{document, verdict};
use crate::args::{CompareArgs, CompareFormat, WorkloadArgs};
use crate::bounds;
use crate::command::DEFAULT_TARGET;
use crate::command::mounts::put_back;
use crate::command::run::{exit, keeps, kept_toml, look_at, not_mounted, of_plan, tell_warnings};
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::json::JsonOutput;
use crate::keep::{Keeper, NotStored};
use crate::live::Live;
use crate::output::{try_new, write_measured};
use crate::rescue::rescue;
use crate::signals::{Continued, stop_flag};
use crate::stored::Place;
use crate::terminal::StandardOutput;

/// So often is measured where nobody says how often: fewer have no interval of percentiles.
const REPETITIONS_DEFAULT: &str = "5";

/// Measures two targets in turn, prints the comparison and stores both runs.
pub(super) fn measure(
    args: &CompareArgs,
    format: CompareFormat,
    place: &Place,
    at_once: fn() -> !,
) -> Result<Exit, Failure> {
    try_new(args.output.as_deref())?;
    let json = args.json.open()?;
    json.leaves_place_for(args.output.as_deref())?;
    let sides = sides(args)?;
    let plans = [&sides[0].plan, &sides[1].plan];
    refuse_different_things(plans, args.force)?;
    let paths = plans.iter().flat_map(|plan| &plan.targets);
    let paths: Vec<String> = paths
        .map(|it| it.path.to_string_lossy().into_owned())
        .collect();
    check_space_together(&plans, &target::system_facts(&paths, None))?;
    let continued = Continued::watch()?;
    let options = RunOptions {
        overwrite_devices: args.overwrite_device.clone(),
        create: args.measure.create,
        keep: keeps(plans[0]),
        command: std::env::args().collect(),
        stop: stop_flag(at_once)?,
        continued: continued.flag(),
        ..RunOptions::default()
    };
    let mut keepers = [(); 2].map(|()| Keeper::open(place, !args.no_db));
    let live = Live::begin((args.quiet, args.display), &options, at_once)?;
    let [finished_a, finished_b] = in_turn(&sides, &options, &mut keepers, live);
    let [keeper_a, keeper_b] = keepers;
    // Both are kept, whatever became of the other.
    let stdout = json.stdout();
    let [a, b] = [
        stored(finished_a, keeper_a, stdout),
        stored(finished_b, keeper_b, stdout),
    ];
    let ((a, stored_a), (b, stored_b)) = (a?, b?);
    if args.no_db {
        tell!("neither run was stored (`--no-db`)");
    } else if stored_a.is_none() && stored_b.is_none() {
        tell!("A is run {}, B is run {}", a.id, b.id);
    }
    let is_interrupted = [&a, &b].iter().any(|it| it.status == Status::Interrupted);
    let exits = [exit(&a, stored_a.is_none()), exit(&b, stored_b.is_none())];
    let compared = compare_records(
        &[a],
        &[b],
        ComparisonOptions {
            force: args.force,
            paired: true,
        },
    );
    let comparison = match compared {
        Ok(comparison) => comparison,
        // There is nothing to compare yet; what was measured is stored.
        Err(_) if is_interrupted => {
            json.write(&ComparisonDocument::default())?;
            return Ok(Exit::Interrupted);
        }
        Err(error) => return Err(error.into()),
    };
    let comparisons = [comparison];
    present(&comparisons, args, (format, json))?;
    let found = verdict(&comparisons, args);
    let worst = exits.into_iter().find(|exit| *exit != Exit::Measured);
    Ok(worst.unwrap_or(found))
}

/// Shows the comparison and writes its document, whatever of it fails.
fn present(
    comparisons: &[Comparison],
    args: &CompareArgs,
    (format, json): (CompareFormat, JsonOutput),
) -> Result<(), Failure> {
    let output = args.output.as_deref();
    let shown = match json.leaves_place_for(output)? {
        true => write_measured(
            output,
            &document(comparisons, &[], format, args),
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

/// One of the two.
struct Side {
    plan: Plan,
    warnings: Vec<Warning>,
    workload_file: Option<String>,
}

/// The plans of both targets, from the same workloads and options.
fn sides(args: &CompareArgs) -> Result<[Side; 2], Failure> {
    let [a, b] = args.measure.target.as_slice() else {
        let message = format!(
            "measuring in turn takes two targets, not {}",
            args.measure.target.len()
        );
        let help = "write `compare --target A --target B WORKLOAD`; A and B may be the same";
        return Err(Failure::new(Exit::Usage, message, Some(help.to_owned())));
    };
    Ok([side(args, a)?, side(args, b)?])
}

fn side(args: &CompareArgs, target: &Path) -> Result<Side, Failure> {
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
    let is_said = overrides.has("repetitions")
        || workloads
            .iter()
            .any(|workload| workload.repetitions.is_some());
    if !is_said {
        overrides.set("repetitions", REPETITIONS_DEFAULT)?;
    }
    let wanted = wanted_targets(&workloads, &overrides);
    bounds::admit(wanted.iter().map(Path::new))?;
    put_back(wanted.iter().map(Path::new))?;
    look_at(&wanted, &workloads, args.measure.create, &overrides)?;
    let facts = target::system_facts(&wanted, Some(DEFAULT_TARGET));
    let planned = plan(&workloads, &overrides, &facts)?;
    if let Some(refusal) = planned.refusals.into_iter().next() {
        return Err(refusal.into());
    }
    let warnings = warnings.into_iter().chain(planned.warnings).map(of_plan);
    let elsewhere = not_mounted(&planned.plan);
    tell_warnings(&elsewhere);
    Ok(Side {
        warnings: warnings.chain(elsewhere).collect(),
        workload_file: kept_toml(&workloads, &overrides),
        plan: planned.plan,
    })
}

/// Tells before hours are spent that the sides could not be compared.
fn refuse_different_things([a, b]: [&Plan; 2], force: bool) -> Result<(), Failure> {
    let differences = planned_differences(a, b);
    let have_as_many = a.cells.len() == b.cells.len();
    if have_as_many && (force || differences.is_empty()) {
        return Ok(());
    }
    let found = differences.iter().take(5).map(|it| {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        format!("{} is `{}` and `{}`", it.what, text(&it.a), text(&it.b))
    });
    let found = found.collect::<Vec<_>>().join(", ");
    let message = format!("different things would be measured on the two targets: {found}");
    let help = "make them the same, for example with `--size 1g`, or compare anyway with `--force`";
    Err(Failure::new(Exit::Usage, message, Some(help.to_owned())))
}

/// Runs both, each into its own record, and shows both on one display.
fn in_turn(
    sides: &[Side; 2],
    options: &RunOptions,
    keepers: &mut [Keeper; 2],
    live: Live,
) -> [Finished; 2] {
    let shown = RefCell::new((live, Both::default()));
    let [keeper_a, keeper_b] = keepers;
    let warnings = |side: &Side, keeper: &Keeper| -> Vec<Warning> {
        let own = side.warnings.iter().cloned();
        own.chain(keeper.doubts()).collect()
    };
    let (warnings_a, warnings_b) = (warnings(&sides[0], keeper_a), warnings(&sides[1], keeper_b));
    let mut hear_a = |event: &RunEvent| {
        keeper_a.hear(event);
        show(&shown, 0, event);
    };
    let mut hear_b = |event: &RunEvent| {
        keeper_b.hear(event);
        show(&shown, 1, event);
    };
    let turns = [
        Turn {
            plan: &sides[0].plan,
            warnings: warnings_a,
            workload_file: sides[0].workload_file.clone(),
            listener: &mut hear_a,
        },
        Turn {
            plan: &sides[1].plan,
            warnings: warnings_b,
            workload_file: sides[1].workload_file.clone(),
            listener: &mut hear_b,
        },
    ];
    let finished = run_in_turn(turns, options);
    shown.into_inner().0.finish();
    finished
}

fn show(shown: &RefCell<(Live, Both)>, side: usize, event: &RunEvent) {
    let (live, both) = &mut *shown.borrow_mut();
    if let Some(event) = both.heard(side, event) {
        live.hear(&event);
    }
}

/// The record of a run that is over and stored, or why it could not go on.
fn stored(
    mut finished: Finished,
    keeper: Keeper,
    stdout: StandardOutput,
) -> Result<(RunRecord, Option<NotStored>), Failure> {
    let began = finished.error.is_none() || !finished.record.cells.is_empty();
    let not_stored = keeper.finish(&mut finished.record).filter(|_| began);
    if let Some(not_stored) = &not_stored {
        not_stored.tell();
        rescue(&finished.record, Vec::new(), stdout);
    }
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok((finished.record, not_stored)),
    }
}
