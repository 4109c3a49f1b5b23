//! All checks of the project, in lanes. The last line has the numbers of passed and failed tests.

mod binaries;
mod browser;
mod lane;
mod mpi;
mod output;
mod parallel;
mod setup;

use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::package;
use crate::workspace;
use binaries::Binaries;
pub use browser::make_pages;
use lane::{LANES, LaneAction, Select, TestLane};
use output::{Show, TestTally};
use parallel::{LaneJob, LaneTotals};
pub use setup::is_on_path;

/// Runs the named lanes, or all of them.
pub fn run(names: &[&str]) -> Result<(), Failure> {
    let lanes = choose(names)?;
    for note in setup::prepare() {
        println!("{note}");
    }
    let start = Instant::now();
    let needs_release = lanes.iter().any(|lane| lane.needs_release());
    let mut binaries = Binaries::new(needs_release)?;
    let mut total = TestTally::default();
    let are_together =
        |one: &&TestLane, next: &&TestLane| one.runs_in_parallel() && next.runs_in_parallel();
    // Only neighbors run together, so the order of the lanes is kept.
    for together in lanes.chunk_by(are_together) {
        let names: Vec<&str> = together.iter().map(|lane| lane.name).collect();
        println!("\n=== {} ===", names.join(", "));
        let begun = Instant::now();
        for (lane, sum) in together.iter().zip(run_lanes(together, &mut binaries)?) {
            total.add(lane.name, ended(lane, sum, together.len() > 1));
        }
        if together.len() > 1 {
            println!("--- together {:.0} s", begun.elapsed().as_secs_f64());
        }
    }
    end_to_end::sweep();
    report(&total, start.elapsed().as_secs_f64())
}

fn choose(names: &[&str]) -> Result<Vec<&'static TestLane>, Failure> {
    if names.is_empty() {
        return Ok(LANES.iter().collect());
    }
    let find = |name: &&str| {
        LANES.iter().find(|lane| lane.name == *name).ok_or_else(|| {
            let choices: Vec<&str> = LANES.iter().map(|lane| lane.name).collect();
            Failure::Usage(format!(
                "unknown lane `{name}`; there are {}",
                choices.join(", ")
            ))
        })
    };
    names.iter().map(find).collect()
}

/// Prints a lane's result, and returns its tally.
fn ended(lane: &TestLane, sum: LaneTotals, runs_in_parallel: bool) -> TestTally {
    let LaneTotals { mut tally, time } = sum;
    // Other machines may lack programs or rights, so that skipping is normal there.
    if workspace::is_ci() {
        tally.failures.extend(lane.missing(&tally));
    }
    let suffix = if runs_in_parallel {
        " in parallel with others"
    } else {
        ""
    };
    println!(
        "--- {}: {tally}, {:.0} s{suffix}",
        lane.name,
        time.as_secs_f64()
    );
    tally
}

/// Runs lanes in parallel.
fn run_lanes(lanes: &[&TestLane], binaries: &mut Binaries) -> Result<Vec<LaneTotals>, Failure> {
    let begun = Instant::now();
    let sum = |tally, time| vec![LaneTotals { tally, time }];
    if let [lane] = lanes
        && let Some(tally) = run_check(lane)?
    {
        return Ok(sum(tally, begun.elapsed()));
    }
    if let Err(failure) = build(lanes, binaries) {
        // The compiler has printed the reason; the other lanes still run.
        let failed = || LaneTotals {
            tally: TestTally::failed(&failure.to_string()),
            time: Duration::ZERO,
        };
        return Ok(lanes.iter().map(|_| failed()).collect());
    }
    let built = &*binaries;
    let numbered = lanes.iter().enumerate();
    let jobs = numbered.flat_map(|(index, lane)| jobs(index, lane, built));
    let mut sums = parallel::run(jobs.collect(), lanes.len())?;
    if let [sum] = &mut sums[..] {
        // Includes the time of the build.
        sum.time = begun.elapsed();
    }
    Ok(sums)
}

/// Runs a lane without test programs.
fn run_check(lane: &TestLane) -> Result<Option<TestTally>, Failure> {
    let tally = match lane.kind {
        LaneAction::Cargo(arguments) => {
            let mut command = workspace::cargo();
            command.args(arguments);
            output::run_check(lane.name, &mut command)?
        }
        LaneAction::Check(check) => match check() {
            Ok(()) => TestTally {
                passed_count: 1,
                ..TestTally::default()
            },
            Err(failure) => {
                println!("{failure}");
                TestTally::failed(&format!("{}: {failure}", lane.name))
            }
        },
        LaneAction::DocTests => {
            let mut command = workspace::cargo();
            command.args(["test", "--workspace", "--doc", "--", "--show-output"]);
            output::run_tests("doc tests", &mut command, &mut |line| println!("{line}"))?
        }
        _ => return Ok(None),
    };
    Ok(Some(tally))
}

/// Builds the test programs, and waits for the program that end-to-end tests run.
fn build(lanes: &[&TestLane], binaries: &mut Binaries) -> Result<(), Failure> {
    binaries.build()?;
    match lanes.iter().any(|lane| lane.needs_release()) {
        true => binaries.await_release(),
        false => Ok(()),
    }
}

/// Jobs of a lane with test programs.
fn jobs<'a>(index: usize, lane: &'a TestLane, built: &'a Binaries) -> Vec<LaneJob<'a>> {
    let jobs_of = |selects: Select| {
        let to_job = |test: &'a binaries::TestProgram| {
            let name = format!("{}: {}", lane.name, test.name);
            LaneJob::new(index, &name, move |show: Show<'_>| {
                built.run(test, None, show)
            })
        };
        built.selected(selects).into_iter().map(to_job)
    };
    match lane.kind {
        LaneAction::Crates => jobs_of(Select::Crates).collect(),
        LaneAction::ParallelTests(selects) => jobs_of(selects).collect(),
        _ => vec![LaneJob::new(index, lane.name, |show| {
            one_by_one(lane, built, show)
        })],
    }
}

/// Runs a lane whose test programs disturb each other.
fn one_by_one(lane: &TestLane, built: &Binaries, show: Show<'_>) -> Result<TestTally, Failure> {
    match lane.kind {
        LaneAction::Tests(selects) => built.run_all(selects, None, show),
        LaneAction::Browser => browser::run(show),
        LaneAction::Package(selects) => match package::build(package::PackageCompression::Test) {
            Ok(packages) => built.run_all(selects, Some(("PGMETER_PACKAGES", &packages)), show),
            // A missing tool is a reason to skip; a failing one is a failure.
            Err(missing @ (Failure::Start { .. } | Failure::Missing(_))) => {
                Ok(TestTally::skipped(&missing.to_string(), show))
            }
            Err(failure) => Ok(TestTally::failed(&failure.to_string())),
        },
        LaneAction::Mpi(selects) => {
            let wheel = mpi::wheel();
            if let Err(reason) = &wheel {
                show(&format!("note: {reason}; its tests are skipped"));
            }
            let variable = wheel.as_deref().ok().map(|it| (mpi::WHEEL_VARIABLE, it));
            built.run_all(selects, variable, show)
        }
        _ => Ok(TestTally::default()),
    }
}

/// Prints skipped and failed tests; the last line has the counts.
fn report(total: &TestTally, seconds: f64) -> Result<(), Failure> {
    println!("\n{seconds:.0} s in total");
    for skip in &total.skips {
        println!("skipped: {skip}");
    }
    for failure in &total.failures {
        println!("failed: {failure}");
    }
    println!("{total}");
    match total.failures.len() {
        0 => Ok(()),
        _ => Err(Failure::TestsFailed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_chosen_by_name() {
        assert_eq!(choose(&["tidy"]).unwrap().len(), 1);
        assert_eq!(choose(&[]).unwrap().len(), LANES.len());
        let failure = choose(&["tity"]).err().map(|failure| failure.to_string());
        assert!(failure.is_some_and(|text| text.contains("unknown lane `tity`")));
    }
}
