//! How fast pgmeter reads traces from a pipe, and in how much memory.

use std::fmt::Write as _;
use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

use super::programs::Pgmeter;
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Length of a trace in bytes.
const TRACE_BYTES: usize = 256 << 20;
/// Limit of memory in KiB, whatever the length of the trace.
const PEAK_KIB_MAX: u64 = 64 << 10;

/// A form of traces.
struct TraceCase {
    title: &'static str,
    make: fn() -> Vec<u8>,
    /// In 10^6 bytes per second.
    speed_min: f64,
}

const CASES: [TraceCase; 3] = [
    TraceCase {
        title: "MSR Cambridge, text",
        make: msr,
        speed_min: 200.0,
    },
    TraceCase {
        title: "blktrace, binary",
        make: blktrace,
        speed_min: 1000.0,
    },
    TraceCase {
        title: "vscsi, binary",
        make: vscsi,
        speed_min: 1000.0,
    },
];

/// Runs all cases and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let pgmeter = Pgmeter::of(effort)?;
    let mut missed_count = 0;
    for case in CASES.iter().filter(|case| effort.wants(case.title)) {
        let trace = (case.make)();
        let (mut speeds, mut peak_kib) = (Vec::new(), 0);
        for _ in 0..effort.rounds_or(5) {
            interrupt.check()?;
            let (seconds, kib) = read(&pgmeter, &trace)?;
            speeds.push(trace.len() as f64 / seconds / 1e6);
            peak_kib = peak_kib.max(kib);
        }
        speeds.sort_by(f64::total_cmp);
        let median = speeds[speeds.len() / 2];
        let is_met = median >= case.speed_min && peak_kib <= PEAK_KIB_MAX;
        println!(
            "{} {}: {median:.0} MB/s (asked: {:.0}), {:.1} MiB of memory (at most {})",
            if is_met { "pass" } else { "MISS" },
            case.title,
            case.speed_min,
            peak_kib as f64 / 1024.0,
            PEAK_KIB_MAX >> 10
        );
        missed_count += usize::from(!is_met);
    }
    Ok(missed_count)
}

/// Seconds from the start of `pgmeter check` to its end, and its peak memory in KiB.
fn read(pgmeter: &Pgmeter, trace: &[u8]) -> Result<(f64, u64), Failure> {
    let failed = || Failure::start("pgmeter check");
    let mut command = pgmeter.plain(&["check", "-"]);
    let start = Instant::now();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    let mut child = child.map_err(failed())?;
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        input.write_all(trace).map_err(failed())?;
    }
    // Nearly all has been read, so the peak is reached.
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    drop(input);
    let ended = child.wait().map_err(failed())?;
    let seconds = start.elapsed().as_secs_f64();
    if !ended.success() {
        return Err(Failure::ChecksFailed(format!("`pgmeter check`: {ended}")));
    }
    let peak = status.unwrap_or_default();
    let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let digits = peak.and_then(|it| it.split_whitespace().next()?.parse().ok());
    Ok((seconds, digits.unwrap_or(0)))
}

/// Requests of one device in order of time, at random places.
fn requests() -> impl Iterator<Item = (u64, u64, bool)> {
    let mut state = 1_u64;
    (0..).map(move |index: u64| {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (index * 10_000, state >> 36, !state.is_multiple_of(3))
    })
}

fn msr() -> Vec<u8> {
    let mut text = String::with_capacity(TRACE_BYTES + 128);
    for (ns, block, is_read) in requests() {
        let time = 128_166_372_003_061_629 + ns / 100;
        let kind = if is_read { "Read" } else { "Write" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{time},hm,1,{kind},{},8192,1331", block * 4096);
        if text.len() >= TRACE_BYTES {
            break;
        }
    }
    text.into_bytes()
}

/// Queue, issue and completion of each request.
fn blktrace() -> Vec<u8> {
    /// Queue, issue and complete in the lower half, and write in the upper.
    const ACTIONS: [u32; 3] = [0x1, 0x7, 0x8];
    const CATEGORIES: [u32; 3] = [0x10, 0x20, 0x80];
    let mut bytes = Vec::with_capacity(TRACE_BYTES + 256);
    let mut sequence = 0_u32;
    for (ns, block, is_read) in requests() {
        for (step, (action, category)) in ACTIONS.into_iter().zip(CATEGORIES).enumerate() {
            sequence = sequence.wrapping_add(1);
            let direction = if is_read { 0x1 } else { 0x2 };
            bytes.extend_from_slice(&0x6561_7407_u32.to_le_bytes());
            bytes.extend_from_slice(&sequence.to_le_bytes());
            bytes.extend_from_slice(&(ns + step as u64 * 1000).to_le_bytes());
            bytes.extend_from_slice(&(block * 8).to_le_bytes());
            bytes.extend_from_slice(&4096_u32.to_le_bytes());
            bytes.extend_from_slice(&(action | (category | direction) << 16).to_le_bytes());
            for number in [1_u32, 0x0080_0000, 0] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
            bytes.extend_from_slice(&[0; 4]);
        }
        if bytes.len() >= TRACE_BYTES {
            break;
        }
    }
    bytes
}

fn vscsi() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(TRACE_BYTES + 64);
    for (ns, block, is_read) in requests() {
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        bytes.extend_from_slice(&4096_u32.to_le_bytes());
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        let command: u16 = if is_read { 0x28 } else { 0x2a };
        bytes.extend_from_slice(&command.to_le_bytes());
        bytes.extend_from_slice(&0x0100_u16.to_le_bytes());
        bytes.extend_from_slice(&(block * 8).to_le_bytes());
        bytes.extend_from_slice(&(ns / 1000).to_le_bytes());
        if bytes.len() >= TRACE_BYTES {
            break;
        }
    }
    bytes
}
