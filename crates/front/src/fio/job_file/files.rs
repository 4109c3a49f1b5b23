//! Files of a job: names, sizes, and their state when the job starts.

use description::model::defaults::{NAMED_SIZE_DEFAULT, SIZE_DEFAULT};
use description::model::{FilesChoice, JobFileChoice, JobFileTable, JobTable, OneOrMany};
use plan::Diagnostic;
use plan::job::{FileCache, Layout};
use units::Bytes;

use super::requests::Directions;
use super::section::{WrittenSection, size};

/// fio's default pattern for file names.
const FIO_NAME_PATTERN: &str = "{job}.{clone}.{file}";

/// Names of targets, indexed by target number minus 1.
#[derive(Clone, Copy)]
pub(super) struct Targets<'a> {
    /// Names to use for targets that are directories.
    pub directories: &'a [String],
    /// Names to use for targets that are files or devices.
    pub files: &'a [String],
}

/// Writes names, sizes and layout of files.
pub(super) fn put(
    it: &mut WrittenSection,
    table: &JobTable,
    targets: Targets<'_>,
    directions: &Directions,
) -> Result<(), Diagnostic> {
    let targets = match table.files {
        Some(FilesChoice::Count(0)) => targets.files,
        _ => targets.directories,
    };
    let own = targets_of(it, table, targets)?;
    let (files, table) = &merged(it, table)?;
    let count = match files {
        FilesChoice::Count(0) => {
            let [target] = &own[..] else {
                let reason = "each clone would use another target";
                return Err(it.refuse("target", reason, "write a `[[job]]` for each target"));
            };
            it.put(
                "filename",
                it.paths("targets", std::slice::from_ref(target))?,
            );
            0
        }
        FilesChoice::Count(count) => {
            put_directories(it, &own)?;
            it.put_some("nrfiles", Some(*count).filter(|count| *count > 1));
            let names = table.file_names.as_deref().unwrap_or(FIO_NAME_PATTERN);
            if names != FIO_NAME_PATTERN {
                it.put("filename_format", format_of(it, names)?);
            }
            *count
        }
        FilesChoice::Each(files) => {
            put_directories(it, &own)?;
            let names: Vec<String> = files.iter().map(name).collect();
            it.put("filename", it.paths("files", &names)?);
            files.len() as u32
        }
    };
    put_sizes(it, table, count)?;
    put_state(it, table, directions)
}

/// Paths of the targets that clones take in turn; empty if the workload names no targets.
fn targets_of(
    it: &WrittenSection,
    table: &JobTable,
    targets: &[String],
) -> Result<Vec<String>, Diagnostic> {
    if targets.is_empty() {
        return match (&table.target, &table.files) {
            (_, Some(FilesChoice::Count(0))) => {
                let reason = "the workload names no target that could be the file";
                Err(it.refuse("files", reason, "write `targets` at the top of the file"))
            }
            _ => Ok(Vec::new()),
        };
    }
    let numbers = table.target.as_ref().map_or(&[1][..], OneOrMany::as_slice);
    let path = |number: &u32| targets.get(number.checked_sub(1)? as usize).cloned();
    Ok(numbers.iter().filter_map(path).collect())
}

/// The files, and the table with the keys that all of them share.
fn merged(it: &WrittenSection, table: &JobTable) -> Result<(FilesChoice, JobTable), Diagnostic> {
    let mut full = table.clone();
    let files = table.files.clone().unwrap_or(FilesChoice::Count(1));
    let FilesChoice::Each(choices) = &files else {
        return Ok((files, full));
    };
    let part = |choice: &JobFileChoice| match choice {
        JobFileChoice::Name(_) => JobFileTable::default(),
        JobFileChoice::Table(table) => JobFileTable {
            name: None,
            ..(**table).clone()
        },
    };
    let first = choices.first().map(part).unwrap_or_default();
    let is_alike = choices.iter().all(|choice| part(choice) == first);
    let is_nameless = choices.iter().any(|choice| name(choice).is_empty());
    if !is_alike || first.target.is_some() || is_nameless {
        let reason = "a section of a job file uses the same part of all its files";
        let help = "write a `[[job]]` for each file that differs";
        return Err(it.refuse("files", reason, help));
    }
    full.start = first.start.or(full.start);
    full.size = first.size.or(full.size);
    Ok((files, full))
}

fn name(choice: &JobFileChoice) -> String {
    match choice {
        JobFileChoice::Name(name) => name.clone(),
        JobFileChoice::Table(table) => table.name.clone().unwrap_or_default(),
    }
}

fn put_directories(it: &mut WrittenSection, targets: &[String]) -> Result<(), Diagnostic> {
    if !targets.is_empty() {
        it.put("directory", it.paths("targets", targets)?);
    }
    Ok(())
}

/// The pattern for names in fio's notation.
fn format_of(it: &WrittenSection, pattern: &str) -> Result<String, Diagnostic> {
    // Only checks that a job file can contain the pattern; the result is not used.
    it.paths("file_names", &[pattern.to_owned()])?;
    let words = [
        ("{job}", "$jobname"),
        ("{clone}", "$jobnum"),
        ("{file}", "$filenum"),
    ];
    let replace = |text: String, (ours, theirs): &(&str, &str)| text.replace(ours, theirs);
    Ok(words.iter().fold(pattern.to_owned(), replace))
}

/// Writes size and offset. fio's `size` covers all files together; `count` is 0 if the target
/// itself is the file.
fn put_sizes(it: &mut WrittenSection, table: &JobTable, count: u32) -> Result<(), Diagnostic> {
    let default = match (count, table.names) {
        (0, _) => Bytes(0),
        (_, None) => Bytes(SIZE_DEFAULT),
        (_, Some(_)) => Bytes(NAMED_SIZE_DEFAULT),
    };
    let file_size = table.size.unwrap_or(default);
    let Some(all) = file_size.0.checked_mul(count.max(1).into()) else {
        let reason = "all files together exceed fio's maximum";
        return Err(it.refuse("size", reason, "write a smaller `size`"));
    };
    // 0 stands for the whole file or device, which fio uses if there is no `size`.
    it.put_some("size", Some(Bytes(all)).filter(|all| all.0 > 0).map(size));
    let start = table.start.filter(|start| start.0 > 0);
    it.put_some("offset", start.map(size));
    let step = table.start_step.filter(|step| step.0 > 0);
    it.put_some("offset_increment", step.map(size));
    for (option, key, percent) in [
        ("size", "size_percent", table.size_percent),
        ("offset", "start_percent", table.start_percent),
    ] {
        if let Some(percent) = percent {
            if option == "offset" && start.is_some() {
                let reason = "fio's `offset` is in percent or in bytes, not both";
                return Err(it.refuse(key, reason, "leave `start` out"));
            }
            it.put(option, format!("{}%", it.percent(key, percent)?));
        }
    }
    it.put_some("offset_align", table.start_align.map(size));
    Ok(())
}

fn put_state(
    it: &mut WrittenSection,
    table: &JobTable,
    directions: &Directions,
) -> Result<(), Diagnostic> {
    if table.names.is_none() {
        let layout = table.layout.unwrap_or(Layout::Written);
        let is_filled = directions.reads.is_some() || table.trim.is_some();
        match (layout, is_filled) {
            // The files of a job that reads or trims are written anyway.
            (Layout::Written, true) => {}
            (Layout::Written, false) => it.put("overwrite", 1),
            (_, true) => {
                let reason = "the files of a job that reads or trims are written before it begins";
                return Err(it.refuse("layout", reason, "leave `layout` out"));
            }
            (Layout::Allotted, false) => it.put("fallocate", "native"),
            (Layout::Sparse, false) => it.put("fallocate", "truncate"),
            // By default, fio would allocate the space of a new file.
            (Layout::Empty | Layout::Directory | Layout::Absent, false) => {
                it.put("fallocate", "none")
            }
        }
    }
    match table.page_cache.unwrap_or(FileCache::Dropped) {
        FileCache::Dropped => {}
        FileCache::Left => it.put("invalidate", 0),
        FileCache::Warm => it.put("pre_read", 1),
    }
    it.flag("unlink", table.remove == Some(true));
    it.flag("create_only", table.layout_only == Some(true));
    Ok(())
}
