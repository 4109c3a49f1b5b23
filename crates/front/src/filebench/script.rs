//! What a script says, before its variables are looked up.

use std::collections::BTreeMap;

use workload::Diagnostic;

use crate::Difference;
use crate::rows::rows;
use crate::tokens::Place;

/// What was read, or the first mistake; [`work`](super::work) adds file and line to it.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// A script, as it stands when it runs.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub variables: BTreeMap<String, Value>,
    /// Files and filesets, in the order of their definition.
    pub filesets: Vec<Entity>,
    pub composites: Vec<Entity>,
    pub processes: Vec<Entity>,
    pub mode: Mode,
    /// Events of the generator in a second, `rate`, and how long it runs in seconds, `run`.
    pub settings: Vec<Attribute>,
    pub has_run: bool,
    /// What it says as it is read.
    pub echoes: Vec<String>,
    /// What changes nothing.
    pub differences: Vec<Difference>,
}

impl Script {
    /// The whole of it as what has attributes.
    pub(super) fn own(&self) -> Entity {
        Entity {
            attributes: self.settings.clone(),
            ..Entity::new(Kind::Script, Place { line: 1, column: 1 })
        }
    }
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
    pub kind: Kind,
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

impl Attribute {
    pub(super) fn new(name: &str, value: Value, place: Place) -> Self {
        let name = name.to_owned();
        Self { name, value, place }
    }
}

impl Entity {
    pub(super) fn new(kind: Kind, place: Place) -> Self {
        Self {
            kind,
            word: String::new(),
            place,
            attributes: Vec::new(),
            locals: BTreeMap::new(),
            table: Vec::new(),
            inner: Vec::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| it.name == name)
    }
}

/// What takes attributes, in the order of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Script,
    File,
    Fileset,
    Process,
    Thread,
    Flowop,
    Composite,
    Randvar,
    Cvar,
}

/// Attributes of older versions.
pub(super) const WITHOUT_EFFECT: [&str; 2] = ["cached", "usermode"];

impl Kind {
    fn row(self) -> [&'static str; 2] {
        let mut rows = rows(include_str!("kinds.txt"));
        rows.nth(self as usize).unwrap_or_default()
    }

    pub(super) fn name(self) -> &'static str {
        self.row()[0]
    }

    /// The attributes that it takes, those of older versions included.
    pub(super) fn attributes(self) -> impl Iterator<Item = &'static str> {
        self.row()[1].split(' ')
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
