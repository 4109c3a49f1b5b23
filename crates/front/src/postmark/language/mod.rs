//! PostMark's command language, in all of its versions.
//!
//! This module does not access files: a line becomes [`SessionAction`]s, which [`play`] carries out
//! through a [`SessionConsole`].

mod command;
mod detect;
mod lines;
mod location;
mod number;
mod program;
mod script;
mod session;
mod show;
#[cfg(test)]
mod tests;

pub use detect::looks_like_script;
pub use lines::next_line;
pub use program::{SessionConsole, output_file_error, play};
pub use script::read;
pub use session::{Origin, PostmarkSession, SessionAction};
pub use show::show;
