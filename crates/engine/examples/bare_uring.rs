//! The baseline: random reads in a bare loop on the io-uring crate. It takes a time stamp at
//! submission and at completion of each read and records a histogram. `cargo xtask bench engine`
//! compares the engine with it.

mod common;

use std::os::fd::AsRawFd;
use std::time::Instant;

use common::{Arguments, Histogram};
use io_uring::{IoUring, opcode, types};
use stats::SplitMixRng;

const GETEVENTS: u32 = 1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = Arguments::parse()?;
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .setup_no_sqarray()
        .setup_cqsize(given.depth.next_power_of_two())
        .build(given.depth.next_power_of_two())?;
    let block_bytes = given.block_bytes as usize;
    let mut memory = vec![0_u8; given.depth as usize * block_bytes + 4096];
    let start = memory.as_ptr().align_offset(4096);
    let base = memory[start..].as_mut_ptr();
    let iov_len = memory.len() - start;
    let (mut submitter, mut sq, mut cq) = ring.split();
    submitter.register_files(&[given.file.as_raw_fd()])?;
    // SAFETY: `memory` outlives the ring's use of it: the loop reaps until nothing is in flight.
    unsafe {
        submitter.register_buffers(&[libc::iovec {
            iov_base: base.cast(),
            iov_len,
        }])?
    };
    submitter.register_ring_fd()?;

    let clock = quanta::Clock::new();
    let mut rng = SplitMixRng::new(1);
    let mut histogram = Histogram::new();
    let mut issued_raw = vec![0_u64; given.depth as usize];
    let mut free: Vec<u32> = (0..given.depth).collect();
    let began = Instant::now();
    let mut over = false;
    while !over || free.len() < given.depth as usize {
        sq.sync();
        let count = if over {
            0
        } else {
            free.len().min(given.batch as usize)
        };
        for slot in free.drain(free.len() - count..) {
            let buffer = base.wrapping_add(slot as usize * block_bytes);
            let offset =
                rng.below(given.block_count as usize) as u64 * u64::from(given.block_bytes);
            let entry = opcode::ReadFixed::new(types::Fixed(0), buffer, given.block_bytes, 0)
                .offset(offset)
                .build()
                .user_data(u64::from(slot));
            issued_raw[slot as usize] = clock.raw();
            // SAFETY: the buffer is this slot's own part of `memory`.
            unsafe { sq.push(&entry)? };
        }
        sq.sync();
        let wanted = u32::from(free.is_empty() || over);
        // SAFETY: no argument is passed.
        unsafe { submitter.enter::<libc::sigset_t>(count as u32, wanted, GETEVENTS, None)? };
        cq.sync();
        for entry in &mut cq {
            assert_eq!(entry.result(), given.block_bytes as i32);
            let slot = entry.user_data() as u32;
            histogram.record(clock.raw() - issued_raw[slot as usize]);
            free.push(slot);
        }
        cq.sync();
        over = over || histogram.count & 0x3ff < 32 && began.elapsed() > given.span;
    }
    histogram.print(began.elapsed(), &clock);
    Ok(())
}
