//! Every check of the project, in lanes; the last line counts what passed and failed.

mod binaries;
mod browser;
mod lane;
mod mpi;
mod output;
mod setup;

use std::time::Instant;

use crate::error::Failure;
use crate::package;
use crate::workspace;
use binaries::Binaries;
pub use browser::make_pages;
use lane::{Kind, LANES, Lane};
use output::Tally;
pub use setup::is_on_path;

/// Runs the lanes named, or all of them.
pub fn run(names: &[&str]) -> Result<(), Failure> {
    let lanes = choose(names)?;
    for note in setup::prepare() {
        println!("{note}");
    }
    let start = Instant::now();
    let mut binaries = None;
    let mut total = Tally::default();
    for lane in lanes {
        println!("\n=== {} ===", lane.name);
        let begun = Instant::now();
        let mut tally = run_lane(lane, &mut binaries)?;
        if workspace::is_ci() {
            tally.failures.extend(lane.missing(&tally));
        }
        println!(
            "--- {}: {tally}, {:.0} s",
            lane.name,
            begun.elapsed().as_secs_f64()
        );
        total.add(lane.name, tally);
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

fn run_lane(lane: &Lane, binaries: &mut Option<Binaries>) -> Result<Tally, Failure> {
    match lane.kind {
        Kind::Cargo(arguments) => {
            let mut command = workspace::cargo();
            command.args(arguments);
            output::run_check(lane.name, &mut command)
        }
        Kind::Own(check) => Ok(match check() {
            Ok(()) => Tally {
                passed_count: 1,
                ..Tally::default()
            },
            Err(failure) => {
                println!("{failure}");
                Tally {
                    failures: vec![format!("{}: {failure}", lane.name)],
                    ..Tally::default()
                }
            }
        }),
        Kind::Tests(selects) => with_tests(binaries, |built| built.run(selects, None)),
        Kind::TestsInPairs(selects) => with_tests(binaries, |built| built.run_in_pairs(selects)),
        Kind::Package(selects) => match package::build(package::Effort::Test) {
            Ok(packages) => with_tests(binaries, |built| {
                built.run(selects, Some(("PGMETER_PACKAGES", &packages)))
            }),
            Err(missing @ (Failure::Start { .. } | Failure::Missing(_))) => {
                Ok(Tally::skipped(&missing.to_string()))
            }
            Err(failure) => Ok(Tally::failed(&failure.to_string())),
        },
        Kind::Mpi(selects) => {
            let wheel = mpi::wheel();
            if let Err(reason) = &wheel {
                println!("note: {reason}; its tests are skipped");
            }
            let told = wheel.as_deref().ok().map(|it| (mpi::WHEEL_VARIABLE, it));
            with_tests(binaries, |built| built.run(selects, told))
        }
        Kind::Browser => browser::run(),
        Kind::DocTests => {
            let mut command = workspace::cargo();
            command.args(["test", "--workspace", "--doc", "--", "--show-output"]);
            output::run_tests("doc tests", &mut command)
        }
    }
}

/// Runs test programs, which are built for the first lane that has any.
fn with_tests(
    binaries: &mut Option<Binaries>,
    run: impl Fn(&Binaries) -> Result<Tally, Failure>,
) -> Result<Tally, Failure> {
    if binaries.is_none() {
        match Binaries::build() {
            Ok(built) => *binaries = Some(built),
            // The compiler has said why; the other lanes still run.
            Err(failure) => return Ok(Tally::failed(&failure.to_string())),
        }
    }
    binaries.as_ref().map_or_else(|| Ok(Tally::default()), run)
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
