//! The phases of a run.

use plan::program::{
    Access, Act, Call, DirectoryTree, Ending, FileNames, FileOperation, FilePath, FilesetPlan,
    Group, LastingFiles, LastingRole, Law, Order, Pick, Program, ProgramPart, ProgramPhase, Turn,
    Until, Way, Where, Which,
};

use super::options::Options;
use crate::acts::{
    end_after, fileset, group, hidden, moving, named, nested, numbered, opened, pause_before,
    phase, picked, rounds,
};

/// The transfers of each phase, by their label.
const TRANSFER: u8 = 0;

/// What all repetitions do.
pub(super) fn program(options: &Options) -> Program {
    let write = |options: &Options| transfers(options, FileOperation::Write);
    let lasting = lasting(options);
    // Only what is measured is synced and cut.
    let plain = Options {
        wall_seconds: 0,
        is_synced: false,
        is_each_synced: false,
        ..options.clone()
    };
    let made = || paused(options, phase("write", write(options)));
    let made = options.writes.then(made);
    let read = || phase("read", transfers(options, FileOperation::Read));
    let read = options.reads.then(|| paused(options, read()));
    let check = || transfers(&plain, FileOperation::Read);
    let check = options
        .checks_written
        .then(|| hidden("write check", check()));
    let removed = ProgramPart::Phase(phase("remove", removal(options)));
    let phases = [made, check, read].into_iter().flatten();
    let work: Vec<ProgramPart> = phases.map(ProgramPart::Phase).collect();
    let removing: Vec<ProgramPart> = work.iter().cloned().chain([removed]).collect();
    let rounds = |times, parts| ProgramPart::Rounds {
        until: Until::Times(times),
        parts,
    };
    let times = options.repetitions;
    let parts = match options.lasting() {
        None => vec![rounds(times, removing)],
        Some(LastingRole::Leaves) if times > 1 => {
            vec![rounds(times - 1, removing), rounds(1, work)]
        }
        Some(_) => vec![rounds(times, work)],
    };
    Program {
        labels: vec!["transfer".to_owned()],
        filesets: vec![files(options)],
        ways: vec![Way {
            permissions: 0o664,
            takes_existing: !options.has_file_per_rank,
            is_direct: options.is_direct,
            access: match options.writes {
                true => Access::ReadWrite,
                false => Access::Read,
            },
            ..Way::default()
        }],
        lasting: lasting.map(Box::new),
        parts,
        ..Program::default()
    }
}

/// One for all, or one for each rank by its number.
fn files(options: &Options) -> FilesetPlan {
    let (ranks, bytes) = (options.ranks, options.bytes_of_rank());
    let name = options.file_name();
    let (count, bytes, names) = match options.has_file_per_rank {
        true => (ranks, bytes, numbered(format!("{name}."), 8)),
        false => {
            let names = match options.lasting() {
                Some(_) => FileNames::Only(name.to_owned()),
                // A name that tables can say.
                None => numbered(name, 0),
            };
            (1, bytes.saturating_mul(ranks.into()), names)
        }
    };
    FilesetPlan {
        names,
        tree: match options.has_directory_per_rank {
            true => nested(1, "", 0, ranks.max(2)),
            false => DirectoryTree::Flat,
        },
        size: Law::fixed(bytes),
        present_permille: match options.writes {
            true => 0,
            false => 1000,
        },
        ..fileset("files", "", "", count)
    }
}

/// The files that stay, or that an earlier command left.
fn lasting(options: &Options) -> Option<LastingFiles> {
    let name = options.file_name();
    let role = options.lasting()?;
    let is_left = role == LastingRole::Leaves;
    let name_of = |rank: u32| match options.has_directory_per_rank {
        // The directories stay with their files.
        true if is_left => rank.to_string(),
        true => format!("{rank}/{name}.{rank:08}"),
        false => format!("{name}.{rank:08}"),
    };
    let bytes = files(options).size.always();
    Some(LastingFiles {
        role,
        directory: options.directory(),
        names: match options.has_file_per_rank {
            true => (0..options.ranks).map(name_of).collect(),
            false => vec![name.to_owned()],
        },
        file_bytes: bytes.filter(|_| !(is_left && options.has_directory_per_rank)),
    })
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

fn transfers(options: &Options, operation: FileOperation) -> Group {
    let writes = operation == FileOperation::Write;
    let open = match writes {
        true => named(FileOperation::Create, own(options, which_made(options)), 0),
        false => named(FileOperation::Open, own(options, Which::Present), 0),
    };
    let call = Act::Call(Call {
        place: place(options),
        ..moving(operation, options.transfer_bytes)
    });
    let sync = |is_so: bool| (writes && is_so).then(|| opened(FileOperation::Fsync));
    let meet = |number| options.has_barriers.then_some(Act::Meet(number));
    let transfer = [call].into_iter().chain(sync(options.is_each_synced));
    let transfer = Act::Transaction(TRANSFER, transfer.collect());
    let behind = sync(options.is_synced).into_iter().chain(meet(1));
    let close = opened(FileOperation::Close);
    let count = options.bytes_of_rank() / options.transfer_bytes;
    let (body, last, count) = match options.wall_seconds {
        // All of it is one round, as what is behind it is part of its time.
        0 => {
            let all = Act::Times(Law::fixed(count), vec![transfer]);
            let all = [all].into_iter().chain(behind);
            (all.collect(), vec![close], 1)
        }
        _ => (vec![transfer], behind.chain([close]).collect(), count),
    };
    Group {
        shift: if writes { 0 } else { options.shift() },
        first: [open].into_iter().chain(meet(0)).collect(),
        last,
        quotas: rounds(count),
        ..group("ranks", body)
    }
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
    let unlink = named(FileOperation::Unlink, own(options, Which::Present), 0);
    Group {
        workers: (!options.has_file_per_rank).then_some(1),
        quotas: rounds(1),
        ..group("ranks", vec![unlink])
    }
}

/// A phase that is measured.
fn paused(options: &Options, mut phase: ProgramPhase) -> ProgramPhase {
    let ending = match options.wears_out {
        true => Ending::Level,
        false => Ending::Stop,
    };
    pause_before(&mut phase, options.delay_seconds);
    end_after(&mut phase, options.wall_seconds, ending);
    phase
}
