//! Prints the cost per request of interpreting programs.
//!
//! `cargo run --release -p generate --example program_speed`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use engine::Completion;
use generate::program::{
    FileStates, GroupProgress, Interpreter, PhaseEnd, PhaseWaits, SharedTurnCounters,
    TransactionUnit, WorkerContext,
};
use generate::{Generator, Step};
use plan::program::{
    Act, Call, CallObject, CallPosition, DirectoryTree, FileFilter, FileNames, FileOperation,
    FileSharing, FilesetPlan, FilesetSharing, Group, Law, MovedBytes, Pick, PickOrder, Program,
    ProgramPhase, Shape,
};

const FILES: u32 = 100_000;
const TRIALS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let make = vec![
        call(
            FileOperation::Create,
            CallObject::Name(next(FileFilter::Absent)),
        ),
        write(MovedBytes::Law(Law::fixed(4096)), CallPosition::Here),
        call(FileOperation::Close, CallObject::Handle),
    ];
    let cycle = [make, vec![call(FileOperation::Unlink, CallObject::Same)]].concat();
    for is_shared in [false, true] {
        program("create, write, close, unlink", &cycle, is_shared)?;
        program("mail: 12 calls of four kinds", &mail(), is_shared)?;
    }
    Ok(())
}

fn next(filter: FileFilter) -> Pick {
    Pick {
        fileset: 0,
        which: filter,
        order: PickOrder::Next,
        turn: FileSharing::Own,
    }
}

fn around(filter: FileFilter) -> Pick {
    Pick {
        order: PickOrder::Around,
        turn: FileSharing::Shared,
        ..next(filter)
    }
}

fn call(operation: FileOperation, on: CallObject) -> Act {
    Act::Call(Call::new(operation, on))
}

fn write(bytes: MovedBytes, position: CallPosition) -> Act {
    Act::Call(Call {
        bytes,
        place: position,
        ..Call::new(FileOperation::Write, CallObject::Handle)
    })
}

/// Like filebench's varmail: remove a file, create and append to one, append to another, read a
/// third.
fn mail() -> Vec<Act> {
    let drawn = || {
        MovedBytes::Law(Law::of(Shape::Uniform {
            low: 1,
            high: 16_384,
        }))
    };
    vec![
        call(
            FileOperation::Unlink,
            CallObject::Name(around(FileFilter::Present)),
        ),
        call(
            FileOperation::Create,
            CallObject::Name(around(FileFilter::Absent)),
        ),
        write(drawn(), CallPosition::End),
        call(FileOperation::Fsync, CallObject::Handle),
        call(FileOperation::Close, CallObject::Handle),
        call(
            FileOperation::Open,
            CallObject::Name(around(FileFilter::Present)),
        ),
        write(drawn(), CallPosition::End),
        call(FileOperation::Fsync, CallObject::Handle),
        call(FileOperation::Close, CallObject::Handle),
        call(
            FileOperation::Open,
            CallObject::Name(around(FileFilter::Present)),
        ),
        call(FileOperation::Stat, CallObject::Handle),
        call(FileOperation::Close, CallObject::Handle),
    ]
}

/// A group that creates the files that exist before the measurement.
fn filling() -> Group {
    Group {
        body: vec![
            call(
                FileOperation::Create,
                CallObject::Name(next(FileFilter::Absent)),
            ),
            call(FileOperation::Close, CallObject::Handle),
        ],
        ..Group::default()
    }
}

fn program(name: &str, body: &[Act], is_shared: bool) -> Result<(), Box<dyn std::error::Error>> {
    let group = Group {
        body: body.to_vec(),
        ..Group::default()
    };
    let phase = ProgramPhase {
        name: "work".to_owned(),
        groups: vec![group.clone()],
        ..ProgramPhase::default()
    };
    let program = Program {
        filesets: vec![FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: FilesetSharing::One,
            count: FILES,
            names: FileNames::Number {
                before: String::new(),
                digits: 0,
                after: String::new(),
            },
            tree: DirectoryTree::Flat,
            size: Law::fixed(4096),
            present_permille: 800,
        }],
        ..Program::default()
    };
    let fill = filling();
    let mut best = f64::INFINITY;
    for _ in 0..TRIALS {
        let states = [Arc::new(FileStates::new(FILES, is_shared))];
        let phase_end = Arc::new(PhaseEnd::new(1));
        let waits = Arc::new(PhaseWaits::new(&program, &phase, |_| 1));
        let (shared, progress) = (
            SharedTurnCounters::default(),
            Arc::new(GroupProgress::new(0)),
        );
        let context = |phase, group, initial| WorkerContext {
            program: &program,
            phase,
            group,
            worker_index: 0,
            worker_count: 1,
            slot_count: 1,
            seed: 1,
            program_seed: 1,
            states: &states,
            shared: &shared,
            progress: &progress,
            phase_end: &phase_end,
            waits: &waits,
            open_codes: &[0],
            rounds_per_us: 0.0,
            is_initial: initial,
            unit: TransactionUnit::Declared,
            is_checked: false,
            rounds: None,
        };
        if body.len() > 4 {
            let mut filling = Interpreter::new(&context(&phase, &fill, true))?;
            run(&mut filling, u64::MAX);
            states[0].release_all();
        }
        let mut interpreter = Interpreter::new(&context(&phase, &group, false))?;
        best = best.min(run(&mut interpreter, 1_000_000));
    }
    tell(name, is_shared, best);
    Ok(())
}

fn tell(name: &str, is_shared: bool, best_ns: f64) {
    let scope = if is_shared { "shared" } else { "own" };
    println!("{name:32} {scope:8} {best_ns:8.2} ns per request");
}

/// Runs up to `most` requests. Returns nanoseconds per request.
fn run(generator: &mut impl Generator, most: u64) -> f64 {
    generator.begin();
    let begun = Instant::now();
    let mut count = 0;
    while count < most {
        let Step::Issue(request) = black_box(&mut *generator).next(0, 1) else {
            break;
        };
        black_box(request.operation);
        black_box(request.file_index);
        black_box(request.offset_bytes);
        // No more than a write's bytes, which are few.
        let result = request.length_bytes as i32;
        black_box(generator.complete(Completion { slot: 0, result }, 2));
        count += 1;
    }
    begun.elapsed().as_secs_f64() * 1e9 / count.max(1) as f64
}
