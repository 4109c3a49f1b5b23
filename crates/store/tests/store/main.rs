//! The store from outside: records in and out, bad files, killed processes, sharing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_files;
mod bed;
mod follow;
mod import;
mod kill;
mod list;
mod page;
mod record;
#[path = "../../../results/tests/results/sample.rs"]
mod sample;
mod upgrade;
