//! Checks pgmeter's own results against known values, on this machine.
//!
//! A check measures something whose true value has another source: the kernel's timer, arithmetic,
//! the requested rate, or the log of another process. Its measurement is an ordinary run: it reads
//! a workload, plans it, runs it, and examines the record. This crate prints nothing.

mod check;
mod clock;
mod delay;
mod delayed;
mod engines;
mod figures;
mod histogram;
mod intervals;
mod load;
mod measure;
mod open_loop;
mod own_cost;
mod reading;
mod repeats;
mod run_checks;
mod selftest;
pub mod store;

pub use check::{Bound, Check, CheckName, CheckVerdict, Outcome, Subject, Unit};
pub use delay::{PrivateMounts, serve};
pub use load::OtherLoad;
pub use run_checks::{Event, SelfTestOptions, run};
pub use selftest::{SELFTEST_FORMAT, SelfTest};
