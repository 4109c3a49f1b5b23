//! `pgmeter selftest`: right or disturbed on any machine, and red where something is wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use end_to_end::{Finished, FixtureError, ScratchTarget, finish, need, run_tool, skip, wait_for};
use serde_json::Value;

/// Exit codes of a self-test.
const EXIT_PASSED: i32 = 0;
const EXIT_FAILED: i32 = 1;
const EXIT_DISTURBED: i32 = 3;
/// The checks of engines on a file system whose reads take a known time.
const DELAYED: [&str; 7] = [
    "latency",
    "rate-closed",
    "rate-uniform",
    "stall-mean",
    "stall-tail",
    "same-as-itself",
    "intervals-measured",
];
/// What a self-test may take where nothing disturbs it.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Runs the self-test; what it printed and what it wrote.
fn selftest(bed: &ScratchTarget, command: &mut Command) -> (Finished, Value) {
    let finished = finish(command);
    let text = std::fs::read_to_string(bed.path().join("found.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}\n{}", finished.text()));
    (finished, serde_json::from_str(&text).unwrap())
}

fn command(bed: &ScratchTarget, more: &[&str]) -> Command {
    bed.command(&[&["selftest", "--json", "found.json"], more].concat())
}

/// What was printed, without line breaks.
fn words(finished: &Finished) -> String {
    let words: Vec<&str> = finished.stdout.split_whitespace().collect();
    words.join(" ")
}

/// Every check with an outcome: its name, its engine, its verdict.
fn verdicts(report: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    let rows = checks.flat_map(|check| {
        let outcomes = check["outcomes"].as_array().unwrap().iter();
        outcomes.map(|it| {
            (
                text(&check["name"]),
                text(&it["subject"]),
                text(&it["verdict"]),
            )
        })
    });
    rows.collect()
}

/// All outcomes of a check.
fn outcomes(report: &Value, name: &str) -> Vec<Value> {
    let checks = report["checks"].as_array().unwrap().iter();
    let mut named = checks.filter(|check| check["name"] == name);
    let outcomes = &named.next().unwrap()["outcomes"];
    outcomes.as_array().unwrap().clone()
}

/// The checks that there are on an engine, with their verdicts.
fn of_engine(report: &Value, engine: &str) -> Vec<(String, String)> {
    let checks = verdicts(report).into_iter().filter(|it| it.1 == engine);
    checks.map(|it| (it.0, it.2)).collect()
}

/// The verdict on a check.
fn verdict(report: &Value, name: &str) -> String {
    let mut all = verdicts(report).into_iter();
    all.find(|it| it.0 == name).map(|it| it.2).unwrap()
}

#[test]
fn the_self_test_passes_here_in_less_than_two_minutes() {
    let bed = ScratchTarget::new().unwrap();
    let begin = Instant::now();
    let (finished, found) = selftest(&bed, &mut command(&bed, &[]));
    assert!(
        [EXIT_PASSED, EXIT_DISTURBED].contains(&finished.code),
        "{}",
        finished.text()
    );
    assert_eq!(found["format"], "pgmeter-selftest/1");
    let wrong = verdicts(&found).into_iter().filter(|it| it.2 == "wrong");
    assert_eq!(wrong.count(), 0, "{}", finished.text());
    for name in ["histogram", "intervals-simulated"] {
        assert_eq!(verdict(&found, name), "right", "{}", finished.text());
    }
    for engine in ["psync", "io_uring", "mmap"] {
        let results = of_engine(&found, engine);
        let names: Vec<&str> = results.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, DELAYED, "{}", finished.text());
    }
    // A read takes 10 ms, and more where the server is kept waiting, which its log tells.
    for outcome in outcomes(&found, "latency") {
        let truth_ns = outcome["truth"].as_f64();
        let is_skipped = outcome["verdict"] == "skipped" && outcome["remark"].is_string();
        assert!(is_skipped || truth_ns.unwrap() >= 1e7, "{outcome}");
    }
    let says = match finished.code {
        EXIT_PASSED => " passed on this machine",
        _ => "the machine is too busy for a verdict (other programs used ",
    };
    assert!(words(&finished).contains(says), "{}", finished.text());
    if finished.code == EXIT_PASSED {
        assert!(begin.elapsed() < TIME_MAX, "{}", finished.text());
    }
}

/// A command that runs where opening `/dev/fuse` gives something else.
fn without_fuse(command: &Command) -> Command {
    let mut inside = Command::new("unshare");
    inside
        .args(["--mount", "--propagation", "private", "sh", "-c"])
        .arg("mount --bind /dev/null /dev/fuse && exec \"$@\"")
        .args(["sh".as_ref(), command.get_program()])
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        inside.current_dir(directory);
    }
    let given = command.get_envs();
    inside.envs(given.filter_map(|(name, value)| Some((name, value?))));
    inside
}

#[test]
fn without_fuse_engines_are_skipped_with_the_reason() {
    let bed = ScratchTarget::new().unwrap();
    match without_fuse(&Command::new("true")).output() {
        Ok(tried) if tried.status.success() => {}
        _ => skip!("nothing can be mounted over /dev/fuse here"),
    }
    let plain = command(&bed, &["--engine", "psync"]);
    let (finished, found) = selftest(&bed, &mut without_fuse(&plain));
    let results = of_engine(&found, "psync");
    let wanted = DELAYED.map(|name| (name.to_owned(), "skipped".to_owned()));
    assert_eq!(results, wanted, "{}", finished.text());
    let says = "skipped: 7 checks: cannot mount a FUSE file system: ";
    assert!(words(&finished).contains(says), "{}", finished.text());
    // The other checks have their verdicts; a skipped one is no failure.
    assert_eq!(verdict(&found, "histogram"), "right");
    let codes = [EXIT_PASSED, EXIT_DISTURBED];
    assert!(codes.contains(&finished.code), "{}", finished.text());
}

/// The processes that a process has started.
fn children(of: u32) -> Vec<u32> {
    let parent = |process: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|process| parent(*process) == Some(of))
        .collect()
}

/// Ends a self-test by a signal while its file system is mounted; how it ended, or none where there
/// is no FUSE.
fn end_while_mounted(bed: &ScratchTarget, signal: &str) -> Option<ExitStatus> {
    let is_mounted = || {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains("pgmeter-selftest")
    };
    let mut process = command(bed, &["--engine", "psync", "--quiet"]);
    process.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = process.stderr(Stdio::null()).spawn().unwrap();
    let mut servers = Vec::new();
    wait_for("a server", || {
        servers = children(child.id());
        !servers.is_empty() || child.try_wait().unwrap().is_some()
    });
    let server = *servers.first()?;
    assert!(!is_mounted(), "others see its mount");
    run_tool("kill", &[signal, &child.id().to_string()]).unwrap();
    let status = child.wait().unwrap();
    let server = PathBuf::from(format!("/proc/{server}"));
    wait_for("the end of the server", || !server.exists());
    assert!(!is_mounted());
    assert!(bed.left_in_target().is_empty());
    Some(status)
}

#[test]
fn a_self_test_leaves_no_mount_or_process_however_it_ends() {
    let bed = ScratchTarget::new().unwrap();
    let Some(killed) = end_while_mounted(&bed, "-KILL") else {
        skip!("there is no FUSE for the self-test");
    };
    assert_eq!(killed.code(), None);
    let interrupted = end_while_mounted(&bed, "-INT").unwrap();
    assert_eq!(interrupted.code(), Some(130));
}

/// Processes that only use CPU time; ended when dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Busy {
        let count = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let busy = (0..count).map(|_| {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]);
            shell.spawn().unwrap()
        });
        Busy(busy.collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_busy_machine_is_reported_as_busy_not_as_wrong() {
    let bed = ScratchTarget::new().unwrap();
    let _busy = Busy::start();
    let (finished, found) = selftest(&bed, &mut command(&bed, &["--engine", "null"]));
    assert_eq!(finished.code, EXIT_DISTURBED, "{}", finished.text());
    assert_eq!(verdict(&found, "other-load"), "disturbed");
    assert_eq!(found["verdict"], "disturbed");
    let says = "the machine is too busy for a verdict (other programs used ";
    assert!(words(&finished).contains(says), "{}", finished.text());
    assert!(!finished.stdout.contains("WRONG"), "{}", finished.text());
}

/// Makes the processor's counter lose a tenth of the time from a while after the start, for the
/// program that it is preloaded into; the system's own clocks stay right.
const DELAYED_CLOCK: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <x86intrin.h>

static uint64_t first, vdso;
static const uint64_t honest = 4000000000ULL;

static void count(int signal, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    unsigned char *code = (unsigned char *)registers[REG_RIP];
    int is_plain = code[0] == 0x0f && code[1] == 0x31;
    int has_processor = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
    unsigned processor = 0;
    uint64_t ticks;

    if (!is_plain && !has_processor) {
        struct sigaction plain = { .sa_handler = SIG_DFL };
        sigaction(SIGSEGV, &plain, 0);
        return;
    }
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
    ticks = __rdtscp(&processor);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if ((uint64_t)code - vdso >= 0x4000 && ticks - first > honest)
        ticks -= (ticks - first - honest) / 10;
    registers[REG_RAX] = (uint32_t)ticks;
    registers[REG_RDX] = ticks >> 32;
    if (has_processor)
        registers[REG_RCX] = processor;
    registers[REG_RIP] += is_plain ? 2 : 3;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    vdso = getauxval(AT_SYSINFO_EHDR);
    first = __rdtsc();
    sigaction(SIGSEGV, &action, 0);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}
"#;

fn delayed_clock(bed: &ScratchTarget) -> Result<PathBuf, FixtureError> {
    let unavailable = |reason: &str| Err(FixtureError::Unavailable(reason.to_owned()));
    if !cfg!(target_arch = "x86_64") {
        return unavailable("only processors by Intel and AMD trap reading their counter");
    }
    let available = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let sources = std::fs::read_to_string(available).unwrap_or_default();
    if !sources.split_whitespace().any(|source| source == "tsc") {
        return unavailable("the kernel does not trust the processor's counter");
    }
    let source = bed.file("delayed_clock.c", DELAYED_CLOCK);
    let library = source.with_extension("so");
    let arguments = ["-shared", "-fPIC", "-O1", "-o"];
    let paths = [&library, &source].map(|path| path.to_string_lossy().into_owned());
    run_tool("cc", &[&arguments[..], &[&paths[0], &paths[1]]].concat())?;
    Ok(library)
}

#[test]
fn a_wrapper_that_delays_the_clock_is_found() {
    let bed = ScratchTarget::new().unwrap();
    let library = need!(delayed_clock(&bed));
    let mut command = command(&bed, &["--engine", "null"]);
    command.env("LD_PRELOAD", library);
    let (finished, found) = selftest(&bed, &mut command);
    assert_ne!(finished.code, EXIT_PASSED, "{}", finished.text());
    let outcome = &outcomes(&found, "clock-rate")[0];
    let [measured, truth] = ["measured", "truth"].map(|key| outcome[key].as_f64().unwrap());
    assert!(
        (0.88..0.995).contains(&(measured / truth)),
        "{}",
        finished.text()
    );
    // Load on the machine is no excuse for a wrong clock.
    assert_eq!(outcome["verdict"], "wrong", "{}", finished.text());
    assert_eq!(finished.code, EXIT_FAILED, "{}", finished.text());
    assert!(words(&finished).contains("every rate and every latency is wrong by this much"));
}

#[test]
fn an_interrupted_self_test_says_so_and_leaves_nothing() {
    let bed = ScratchTarget::new().unwrap();
    let mut interrupted = command(&bed, &[]);
    interrupted.stdin(Stdio::null()).stdout(Stdio::piped());
    interrupted.stderr(Stdio::null());
    let child = interrupted.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("interrupted; no verdict"), "{text}");
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_quiet_self_test_prints_only_the_record() {
    let bed = ScratchTarget::new().unwrap();
    let arguments = ["selftest", "--engine", "null", "--json", "-", "--quiet"];
    let finished = bed.run(&arguments);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert!(finished.stderr.is_empty(), "{}", finished.text());
    let engines = verdicts(&report).into_iter().map(|it| it.1);
    assert!(engines.clone().all(|it| it == "all" || it == "null"));
    assert!(engines.clone().any(|it| it == "null"));
}
