//! The phases of a run, in the order of the original.

use plan::program::{
    Act, Call, CallObject, CallPosition, FileFilter, FileOperation, FilePath, FileSharing,
    FilesetPlan, FilesetSharing, Group, Law, MovedBytes, OpenModePlan, PhaseEndAction,
    PhasePreparation, Pick, PickOrder, Program, ProgramPhase,
};

use super::options::Io500Options;
use crate::acts::{
    end_after, fileset, group, in_turn, moving, named, numbered, on_file, on_next, opened, phase,
    picked, rounds,
};

/// Bytes per piece of the common file.
// The rules fix this size. It is no multiple of a sector or page, so most transfers are unaligned.
pub(super) const HARD_BYTES: u64 = 47_008;
/// Bytes per file in the common directory.
pub(super) const FILE_BYTES: u64 = 3901;
/// Bytes per random read.
const RANDOM_BYTES: u32 = 4096;
/// Limit on the pieces of the common file that each rank reads if no option gives their number.
/// Reading ends at the end of the file anyway.
const SEGMENTS_MAX: u64 = 1_000_000_000;

/// Indexes of the filesets.
const EASY_DATA: u8 = 0;
const HARD_DATA: u8 = 1;
const EASY_FILES: u8 = 2;
const HARD_FILES: u8 = 3;
/// Indexes of the ways of opening.
const PLAIN: u8 = 0;
const SHARED: u8 = 1;
/// Indexes of the labels.
const TRANSFER: u8 = 0;
const FILE: u8 = 1;
const LIST: u8 = 2;

/// Name of the phase in which one rank lists the common directories for `find`.
pub(super) const FIND_COMMON: &str = "find in common";

/// The program of a run.
pub(super) fn program(options: &Io500Options) -> Program {
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
        // The caches are not dropped in the middle of `find`, whose second phase is this one.
        let own = phases.iter_mut().filter(|it| it.name != FIND_COMMON);
        own.for_each(|it| it.before.push(PhasePreparation::DropCaches));
    }
    let own = OpenModePlan {
        // IOR and mdtest pass this mode to `open`.
        permissions: 0o664,
        ..OpenModePlan::default()
    };
    Program {
        labels: ["transfer", "file", "list"].map(str::to_owned).into(),
        filesets: filesets(options),
        ways: vec![
            own.clone(),
            OpenModePlan {
                // All ranks open the common file, which the first of them creates.
                takes_existing: true,
                ..own
            },
        ],
        ..in_turn(phases)
    }
}

fn filesets(options: &Io500Options) -> Vec<FilesetPlan> {
    let files = |name: &str, path: &str, count| FilesetPlan {
        copies: FilesetSharing::PerWorker,
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

/// A phase with a time limit, after which slower ranks catch up with the fastest one.
fn written(options: &Io500Options, name: &str, group: Group) -> ProgramPhase {
    let mut phase = phase(name, group);
    end_after(&mut phase, options.stonewall_seconds, PhaseEndAction::Level);
    phase
}

/// The file that only one rank writes.
fn own_data(filter: FileFilter) -> Pick {
    Pick {
        turn: FileSharing::Slice,
        ..picked(EASY_DATA, filter, PickOrder::Next)
    }
}

/// Transfers in one file, `count` of them per rank or without a limit.
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

fn easy_write(options: &Io500Options) -> Group {
    let bytes = options.easy_transfer_bytes;
    let create = named(FileOperation::Create, own_data(FileFilter::Absent), PLAIN);
    let count = options.easy_block_bytes.map(|block| block / bytes);
    let write = moving(FileOperation::Write, bytes);
    transfers(create, write, synced(), count)
}

/// Reads up to the end of the file, since the time limit decides how large the file got.
fn easy_read(options: &Io500Options) -> Group {
    let open = named(FileOperation::Open, own_data(FileFilter::Present), PLAIN);
    let all = Call {
        bytes: MovedBytes::Rest,
        // A larger piece becomes a size that the check of the program rejects.
        piece_bytes: u32::try_from(options.easy_transfer_bytes).unwrap_or(u32::MAX),
        ..Call::new(FileOperation::Read, CallObject::Handle)
    };
    Group {
        // The rules shift reads, so that no rank finds its own data in a cache.
        // A single rank can only read its own data, so the remainder is 0.
        shift: 1 % options.ranks,
        ..transfers(open, all, closed(), Some(1))
    }
}

fn random_read(options: &Io500Options) -> Group {
    let open = named(FileOperation::Open, own_data(FileFilter::Present), PLAIN);
    let count = options.easy_block_bytes;
    let count = count.map(|block| block.div_ceil(RANDOM_BYTES.into()));
    let read = Call {
        place: CallPosition::Along(FilePath::Shuffled {
            step_bytes: RANDOM_BYTES,
        }),
        ..moving(FileOperation::Read, RANDOM_BYTES.into())
    };
    Group {
        // The original shifts random reads by two nodes; here, each rank counts as a node.
        shift: 2 % options.ranks,
        ..transfers(open, read, closed(), count)
    }
}

/// Transfers of pieces that the ranks own in turn in the common file.
fn hard(options: &Io500Options, operation: FileOperation) -> Call {
    Call {
        place: CallPosition::Along(FilePath::Blocks {
            block_bytes: HARD_BYTES,
            stride_bytes: HARD_BYTES * u64::from(options.ranks),
            each_bytes: HARD_BYTES,
            block_count: 0,
        }),
        ..moving(operation, HARD_BYTES)
    }
}

/// All ranks write to the common file; the first to open it creates it.
fn hard_write(options: &Io500Options) -> Group {
    let file = picked(HARD_DATA, FileFilter::Any, PickOrder::Index(0));
    let create = named(FileOperation::Create, file, SHARED);
    let write = hard(options, FileOperation::Write);
    transfers(create, write, synced(), options.hard_segments)
}

fn hard_read(options: &Io500Options) -> Group {
    let file = picked(HARD_DATA, FileFilter::Present, PickOrder::Index(0));
    let open = named(FileOperation::Open, file, SHARED);
    let read = hard(options, FileOperation::Read);
    let count = options.hard_segments.unwrap_or(SEGMENTS_MAX);
    Group {
        shift: 1 % options.ranks,
        ..transfers(open, read, closed(), Some(count))
    }
}

/// A group whose ranks do this to each file of the rank that follows `shift` ranks later.
fn each(acts: Vec<Act>, shift: u32) -> Group {
    Group {
        shift,
        ..group("ranks", vec![Act::Transaction(FILE, acts)])
    }
}

/// Creates empty files, or files with data in the common directory.
fn make(files: u8) -> Group {
    let create = on_next(FileOperation::Create, files, PLAIN);
    let is_easy = files == EASY_FILES;
    let write = (!is_easy).then(|| Act::Call(moving(FileOperation::Write, FILE_BYTES)));
    // In the original, only the easy phase ends with a sync.
    let sync = is_easy.then(|| opened(FileOperation::Sync));
    Group {
        last: sync.into_iter().collect(),
        ..each(on_file(create, write, false), 0)
    }
}

/// Later phases work on files of a rank further away, like mdtest with its stride.
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

/// Lists the directory of a fileset, which works without any file in it.
fn list(files: u8) -> Act {
    let pick = picked(files, FileFilter::Any, PickOrder::Index(0));
    Act::Call(Call {
        label: Some(LIST),
        ..Call::new(FileOperation::List, CallObject::Name(pick))
    })
}

/// Lists the own directory and stats the files in the common one, since only they match in size and
/// age.
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
