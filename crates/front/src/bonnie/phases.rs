//! Phases of Bonnie++, and of Bonnie on its large file.

use std::sync::Arc;

use plan::program::{
    Access, Act, AmountScope, Call, CallObject, CallPosition, Card, Deck, DirectoryNesting,
    DirectoryTree, DirectoryWalk, FileFilter, FileNames, FileOperation, FilesetPlan, Group, Law,
    ListedOrder, Measure, MovedBytes, NestedDirectories, OpenModePlan, PhasePreparation, PickOrder,
    Program, ProgramPart, ProgramPhase, Shape,
};

use super::draws::BonnieRandom;
use super::options::{BonnieOptions, FileKind, FilePhases};
use crate::acts::{
    fileset, hidden, moving, named, next, on_next, only, opened, phase, picked, quota, seeking,
};

/// Indexes of the ways of opening.
const PLAIN: u8 = 0;
const BYTES: u8 = 1;
const FIRST: u8 = 2;
const READ: u8 = 3;
const CREATED: u8 = 4;
/// Indexes of the labels.
const CHUNK: u8 = 0;
const FILE: u8 = 1;

/// Name of the fileset that is the large file.
pub(super) const FILE_SET: &str = "file";

/// Phases in the order of the output's columns.
pub(super) const LARGE_FILE_PHASES: [&str; 6] =
    ["putc", "put block", "rewrite", "getc", "get block", "seeks"];
pub(super) const SMALL_FILE_PHASES: [&str; 6] = [
    "sequential create",
    "sequential stat",
    "sequential delete",
    "random create",
    "random stat",
    "random delete",
];

/// The large file that Bonnie++ and Bonnie work on.
pub(super) struct LargeFile {
    pub size_bytes: u64,
    /// Bytes of the phases that move single bytes; 0 to skip them.
    pub per_char_bytes: u64,
    pub chunk_bytes: u64,
    pub seeks: u64,
    pub seekers: u32,
    pub pause_ns: u64,
    /// `true` if each phase ends with fsync.
    pub syncs_at_end: bool,
    /// `true` if the seekers call fsync after each write.
    pub is_synced: bool,
}

pub(super) fn program(options: &BonnieOptions, draws: &BonnieRandom) -> Program {
    let mut program = frame(options.is_direct);
    if options.file_mib > 0 {
        let file = LargeFile {
            size_bytes: options.file_mib << 20,
            per_char_bytes: options.per_char_mib << 20,
            chunk_bytes: options.chunk_bytes,
            seeks: options.seeks,
            seekers: options.seekers,
            // The original sleeps for 3 s before it hands out the first seeks.
            pause_ns: 3_000_000_000,
            // Every phase of Bonnie++ ends with fsync and close inside its time, even without `-b`.
            syncs_at_end: true,
            is_synced: options.is_synced,
        };
        let own = add_one_file_fileset(&mut program, file.size_bytes);
        let phases = [
            (file.per_char_bytes > 0).then(|| file.put_bytes(own)),
            Some(file.put_blocks(own)),
            Some(file.rewrite(own)),
            (file.per_char_bytes > 0).then(|| file.get_bytes(own)),
            Some(file.get_blocks(own)),
            Some(file.seek(own, draws.seeks.clone())),
            Some(remove(own)),
        ];
        add(&mut program, phases.into_iter().flatten());
    }
    if options.files.thousands > 0 {
        let [stats, removals] = &draws.orders;
        let sets = [("sequential", None), ("random", Some([stats, removals]))];
        for ((name, orders), files) in sets.into_iter().zip(&draws.files) {
            let own = program.filesets.len() as u8;
            program.filesets.push(FilesetPlan {
                names: FileNames::Listed(files.clone()),
                ..many_files(name, &options.files)
            });
            let phases = on_files(own, name, options, orders);
            add(&mut program, phases.into_iter());
        }
    }
    program
}

/// A program without phases that has all ways and labels.
pub(super) fn frame(is_direct: bool) -> Program {
    // The original moves each byte of these phases with its own call.
    let bytes = OpenModePlan {
        unit_bytes: 1,
        ..seeking("bytes")
    };
    // In the original, `-D` only affects the calls that create the file, not those that open it
    // again.
    let first = OpenModePlan {
        is_direct,
        ..seeking("first")
    };
    let one_way = |name, access| OpenModePlan {
        access,
        ..seeking(name)
    };
    Program {
        labels: vec!["chunk".to_owned(), "file".to_owned()],
        ways: vec![
            seeking("default"),
            bytes,
            first,
            one_way("read", Access::Read),
            // The original opens new small files with O_WRONLY.
            one_way("made", Access::Write),
        ],
        ..Program::default()
    }
}

/// Adds a fileset of one file of this size and returns its index.
pub(super) fn add_one_file_fileset(program: &mut Program, size_bytes: u64) -> u8 {
    program.filesets.push(FilesetPlan {
        size: Law::fixed(size_bytes),
        ..fileset(FILE_SET, "", "Bonnie.", 1)
    });
    program.filesets.len() as u8 - 1
}

pub(super) fn add(program: &mut Program, phases: impl Iterator<Item = ProgramPhase>) {
    program.parts.extend(phases.map(ProgramPart::Phase));
}

/// Removes the file in a phase that records nothing.
pub(super) fn remove(fileset: u8) -> ProgramPhase {
    let unlink = named(
        FileOperation::Unlink,
        only(fileset, FileFilter::Present, 0),
        PLAIN,
    );
    let group = Group {
        name: "remove".to_owned(),
        workers: Some(1),
        first: vec![unlink],
        ..Group::default()
    };
    hidden("remove the file", group)
}

impl LargeFile {
    /// A phase of one worker that opens the file and repeats the body `rounds` times.
    fn alone(&self, name: &str, enter: Vec<Act>, body: Vec<Act>, rounds: u64) -> ProgramPhase {
        // The original opens the file before it starts its clock, but syncs and closes it before it
        // stops the clock.
        let mut last = vec![opened(FileOperation::Close)];
        if self.syncs_at_end {
            last.insert(0, opened(FileOperation::Fsync));
        }
        let group = Group {
            name: name.to_owned(),
            workers: Some(1),
            enter,
            body,
            last,
            quotas: vec![quota(Measure::Rounds, rounds, AmountScope::Each)],
            ..Group::default()
        };
        phase(name, group)
    }

    fn chunk(&self, operation: FileOperation) -> Act {
        Act::Call(Call {
            label: Some(CHUNK),
            ..moving(operation, self.chunk_bytes)
        })
    }

    fn chunks(&self) -> u64 {
        self.size_bytes / self.chunk_bytes
    }

    fn reopen_acts(fileset: u8, mode: u8) -> Vec<Act> {
        vec![named(
            FileOperation::Open,
            only(fileset, FileFilter::Present, 0),
            mode,
        )]
    }

    fn put_bytes(&self, fileset: u8) -> ProgramPhase {
        let create = named(
            FileOperation::Create,
            only(fileset, FileFilter::Absent, 0),
            BYTES,
        );
        let body = vec![self.chunk(FileOperation::Write)];
        let rounds = self.per_char_bytes / self.chunk_bytes;
        self.alone(LARGE_FILE_PHASES[0], vec![create], body, rounds)
    }

    pub(super) fn put_blocks(&self, fileset: u8) -> ProgramPhase {
        let unlink = named(
            FileOperation::Unlink,
            only(fileset, FileFilter::Present, 0),
            PLAIN,
        );
        let create = named(
            FileOperation::Create,
            only(fileset, FileFilter::Absent, 0),
            FIRST,
        );
        let enter = match self.per_char_bytes {
            // The original creates and syncs the file of the first phase even if that phase is
            // skipped.
            0 if self.syncs_at_end => {
                let [synced, closed] = [FileOperation::Fsync, FileOperation::Close].map(opened);
                vec![create.clone(), synced, closed, unlink, create]
            }
            0 => vec![create],
            _ => vec![unlink, create],
        };
        let body = vec![self.chunk(FileOperation::Write)];
        self.alone(LARGE_FILE_PHASES[1], enter, body, self.chunks())
    }

    pub(super) fn rewrite(&self, fileset: u8) -> ProgramPhase {
        let body = vec![Act::Step(CHUNK, self.read_then_write())];
        let enter = Self::reopen_acts(fileset, PLAIN);
        self.alone(LARGE_FILE_PHASES[2], enter, body, self.chunks())
    }

    fn read_then_write(&self) -> Vec<Act> {
        vec![
            Act::Call(moving(FileOperation::Read, self.chunk_bytes)),
            self.write_back(),
        ]
    }

    fn write_back(&self) -> Act {
        Act::Call(Call {
            place: CallPosition::Same,
            ..moving(FileOperation::Write, self.chunk_bytes)
        })
    }

    fn get_bytes(&self, fileset: u8) -> ProgramPhase {
        let body = vec![self.chunk(FileOperation::Read)];
        let rounds = self.per_char_bytes / self.chunk_bytes;
        self.alone(
            LARGE_FILE_PHASES[3],
            Self::reopen_acts(fileset, BYTES),
            body,
            rounds,
        )
    }

    pub(super) fn get_blocks(&self, fileset: u8) -> ProgramPhase {
        let body = vec![self.chunk(FileOperation::Read)];
        self.alone(
            LARGE_FILE_PHASES[4],
            Self::reopen_acts(fileset, PLAIN),
            body,
            self.chunks(),
        )
    }

    /// Reads random chunks in the order of the cards, and writes some of them back.
    pub(super) fn seek(&self, fileset: u8, cards: Arc<[Card]>) -> ProgramPhase {
        let read = Act::Call(Call {
            place: CallPosition::Dealt {
                // At most 1 MiB, as the options are checked.
                step_bytes: self.chunk_bytes as u32,
            },
            ..moving(FileOperation::Read, self.chunk_bytes)
        });
        let mut update = vec![read.clone(), self.write_back()];
        if self.is_synced {
            update.push(opened(FileOperation::Fsync));
        }
        let choices = [vec![read], update].map(|acts| vec![Act::Step(CHUNK, acts)]);
        let body = vec![Act::Deal(Deck {
            cards,
            // In the original, all seekers take their seeks from one pipe.
            is_shared: true,
            choices: choices.into(),
        })];
        let enter = Self::reopen_acts(fileset, PLAIN);
        // A quota of the whole group replaces the 0 rounds below, because the seekers share the
        // seeks.
        let mut seeking = self.alone(LARGE_FILE_PHASES[5], enter, body, 0);
        seeking.before = vec![PhasePreparation::Pause { ns: self.pause_ns }];
        for group in &mut seeking.groups {
            group.workers = Some(self.seekers);
            group.quotas = vec![quota(Measure::Rounds, self.seeks, AmountScope::Group)];
        }
        seeking
    }
}

fn many_files(name: &str, files: &FilePhases) -> FilesetPlan {
    let size = match files.min_bytes == files.max_bytes {
        true => Law::fixed(files.max_bytes),
        false => Law::of(Shape::Uniform {
            low: files.min_bytes,
            high: files.max_bytes,
        }),
    };
    let tree = match files.directories {
        1 => DirectoryTree::Flat,
        // The original starts the next directory one file too late.
        directories => DirectoryTree::Nested {
            each: files.count() / directories + 1,
            directories: NestedDirectories {
                before: String::new(),
                digits: 5,
                fan: directories,
                nesting: DirectoryNesting::Digits,
            },
        },
    };
    FilesetPlan {
        size,
        tree,
        ..fileset(name, name, "", files.count())
    }
}

/// Creates, stats and deletes files, in the given orders or in the order of the directories.
fn on_files(
    fileset: u8,
    name: &str,
    options: &BonnieOptions,
    orders: Option<[&ListedOrder; 2]>,
) -> Vec<ProgramPhase> {
    let read = Call {
        bytes: MovedBytes::Size,
        // At most 1 MiB, as the options are checked.
        piece_bytes: options.files.chunk_bytes as u32,
        ..Call::new(FileOperation::Read, CallObject::Handle)
    };
    let mut stat = vec![Call::new(FileOperation::Stat, CallObject::Same)];
    if options.files.max_bytes > 0 {
        let open = Call {
            way: READ,
            ..Call::new(FileOperation::Open, CallObject::Same)
        };
        let close = Call::new(FileOperation::Close, CallObject::Handle);
        stat.extend([open, read, close]);
    }
    let delete = vec![Call::new(FileOperation::Unlink, CallObject::Same)];
    let mut after = vec![Act::Call(Call::new(
        FileOperation::Rmdir,
        CallObject::Directory,
    ))];
    // A single directory is the fileset's directory, which pgmeter removes after the measured time.
    after.truncate(usize::from(options.files.directories > 1));
    // The original calls sync at the end of creating and deleting, inside the measured time.
    let sync = || opened(FileOperation::Sync);
    let (first, create) = created(fileset, options);
    let create = files_phase(&format!("{name} create"), first, create, vec![sync()]);
    let names = [format!("{name} stat"), format!("{name} delete")];
    let Some(orders) = orders else {
        let stat = in_directories(&names[0], fileset, stat, Vec::new());
        let mut delete = in_directories(&names[1], fileset, delete, after);
        delete.groups[0].last = vec![sync()];
        return vec![create, stat, delete];
    };
    let mut listed = orders.into_iter().map(|order| {
        let order = PickOrder::Listed(order.clone());
        CallObject::Name(picked(fileset, FileFilter::Present, order))
    });
    // The original removes the directories before the sync, both inside the measured time.
    let mut last = vec![sync()];
    if !after.is_empty() {
        last.insert(0, walk(fileset, Vec::new(), after));
    }
    let mut phases = vec![create];
    for (name, (mut calls, last)) in names.iter().zip([(stat, Vec::new()), (delete, last)]) {
        calls[0].on = listed.next().unwrap_or(CallObject::Same);
        let calls = calls.into_iter().map(Act::Call).collect();
        phases.push(files_phase(name, Vec::new(), calls, last));
    }
    phases
}

fn walk(fileset: u8, per_file: Vec<Act>, after: Vec<Act>) -> Act {
    Act::Walk(DirectoryWalk {
        fileset,
        handle: 0,
        each: per_file,
        after,
    })
}

/// Calls on each file in the order of the directories, then acts for each directory.
fn in_directories(name: &str, fileset: u8, calls: Vec<Call>, after: Vec<Act>) -> ProgramPhase {
    let calls = calls.into_iter().map(Act::Call).collect();
    let per_file = vec![Act::Transaction(FILE, calls)];
    let group = Group {
        name: name.to_owned(),
        workers: Some(1),
        body: vec![walk(fileset, per_file, after)],
        quotas: vec![quota(Measure::Rounds, 1, AmountScope::Each)],
        ..Group::default()
    };
    phase(name, group)
}

/// Acts done once at the start, and acts for each file.
fn created(fileset: u8, options: &BonnieOptions) -> (Vec<Act>, Vec<Act>) {
    let files = &options.files;
    let create = on_next(FileOperation::Create, fileset, CREATED);
    let close = || opened(FileOperation::Close);
    let linking = match files.kind {
        FileKind::Files => None,
        FileKind::Links => Some(FileOperation::Link),
        FileKind::Symlinks => Some(FileOperation::Symlink),
    };
    if let Some(operation) = linking {
        // The original creates one file and links all other names to it.
        let first = only(fileset, FileFilter::Absent, 0);
        let first = vec![named(FileOperation::Create, first, CREATED), close()];
        let link = Call {
            second: Some(next(fileset, FileFilter::Absent)),
            ..Call::new(
                operation,
                CallObject::Name(only(fileset, FileFilter::Present, 0)),
            )
        };
        return (vec![Act::Transaction(FILE, first)], vec![Act::Call(link)]);
    }
    let mut acts = vec![create];
    if files.max_bytes > 0 {
        acts.push(Act::Call(Call {
            bytes: MovedBytes::Size,
            // At most 1 MiB, as the options are checked.
            piece_bytes: files.chunk_bytes as u32,
            ..Call::new(FileOperation::Write, CallObject::Handle)
        }));
    }
    // As in the original, `-b` syncs each file and then its directory.
    if options.is_synced {
        acts.push(opened(FileOperation::Fsync));
        let directory = Call::new(FileOperation::Fsync, CallObject::Directory);
        acts.push(Act::Call(directory));
    }
    acts.push(close());
    (Vec::new(), acts)
}

fn files_phase(name: &str, first: Vec<Act>, per_file: Vec<Act>, last: Vec<Act>) -> ProgramPhase {
    let group = Group {
        name: name.to_owned(),
        workers: Some(1),
        first,
        body: vec![Act::Transaction(FILE, per_file)],
        last,
        ..Group::default()
    };
    phase(name, group)
}
