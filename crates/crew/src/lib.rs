//! Runs that several processes share, on one machine or on many.
//!
//! The leader plans, sets the start times and merges the results. Each of the other processes
//! measures its own workers of the plan, as threads of one process would, in its own directories.
//! They exchange messages over the standard streams of a command such as `ssh`, or over MPI.

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
pub use hub::{Arrival, LeaderLinks, Outlet, outlet};
pub use leader::{Leader, LeaderOptions, OnLost};
pub use pipes::{Children, serve_stdio};
pub use worker::CrewWorker;
pub use world::{FirstRank, MpiJob, Ranked, join};
