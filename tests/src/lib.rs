//! What the end-to-end tests and benchmarks share: scratch directories, loop devices, limited
//! devices, a file system with faults made to order, and the program under test.
//!
//! Every fixture takes down what it set up when it is dropped. A fixture that this system cannot
//! provide is [`FixtureError::Unavailable`], which a test turns into `skipped: reason`.

mod bed;
mod command;
mod error;
pub mod faultfs;
mod lab_site;
mod loop_device;
mod mount;
mod mpirun;
mod neighbor;
mod program;
mod python;
mod scratch;
mod server;
mod shell;
mod throttle;
mod traced;
mod workloads;
mod zram;

pub use bed::{ScratchTarget, finish, names_in, wait_for};
pub use command::{Finished, installed, run_tool, run_within};
pub use error::{FixtureError, available};
pub use lab_site::{LAB_IMAGE, LONG_REGISTERS, LONG_REGISTERS_NOT_COMPLETED, LabSite};
pub use loop_device::{FileSystem, LoopDevice, MountedImage};
pub use mount::{Mount, unmount};
pub use mpirun::Mpirun;
pub use neighbor::Neighbor;
pub use program::{REPORTS, STORE, pgmeter, samples, write_workload};
pub use python::PythonPackages;
pub use scratch::{Scratch, sweep};
pub use server::{HttpAnswer, Server, StreamEvent, read_all, token_file};
pub use shell::{Shell, run_on_terminal, shown_lines, too_wide};
pub use throttle::{Limit, Throttle};
pub use traced::traced;
pub use workloads::{DBENCH_CALLS, READING_FILEBENCH};
pub use zram::Zram;

/// Ends the test, saying why it cannot run here; the runner counts the line.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => {{
        println!("skipped: {}", format_args!($($reason)*));
        return;
    }};
}

/// Takes a fixture, or ends the test as skipped where this system cannot provide it.
///
/// # Panics
/// When the fixture should have been possible and failed.
#[macro_export]
macro_rules! need {
    ($fixture:expr) => {
        match $crate::available($fixture) {
            Ok(fixture) => fixture,
            Err(reason) => $crate::skip!("{reason}"),
        }
    };
}
