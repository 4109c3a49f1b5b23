//! Words of the language.

/// What takes attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Fileset,
    Process,
    Thread,
    Flowop,
    Composite,
    Randvar,
    Cvar,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Fileset => "fileset",
            Self::Process => "process",
            Self::Thread => "thread",
            Self::Flowop => "flowop",
            Self::Composite => "composite flowop",
            Self::Randvar => "random variable",
            Self::Cvar => "custom variable",
        }
    }

    /// The attributes that it takes, those of older versions included.
    pub(super) fn attributes(self) -> impl Iterator<Item = &'static str> {
        let words = match self {
            Self::File => [FILE, ""],
            Self::Fileset => [FILE, "entries dirwidth dirdepthrv dirgamma leafdirs"],
            Self::Process => ["name instances nice", ""],
            Self::Thread => ["name memsize useism instances ioprio", OLD],
            Self::Flowop => [FLOWOP, OLD],
            Self::Composite => ["name iters", ""],
            Self::Randvar => ["name type randsrc seed mean gamma min round randtable", ""],
            Self::Cvar => ["type parameters min max round", ""],
        };
        words.into_iter().flat_map(str::split_whitespace)
    }
}

const FILE: &str = "name path size filesize prealloc paralloc reuse trusttree readonly writeonly \
                    cached";
const FLOWOP: &str = "name filename filesetname fd srcfd opennext iosize random workingset iters \
                      directio dsync indexed target value blocking highwater noreadahead";
/// Without effect.
pub(super) const OLD: &str = "cached usermode";

/// Everything that a thread can do by itself.
pub(super) const FLOWOPS: &str = "openfile createfile closefile deletefile statfile read write \
                                  readwholefile writewholefile appendfile appendfilerand fsync \
                                  fsyncset makedir removedir listdir aiowrite aiowait block wakeup \
                                  semblock sempost hog delay eventlimit iopslimit opslimit bwlimit \
                                  finishoncount finishonbytes print testrandvar";

/// Words that a script's commands begin with.
pub(super) const COMMANDS: &str = "set define create run psrun eventgen echo usage system sleep \
                                   list debug quit version enable domultisync load help";

/// Entities that can be defined, and made.
pub(super) const FILE_WORDS: [&str; 4] = ["file", "files", "fileset", "filesets"];
pub(super) const PROCESS_WORDS: [&str; 2] = ["process", "processes"];
