//! Checks open loops of all kinds of workloads: the rate reached, and the effect of a stall on
//! response times.

use std::path::Path;
use std::time::Duration;

use end_to_end::faultfs::{Call, Effect, Fault, FaultFs, Settings};
use end_to_end::{READING_FILEBENCH, Scratch};
use results::OpenLoopFigures;

use super::contest::TruthCheck;
use super::methods::{POSTMARK, command, record};
use super::programs::Pgmeter;
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// One read per round.
const PHASES: &str = "run_time = 1\n[[fileset]]\nname = \"mail\"\ncount = 20\npresent = \"100%\"\n\
     size = \"4k\"\n[[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
     { open = \"mail\", pick = \"around\" }, { read = \"size\", piece = \"4k\" }, \"close\",\n]\n";
const JOB: &str = "[reads]\nrw=randread\nbs=4k\nsize=16m\ndirect=1\ntime_based\nruntime=1\n\
     norandommap\n";
const WORKLOADS: [(&str, &str, &str); 4] = [
    ("PostMark", "mail.toml", POSTMARK),
    ("filebench", "mail.f", READING_FILEBENCH),
    ("phases", "phases.toml", PHASES),
    ("job of fio", "reads.fio", JOB),
];
const ARRIVALS: [&str; 2] = ["uniform", "poisson"];

/// Rounds per second if only the rate is checked.
const FAST: u64 = 10_000;
const RATE_PERCENT_MAX: f64 = 0.5;
/// Rounds per second on a file system that stalls; without stalls it serves several times as many.
const SLOW: u64 = 1000;
const STALL: Duration = Duration::from_secs(2);
const STALL_PERCENT_MAX: f64 = 1.0;
/// Random arrivals deviate by chance: by more than 3 standard deviations in one of 370 cases.
const DEVIATIONS: f64 = 3.0;

/// Runs both parts and returns the number of missed requirements.
pub fn run(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    Ok(rates(pgmeter, effort, interrupt)? + stalls(pgmeter, effort, interrupt)?)
}

fn measure(
    pgmeter: &Pgmeter,
    (file, target): (&Path, &Path),
    (rate, arrivals): (u64, &str),
    seconds: u64,
) -> Result<OpenLoopFigures, Failure> {
    let (rate, time) = (format!("{rate}/s"), format!("{seconds}s"));
    let loops = ["--rate", &rate, "--arrivals", arrivals];
    let options = [&loops[..], &["--run-time", &time, "--ramp-time", "0s"]].concat();
    let record = record(command(pgmeter, file, target, &options))?;
    let mut found = record.cells.into_iter().filter_map(|cell| cell.open_loop);
    found.next().ok_or_else(|| Failure::Output {
        program: "pgmeter".to_owned(),
        message: "no cell has an open loop".to_owned(),
    })
}

fn rates(pgmeter: &Pgmeter, effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    // In this time, three standard deviations of random arrivals are half a percent.
    let seconds = effort.seconds_or(40);
    println!("\nopen loop: {FAST} rounds/s in memory, at most {RATE_PERCENT_MAX} % off");
    let memory = Scratch::in_memory()?;
    let mut judged = TruthCheck::new();
    for (name, file, text) in WORKLOADS {
        let file = pgmeter.write(file, text)?;
        for arrivals in ARRIVALS {
            interrupt.check()?;
            let figures = measure(pgmeter, (&file, memory.path()), (FAST, arrivals), seconds)?;
            let label = format!("{name}, {arrivals}, rounds/s");
            let achieved = figures.achieved_per_second;
            judged.compare(&label, achieved, FAST as f64, RATE_PERCENT_MAX);
        }
    }
    Ok(judged.missed_count)
}

fn stalls(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let seconds = effort.seconds_or(10).max(8);
    println!(
        "\nstall: {SLOW} rounds/s for {seconds} s, one of which takes {} s; p99 and maximum from \
         due at most {STALL_PERCENT_MAX} % off, and what chance does to p99",
        STALL.as_secs()
    );
    let mut judged = TruthCheck::new();
    for (name, file, text) in WORKLOADS {
        let file = pgmeter.write(file, text)?;
        let faultfs = FaultFs::new(Settings::default())?;
        let target = faultfs.path();
        let closed = record(command(pgmeter, &file, &target, &["--run-time", "1s"]))?;
        let served = closed.cells.iter().map(|cell| cell.total.per_second);
        // `f64::min` ignores a value that is not a number, so this starts with the first rate.
        let service = 1.0 / served.fold(f64::NAN, f64::min);
        for arrivals in ARRIVALS {
            interrupt.check()?;
            let stall = Effect::Stall(STALL);
            // In the first third, so that the backlog is gone before the end.
            faultfs.arm(&[Fault::once(Call::Read, SLOW * seconds / 3, stall)]);
            let figures = measure(pgmeter, (&file, &target), (SLOW, arrivals), seconds)?;
            judge_recovery(
                &mut judged,
                &format!("{name}, {arrivals}"),
                &figures,
                service,
            );
        }
    }
    Ok(judged.missed_count)
}

/// Compares response times with the expected effect of a stall on rounds that are due every
/// `1/SLOW` s. The first round waits for the whole stall. Each later round waits less by its later
/// due time, and longer by the `service` time, in seconds, of the rounds before it.
fn judge_recovery(judged: &mut TruthCheck, name: &str, figures: &OpenLoopFigures, service: f64) {
    let max = STALL.as_secs_f64() + service;
    // The slowest 1 %.
    let beyond_p99 = 0.01 * figures.response.count as f64;
    let p99 = max - beyond_p99 * (1.0 / SLOW as f64 - service);
    let chance = match figures.arrivals.name() {
        // The k-th due time scatters by √k mean gaps; here k is the number of rounds beyond p99.
        "poisson" => DEVIATIONS * 100.0 * beyond_p99.sqrt() / SLOW as f64 / p99,
        _ => 0.0,
    };
    let ms = |ns: Option<u64>| ns.map_or(f64::NAN, |it| it as f64 / 1e6);
    let percent_max = STALL_PERCENT_MAX + chance;
    let seen_p99 = ms(figures.response.percentiles_ns.p99);
    judged.compare(
        &format!("{name}, p99 in ms"),
        seen_p99,
        1e3 * p99,
        percent_max,
    );
    let seen_max = ms(figures.response.max_ns);
    let label = format!("{name}, maximum in ms");
    judged.compare(&label, seen_max, 1e3 * max, STALL_PERCENT_MAX);
}
