//! The workload description, its importers, the built-in workloads, and the plan.
//!
//! Nothing here touches a target: parsing reads the workload file only and planning is pure.

mod address;
pub mod builtin;
mod check;
pub mod classics;
mod diagnostic;
mod documents;
pub mod facts;
mod groups;
pub mod icf;
pub mod model;
mod native;
mod nearest;
pub mod one_line;
mod overlay;
mod overrides;
pub mod plan;
mod plan_text;
mod planning;
pub mod program;
pub mod reference;
mod resolve;
pub mod source;
mod word;

pub use address::TcpAddress;
pub use check::{job_title, waves_of_jobs, whole_job_tables};
pub use diagnostic::{Diagnostic, DiagnosticCode, Severity, printable};
pub use documents::{BuiltinList, CheckedPlan, KeyList, ListedProgram, ShownWorkload};
pub use groups::{GroupHost, hosts_of_groups};
pub use model::Workload;
pub use native::{in_tables, read_toml, to_toml};
pub use nearest::nearest;
pub use overrides::Overrides;
pub use plan::job;
pub use plan_text::{TargetRemark, line_remarks, plan_text, plan_text_on, settings_of_each};
pub use planning::{Planned, check_space_together, plan, wanted_targets, wanted_targets_of_groups};
