//! PostMark's command language, its settings and its texts, as version 1.53 has them.
//!
//! Nothing here reads or writes a file: what a line asks for comes back as [`Action`]s, and
//! [`play`] carries them out through a [`Console`].

mod command;
mod compat;
mod detect;
mod lines;
mod location;
mod number;
mod program;
mod session;
mod settings;
mod show;
#[cfg(test)]
mod tests;

pub use compat::{Clock, Compat, RandomNumbers, UnknownCompat};
pub use detect::looks_like;
pub use lines::next_line;
pub use program::{Console, cannot_direct_output, play};
pub use session::{Action, Origin, Session};
pub use settings::{Location, ReportForm, Settings};
pub use show::{Shown, show};
