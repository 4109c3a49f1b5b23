//! pgmeter's own figures compared with what is known otherwise, on the machine at hand.
//!
//! A check measures something whose true value is known from elsewhere: from the kernel's timer,
//! from arithmetic, from what was asked for, from the log of another process. What is measured goes
//! the way of every run: a workload is read, planned and run, and its record is looked at. Nothing
//! here prints.

mod check;
mod clock;
mod course;
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
mod selftest;
pub mod store;

pub use check::{Bound, Check, CheckName, Outcome, Subject, Unit, Verdict};
pub use course::{Event, Options, run};
pub use delay::{OwnMounts, serve};
pub use load::Load;
pub use selftest::{SELFTEST_FORMAT, SelfTest};
