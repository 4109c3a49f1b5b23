//! PostMark: its settings, as in version 1.53, and its table in a workload file.

mod compat;
mod location;
mod plan;
mod rows;
mod settings;
mod stored;
mod table;

pub use compat::{Compat, ReportClock, UnknownCompat};
pub use location::{beneath, location_text};
pub use plan::{PoolSharing, PostmarkPlan};
pub(crate) use settings::COUNT_DEFAULT;
pub use settings::{PostmarkSettings, ReportForm};
pub(crate) use stored::StoredPlan;
pub(crate) use table::SEEDS;
pub use table::{Choice, Postmark};
