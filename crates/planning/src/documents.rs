//! JSON documents of `list`, `show`, `keys` and `check`.

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::GroupHost;
use description::Workload;
use description::builtin::{self, Builtin};
use description::reference::WorkloadKey;
use plan::Diagnostic;
use plan::Plan;

/// The built-in workloads and packs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BuiltinList {
    /// All built-in workloads and packs, the most useful ones for beginners first.
    pub workloads: Vec<Builtin>,
    /// Programs that pgmeter can emulate, and whose files it reads.
    pub programs: Vec<ListedProgram>,
}

/// A program that pgmeter can emulate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedProgram {
    /// Argument of `pgmeter as`.
    pub name: String,
    /// Title in one line.
    pub title: String,
    /// Name pattern of its files that can be used as workloads, if any.
    pub files: Option<&'static str>,
}

impl JsonDocument for BuiltinList {
    const FORMAT: &'static str = "pgmeter-list/1";
}

impl BuiltinList {
    /// All built-in workloads, and these programs.
    #[must_use]
    pub fn with(programs: Vec<ListedProgram>) -> Self {
        Self {
            workloads: builtin::list(),
            programs,
        }
    }
}

/// A workload as text and as values, or the template for a new one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ShownWorkload {
    /// Requested name or file; `None` for the template.
    pub name: Option<String>,
    /// The text of a workload file, in TOML.
    pub toml: String,
    /// The workloads of the text as values; empty for the template.
    pub workloads: Vec<Workload>,
    /// Warnings about the file.
    pub warnings: Vec<Diagnostic>,
}

impl JsonDocument for ShownWorkload {
    const FORMAT: &'static str = "pgmeter-show/1";
}

/// Keys of workload files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyList {
    /// Keys table by table in the order of the reference page, or the best match first.
    pub keys: Vec<WorkloadKey>,
}

impl JsonDocument for KeyList {
    const FORMAT: &'static str = "pgmeter-keys/1";
}

/// Properties of a target that are not part of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct TargetProperties {
    /// Storage layers below it, as text.
    pub layers: Option<String>,
    /// `true` if it is a user's file, which preparation does not write.
    pub is_foreign: bool,
}

/// A plan that was not run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedPlan<'a> {
    /// The plan, in the same form as in records.
    #[serde(flatten)]
    pub plan: &'a Plan,
    /// Warnings about the plan.
    pub warnings: &'a [Diagnostic],
    /// Properties of each target that are not part of the plan, in the order of its targets.
    pub target_remarks: &'a [TargetProperties],
    /// Host of each group of workers, if hosts were given.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub hosts: &'a [GroupHost],
}

impl JsonDocument for CheckedPlan<'_> {
    const FORMAT: &'static str = "pgmeter-check/1";
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_list_has_every_name_with_its_kind() {
        let list: Value =
            serde_json::from_str(&BuiltinList::with(Vec::new()).to_document()).unwrap();
        let all = list["workloads"].as_array().unwrap();
        assert_eq!(all.len(), builtin::list().len());
        let quick = all.iter().find(|it| it["name"] == "quick").unwrap();
        assert_eq!(quick["kind"], "pack");
        assert!(quick.get("text").is_none());
        let origin = |name: &str| {
            let entry = all.iter().find(|it| it["name"] == name);
            entry.unwrap()["origin"].clone()
        };
        assert_eq!(origin("quick"), "pgmeter");
        assert_eq!(origin("iometer-defaults"), "Iometer");
    }
}
