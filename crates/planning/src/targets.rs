//! Targets of each worker: from the file, from options, or a new directory.

use std::collections::{HashMap, HashSet};

use description::Overrides;
use description::model::{OneOrMany, Workload};
use plan::Diagnostic;
use plan::TcpAddress;
use plan::facts::{SystemFacts, TargetFacts};
use plan::{EngineKind, TargetKind};

/// Placeholder path of the new directory that a run creates.
const NEW_DIRECTORY: &str = ".";

/// A target with its known properties.
pub(super) struct ResolvedTarget {
    /// Its facts, or placeholders.
    pub facts: TargetFacts,
    /// `true` if the facts were collected; `false` for placeholders.
    pub is_known: bool,
    /// `true` if the file or an option names it.
    pub is_named: bool,
    /// End of the part that workers use, in bytes from byte 0.
    pub needed_bytes: u64,
    /// As `needed_bytes`, without files that a run time keeps from reaching their size.
    pub firm_bytes: u64,
    /// Maximum of the bytes that work on many files takes there, in addition to the test file.
    pub files_bytes: u64,
    /// As `files_bytes`, if phases that end by time did all of their possible work.
    pub files_max_bytes: u64,
    /// `true` if a workload uses the default size.
    pub size_is_default: bool,
}

/// All targets, and the targets of each workload.
#[derive(Default)]
pub(super) struct TargetTable {
    pub entries: Vec<ResolvedTarget>,
    lists: Vec<TargetLists>,
    /// Indexes by path and by whether I/O accesses the target.
    // The same name may be a label for the `null` engine and a path for another workload.
    by_path: HashMap<(String, bool), u32>,
}

/// The targets of one workload.
#[derive(Default)]
struct TargetLists {
    /// Targets of workers that name none.
    common: Vec<u32>,
    /// Targets of each worker table.
    by_table: Vec<Vec<u32>>,
}

impl TargetTable {
    /// Resolves the names of all workloads.
    pub fn of(
        workloads: &[Workload],
        warnings: &mut Vec<Diagnostic>,
        overrides: &Overrides,
        facts: &SystemFacts,
    ) -> Self {
        let mut table = Self::default();
        for workload in workloads {
            let names = TargetNames::of(workload);
            let is_iometer = workload.iometer.is_some();
            let touched = workload.engine != Some(EngineKind::Null);
            let mut resolver = TargetResolver {
                table: &mut table,
                facts,
                warnings,
                is_accessed: touched,
                is_iometer,
            };
            let lists = resolver.lists(&names, &overrides.targets_of(workload));
            table.lists.push(lists);
        }
        table
    }

    /// The targets of a worker, by its table, or for workers without a table.
    pub fn of_worker(&self, workload_index: usize, table_index: Option<usize>) -> &[u32] {
        let lists = &self.lists[workload_index];
        match table_index {
            Some(index) => &lists.by_table[index],
            None => &lists.common,
        }
    }

    /// The named paths, in order.
    pub fn named_paths(&self) -> Vec<String> {
        self.named_paths_of(|_| true)
    }

    /// The named paths whose target index is selected.
    pub fn named_paths_of(&self, is_used: impl Fn(u32) -> bool) -> Vec<String> {
        let used = (0..)
            .zip(&self.entries)
            .filter(|(index, _)| is_used(*index));
        let named = used.map(|(_, entry)| entry).filter(|entry| entry.is_named);
        let touched = named.filter(|entry| entry.facts.kind.is_path());
        touched.map(|entry| entry.facts.path.clone()).collect()
    }

    /// The index of the target at this path, added if it is new.
    fn index_of(
        &mut self,
        path: &str,
        touched: bool,
        make: impl FnOnce() -> ResolvedTarget,
    ) -> u32 {
        if let Some(index) = self.by_path.get(&(path.to_owned(), touched)) {
            return *index;
        }
        // The checked lists are too short for 2^32 targets.
        let index = self.entries.len() as u32;
        self.by_path.insert((path.to_owned(), touched), index);
        self.entries.push(make());
        index
    }
}

/// Target names of one workload, as written.
struct TargetNames<'a> {
    common: Option<&'a [String]>,
    by_table: Vec<Option<&'a [String]>>,
}

impl<'a> TargetNames<'a> {
    fn of(workload: &'a Workload) -> Self {
        let common = workload.targets.as_ref().map(OneOrMany::as_slice);
        let own = |worker: &'a description::model::Worker| {
            worker.targets.as_ref().map(OneOrMany::as_slice).or(common)
        };
        Self {
            common,
            by_table: workload.worker.iter().map(own).collect(),
        }
    }

    /// The lists that apply: of the worker tables, or else of the workload.
    fn used(&self) -> Vec<Option<&'a [String]>> {
        if self.by_table.is_empty() {
            vec![self.common]
        } else {
            self.by_table.clone()
        }
    }

    /// Each name once, in order of appearance.
    fn distinct(&self) -> Vec<&'a str> {
        let mut seen = HashSet::new();
        let all = self
            .used()
            .into_iter()
            .flatten()
            .flatten()
            .map(String::as_str);
        all.filter(|name| seen.insert(*name)).collect()
    }
}

/// How names map to paths.
enum TargetMapping<'a> {
    /// Each name maps to its own paths.
    Each(HashMap<&'a str, Vec<String>>),
    /// Every name maps to all of these paths; an empty list means the default target.
    All(Vec<String>),
}

struct TargetResolver<'a> {
    table: &'a mut TargetTable,
    facts: &'a SystemFacts,
    warnings: &'a mut Vec<Diagnostic>,
    is_accessed: bool,
    is_iometer: bool,
}

impl TargetResolver<'_> {
    fn lists(&mut self, names: &TargetNames, options: &[String]) -> TargetLists {
        let distinct = names.distinct();
        let leads = self.leads(&distinct, options);
        let nobody_has_any = distinct.is_empty();
        let is_iometer = self.is_iometer;
        let mut list = |own: Option<&[String]>| match own {
            // If no worker names a target, an empty list stands for the given or default target.
            Some([]) if !nobody_has_any => Vec::new(),
            // An Iometer worker has only the targets that its own section assigns.
            None if is_iometer && !nobody_has_any => Vec::new(),
            own => self.list(own.unwrap_or_default(), &leads),
        };
        TargetLists {
            by_table: names.by_table.iter().map(|own| list(*own)).collect(),
            common: if names.by_table.is_empty() {
                list(names.common)
            } else {
                Vec::new()
            },
        }
    }

    fn leads<'n>(&mut self, distinct: &[&'n str], options: &[String]) -> TargetMapping<'n> {
        let (peers, others): (Vec<_>, Vec<_>) = distinct
            .iter()
            .partition(|name| TcpAddress::is_tcp_name(name));
        if !options.is_empty() && !peers.is_empty() && (self.is_iometer || !others.is_empty()) {
            return self.leads_by_kind([&peers, &others], options);
        }
        // As many options as names: each option replaces the name at its position.
        if options.len() > 1 && options.len() == distinct.len() {
            return TargetMapping::Each(pair_with_options(distinct, options));
        }
        if !options.is_empty() {
            return TargetMapping::All(options.to_vec());
        }
        let paths = self.own_paths(distinct);
        if paths.is_empty() {
            TargetMapping::All(Vec::new())
        } else {
            TargetMapping::Each(paths)
        }
    }

    /// The paths that the names themselves denote.
    fn own_paths<'n>(&mut self, distinct: &[&'n str]) -> HashMap<&'n str, Vec<String>> {
        let paths: HashMap<&str, Vec<String>> = distinct
            .iter()
            .filter_map(|name| Some((*name, vec![path_of(name, self.is_iometer)?])))
            .collect();
        for name in distinct.iter().filter(|name| !paths.contains_key(**name)) {
            let message = format!("`{}` is not a path on this machine", plan::printable(name));
            let help = "name a target of this machine with `--target`";
            self.warnings
                .push(Diagnostic::warning("", message).help(help));
        }
        paths
    }

    /// If both TCP peers and other targets are named, options of each kind replace only names of
    /// that kind; names without such options stay.
    fn leads_by_kind<'n>(
        &mut self,
        names: [&[&'n str]; 2],
        options: &[String],
    ) -> TargetMapping<'n> {
        let (peers, others): (Vec<_>, Vec<_>) = options
            .iter()
            .cloned()
            .partition(|option| TcpAddress::is_tcp_name(option));
        let mut all = HashMap::new();
        for (names, options) in names.into_iter().zip([peers, others]) {
            if options.is_empty() {
                all.extend(self.own_paths(names));
            } else if options.len() > 1 && options.len() == names.len() {
                all.extend(pair_with_options(names, &options));
            } else {
                all.extend(names.iter().map(|name| (*name, options.clone())));
                if names.is_empty() {
                    let message = format!(
                        "`{}` is used by no worker: all have TCP peers",
                        plan::printable(&options[0])
                    );
                    let help = "leave it out, or name a peer as `tcp://HOST:PORT`";
                    self.warnings
                        .push(Diagnostic::warning("", message).help(help));
                }
            }
        }
        TargetMapping::Each(all)
    }

    fn list(&mut self, names: &[String], leads: &TargetMapping) -> Vec<u32> {
        let paths: Vec<&String> = match leads {
            TargetMapping::All(paths) => paths.iter().collect(),
            TargetMapping::Each(paths) => names
                .iter()
                .filter_map(|name| paths.get(name.as_str()))
                .flatten()
                .collect(),
        };
        let unnamed = matches!(leads, TargetMapping::All(paths) if paths.is_empty());
        let mut indices: Vec<u32> = paths.into_iter().map(|path| self.named(path)).collect();
        if unnamed {
            indices.push(self.default_target_index());
        }
        let mut seen = HashSet::new();
        indices.retain(|index| seen.insert(*index));
        indices
    }

    fn named(&mut self, path: &str) -> u32 {
        let (facts, touched, warnings) = (self.facts, self.is_accessed, &mut *self.warnings);
        self.table.index_of(path, touched, || {
            let known = facts.target(path);
            let is_peer = TcpAddress::is_tcp_name(path);
            if touched && known.is_none() && !is_peer {
                let message = format!("`{path}` does not exist on this machine");
                let help = "name a target of this machine with `--target`";
                warnings.push(Diagnostic::warning("", message).help(help));
            }
            let found = match known {
                _ if !touched => TargetFacts::placeholder(path, TargetKind::Null),
                _ if is_peer => TargetFacts::placeholder(path, TargetKind::Network),
                Some(facts) => facts.clone(),
                None => TargetFacts::placeholder(path, TargetKind::File),
            };
            ResolvedTarget {
                is_named: true,
                // A peer and a target of the `null` engine need no facts, so their placeholders are
                // enough.
                ..ResolvedTarget::new(found, known.is_some() || !touched || is_peer)
            }
        })
    }

    fn default_target_index(&mut self) -> u32 {
        let touched = self.is_accessed;
        let found = match &self.facts.default_target {
            _ if !touched => TargetFacts::placeholder("null", TargetKind::Null),
            Some(facts) => facts.clone(),
            None => TargetFacts::placeholder(NEW_DIRECTORY, TargetKind::Directory),
        };
        let known = !touched || self.facts.default_target.is_some();
        let path = found.path.clone();
        self.table
            .index_of(&path, touched, || ResolvedTarget::new(found, known))
    }
}

impl ResolvedTarget {
    fn new(facts: TargetFacts, known: bool) -> Self {
        Self {
            facts,
            is_known: known,
            is_named: false,
            needed_bytes: 0,
            firm_bytes: 0,
            files_bytes: 0,
            files_max_bytes: 0,
            size_is_default: false,
        }
    }
}

/// Pairs each name with the option at the same position.
fn pair_with_options<'n>(names: &[&'n str], options: &[String]) -> HashMap<&'n str, Vec<String>> {
    let options = options.iter().map(|option| vec![option.clone()]);
    names.iter().copied().zip(options).collect()
}

/// The path that a name in a workload file denotes on Linux; `None` for Windows names and bare
/// device names, and in Iometer files for names that are not absolute.
///
/// Iometer names a mounted file system by its directory followed by the type, as in `/mnt/x
/// [ext4]`.
fn path_of(name: &str, is_iometer: bool) -> Option<String> {
    let name = name.trim();
    if TcpAddress::is_tcp_name(name) {
        return Some(name.to_owned());
    }
    if name.starts_with('/') {
        let bare = name
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once(" ["));
        return Some(bare.map_or(name, |(path, _)| path.trim_end()).to_owned());
    }
    (!is_iometer && !is_foreign(name)).then(|| name.to_owned())
}

fn is_foreign(name: &str) -> bool {
    const DEVICES: [&str; 8] = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "loop"];
    // As a path, `sda` would be a new file in the working directory.
    let bare_device = !name.contains('/') && DEVICES.iter().any(|prefix| name.starts_with(prefix));
    let before_colon = name.split(':').next().unwrap_or_default();
    // On Windows, Iometer writes `C:`, `PHYSICALDRIVE:0`, or from 2008 on `0: "MODEL"`.
    let drive = before_colon.len() < name.len()
        && (before_colon.len() == 1
            || before_colon.bytes().all(|byte| byte.is_ascii_digit())
            || before_colon.eq_ignore_ascii_case("PHYSICALDRIVE"));
    name.is_empty() || name.contains(['\\', '"', '\0']) || bare_device || drive
}

#[cfg(test)]
mod tests {
    fn path_of(name: &str) -> Option<String> {
        super::path_of(name, false)
    }

    #[test]
    fn linux_target_names_become_paths() {
        assert_eq!(path_of("/mnt/x [ext4]").as_deref(), Some("/mnt/x"));
        assert_eq!(path_of("/mnt/a b").as_deref(), Some("/mnt/a b"));
        assert_eq!(path_of("/dev/sdb").as_deref(), Some("/dev/sdb"));
        assert_eq!(path_of("bench/file").as_deref(), Some("bench/file"));
    }

    #[test]
    fn only_absolute_iometer_names_become_paths() {
        assert_eq!(
            super::path_of("/dev/sdb", true).as_deref(),
            Some("/dev/sdb")
        );
        for name in ["TEST: Disk", "[*TARGET*]", "sdb", "PHYSICALDRIVE0", "data"] {
            assert_eq!(super::path_of(name, true), None, "{name}");
        }
    }

    #[test]
    fn windows_and_bare_device_names_have_no_path() {
        for name in [
            "C:",
            "C: \"System\"",
            "C:local",
            "0: \"WDC WD800\"",
            "PHYSICALDRIVE:1",
            "sda",
            "",
        ] {
            assert_eq!(path_of(name), None, "{name}");
        }
    }
}
