//! Create/remove, lat_fs, fs_mark and PostMark: settings, command lines, scripts, and what is done
//! in which order.
//!
//! Nothing here touches a file: what is done is a program, whose texts are in `front`.

mod arguments;
mod choices;
pub mod create_remove;
mod error;
pub mod fs_mark;
pub mod lat_fs;
pub mod postmark;
mod program;
mod settings;
mod stored;

pub use arguments::Refusal;
pub use choices::{FileSync, Order};
pub use create_remove::CreateRemove;
pub use error::ClassicError;
pub(crate) use error::ranged;
pub use fs_mark::FsMark;
pub use lat_fs::LatFs;
pub use settings::TableSetting;
#[cfg(test)]
pub(crate) use stored::read as read_stored;
pub use stored::upgrade_files;
