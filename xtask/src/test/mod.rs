//! Every check of the project, in lanes; the last line counts what passed and failed.

mod beside;
mod binaries;
mod browser;
mod lane;
mod mpi;
mod output;
mod setup;

use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::package;
use crate::workspace;
use beside::{Job, Sum};
use binaries::Binaries;
pub use browser::make_pages;
use lane::{Kind, LANES, Lane, Select};
use output::{Show, Tally};
pub use setup::is_on_path;

/// Runs the lanes named, or all of them.
pub fn run(names: &[&str]) -> Result<(), Failure> {
    let lanes = choose(names)?;
    for note in setup::prepare() {
        println!("{note}");
    }
    let start = Instant::now();
    let needs_release = lanes.iter().any(|lane| lane.needs_release());
    let mut binaries = Binaries::new(needs_release);
    let mut total = Tally::default();
    let are_together =
        |one: &&Lane, next: &&Lane| one.is_beside_others() && next.is_beside_others();
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

fn choose(names: &[&str]) -> Result<Vec<&'static Lane>, Failure> {
    if names.is_empty() {
        return Ok(LANES.iter().collect());
    }
    let find = |name: &&str| {
        LANES.iter().find(|lane| lane.name == *name).ok_or_else(|| {
            let known: Vec<&str> = LANES.iter().map(|lane| lane.name).collect();
            Failure::Usage(format!(
                "unknown lane `{name}`; there are {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(find).collect()
}

/// Says what a lane came to, and returns its count.
fn ended(lane: &Lane, sum: Sum, is_beside_others: bool) -> Tally {
    let Sum { mut tally, time } = sum;
    if workspace::is_ci() {
        tally.failures.extend(lane.missing(&tally));
    }
    let how = if is_beside_others {
        " beside others"
    } else {
        ""
    };
    println!(
        "--- {}: {tally}, {:.0} s{how}",
        lane.name,
        time.as_secs_f64()
    );
    tally
}

/// Runs lanes beside each other.
fn run_lanes(lanes: &[&Lane], binaries: &mut Binaries) -> Result<Vec<Sum>, Failure> {
    let begun = Instant::now();
    let sum = |tally, time| vec![Sum { tally, time }];
    if let [lane] = lanes
        && let Some(tally) = run_check(lane)?
    {
        return Ok(sum(tally, begun.elapsed()));
    }
    if let Err(failure) = build(lanes, binaries) {
        // The compiler has said why; the other lanes still run.
        let failed = || Sum {
            tally: Tally::failed(&failure.to_string()),
            time: Duration::ZERO,
        };
        return Ok(lanes.iter().map(|_| failed()).collect());
    }
    let built = &*binaries;
    let numbered = lanes.iter().enumerate();
    let jobs = numbered.flat_map(|(index, lane)| jobs(index, lane, built));
    let mut sums = beside::run(jobs.collect(), lanes.len())?;
    if let [sum] = &mut sums[..] {
        // With what was built for it.
        sum.time = begun.elapsed();
    }
    Ok(sums)
}

/// Runs a lane that has no test programs.
fn run_check(lane: &Lane) -> Result<Option<Tally>, Failure> {
    let tally = match lane.kind {
        Kind::Cargo(arguments) => {
            let mut command = workspace::cargo();
            command.args(arguments);
            output::run_check(lane.name, &mut command)?
        }
        Kind::Own(check) => match check() {
            Ok(()) => Tally {
                passed_count: 1,
                ..Tally::default()
            },
            Err(failure) => {
                println!("{failure}");
                Tally::failed(&format!("{}: {failure}", lane.name))
            }
        },
        Kind::DocTests => {
            let mut command = workspace::cargo();
            command.args(["test", "--workspace", "--doc", "--", "--show-output"]);
            output::run_tests("doc tests", &mut command, &mut |line| println!("{line}"))?
        }
        _ => return Ok(None),
    };
    Ok(Some(tally))
}

/// Builds the test programs, and waits for the one that those from end to end run.
fn build(lanes: &[&Lane], binaries: &mut Binaries) -> Result<(), Failure> {
    binaries.build()?;
    match lanes.iter().any(|lane| lane.needs_release()) {
        true => binaries.await_release(),
        false => Ok(()),
    }
}

/// What a lane of test programs does.
fn jobs<'a>(index: usize, lane: &'a Lane, built: &'a Binaries) -> Vec<Job<'a>> {
    let each = |selects: Select| {
        let of_test = |test: &'a binaries::TestProgram| {
            let name = format!("{}: {}", lane.name, test.name);
            Job::new(index, &name, move |show: Show<'_>| {
                built.run(test, None, show)
            })
        };
        built.selected(selects).into_iter().map(of_test)
    };
    match lane.kind {
        Kind::Crates => each(Select::Crates).collect(),
        Kind::TestsBeside(selects) => each(selects).collect(),
        _ => vec![Job::new(index, lane.name, |show| {
            one_by_one(lane, built, show)
        })],
    }
}

/// Runs a lane whose test programs are in each other's way.
fn one_by_one(lane: &Lane, built: &Binaries, show: Show<'_>) -> Result<Tally, Failure> {
    match lane.kind {
        Kind::Tests(selects) => built.run_all(selects, None, show),
        Kind::Browser => browser::run(show),
        Kind::Package(selects) => match package::build(package::Effort::Test) {
            Ok(packages) => built.run_all(selects, Some(("PGMETER_PACKAGES", &packages)), show),
            Err(missing @ (Failure::Start { .. } | Failure::Missing(_))) => {
                Ok(Tally::skipped(&missing.to_string(), show))
            }
            Err(failure) => Ok(Tally::failed(&failure.to_string())),
        },
        Kind::Mpi(selects) => {
            let wheel = mpi::wheel();
            if let Err(reason) = &wheel {
                show(&format!("note: {reason}; its tests are skipped"));
            }
            let told = wheel.as_deref().ok().map(|it| (mpi::WHEEL_VARIABLE, it));
            built.run_all(selects, told, show)
        }
        _ => Ok(Tally::default()),
    }
}

/// Prints what was skipped and what failed; the last line is the count.
fn report(total: &Tally, seconds: f64) -> Result<(), Failure> {
    println!("\n{seconds:.0} s in all");
    for skip in &total.skips {
        println!("skipped: {skip}");
    }
    for failure in &total.failures {
        println!("failed: {failure}");
    }
    println!("{total}");
    match total.failures.len() {
        0 => Ok(()),
        _ => Err(Failure::Counted),
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
