//! The phases of a run.

use workload::program::{
    Act, Before, Bytes, Call, Copies, DirectoryNesting, DirectoryTree, Ending, FileNames,
    FileOperation, FilesetPlan, Group, Law, Measure, NestedDirectories, On, Order, Pick, Program,
    ProgramPart, ProgramPhase, Quota, Share, Turn, Until, Way, Which,
};

use super::options::Options;

/// Numbers of the filesets.
const TREE: u8 = 0;
const DIRECTORIES: u8 = 1;
/// The name that a directory has while the others move up.
const SPARE: u8 = 2;
const FILES: u8 = 3;

/// What all iterations do.
pub(super) fn program(options: &Options) -> Program {
    let mut writer = Writer {
        options,
        labels: Vec::new(),
        parts: Vec::new(),
    };
    writer.all();
    if options.delay_seconds > 0
        && let Some(ProgramPart::Phase(first)) = writer.parts.first_mut()
    {
        first.before.push(Before::Pause {
            ns: u64::from(options.delay_seconds) * 1_000_000_000,
        });
    }
    Program {
        labels: writer.labels,
        filesets: filesets(options),
        ways: vec![Way::default()],
        parts: vec![ProgramPart::Rounds {
            until: Until::Times(options.iterations),
            parts: writer.parts,
        }],
        ..Program::default()
    }
}

fn filesets(options: &Options) -> Vec<FilesetPlan> {
    let tree = NestedDirectories {
        before: match options.is_unique {
            true => "mdtest_tree.{worker}.".to_owned(),
            false => "mdtest_tree.".to_owned(),
        },
        digits: 0,
        fan: options.branches,
        nesting: DirectoryNesting::Heap,
    };
    let items = |kind: &str| FilesetPlan {
        name: format!("{kind} items"),
        path: "test-dir.{round}-0".to_owned(),
        copies: Copies::PerWorker,
        count: options.items,
        names: FileNames::NumberFrom {
            first: options.first_item(),
            before: format!("{kind}.mdtest.{{worker}}."),
            digits: 0,
            after: String::new(),
        },
        tree: DirectoryTree::Nested {
            each: options.items_per_directory,
            directories: tree.clone(),
        },
        size: Law::fixed(0),
        present_permille: 0,
    };
    vec![
        FilesetPlan {
            name: "tree".to_owned(),
            copies: match options.is_unique {
                true => Copies::PerWorker,
                false => Copies::One,
            },
            count: options.node_count(),
            names: FileNames::Ways(tree.clone()),
            tree: DirectoryTree::Flat,
            ..items("tree")
        },
        items("dir"),
        FilesetPlan {
            name: "spare name".to_owned(),
            count: 1,
            names: FileNames::Number {
                before: "dir.mdtest.{worker}.".to_owned(),
                digits: 0,
                after: "-XX".to_owned(),
            },
            ..items("dir")
        },
        FilesetPlan {
            size: Law::fixed(options.write_bytes),
            ..items("file")
        },
    ]
}

struct Writer<'a> {
    options: &'a Options,
    labels: Vec<String>,
    parts: Vec<ProgramPart>,
}

impl Writer<'_> {
    fn all(&mut self) {
        let asked = self.options.phases;
        self.tree("tree creation", asked.create, FileOperation::Mkdir);
        if self.options.has_directories {
            self.directories();
        }
        if self.options.has_files {
            self.files();
        }
        if asked.remove {
            self.tree("tree removal", true, FileOperation::Rmdir);
        }
    }

    /// By rank 0, or by each rank for itself.
    fn tree(&mut self, name: &str, is_shown: bool, operation: FileOperation) {
        let on = match operation {
            FileOperation::Mkdir => pick(TREE, Which::Absent, Order::Next),
            // What is in a directory goes before it.
            _ => pick(TREE, Which::Present, Order::Back),
        };
        let mut group = self.group(name, vec![Call::new(operation, On::Name(on))], 0);
        if !self.options.is_unique {
            group.workers = Some(1);
        }
        self.push(name, is_shown, group);
    }

    fn directories(&mut self) {
        let asked = self.options.phases;
        let call = |operation, which| {
            let on = On::Name(pick(DIRECTORIES, which, Order::Next));
            vec![Call::new(operation, on)]
        };
        let create = call(FileOperation::Mkdir, Which::Absent);
        self.phase("directory creation", asked.create, create, 0);
        if asked.stat {
            let stat = vec![self.stat(DIRECTORIES)];
            self.phase("directory stat", true, stat, 1);
        }
        if asked.rename {
            self.rename();
        }
        if asked.remove {
            let remove = call(FileOperation::Rmdir, Which::Present);
            self.phase("directory removal", true, remove, 3);
        }
    }

    /// The first takes the spare name, each other one that of the one before, and the first the
    /// name of the last but one; the last keeps its own.
    fn rename(&mut self) {
        let name = "directory rename";
        let rename = |from: Pick, to: Pick| {
            vec![Call {
                second: Some(to),
                ..Call::new(FileOperation::Rename, On::Name(from))
            }]
        };
        // The one that was given up last is the only one that is not there.
        let given_up = || pick(DIRECTORIES, Which::Absent, Order::Around);
        let next = pick(DIRECTORIES, Which::Present, Order::Next);
        let mut group = self.group(name, rename(next, given_up()), 0);
        let label = self.label(name);
        let first = pick(DIRECTORIES, Which::Present, Order::Index(0));
        let spare = |which| pick(SPARE, which, Order::Index(0));
        group.first = vec![transaction(label, rename(first, spare(Which::Absent)))];
        let back = transaction(label, rename(spare(Which::Present), given_up()));
        group.last.insert(0, back);
        match self.options.items.saturating_sub(2) {
            0 => group.body.clear(),
            others => group.quotas.push(quota(others)),
        }
        self.push(name, true, group);
    }

    fn files(&mut self) {
        let asked = self.options.phases;
        let on = |operation, which| Call::new(operation, On::Name(pick(FILES, which, Order::Next)));
        self.create_files(on(FileOperation::Create, Which::Absent));
        if asked.stat {
            let stat = vec![self.stat(FILES)];
            self.phase("file stat", true, stat, 1);
        }
        if asked.read {
            let mut read = vec![on(FileOperation::Open, Which::Present)];
            read.extend(moved(FileOperation::Read, self.options.read_bytes));
            read.push(Call::new(FileOperation::Close, On::Handle));
            self.phase("file read", true, read, 2);
        }
        if asked.remove {
            let remove = vec![on(FileOperation::Unlink, Which::Present)];
            self.phase("file removal", true, remove, 3);
        }
    }

    fn create_files(&mut self, create: Call) {
        let options = self.options;
        let mut calls = vec![create];
        let write = moved(FileOperation::Write, options.write_bytes);
        let is_synced = options.is_synced && write.is_some();
        calls.extend(write);
        if is_synced {
            calls.push(Call::new(FileOperation::Fsync, On::Handle));
        }
        calls.push(Call::new(FileOperation::Close, On::Handle));
        self.phase("file creation", options.phases.create, calls, 0);
        if options.stonewall_seconds > 0
            && let Some(ProgramPart::Phase(phase)) = self.parts.last_mut()
        {
            phase.time_ns = Some(u64::from(options.stonewall_seconds) * 1_000_000_000);
            phase.time_up = Ending::Level;
        }
    }

    fn stat(&self, fileset: u8) -> Call {
        let order = match self.options.random_seed {
            Some(_) => Order::Shuffled,
            None => Order::Next,
        };
        let on = On::Name(pick(fileset, Which::Present, order));
        Call::new(FileOperation::Stat, on)
    }

    fn phase(&mut self, name: &str, is_shown: bool, calls: Vec<Call>, strides: u32) {
        let group = self.group(name, calls, strides);
        self.push(name, is_shown, group);
    }

    fn group(&mut self, name: &str, calls: Vec<Call>, strides: u32) -> Group {
        let label = self.label(name);
        let sync = Act::Call(Call::new(FileOperation::Sync, On::Handle));
        Group {
            name: "ranks".to_owned(),
            shift: self.options.stride.wrapping_mul(strides) % self.options.ranks,
            body: vec![transaction(label, calls)],
            last: match self.options.syncs_phases {
                true => vec![sync],
                false => Vec::new(),
            },
            ..Group::default()
        }
    }

    fn label(&mut self, name: &str) -> u8 {
        let known = self.labels.iter().position(|label| label == name);
        // There are ten phases.
        known.unwrap_or_else(|| {
            self.labels.push(name.to_owned());
            self.labels.len() - 1
        }) as u8
    }

    fn push(&mut self, name: &str, is_shown: bool, group: Group) {
        self.parts.push(ProgramPart::Phase(ProgramPhase {
            name: name.to_owned(),
            is_hidden: !is_shown,
            groups: vec![group],
            ..ProgramPhase::default()
        }));
    }
}

fn pick(fileset: u8, which: Which, order: Order) -> Pick {
    Pick {
        fileset,
        which,
        order,
        turn: Turn::Own,
    }
}

fn transaction(label: u8, calls: Vec<Call>) -> Act {
    Act::Transaction(label, calls.into_iter().map(Act::Call).collect())
}

fn quota(rounds: u32) -> Quota {
    Quota {
        what: Measure::Rounds,
        count: rounds.into(),
        of: Share::Each,
    }
}

/// So many bytes at once; nothing where there are none.
fn moved(operation: FileOperation, bytes: u64) -> Option<Call> {
    (bytes > 0).then(|| Call {
        bytes: Bytes::Law(Law::fixed(bytes)),
        ..Call::new(operation, On::Handle)
    })
}
