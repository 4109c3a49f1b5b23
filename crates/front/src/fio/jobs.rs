//! Jobs with all their settings resolved.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use plan::Diagnostic;
use plan::job::FileShare;

use super::settings::{FioSettings, SizeAmount};
use super::source_line::SourceLine;
use super::table::{OptionSupport, advice};

/// A job, which is one clone of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct FioJob {
    /// Name in results.
    pub name: String,
    /// Name of the section; file names are derived from it.
    pub section: Arc<str>,
    /// Position of the section header.
    pub position: SourceLine,
    /// Number among all jobs, from 1, in the order in which fio creates them. Seeds and log names
    /// depend on it.
    pub number: u32,
    /// Index of the clone, from 0; file names and offsets depend on it. fio creates clone 0 first,
    /// then the others from the last down to 1.
    pub clone_index: u32,
    /// Number of clones of the section.
    pub clone_count: u32,
    /// Index into [`JobSet::waves`].
    pub wave_index: usize,
    /// Index into [`JobSet::groups`].
    pub group_index: usize,
    /// Resolved settings, shared by all clones of the section.
    pub settings: Arc<FioSettings>,
    /// Options of the section itself as written, under their main names.
    pub options: Arc<[(String, Option<String>)]>,
}

/// A file name as written. Untrusted: check it before opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawFileName {
    /// Directory and name, separated by a slash.
    pub text: String,
    /// `true` if the path begins with a slash.
    pub is_absolute: bool,
    /// `true` if a component is `..`.
    pub leads_up: bool,
}

impl RawFileName {
    pub(super) fn new(text: String) -> Self {
        Self {
            is_absolute: text.starts_with('/'),
            leads_up: text.split('/').any(|it| it == ".."),
            text,
        }
    }
}

/// `true` if the path is below `/dev`, except `/dev/shm`, which holds files in memory.
pub(super) fn is_device(path: &str) -> bool {
    let below_dev = path.strip_prefix("/dev/");
    // A path such as `/dev/../tmp/x` leads to an ordinary file.
    below_dev.is_some_and(|rest| !rest.starts_with("shm/") && !rest.contains(".."))
}

impl FioJob {
    /// Number of files of the job.
    #[must_use]
    pub fn file_count(&self) -> u32 {
        self.settings.files.count
    }

    /// `true` if `filename` names the files, so that all clones use the same ones.
    #[must_use]
    pub fn shares_files(&self) -> bool {
        !self.settings.files.names.is_empty()
    }

    /// `true` if all its files are `/dev/null` or `/dev/zero`, which have no size.
    fn is_endless(&self) -> bool {
        let mut names = self.settings.files.names.iter();
        self.shares_files() && names.all(|name| matches!(&**name, "/dev/null" | "/dev/zero"))
    }

    /// Path of the file with this index, from 0.
    #[must_use]
    pub fn file(&self, index: u32) -> RawFileName {
        let files = &self.settings.files;
        let name = match files.names.get(index as usize) {
            Some(name) => name.clone(),
            None => self.generate_name(index),
        };
        let directories = &files.directories;
        // As in fio, clones take the directories in turn. `max` covers an empty list.
        let at = self.clone_index as usize % directories.len().max(1);
        RawFileName::new(match directories.get(at) {
            Some(directory) => format!("{directory}/{name}"),
            None => name,
        })
    }

    fn generate_name(&self, index: u32) -> String {
        let (section, clone) = (&self.section, self.clone_index);
        let format = &self.settings.files.format;
        if format.is_empty() {
            return format!("{section}.{clone}.{index}");
        }
        format
            .replace("$jobname", section)
            .replace("$jobnum", &clone.to_string())
            .replace("$filenum", &index.to_string())
            .replace("$clientuid", "localhost")
    }

    /// The part of each file that is given in percent; `None` if everything is given in bytes.
    #[must_use]
    pub fn share(&self) -> Option<FileShare> {
        let space = &self.settings.space;
        let percent = |amount: SizeAmount| match amount {
            SizeAmount::Percent(percent) => Some(u64::from(percent)),
            _ => None,
        };
        let further = percent(space.offset_increment).unwrap_or(0) * u64::from(self.clone_index);
        let start = percent(space.offset).unwrap_or(0) + further;
        let size = space.size.and_then(percent);
        let moved = space.io_size.and_then(percent);
        let sizes = self.settings.used_sizes();
        let block = sizes.read.min().min(sizes.write.min()).max(1);
        let align = space.offset_align;
        (start > 0 || size.is_some() || moved.is_some()).then_some(FileShare {
            start_percent: start,
            size_percent: size.unwrap_or(100),
            moved_percent: moved.unwrap_or(100),
            // fio rounds a start in percent up to `offset_align`, or else to the smallest block.
            start_unit_bytes: if align > 0 { align } else { block },
            size_unit_bytes: block,
        })
    }

    /// The part of the offset in each file that is given in bytes; 0 if there is none.
    #[must_use]
    pub fn offset_bytes(&self) -> u64 {
        let space = &self.settings.space;
        let increment = space.offset_increment.bytes().unwrap_or(0);
        let further = increment.saturating_mul(u64::from(self.clone_index));
        space.offset.bytes().unwrap_or(0).saturating_add(further)
    }

    /// The fewest and the most bytes used in each file, from `filesize` or `size`; `None` if the
    /// text alone does not determine them.
    #[must_use]
    pub fn bytes_of_file(&self) -> Option<(u64, u64)> {
        let space = &self.settings.space;
        match (space.file_size, space.size) {
            (Some((least, most)), _) => {
                let further = self.offset_bytes();
                let share = self.share().unwrap_or(FileShare::WHOLE);
                // Each file is used from the offset to its end.
                let used =
                    |file_bytes| share.size_bytes(share.start_bytes(further, least), file_bytes);
                Some((used(least), used(most)))
            }
            (None, Some(SizeAmount::Bytes(size))) => {
                let per_file_bytes = size / u64::from(self.file_count().max(1));
                let per_file_bytes = match self.is_endless() {
                    // Such a file ends at `size`, so the offset is deducted.
                    true => per_file_bytes.saturating_sub(self.offset_bytes()),
                    false => per_file_bytes,
                };
                Some((per_file_bytes, per_file_bytes))
            }
            _ => None,
        }
    }

    /// Bytes transferred in one loop; `None` if the text alone does not determine them.
    #[must_use]
    pub fn bytes_to_move(&self) -> Option<u64> {
        match self.settings.space.io_size {
            None => self.bytes_of_all(),
            Some(SizeAmount::Percent(_)) => {
                let share = self.share()?;
                self.bytes_of_all().map(|all| share.moved_bytes(all))
            }
            Some(size) => size.bytes(),
        }
    }

    /// Bytes used in all files together; `None` if the text alone does not determine them.
    pub(super) fn bytes_of_all(&self) -> Option<u64> {
        let (least, most) = self.bytes_of_file()?;
        let all = least.saturating_mul(u64::from(self.file_count()));
        match self.settings.space.size {
            // Random sizes are drawn later, so their sum is not known here.
            _ if least != most => None,
            // fio reduces `size` to the sum of the files.
            Some(SizeAmount::Bytes(size)) => Some(size.min(all)),
            Some(SizeAmount::Zones(_)) => None,
            Some(SizeAmount::Percent(_)) | None => Some(all),
        }
    }
}

/// Last position of an option in each section.
#[derive(Debug, Default)]
pub(super) struct OptionPositions<'a> {
    /// By section, with the index among all written options.
    by_section: HashMap<&'a str, (usize, &'a SourceLine)>,
    global: Option<(usize, &'a SourceLine)>,
}

impl<'a> OptionPositions<'a> {
    /// Position that applies to the job, as in [`JobSet::place_of`].
    pub(super) fn of(&self, job: &'a FioJob) -> &'a SourceLine {
        let own = self.by_section.get(&*job.section).copied();
        let last = [own, self.global]
            .into_iter()
            .flatten()
            .max_by_key(|it| it.0);
        last.map_or(&job.position, |(_, place)| place)
    }
}

/// Maximum number of refusals listed.
const REFUSALS_MAX: usize = 50;

/// Consecutive jobs in [`JobSet::jobs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobGroup {
    /// Indices into [`JobSet::jobs`].
    pub jobs: Range<usize>,
}

/// A written option with its position, and how pgmeter handles it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenOption {
    /// Position of the option.
    pub position: SourceLine,
    /// Section of the option; empty for the command line.
    pub section: Arc<str>,
    /// Name as written.
    pub name: String,
    /// Value as written, with variables replaced.
    pub value: Option<String>,
    /// How pgmeter handles it.
    pub support: OptionSupport,
    /// Effect of the option, or the reason why it is refused.
    pub explanation: &'static str,
}

/// All jobs of a command line and its job files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobSet {
    /// In the order in which fio creates them.
    pub jobs: Vec<FioJob>,
    /// Jobs that run in parallel; each wave begins when the previous one has ended.
    pub waves: Vec<JobGroup>,
    /// Jobs that can be reported as one (`group_reporting`).
    pub groups: Vec<JobGroup>,
    /// Global options as written, under their main names.
    pub options: Vec<(String, Option<String>)>,
    /// Every written option, in order.
    pub written: Vec<WrittenOption>,
    /// Warnings.
    pub notes: Vec<Diagnostic>,
    /// Errors that fio detects only when it runs the jobs: no size, or less than a block.
    pub run_errors: Vec<Diagnostic>,
}

impl JobSet {
    /// Everything that prevents the jobs from running, as one error.
    #[must_use]
    pub fn refusal(&self) -> Option<Diagnostic> {
        let refused = self.written.iter().filter_map(WrittenOption::refusal);
        let refused = Diagnostic::all(refused.take(REFUSALS_MAX).collect());
        let obstacles = self.run_errors.iter().take(REFUSALS_MAX).cloned();
        match refused {
            // Refused options come first, because they may be the cause of the obstacles.
            Some(first) => Some(first.followed_by(obstacles)),
            None => Diagnostic::all(obstacles.collect()),
        }
    }

    /// Last position of any of these comma-separated options that applies to the job; without one,
    /// the position of the section.
    pub(super) fn place_of<'a>(&'a self, job: &'a FioJob, options: &str) -> &'a SourceLine {
        let is_it = |name: &str| options.split(", ").any(|it| it == name);
        let mut written = self.written.iter().rev().filter(|it| {
            let is_of_job = it.section.is_empty() || it.section == job.section;
            is_it(&it.name) && (is_of_job || it.section.eq_ignore_ascii_case("global"))
        });
        written.next().map_or(&job.position, |it| &it.position)
    }

    /// Last position of an option in each section. One pass for all jobs, unlike
    /// [`JobSet::place_of`].
    pub(super) fn places_of(&self, option: &str) -> OptionPositions<'_> {
        let mut positions = OptionPositions::default();
        let written = self.written.iter().enumerate();
        for (index, it) in written.filter(|(_, it)| it.name == option) {
            let position = Some((index, &it.position));
            if it.section.is_empty() || it.section.eq_ignore_ascii_case("global") {
                // A later global section overrides an earlier one, as for the settings themselves.
                positions.global = position;
            } else {
                positions
                    .by_section
                    .insert(&it.section, (index, &it.position));
            }
        }
        positions
    }

    /// The jobs of each cell of work: of each wave, first the jobs that only lay out their files,
    /// then the others.
    pub(super) fn cells(&self) -> Vec<Vec<&FioJob>> {
        let mut cells = Vec::new();
        for wave in &self.waves {
            let jobs = self.jobs[wave.jobs.clone()].iter();
            let is_layout_only = |job: &&FioJob| job.settings.files.is_layout_only;
            let (layout, others): (Vec<_>, Vec<_>) = jobs.partition(is_layout_only);
            cells.extend([layout, others]);
        }
        cells.retain(|jobs| !jobs.is_empty());
        cells
    }

    /// The jobs of each section, as one slice per section.
    pub fn sections(&self) -> impl Iterator<Item = &[FioJob]> {
        self.jobs
            // All clones of a section share its settings.
            .chunk_by(|one, other| Arc::ptr_eq(&one.settings, &other.settings))
    }
}

impl WrittenOption {
    /// The option as `name=value`, or the name alone.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }

    /// The error for a refused option; `None` if it is supported.
    #[must_use]
    pub fn refusal(&self) -> Option<Diagnostic> {
        let OptionSupport::Refused { instead } = self.support else {
            return None;
        };
        let text = plan::printable(&self.text());
        let error = self
            .position
            .error(format!("`{text}`: {}", self.explanation));
        Some(error.help(advice(instead)))
    }
}
