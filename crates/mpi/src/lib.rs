//! Messages between the ranks of a job, through the MPI library that its launcher belongs to.
//!
//! The library is found and opened at run time, never linked. [`Launch`] detects whether a launcher
//! started this process, [`candidates`] lists the libraries to try, and [`World`] opens one and
//! transfers messages of bytes. A process without a launcher opens no library.
//!
//! For the functions used here, libraries differ only in their constants, of which there are three
//! sets ([`Abi`]). One set of signatures serves all, with handles as wide as a pointer.
//!
//! Only [`World::open`] and [`World::finalize`] wait inside MPI, because such a wait keeps a core
//! busy and lasts as long as a peer is stopped. This crate does not interpret the messages.

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
