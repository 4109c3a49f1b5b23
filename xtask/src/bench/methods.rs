//! Checks searches and steady-state detection for file workloads, on a file system of known speed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use end_to_end::READING_FILEBENCH;
use end_to_end::faultfs::{Call, Effect, Fault, FaultFs, Settings};
use results::RunRecord;
use stats::SteadyVerdict;

use super::contest::word;
use super::highest::{PERCENT_MAX, SEARCHES, finds};
use super::programs::{Pgmeter, read_record, run_json, served_per_second};
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Duration of a read, long enough that the rest of a round is negligible.
const DELAY: Duration = Duration::from_millis(4);
/// A large multiple of the delay, so that only a backlog exceeds it.
const RESPONSE: &str = "p99<=100ms";

/// Each transaction only reads a file.
pub const POSTMARK: &str = "[postmark]\nnumber = 20\ntransactions = 1000\nmin_size = 512\n\
     max_size = 512\nread_bias = 10\ncreate_bias = -1\n";
const WORKLOADS: [(&str, &str, &str); 2] = [
    ("filebench", "mail.f", READING_FILEBENCH),
    ("PostMark", "mail.toml", POSTMARK),
];
/// Number of requests served in parallel.
const PARALLEL_REQUESTS: usize = 4;
/// Share of the highest rate that counts as equally good, as in reports.
const EQUAL_SHARE_MIN: f64 = 0.95;
/// The same reads as an access specification and as a fio job.
const ACCESS: &str = "size = \"16m\"\n[[access_spec]]\n\
     line = [{ size = \"4k\", random = 100, align = \"4k\" }]\n";
const JOB: &str = "[reads]\nrw=randread\nbs=4k\nsize=16m\nioengine=io_uring\ndirect=1\n\
     time_based\nnorandommap\n";
/// Number of slow reads at the start, and their additional delay.
const WARM_UP: (u64, Duration) = (60, Duration::from_millis(30));

/// Runs all parts and returns the number of missed requirements.
pub fn run(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    Ok(searches(pgmeter, effort, interrupt)?
        + depths(pgmeter, effort, interrupt)?
        + steady(pgmeter, effort, interrupt)?)
}

/// A file system with slow reads.
fn slow(threads_count: usize) -> Result<FaultFs, Failure> {
    let settings = Settings {
        read_delay: DELAY,
        thread_count: threads_count,
        async_direct: true,
        ..Settings::default()
    };
    Ok(FaultFs::new(settings)?)
}

/// The command to measure the workload file on the target.
pub fn command(pgmeter: &Pgmeter, file: &Path, target: &Path, options: &[&str]) -> Command {
    let mut command = pgmeter.classic(&file.to_string_lossy(), target);
    command.args(["--no-html"]).args(options);
    command
}

/// Runs the command and parses its record.
pub fn record(mut command: Command) -> Result<RunRecord, Failure> {
    read_record(run_json(&mut command)?.0)
}

/// Rounds per second that the file system serves, by its own count of reads.
fn truth(pgmeter: &Pgmeter, file: &Path, faultfs: &FaultFs, seconds: u64) -> Result<f64, Failure> {
    let reads = |rounds: u64| {
        faultfs.arm(&[]);
        let counted = ["--operations", &rounds.to_string()];
        record(command(pgmeter, file, &faultfs.path(), &counted))?;
        Ok::<_, Failure>(faultfs.calls_count(Call::Read))
    };
    // Some reads do not belong to a round.
    let reads_each = reads(100)?.saturating_sub(reads(50)?) as f64 / 50.0;
    faultfs.arm(&[]);
    // The file system's count takes as long, but starts half a second later.
    let run_time = format!("{}s", seconds + 1);
    let closed = command(pgmeter, file, &faultfs.path(), &["--run-time", &run_time]);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| served_per_second(faultfs, Duration::from_secs(seconds)));
        record(closed)?;
        match served.join() {
            Ok(served) => Ok(served / reads_each),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn searches(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!(
        "\nhighest, files: the rate at which {RESPONSE} holds where each read takes {} ms, at \
         most {PERCENT_MAX} % off",
        DELAY.as_millis()
    );
    // With one second, `served_per_second` would count for no time at all.
    let seconds = effort.seconds_or(5).max(4);
    let run_time = format!("{seconds}s");
    let search = ["--find-rate", RESPONSE, "--run-time", &run_time];
    // Random arrivals would add their own waiting time, and the limit would not be that of the file
    // system.
    let options = [&search[..], &["--set", "arrivals=uniform"]].concat();
    let mut missed_count = 0;
    for (name, file, text) in WORKLOADS {
        let file = pgmeter.write(file, text)?;
        let faultfs = slow(PARALLEL_REQUESTS)?;
        for _ in 0..effort.rounds_or(SEARCHES) {
            interrupt.check()?;
            let wanted = truth(pgmeter, &file, &faultfs, seconds)?;
            let record = record(command(pgmeter, &file, &faultfs.path(), &options))?;
            let label = format!("rounds/s of {name}");
            missed_count += usize::from(!finds(&record, &label, wanted));
        }
    }
    Ok(missed_count)
}

fn depths(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    println!("\ndepth: where {PARALLEL_REQUESTS} reads are served at once, by both kinds of work");
    let run_time = format!("{}s", effort.seconds_or(3));
    let options = ["--find-depth", "--run-time", &run_time, "--ramp-time", "1s"];
    let mut missed_count = 0;
    for (name, file, text) in [
        ("access specification", "reads.toml", ACCESS),
        ("job of fio", "reads.fio", JOB),
    ] {
        interrupt.check()?;
        let faultfs = slow(PARALLEL_REQUESTS)?;
        let file = pgmeter.write(file, text)?;
        let record = record(command(pgmeter, &file, &faultfs.path(), &options))?;
        let best = record.cells.iter().map(|cell| cell.total.per_second);
        let enough = EQUAL_SHARE_MIN * best.fold(0.0, f64::max);
        let knee = record
            .cells
            .iter()
            .filter(|cell| cell.total.per_second >= enough);
        let knee = knee.map(|cell| cell.iodepth).min().unwrap_or(0);
        let is_met = knee == PARALLEL_REQUESTS as u32;
        missed_count += usize::from(!is_met);
        let depths: Vec<u32> = record.cells.iter().map(|cell| cell.iodepth).collect();
        println!("  {} {name}: depth {knee} of {depths:?}", word(is_met));
    }
    Ok(missed_count)
}

fn steady(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let (slow_count, by) = WARM_UP;
    println!(
        "\nsteady: the window lies behind {slow_count} reads that take {} ms more",
        by.as_millis()
    );
    let options = ["--until", "steady", "--run-time", "1s"];
    let file = pgmeter.write("warm.f", READING_FILEBENCH)?;
    let mut missed_count = 0;
    for _ in 0..effort.rounds_or(SEARCHES) {
        interrupt.check()?;
        let faultfs = slow(PARALLEL_REQUESTS)?;
        faultfs.arm(&[Fault {
            call: Call::Read,
            from_nth: 1,
            request_count: slow_count,
            effect: Effect::Stall(by),
        }]);
        let record = record(command(pgmeter, &file, &faultfs.path(), &options))?;
        let steady = record.cells.iter().find_map(|cell| cell.steady.as_ref());
        // The workload has one thread, so its slow reads follow each other.
        let slow_ns = slow_count * (by + DELAY).as_nanos() as u64;
        let window = steady.and_then(|it| it.window.as_ref());
        let begin = window.and_then(|window| {
            let rounds = &steady?.rounds;
            rounds.get(window.first_round_index)
        });
        // The round in which the slow reads end may already belong to the window.
        let is_after_slow = begin.is_some_and(|round| round.at_ns + round.length_ns >= slow_ns);
        let is_met = steady.is_some_and(|it| it.verdict == SteadyVerdict::Steady) && is_after_slow;
        missed_count += usize::from(!is_met);
        println!(
            "  {} steady from {} ms on, after {} rounds; slow for {} ms",
            word(is_met),
            begin.map_or(0, |round| round.at_ns / 1_000_000),
            steady.map_or(0, |it| it.rounds.len()),
            slow_ns / 1_000_000
        );
    }
    Ok(missed_count)
}
