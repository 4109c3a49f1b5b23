//! A model of a file system that refuses what cannot be, and the measurement loop around it.

use std::collections::{HashMap, HashSet, VecDeque};

use engine::{Completion, Operation as Primitive, Request, RequestObject};

use super::{PlayOptions, PoolRun};
use crate::{Flow, Generator, Rng, Step};

/// Files and directories by number.
#[derive(Debug, Default)]
pub(super) struct Disk {
    sizes: HashMap<(u32, u32), u64>,
    directories: HashSet<u32>,
    pub written_bytes: u64,
    pub read_bytes: u64,
}

impl Disk {
    pub fn with_directories(count: u32) -> Self {
        Self {
            directories: (0..count).collect(),
            ..Self::default()
        }
    }

    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty() && self.directories.is_empty()
    }

    /// Removes a file that must be there.
    pub fn remove(&mut self, key: (u32, u32)) {
        assert!(self.sizes.remove(&key).is_some(), "{key:?}");
    }

    /// Removes a directory that must be there.
    pub fn remove_directory(&mut self, directory: u32) {
        assert!(self.directories.remove(&directory), "{directory}");
    }
}

/// A file that a slot has open.
#[derive(Debug, Clone, Copy)]
struct Handle {
    key: (u32, u32),
    position: u64,
    appends: bool,
}

/// A request and its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompletedRequest {
    pub request: Request,
    pub result: i32,
    pub expected_bytes: u32,
    pub flow: Flow,
}

/// The measurement loop, with completions in any order.
pub(super) struct Loop {
    pub disk: Disk,
    /// By slot, or by file if files stay open.
    handles: HashMap<u32, Handle>,
    slot_count: u32,
    kept_open_max: u32,
    has_file_offsets: bool,
    /// `true` if every failed request is a bug of the generator.
    pub is_strict: bool,
    /// Injected failures: returns the result of a request that fails.
    pub fail: Option<fn(&Request) -> Option<i32>>,
    /// Number of requests after which no more are issued.
    pub cut_at: Option<u64>,
    pub now_ns: u64,
    rng: Rng,
    pub completed: Vec<CompletedRequest>,
    /// Kind and error of every flow that ended.
    pub ends: Vec<(u8, i32)>,
    errors: Vec<i32>,
}

impl Loop {
    pub fn new(options: &PlayOptions, seed: u64) -> Self {
        let slot_count = options.slot_count as usize;
        Self {
            disk: Disk::default(),
            handles: HashMap::new(),
            slot_count: options.slot_count,
            kept_open_max: options.kept_open_max,
            has_file_offsets: options.has_file_offsets,
            is_strict: true,
            fail: None,
            cut_at: None,
            now_ns: 1,
            rng: Rng::new(seed),
            completed: Vec::new(),
            ends: Vec::new(),
            errors: vec![0; slot_count],
        }
    }

    /// Runs until all slots have finished, or until the cut.
    pub fn run(&mut self, play: &mut PoolRun) {
        // A phase has an engine of its own.
        self.handles.clear();
        let mut ready: VecDeque<u32> = (0..self.slot_count).collect();
        let (mut parked, mut in_flight) = (Vec::new(), Vec::<Request>::new());
        let mut issued = 0;
        loop {
            let may_issue = self.cut_at.is_none_or(|cut_at| issued < cut_at);
            while let Some(slot) = ready.front().copied().filter(|_| may_issue) {
                ready.pop_front();
                match play.next(slot, self.now_ns) {
                    Step::Issue(request) => {
                        assert_eq!(request.slot, slot);
                        issued += 1;
                        in_flight.push(request);
                    }
                    Step::Park => parked.push(slot),
                    Step::Finished => {}
                    Step::Again => panic!("transactions do not compute"),
                    // Transactions without operations pass time only.
                    Step::Wait { until_ns } => {
                        assert!(until_ns > self.now_ns);
                        self.now_ns = until_ns;
                        ready.push_front(slot);
                    }
                }
                if self.rng.below(3) == 0 {
                    break;
                }
            }
            self.now_ns += 1;
            if in_flight.is_empty() {
                if ready.is_empty() || !may_issue {
                    break;
                }
                continue;
            }
            let index = self.rng.below(in_flight.len() as u64) as usize;
            let request = in_flight.swap_remove(index);
            self.complete(play, request);
            ready.push_back(request.slot);
            ready.extend(parked.drain(..));
        }
        assert!(
            !may_end_parked(&parked, self.cut_at),
            "a slot is parked forever"
        );
    }

    fn complete(&mut self, play: &mut PoolRun, request: Request) {
        let slot = request.slot as usize;
        let failure = self.fail.and_then(|fail| fail(&request));
        let result = match failure {
            // A failed `close` also closes the file.
            Some(result) if request.operation == Primitive::Close => {
                self.handles.remove(&self.handle_of(&request));
                result
            }
            Some(result) => result,
            None => {
                let result = self.carry_out(&request);
                assert!(
                    result >= 0 || !self.is_strict || self.fail.is_some(),
                    "{request:?}: {result}"
                );
                result
            }
        };
        let expected_bytes = play.expected_bytes(&request, 0);
        let completion = Completion {
            slot: request.slot,
            result,
        };
        let flow = play.complete(completion, self.now_ns);
        self.errors[slot] = self.errors[slot].min(result);
        if flow != Flow::Continues {
            let error = std::mem::take(&mut self.errors[slot]);
            if let Flow::Done(kind) = flow {
                self.ends.push((kind, error));
            }
        }
        self.completed.push(CompletedRequest {
            request,
            result,
            expected_bytes,
            flow,
        });
    }

    fn handle_of(&self, request: &Request) -> u32 {
        match self.kept_open_max {
            0 => request.slot,
            _ => request.file_index,
        }
    }

    /// The result of a request; panics where one is made that no order of completions excuses.
    fn carry_out(&mut self, request: &Request) -> i32 {
        const ENOENT: i32 = -2;
        let key = (request.length_bytes, request.file_index);
        let handle = self.handle_of(request);
        match request.operation {
            Primitive::Mkdir => {
                assert!(self.disk.directories.insert(request.length_bytes));
                0
            }
            Primitive::Rmdir => {
                let directory = request.length_bytes;
                assert!(!self.disk.sizes.keys().any(|key| key.0 == directory));
                assert!(self.disk.directories.remove(&directory));
                0
            }
            Primitive::Create => {
                assert!(self.disk.sizes.insert(key, 0).is_none(), "{request:?}");
                self.open(handle, key, false)
            }
            Primitive::Open if !self.disk.sizes.contains_key(&key) => ENOENT,
            Primitive::Open => self.open(handle, key, request.offset_bytes == 3),
            Primitive::Unlink => {
                let is_open = self.handles.values().any(|it| it.key == key);
                assert!(!is_open, "{request:?}");
                self.disk.sizes.remove(&key).map_or(ENOENT, |_| 0)
            }
            Primitive::Close => {
                self.handles.remove(&handle).expect("something is open");
                0
            }
            Primitive::Fsync if request.offset_bytes == RequestObject::Directory.code() => {
                assert!(self.kept_open_max > 0 || !self.handles.contains_key(&handle));
                0
            }
            Primitive::Fsync => {
                assert!(self.handles.contains_key(&handle));
                0
            }
            _ => self.transfer(request),
        }
    }

    fn open(&mut self, handle: u32, key: (u32, u32), appends: bool) -> i32 {
        let is_open = self.handles.values().any(|it| it.key == key);
        assert!(!is_open, "file {key:?} is open in two slots");
        let opened = Handle {
            key,
            position: 0,
            appends,
        };
        assert!(self.handles.insert(handle, opened).is_none());
        let open_count = self.handles.len();
        assert!(
            self.kept_open_max == 0
                || open_count <= (self.kept_open_max + self.slot_count) as usize
        );
        0
    }

    fn transfer(&mut self, request: &Request) -> i32 {
        let handle = self.handle_of(request);
        let handle = self.handles.get_mut(&handle).expect("a file is open");
        assert_eq!(handle.key.1, request.file_index);
        let size = self
            .disk
            .sizes
            .get_mut(&handle.key)
            .expect("open files exist");
        let length = u64::from(request.length_bytes);
        let is_read = request.operation == Primitive::Read;
        let start = if handle.appends || (self.kept_open_max > 0 && !is_read) {
            *size
        } else if self.kept_open_max > 0 {
            request.offset_bytes
        } else {
            handle.position
        };
        if self.has_file_offsets {
            assert_eq!(request.offset_bytes, start, "{request:?}");
        }
        let moved = if is_read {
            let moved = length.min(size.saturating_sub(start));
            self.disk.read_bytes += moved;
            moved
        } else {
            *size = (*size).max(start + length);
            self.disk.written_bytes += length;
            length
        };
        handle.position = start + moved;
        moved as i32
    }
}

fn may_end_parked(parked: &[u32], cut_at: Option<u64>) -> bool {
    !parked.is_empty() && cut_at.is_none()
}
