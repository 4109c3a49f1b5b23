//! Files with known content, and engines on them.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use engine::{
    Completion, Engine, EngineError, IoUring, OpenPlan, Operation, Request, UringOptions, Wait,
    open_target,
};
use plan::CacheMode;
use tempfile::TempDir;

pub const WAIT: Wait = Wait::One { timeout_ns: 0 };
pub const NAME: &str = "content";

/// A directory on a real file system (that of the build), with a file of known content.
pub struct ContentDir {
    pub dir: TempDir,
    pub content: Vec<u8>,
}

impl ContentDir {
    pub fn new(size_bytes: usize) -> Self {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut state = 1_u64;
        let content: Vec<u8> = (0..size_bytes)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let mut file = File::create(dir.path().join(NAME)).unwrap();
        file.write_all(&content).unwrap();
        file.sync_all().unwrap();
        Self { dir, content }
    }

    pub fn open(&self, cache: CacheMode) -> Result<OwnedFd, EngineError> {
        let plan = OpenPlan {
            cache,
            read: true,
            write: true,
            create: false,
        };
        let dir = File::open(self.dir.path()).unwrap();
        open_target(dir.as_fd(), Path::new(NAME), plan)
    }

    pub fn buffered(&self) -> Vec<OwnedFd> {
        vec![self.open(CacheMode::Buffered).unwrap()]
    }
}

/// A ring, or `None` with the reason printed where this system has none for us.
pub fn ring(files: Vec<OwnedFd>, slots: u32, bytes: u32, options: UringOptions) -> Option<IoUring> {
    match IoUring::new(files, slots, bytes, options) {
        Ok(engine) => Some(engine),
        Err(
            error @ (EngineError::UringMissing
            | EngineError::UringForbidden { .. }
            | EngineError::UringDisabled { .. }
            | EngineError::LockedMemory { .. }),
        ) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

pub fn request(operation: Operation, slot: u32, offset_bytes: u64, length_bytes: u32) -> Request {
    Request {
        operation,
        fileset: 0,
        handle: 0,
        slot,
        file_index: 0,
        length_bytes,
        offset_bytes,
    }
}

/// Executes one request alone and hands over its result.
pub fn execute(engine: &mut (impl Engine + ?Sized), request: Request) -> i32 {
    let mut done = Vec::with_capacity(engine.slot_count() as usize);
    engine.push(request);
    while done.is_empty() {
        engine.reap(WAIT, &mut done).unwrap();
    }
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].slot, request.slot);
    done[0].result
}

/// Reads `count` random blocks at full depth and compares each with the file.
pub fn random_reads_agree(
    engine: &mut (impl Engine + ?Sized),
    content: &[u8],
    block: u32,
    count: u64,
) {
    let depth = engine.slot_count();
    let mut free: Vec<u32> = (0..depth).collect();
    let mut offsets = vec![None; depth as usize];
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut issued, mut checked, mut state) = (0, 0, 7_u64);
    while checked < count {
        while issued < count
            && let Some(slot) = free.pop()
        {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let blocks = content.len() as u64 / u64::from(block);
            let offset = (state >> 33) % blocks * u64::from(block);
            offsets[slot as usize] = Some(offset as usize);
            engine.push(request(Operation::Read, slot, offset, block));
            issued += 1;
        }
        engine.reap(WAIT, &mut done).unwrap();
        for completion in done.drain(..) {
            assert_eq!(completion.result, block as i32);
            let offset = offsets[completion.slot as usize]
                .take()
                .expect("completes once");
            let content_read = &engine.buffer(completion.slot)[..block as usize];
            assert_eq!(content_read, &content[offset..offset + block as usize]);
            free.push(completion.slot);
            checked += 1;
        }
    }
    assert_eq!(free.len(), depth as usize);
}
