//! Create/remove, lat_fs, fs_mark and PostMark: their tables in workload files, and their
//! conversion to programs.
//!
//! Nothing here accesses files. Command lines, scripts and output of the originals are in `front`.

mod choices;
pub mod create_remove;
mod error;
pub mod fs_mark;
pub mod lat_fs;
pub mod postmark;
mod program;
mod settings;
mod stored;

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
