//! Guests: file systems in a separate kernel, User-mode Linux, which runs as an ordinary process on
//! the host's file tree.
//!
//! An image is created on the host and is the guest's block device. The guest runs this program
//! with a [`GuestJob`], and leaves an answer next to the image.

mod check;
mod guest;
mod guest_init;
mod kernel;
mod kernel_messages;
mod listen;
mod order;
mod preloaded;
mod probe;

pub use check::{can_run_in_guest, check};
pub use guest::{Guest, GuestOutput, Host};
pub(crate) use guest_init::GuestConsole;
pub use guest_init::{enter, is_init, run_as_init};
pub use kernel::Kernel;
pub(crate) use kernel_messages::mentions_memory;
pub(crate) use listen::{ListenAction, answer_of, listen};
pub use order::{GuestJob, Image};
pub use probe::probe;
