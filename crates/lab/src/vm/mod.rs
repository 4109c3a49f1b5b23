//! Guests: file systems in a kernel of their own, User-mode Linux, which runs on the host's tree
//! as an ordinary process.
//!
//! An image is made on the host and is the guest's block device. The guest runs this very program
//! with an [`GuestOrder`], and leaves an answer beside it.

mod check;
mod guest;
mod inside;
mod kernel;
mod last_words;
mod listen;
mod order;
mod preloaded;
mod probe;

pub use check::{can_make, check};
pub use guest::{Guest, Heard, Host};
pub(crate) use inside::Console;
pub use inside::{enter, is_init, rule};
pub use kernel::Kernel;
pub(crate) use last_words::speaks_of_memory;
pub(crate) use listen::{AfterLine, answer_of, listen};
pub use order::{GuestOrder, Image};
pub use probe::probe;
