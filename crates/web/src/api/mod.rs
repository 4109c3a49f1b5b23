//! Requests and answers, by subject.

pub(crate) mod board;
pub(crate) mod checks;
pub(crate) mod compare;
pub(crate) mod control;
pub(crate) mod disks;
pub(crate) mod events;
pub(crate) mod facts;
pub(crate) mod folded;
pub(crate) mod labs;
pub(crate) mod metrics;
pub(crate) mod over_time;
pub(crate) mod queue;
pub(crate) mod runs;
pub(crate) mod trend;
pub(crate) mod workloads;
