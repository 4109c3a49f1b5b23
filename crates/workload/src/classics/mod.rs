//! Create/remove, lat_fs and fs_mark: settings, command lines, and what is done in which order.
//!
//! Nothing here touches a file: a pass says what is done to every file of a set, a course says
//! which pass comes next. Their operations are in `generate`, their texts in `front`.

mod arguments;
pub mod create_remove;
mod error;
pub mod fs_mark;
pub mod lat_fs;
mod pass;
mod program;
mod settings;

pub use arguments::Refusal;
pub use create_remove::CreateRemove;
pub use error::ClassicError;
pub(crate) use error::ranged;
pub use fs_mark::FsMark;
pub use lat_fs::LatFs;
pub use pass::{Chain, FileSync, Order, PassPlan, share};
pub(crate) use settings::TableSetting;
