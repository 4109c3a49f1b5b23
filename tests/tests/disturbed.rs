//! Disturbed runs: their files are removed, or their process stands still.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use end_to_end::{ScratchTarget, Shell, need, pgmeter, run_tool, wait_for};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;

const READS: &str = "size = \"4m\"\nrun_time = 60\nramp_time = 0\ncache = \"buffered\"\n\
    [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

/// How long a worker has had a processor that is past all that a run opens first, and past each
/// part of a classic that is over soon.
const STARTUP_CPU_TIME: Duration = Duration::from_millis(300);

/// `true` if a worker of the process has had a CPU for longer than this.
fn has_worker(child: &Child, longer_than: Duration) -> bool {
    let tasks = fs::read_dir(Path::new("/proc").join(child.id().to_string()).join("task"));
    tasks.into_iter().flatten().flatten().any(|task| {
        let text = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let had_ns = text("schedstat")
            .split(' ')
            .next()
            .and_then(|it| it.parse().ok());
        text("comm").starts_with("worker-") && had_ns.unwrap_or(0) >= ns(longer_than)
    })
}

/// Starts a run that is at work: its files are open.
fn at_work(bed: &ScratchTarget, arguments: &[&str]) -> Child {
    let target = bed.target().to_string_lossy().into_owned();
    let common = ["run", "--target", &target, "--json", "saved.json"];
    let child = bed.start(&[&common, arguments].concat());
    wait_for("a worker", || has_worker(&child, Duration::ZERO));
    child
}

/// The record that a run has saved.
fn saved(bed: &ScratchTarget) -> Value {
    let text = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The messages of a record's warnings with that code.
fn warnings(record: &Value, code: &str) -> Vec<String> {
    let all = record["warnings"].as_array().unwrap().iter();
    let matching = all.filter(|warning| warning["code"] == code);
    matching
        .map(|warning| warning["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_target_removed_during_the_run_is_reported() {
    for workload in ["reads.toml", "postmark"] {
        let bed = ScratchTarget::new().unwrap();
        bed.file("reads.toml", READS);
        let more = ["--set", "transactions=1000000000"];
        let more: &[&str] = if workload == "postmark" { &more } else { &[] };
        let mut child = at_work(&bed, &[&[workload], more].concat());
        // Files may be made in it meanwhile.
        wait_for("its removal", || fs::remove_dir_all(bed.target()).is_ok());
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let messages = warnings(&saved(&bed), "target-lost");
        let lost = bed.target().join("pgmeter.work");
        let wanted = format!("`{}` was removed during the run", lost.display());
        assert_eq!(messages.len(), 1, "{workload}: {messages:?}");
        assert!(messages[0].starts_with(&wanted), "{messages:?}");
    }
}

/// Time for which a process is stopped. No load delays a request for as long.
const STOP_TIME: Duration = Duration::from_secs(5);

fn ns(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// Stops a process at work for a while.
fn stop_for_a_while(child: &Child) {
    wait_for("a worker well at work", || {
        has_worker(child, STARTUP_CPU_TIME)
    });
    signal(child, "STOP");
    std::thread::sleep(STOP_TIME);
    signal(child, "CONT");
}

#[test]
fn requests_in_flight_during_a_stop_count_in_no_latency() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let mut child = at_work(&bed, &["reads.toml", "--run-time", "10s"]);
    stop_for_a_while(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let record = saved(&bed);
    let messages = warnings(&record, "stood-still");
    assert!(
        messages[0].contains("excluded from the results"),
        "{messages:?}"
    );
    assert_eq!(warnings(&record, "interval-late"), [""; 0]);
    let cell = &record["cells"][0];
    let standstill = &cell["standstills"][0];
    // The standstill began at an unknown time within the monitor's last sleep.
    let least_ns = ns(STOP_TIME - Duration::from_millis(200));
    assert!(
        standstill["length_ns"].as_u64().unwrap() > least_ns,
        "{standstill}"
    );
    assert_eq!(
        (&standstill["cause"], &standstill["is_left_out"]),
        (&"stopped".into(), &true.into())
    );
    assert_eq!(cell["status"], "complete");
    assert!(cell["total"]["count"].as_u64().unwrap() > 0);
    let max_ns = cell["total"]["latency"]["max_ns"].as_u64().unwrap();
    assert!(max_ns < least_ns, "{max_ns}");
    let run_time_ns = cell["run_time_ns"].as_u64().unwrap();
    assert!(run_time_ns < 10_000_000_000 - least_ns, "{run_time_ns}");
    for interval in cell["intervals"].as_array().unwrap() {
        assert!(
            interval["length_ns"].as_u64().unwrap() < least_ns,
            "{interval}"
        );
    }
}

#[test]
fn short_stops_are_reported_too() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let mut child = at_work(&bed, &["reads.toml"]);
    // On a busy machine the monitor may wait for a processor as long as one of them lasts.
    for _ in 0..5 {
        signal(&child, "STOP");
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "CONT");
        std::thread::sleep(Duration::from_millis(500));
    }
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(warnings(&saved(&bed), "stood-still").len(), 1);
}

#[test]
fn a_classic_that_was_stopped_is_not_valid() {
    let bed = ScratchTarget::new().unwrap();
    let many = ["postmark", "--set", "transactions=1000000000"];
    let mut child = at_work(&bed, &many);
    stop_for_a_while(&child);
    // The next output of the monitor shows that it has noticed the standstill.
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record = saved(&bed);
    let messages = warnings(&record, "stood-still");
    assert!(
        messages[0].contains("the results are not valid"),
        "{messages:?}"
    );
    let cells = record["cells"].as_array().unwrap();
    let invalid = cells.iter().find(|cell| cell["status"] == "failed");
    assert_eq!(invalid.unwrap()["standstills"][0]["is_left_out"], false);
    let table = bed.run(&["report", "saved.json"]).stdout;
    assert!(table.contains("(not valid)"), "{table}");
}

#[test]
fn ctrl_z_leaves_the_full_screen_and_fg_restores_it() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let program = pgmeter(bed.path())
        .get_program()
        .to_string_lossy()
        .into_owned();
    let target = bed.target().to_string_lossy().into_owned();
    let shell = need!(Shell::new(bed.path(), (100, 30)));
    let line = format!("{program} run reads.toml --target {target} --no-db --display full");
    shell.press(&[&line, "Enter"]);
    let footer = "? help   s stop";
    wait_for("the full screen", || {
        shell.is_full_screen() && shell.shows(footer)
    });
    for _ in 0..2 {
        shell.press(&["C-z"]);
        wait_for("the shell", || {
            !shell.is_full_screen() && shell.shows("Stopped")
        });
        // The shell shows what is typed: the terminal is not raw.
        shell.press(&["echo is-not-raw", "Enter"]);
        wait_for("the echo", || shell.shows("is-not-raw"));
        shell.press(&["fg", "Enter"]);
        wait_for("the full screen", || {
            shell.is_full_screen() && shell.shows(footer)
        });
    }
    shell.press(&["s"]);
    wait_for("the end", || !shell.is_full_screen());
    shell.press(&["echo ended: $?", "Enter"]);
    wait_for("the exit code", || shell.shows("ended: 130"));
}

/// The first `count` CPUs that this process may use; fewer if there are not as many.
fn processors(count: usize) -> CpuSet {
    let allowed = sched_getaffinity(None).unwrap();
    let all = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let mut set = CpuSet::new();
    all.take(count).for_each(|cpu| set.set(cpu));
    set
}

/// Runs a measurement that may use `processor_count` CPUs only, while `loop_count` threads keep
/// these CPUs busy. The threads start when `begin` has returned. Returns the record.
fn record_with_busy_loops(
    (bed, processor_count): (&ScratchTarget, usize),
    arguments: &[&str],
    loop_count: usize,
    begin: impl Fn() + Send,
) -> Value {
    bed.file("reads.toml", format!("warm = true\n{READS}"));
    let set = processors(processor_count);
    let is_over = AtomicBool::new(false);
    let (is_over, set) = (&is_over, &set);
    std::thread::scope(|scope| {
        // A thread's CPU affinity is inherited by the processes that it starts.
        let program = scope.spawn(move || {
            sched_setaffinity(None, set).unwrap();
            let all = [&["reads.toml"], arguments].concat();
            at_work(bed, &all)
        });
        let mut program = program.join().unwrap();
        begin();
        for _ in 0..loop_count {
            scope.spawn(move || {
                sched_setaffinity(None, set).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let status = program.wait();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(status.unwrap().code(), Some(0));
    });
    saved(bed)
}

const WAITED_WARNING: &str = "waited-for-processor";

/// Time that the workers waited in an interval, as a share.
fn waiting(interval: &Value, threads: f64) -> f64 {
    let ns = |name: &str| interval[name].as_f64().unwrap();
    ns("waited_ns") / ns("length_ns") / threads
}

#[test]
fn busy_loops_during_a_run_are_reported() {
    need!(run_tool("cat", &["/proc/self/schedstat"]));
    let bed = ScratchTarget::new().unwrap();
    let depth = ["--engine", "psync", "--iodepth", "8", "--run-time", "2s"];
    let record = record_with_busy_loops((&bed, 1), &depth, 3, || {});
    let messages = warnings(&record, "waited-for-processor");
    let phrase = "other processes and kernel threads used";
    assert!(messages[0].contains(phrase), "{messages:?}");
    let own = "8 threads of this run share the rest";
    assert!(messages[0].contains(own), "{messages:?}");
    let cell = &record["cells"][0];
    assert_eq!(cell["cpu"]["threads"], 8);
    assert_eq!(cell["cpu"]["usable"].as_array().unwrap().len(), 1);
    let share = cell["cpu"]["waiting"].as_f64().unwrap();
    assert!(share > 0.5 && share <= 1.0, "{share}");
    let worker = &cell["worker_figures"][0];
    assert_eq!(worker["waited_ns"], cell["cpu"]["waited_ns"]);
    // The last interval may be too short for a wait.
    let is_long = |it: &&Value| it["length_ns"].as_u64().unwrap() > 10_000_000;
    for interval in cell["intervals"].as_array().unwrap().iter().filter(is_long) {
        assert!(waiting(interval, 8.0) > 0.1, "{interval}");
    }
    let table = bed.run(&["report", "saved.json"]).stdout;
    assert!(table.contains("wait"), "{table}");
}

#[test]
fn more_workers_than_cpus_are_reported_as_waiting_and_cpu_bound() {
    need!(run_tool("cat", &["/proc/self/schedstat"]));
    let bed = ScratchTarget::new().unwrap();
    let four = ["--engine", "psync", "--workers", "4", "--run-time", "2s"];
    let record = record_with_busy_loops((&bed, 2), &four, 0, || {});
    let messages = warnings(&record, WAITED_WARNING);
    assert!(
        messages[0].contains("4 threads of this run share"),
        "{messages:?}"
    );
    // Each of them ran or waited to run, all the time.
    let messages = warnings(&record, "worker-cpu-bound");
    assert!(messages[0].contains("waited for a CPU"), "{messages:?}");
    assert!(messages[0].contains("no room for more"), "{messages:?}");
}

#[test]
fn busy_loops_that_start_during_a_run_are_reported_with_their_time() {
    need!(run_tool("cat", &["/proc/self/schedstat"]));
    let bed = ScratchTarget::new().unwrap();
    let one = ["--engine", "psync", "--run-time", "6s"];
    let second_half = || std::thread::sleep(Duration::from_secs(3));
    let record = record_with_busy_loops((&bed, 1), &one, 30, second_half);
    let messages = warnings(&record, WAITED_WARNING);
    assert_eq!(messages.len(), 1, "{}", record["warnings"]);
    let intervals = record["cells"][0]["intervals"].as_array().unwrap();
    let waits: Vec<f64> = intervals.iter().map(|it| waiting(it, 1.0)).collect();
    let quarter = waits.len() / 4;
    let mean = |waits: &[f64]| waits.iter().sum::<f64>() / waits.len() as f64;
    let (early, late) = (mean(&waits[..quarter]), mean(&waits[3 * quarter..]));
    assert!(late > 0.8, "{waits:?}");
    // If other processes used the CPU from the start, no part of the run stands out.
    if early < 0.2 {
        assert!(messages[0].contains(" s to "), "{messages:?}: {waits:?}");
    }
}
