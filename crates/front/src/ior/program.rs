//! The phases of a run.

use workload::program::{
    Act, Before, Call, DirectoryNesting, DirectoryTree, Ending, FileNames, FileOperation, FilePath,
    FilesetPlan, Group, Law, Measure, NestedDirectories, On, Order, Pick, Program, ProgramPart,
    ProgramPhase, Share, Turn, Until, Way, Where, Which,
};

use super::options::Options;
use crate::acts::{fileset, hidden, moving, named, opened, phase, picked, quota};

/// The transfers of each phase, by their label.
const TRANSFER: u8 = 0;
const NS_PER_SECOND: u64 = 1_000_000_000;

/// What all repetitions do.
pub(super) fn program(options: &Options) -> Program {
    let mut parts = Vec::new();
    let write = |options: &Options| group(options, FileOperation::Write);
    match options.writes {
        true => parts.push(paused(options, phase("write", write(options)))),
        false => {
            // Only what is measured is synced and cut.
            let plain = Options {
                wall_seconds: 0,
                is_synced: false,
                is_each_synced: false,
                ..options.clone()
            };
            parts.push(ProgramPart::Phase(hidden("write", write(&plain))));
        }
    }
    if options.reads {
        let read = group(options, FileOperation::Read);
        parts.push(paused(options, phase("read", read)));
    }
    parts.push(ProgramPart::Phase(phase("remove", removal(options))));
    Program {
        labels: vec!["transfer".to_owned()],
        filesets: vec![files(options)],
        ways: vec![Way {
            permissions: 0o664,
            takes_existing: !options.has_file_per_rank,
            is_direct: options.is_direct,
            ..Way::default()
        }],
        parts: vec![ProgramPart::Rounds {
            until: Until::Times(options.repetitions),
            parts,
        }],
        ..Program::default()
    }
}

/// One for all, or one for each rank by its number.
fn files(options: &Options) -> FilesetPlan {
    let bytes = options.bytes_of_rank();
    let name = options.file_name();
    let (count, bytes, names) = match options.has_file_per_rank {
        true => (
            options.ranks,
            bytes,
            FileNames::Number {
                before: format!("{name}."),
                digits: 8,
                after: String::new(),
            },
        ),
        false => (
            1,
            bytes.saturating_mul(options.ranks.into()),
            FileNames::Number {
                before: name.to_owned(),
                digits: 0,
                after: String::new(),
            },
        ),
    };
    FilesetPlan {
        names,
        tree: match options.has_directory_per_rank {
            true => DirectoryTree::Nested {
                each: 1,
                directories: NestedDirectories {
                    before: String::new(),
                    digits: 0,
                    fan: options.ranks.max(2),
                    nesting: DirectoryNesting::Digits,
                },
            },
            false => DirectoryTree::Flat,
        },
        size: Law::fixed(bytes),
        ..fileset("files", "", "", count)
    }
}

/// The file of a rank.
fn own(options: &Options, which: Which) -> Pick {
    match options.has_file_per_rank {
        true => Pick {
            turn: Turn::Slice,
            ..picked(0, which, Order::Next)
        },
        false => picked(0, which, Order::Index(0)),
    }
}

fn group(options: &Options, operation: FileOperation) -> Group {
    let writes = operation == FileOperation::Write;
    let open = match writes {
        true => named(FileOperation::Create, own(options, which_made(options)), 0),
        false => named(FileOperation::Open, own(options, Which::Present), 0),
    };
    let mut transfer = vec![Act::Call(Call {
        place: place(options),
        ..moving(operation, options.transfer_bytes)
    })];
    if writes && options.is_each_synced {
        transfer.push(opened(FileOperation::Fsync));
    }
    let count = options.bytes_of_rank() / options.transfer_bytes;
    let transfer = Act::Transaction(TRANSFER, transfer);
    let mut group = Group {
        name: "ranks".to_owned(),
        shift: if writes { 0 } else { options.shift() },
        first: vec![open],
        ..Group::default()
    };
    let mut behind = Vec::new();
    if writes && options.is_synced {
        behind.push(opened(FileOperation::Fsync));
    }
    if options.has_barriers {
        group.first.push(Act::Meet(0));
        behind.push(Act::Meet(1));
    }
    let close = opened(FileOperation::Close);
    match options.wall_seconds {
        // All of it is one round, as what is behind it is part of its time.
        0 => {
            group.body = vec![Act::Times(Law::fixed(count), vec![transfer])];
            group.body.append(&mut behind);
            group.quotas = vec![quota(Measure::Rounds, 1, Share::Each)];
        }
        _ => {
            group.body = vec![transfer];
            group.quotas = vec![quota(Measure::Rounds, count, Share::Each)];
            group.last = behind;
        }
    }
    group.last.push(close);
    group
}

/// The first rank that comes makes the file that all share.
fn which_made(options: &Options) -> Which {
    match options.has_file_per_rank {
        true => Which::Absent,
        false => Which::Any,
    }
}

/// Where each transfer goes: in a file for each rank one behind the other, else in blocks that the
/// ranks take in turn.
fn place(options: &Options) -> Where {
    match (options.has_file_per_rank, options.is_random) {
        // A piece of more than 32 bits is refused as too large.
        (true, true) => Where::Along(FilePath::Shuffled {
            step_bytes: u32::try_from(options.transfer_bytes).unwrap_or(u32::MAX),
        }),
        (true, false) => Where::Here,
        (false, _) => Where::Along(FilePath::Blocks {
            block_bytes: options.block_bytes,
            stride_bytes: options.block_bytes * u64::from(options.ranks),
            each_bytes: options.block_bytes,
        }),
    }
}

/// Each rank removes its own file, or the first that of all.
fn removal(options: &Options) -> Group {
    let unlink = Call::new(
        FileOperation::Unlink,
        On::Name(own(options, Which::Present)),
    );
    Group {
        name: "ranks".to_owned(),
        workers: (!options.has_file_per_rank).then_some(1),
        body: vec![Act::Call(unlink)],
        quotas: vec![quota(Measure::Rounds, 1, Share::Each)],
        ..Group::default()
    }
}

/// A phase that is measured.
fn paused(options: &Options, mut phase: ProgramPhase) -> ProgramPart {
    if options.delay_seconds > 0 {
        phase.before.push(Before::Pause {
            ns: u64::from(options.delay_seconds) * NS_PER_SECOND,
        });
    }
    if options.wall_seconds > 0 {
        phase.time_ns = Some(u64::from(options.wall_seconds) * NS_PER_SECOND);
        phase.time_up = match options.wears_out {
            true => Ending::Level,
            false => Ending::Stop,
        };
    }
    ProgramPart::Phase(phase)
}
