//! Messages between the ranks of a job, by whichever MPI library its launcher belongs to.
//!
//! The library is found and opened when the program runs, never linked: [`Launch`] says whether a
//! launcher started this process, [`candidates`] which libraries would be its own, and [`World`]
//! opens one and carries messages of bytes. A process that no launcher started opens nothing.
//!
//! Libraries differ in their constants, of which there are three sets ([`Abi`]), and in nothing
//! else that is used here: one set of signatures serves all, with handles as wide as a pointer.
//!
//! No function but [`World::open`] and [`World::finalize`] waits within MPI, where waiting keeps a
//! core busy and lasts as long as a peer is stopped. This crate knows nothing of what it carries.

mod abi;
mod bindings;
mod candidates;
mod error;
mod launch;
mod library;
mod pieces;
mod shared_object;
mod transfer;
mod world;

pub use abi::Abi;
pub use candidates::{candidates, launcher_directory};
pub use error::MpiError;
pub use launch::{LIBRARY_VARIABLE, Launch, Launcher};
pub use library::{MpiLibrary, look};
pub use world::{Message, World};
