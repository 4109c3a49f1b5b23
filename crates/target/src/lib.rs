//! Where pgmeter measures: probing, admission, the work directory, preparation and cleaning.
//!
//! This crate alone creates and removes files and decides whether a device may be written. Nothing
//! outside a work directory (or a file made by pgmeter with its manifest beside it) is ever written
//! or removed, and nothing is followed through a symbolic link.

mod error;
mod manifest;
mod mounts;
mod owner;
mod place;
mod probe;
mod sizes;
mod sysfs;

pub use error::TargetError;
pub use mounts::{Mount, mount_of, mounts};
pub use probe::{DirectAlignment, PathFacts, PathKind, probe};
pub use sysfs::{BlockDevice, DeviceNumber, devices_under};
