//! Iometer's configuration files (`.icf`): read all versions, write that of 1.1.0.

mod document;
mod extras;
mod words;

pub use document::{
    AccessLine, AccessSpec, Bar, BarLine, Cycling, Document, IdName, Manager, QueueDepthCycling,
    ResultsDisplay, RunTime, Target, TargetSettings, TestSetup, Version, Worker, WorkerCount,
};
pub use extras::{Extras, ManagerShare, NetworkWorker};
pub use words::{Assignment, RecordResults, StepType, TestType, UpdateType, WorkerKind};
