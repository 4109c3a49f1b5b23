//! What a script says, before its variables are looked up.

use std::collections::BTreeMap;

use workload::{Diagnostic, nearest};

use crate::Difference;

/// What was read, or the first mistake; [`work`](super::work) adds file and line to it.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// Where something stands; both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub line: u32,
    pub column: u32,
}

pub(super) fn error(
    place: Place,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    let error = Diagnostic::error("", message);
    error.at(place.line, place.column).help(help)
}

/// The known name that is most like the one that was seen, else what else helps.
pub(super) fn meant<'a>(
    seen: &str,
    known: impl Iterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(seen, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// A script, as it stands when it runs.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub variables: BTreeMap<String, Value>,
    /// Files and filesets, in the order of their definition.
    pub filesets: Vec<Entity>,
    pub composites: Vec<Entity>,
    pub processes: Vec<Entity>,
    pub mode: Mode,
    /// Events of the generator in a second.
    pub event_rate: Option<(Value, Place)>,
    pub has_run: bool,
    /// How long it runs, in seconds.
    pub run_time: Option<(Value, Place)>,
    /// What it says as it is read.
    pub echoes: Vec<String>,
    /// What changes nothing.
    pub differences: Vec<Difference>,
}

/// When a run ends besides by its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Timeout,
    AllDone,
    FirstDone,
}

/// What stands behind an equals sign.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Number(i64),
    Flag(bool),
    Text(String),
    /// Looked up when the script runs.
    Variable(String),
    Product(Box<(Value, Value)>),
    /// Drawn anew each time that it is looked at.
    Random(Box<Entity>),
}

impl Value {
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "true" => Self::Flag(true),
            "false" => Self::Flag(false),
            text => Self::Text(text.to_owned()),
        }
    }

    /// As it is shown in a text.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Text(text) => text.clone(),
            Self::Variable(name) => format!("${name}"),
            Self::Product(factors) => format!("{} * {}", factors.0.shown(), factors.1.shown()),
            Self::Random(_) => "a random variable".to_owned(),
        }
    }
}

/// Whatever has attributes.
#[derive(Debug, Clone)]
pub(super) struct Entity {
    pub kind: &'static Kind,
    /// What a flowop does, or what a composite is called.
    pub word: String,
    pub place: Place,
    /// The first of a name counts.
    pub attributes: Vec<Attribute>,
    /// The variables of a composite, or those that are handed to one, with values if they have any.
    pub locals: BTreeMap<String, Option<Value>>,
    /// The rows of a random variable: percent, least, most.
    pub table: Vec<[i64; 3]>,
    /// The threads of a process, the flowops of a thread or of a composite.
    pub inner: Vec<Entity>,
}

/// An attribute as it was written.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub name: String,
    pub value: Value,
    pub place: Place,
}

impl Entity {
    pub(super) fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| it.name == name)
    }
}

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
