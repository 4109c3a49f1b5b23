//! What a script says, before its variables are looked up.

use std::collections::BTreeMap;

use super::page::Place;

/// A script, as it stands when it runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Script {
    pub variables: BTreeMap<String, Value>,
    /// Files and filesets, in the order of their definition.
    pub filesets: Vec<Entity>,
    pub composites: Vec<Composite>,
    pub processes: Vec<Process>,
    pub mode: Mode,
    /// Events of the generator in a second.
    pub event_rate: Option<(Value, Place)>,
    pub run: Option<Run>,
    /// What it says as it is read.
    pub echoes: Vec<String>,
}

/// When a run ends besides by its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    #[default]
    Timeout,
    AllDone,
    FirstDone,
}

/// How long the script runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// In seconds.
    pub time: Option<Value>,
    pub place: Place,
}

/// What stands behind an equals sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Flag(bool),
    Text(String),
    /// Looked up when the script runs.
    Variable(String),
    Product(Box<Value>, Box<Value>),
    /// Drawn anew each time that it is looked at.
    Random(Box<Random>),
}

/// A variable that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Random {
    pub is_custom: bool,
    pub attributes: Attributes,
    pub table: Vec<[i64; 3]>,
    pub place: Place,
}

/// An attribute as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub name: String,
    pub value: Value,
    pub place: Place,
}

/// What was said of an entity; the first of a name counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Attributes(pub Vec<Attribute>);

impl Attributes {
    pub(super) fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|it| it.name == name)
    }
}

/// Something that was defined.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entity {
    pub attributes: Attributes,
    pub place: Place,
    /// Of files: whether it is a single one.
    pub is_single: bool,
}

/// Flowops under one name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Composite {
    pub name: String,
    /// Its own variables, with their values where they have any.
    pub locals: BTreeMap<String, Option<Value>>,
    pub flowops: Vec<Flowop>,
}

/// Threads that are started together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Process {
    pub attributes: Attributes,
    pub place: Place,
    pub threads: Vec<Thread>,
}

/// Flowops that are done over and over.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Thread {
    pub attributes: Attributes,
    pub place: Place,
    pub flowops: Vec<Flowop>,
}

/// Something that a thread does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flowop {
    pub kind: String,
    pub attributes: Attributes,
    /// Variables that are handed to a composite.
    pub locals: BTreeMap<String, Value>,
    pub place: Place,
}
