//! The phases of a run, in the order of the original.

use plan::program::{
    Act, Before, Bytes, Call, Copies, Ending, FileOperation, FilePath, FilesetPlan, Group, Law, On,
    Order, Pick, Program, ProgramPhase, Turn, Way, Where, Which,
};

use super::options::Options;
use crate::acts::{
    end_after, fileset, group, in_turn, moving, named, numbered, on_file, on_next, opened, phase,
    picked, rounds,
};

/// Bytes of each piece of the common file.
pub(super) const HARD_BYTES: u64 = 47_008;
/// Bytes of each file in the common directory.
pub(super) const FILE_BYTES: u64 = 3901;
/// Bytes of each read at a random place.
const RANDOM_BYTES: u32 = 4096;
/// Pieces of the common file that each rank reads at most, where no option says how many there
/// are; reading ends where the file does.
const SEGMENTS_MAX: u64 = 1_000_000_000;

/// Numbers of the filesets.
const EASY_DATA: u8 = 0;
const HARD_DATA: u8 = 1;
const EASY_FILES: u8 = 2;
const HARD_FILES: u8 = 3;
/// Numbers of the ways of opening.
const PLAIN: u8 = 0;
const SHARED: u8 = 1;
/// Numbers of the labels.
const TRANSFER: u8 = 0;
const FILE: u8 = 1;
const LIST: u8 = 2;

/// The part of finding files that one rank does for all.
pub(super) const FIND_COMMON: &str = "find in common";

/// What is done.
pub(super) fn program(options: &Options) -> Program {
    let ranks = options.ranks;
    let mut phases = [
        written(options, "ior-easy-write", easy_write(options)),
        written(options, "mdtest-easy-write", make(EASY_FILES)),
        written(options, "ior-hard-write", hard_write(options)),
        written(options, "mdtest-hard-write", make(HARD_FILES)),
        phase("find", find_own()),
        phase(FIND_COMMON, find_common()),
        phase("ior-easy-read", easy_read(options)),
        phase("mdtest-easy-stat", stat(EASY_FILES, ranks)),
        phase("ior-hard-read", hard_read(options)),
        phase("mdtest-hard-stat", stat(HARD_FILES, ranks)),
        phase("mdtest-easy-delete", delete(EASY_FILES, ranks)),
        phase("mdtest-hard-read", read(ranks)),
        phase("mdtest-hard-delete", delete(HARD_FILES, ranks)),
        written(options, "ior-rnd4K-easy-read", random_read(options)),
    ];
    if options.drops_caches {
        // The part of finding files that one rank does belongs to the phase before it.
        let own = phases.iter_mut().filter(|it| it.name != FIND_COMMON);
        own.for_each(|it| it.before.push(Before::DropCaches));
    }
    Program {
        labels: ["transfer", "file", "list"].map(str::to_owned).into(),
        filesets: filesets(options),
        ways: vec![
            Way::default(),
            Way {
                takes_existing: true,
                ..Way::default()
            },
        ],
        ..in_turn(phases)
    }
}

fn filesets(options: &Options) -> Vec<FilesetPlan> {
    let files = |name: &str, path: &str, count| FilesetPlan {
        copies: Copies::PerWorker,
        names: numbered("file.mdtest.{worker}.", 0),
        ..fileset(name, path, "", count)
    };
    let own = "mdtest-easy/test-dir.0-0/mdtest_tree.{worker}.0";
    let common = "mdtest-hard/test-dir.0-0/mdtest_tree.0";
    vec![
        FilesetPlan {
            names: numbered("ior_file_easy.", 8),
            ..fileset("easy data", "ior-easy", "", options.ranks)
        },
        FilesetPlan {
            names: numbered("file", 0),
            ..fileset("hard data", "ior-hard", "", 1)
        },
        files("easy files", own, options.easy_files),
        FilesetPlan {
            size: Law::fixed(FILE_BYTES),
            ..files("hard files", common, options.hard_files)
        },
    ]
}

/// A phase that ends with the time, once all ranks did as much as the one that had done most.
fn written(options: &Options, name: &str, group: Group) -> ProgramPhase {
    let mut phase = phase(name, group);
    end_after(&mut phase, options.wall_seconds, Ending::Level);
    phase
}

/// The file of a rank.
fn own_data(which: Which) -> Pick {
    Pick {
        turn: Turn::Slice,
        ..picked(EASY_DATA, which, Order::Next)
    }
}

/// Transfers in one file.
fn transfers(open: Act, transfer: Call, last: Vec<Act>, count: Option<u64>) -> Group {
    Group {
        first: vec![open],
        last,
        quotas: count.map(rounds).unwrap_or_default(),
        ..group(
            "ranks",
            vec![Act::Transaction(TRANSFER, vec![Act::Call(transfer)])],
        )
    }
}

fn synced() -> Vec<Act> {
    vec![opened(FileOperation::Fsync), opened(FileOperation::Close)]
}

fn closed() -> Vec<Act> {
    vec![opened(FileOperation::Close)]
}

fn easy_write(options: &Options) -> Group {
    let bytes = options.easy_transfer_bytes;
    let create = named(FileOperation::Create, own_data(Which::Absent), PLAIN);
    let count = options.easy_block_bytes.map(|block| block / bytes);
    let write = moving(FileOperation::Write, bytes);
    transfers(create, write, synced(), count)
}

/// Until the file ends, as nobody knows beforehand how far the time allowed it to grow.
fn easy_read(options: &Options) -> Group {
    let open = named(FileOperation::Open, own_data(Which::Present), PLAIN);
    let all = Call {
        bytes: Bytes::Rest,
        // A piece of more than 32 bits is refused as too large.
        piece_bytes: u32::try_from(options.easy_transfer_bytes).unwrap_or(u32::MAX),
        ..Call::new(FileOperation::Read, On::Handle)
    };
    Group {
        shift: 1 % options.ranks,
        ..transfers(open, all, closed(), Some(1))
    }
}

fn random_read(options: &Options) -> Group {
    let open = named(FileOperation::Open, own_data(Which::Present), PLAIN);
    let count = options.easy_block_bytes;
    let count = count.map(|block| block.div_ceil(RANDOM_BYTES.into()));
    let read = Call {
        place: Where::Along(FilePath::Shuffled {
            step_bytes: RANDOM_BYTES,
        }),
        ..moving(FileOperation::Read, RANDOM_BYTES.into())
    };
    Group {
        shift: 2 % options.ranks,
        ..transfers(open, read, closed(), count)
    }
}

/// Pieces of the common file that the ranks take in turn.
fn hard(options: &Options, operation: FileOperation) -> Call {
    Call {
        place: Where::Along(FilePath::Blocks {
            block_bytes: HARD_BYTES,
            stride_bytes: HARD_BYTES * u64::from(options.ranks),
            each_bytes: HARD_BYTES,
        }),
        ..moving(operation, HARD_BYTES)
    }
}

/// The first rank that comes makes the file.
fn hard_write(options: &Options) -> Group {
    let file = picked(HARD_DATA, Which::Any, Order::Index(0));
    let create = named(FileOperation::Create, file, SHARED);
    let write = hard(options, FileOperation::Write);
    transfers(create, write, synced(), options.hard_segments)
}

fn hard_read(options: &Options) -> Group {
    let file = picked(HARD_DATA, Which::Present, Order::Index(0));
    let open = named(FileOperation::Open, file, SHARED);
    let read = hard(options, FileOperation::Read);
    let count = options.hard_segments.unwrap_or(SEGMENTS_MAX);
    Group {
        shift: 1 % options.ranks,
        ..transfers(open, read, closed(), Some(count))
    }
}

/// What ranks do to each file, of the rank so many further on.
fn each(acts: Vec<Act>, shift: u32) -> Group {
    Group {
        shift,
        ..group("ranks", vec![Act::Transaction(FILE, acts)])
    }
}

/// Empty files, or full ones in the common directory.
fn make(files: u8) -> Group {
    let create = on_next(FileOperation::Create, files, PLAIN);
    let is_easy = files == EASY_FILES;
    let write = (!is_easy).then(|| Act::Call(moving(FileOperation::Write, FILE_BYTES)));
    let sync = is_easy.then(|| opened(FileOperation::Sync));
    Group {
        last: sync.into_iter().collect(),
        ..each(on_file(create, write, false), 0)
    }
}

/// Phases that come later are further away from who wrote, as mdtest's stride has it.
fn stat(files: u8, ranks: u32) -> Group {
    each(vec![on_next(FileOperation::Stat, files, PLAIN)], 1 % ranks)
}

fn read(ranks: u32) -> Group {
    let open = on_next(FileOperation::Open, HARD_FILES, PLAIN);
    let read = Act::Call(moving(FileOperation::Read, FILE_BYTES));
    each(on_file(open, Some(read), false), 2 % ranks)
}

fn delete(files: u8, ranks: u32) -> Group {
    each(
        vec![on_next(FileOperation::Unlink, files, PLAIN)],
        3 % ranks,
    )
}

/// The directory of a fileset; a list needs no file.
fn list(files: u8) -> Act {
    let pick = picked(files, Which::Any, Order::Index(0));
    Act::Call(Call {
        label: Some(LIST),
        ..Call::new(FileOperation::List, On::Name(pick))
    })
}

/// Only files of the common directory are of the wanted size and new enough.
fn find_own() -> Group {
    Group {
        first: vec![list(EASY_FILES)],
        ..stat(HARD_FILES, 1)
    }
}

fn find_common() -> Group {
    Group {
        workers: Some(1),
        quotas: rounds(1),
        ..group("one", [HARD_FILES, EASY_DATA, HARD_DATA].map(list).into())
    }
}
