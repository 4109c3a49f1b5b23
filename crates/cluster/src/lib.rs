//! Runs that several processes share, on one machine or on many.
//!
//! The leader plans, sets the start times and merges the results. Each of the other processes
//! measures its own workers of the plan, as threads of one process would, in its own directories.
//! They exchange messages over the standard streams of a command such as `ssh`, or over MPI.

mod copy;
mod error;
mod hosts;
mod leader;
mod leader_links;
mod message;
mod order_inbox;
mod pipes;
mod work_dir;
mod worker;
mod world;

pub use copy::{ProgramCopy, copy_program};
pub use error::ClusterError;
pub use hosts::hosts;
pub use leader::{Leader, LeaderOptions, OnLost};
pub use leader_links::{LeaderLinks, LinkEvent, MessageSender, channel_sender};
pub use order_inbox::OrderInbox;
pub use pipes::{Children, serve_stdio};
pub use worker::ClusterWorker;
pub use world::{FirstRank, MpiJob, MpiRole, join};
