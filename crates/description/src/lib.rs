//! The description of a workload: its keys and tables, its file, the importers of other programs'
//! files, and the built-in workloads.
//!
//! Nothing here touches a target: parsing reads the workload file only.

pub mod builtin;
pub mod check;
pub mod classics;
mod flaw;
pub mod icf;
pub mod model;
mod native;
mod nearest;
pub mod one_line;
mod overlay;
mod overrides;
pub mod reference;
mod resolve;
pub mod source;

pub use model::Workload;
pub use model::job::{job_title, waves_of_jobs, whole_job_tables};
pub use native::{in_tables, read_toml, to_toml};
pub use nearest::nearest;
pub use overrides::{Overrides, Ranks};
