//! The phases of an mdtest run.

use plan::program::{
    Access, Act, Call, CallPosition, DirectoryNesting, DirectoryTree, FileFilter, FileNames,
    FileOperation, FilesetPlan, FilesetSharing, Group, Law, NestedDirectories, OpenModePlan,
    PersistentFiles, PhaseEndAction, PickOrder, Program, ProgramPart, ProgramPhase, RoundsEnd,
};

use super::options::MdtestOptions;
use crate::acts::{
    NS_PER_SECOND, between, end_after, fileset, group, hidden, moving, named, next, number_of,
    numbered_from, on_file, on_next, only, opened, pause_before, phase, picked, rounds,
};

/// Indexes of the filesets.
const TREE: u8 = 0;
const DIRECTORIES: u8 = 1;
/// Name of the first directory while the others are renamed.
const SPARE: u8 = 2;
const FILES: u8 = 3;
/// Index of the only way of opening.
const PLAIN: u8 = 0;

/// The program of all iterations, for each number of ranks.
pub(super) fn program(options: &MdtestOptions) -> Program {
    let mut labels = Vec::new();
    let mut part = |ranks| {
        let mut writer = PhaseWriter {
            options,
            ranks,
            labels: std::mem::take(&mut labels),
            phases: Vec::new(),
        };
        writer.all();
        labels = writer.labels;
        if let Some(first) = writer.phases.first_mut() {
            pause_before(first, u64::from(options.delay_seconds) * NS_PER_SECOND);
        }
        ProgramPart::Rounds {
            until: RoundsEnd::Times(options.iterations),
            parts: writer.phases.into_iter().map(ProgramPart::Phase).collect(),
        }
    };
    let parts = options.rank_counts().map(&mut part).collect();
    let mut program = Program {
        labels,
        filesets: filesets(options),
        ways: vec![OpenModePlan {
            access: match options.finds_trees() {
                true => Access::Read,
                false => Access::ReadWrite,
            },
            is_direct: options.is_direct && !options.is_dummy,
            // With `-S`, all ranks create the same files: the first one makes a file, and the
            // others open it.
            takes_existing: options.is_shared,
            // mdtest passes this mode to `open`.
            permissions: 0o664,
            ..OpenModePlan::default()
        }],
        lasting: lasting(options).map(Box::new),
        parts,
        ..Program::default()
    };
    let is_part = |group: &Group| group.workers.is_some_and(|it| it < options.ranks);
    if program.groups().all(is_part) {
        // Every rank takes part in a run, even if it has no work.
        let idle = Group {
            quotas: rounds(1),
            ..group("ranks", vec![Act::Think(Law::fixed(0))])
        };
        let start = ProgramPart::Phase(hidden("start", idle));
        program.parts.insert(0, start);
    }
    program
}

/// Trees that stay after the run, or that an earlier command left; `None` for neither.
fn lasting(options: &MdtestOptions) -> Option<PersistentFiles> {
    let iterations = 0..options.iterations;
    Some(PersistentFiles {
        role: options.lasting()?,
        directory: options.directory.clone().into(),
        names: iterations.map(|it| format!("test-dir.{it}-0")).collect(),
        file_bytes: None,
    })
}

fn filesets(options: &MdtestOptions) -> Vec<FilesetPlan> {
    let (before, copies) = match options.is_unique {
        true => ("mdtest_tree.{worker}.", FilesetSharing::PerWorker),
        false => ("mdtest_tree.", FilesetSharing::One),
    };
    let directories = NestedDirectories {
        before: before.to_owned(),
        digits: 0,
        fan: match options.tree_count() {
            1 => options.branches,
            trees => trees,
        },
        nesting: match options.tree_count() {
            1 => DirectoryNesting::Heap,
            _ => DirectoryNesting::Digits,
        },
    };
    let path = "test-dir.{round}-0";
    let present_permille = match options.finds_trees() {
        true => 1000,
        false => 0,
    };
    let (copies_of_items, owner) = match options.is_shared {
        true => (FilesetSharing::One, "shared"),
        false => (FilesetSharing::PerWorker, "{worker}"),
    };
    let items = |name: &str, kind: &str| FilesetPlan {
        copies: copies_of_items,
        names: numbered_from(
            options.first_item(),
            format!("{kind}.mdtest.{owner}."),
            String::new(),
        ),
        tree: DirectoryTree::Nested {
            each: options.items_per_directory.max(1),
            directories: directories.clone(),
        },
        present_permille,
        // A set has at least one name, which nothing uses if there are no items.
        ..fileset(name, path, "", options.items.max(1))
    };
    vec![
        FilesetPlan {
            copies,
            names: FileNames::Ways(directories.clone()),
            present_permille,
            ..fileset("tree", path, "", options.node_count())
        },
        items("dir items", "dir"),
        FilesetPlan {
            count: 1,
            present_permille: 0,
            names: FileNames::Number {
                before: "dir.mdtest.{worker}.".to_owned(),
                digits: 0,
                after: "-XX".to_owned(),
            },
            ..items("spare name", "dir")
        },
        FilesetPlan {
            // Existing files have at least the bytes that are read.
            size: Law::fixed(match options.finds_trees() {
                true => options.write_bytes.max(options.read_bytes),
                false => options.write_bytes,
            }),
            ..items("file items", "file")
        },
    ]
}

struct PhaseWriter<'a> {
    options: &'a MdtestOptions,
    /// Number of ranks that take part.
    ranks: u32,
    labels: Vec<String>,
    phases: Vec<ProgramPhase>,
}

impl PhaseWriter<'_> {
    fn all(&mut self) {
        let phases = self.options.phases;
        if phases.create {
            let make = on_next(FileOperation::Mkdir, TREE, PLAIN);
            self.tree("tree creation", make);
        }
        let has_items = self.options.items > 0;
        if self.options.has_directories && has_items {
            self.directories();
        }
        if self.options.has_files && has_items {
            self.files();
        }
        if phases.remove {
            // From the last to the first, so that a directory is empty when it is removed.
            let last = picked(TREE, FileFilter::Present, PickOrder::Back);
            let remove = named(FileOperation::Rmdir, last, PLAIN);
            self.tree("tree removal", remove);
        }
    }

    /// A phase on the tree, done by rank 0, or by each rank for its own tree.
    fn tree(&mut self, name: &str, act: Act) {
        let mut ranks = self.ranks(name, vec![act], 0);
        if !self.options.is_unique {
            ranks.workers = Some(1);
        }
        self.push(name, ranks);
    }

    fn directories(&mut self) {
        let phases = self.options.phases;
        if phases.create {
            let create = on_next(FileOperation::Mkdir, DIRECTORIES, PLAIN);
            self.phase("directory creation", vec![create], 0);
        }
        // As in the original, each phase moves on by one more stride, so that no rank finds its own
        // names in a cache.
        if phases.stat {
            self.phase("directory stat", vec![self.stat(DIRECTORIES)], 1);
        }
        if phases.rename {
            self.rename();
        }
        if phases.remove {
            let remove = on_next(FileOperation::Rmdir, DIRECTORIES, PLAIN);
            self.phase("directory removal", vec![remove], 3);
        }
    }

    /// Renames in a chain: the first directory gets the spare name, and each other one the name of
    /// its predecessor. The first then gets the name of the last but one; the last keeps its name.
    fn rename(&mut self) {
        let name = "directory rename";
        let rename = |from, to| vec![between(FileOperation::Rename, from, to)];
        // The name that was given up last is the only absent one.
        let given_up = || picked(DIRECTORIES, FileFilter::Absent, PickOrder::Around);
        let spare = |filter| only(SPARE, filter, 0);
        let up = rename(next(DIRECTORIES, FileFilter::Present), given_up());
        let away = rename(
            only(DIRECTORIES, FileFilter::Present, 0),
            spare(FileFilter::Absent),
        );
        let back = rename(spare(FileFilter::Present), given_up());
        let mut ranks = self.ranks(name, up, 0);
        let label = self.label(name);
        ranks.first = vec![Act::Transaction(label, away)];
        // Before the sync at the end of the phase, if there is one.
        ranks.last.insert(0, Act::Transaction(label, back));
        // The first and the last directory are not part of the chain.
        match self.options.items.saturating_sub(2) {
            0 => ranks.body.clear(),
            others => ranks.quotas = rounds(others.into()),
        }
        self.push(name, ranks);
    }

    fn files(&mut self) {
        let phases = self.options.phases;
        if phases.create {
            self.create_files();
        }
        if phases.stat {
            self.phase("file stat", vec![self.stat(FILES)], 1);
        }
        if phases.read {
            let open = on_next(FileOperation::Open, FILES, PLAIN);
            let read = moved(FileOperation::Read, self.options.read_bytes);
            self.phase("file read", on_file(open, read, false), 2);
        }
        if phases.remove {
            let remove = on_next(FileOperation::Unlink, FILES, PLAIN);
            let mut ranks = self.ranks("file removal", vec![remove], 3);
            if self.options.is_shared {
                (ranks.workers, ranks.shift) = (Some(1), 0);
            }
            self.push("file removal", ranks);
        }
    }

    fn create_files(&mut self) {
        let options = self.options;
        let filter = match options.is_shared {
            true => FileFilter::Any,
            false => FileFilter::Absent,
        };
        let create = named(FileOperation::Create, next(FILES, filter), PLAIN);
        let write = moved(FileOperation::Write, options.write_bytes);
        let is_synced = options.is_synced && write.is_some();
        let is_checked = options.checks_written && write.is_some();
        let mut acts = on_file(create, write, is_synced);
        if is_checked {
            let check = Call {
                place: CallPosition::At(0),
                ..moving(FileOperation::Read, options.write_bytes)
            };
            // After create and write, and before fsync and close.
            acts.insert(2, Act::Call(check));
        }
        self.phase("file creation", acts, 0);
        // In the original, `-W` ends only this phase; later ones work on the level that was
        // reached.
        if let Some(phase) = self.phases.last_mut() {
            end_after(phase, options.stonewall_seconds, PhaseEndAction::Level);
        }
    }

    fn stat(&self, fileset: u8) -> Act {
        let order = match self.options.random_seed {
            Some(_) => PickOrder::Shuffled,
            None => PickOrder::Next,
        };
        named(
            FileOperation::Stat,
            picked(fileset, FileFilter::Present, order),
            0,
        )
    }

    fn phase(&mut self, name: &str, acts: Vec<Act>, strides: u32) {
        let ranks = self.ranks(name, acts, strides);
        self.push(name, ranks);
    }

    /// A group in which each rank works on the items of the rank `strides` strides further on.
    fn ranks(&mut self, name: &str, acts: Vec<Act>, strides: u32) -> Group {
        let label = self.label(name);
        // A product of two 32-bit numbers may need 64 bits.
        let shift = u64::from(self.options.stride) * u64::from(strides);
        let sync = self
            .options
            .syncs_phases
            .then(|| opened(FileOperation::Sync));
        Group {
            workers: (self.ranks < self.options.ranks).then_some(self.ranks),
            shift: (shift % u64::from(self.ranks)) as u32,
            last: sync.into_iter().collect(),
            ..group("ranks", vec![Act::Transaction(label, acts)])
        }
    }

    fn push(&mut self, name: &str, ranks: Group) {
        self.phases.push(phase(name, ranks));
    }

    fn label(&mut self, name: &str) -> u8 {
        number_of(&mut self.labels, name.to_owned())
    }
}

/// One call that moves all bytes; `None` if there are none.
fn moved(operation: FileOperation, bytes: u64) -> Option<Act> {
    (bytes > 0).then(|| Act::Call(moving(operation, bytes)))
}
