//! What `list`, `show`, `keys` and `check` tell other programs.

use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{GroupHost, TargetRemark};
use description::Workload;
use description::builtin::{self, Builtin};
use description::reference::WorkloadKey;
use plan::Diagnostic;
use plan::Plan;

/// The built-in workloads and packs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BuiltinList {
    /// All of them: those that people start with first.
    pub workloads: Vec<Builtin>,
    /// Programs that pgmeter stands in for, and whose files it reads.
    pub programs: Vec<ListedProgram>,
}

/// A program that pgmeter stands in for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedProgram {
    /// The word that `as` takes.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What its files are called that are workloads here.
    pub files: Option<&'static str>,
}

impl JsonDocument for BuiltinList {
    const FORMAT: &'static str = "pgmeter-list/1";
}

impl BuiltinList {
    /// All that come with this version, and those programs.
    #[must_use]
    pub fn with(programs: Vec<ListedProgram>) -> Self {
        Self {
            workloads: builtin::list(),
            programs,
        }
    }
}

/// A workload as a file has it and as it is understood, or the template to start from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ShownWorkload {
    /// The name or file that was asked for; none of the template.
    pub name: Option<String>,
    /// The text of a workload file, in TOML.
    pub toml: String,
    /// The same as values, one for each workload; of the template none.
    pub workloads: Vec<Workload>,
    /// How parts of the file were understood.
    pub warnings: Vec<Diagnostic>,
}

impl JsonDocument for ShownWorkload {
    const FORMAT: &'static str = "pgmeter-show/1";
}

/// Keys of workload files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeyList {
    /// Table by table in the order of the reference page, or the best match first.
    pub keys: Vec<WorkloadKey>,
}

impl JsonDocument for KeyList {
    const FORMAT: &'static str = "pgmeter-keys/1";
}

/// A plan that nobody has run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedPlan<'a> {
    /// What would be done, as records have it.
    #[serde(flatten)]
    pub plan: &'a Plan,
    /// What the reader should know.
    pub warnings: &'a [Diagnostic],
    /// What is known of each target beside the plan, in its order.
    pub target_remarks: &'a [TargetRemark],
    /// The host of each group of workers, where they were named.
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
    fn the_list_has_every_name_with_what_it_is() {
        let list: Value =
            serde_json::from_str(&BuiltinList::with(Vec::new()).to_document()).unwrap();
        let all = list["workloads"].as_array().unwrap();
        assert_eq!(all.len(), builtin::list().len());
        let quick = all.iter().find(|it| it["name"] == "quick").unwrap();
        assert_eq!(quick["kind"], "pack");
        assert!(quick.get("text").is_none());
        let origin = |name: &str| {
            let of_name = all.iter().find(|it| it["name"] == name);
            of_name.unwrap()["origin"].clone()
        };
        assert_eq!(origin("quick"), "pgmeter");
        assert_eq!(origin("iometer-defaults"), "Iometer");
    }
}
