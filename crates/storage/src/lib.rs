//! The targets of measurements: probing, admission, the work directory, preparation and cleaning.
//!
//! Only this crate creates and removes files, decides whether a device may be written, and mounts
//! and unmounts. It writes and removes only files in a work directory, and files created by pgmeter
//! next to their manifest. Any other file is opened for reading at most. Symbolic links are never
//! followed.

mod admit;
mod caches;
mod claim;
mod classic;
mod clean;
mod counters;
mod cpu;
mod device;
mod disk_extent;
mod disks;
mod doctor;
mod documents;
mod doubt;
mod environment;
mod error;
mod facts;
mod fill;
mod fstab;
#[cfg(test)]
mod lab;
mod limits;
mod manifest;
mod manifest_location;
mod mounts;
mod null_device;
mod open;
mod own_io;
mod path;
mod permission;
mod prepare;
mod probe;
mod read_only;
mod remount;
mod remove;
mod signature;
mod sizes;
mod space;
mod stack;
mod sysfs;
mod tree;
mod unwritten;
mod user_dir;
mod waits;

pub use admit::{Admitted, admit, is_foreign};
pub use caches::{check_drop_caches, drop_caches};
pub use classic::{ClassicLeftover, ClassicManifest, classic_leftovers};
pub use clean::{Adoptable, CleanReport, ConfirmCopies, NotRemoved, clean};
pub use counters::{DeviceCounters, DeviceSample};
pub use cpu::{
    CpuSample, CpuTime, MachineCounters, MachineSample, ProcessorTicks, thread_cpu_ns, tick_ns,
};
pub use disk_extent::{DiskExtent, disk_extent};
pub use disks::{ListedDisk, device_usage, disks};
pub use doctor::{Finding, Health, check_io_uring, check_mpi, doctor};
pub use documents::{CleanedTarget, Diagnosis};
pub use doubt::{DirectCause, DirectDoubt};
pub use environment::environment;
pub use error::TargetError;
pub use facts::system_facts;
pub use fill::FillWatch;
pub use fstab::{Unmounted, unmounted};
pub use limits::{QuotaCounters, QuotaSample};
pub use mounts::{MountLine, mount_of, mounts};
pub use null_device::null_device;
pub use own_io::{OwnIo, OwnIoCounters};
pub use permission::{InPlace, Permission};
pub use prepare::{
    FillPlan, LostFile, NamedOpen, NamedTreeFile, OpenedTarget, Prepared, evict, prepare,
};
pub use probe::{DirectAlignment, PathFacts, PathKind, probe};
pub use remount::{RestoreFailure, RestoredMount, restore_mounts};
pub use signature::{Signature, signature};
pub use stack::{Medium, StorageStack, stack};
pub use sysfs::{BlockDevice, DeviceNumber, devices_under};
pub use tree::Tree;
pub use unwritten::{UnwrittenPart, blank};
pub use user_dir::CreatedDirectories;
pub use waits::{Pressure, WaitCounters, WaitSample};
