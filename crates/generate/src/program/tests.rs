//! Programs on a model of a file system that checks which requests are allowed.

mod positions;

use std::collections::{BTreeMap, BTreeSet};

use engine::{Completion, Operation, Request};
use plan::Distribution;
use plan::program::{
    Act, AmountScope, Call, CallObject, CallPosition, Card, Deck, DirectoryTree, DirectoryWalk,
    FileFilter, FileNames, FileOperation, FileSharing, FilesetPlan, FilesetSharing, Group, Law,
    Measure, MovedBytes, OnFailure, OnNoFile, Pick, PickOrder, Program, ProgramPhase, Quota, Shape,
};
use proptest::prelude::*;

mod due;
mod ends;
mod laws;
mod straight;
mod tables;
mod waits;

use super::*;
use crate::{EXPECTED_FAILURE, Flow, Generator, Rng, Step};

/// Existing and open files; rejects impossible requests.
#[derive(Default)]
struct Model {
    sizes: BTreeMap<(u8, u32), u64>,
    /// By slot and register: the file, which may have another name by now.
    open: BTreeMap<(u32, u8), (u8, u32)>,
    /// Position in each open file.
    positions: BTreeMap<(u32, u8), u64>,
    /// Requests that must fail, by their number.
    failing: BTreeSet<usize>,
    /// Writes of which half is done, by their number.
    short: BTreeSet<usize>,
    count: usize,
    log: Vec<String>,
    /// Requests that no program may issue.
    violations: Vec<String>,
}

impl Model {
    fn answer(&mut self, request: &Request) -> i32 {
        self.count += 1;
        let Request {
            operation,
            fileset,
            file_index,
            length_bytes,
            offset_bytes,
            ..
        } = *request;
        let note = match operation {
            Operation::Read | Operation::Write => {
                format!("{} {length_bytes}@{offset_bytes}", operation.name())
            }
            _ => format!("{} {fileset}/{file_index}", operation.name()),
        };
        self.log.push(note.clone());
        if self.failing.contains(&self.count) && operation != Operation::Close {
            return -libc_errno::EIO;
        }
        let is_allowed = self.allows(request);
        if !is_allowed {
            self.violations.push(note);
            return match operation {
                Operation::Unlink => -libc_errno::ENOENT,
                _ => -libc_errno::EIO,
            };
        }
        let is_short = self.short.contains(&self.count) && operation == Operation::Write;
        self.apply_effect(&Request {
            length_bytes: if is_short {
                length_bytes / 2
            } else {
                length_bytes
            },
            ..*request
        })
    }

    fn allows(&self, request: &Request) -> bool {
        let (name, register) = names(request);
        let exists = self.sizes.contains_key(&name);
        let is_open = self.open.contains_key(&register);
        let is_used = self.open.values().any(|it| *it == name);
        match request.operation {
            Operation::Create => !exists && !is_open,
            Operation::Open => exists && !is_open,
            Operation::Close | Operation::Read | Operation::Write | Operation::Fsync => is_open,
            Operation::Stat | Operation::Chmod => exists,
            Operation::Sync | Operation::NextEntry | Operation::Rmdir => true,
            Operation::Unlink => exists && !is_used,
            Operation::Rename => {
                let second = second(request);
                exists && !is_used && !self.sizes.contains_key(&second)
            }
            _ => false,
        }
    }

    /// Applies a request and returns its result.
    fn apply_effect(&mut self, request: &Request) -> i32 {
        let (name, register) = names(request);
        let Request {
            length_bytes,
            offset_bytes,
            ..
        } = *request;
        match request.operation {
            Operation::Create => {
                self.sizes.insert(name, 0);
                self.open.insert(register, name);
                self.positions.insert(register, 0);
            }
            Operation::Open => {
                self.open.insert(register, name);
                self.positions.insert(register, 0);
            }
            Operation::Close => {
                self.open.remove(&register);
            }
            Operation::Unlink => {
                self.sizes.remove(&name);
            }
            Operation::Rename => {
                let second = second(request);
                let size = self.sizes.remove(&name).unwrap_or(0);
                self.sizes.insert(second, size);
            }
            Operation::Write => {
                let size = self.sizes.entry(self.open[&register]).or_default();
                let stands = self.positions.entry(register).or_default();
                let offset_bytes = match offset_bytes {
                    Request::AT_END => *size,
                    0..=Request::OFFSET_MAX => offset_bytes,
                    _ if offset_bytes == Request::seeking(offset_bytes & Request::OFFSET_MAX) => {
                        offset_bytes & Request::OFFSET_MAX
                    }
                    _ => *stands,
                };
                *stands = offset_bytes + u64::from(length_bytes);
                *size = (*size).max(*stands);
                return length_bytes as i32;
            }
            Operation::Read => {
                let size = self.sizes[&self.open[&register]];
                let rest = size.saturating_sub(offset_bytes);
                return rest.min(length_bytes.into()) as i32;
            }
            Operation::NextEntry => return length_bytes as i32,
            _ => {}
        }
        0
    }
}

/// The file that a request names, and the register that it uses.
fn names(request: &Request) -> ((u8, u32), (u32, u8)) {
    let name = (request.fileset, request.file_index);
    (name, (request.slot, request.handle))
}

/// The other file that a request names.
fn second(request: &Request) -> (u8, u32) {
    let code = request.offset_bytes;
    ((code >> 32) as u8, code as u32)
}

mod libc_errno {
    pub const EIO: i32 = 5;
    pub const ENOENT: i32 = 2;
}

/// State of all workers after a phase.
struct PhaseOutcome {
    model: Model,
    /// Numbers of successful and failed transactions by kind.
    done: BTreeMap<u8, (u64, u64)>,
    /// Time and result of each completion.
    flows: Vec<(u64, Flow)>,
    workers: Vec<Interpreter>,
    states: Vec<Arc<FileStates>>,
    is_ended: bool,
}

fn set(name: &str, count: u32) -> FilesetPlan {
    FilesetPlan {
        name: name.to_owned(),
        path: String::new(),
        copies: FilesetSharing::One,
        count,
        names: FileNames::Number {
            before: String::new(),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Flat,
        size: Law::fixed(10_000),
        present_permille: 0,
    }
}

fn pick(fileset: u8, filter: FileFilter) -> Pick {
    Pick {
        fileset,
        which: filter,
        order: PickOrder::Next,
        turn: FileSharing::Own,
    }
}

fn around(fileset: u8, filter: FileFilter) -> Pick {
    Pick {
        order: PickOrder::Around,
        turn: FileSharing::Shared,
        ..pick(fileset, filter)
    }
}

fn call(operation: FileOperation, on: CallObject) -> Call {
    Call::new(operation, on)
}

fn act(operation: FileOperation, on: CallObject) -> Act {
    Act::Call(call(operation, on))
}

fn moving(operation: FileOperation, bytes: MovedBytes, piece_bytes: u32) -> Act {
    Act::Call(Call {
        bytes,
        piece_bytes,
        ..call(operation, CallObject::Handle)
    })
}

fn phase(body: Vec<Act>) -> ProgramPhase {
    ProgramPhase {
        name: "work".to_owned(),
        groups: vec![Group {
            name: "workers".to_owned(),
            body,
            ..Group::default()
        }],
        ..ProgramPhase::default()
    }
}

fn of(filesets: Vec<FilesetPlan>, labels: &[&str]) -> Program {
    Program {
        labels: labels.iter().map(|it| (*it).to_owned()).collect(),
        filesets,
        ..Program::default()
    }
}

/// Who works, and on what.
struct Setting {
    workers: u32,
    /// Each worker is of a group of its own, not of the first.
    separate_groups: bool,
    slots: u32,
    /// Files that exist before, of each fileset.
    present: Vec<u32>,
    failing: BTreeSet<usize>,
    short: BTreeSet<usize>,
    seed: u64,
    /// Maximum number of requests.
    requests_max: usize,
    /// `true` if the workers use the fast path, which must be possible.
    is_fast_path: bool,
    unit: TransactionUnit,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            workers: 1,
            separate_groups: false,
            slots: 1,
            present: Vec::new(),
            failing: BTreeSet::new(),
            short: BTreeSet::new(),
            seed: 1,
            requests_max: 200_000,
            is_fast_path: false,
            unit: TransactionUnit::Declared,
        }
    }
}

/// The workers of a phase, about to begin.
fn interpreters(
    program: &Program,
    phase: &ProgramPhase,
    setting: &Setting,
    states: &[Arc<FileStates>],
) -> Vec<Interpreter> {
    let mut workers = unstarted_interpreters(program, phase, setting, states);
    workers.iter_mut().for_each(Generator::begin);
    workers
}

/// The workers of a phase, before the start.
fn unstarted_interpreters(
    program: &Program,
    phase: &ProgramPhase,
    setting: &Setting,
    states: &[Arc<FileStates>],
) -> Vec<Interpreter> {
    let shared = SharedTurnCounters::default();
    let phase_end = Arc::new(PhaseEnd::new(setting.workers));
    let worker_count = if setting.separate_groups {
        1
    } else {
        setting.workers
    };
    let waits = Arc::new(PhaseWaits::new(program, phase, |_| worker_count));
    let progress = Arc::new(GroupProgress::new(phase.groups[0].quotas.len()));
    (0..setting.workers)
        .map(|number| {
            let group = &phase.groups[if setting.separate_groups {
                number as usize
            } else {
                0
            }];
            let worker_index = if setting.separate_groups { 0 } else { number };
            Interpreter::new(&WorkerContext {
                program,
                phase,
                group,
                worker_index,
                worker_count,
                slot_count: setting.slots,
                seed: setting.seed + u64::from(number),
                program_seed: setting.seed,
                states,
                shared: &shared,
                progress: &progress,
                phase_end: &phase_end,
                waits: &waits,
                open_codes: &[0],
                rounds_per_us: 0.0,
                is_initial: false,
                unit: setting.unit,
                is_checked: false,
                rounds: None,
            })
            .unwrap()
        })
        .collect()
}

/// A worker on the path that it is to go.
enum Worker {
    Interpreter(Box<Interpreter>),
    FastPath(Box<FastPath>),
}

impl Worker {
    fn begun(interpreter: Interpreter, is_straight: bool) -> Self {
        let mut worker = match is_straight {
            true => Self::FastPath(Box::new(FastPath::of(interpreter).unwrap())),
            false => Self::Interpreter(Box::new(interpreter)),
        };
        worker.generator().begin();
        worker
    }

    fn generator(&mut self) -> &mut dyn Generator {
        match self {
            Self::Interpreter(interpreter) => interpreter.as_mut(),
            Self::FastPath(straight) => straight.as_mut(),
        }
    }

    fn into_interpreter(self) -> Interpreter {
        match self {
            Self::Interpreter(interpreter) => *interpreter,
            Self::FastPath(straight) => straight.into_interpreter(),
        }
    }
}

/// Files that are there before.
fn create_initial_files(setting: &Setting, states: &[Arc<FileStates>], model: &mut Model) {
    for (fileset, present) in setting.present.iter().enumerate() {
        for file in 0..*present {
            states[fileset].mark_present(file, false);
            states[fileset].set_size(file, 10_000);
            model.sizes.insert((fileset as u8, file), 10_000);
        }
    }
}

/// Carries out a phase; the seed determines the order of completions.
fn carry_out(program: &Program, phase: &ProgramPhase, setting: &Setting) -> PhaseOutcome {
    let is_shared = setting.workers > 1;
    let new = |set: &FilesetPlan| Arc::new(FileStates::new(set.count, is_shared));
    let states: Vec<Arc<FileStates>> = program.filesets.iter().map(new).collect();
    let mut model = Model {
        failing: setting.failing.clone(),
        short: setting.short.clone(),
        ..Model::default()
    };
    create_initial_files(setting, &states, &mut model);
    let workers = unstarted_interpreters(program, phase, setting, &states).into_iter();
    let begun = |it| Worker::begun(it, setting.is_fast_path);
    let mut workers: Vec<Worker> = workers.map(begun).collect();
    let mut outcome = PhaseOutcome {
        model,
        done: BTreeMap::new(),
        flows: Vec::new(),
        workers: Vec::new(),
        states,
        is_ended: false,
    };
    let mut rng = Rng::new(setting.seed);
    let mut now_ns = 1;
    let mut flights: Vec<(usize, Request)> = Vec::new();
    let slots = setting.workers * setting.slots;
    let mut free: BTreeSet<u32> = (0..slots).collect();
    while outcome.model.count < setting.requests_max && now_ns < 200_000_000_000 {
        now_ns += 1000;
        for slot in free.clone() {
            let worker = (slot / setting.slots) as usize;
            let generator = workers[worker].generator();
            match generator.next(slot % setting.slots, now_ns) {
                Step::Issue(request) => {
                    flights.push((worker, request));
                    free.remove(&slot);
                }
                Step::Wait { until_ns } => now_ns = now_ns.max(until_ns.min(now_ns + 100_000)),
                Step::Park | Step::Again => {}
                Step::Finished => {
                    free.remove(&slot);
                }
            }
        }
        if flights.is_empty() {
            if free.is_empty() {
                outcome.is_ended = true;
                break;
            }
            continue;
        }
        let (worker, mut request) = flights.swap_remove(rng.below(flights.len() as u64) as usize);
        let slot = request.slot;
        request.slot += worker as u32 * setting.slots;
        let result = outcome.model.answer(&request);
        free.insert(request.slot);
        let completion = Completion { slot, result };
        let generator = workers[worker].generator();
        let flow = generator.complete(completion, now_ns);
        outcome.flows.push((now_ns, flow));
        if let Flow::Timed { kind, errno, .. } = flow {
            let (well, badly) = outcome.done.entry(kind).or_default();
            *(if errno == 0 { well } else { badly }) += 1;
        }
    }
    let workers = workers.into_iter().map(Worker::into_interpreter);
    outcome.workers = workers.collect();
    outcome
}

fn create_and_close(label: u8) -> Act {
    let acts = vec![
        act(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Absent)),
        ),
        moving(FileOperation::Write, MovedBytes::Size, 4096),
        act(FileOperation::Fsync, CallObject::Handle),
        act(FileOperation::Close, CallObject::Handle),
    ];
    Act::Transaction(label, acts)
}

#[test]
fn a_file_is_created_written_in_pieces_and_closed() {
    let program = of(vec![set("files", 2)], &["create"]);
    let phase = phase(vec![create_and_close(0)]);
    let outcome = carry_out(&program, &phase, &Setting::default());
    let file = |index| {
        [
            format!("create 0/{index}"),
            "write 4096@0".into(),
            "write 4096@4096".into(),
            "write 1808@8192".into(),
            format!("fsync 0/{index}"),
            format!("close 0/{index}"),
        ]
    };
    assert_eq!(outcome.model.log, [file(0), file(1)].concat());
    assert_eq!(outcome.done[&0], (2, 0));
    assert!(outcome.is_ended && outcome.model.violations.is_empty());
    assert_eq!(outcome.states[0].present_bytes(), 20_000);
}

#[test]
fn reading_the_rest_ends_with_an_empty_read() {
    let program = of(vec![set("files", 1)], &[]);
    let phase = phase(vec![
        act(
            FileOperation::Open,
            CallObject::Name(pick(0, FileFilter::Present)),
        ),
        moving(FileOperation::Read, MovedBytes::Rest, 8192),
        act(FileOperation::Close, CallObject::Handle),
    ]);
    let setting = Setting {
        present: vec![1],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    let wanted = [
        "open 0/0",
        "read 8192@0",
        "read 8192@8192",
        "read 8192@10000",
        "close 0/0",
    ];
    assert_eq!(outcome.model.log, wanted);
    // What has no transaction of its own is one as a whole.
    assert_eq!(outcome.workers[0].kinds(), ["work"]);
    assert_eq!(outcome.done[&0], (1, 0));
}

#[test]
fn a_failed_transaction_closes_its_files_and_skips_the_rest() {
    let program = of(vec![set("files", 2)], &["create"]);
    let phase = phase(vec![create_and_close(0)]);
    let setting = Setting {
        failing: BTreeSet::from([3]),
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    let begun = [
        "create 0/0",
        "write 4096@0",
        "write 4096@4096",
        "close 0/0",
        "create 0/1",
    ];
    assert_eq!(outcome.model.log[..5], begun);
    assert_eq!(outcome.done[&0], (1, 1));
    assert!(outcome.model.violations.is_empty() && outcome.model.open.is_empty());
}

#[test]
fn acts_are_repeated_and_mixed_by_weight() {
    let program = of(vec![set("files", 10)], &["stat", "open"]);
    let one = |filter| Pick {
        order: PickOrder::Drawn(Distribution::Uniform),
        ..pick(0, filter)
    };
    let open = vec![
        act(
            FileOperation::Open,
            CallObject::Name(one(FileFilter::Present)),
        ),
        act(FileOperation::Close, CallObject::Handle),
    ];
    let stat = act(
        FileOperation::Stat,
        CallObject::Name(one(FileFilter::Present)),
    );
    let mut phase = phase(vec![Act::Mix(vec![
        (
            3,
            vec![Act::Transaction(
                0,
                vec![Act::Times(Law::fixed(5), vec![stat])],
            )],
        ),
        (1, vec![Act::Transaction(1, open)]),
    ])]);
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 4000,
        of: AmountScope::Each,
    }];
    let setting = Setting {
        present: vec![10],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    let (stats, opens) = (outcome.done[&0].0, outcome.done[&1].0);
    assert_eq!(stats + opens, 4000);
    assert!((2850..3150).contains(&stats), "{stats}");
    let calls = outcome
        .model
        .log
        .iter()
        .filter(|it| it.starts_with("stat"))
        .count();
    assert_eq!(calls as u64, 5 * stats);
    assert!(outcome.model.violations.is_empty());
}

#[test]
fn a_group_quota_covers_all_its_workers() {
    let program = of(vec![set("files", 1000)], &["create"]);
    let mut phase = phase(vec![create_and_close(0)]);
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 100,
        of: AmountScope::Group,
    }];
    let setting = Setting {
        workers: 3,
        slots: 2,
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    assert_eq!(outcome.done[&0], (100, 0));
    assert!(outcome.is_ended && outcome.model.violations.is_empty());
}

#[test]
fn a_quota_of_labeled_transactions_ends_a_worker_or_a_group() {
    let program = of(vec![set("files", 1000)], &["create"]);
    let mut phase = phase(vec![create_and_close(0)]);
    // What other slots are at when it is enough is still done.
    for (of, wanted) in [(AmountScope::Each, 40..=42), (AmountScope::Group, 20..=23)] {
        phase.groups[0].quotas = vec![Quota {
            what: Measure::Steps(0),
            count: 20,
            of,
        }];
        let setting = Setting {
            workers: 2,
            slots: 2,
            ..Setting::default()
        };
        let outcome = carry_out(&program, &phase, &setting);
        assert!(
            outcome.is_ended && wanted.contains(&outcome.done[&0].0),
            "{:?}",
            outcome.done
        );
        let counted: u64 = outcome.workers.iter().map(|it| it.steps()[0].count).sum();
        assert_eq!(counted, outcome.done[&0].0);
        assert_eq!(
            outcome.workers[0].steps()[0].bytes,
            10_000 * outcome.workers[0].steps()[0].count
        );
    }
}

#[test]
fn only_labeled_acts_are_counted_as_steps() {
    let program = of(vec![set("files", 3)], &["write", "all"]);
    let write = Act::Call(Call {
        label: Some(0),
        bytes: MovedBytes::Law(Law::fixed(100)),
        ..call(FileOperation::Write, CallObject::Handle)
    });
    let phase = phase(vec![Act::Step(
        1,
        vec![
            act(
                FileOperation::Create,
                CallObject::Name(pick(0, FileFilter::Absent)),
            ),
            write,
            act(FileOperation::Close, CallObject::Handle),
        ],
    )]);
    let outcome = carry_out(&program, &phase, &Setting::default());
    let [write, all] = outcome.workers[0].steps() else {
        panic!("a counter for each label");
    };
    assert_eq!((write.count, write.bytes, write.errors), (3, 300, 0));
    assert_eq!((all.count, all.bytes), (3, 300));
    assert!(all.min_ns > write.min_ns);
}

#[test]
fn sync_needs_no_file_and_chmod_leaves_the_file_available() {
    let program = of(vec![set("files", 3)], &[]);
    let phase = phase(vec![
        act(FileOperation::Sync, CallObject::Handle),
        act(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Absent)),
        ),
        act(FileOperation::Close, CallObject::Handle),
        act(FileOperation::Chmod, CallObject::Same),
        act(FileOperation::Unlink, CallObject::Same),
    ]);
    let outcome = carry_out(&program, &phase, &Setting::default());
    assert!(
        outcome.is_ended && outcome.model.violations.is_empty(),
        "{:?}",
        outcome.model.violations
    );
    let count = |name: &str| {
        let log = outcome.model.log.iter();
        log.filter(|line| line.contains(name)).count()
    };
    assert_eq!((count("chmod"), count("unlink")), (3, 3));
    assert!(count("sync") >= 3);
}

#[test]
fn directory_walks_visit_each_file_and_a_failure_ends_one_walk() {
    let mut files = set("files", 5);
    files.tree = DirectoryTree::Blocks { each: 2 };
    let program = of(vec![files], &["remove"]);
    let walk = |after: &[Act]| {
        Act::Walk(DirectoryWalk {
            fileset: 0,
            handle: 1,
            each: vec![Act::Transaction(0, vec![unlink_act(1)])],
            after: after.to_vec(),
        })
    };
    let rmdir = Act::Call(Call {
        handle: 1,
        ..call(FileOperation::Rmdir, CallObject::Directory)
    });
    let log = |failing: &[usize]| {
        let mut phase = phase(vec![walk(std::slice::from_ref(&rmdir))]);
        phase.groups[0].failed = OnFailure::Count;
        phase.groups[0].quotas = vec![Quota {
            what: Measure::Rounds,
            count: 1,
            of: AmountScope::Each,
        }];
        let setting = Setting {
            present: vec![5],
            failing: failing.iter().copied().collect(),
            ..Setting::default()
        };
        let outcome = carry_out(&program, &phase, &setting);
        assert!(outcome.is_ended && outcome.model.violations.is_empty());
        outcome.model.log.join(", ")
    };
    let of = |name: usize, files: &[usize]| {
        let entry = format!("next_entry 0/{name}");
        let files = files
            .iter()
            .map(|file| format!("{entry}, unlink 0/{file}, "));
        let last = files.clone().count();
        let rmdir = format!(
            "{entry}, rmdir 0/{}",
            if last == 0 { name } else { name + last - 1 }
        );
        files.collect::<String>() + &rmdir
    };
    let complete = [of(0, &[0, 1]), of(2, &[2, 3]), of(4, &[4])].join(", ");
    assert_eq!(log(&[]), complete);
    let begun = [of(0, &[]), of(2, &[2, 3]), of(4, &[4])].join(", ");
    assert_eq!(log(&[1]), begun);
}

#[test]
fn cards_set_operation_and_place_per_worker_or_for_all() {
    let program = of(vec![set("files", 1)], &[]);
    let at = |operation| {
        Act::Call(Call {
            place: CallPosition::Dealt { step_bytes: 10 },
            bytes: MovedBytes::Law(Law::fixed(10)),
            ..call(operation, CallObject::Handle)
        })
    };
    let card = |choice, number| Card { choice, number };
    let log = |is_shared, workers| {
        let deck = Deck {
            cards: [card(0, 3), card(1, 0), card(0, 7)].into(),
            is_shared,
            choices: vec![
                vec![at(FileOperation::Read)],
                vec![at(FileOperation::Write)],
            ],
        };
        let mut phase = phase(vec![Act::Deal(deck)]);
        phase.groups[0].enter = vec![act(
            FileOperation::Open,
            CallObject::Name(around(0, FileFilter::Any)),
        )];
        phase.groups[0].quotas = vec![Quota {
            what: Measure::Rounds,
            count: 4,
            of: AmountScope::Each,
        }];
        let setting = Setting {
            present: vec![1],
            workers,
            ..Setting::default()
        };
        let mut log = carry_out(&program, &phase, &setting).model.log;
        log.retain(|line| line.contains('@'));
        log.sort_unstable();
        log.join(", ")
    };
    let own = "read 10@30, read 10@30, read 10@70, write 10@0";
    assert_eq!(log(false, 1), own);
    assert_eq!(log(true, 1), own);
    // Eight of three cards.
    let reads = "read 10@30, read 10@30, read 10@30, read 10@70, read 10@70";
    let shared = format!("{reads}, write 10@0, write 10@0, write 10@0");
    assert_eq!(log(true, 2), shared);
}

fn unlink_act(handle: u8) -> Act {
    Act::Call(Call {
        handle,
        ..call(FileOperation::Unlink, CallObject::Same)
    })
}

/// As in filebench, where two threads may have closed the same file before they delete it.
#[test]
fn a_name_that_the_run_has_removed_may_be_missing() {
    let program = of(vec![set("files", 2)], &["all"]);
    let acts = vec![
        act(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Absent)),
        ),
        act(FileOperation::Close, CallObject::Handle),
        unlink_act(0),
        unlink_act(0),
    ];
    let outcome = carry_out(
        &program,
        &phase(vec![Act::Transaction(0, acts)]),
        &Setting::default(),
    );
    assert_eq!(outcome.model.violations, ["unlink 0/0", "unlink 0/1"]);
    assert_eq!(outcome.done[&0], (2, 0));
    let unlink = Request {
        operation: Operation::Unlink,
        fileset: 0,
        handle: 0,
        slot: 0,
        file_index: 0,
        length_bytes: 0,
        offset_bytes: 0,
    };
    let expected = |result| outcome.workers[0].expected_bytes(&unlink, result);
    assert_eq!(expected(-libc_errno::ENOENT), EXPECTED_FAILURE);
    assert_eq!(expected(-libc_errno::EIO), 0);
    // Nobody in the run removed this one.
    outcome.states[0].mark_present(0, false);
    assert_eq!(expected(-libc_errno::ENOENT), 0);
}

#[test]
fn nothing_is_allocated_while_the_program_runs() {
    let program = of(vec![set("files", 8)], &[]);
    let phase = phase(vec![
        act(
            FileOperation::Create,
            CallObject::Name(around(0, FileFilter::Absent)),
        ),
        moving(
            FileOperation::Write,
            MovedBytes::Law(Law::of(Shape::Uniform { low: 0, high: 9000 })),
            4096,
        ),
        act(FileOperation::Close, CallObject::Handle),
        act(FileOperation::Unlink, CallObject::Same),
    ]);
    let states: Vec<Arc<FileStates>> = program
        .filesets
        .iter()
        .map(|set| Arc::new(FileStates::new(set.count, true)))
        .collect();
    let mut interpreter = Interpreter::new(&WorkerContext {
        program: &program,
        phase: &phase,
        group: &phase.groups[0],
        worker_index: 0,
        worker_count: 1,
        slot_count: 1,
        seed: 1,
        program_seed: 1,
        states: &states,
        shared: &SharedTurnCounters::default(),
        progress: &Arc::default(),
        phase_end: &Arc::new(PhaseEnd::new(1)),
        waits: &Arc::new(PhaseWaits::new(&program, &phase, |_| 1)),
        open_codes: &[0],
        rounds_per_us: 0.0,
        is_initial: false,
        unit: TransactionUnit::Declared,
        is_checked: false,
        rounds: None,
    })
    .unwrap();
    interpreter.begin();
    let mut count = 0;
    let counts = allocation_counter::measure(|| {
        while count < 100_000 {
            let Step::Issue(request) = interpreter.next(0, count) else {
                break;
            };
            let result = request.length_bytes as i32;
            interpreter.complete(Completion { slot: 0, result }, count);
            count += 1;
        }
    });
    assert_eq!((count, counts.count_total), (100_000, 0));
}

#[test]
fn the_time_limit_ends_an_endless_phase() {
    let program = of(vec![set("files", 1)], &[]);
    let mut phase = phase(vec![
        act(
            FileOperation::Stat,
            CallObject::Name(around(0, FileFilter::Present)),
        ),
        Act::Think(Law::fixed(1_000_000)),
    ]);
    phase.time_ns = Some(100_000_000);
    phase.groups[0].last = vec![
        act(
            FileOperation::Open,
            CallObject::Name(around(0, FileFilter::Present)),
        ),
        act(FileOperation::Close, CallObject::Handle),
    ];
    let setting = Setting {
        present: vec![1],
        ..Setting::default()
    };
    let outcome = carry_out(&program, &phase, &setting);
    assert!(outcome.is_ended);
    assert!(
        (90..=101).contains(&outcome.done[&0].0),
        "{:?}",
        outcome.done
    );
    assert_eq!(
        outcome.model.log[outcome.model.log.len() - 2..],
        ["open 0/0", "close 0/0"]
    );
}

/// A mail server: files are made in one place, moved to another, read and removed there.
fn mail() -> (Program, ProgramPhase) {
    let program = of(
        vec![set("tmp", 8), set("mail", 50)],
        &["deliver", "read", "purge"],
    );
    let deliver = vec![
        act(
            FileOperation::Create,
            CallObject::Name(around(0, FileFilter::Absent)),
        ),
        moving(
            FileOperation::Write,
            MovedBytes::Law(Law::of(Shape::Uniform { low: 0, high: 9000 })),
            4096,
        ),
        act(FileOperation::Close, CallObject::Handle),
        Act::Call(Call {
            second: Some(around(1, FileFilter::Absent)),
            ..call(FileOperation::Rename, CallObject::Same)
        }),
    ];
    let some = Pick {
        order: PickOrder::Drawn(Distribution::Uniform),
        ..pick(1, FileFilter::Present)
    };
    let read = vec![
        Act::Call(Call {
            handle: 1,
            ..call(FileOperation::Open, CallObject::Name(some.clone()))
        }),
        Act::Call(Call {
            handle: 1,
            bytes: MovedBytes::Rest,
            piece_bytes: 4096,
            ..call(FileOperation::Read, CallObject::Handle)
        }),
        Act::Call(Call {
            handle: 1,
            bytes: MovedBytes::Law(Law::fixed(10)),
            place: CallPosition::End,
            ..call(FileOperation::Write, CallObject::Handle)
        }),
        Act::Call(Call {
            handle: 1,
            ..call(FileOperation::Close, CallObject::Handle)
        }),
    ];
    let purge = vec![act(FileOperation::Unlink, CallObject::Name(some))];
    let mut phase = phase(vec![Act::Mix(vec![
        (2, vec![Act::Transaction(0, deliver)]),
        (3, vec![Act::Transaction(1, read)]),
        (1, vec![Act::Transaction(2, purge)]),
    ])]);
    phase.groups[0].out = OnNoFile::Skip;
    phase.groups[0].quotas = vec![Quota {
        what: Measure::Rounds,
        count: 500,
        of: AmountScope::Each,
    }];
    (program, phase)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_impossible_request_is_ever_issued(
        seed: u64,
        workers in 1_u32..5,
        slots in 1_u32..5,
        present in 0_u32..50,
        failing in proptest::collection::btree_set(1_usize..5000, 0..50),
        counts: bool,
    ) {
        let (program, mut phase) = mail();
        // With `Count`, a failure would lead to impossible requests.
        if counts && failing.is_empty() {
            phase.groups[0].failed = OnFailure::Count;
        }
        let setting = Setting {
            workers,
            slots,
            present: vec![0, present],
            failing,
            seed: seed >> 1,
            ..Setting::default()
        };
        let run = carry_out(&program, &phase, &setting);
        prop_assert_eq!(&run.model.violations, &Vec::<String>::new());
        prop_assert!(run.is_ended, "after {} requests", run.model.count);
        let present = |fileset: u8| run.model.sizes.keys().filter(|it| it.0 == fileset).count();
        prop_assert_eq!(run.states[0].present_count() as usize, present(0));
        prop_assert_eq!(run.states[1].present_count() as usize, present(1));
        let bytes: u64 = run.model.sizes.values().sum();
        prop_assert_eq!(run.states[0].present_bytes() + run.states[1].present_bytes(), bytes);
    }
}
