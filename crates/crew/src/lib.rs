//! Runs that several processes share, on one machine or on many.
//!
//! One leads: it plans, says when to begin, and puts the figures together. The others each measure
//! the workers of the plan that are theirs, as threads of one process would, in directories of
//! their own. They speak in messages, whatever carries them: the standard streams of a command such
//! as `ssh`, or MPI.

mod copy;
mod desk;
mod error;
mod ground;
mod hosts;
mod hub;
mod leader;
mod message;
mod pipes;
mod worker;
mod world;

pub use copy::{ProgramCopy, copy_program};
pub use desk::Desk;
pub use error::CrewError;
pub use hosts::hosts;
pub use hub::{Arrival, Hub, Outlet, outlet};
pub use leader::{Leader, LeaderOptions, OnLost};
pub use pipes::{Children, serve_stdio};
pub use worker::Worker;
pub use world::{FirstRank, Job, Ranked, join};
