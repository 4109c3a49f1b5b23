//! The same random reads as `bare_uring`, through the `Engine` trait.

mod common;

use std::time::Instant;

use common::{Arguments, Histogram};
use engine::{
    Completion, Engine, IoUring, Mmap, MmapOptions, Null, Operation, Psync, PsyncOptions, Request,
    UringOptions, Wait,
};
use stats::SplitMixRng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = Arguments::parse()?;
    let files = vec![given.file.try_clone()?.into()];
    let (depth, bytes) = (given.depth, given.block_bytes);
    match std::env::args().nth(7).as_deref() {
        Some("psync") => measure(
            Psync::new(files, depth, bytes, PsyncOptions::default())?,
            &given,
        ),
        Some("mmap") => measure(
            Mmap::new(files, depth, bytes, MmapOptions::default())?,
            &given,
        ),
        Some("null") => {
            given.block_count = given.block_count.max(1);
            measure(Null::new(depth, bytes)?, &given)
        }
        _ => measure(
            IoUring::new(files, depth, bytes, UringOptions::default())?,
            &given,
        ),
    }
}

fn measure(mut engine: impl Engine, given: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let clock = quanta::Clock::new();
    let mut rng = SplitMixRng::new(1);
    let mut histogram = Histogram::new();
    let mut issued_raw = vec![0_u64; given.depth as usize];
    let mut free: Vec<u32> = (0..given.depth).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(given.depth as usize);
    let began = Instant::now();
    let mut over = false;
    while !over || free.len() < given.depth as usize {
        let count = if over {
            0
        } else {
            free.len().min(given.batch as usize)
        };
        for slot in free.drain(free.len() - count..) {
            let offset_bytes =
                rng.below(given.block_count as usize) as u64 * u64::from(given.block_bytes);
            issued_raw[slot as usize] = clock.raw();
            engine.push(Request {
                operation: Operation::Read,
                fileset: 0,
                handle: 0,
                slot,
                file_index: 0,
                length_bytes: given.block_bytes,
                offset_bytes,
            });
        }
        let waits = free.is_empty() || over;
        engine.reap(
            if waits {
                Wait::One { timeout_ns: 0 }
            } else {
                Wait::Poll
            },
            &mut done,
        )?;
        for completion in done.drain(..) {
            assert_eq!(completion.result, given.block_bytes as i32);
            histogram.record(clock.raw() - issued_raw[completion.slot as usize]);
            free.push(completion.slot);
        }
        over = over || histogram.count & 0x3ff < 32 && began.elapsed() > given.span;
    }
    histogram.print(began.elapsed(), &clock);
    Ok(())
}
