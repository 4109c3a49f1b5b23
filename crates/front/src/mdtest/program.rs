//! The phases of a run.

use plan::program::{
    Access, Act, Copies, DirectoryNesting, DirectoryTree, Ending, FileNames, FileOperation,
    FilesetPlan, Group, LastingFiles, Law, NestedDirectories, Order, Program, ProgramPart,
    ProgramPhase, Until, Way, Which,
};

use super::options::Options;
use crate::acts::{
    between, end_after, fileset, group, moving, named, next, number_of, numbered_from, on_file,
    on_next, only, opened, pause_before, phase, picked, rounds,
};

/// Numbers of the filesets.
const TREE: u8 = 0;
const DIRECTORIES: u8 = 1;
/// The name that a directory has while the others move up.
const SPARE: u8 = 2;
const FILES: u8 = 3;
/// The only way of opening.
const PLAIN: u8 = 0;

/// What all iterations do.
pub(super) fn program(options: &Options) -> Program {
    let mut writer = Writer {
        options,
        labels: Vec::new(),
        phases: Vec::new(),
    };
    writer.all();
    if let Some(first) = writer.phases.first_mut() {
        pause_before(first, options.delay_seconds);
    }
    Program {
        labels: writer.labels,
        filesets: filesets(options),
        ways: vec![Way {
            access: match options.finds_trees() {
                true => Access::Read,
                false => Access::ReadWrite,
            },
            ..Way::default()
        }],
        lasting: lasting(options).map(Box::new),
        parts: vec![ProgramPart::Rounds {
            until: Until::Times(options.iterations),
            parts: writer.phases.into_iter().map(ProgramPart::Phase).collect(),
        }],
        ..Program::default()
    }
}

/// The trees that stay, or that an earlier command left.
fn lasting(options: &Options) -> Option<LastingFiles> {
    let iterations = 0..options.iterations;
    Some(LastingFiles {
        role: options.lasting()?,
        directory: options.directory.clone().into(),
        names: iterations.map(|it| format!("test-dir.{it}-0")).collect(),
        file_bytes: None,
    })
}

fn filesets(options: &Options) -> Vec<FilesetPlan> {
    let (before, copies) = match options.is_unique {
        true => ("mdtest_tree.{worker}.", Copies::PerWorker),
        false => ("mdtest_tree.", Copies::One),
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
    let items = |name: &str, kind: &str| FilesetPlan {
        copies: Copies::PerWorker,
        names: numbered_from(
            options.first_item(),
            format!("{kind}.mdtest.{{worker}}."),
            String::new(),
        ),
        tree: DirectoryTree::Nested {
            each: options.items_per_directory,
            directories: directories.clone(),
        },
        present_permille,
        ..fileset(name, path, "", options.items)
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
            // Files that are there have at least what is read of them.
            size: Law::fixed(match options.finds_trees() {
                true => options.write_bytes.max(options.read_bytes),
                false => options.write_bytes,
            }),
            ..items("file items", "file")
        },
    ]
}

struct Writer<'a> {
    options: &'a Options,
    labels: Vec<String>,
    phases: Vec<ProgramPhase>,
}

impl Writer<'_> {
    fn all(&mut self) {
        let asked = self.options.phases;
        if asked.create {
            let make = on_next(FileOperation::Mkdir, TREE, PLAIN);
            self.tree("tree creation", make);
        }
        if self.options.has_directories {
            self.directories();
        }
        if self.options.has_files {
            self.files();
        }
        if asked.remove {
            // What is in a directory goes before it.
            let last = picked(TREE, Which::Present, Order::Back);
            let remove = named(FileOperation::Rmdir, last, PLAIN);
            self.tree("tree removal", remove);
        }
    }

    /// By rank 0, or by each rank for itself.
    fn tree(&mut self, name: &str, act: Act) {
        let ranks = Group {
            workers: (!self.options.is_unique).then_some(1),
            ..self.ranks(name, vec![act], 0)
        };
        self.push(name, ranks);
    }

    fn directories(&mut self) {
        let asked = self.options.phases;
        if asked.create {
            let create = on_next(FileOperation::Mkdir, DIRECTORIES, PLAIN);
            self.phase("directory creation", vec![create], 0);
        }
        if asked.stat {
            self.phase("directory stat", vec![self.stat(DIRECTORIES)], 1);
        }
        if asked.rename {
            self.rename();
        }
        if asked.remove {
            let remove = on_next(FileOperation::Rmdir, DIRECTORIES, PLAIN);
            self.phase("directory removal", vec![remove], 3);
        }
    }

    /// The first takes the spare name, each other one that of the one before, and the first the
    /// name of the last but one; the last keeps its own.
    fn rename(&mut self) {
        let name = "directory rename";
        let rename = |from, to| vec![between(FileOperation::Rename, from, to)];
        // The one that was given up last is the only one that is not there.
        let given_up = || picked(DIRECTORIES, Which::Absent, Order::Around);
        let spare = |which| only(SPARE, which, 0);
        let up = rename(next(DIRECTORIES, Which::Present), given_up());
        let away = rename(only(DIRECTORIES, Which::Present, 0), spare(Which::Absent));
        let back = rename(spare(Which::Present), given_up());
        let mut ranks = self.ranks(name, up, 0);
        let label = self.label(name);
        ranks.first = vec![Act::Transaction(label, away)];
        ranks.last.insert(0, Act::Transaction(label, back));
        match self.options.items.saturating_sub(2) {
            0 => ranks.body.clear(),
            others => ranks.quotas = rounds(others.into()),
        }
        self.push(name, ranks);
    }

    fn files(&mut self) {
        let asked = self.options.phases;
        if asked.create {
            self.create_files();
        }
        if asked.stat {
            self.phase("file stat", vec![self.stat(FILES)], 1);
        }
        if asked.read {
            let open = on_next(FileOperation::Open, FILES, PLAIN);
            let read = moved(FileOperation::Read, self.options.read_bytes);
            self.phase("file read", on_file(open, read, false), 2);
        }
        if asked.remove {
            let remove = on_next(FileOperation::Unlink, FILES, PLAIN);
            self.phase("file removal", vec![remove], 3);
        }
    }

    fn create_files(&mut self) {
        let options = self.options;
        let create = on_next(FileOperation::Create, FILES, PLAIN);
        let write = moved(FileOperation::Write, options.write_bytes);
        let is_synced = options.is_synced && write.is_some();
        let acts = on_file(create, write, is_synced);
        self.phase("file creation", acts, 0);
        if let Some(phase) = self.phases.last_mut() {
            end_after(phase, options.stonewall_seconds, Ending::Level);
        }
    }

    fn stat(&self, fileset: u8) -> Act {
        let order = match self.options.random_seed {
            Some(_) => Order::Shuffled,
            None => Order::Next,
        };
        named(
            FileOperation::Stat,
            picked(fileset, Which::Present, order),
            0,
        )
    }

    fn phase(&mut self, name: &str, acts: Vec<Act>, strides: u32) {
        let ranks = self.ranks(name, acts, strides);
        self.push(name, ranks);
    }

    /// Each works on what the rank so many strides further on made.
    fn ranks(&mut self, name: &str, acts: Vec<Act>, strides: u32) -> Group {
        let label = self.label(name);
        let sync = self
            .options
            .syncs_phases
            .then(|| opened(FileOperation::Sync));
        Group {
            shift: self.options.stride.wrapping_mul(strides) % self.options.ranks,
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

/// So many bytes at once; nothing where there are none.
fn moved(operation: FileOperation, bytes: u64) -> Option<Act> {
    (bytes > 0).then(|| Act::Call(moving(operation, bytes)))
}
