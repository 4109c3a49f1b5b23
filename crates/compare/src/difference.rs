//! Differences between two runs in settings and environment.

use std::collections::{BTreeMap, BTreeSet};

use plan::Plan;
use results::{Environment, RunRecord};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Settings that change where, when, how long or how often a run measures, but not its work.
const CIRCUMSTANCES: [&str; 10] = [
    "targets",
    "target",
    "run_time",
    "ramp_time",
    "repetitions",
    "precision",
    "budget",
    "seed",
    "keep",
    // It only decides which cells there are, and the plan of each cell contains its work.
    "test_type",
];
/// Parts of the environment that change from minute to minute. Also the working directory, which
/// only serves to find the targets.
const VOLATILE_KEYS: [&str; 8] = [
    "directory",
    "free_inodes",
    "load_before",
    "memory_available_bytes",
    "free_bytes",
    // Each run measures the clock again, so its cost and resolution scatter.
    "read_cost_ns",
    "resolution_ns",
    // A position in the plan, not a property of the machine.
    "target_index",
];
/// Prefix of kernel settings that are gauges.
const GAUGE_PREFIX: &str = "pressure.";

/// A key with its values on both sides.
type ChangedKey<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// A difference between the first and the second run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// A key of the workload file, or a path in the record.
    pub what: String,
    /// Value of the first run; null if it has none.
    pub a: Option<String>,
    /// Value of the second run; null if it has none.
    pub b: Option<String>,
}

impl Difference {
    /// Returns `true` if the setting changes only where, when, how long or how often a run
    /// measures.
    #[must_use]
    pub fn is_circumstance(&self) -> bool {
        // The names of workloads may follow the key in parentheses.
        let key = self.what.split(' ').next().unwrap_or_default();
        CIRCUMSTANCES.contains(&key)
    }
}

/// Name of a workload, its index among workloads of that name, and a key.
type KeyLocation<'a> = ((&'a str, usize), &'a str);

/// Returns the settings that differ between two plans. A difference that is the same in several
/// workloads appears once, with their names unless it applies to all.
pub(crate) fn of_settings(a: &Plan, b: &Plan) -> Vec<Difference> {
    let (first, second) = (settings(a), settings(b));
    // A workload that only one side has appears as unmatched cells, not as a list of its settings.
    let workloads: BTreeSet<(&str, usize)> = first
        .keys()
        .filter(|(workload, _)| second.keys().any(|(other, _)| other == workload))
        .map(|(workload, _)| *workload)
        .collect();
    let keys: BTreeSet<_> = first.keys().chain(second.keys()).collect();
    let mut found: BTreeMap<ChangedKey, Vec<String>> = BTreeMap::new();
    for &&(workload, key) in keys.iter().filter(|key| workloads.contains(&key.0)) {
        let a = first.get(&(workload, key)).copied();
        let b = second.get(&(workload, key)).copied();
        if a != b {
            let name = match workload {
                (name, 0) => name.to_owned(),
                (name, occurrence) => format!("{name} ({})", occurrence + 1),
            };
            found.entry((key, a, b)).or_default().push(name);
        }
    }
    found
        .into_iter()
        .map(|((key, a, b), of)| Difference {
            what: if of.len() == workloads.len() {
                key.to_owned()
            } else {
                format!("{key} ({})", of.join(", "))
            },
            a: a.map(str::to_owned),
            b: b.map(str::to_owned),
        })
        .collect()
}

/// Maps workload and key to values. A repeated key belongs to the next workload of the same name.
fn settings(plan: &Plan) -> BTreeMap<KeyLocation<'_>, &str> {
    let mut settings = BTreeMap::new();
    for setting in &plan.settings {
        let key = setting.key.as_str();
        let location = (0..)
            .map(|occurrence| ((setting.workload.as_str(), occurrence), key))
            .find(|location| !settings.contains_key(location));
        settings.extend(location.map(|location| (location, setting.value.as_str())));
    }
    settings
}

/// Returns the differences between the machines, systems and programs of two runs.
pub(crate) fn of_environments(a: &RunRecord, b: &RunRecord) -> Vec<Difference> {
    let mut differences = of_values(
        &stable_values(&a.environment),
        &stable_values(&b.environment),
    );
    differences.extend(of_clusters(a, b));
    let (a, b) = (&a.pgmeter.version, &b.pgmeter.version);
    if a != b {
        differences.push(Difference {
            what: "pgmeter.version".to_owned(),
            a: Some(a.clone()),
            b: Some(b.clone()),
        });
    }
    differences
}

/// Returns differences in the numbers of processes and hosts. A run of a single process counts as
/// one process on one host.
fn of_clusters(a: &RunRecord, b: &RunRecord) -> Vec<Difference> {
    let counts = |run: &RunRecord| {
        let cluster = run.cluster.as_ref();
        cluster.map_or([1, 1], |cluster| {
            [cluster.ranks as usize, cluster.hosts.len()]
        })
    };
    let names = ["processes", "hosts"].into_iter();
    let counts = names.zip(counts(a).into_iter().zip(counts(b)));
    let differing = counts.filter(|(_, (a, b))| a != b);
    let differences = differing.map(|(what, (a, b))| Difference {
        what: what.to_owned(),
        a: Some(a.to_string()),
        b: Some(b.to_string()),
    });
    differences.collect()
}

/// Returns an environment without values that change from minute to minute.
fn stable_values(environment: &Environment) -> Value {
    let mut environment = environment.clone();
    environment
        .settings
        .retain(|setting| !setting.starts_with(GAUGE_PREFIX));
    // In a list, a setting that only one kernel has would shift the paths of all later settings.
    let settings: BTreeMap<String, String> = environment
        .settings
        .drain(..)
        .map(|setting| match setting.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (setting, String::new()),
        })
        .collect();
    let mut value = units::json_value(&environment).unwrap_or_default();
    remove_volatile_values(&mut value);
    if let Some(object) = value.as_object_mut() {
        object.insert("settings".to_owned(), serde_json::json!(settings));
    }
    value
}

/// Returns the leaves that differ between two JSON values, by path.
pub(crate) fn of_values(a: &Value, b: &Value) -> Vec<Difference> {
    let (mut first, mut second) = (BTreeMap::new(), BTreeMap::new());
    leaves(a, "", &mut first);
    leaves(b, "", &mut second);
    let paths: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    paths
        .into_iter()
        .filter(|path| first.get(*path) != second.get(*path))
        .map(|path| Difference {
            what: path.clone(),
            a: first.get(path).cloned(),
            b: second.get(path).cloned(),
        })
        .collect()
}

/// Collects all leaves except nulls. Text is stored without quotes.
fn leaves(value: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    match value {
        // Records write an unknown value as null or leave it out, which means the same.
        Value::Null => {}
        Value::Object(object) => {
            for (key, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                leaves(value, &format!("{path}{dot}{key}"), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                leaves(value, &format!("{path}[{index}]"), found);
            }
        }
        Value::String(text) => {
            found.insert(path.to_owned(), text.clone());
        }
        other => {
            found.insert(path.to_owned(), other.to_string());
        }
    }
}

/// Only for environments: in a plan, keys of these names are part of the work.
fn remove_volatile_values(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !VOLATILE_KEYS.contains(&key.as_str()));
            object.values_mut().for_each(remove_volatile_values);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_volatile_values),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn transient_values_are_ignored_only_in_environments() {
        let work = |directory: &str| json!({ "pool": { "directory": directory }, "depth": 1 });
        let differences = of_values(&work("a"), &work("b"));
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].what, "pool.directory");
        let environment = |directory: &str| Environment {
            directory: directory.into(),
            ..Environment::default()
        };
        let (a, b) = (
            stable_values(&environment("/a")),
            stable_values(&environment("/b")),
        );
        assert_eq!(of_values(&a, &b), []);
    }
}
