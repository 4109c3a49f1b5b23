//! Prints the cost of counting one operation: `cargo run --release -p stats --example record_cost`.

use std::hint::black_box;
use std::time::Instant;

use stats::{Counter, Histogram, Interval};

const OPERATIONS: usize = 50_000_000;
const ROUNDS: usize = 7;

fn main() {
    let samples = latencies();
    let mut histogram = Histogram::new();
    let mut counter = Counter::new();
    let mut interval = Interval::with([0, 1], 1);
    report("empty loop", &samples, |ns| {
        black_box(ns);
    });
    report("Histogram::record", &samples, |ns| {
        black_box(&mut histogram).record(ns)
    });
    report("Counter::record", &samples, |ns| {
        black_box(&mut counter).record(4096, ns)
    });
    report("Interval::operation_mut().record", &samples, |ns| {
        interval
            .operation_mut(black_box((ns & 1) as usize))
            .record(4096, ns);
    });
    black_box((
        histogram.percentile(99.0),
        counter.count(),
        interval.total().count(),
    ));
}

/// Latencies of 4 to 260 microseconds, in an order that a branch predictor cannot learn.
fn latencies() -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        4_000 + ((state & 0xffff) >> (state >> 61))
    };
    std::iter::repeat_with(next).take(4096).collect()
}

/// Prints the time per sample of the fastest round. `black_box` hides the recorder from the
/// optimizer, which would otherwise keep the sums in registers and drop the unused ones.
fn report(name: &str, samples: &[u64], mut record: impl FnMut(u64)) {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..OPERATIONS / samples.len() {
            samples.iter().for_each(|ns| record(black_box(*ns)));
        }
        start.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64
    };
    let best_ns = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
    println!("{name:34} {best_ns:5.2} ns");
}
