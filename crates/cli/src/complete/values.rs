//! Completion of values that depend on this machine: workloads, stored runs, file systems, devices.

use std::ffi::OsStr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use description::builtin;
use description::reference::keys as all_keys;
use jiff::tz::TimeZone;
use report::PAPERS;
use store::{NamedRun, StoreNames};
use units::printable;

/// Maximum number of runs and labs offered, newest first.
const RUNS_MAX: usize = 100;

type Candidates = Vec<CompletionCandidate>;

/// Built-in workloads and files.
pub(crate) fn workloads(current: &OsStr) -> Candidates {
    let names = builtin::list().into_iter();
    let names = names.map(|it| described(it.name, &it.title));
    joined(beginning_with(current, names), files(current))
}

/// Stored runs, by id, `last` or tag.
pub(crate) fn runs(current: &OsStr) -> Candidates {
    beginning_with(current, named_runs(&stored(), |run| !run.is_lab))
}

/// Stored runs and labs.
pub(crate) fn runs_or_labs(current: &OsStr) -> Candidates {
    beginning_with(current, named_runs(&stored(), |_| true))
}

/// Stored runs, labs and files with a record. With `--target`, `compare` takes workloads instead.
pub(crate) fn records(current: &OsStr) -> Candidates {
    let measures = |word: String| word.starts_with("--target") || word == "-t";
    if words().any(measures) {
        return workloads(current);
    }
    joined(runs_or_labs(current), files(current))
}

/// Stored labs, and files with a lab.
pub(crate) fn labs(current: &OsStr) -> Candidates {
    let stored = stored();
    let labs = stored.runs.iter().filter(|run| run.is_lab).map(of_run);
    let all = std::iter::once(described("last", "the newest")).chain(labs);
    joined(beginning_with(current, all), files(current))
}

/// Built-in workloads, files and stored runs.
pub(crate) fn workloads_or_runs(current: &OsStr) -> Candidates {
    joined(workloads(current), runs_or_labs(current))
}

/// Tags of stored runs.
pub(crate) fn tags(current: &OsStr) -> Candidates {
    let tags = stored().tags.into_iter();
    beginning_with(current, tags.map(CompletionCandidate::new))
}

/// Workloads of stored runs.
pub(crate) fn stored_workloads(current: &OsStr) -> Candidates {
    let mut names: Vec<String> = Vec::new();
    for name in stored()
        .runs
        .into_iter()
        .filter(|it| !it.is_lab)
        .flat_map(|it| it.titles)
    {
        // A name with a space would need quotes, and any part of the name works as a filter.
        if !names.contains(&name) && !name.contains(char::is_whitespace) {
            names.push(name);
        }
    }
    beginning_with(current, names.into_iter().map(CompletionCandidate::new))
}

/// A comma-separated list of file systems for labs.
pub(crate) fn file_systems(current: &OsStr) -> Candidates {
    let current = current.to_string_lossy();
    let (before, last) = match current.rfind(',') {
        Some(comma) => current.split_at(comma + 1),
        None => ("", current.as_ref()),
    };
    if let Some(path) = last.strip_prefix("path:") {
        let directories = PathCompleter::dir().complete(OsStr::new(path)).into_iter();
        let prefix = format!("{before}path:");
        return directories
            .map(|it| it.add_prefix(prefix.clone()))
            .collect();
    }
    let mounted = described("path:", "a directory of a file system that is mounted");
    let names = lab::ENTRIES.iter().map(|it| described(it.name, it.title));
    let names = names.chain([mounted]);
    let found = beginning_with(OsStr::new(last), names).into_iter();
    found.map(|it| it.add_prefix(before)).collect()
}

/// Media for labs.
pub(crate) fn media(current: &OsStr) -> Candidates {
    let names = [
        described("loop", "images in a directory"),
        described("zram", "compressed memory"),
    ];
    beginning_with(current, names.into_iter().chain(block_devices()))
}

/// Published experiments.
pub(crate) fn papers(current: &OsStr) -> Candidates {
    beginning_with(
        current,
        PAPERS.iter().map(|it| CompletionCandidate::new(it.name)),
    )
}

/// Keys of workload files.
pub(crate) fn keys(current: &OsStr) -> Candidates {
    let keys = all_keys().into_iter();
    beginning_with(
        current,
        keys.map(|key| described(&key.path(), &key.meaning)),
    )
}

/// Keys followed by `=`, then their possible values.
pub(crate) fn set_pairs(current: &OsStr) -> Candidates {
    let text = current.to_string_lossy();
    let keys = all_keys().into_iter();
    let Some((name, _)) = text.split_once('=') else {
        let keys = keys.map(|key| described(&format!("{}=", key.path()), &key.meaning));
        return beginning_with(current, keys);
    };
    let mut named = keys.filter(|key| key.path() == name || key.name == name);
    let words = named.next().map_or(Vec::new(), |key| key.words);
    let pairs = words
        .into_iter()
        .map(|word| CompletionCandidate::new(format!("{name}={word}")));
    beginning_with(current, pairs)
}

/// Directories, files and block devices.
pub(crate) fn targets(current: &OsStr) -> Candidates {
    let is_target = |path: &Path| {
        let is_device = |kind: std::fs::FileType| kind.is_block_device();
        path.is_dir()
            || path.is_file()
            || std::fs::metadata(path).is_ok_and(|it| is_device(it.file_type()))
    };
    let mut found = PathCompleter::any().filter(is_target).complete(current);
    // Without these, a user who has typed nothing would not learn that devices are possible.
    if current.is_empty() {
        found.extend(block_devices());
    }
    found
}

/// Block devices of this machine with a size above 0.
fn block_devices() -> impl Iterator<Item = CompletionCandidate> {
    let entries = std::fs::read_dir("/sys/class/block").into_iter();
    let mut names: Vec<String> = entries
        .flatten()
        .flatten()
        // Loop devices without a file and card readers without a card have a size of 0.
        .filter(|entry| {
            let size = std::fs::read_to_string(entry.path().join("size"));
            size.is_ok_and(|sectors| sectors.trim() != "0")
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let devices = names.into_iter().map(|name| format!("/dev/{name}"));
    // A container sees devices in `/sys` that its `/dev` lacks.
    let devices = devices.filter(|path| Path::new(path).exists());
    devices.map(|path| described(&path, "block device"))
}

fn files(current: &OsStr) -> Candidates {
    PathCompleter::file().complete(current)
}

/// Words of the command line that are valid UTF-8.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().filter_map(|word| word.into_string().ok())
}

/// Names in the store given by `--db` or by the environment.
fn stored() -> StoreNames {
    // clap passes only the current word to completers, so `--db` is searched for here.
    let mut words = words();
    let mut requested = None;
    while let Some(word) = words.next() {
        match word.strip_prefix("--db") {
            Some("") => requested = words.next(),
            Some(rest) => requested = rest.strip_prefix('=').map(str::to_owned).or(requested),
            None => {}
        }
    }
    let from_environment = || std::env::var_os("PGMETER_DB").map(PathBuf::from);
    let requested = requested.map(PathBuf::from).or_else(from_environment);
    let requested = requested.filter(|path| !path.as_os_str().is_empty());
    let path = requested.or_else(|| store::default_path().ok());
    let names = path.and_then(|path| store::names(&path, RUNS_MAX));
    names.unwrap_or_default()
}

/// `last`, the runs that match `is_wanted`, and the tags.
fn named_runs(stored: &StoreNames, is_wanted: fn(&NamedRun) -> bool) -> Vec<CompletionCandidate> {
    if stored.runs.is_empty() {
        return Vec::new();
    }
    let runs = stored.runs.iter().filter(|run| is_wanted(run)).map(of_run);
    let tags = stored.tags.iter();
    let tags = tags.map(|tag| described(&format!("tag:{tag}"), "runs with this tag"));
    let last = described("last", "the newest run");
    std::iter::once(last).chain(runs).chain(tags).collect()
}

fn of_run(run: &NamedRun) -> CompletionCandidate {
    let local = run.started_at.to_zoned(TimeZone::system());
    let subject = run.titles.join(", ");
    let kind = if run.is_lab { "lab: " } else { "" };
    let help = format!("{}  {kind}{subject}", local.strftime("%Y-%m-%d %H:%M"));
    described(&run.short_id, &help)
}

fn described(value: &str, help: &str) -> CompletionCandidate {
    let help = printable(help).into_owned();
    CompletionCandidate::new(value).help(Some(help.into()))
}

fn beginning_with(
    current: &OsStr,
    all: impl IntoIterator<Item = CompletionCandidate>,
) -> Candidates {
    let begins = |it: &CompletionCandidate| {
        let value = it.get_value().as_encoded_bytes();
        value.starts_with(current.as_encoded_bytes())
    };
    all.into_iter().filter(begins).collect()
}

fn joined(one: Candidates, other: Candidates) -> Candidates {
    one.into_iter().chain(other).collect()
}
