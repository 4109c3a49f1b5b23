//! Descriptions of workloads: their keys and tables, their files, and the built-in workloads.
//!
//! Nothing here accesses a target: parsing reads only the workload file.

pub mod builtin;
pub mod check;
pub mod classics;
mod flaw;
pub mod iometer;
mod load;
pub mod model;
mod native;
mod nearest;
pub mod one_line;
mod overlay;
mod overrides;
pub mod reference;
mod resolve;

pub use load::{STDIN_NAME, file_stem, load, load_builtin, name_after};
pub use model::Workload;
pub use model::job::{complete_job_tables, job_title, waves_of_jobs};
pub use native::{read_toml, to_tables, to_toml};
pub use nearest::nearest;
pub use overrides::{Overrides, Ranks};
