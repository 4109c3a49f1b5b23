//! Jobs, all said of them resolved.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use plan::Diagnostic;
use plan::job::FileShare;

use super::place::Place;
use super::settings::{Amount, Settings};
use super::table::{Verdict, advice};

/// A job: one clone of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// As results tell it.
    pub name: String,
    /// The section, of which files are named.
    pub section: Arc<str>,
    /// Where the section begins.
    pub place: Place,
    /// Counted from 1 over all jobs, in the order in which fio makes them: seeds and names of logs
    /// depend on it.
    pub number: u32,
    /// Which clone, from 0: names of files and offsets depend on it. fio makes clone 0 first, then
    /// the others from the last to 1.
    pub clone_index: u32,
    /// Clones of the section.
    pub clone_count: u32,
    /// Which of [`JobSet::waves`].
    pub wave_index: usize,
    /// Which of [`JobSet::groups`].
    pub group_index: usize,
    /// What is said of it.
    pub settings: Arc<Settings>,
    /// The options of its own section as they were written, by their main names.
    pub options: Arc<[(String, Option<String>)]>,
}

/// A file's name as it was written: hostile, until somebody has looked at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPath {
    /// The directory and the name, with a stroke between.
    pub text: String,
    /// Whether it begins at the root.
    pub is_absolute: bool,
    /// Whether it leads out of a directory by `..`.
    pub leads_up: bool,
}

impl WrittenPath {
    pub(super) fn new(text: String) -> Self {
        Self {
            is_absolute: text.starts_with('/'),
            leads_up: text.split('/').any(|it| it == ".."),
            text,
        }
    }
}

/// Whether a path lies in the devices' directory, but for what lies in memory there.
pub(super) fn is_device(path: &str) -> bool {
    let of_devices = path.strip_prefix("/dev/");
    of_devices.is_some_and(|rest| !rest.starts_with("shm/") && !rest.contains(".."))
}

impl Job {
    /// How many files it has.
    #[must_use]
    pub fn file_count(&self) -> u32 {
        self.settings.files.count
    }

    /// Whether its files are named, so that all clones have the same ones.
    #[must_use]
    pub fn shares_files(&self) -> bool {
        !self.settings.files.names.is_empty()
    }

    /// Whether its files are devices that have no size of their own.
    fn is_endless(&self) -> bool {
        let mut names = self.settings.files.names.iter();
        self.shares_files() && names.all(|name| matches!(&**name, "/dev/null" | "/dev/zero"))
    }

    /// The name of a file, counted from 0.
    #[must_use]
    pub fn file(&self, index: u32) -> WrittenPath {
        let files = &self.settings.files;
        let name = match files.names.get(index as usize) {
            Some(name) => name.clone(),
            None => self.made_name(index),
        };
        let directories = &files.directories;
        let at = self.clone_index as usize % directories.len().max(1);
        WrittenPath::new(match directories.get(at) {
            Some(directory) => format!("{directory}/{name}"),
            None => name,
        })
    }

    fn made_name(&self, index: u32) -> String {
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

    /// What is said in percent of each file; none where all is said in bytes.
    #[must_use]
    pub fn share(&self) -> Option<FileShare> {
        let space = &self.settings.space;
        let percent = |amount: Amount| match amount {
            Amount::Percent(percent) => Some(u64::from(percent)),
            _ => None,
        };
        let further = percent(space.offset_increment).unwrap_or(0) * u64::from(self.clone_index);
        let start = percent(space.offset).unwrap_or(0) + further;
        let size = space.size.and_then(percent);
        let moved = space.io_size.and_then(percent);
        let sizes = self.settings.blocks.sizes();
        let block = sizes.read.min().min(sizes.write.min()).max(1);
        let align = space.offset_align;
        (start > 0 || size.is_some() || moved.is_some()).then_some(FileShare {
            start_percent: start,
            size_percent: size.unwrap_or(100),
            moved_percent: moved.unwrap_or(100),
            start_unit_bytes: if align > 0 { align } else { block },
            size_unit_bytes: block,
        })
    }

    /// The part of the offset in each file that is given in bytes.
    #[must_use]
    pub fn offset_bytes(&self) -> u64 {
        let space = &self.settings.space;
        let increment = space.offset_increment.bytes().unwrap_or(0);
        let further = increment.saturating_mul(u64::from(self.clone_index));
        space.offset.bytes().unwrap_or(0).saturating_add(further)
    }

    /// The least and the most bytes in which work is done in each file, where that is known from
    /// the text: what a size or a size of files says.
    #[must_use]
    pub fn bytes_of_file(&self) -> Option<(u64, u64)> {
        let space = &self.settings.space;
        match (space.file_size, space.size) {
            (Some((least, most)), _) => {
                let further = self.offset_bytes();
                let share = self.share().unwrap_or(FileShare::WHOLE);
                // From the offset to the file's end.
                let used =
                    |file_bytes| share.size_bytes(share.start_bytes(further, least), file_bytes);
                Some((used(least), used(most)))
            }
            (None, Some(Amount::Bytes(size))) => {
                let each = size / u64::from(self.file_count().max(1));
                let each = match self.is_endless() {
                    // `size` is also where such a file ends.
                    true => each.saturating_sub(self.offset_bytes()),
                    false => each,
                };
                Some((each, each))
            }
            _ => None,
        }
    }

    /// The bytes that are moved in one loop, where that is known from the text.
    #[must_use]
    pub fn bytes_to_move(&self) -> Option<u64> {
        match self.settings.space.io_size {
            None => self.bytes_of_all(),
            Some(Amount::Percent(_)) => {
                let share = self.share()?;
                self.bytes_of_all().map(|all| share.moved_bytes(all))
            }
            Some(size) => size.bytes(),
        }
    }

    /// The bytes in which work is done in all files, where that is known from the text.
    pub(super) fn bytes_of_all(&self) -> Option<u64> {
        let (least, most) = self.bytes_of_file()?;
        let all = least.saturating_mul(u64::from(self.file_count()));
        match self.settings.space.size {
            _ if least != most => None,
            Some(Amount::Bytes(size)) => Some(size.min(all)),
            Some(Amount::Zones(_)) => None,
            Some(Amount::Percent(_)) | None => Some(all),
        }
    }
}

/// Where one option is last said.
#[derive(Debug, Default)]
pub(super) struct PlacesOfOption<'a> {
    /// By section, with its number among all options.
    of_sections: HashMap<&'a str, (usize, &'a Place)>,
    of_all: Option<(usize, &'a Place)>,
}

impl<'a> PlacesOfOption<'a> {
    /// As [`JobSet::place_of`].
    pub(super) fn of(&self, job: &'a Job) -> &'a Place {
        let own = self.of_sections.get(&*job.section).copied();
        let last = [own, self.of_all]
            .into_iter()
            .flatten()
            .max_by_key(|it| it.0);
        last.map_or(&job.place, |(_, place)| place)
    }
}

/// Refusals that are listed at most.
const REFUSALS_MAX: usize = 50;

/// Jobs that follow each other in [`JobSet::jobs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The first one, and the one behind the last.
    pub jobs: Range<usize>,
}

/// An option where it stands, and what becomes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenOption {
    /// Where it stands.
    pub place: Place,
    /// The section it stands in; empty for the command line.
    pub section: Arc<str>,
    /// As it was written.
    pub name: String,
    /// As it was written, variables replaced.
    pub value: Option<String>,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What that means; why, where it is refused.
    pub sentence: &'static str,
}

/// The jobs of files and of a command line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobSet {
    /// In the order in which fio makes them.
    pub jobs: Vec<Job>,
    /// Which jobs run beside each other; each wave begins when the one before has ended.
    pub waves: Vec<Group>,
    /// Which jobs may have one result.
    pub groups: Vec<Group>,
    /// Options of all jobs as they were written, by their main names.
    pub options: Vec<(String, Option<String>)>,
    /// Every option where it stands.
    pub written: Vec<WrittenOption>,
    /// What the reader should know.
    pub notes: Vec<Diagnostic>,
    /// What fio finds out only when it runs the jobs: they have no size, or less than a block.
    pub obstacles: Vec<Diagnostic>,
}

impl JobSet {
    /// All that keeps the jobs from being run, as one error.
    #[must_use]
    pub fn refusal(&self) -> Option<Diagnostic> {
        let refused = self.written.iter().filter_map(WrittenOption::refusal);
        let refused = Diagnostic::all(refused.take(REFUSALS_MAX).collect());
        let obstacles = self.obstacles.iter().take(REFUSALS_MAX).cloned();
        match refused {
            // A refused option says more than what follows from it, wherever it stands.
            Some(first) => Some(first.followed_by(obstacles)),
            None => Diagnostic::all(obstacles.collect()),
        }
    }

    /// Where one of these options, which commas separate, is last said of a job; else where the
    /// job begins.
    pub(super) fn place_of<'a>(&'a self, job: &'a Job, options: &str) -> &'a Place {
        let is_it = |name: &str| options.split(", ").any(|it| it == name);
        let mut written = self.written.iter().rev().filter(|it| {
            let is_of_job = it.section.is_empty() || it.section == job.section;
            is_it(&it.name) && (is_of_job || it.section.eq_ignore_ascii_case("global"))
        });
        written.next().map_or(&job.place, |it| &it.place)
    }

    /// Where an option is last said of each section, for questions about all jobs.
    pub(super) fn places_of(&self, option: &str) -> PlacesOfOption<'_> {
        let mut places = PlacesOfOption::default();
        let written = self.written.iter().enumerate();
        for (index, it) in written.filter(|(_, it)| it.name == option) {
            let place = Some((index, &it.place));
            if it.section.is_empty() || it.section.eq_ignore_ascii_case("global") {
                places.of_all = place;
            } else {
                places.of_sections.insert(&it.section, (index, &it.place));
            }
        }
        places
    }

    /// The jobs of each section.
    pub fn sections(&self) -> impl Iterator<Item = &[Job]> {
        self.jobs
            .chunk_by(|one, other| Arc::ptr_eq(&one.settings, &other.settings))
    }
}

impl WrittenOption {
    /// The option as it stands.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }

    /// The error it is for a run, if it is refused.
    #[must_use]
    pub fn refusal(&self) -> Option<Diagnostic> {
        let Verdict::Refused { instead } = self.verdict else {
            return None;
        };
        let text = plan::printable(&self.text());
        let error = self.place.error(format!("`{text}`: {}", self.sentence));
        Some(error.help(advice(instead)))
    }
}
