//! PostMark: its command language, settings and texts, as version 1.53 has them, and its table in
//! a workload file.
//!
//! Nothing here reads or writes a file: what a line asks for comes back as [`Action`]s, and
//! [`play`] carries them out through a [`Console`].

mod command;
mod compat;
mod detect;
mod lines;
mod location;
mod number;
mod plan;
mod program;
mod rows;
mod script;
mod session;
mod settings;
mod show;
mod stored;
mod table;
#[cfg(test)]
mod tests;

pub use compat::{Clock, Compat, UnknownCompat};
pub use detect::looks_like;
pub use lines::next_line;
pub use plan::{Pool, PostmarkPlan};
pub use program::{Console, cannot_direct_output, play};
pub(crate) use script::{Reading, read_script};
pub use session::{Action, Origin, Session};
pub(crate) use settings::COUNT_DEFAULT;
pub use settings::{ReportForm, Settings};
pub use show::{Shown, show};
pub(crate) use stored::StoredPlan;
pub(crate) use table::SEEDS;
pub use table::{Choice, Postmark};
