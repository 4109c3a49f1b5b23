//! Words of the language.

/// What takes attributes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub name: &'static str,
    attributes: [&'static str; 2],
}

pub(super) static FILE: Kind = Kind::new("file", OF_FILES, "");
pub(super) static FILESET: Kind = Kind::new(
    "fileset",
    OF_FILES,
    "entries dirwidth dirdepthrv dirgamma leafdirs",
);
pub(super) static PROCESS: Kind = Kind::new("process", "name instances nice", "");
pub(super) static THREAD: Kind = Kind::new(
    "thread",
    "name memsize useism instances ioprio",
    WITHOUT_EFFECT,
);
pub(super) static FLOWOP: Kind = Kind::new("flowop", OF_FLOWOPS, WITHOUT_EFFECT);
pub(super) static COMPOSITE: Kind = Kind::new("composite flowop", "name iters", "");
pub(super) static RANDVAR: Kind = Kind::new(
    "random variable",
    "name type randsrc seed mean gamma min round randtable",
    "",
);
pub(super) static CVAR: Kind = Kind::new("custom variable", "type parameters min max round", "");

const OF_FILES: &str = "name path size filesize prealloc paralloc reuse trusttree readonly \
                        writeonly cached";
const OF_FLOWOPS: &str = "name filename filesetname fd srcfd opennext iosize random workingset \
                          iters directio dsync indexed target value blocking highwater \
                          noreadahead";
/// Of older versions.
pub(super) const WITHOUT_EFFECT: &str = "cached usermode";

impl Kind {
    const fn new(name: &'static str, some: &'static str, others: &'static str) -> Self {
        Self {
            name,
            attributes: [some, others],
        }
    }

    /// The attributes that it takes, those of older versions included.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &'static str> {
        self.attributes.into_iter().flat_map(str::split_whitespace)
    }
}

/// Everything that a thread can do by itself.
pub(super) const FLOWOPS: &str = "openfile createfile closefile deletefile statfile read write \
                                  readwholefile writewholefile appendfile appendfilerand fsync \
                                  fsyncset makedir removedir listdir aiowrite aiowait block wakeup \
                                  semblock sempost hog delay eventlimit iopslimit opslimit bwlimit \
                                  finishoncount finishonbytes print testrandvar";

/// What can be defined; the first six can be created, too.
pub(super) const DEFINED: [&str; 8] = [
    "file",
    "files",
    "fileset",
    "filesets",
    "process",
    "processes",
    "flowop",
    "randvar",
];
