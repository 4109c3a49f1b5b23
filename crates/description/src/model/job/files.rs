//! Files of jobs: the parts of files that a job works on, and all files of a wave.

use std::collections::BTreeMap;

use units::Bytes;

use crate::model::OneOrMany;
use crate::model::defaults::{NAMED_SIZE_DEFAULT, SIZE_DEFAULT};
use plan::FrontOrigin;
use plan::job::{
    ConvertedJobs, FileCache, JobFile, JobFiles, Layout, MetadataWork, NamedFile, UnplannedJob,
};

use super::names::pattern;
use super::{FilesChoice, JobFileChoice, JobFileTable, JobTable, differing};
use crate::flaw::ValueError;

/// Longest file name in bytes, limited by the longest path.
// Below the 4096 bytes of `PATH_MAX`, because the target's path comes before the name.
const NAME_BYTES_MAX: usize = 4000;

/// Longest component of a name in bytes.
const COMPONENT_BYTES_MAX: usize = 255;

/// Maximum number of files of a job.
const FILES_MAX: usize = 100_000;

/// Maximum number of targets, as for workloads.
const TARGETS_MAX: u32 = 2048;

/// Largest offset in a file: offsets are signed 64-bit numbers.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// A job that refers to its files by name; its plan will refer to them by number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnresolvedJob {
    /// The job, with an empty list of files.
    pub job: UnplannedJob,
    pub parts: Vec<UnresolvedPart>,
    /// State of its files when it starts.
    pub state: FileState,
}

/// A part of a file that a job works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnresolvedPart {
    pub target_index: u32,
    /// `None` if the target itself is the file.
    pub name: Option<String>,
    pub start_bytes: u64,
    /// 0 for all of a device.
    pub size_bytes: u64,
}

/// State that a job requires of its files. If several jobs differ, the strongest requirement
/// counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileState {
    pub layout: Layout,
    pub is_removed: bool,
    pub cache: FileCache,
    pub is_layout_only: bool,
}

impl FileState {
    pub fn of(table: &JobTable) -> Self {
        let is_layout_only = table.layout_only.unwrap_or(false);
        let layout = table.names.map_or(Layout::Written, MetadataWork::layout);
        Self {
            layout: table.layout.unwrap_or(layout),
            is_removed: table.remove.unwrap_or(false),
            cache: table.page_cache.unwrap_or(FileCache::Dropped),
            is_layout_only,
        }
    }

    /// Writes the keys that differ from the defaults.
    pub fn put(self, table: &mut JobTable) {
        let usual = Self::of(&JobTable {
            names: table.names,
            ..JobTable::default()
        });
        table.layout = differing(self.layout, usual.layout);
        table.page_cache = differing(self.cache, usual.cache);
        table.remove = differing(self.is_removed, false);
        table.layout_only = differing(self.is_layout_only, false);
    }

    /// The weaker of two requirements; layouts are ordered from fullest to emptiest.
    pub fn least(self, other: Self) -> Self {
        Self {
            layout: self.layout.max(other.layout),
            is_removed: self.is_removed && other.is_removed,
            cache: self.cache.min(other.cache),
            is_layout_only: self.is_layout_only,
        }
    }
}

/// The parts of files that a clone works on.
pub(super) fn parts(
    table: &JobTable,
    name: &str,
    clone_index: u32,
) -> Result<Vec<UnresolvedPart>, ValueError> {
    let job_clone = JobClone { table, clone_index };
    let files = table.files.as_ref().unwrap_or(&FilesChoice::Count(1));
    let is_counted = matches!(files, FilesChoice::Count(1..));
    if table.file_names.is_some() && !is_counted {
        let message = "`file_names` does not apply to a list of `files`";
        let help = "write `files` as a number";
        return Err(ValueError::new("file_names", message, help));
    }
    let pattern = table
        .file_names
        .as_deref()
        .unwrap_or("{job}.{clone}.{file}");
    match files {
        FilesChoice::Count(0) => Ok(vec![job_clone.part(None, &JobFileTable::default())?]),
        FilesChoice::Count(count) if *count as usize > FILES_MAX => Err(too_many(*count as usize)),
        FilesChoice::Count(count) => (0..*count)
            .map(|index| {
                let file = pattern
                    .replace("{clone}", &clone_index.to_string())
                    .replace("{file}", &index.to_string())
                    // Last, because the name of a job may contain `{clone}` or `{file}`.
                    .replace("{job}", name);
                job_clone.part(Some(file), &JobFileTable::default())
            })
            .collect(),
        FilesChoice::Each(files) if files.is_empty() => Err(ValueError::new(
            "files",
            "`files` is an empty list",
            "leave `files` out for one file",
        )),
        FilesChoice::Each(files) if files.len() > FILES_MAX => Err(too_many(files.len())),
        FilesChoice::Each(files) => (0..)
            .zip(files)
            .map(|(index, file)| {
                let part = match file {
                    JobFileChoice::Name(name) => {
                        job_clone.part(Some(name.clone()), &JobFileTable::default())
                    }
                    JobFileChoice::Table(table) => job_clone.part(table.name.clone(), table),
                };
                part.map_err(|flaw| flaw.within("files", index))
            })
            .collect(),
    }
}

fn too_many(count: usize) -> ValueError {
    let message = format!("`files` are {count}, more than {FILES_MAX}");
    ValueError::new("files", message, "use fewer, or several jobs")
}

struct JobClone<'a> {
    table: &'a JobTable,
    clone_index: u32,
}

impl JobClone<'_> {
    fn part(
        &self,
        name: Option<String>,
        file: &JobFileTable,
    ) -> Result<UnresolvedPart, ValueError> {
        let table = self.table;
        if let Some(name) = name.as_deref().filter(|name| !is_plain(name)) {
            return Err(bad_name(name, table, file));
        }
        let step = table.start_step.map_or(0, |it| it.0);
        let start = file.start.or(table.start).map_or(0, |it| it.0);
        let further = step.saturating_mul(u64::from(self.clone_index));
        let size = file.size.or(table.size).map(|it| it.0);
        // 0 means all of the target, so it has no meaning for a named file.
        if size == Some(0) && name.is_some() {
            let help = "leave `size` out, or work on the target itself with `files = 0`";
            return Err(ValueError::new("size", "a file has a `size` of 0", help));
        }
        let size_bytes = size.unwrap_or(default_used_bytes(name.as_ref(), table.names));
        let part = UnresolvedPart {
            target_index: self.target(file)?,
            name,
            start_bytes: start.saturating_add(further),
            size_bytes,
        };
        // `gathered` adds these two numbers without a check.
        match part.start_bytes.checked_add(part.size_bytes) {
            Some(end) if end <= OFFSET_MAX => Ok(part),
            _ => {
                let message = "its files are longer than a file can be";
                Err(ValueError::new(
                    "size",
                    message,
                    "use a smaller size or start",
                ))
            }
        }
    }

    fn target(&self, file: &JobFileTable) -> Result<u32, ValueError> {
        let job_targets = self.table.target.as_ref();
        let all = job_targets.map_or(&[][..], OneOrMany::as_slice);
        if job_targets.is_some() && all.is_empty() {
            let help = "write `target = 1`";
            return Err(ValueError::new("target", "`target` is an empty list", help));
        }
        let own = match all {
            [] => 1,
            all => all[self.clone_index as usize % all.len()],
        };
        match file.target.unwrap_or(own) {
            // Whether the target exists is known only for a complete workload; see `check_whole`.
            number @ 1..=TARGETS_MAX => Ok(number - 1),
            number => {
                let message = format!("`target` is {number}, not from 1 to {TARGETS_MAX}");
                let help = "write `target = 1` for the first of the workload's `targets`";
                Err(ValueError::new("target", message, help))
            }
        }
    }
}

/// Default number of bytes that are used of a file.
const fn default_used_bytes(name: Option<&String>, names: Option<MetadataWork>) -> u64 {
    match (name, names) {
        (None, _) => 0,
        (Some(_), None) => SIZE_DEFAULT,
        (Some(_), Some(_)) => NAMED_SIZE_DEFAULT,
    }
}

/// Whether a name has only plain components that stay below the directory.
fn is_plain(name: &str) -> bool {
    let is_down = |it: &str| !matches!(it, "" | "." | "..") && it.len() <= COMPONENT_BYTES_MAX;
    name.len() <= NAME_BYTES_MAX && !name.contains(char::is_control) && name.split('/').all(is_down)
}

fn bad_name(name: &str, table: &JobTable, file: &JobFileTable) -> ValueError {
    let shown = plan::printable(name);
    let message = format!("the file name `{shown}` cannot be used");
    let is_made = matches!(table.files, None | Some(FilesChoice::Count(_)));
    let (key, help) = match (is_made, &table.file_names) {
        (true, None) => ("name", "give the job a plain `name`, or write `file_names`"),
        (true, Some(_)) => ("file_names", "use a name without `..`, below the target"),
        (false, _) if file.name.is_some() => ("name", "use a name without `..`, below the target"),
        (false, _) => ("files", "use a name without `..`, below the target"),
    };
    ValueError::new(key, message, help)
}

/// Combines the jobs of a wave with their files, numbering each file once.
pub(super) fn gathered(unresolved: Vec<UnresolvedJob>) -> ConvertedJobs {
    let mut files: Vec<NamedFile> = Vec::new();
    let mut known: BTreeMap<(u32, Option<String>), u32> = BTreeMap::new();
    let is_layout_only =
        unresolved.iter().all(|it| it.state.is_layout_only) && !unresolved.is_empty();
    let mut jobs = Vec::with_capacity(unresolved.len());
    for UnresolvedJob {
        mut job,
        parts,
        state,
    } in unresolved
    {
        job.plan.files = Vec::with_capacity(parts.len());
        for part in parts {
            let key = (part.target_index, part.name.clone());
            let file_index = *known.entry(key).or_insert_with(|| {
                files.push(NamedFile {
                    target_index: part.target_index,
                    name: part.name,
                    size_bytes: 0,
                    layout: Layout::Absent,
                    is_removed: false,
                    is_left: false,
                    cache: FileCache::Dropped,
                });
                files.len() as u32 - 1
            });
            let file = &mut files[file_index as usize];
            file.size_bytes = file.size_bytes.max(part.start_bytes + part.size_bytes);
            // The strongest requirement counts: layouts are ordered from full to empty, and states
            // of the cache from cold to warm.
            file.layout = file.layout.min(state.layout);
            file.cache = file.cache.max(state.cache);
            file.is_removed |= state.is_removed;
            job.plan.files.push(JobFile {
                file_index,
                start_bytes: part.start_bytes,
                size_bytes: part.size_bytes,
            });
        }
        jobs.push(job);
    }
    ConvertedJobs {
        origin: FrontOrigin::default(),
        jobs,
        files: JobFiles {
            files,
            is_layout_only,
        },
    }
}

/// Splits jobs from their numbered files: each gets its files by name, with the state they have.
pub(crate) fn decompose(built: &ConvertedJobs) -> Vec<UnresolvedJob> {
    let files = &built.files.files;
    let unresolved = built.jobs.iter().map(|job| {
        let mut job = job.clone();
        let own = std::mem::take(&mut job.plan.files);
        let states = own.iter().map(|it| {
            let file = &files[it.file_index as usize];
            FileState {
                layout: file.layout,
                is_removed: file.is_removed,
                cache: file.cache,
                is_layout_only: built.files.is_layout_only,
            }
        });
        // Another job may have strengthened the state of a file; gathering does so again.
        let state = states.reduce(FileState::least);
        let parts = own.iter().map(|it| {
            let file = &files[it.file_index as usize];
            UnresolvedPart {
                target_index: file.target_index,
                name: file.name.clone(),
                start_bytes: it.start_bytes,
                size_bytes: it.size_bytes,
            }
        });
        UnresolvedJob {
            parts: parts.collect(),
            state: state.unwrap_or(FileState::of(&JobTable::default())),
            job,
        }
    });
    unresolved.collect()
}

/// Writes the files of a job, which may be one of several clones.
pub(super) fn put_files(
    it: &UnresolvedJob,
    next_clone: Option<&UnresolvedJob>,
    table: &mut JobTable,
) {
    let Some(first) = it.parts.first() else {
        return;
    };
    let default = default_used_bytes(first.name.as_ref(), it.job.plan.names);
    table.size = differing(Bytes(first.size_bytes), Bytes(default));
    table.start = differing(Bytes(first.start_bytes), Bytes(0));
    table.target = differing(first.target_index, 0).map(|index| OneOrMany::One(index + 1));
    let count = it.parts.len() as u32;
    match counted(&it.parts, next_clone) {
        Some(_) if first.name.is_none() => table.files = Some(FilesChoice::Count(0)),
        Some(pattern) => {
            let usual = format!("{}.{{clone}}.{{file}}", it.job.name);
            table.file_names = differing(pattern, usual);
            table.files = differing(FilesChoice::Count(count), FilesChoice::Count(1));
        }
        None => {
            let files = it.parts.iter().map(|part| file(part, first));
            table.files = Some(FilesChoice::Each(files.collect()));
        }
    }
}

/// The pattern from which the names of similar files follow; empty for the target itself, `None` if
/// there is no such pattern.
fn counted(parts: &[UnresolvedPart], next_clone: Option<&UnresolvedJob>) -> Option<String> {
    let first = parts.first()?;
    let bare = |part: &UnresolvedPart| UnresolvedPart {
        name: None,
        ..part.clone()
    };
    let is_alike = parts.iter().all(|part| bare(part) == bare(first));
    let Some(name) = first.name.as_deref() else {
        return (is_alike && parts.len() == 1).then(String::new);
    };
    // A single job with one file, or several jobs with the same files: a list is clearer.
    let shares =
        next_clone.is_some_and(|next| next.parts.first().map(|it| &it.name) == Some(&first.name));
    let next_name = next_clone.and_then(|it| it.parts.first());
    let next_name = next_name.and_then(|it| it.name.as_deref());
    let next = parts.get(1).and_then(|it| it.name.as_deref());
    let pattern = match (next_clone.is_some(), next) {
        (false, None) => alone(name)?,
        (false, Some(next)) => single_job_pattern(name, next)?,
        (true, next) if !shares => pattern(name, next_name, next)?,
        (true, _) => return None,
    };
    let matches_pattern = |(index, part): (usize, &UnresolvedPart)| {
        let expected = pattern
            .replace("{clone}", "0")
            .replace("{file}", &index.to_string());
        part.name.as_deref() == Some(expected.as_str())
    };
    (is_alike && parts.iter().enumerate().all(matches_pattern)).then_some(pattern)
}

/// The default pattern, if the only file of a single job is named by it.
fn alone(name: &str) -> Option<String> {
    name.strip_suffix(".0.0")
        .map(|job| format!("{job}.{{clone}}.{{file}}"))
}

/// The pattern for a single job with several files.
fn single_job_pattern(name: &str, next: &str) -> Option<String> {
    alone(name).or_else(|| pattern(name, None, Some(next)))
}

/// A file, with the keys that differ from the first file.
fn file(part: &UnresolvedPart, first: &UnresolvedPart) -> JobFileChoice {
    let entry = JobFileTable {
        name: part.name.clone(),
        target: differing(part.target_index, first.target_index).map(|it| it + 1),
        start: differing(Bytes(part.start_bytes), Bytes(first.start_bytes)),
        size: differing(Bytes(part.size_bytes), Bytes(first.size_bytes)),
    };
    let bare = JobFileTable {
        name: entry.name.clone(),
        ..JobFileTable::default()
    };
    match (&part.name, entry == bare) {
        (Some(name), true) => JobFileChoice::Name(name.clone()),
        _ => JobFileChoice::Table(Box::new(entry)),
    }
}
