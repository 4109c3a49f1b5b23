//! Files created, written (4 KiB), closed and removed per second. Bare system calls and both
//! engines take turns; the last column is the ratio of each median to that of the bare loop.
//!
//! `cargo run --release -p engine --example file_ops -- DIRECTORY [FILES] [ROUNDS] [ONLY]`

use std::ffi::{CString, c_char};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use engine::{
    Completion, Engine, FileEngineOptions, Fileset, NameRule, OpenFlags, Operation, PsyncFiles,
    Request, UringFiles, Wait,
};

const BLOCK_BYTES: usize = 4096;
const STEPS: [Operation; 4] = [
    Operation::Create,
    Operation::Write,
    Operation::Close,
    Operation::Unlink,
];

type Failure = Box<dyn std::error::Error>;

fn fileset(directory: &Path) -> Result<Arc<Fileset>, Failure> {
    let location = OwnedFd::from(File::open(directory)?);
    Ok(Arc::new(Fileset::generated(
        vec![location],
        NameRule::default(),
    )?))
}

/// Equivalent of a program written for this purpose, with the cheapest possible file names.
fn bare(directory: &File, count: u32) -> Result<f64, Failure> {
    let block = [7_u8; BLOCK_BYTES];
    let directory = directory.as_raw_fd();
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    let mut name = CString::new("0000000000")?.into_bytes_with_nul();
    let start = Instant::now();
    for index in 0..count {
        let mut rest = index;
        for digit in name[..10].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let path = name.as_ptr().cast::<c_char>();
        // SAFETY: the name ends with a zero byte; the block is as long as the given length.
        let good = unsafe {
            let fd = libc::openat(directory, path, flags, 0o600);
            fd >= 0
                && libc::pwrite64(fd, block.as_ptr().cast(), BLOCK_BYTES, 0) == BLOCK_BYTES as isize
                && libc::close(fd) == 0
                && libc::unlinkat(directory, path, 0) == 0
        };
        if !good {
            return Err(std::io::Error::last_os_error().into());
        }
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

/// The same through an engine, with one file in progress per slot.
fn through(engine: &mut impl Engine, count: u32) -> Result<f64, Failure> {
    let depth = engine.slot_count();
    let mut lives = vec![(0_u32, STEPS.len()); depth as usize];
    let mut free: Vec<u32> = (0..depth).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut begun, mut ended) = (0, 0);
    for slot in 0..depth {
        engine.buffer(slot).fill(7);
    }
    let start = Instant::now();
    while ended < count {
        while let Some(slot) = free.pop() {
            let (file_index, step) = &mut lives[slot as usize];
            if *step == STEPS.len() {
                if begun == count {
                    continue;
                }
                (*file_index, *step) = (begun, 0);
                begun += 1;
            }
            engine.push(Request {
                operation: STEPS[*step],
                fileset: 0,
                handle: 0,
                slot,
                file_index: *file_index,
                length_bytes: BLOCK_BYTES as u32,
                offset_bytes: 0,
            });
        }
        engine.reap(Wait::One { timeout_ns: 0 }, &mut done)?;
        for completion in done.drain(..) {
            if completion.result < 0 {
                return Err(std::io::Error::from_raw_os_error(-completion.result).into());
            }
            let step = &mut lives[completion.slot as usize].1;
            *step += 1;
            ended += u32::from(*step == STEPS.len());
            free.push(completion.slot);
        }
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn psync(directory: &Path, depth: u32, plain: bool, count: u32) -> Result<f64, Failure> {
    let open = OpenFlags {
        plain,
        ..OpenFlags::default()
    };
    let options = FileEngineOptions {
        open,
        ..FileEngineOptions::default()
    };
    let mut engine = PsyncFiles::new(fileset(directory)?, depth, BLOCK_BYTES as u32, options)?;
    through(&mut engine, count)
}

fn uring(directory: &Path, depth: u32, count: u32) -> Result<f64, Failure> {
    let options = FileEngineOptions::default();
    let mut engine = UringFiles::new(fileset(directory)?, depth, BLOCK_BYTES as u32, options)?;
    through(&mut engine, count)
}

type Contender<'a> = (&'static str, Box<dyn Fn() -> Result<f64, Failure> + 'a>);

fn contenders(directory: &Path, count: u32) -> Result<Vec<Contender<'_>>, Failure> {
    let location = File::open(directory)?;
    Ok(vec![
        ("bare openat", Box::new(move || bare(&location, count))),
        (
            "psync, plain, depth 1",
            Box::new(move || psync(directory, 1, true, count)),
        ),
        (
            "psync, beneath, depth 1",
            Box::new(move || psync(directory, 1, false, count)),
        ),
        (
            "psync, beneath, depth 32",
            Box::new(move || psync(directory, 32, false, count)),
        ),
        (
            "io_uring, depth 1",
            Box::new(move || uring(directory, 1, count)),
        ),
        (
            "io_uring, depth 32",
            Box::new(move || uring(directory, 32, count)),
        ),
    ])
}

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let directory = words.first().ok_or("DIRECTORY [FILES] [ROUNDS] [ONLY]")?;
    let count = words.get(1).map_or(Ok(20_000), |text| text.parse())?;
    let rounds = words.get(2).map_or(Ok(7), |text| text.parse::<usize>())?;
    let only = words.get(3).map_or("", String::as_str);
    let directory = Path::new(directory).join(format!("file_ops.{}", std::process::id()));
    std::fs::create_dir(&directory)?;
    let contenders = contenders(&directory, count)?;
    let mut rates = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for ((name, measure), rates) in contenders.iter().zip(&mut rates) {
            if name.contains(only) {
                rates.push(measure()?);
            }
        }
    }
    std::fs::remove_dir(&directory)?;
    let medians: Vec<f64> = rates.iter_mut().map(|rates| median(rates)).collect();
    let measured = |(_, rate): &(_, &f64)| !rate.is_nan();
    for ((name, _), rate) in contenders.iter().zip(&medians).filter(measured) {
        println!("{name:26} {rate:9.0} files/s  {:5.3}", rate / medians[0]);
    }
    Ok(())
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
