//! `pgmeter selftest`: right or disturbed on any machine, and red where something is wrong.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use end_to_end::{Bed, Finished, FixtureError, finish, need, run_tool};
use serde_json::Value;

/// Exit codes of a self-test.
const RIGHT: i32 = 0;
const WRONG: i32 = 1;
const DISTURBED: i32 = 3;

/// Runs the self-test; what it printed and what it wrote.
fn selftest(bed: &Bed, command: &mut Command) -> (Finished, Value) {
    let finished = finish(command);
    let text = std::fs::read_to_string(bed.path().join("found.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}\n{}", finished.text()));
    (finished, serde_json::from_str(&text).unwrap())
}

fn command(bed: &Bed, more: &[&str]) -> Command {
    bed.command(&[&["selftest", "--json", "found.json"], more].concat())
}

/// Every check with an outcome: its name, its engine, its verdict.
fn verdicts(found: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = found["checks"].as_array().unwrap().iter();
    let each = checks.flat_map(|check| {
        let outcomes = check["outcomes"].as_array().unwrap().iter();
        outcomes.map(|it| {
            (
                text(&check["name"]),
                text(&it["subject"]),
                text(&it["verdict"]),
            )
        })
    });
    each.collect()
}

/// The verdict on a check.
fn verdict(found: &Value, name: &str) -> String {
    let mut all = verdicts(found).into_iter();
    all.find(|it| it.0 == name).map(|it| it.2).unwrap()
}

#[test]
fn nothing_is_wrong_here_and_it_takes_less_than_two_minutes() {
    let bed = Bed::new().unwrap();
    let begin = Instant::now();
    let (finished, found) = selftest(&bed, &mut command(&bed, &["--engine", "null"]));
    assert!(
        [RIGHT, DISTURBED].contains(&finished.code),
        "{}",
        finished.text()
    );
    assert_eq!(found["format"], "pgmeter-selftest/1");
    let wrong = verdicts(&found).into_iter().filter(|it| it.2 == "wrong");
    assert_eq!(wrong.count(), 0, "{}", finished.text());
    let what_is_computed = ["histogram", "intervals-simulated"];
    for name in what_is_computed {
        assert_eq!(verdict(&found, name), "right", "{}", finished.text());
    }
    let says = match finished.code {
        RIGHT => "figures are right here",
        _ => "the machine is busy",
    };
    assert!(finished.stdout.contains(says), "{}", finished.text());
    if finished.code == RIGHT {
        assert!(begin.elapsed() < Duration::from_secs(120));
    }
}

/// Processes that do nothing but use processors; ended when dropped.
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
fn a_busy_machine_is_said_to_be_busy_and_not_wrong() {
    let bed = Bed::new().unwrap();
    let _busy = Busy::start();
    let (finished, found) = selftest(&bed, &mut command(&bed, &["--engine", "null"]));
    assert_eq!(finished.code, DISTURBED, "{}", finished.text());
    assert_eq!(verdict(&found, "other-load"), "disturbed");
    assert_eq!(found["verdict"], "disturbed");
    let says = finished.stdout.contains("the machine is busy, others use ");
    assert!(says, "{}", finished.text());
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

fn delayed_clock(bed: &Bed) -> Result<PathBuf, FixtureError> {
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
    let bed = Bed::new().unwrap();
    let library = need!(delayed_clock(&bed));
    let mut command = command(&bed, &["--engine", "null"]);
    command.env("LD_PRELOAD", library);
    let (finished, found) = selftest(&bed, &mut command);
    assert_ne!(finished.code, RIGHT, "{}", finished.text());
    let clock = found["checks"].as_array().unwrap().iter();
    let clock = clock
        .clone()
        .find(|check| check["name"] == "clock-rate")
        .unwrap();
    let outcome = &clock["outcomes"][0];
    let [measured, truth] = ["measured", "truth"].map(|key| outcome[key].as_f64().unwrap());
    assert!(
        (0.88..0.995).contains(&(measured / truth)),
        "{}",
        finished.text()
    );
    // A load beside is no excuse for a clock.
    assert_eq!(outcome["verdict"], "wrong", "{}", finished.text());
    assert_eq!(finished.code, WRONG, "{}", finished.text());
    assert!(
        finished
            .stdout
            .contains("every rate and every latency is wrong by this much")
    );
}

#[test]
fn an_interrupted_self_test_says_so_and_leaves_nothing() {
    let bed = Bed::new().unwrap();
    let mut interrupted = command(&bed, &[]);
    interrupted.stdin(Stdio::null()).stdout(Stdio::piped());
    interrupted.stderr(Stdio::null());
    let child = interrupted.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("interrupted, which says nothing"), "{text}");
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn the_record_goes_to_standard_output_alone() {
    let bed = Bed::new().unwrap();
    let arguments = ["selftest", "--engine", "null", "--json", "-", "--quiet"];
    let finished = bed.run(&arguments);
    let found: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert!(finished.stderr.is_empty(), "{}", finished.text());
    let engines = verdicts(&found).into_iter().map(|it| it.1);
    assert!(engines.clone().all(|it| it == "all" || it == "null"));
    assert!(engines.clone().any(|it| it == "null"));
}
