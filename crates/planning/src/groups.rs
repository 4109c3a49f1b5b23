//! Groups of workers (managers in Iometer files) and their hosts.

use schemars::JsonSchema;
use serde::Serialize;

use description::iometer::{group_names, with_network_workers};
use description::model::Workload;
use plan::{Diagnostic, printable};

/// Maximum number of names in a message.
const NAMES_SHOWN: usize = 8;

/// A group of workers and its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroupHost {
    /// Name of the group.
    pub group: String,
    /// Name of the host.
    pub host: String,
}

/// The host of each group of workers in the workloads, in the order of the groups.
///
/// # Errors
/// A group that does not exist, has no host or two, or workers without a group.
pub fn hosts_of_groups(
    workloads: &[Workload],
    given: &[GroupHost],
) -> Result<Vec<GroupHost>, Diagnostic> {
    let workloads: Vec<Workload> = workloads
        .iter()
        // In Iometer's files, a network worker implies a client, and its manager needs a host.
        .map(|it| with_network_workers(it).0)
        .collect();
    let groups = KnownGroups::of(&workloads);
    for (index, it) in given.iter().enumerate() {
        groups.check_known(&it.group)?;
        if let Some(other) = given[..index].iter().find(|other| other.group == it.group) {
            let message = format!(
                "{} `{}` has two hosts, `{}` and `{}`",
                groups.noun,
                printable(&it.group),
                printable(&other.host),
                printable(&it.host)
            );
            return Err(Diagnostic::error("", message).help("name one of them"));
        }
    }
    if groups.has_groupless {
        let message = "some workers belong to no group and have no host";
        return Err(Diagnostic::error("", message).help("give each `[[worker]]` a `group`"));
    }
    let is_given = |name: &&String| given.iter().any(|it| it.group == **name);
    let missing: Vec<&str> = groups
        .with_workers
        .iter()
        .filter(|name| !is_given(name))
        .map(String::as_str)
        .collect();
    if let Some(first) = missing.first() {
        let message = match missing.len() {
            1 => format!("{} {} has no host", groups.noun, listed(&missing)),
            _ => format!("{}s {} have no host", groups.noun, listed(&missing)),
        };
        let help = format!("add `--host \"{}=HOST\"`", printable(first));
        return Err(Diagnostic::error("", message).help(help));
    }
    let in_order = groups.all.iter().filter_map(|name| {
        let host = given.iter().find(|it| it.group == *name)?;
        Some(host.clone())
    });
    Ok(in_order.collect())
}

/// Groups in the workloads.
struct KnownGroups {
    /// Word for them in messages: `group` or `manager`.
    noun: &'static str,
    all: Vec<String>,
    with_workers: Vec<String>,
    /// `true` if some workers have no group.
    has_groupless: bool,
}

impl KnownGroups {
    fn of(workloads: &[Workload]) -> Self {
        let is_of_iometer = workloads.iter().any(|it| it.iometer.is_some());
        let mut groups = Self {
            noun: if is_of_iometer { "manager" } else { "group" },
            all: Vec::new(),
            with_workers: Vec::new(),
            has_groupless: false,
        };
        let add = |to: &mut Vec<String>, name: String| {
            if !to.contains(&name) {
                to.push(name);
            }
        };
        for workload in workloads {
            managers(workload)
                .into_iter()
                .for_each(|name| add(&mut groups.all, name));
            // Without tables, the workload has workers, but no table could name a group.
            groups.has_groupless |= workload.worker.is_empty();
            for group in groups_of_workers(workload) {
                groups.has_groupless |= group.is_none();
                if let Some(name) = group {
                    add(&mut groups.all, name.clone());
                    add(&mut groups.with_workers, name);
                }
            }
        }
        groups
    }

    fn check_known(&self, name: &str) -> Result<(), Diagnostic> {
        if self.all.iter().any(|known| known == name) {
            return Ok(());
        }
        let message = format!("there is no {} `{}`", self.noun, printable(name));
        let names: Vec<&str> = self.all.iter().map(String::as_str).collect();
        let help = match names.len() {
            0 => "write `--hosts HOST,...` for hosts that all do the same".to_owned(),
            1 => format!("the only {} is {}", self.noun, listed(&names)),
            _ => format!("the {}s are {}", self.noun, listed(&names)),
        };
        Err(Diagnostic::error("", message).help(help))
    }
}

/// Joins names for a sentence; of many, only the first ones.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMES_SHOWN);
    let mut shown: Vec<String> = shown.map(|name| format!("`{}`", printable(name))).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => {}
        more => shown.push(format!("{more} more")),
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// The names of the managers in an Iometer file.
fn managers(workload: &Workload) -> Vec<String> {
    let extras = workload.iometer.as_ref();
    extras.map_or_else(Vec::new, |extras| {
        group_names(extras.managers.iter().map(|it| &it.identity))
    })
}

/// The group of each worker table. With a single manager, workers without a group belong to it.
pub(crate) fn groups_of_workers(workload: &Workload) -> impl Iterator<Item = Option<String>> {
    let mut managers = managers(workload);
    let only = match managers.len() {
        1 => managers.pop(),
        _ => None,
    };
    let tables = workload.worker.iter();
    tables.map(move |table| table.group.clone().or_else(|| only.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use description::load;

    fn given(pairs: &[&str]) -> Vec<GroupHost> {
        let pair = |pair: &&str| {
            let (group, host) = pair.split_once('=').expect("a pair");
            GroupHost {
                group: group.to_owned(),
                host: host.to_owned(),
            }
        };
        pairs.iter().map(pair).collect()
    }

    fn of_text(text: &str, pairs: &[&str]) -> Result<Vec<GroupHost>, String> {
        let loaded = load("w.toml", text).expect("a workload");
        hosts_of_groups(&loaded, &given(pairs)).map_err(|error| {
            let help = error.help.unwrap_or_default();
            format!("{}; {help}", error.message)
        })
    }

    const TWO_SPECS: &str = "[[access_spec]]\nline = [{ size = \"4k\" }]\n\
        [[worker]]\ngroup = \"b\"\n[[worker]]\ngroup = \"a\"\n[[worker]]\ngroup = \"b\"\n";

    #[test]
    fn hosts_of_groups_follow_the_order_of_the_file() {
        let hosts = of_text(TWO_SPECS, &["a=one", "b=two"]);
        assert_eq!(hosts, Ok(given(&["b=two", "a=one"])));
    }

    #[test]
    fn unknown_groups_and_groups_without_host_are_refused_with_help() {
        let cases: [(&str, &[&str], &str); 5] = [
            (
                TWO_SPECS,
                &["a=x", "c=y"],
                "there is no group `c`; the groups are `b` and `a`",
            ),
            (
                TWO_SPECS,
                &["a=x"],
                "group `b` has no host; add `--host \"b=HOST\"`",
            ),
            (
                TWO_SPECS,
                &["a=x", "b=y", "a=z"],
                "group `a` has two hosts, `x` and `z`; name one of them",
            ),
            (
                "[[access_spec]]\nline = [{ size = \"4k\" }]\n",
                &["a=x"],
                "there is no group `a`; write `--hosts HOST,...` for hosts that all do the same",
            ),
            (
                "[[access_spec]]\nline = [{ size = \"4k\" }]\n[[worker]]\ngroup = \"a\"\n\
                 [[worker]]\n",
                &["a=x"],
                "some workers belong to no group and have no host; give each `[[worker]]` a \
                 `group`",
            ),
        ];
        for (text, pairs, message) in cases {
            assert_eq!(of_text(text, pairs), Err(message.to_owned()));
        }
    }

    #[test]
    fn only_the_first_of_many_names_are_listed() {
        assert_eq!(listed(&["a", "b", "c"]), "`a`, `b` and `c`");
        let many = vec!["x"; NAMES_SHOWN + 2];
        assert!(listed(&many).ends_with("`x` and 2 more"));
    }
}
