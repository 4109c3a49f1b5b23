//! Iometer's configuration files (`.icf`): read all versions, write that of 1.1.0.

mod crew;
mod display;
mod document;
mod export;
mod extras;
mod import;
mod keywords;
mod managers;
mod names;
mod network;
mod old_specs;
mod parse;
mod reader;
mod refusal;
mod scan;
mod settings;
mod setup;
mod specs;
mod text;
mod worker;
mod write;

pub use document::{
    AccessLine, AccessSpec, Bar, BarLine, Cycling, Document, IdName, Manager, QueueDepthCycling,
    ResultsDisplay, RunTime, Target, TargetSettings, TestSetup, Version, Worker, WorkerCount,
};
pub use export::from_workload;
pub use extras::{Extras, ManagerShare, NetworkTarget, NetworkWorker, SwitchedOff};
pub use import::to_workload;
pub use keywords::{Assignment, RecordResults, StepType, TestType, UpdateType, WorkerKind};
pub use names::group_names;
pub use network::with_network_workers;
pub use parse::parse;
pub use text::MAX_FILE_BYTES;
pub use write::write;

use plan::Diagnostic;

/// How much is forgiven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything whose meaning is beyond doubt, with a warning.
    Tolerant,
    /// What Iometer 1.1.0 accepts.
    Strict,
}

/// What a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The configuration.
    pub document: Document,
    /// What the reader should know, by line.
    pub warnings: Vec<Diagnostic>,
}

#[cfg(test)]
mod tests;
