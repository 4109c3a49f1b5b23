//! One module per command.

pub(crate) mod as_classic;
pub(crate) mod board;
pub(crate) mod check;
mod check_trace;
pub(crate) mod clean;
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod fit;
pub(crate) mod keys;
pub(crate) mod lab;
pub(crate) mod list;
pub(crate) mod manual;
mod mounts;
mod outputs;
pub(crate) mod paper;
mod planned;
pub(crate) mod record;
mod record_calls;
mod record_live;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sink;
pub(crate) mod version;

/// Without a target, pgmeter creates a work directory in the current directory.
const DEFAULT_TARGET: &str = ".";
