//! Programs made of bytes: those that pass the checks are carried out on a file system that says
//! yes to all, ask for nothing outside of their filesets and buffers, and do not hang. They read
//! back from TOML as they were written.

#![no_main]

use std::sync::Arc;

use engine::{Completion, Operation, Request};
use generate::program::{
    FileStates, GroupProgress, Interpreter, PhaseEnd, PhaseWaits, SharedTurnCounters,
    TransactionUnit, WorkerContext, grown_trees,
};
use generate::{Generator, Step};
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::made_of::program_of;
use pgmeter_fuzz::{planned, reads_back};
use plan::program::{Program, ProgramPhase};

/// Requests of a phase, at most.
const REQUESTS_MAX: u32 = 5000;
/// How much later it is at each step, in nanoseconds.
const STEP_NS: u64 = 10_000;

fuzz_target!(|bytes: &[u8]| {
    let program = program_of(bytes);
    let _ = program.check_depth(2);
    if program.check().is_err() {
        return;
    }
    let cells = [front::cell("fuzz", program.clone())];
    planned(&cells);
    reads_back(&cells);
    let Ok(trees) = grown_trees(&program) else {
        return;
    };
    assert_eq!(trees.len(), program.filesets.len());
    let new = |count| Arc::new(FileStates::new(count, true));
    let states: Vec<_> = program.filesets.iter().map(|it| new(it.count)).collect();
    for phase in program.phases() {
        carry_out(&program, phase, &states);
        states.iter().for_each(|it| it.release_all());
    }
});

fn interpreters(
    program: &Program,
    phase: &ProgramPhase,
    states: &[Arc<FileStates>],
) -> Vec<Interpreter> {
    let phase_end = Arc::new(PhaseEnd::new(phase.groups.len() as u32));
    let waits = Arc::new(PhaseWaits::new(program, phase, |_| 1));
    let way_codes = vec![0; program.ways.len()];
    let of_group = |group| {
        let shared = SharedTurnCounters::default();
        Interpreter::new(&WorkerContext {
            program,
            phase,
            group,
            worker_index: 0,
            worker_count: 1,
            slot_count: 1,
            seed: 1,
            program_seed: 1,
            states,
            shared: &shared,
            progress: &Arc::new(GroupProgress::new(group.quotas.len())),
            phase_end: &phase_end,
            waits: &waits,
            open_codes: &way_codes,
            rounds_per_us: 0.0,
            is_initial: false,
            unit: TransactionUnit::Declared,
            is_checked: false,
            rounds: None,
        })
        .ok()
    };
    phase.groups.iter().filter_map(of_group).collect()
}

fn carry_out(program: &Program, phase: &ProgramPhase, states: &[Arc<FileStates>]) {
    let mut workers = interpreters(program, phase, states);
    let mut now_ns = 1;
    for worker in &mut workers {
        if worker.enter() {
            turn(program, worker, &mut now_ns, REQUESTS_MAX);
        }
        worker.begin();
    }
    for _ in 0..REQUESTS_MAX {
        let mut is_over = true;
        for worker in &mut workers {
            is_over &= turn(program, worker, &mut now_ns, 1);
        }
        if is_over {
            break;
        }
    }
}

/// Carries out so many steps of a worker; whether it is done.
fn turn(program: &Program, worker: &mut Interpreter, now_ns: &mut u64, steps: u32) -> bool {
    for _ in 0..steps {
        *now_ns += STEP_NS;
        match worker.next(0, *now_ns) {
            Step::Issue(request) => {
                is_within(program, worker, &request);
                let result = match request.operation {
                    Operation::Read | Operation::Write => request.length_bytes as i32,
                    _ => 0,
                };
                let slot = request.slot;
                worker.complete(Completion { slot, result }, *now_ns);
            }
            Step::Wait { until_ns } => *now_ns = (*now_ns).max(until_ns.min(*now_ns + 1_000_000)),
            Step::Again => {}
            Step::Park => panic!("nothing is in flight, and the worker waits for it"),
            Step::Finished => return true,
        }
    }
    false
}

/// A request is for a file that there is, in a register and a buffer that there are.
fn is_within(program: &Program, worker: &Interpreter, request: &Request) {
    let is_file = |fileset: u8, file: u32| {
        let set = program.filesets.get(usize::from(fileset));
        set.is_some_and(|set| file < set.count)
    };
    let is_named = !matches!(
        request.operation,
        Operation::Read | Operation::Write | Operation::Fsync | Operation::Close | Operation::Sync
    );
    assert!(
        !is_named || is_file(request.fileset, request.file_index),
        "{request:?}"
    );
    assert!(
        request.handle < worker.register_count().max(1),
        "{request:?}"
    );
    assert!(request.slot == 0, "{request:?}");
    let moves = matches!(request.operation, Operation::Read | Operation::Write);
    assert!(
        !moves || request.length_bytes <= worker.buffer_bytes(),
        "{request:?}"
    );
    if matches!(
        request.operation,
        Operation::Rename | Operation::Link | Operation::Symlink
    ) {
        let second = request.offset_bytes;
        assert!(is_file((second >> 32) as u8, second as u32), "{request:?}");
    }
}
