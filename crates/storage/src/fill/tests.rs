use std::collections::VecDeque;

use engine::EngineError;
use plan::ContentPlan;

use super::*;

/// An engine that writes to memory and completes one request at a time, with a given result.
struct FaultyEngine {
    buffers: Vec<Vec<u8>>,
    pending: VecDeque<Request>,
    memory: Vec<u8>,
    /// Offset of a request and the result that it gets instead of success.
    answer: (u64, i32),
}

impl FaultyEngine {
    fn new(size_bytes: usize, answer: (u64, i32)) -> Self {
        Self {
            buffers: vec![vec![0; CHUNK_BYTES as usize]; SLOT_COUNT as usize],
            pending: VecDeque::new(),
            memory: vec![0; size_bytes],
            answer,
        }
    }
}

impl Engine for FaultyEngine {
    fn slot_count(&self) -> u32 {
        SLOT_COUNT
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    fn push(&mut self, request: Request) {
        self.pending.push_back(request);
    }

    fn reap(&mut self, _: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let request = self
            .pending
            .pop_front()
            .expect("a request is in flight when waiting");
        let full = request.length_bytes as i32;
        let result = if self.answer.0 == request.offset_bytes {
            self.answer.1
        } else {
            full
        };
        let length = usize::try_from(result).unwrap_or(0);
        let start = request.offset_bytes as usize;
        let buffer = &self.buffers[request.slot as usize];
        self.memory[start..start + length].copy_from_slice(&buffer[..length]);
        done.push(Completion {
            slot: request.slot,
            result,
        });
        Ok(())
    }
}

const SIZE_BYTES: u64 = 20 << 20;

fn filling() -> FillContent {
    FillContent {
        source: ContentSource::new(&ContentPlan::Incompressible).expect("a content"),
        seed: 3,
        verify_block_bytes: None,
        start_bytes: 0,
        size_bytes: SIZE_BYTES,
    }
}

fn write(engine: &mut FaultyEngine, file: &File) -> (Result<(), FillError>, u64) {
    let stop = AtomicBool::new(false);
    let mut done = 0;
    let mut progress = |now, _| done = now;
    let mut watch = FillWatch {
        progress: &mut progress,
        stop: &stop,
    };
    let result = filling().write_at_depth(engine, SIZE_BYTES, file, &mut watch);
    (result, done)
}

#[test]
fn every_byte_is_written_once_at_its_offset() {
    let file = tempfile::tempfile().expect("a file");
    let mut engine = FaultyEngine::new(SIZE_BYTES as usize, (u64::MAX, 0));
    let (result, done) = write(&mut engine, &file);
    assert!(result.is_ok());
    assert_eq!(done, SIZE_BYTES);
    let mut expected = vec![0; SIZE_BYTES as usize];
    filling().content(0, &mut expected);
    assert!(engine.memory == expected);
}

#[test]
fn a_failed_write_is_reported_with_its_offset_after_all_others_complete() {
    let file = tempfile::tempfile().expect("a file");
    let mut engine = FaultyEngine::new(SIZE_BYTES as usize, (3 << 20, -28));
    let (result, _) = write(&mut engine, &file);
    assert!(engine.pending.is_empty());
    match result {
        Err(FillError::Io {
            offset_bytes,
            source,
        }) => {
            assert_eq!(offset_bytes, 3 << 20);
            assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rest_of_a_short_write_is_written_with_a_plain_call() {
    let file = tempfile::tempfile().expect("a file");
    let mut engine = FaultyEngine::new(SIZE_BYTES as usize, (2 << 20, 4096));
    let (result, done) = write(&mut engine, &file);
    assert!(result.is_ok());
    assert_eq!(done, SIZE_BYTES);
    let rest_start = (2 << 20) + 4096;
    let mut rest = vec![0; CHUNK_BYTES as usize - 4096];
    file.read_exact_at(&mut rest, rest_start).expect("the rest");
    let mut expected = vec![0; rest.len()];
    filling().content(rest_start, &mut expected);
    assert!(rest == expected);
}

#[test]
fn a_stop_before_the_first_request_issues_none() {
    let file = tempfile::tempfile().expect("a file");
    let mut engine = FaultyEngine::new(SIZE_BYTES as usize, (u64::MAX, 0));
    let stop = AtomicBool::new(true);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let result = filling().write_at_depth(&mut engine, SIZE_BYTES, &file, &mut watch);
    assert!(matches!(result, Err(FillError::Stopped)));
    assert!(engine.memory.iter().all(|byte| *byte == 0));
}

#[test]
fn without_direct_io_the_same_bytes_are_written() {
    let file = tempfile::tempfile().expect("a file");
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    filling().write(None, &file, &mut watch).expect("written");
    let mut content = vec![0; SIZE_BYTES as usize];
    file.read_exact_at(&mut content, 0).expect("readable");
    let mut expected = vec![0; SIZE_BYTES as usize];
    filling().content(0, &mut expected);
    assert!(content == expected);
}
