//! The phases of an IOR run.

use plan::Distribution;
use plan::program::{
    Access, Act, Call, CallPosition, DirectoryTree, FileFilter, FileNames, FileOperation, FilePath,
    FileSharing, FilesetPlan, Group, Law, OpenModePlan, PersistentFiles, PersistentRole,
    PhaseEndAction, Pick, PickOrder, Program, ProgramPart, ProgramPhase, ROUND_MARK, RoundsEnd,
};

use super::options::IorOptions;
use crate::acts::{
    end_after, fileset, group, hidden, moving, named, nested, opened, pause_before, phase, picked,
    rounds,
};

/// Index of the label of all transfers.
const TRANSFER: u8 = 0;

/// Facts about the files of earlier commands that the program depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FoundFiles {
    /// Size of the smallest existing file in bytes; `None` if it does not matter.
    pub bytes: Option<u64>,
    /// Number of transfers that each rank wrote; `None` if it does not matter.
    pub transfers: Option<u64>,
    /// `true` if an earlier command may have left files that this one replaces.
    pub may_be_left: bool,
}

/// The program of all repetitions.
pub(super) fn program(options: &IorOptions, found: FoundFiles) -> Program {
    let measured = |operation| transfers(options, (operation, options.seconds_min > 0), found);
    let lasting = lasting(options, found);
    let written = || paused(options, phase("write", measured(FileOperation::Write)));
    let written = options.writes.then(written);
    let read = || phase("read", measured(FileOperation::Read));
    let read = options.reads.then(|| paused(options, read()));
    // The check is not measured, so it has no pause, no time limit and a single pass.
    let check = || transfers(options, (FileOperation::Read, false), found);
    let check = options
        .checks_written
        .then(|| hidden("write check", check()));
    let removed = ProgramPart::Phase(phase("remove", removal(options)));
    let phases = [written, check, read].into_iter().flatten();
    let work: Vec<ProgramPart> = phases.map(ProgramPart::Phase).collect();
    let removing: Vec<ProgramPart> = work.iter().cloned().chain([removed]).collect();
    let rounds = |times, parts| ProgramPart::Rounds {
        until: RoundsEnd::Times(times),
        parts,
    };
    let times = options.repetitions;
    let are_others = options.has_file_per_repetition;
    let mut parts = match options.lasting() {
        None if options.writes => vec![rounds(times, removing)],
        // Each repetition creates the files again, so only the files of the last one can stay.
        Some(PersistentRole::Leaves) if times > 1 && !are_others => {
            vec![rounds(times - 1, removing), rounds(1, work)]
        }
        _ => vec![rounds(times, work)],
    };
    if options.working_ranks().is_some() {
        // Every process takes part in a run, even if it has no work.
        let idle = Group {
            quotas: crate::acts::rounds(1),
            ..group("ranks", vec![Act::Think(Law::fixed(0))])
        };
        parts.insert(0, ProgramPart::Phase(hidden("start", idle)));
    }
    Program {
        labels: vec!["transfer".to_owned()],
        filesets: vec![files(options, found)],
        ways: vec![OpenModePlan {
            // IOR passes this mode to `open`.
            permissions: 0o664,
            // All ranks create a shared file: the first one makes it, and the others open it.
            takes_existing: !options.has_file_per_rank,
            is_direct: options.is_direct && !options.is_dummy,
            access: match options.writes {
                true => Access::ReadWrite,
                false => Access::Read,
            },
            ..OpenModePlan::default()
        }],
        lasting: lasting.map(Box::new),
        parts,
        ..Program::default()
    }
}

/// One file for all ranks, or one per rank with its number.
fn files(options: &IorOptions, found: FoundFiles) -> FilesetPlan {
    let (ranks, bytes) = (options.ranks, options.bytes_of_rank());
    let (name, end) = (options.file_name(), options.name_suffix(ROUND_MARK));
    let (count, bytes, names) = match options.has_file_per_rank {
        true => {
            let names = FileNames::Number {
                before: format!("{name}."),
                digits: 8,
                after: end,
            };
            (ranks, bytes, names)
        }
        false => {
            let names = match options.lasting() {
                Some(_) => FileNames::Only(name.to_owned() + &end),
                // A name in the form that workload tables can express.
                None => FileNames::Number {
                    before: name.to_owned(),
                    digits: 0,
                    after: end,
                },
            };
            (1, bytes.saturating_mul(ranks.into()), names)
        }
    };
    FilesetPlan {
        names,
        tree: match options.has_directory_per_rank {
            // If the fan is the number of ranks, all directories are siblings. The check of a
            // program wants a fan of at least 2.
            true => nested(1, "", 0, ranks.max(2)),
            false => DirectoryTree::Flat,
        },
        size: Law::fixed(found.bytes.unwrap_or(bytes)),
        present_permille: match options.writes {
            true => 0,
            false => 1000,
        },
        ..fileset("files", "", "", count)
    }
}

/// Files that stay after the run, or that an earlier command left; `None` for neither.
fn lasting(options: &IorOptions, found: FoundFiles) -> Option<PersistentFiles> {
    let replaced = found.may_be_left.then_some(PersistentRole::Replaces);
    let role = options.lasting().or(replaced)?;
    let is_left = role == PersistentRole::Leaves;
    let bytes = files(options, found).size.always();
    let names = match options.has_directory_per_rank && is_left {
        // The directories stay with their files.
        true => (0..options.ranks).map(|rank| rank.to_string()).collect(),
        false => file_names(options),
    };
    Some(PersistentFiles {
        role,
        directory: options.directory(),
        names,
        file_bytes: bytes.filter(|_| !(is_left && options.has_directory_per_rank)),
    })
}

/// Names of all files of all repetitions, below the directory.
pub(super) fn file_names(options: &IorOptions) -> Vec<String> {
    let name = options.file_name();
    let repetitions = match options.has_file_per_repetition {
        true => 0..options.repetitions,
        false => 0..1,
    };
    let ends = repetitions.map(|number| options.name_suffix(number));
    let rank_file = |rank: u32| match options.has_directory_per_rank {
        true => format!("{rank}/{name}.{rank:08}"),
        false => format!("{name}.{rank:08}"),
    };
    let begins: Vec<String> = match options.has_file_per_rank {
        true => (0..options.ranks).map(rank_file).collect(),
        false => vec![name.to_owned()],
    };
    ends.flat_map(|end| begins.iter().map(move |begin| format!("{begin}{end}")))
        .collect()
}

/// The file that a rank uses.
fn own(options: &IorOptions, filter: FileFilter) -> Pick {
    match options.has_file_per_rank {
        true => Pick {
            turn: FileSharing::Slice,
            ..picked(0, filter, PickOrder::Next)
        },
        false => picked(0, filter, PickOrder::Index(0)),
    }
}

/// The file that a rank reads.
fn source(options: &IorOptions) -> Pick {
    match options.draws_files() {
        true => picked(
            0,
            FileFilter::Present,
            PickOrder::Drawn(Distribution::Uniform),
        ),
        false => own(options, FileFilter::Present),
    }
}

/// Transfers of each rank, in one pass or in passes that time ends.
fn transfers(
    options: &IorOptions,
    (operation, is_repeated): (FileOperation, bool),
    found: FoundFiles,
) -> Group {
    let writes = operation == FileOperation::Write;
    let open = match writes {
        true => named(
            FileOperation::Create,
            own(options, files_to_create(options)),
            0,
        ),
        false => named(FileOperation::Open, source(options), 0),
    };
    let call = Act::Call(Call {
        place: place(options, operation),
        ..moving(operation, options.transfer_bytes)
    });
    let sync = |is_so: bool| (writes && is_so).then(|| opened(FileOperation::Fsync));
    // `-g` makes the ranks wait for each other after open and before close.
    let meet = |number| options.has_barriers.then_some(Act::Meet(number));
    let pause = |us: u32| {
        let ns = Law::fixed(u64::from(us) * 1000);
        (us > 0).then_some(Act::Think(ns))
    };
    let wait = |us: u32| pause(us).filter(|_| options.is_dummy);
    let transfer = wait(options.dummy_transfer_us).into_iter().chain([call]);
    let transfer = transfer.chain(sync(options.syncs_each_write));
    let transfer = transfer.chain(pause(options.transfer_pause_us));
    let transfer = Act::Transaction(TRANSFER, transfer.collect());
    let waited = wait(options.dummy_create_us).filter(|_| writes);
    let after = sync(options.is_synced).into_iter().chain(meet(1));
    let close = opened(FileOperation::Close);
    let count = options.bytes_of_rank() / options.transfer_bytes;
    let count = match found.transfers {
        Some(most) if !writes => count.min(most),
        _ => count,
    };
    let count = match options.transfers_max {
        0 => count,
        most => count.min(most.into()),
    };
    let (body, last, quotas) = match options.stonewall_seconds {
        // A round is a pass, which the time does not cut short.
        0 if is_repeated => {
            let pass = Act::Times(Law::fixed(count), vec![transfer]);
            (vec![pass], after.chain([close]).collect(), Vec::new())
        }
        // Without a time limit, all transfers are one round, so that fsync and barrier are part of
        // its time.
        0 => {
            let all = Act::Times(Law::fixed(count), vec![transfer]);
            let all = [all].into_iter().chain(after);
            (all.collect(), vec![close], rounds(1))
        }
        _ => (
            vec![transfer],
            after.chain([close]).collect(),
            rounds(count),
        ),
    };
    Group {
        workers: options.working_ranks(),
        shift: if writes { 0 } else { options.read_shift() },
        first: waited.into_iter().chain([open]).chain(meet(0)).collect(),
        last,
        quotas,
        ..group("ranks", body)
    }
}

/// Files that a rank may create: the first rank creates a shared file, the others open it.
fn files_to_create(options: &IorOptions) -> FileFilter {
    match options.has_file_per_rank {
        true => FileFilter::Absent,
        false => FileFilter::Any,
    }
}

/// Place of each transfer: in a file per rank one after the other, in a shared file in blocks that
/// the ranks take in turn, or at random.
fn place(options: &IorOptions, operation: FileOperation) -> CallPosition {
    // A larger piece becomes a size that the check of the program rejects.
    let step_bytes = u32::try_from(options.transfer_bytes).unwrap_or(u32::MAX);
    if options.random_level > 1 {
        return CallPosition::Random {
            distribution: Distribution::Uniform,
            align_bytes: step_bytes,
            // A file that grows is written over its final size.
            is_nominal: operation == FileOperation::Write,
        };
    }
    let is_cut = operation == FileOperation::Read && options.reads_cut_files();
    let block_count = match options.seconds_min {
        0 => 0,
        _ => options.segments,
    };
    match (options.has_file_per_rank, options.is_random()) {
        (true, true) => CallPosition::Along(FilePath::Shuffled { step_bytes }),
        (false, true) => CallPosition::Along(FilePath::Dealt { step_bytes }),
        // Reads at the file's own position would start again after the end of a shorter file, and
        // the next pass of writes would extend the file.
        (true, false) if is_cut || block_count > 0 => CallPosition::Along(FilePath::Blocks {
            block_bytes: options.block_bytes,
            stride_bytes: options.block_bytes,
            each_bytes: 0,
            block_count,
        }),
        (true, false) => CallPosition::Here,
        (false, false) => CallPosition::Along(FilePath::Blocks {
            block_bytes: options.block_bytes,
            stride_bytes: options.block_bytes * u64::from(options.ranks),
            each_bytes: options.block_bytes,
            block_count,
        }),
    }
}

/// Each rank removes its own file, or the first rank removes the shared one.
fn removal(options: &IorOptions) -> Group {
    let unlink = named(FileOperation::Unlink, own(options, FileFilter::Present), 0);
    Group {
        workers: match options.has_file_per_rank {
            true => options.working_ranks(),
            false => Some(1),
        },
        quotas: rounds(1),
        ..group("ranks", vec![unlink])
    }
}

/// A measured phase, with its pause and time limit.
fn paused(options: &IorOptions, mut phase: ProgramPhase) -> ProgramPhase {
    let ending = match options.wears_out {
        true => PhaseEndAction::Level,
        false => PhaseEndAction::Stop,
    };
    pause_before(&mut phase, options.delay_ns);
    end_after(&mut phase, options.stonewall_seconds, ending);
    // The ranks make equally many passes, and end the one that they began.
    end_after(&mut phase, options.seconds_min, PhaseEndAction::Level);
    phase
}
