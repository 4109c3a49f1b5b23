//! Engines: the only code that issues I/O.
//!
//! An engine accepts [`Request`]s, keeps them in flight and returns [`Completion`]s. It knows
//! nothing about workloads, percentages, phases or statistics.

mod arena;
mod buffers;
mod bus_error;
mod children;
pub mod clock;
mod counter;
mod descriptors;
mod error;
mod extents;
mod file_operations;
mod files;
mod fileset;
mod mmap;
mod namespace;
mod network;
mod null;
mod open;
mod operation;
mod prefetch;
mod priority;
mod psync;
mod request;
mod scripted;
mod semaphores;
mod submission;
mod uring;

pub use arena::share_arena;
pub use buffers::Buffers;
pub use children::ChildrenTime;
pub use clock::{Clock, StepClock, TscClock};
pub use descriptors::{with_own_descriptors, with_own_files};
pub use error::EngineError;
pub use extents::{Unwritten, count_extents, find_unwritten};
pub use file_operations::{
    FileEngineOptions, FileHandles, Handles, MappedFiles, MappingSync, OpenAccess, OpenFlags,
    OpenMode, OpenModeIndex, PsyncFiles, RegisterFiles, RequestObject, SlotHandles,
};
pub use fileset::{
    Fileset, Filesets, NameRule, Nesting, Numbering, SecondName, Spread, SubdirectoryRule,
    make_room_for_open,
};
pub use mmap::{Mmap, MmapOptions};
pub use namespace::unshare_mounts;
pub use network::{PsyncNetwork, UringNetwork};
pub use null::Null;
pub use open::{OpenPlan, Reopen, open_device, open_target};
pub use operation::{Operation, OperationSet};
pub use prefetch::prefetch;
pub use priority::set_io_priority;
pub use psync::{Psync, PsyncOptions, SpaceCall, SpacePsync};
pub(crate) use request::pause;
pub use request::{Completion, Engine, Request, Wait};
pub use scripted::{Scripted, ScriptedOutcome};
pub use semaphores::SemaphoreSet;
pub use submission::{SubmissionTimes, TimedSubmission};
pub use uring::{ForcedAsync, IoUring, RingGrants, UringFiles, UringOptions, check_polls};
