//! Files of jobs: found or laid out before a cell, opened for it, and removed after it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use engine::Fileset;
use plan::job::{
    FileCache, JobFiles, JobPlan, Layout, NamedFile, OffsetOrder, ReadWriteMix, StreamPlan,
};
use plan::{Cell, ContentPlan, EngineKind, WorkerPlan};
use results::{RunEvent, Warning};
use storage::{FillPlan, NamedOpen, NamedTreeFile};

use crate::RunError;
use crate::job_tree::JobTree;
use crate::session::Session;
use crate::targets::{direct_doubt, file_seed, stamp_bytes};

impl Session<'_> {
    /// Makes sure that every file of the cell exists and is long enough. Missing files are laid
    /// out, and those that jobs wrote are extended.
    pub(super) fn make_job_files(&mut self, cell: &Cell, files: &JobFiles) -> Result<(), RunError> {
        for (users, file) in users(cell, files).iter().zip(&files.files) {
            // The `null` engine opens no file.
            let is_touched = users.iter().any(|it| it.job.engine != EngineKind::Null);
            if !is_touched {
                continue;
            }
            if self.stopped() {
                return Ok(());
            }
            let Some(name) = file.name.as_deref() else {
                self.set_cache(file)?;
                continue;
            };
            self.ensure_tree(file.target_index)?;
            let stamps = self.stamps_of(users, (file, name))?;
            let content = users.first().map(|it| it.worker.content);
            if file.is_left {
                self.take_left_file((file, name))?;
            }
            self.check_is_written(users, (file, name))?;
            self.lay_out((file, name), content, stamps)?;
            let tree_file = NamedTreeFile {
                tree: &self.job_trees[&file.target_index].tree,
                name,
            };
            match file.cache {
                // There is no file whose pages could be dropped or read.
                _ if !file.layout.is_file() => {}
                FileCache::Dropped => tree_file.evict()?,
                FileCache::Left => {}
                FileCache::Warm => tree_file.warm(&self.options.stop)?,
            }
        }
        Ok(())
    }

    /// Sets the page cache state of a target that is itself the file.
    fn set_cache(&self, file: &NamedFile) -> Result<(), RunError> {
        let Some(prepared) = self.targets.get(&file.target_index) else {
            return Ok(());
        };
        match file.cache {
            FileCache::Dropped => prepared.evict_file()?,
            FileCache::Left => {}
            FileCache::Warm => prepared.warm_bytes(file.size_bytes, &self.options.stop)?,
        }
        Ok(())
    }

    fn ensure_tree(&mut self, target_index: u32) -> Result<(), RunError> {
        if self.job_trees.contains_key(&target_index) {
            return Ok(());
        }
        let prepared = self.targets.get_mut(&target_index);
        let prepared = prepared.expect("every target of a cell that does I/O was prepared");
        let tree = JobTree {
            tree: prepared.make_tree()?,
            stamped: BTreeMap::new(),
            written: BTreeSet::new(),
            taken: BTreeSet::new(),
        };
        self.job_trees.insert(target_index, tree);
        Ok(())
    }

    /// Refuses a file that jobs verify by its own headers, but that nobody has written: its layout
    /// would only make every check fail.
    fn check_is_written(
        &self,
        users: &[FileUse<'_>],
        (file, name): (&NamedFile, &str),
    ) -> Result<(), RunError> {
        let is_writing = |it: &FileUse<'_>| it.job.writes();
        let is_verifying = |it: &FileUse<'_>| it.job.check.is_some() && !it.job.writes();
        let tree = &self.job_trees[&file.target_index].tree;
        let tree_file = NamedTreeFile { tree, name };
        let is_missing = users.iter().any(is_verifying)
            && !users.iter().any(is_writing)
            && tree_file.size_bytes()?.is_none();
        match is_missing {
            true => Err(RunError::ExistingFiles {
                path: self.plan.targets[file.target_index as usize]
                    .path
                    .join(name),
                why: "a job verifies it, but no job of this or an earlier run of pgmeter has \
                      written it"
                    .to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// The stamps that a file must contain when the cell starts. What earlier jobs of the run wrote
    /// is kept.
    fn stamps_of(
        &self,
        users: &[FileUse<'_>],
        (file, name): (&NamedFile, &str),
    ) -> Result<StampedBlocks, RunError> {
        let checking = users.iter().filter(|it| it.worker.verify);
        let reads = |it: &StreamPlan| it.mix.reads() || it.skips_writes();
        let mut reading = checking.filter(|it| reads(&it.job.stream));
        let tree = self.job_trees.get(&file.target_index);
        let is_written = tree.is_some_and(|it| it.written.contains(name));
        let is_read = reading.clone().next().is_some();
        // A job that also writes may read blocks that were never written with a stamp.
        let is_needed = match is_written {
            true => reading.any(|it| it.job.writes()),
            false => is_read,
        };
        let bytes = |is_needed: bool| match is_needed {
            true => stamp_bytes(self.plan).map(Some),
            false => Ok(None),
        };
        Ok(StampedBlocks {
            whole: bytes(is_needed)?,
            rest: bytes(is_read)?,
        })
    }

    fn lay_out(
        &mut self,
        (file, name): (&NamedFile, &str),
        content: Option<ContentPlan>,
        stamps: StampedBlocks,
    ) -> Result<(), RunError> {
        let job_tree = &self.job_trees[&file.target_index];
        let tree = &job_tree.tree;
        let tree_file = NamedTreeFile { tree, name };
        let is_stamped =
            stamps.whole.is_none() || job_tree.stamped.get(name) == stamps.whole.as_ref();
        let present_bytes = tree_file.size_bytes()?;
        let is_kept = is_stamped && file.layout != Layout::Absent;
        // An earlier job may have needed a longer file, which serves this job too. An empty file
        // grows, and the size of a directory does not matter.
        let is_enough = |bytes| bytes >= file.size_bytes || !file.layout.has_size();
        let is_of_kind = tree_file.is_directory() == (file.layout == Layout::Directory);
        let is_kept = is_kept && is_of_kind;
        if is_kept && present_bytes.is_some_and(is_enough) {
            return Ok(());
        }
        // A later job may verify what an earlier one wrote.
        let kept_bytes = present_bytes.filter(|_| is_kept && job_tree.written.contains(name));
        let stamp = match kept_bytes {
            Some(_) => stamps.rest,
            None => stamps.whole,
        };
        let fill = FillPlan {
            content: content.unwrap_or(ContentPlan::Incompressible),
            verify_block_bytes: stamp,
            seed: self.job_seed(file),
            prepare_device: false,
        };
        let layout = match stamp {
            // Reserved or sparse space contains no stamps.
            Some(_) => Layout::Written,
            None => file.layout,
        };
        let shown = tree_file.path().display().to_string();
        let listener = &mut self.listener;
        let mut progress = |done_bytes, total_bytes| {
            listener(&RunEvent::Prepare {
                target: shown.clone(),
                done_bytes,
                total_bytes,
            });
        };
        let mut watch = storage::FillWatch {
            progress: &mut progress,
            stop: &self.options.stop,
        };
        if let Some(kept_bytes) = kept_bytes {
            let sizes = kept_bytes..file.size_bytes;
            tree_file.extend(sizes, layout, &fill, &mut watch)?;
            return Ok(());
        }
        tree_file.lay_out(file.size_bytes, layout, &fill, &mut watch)?;
        if let Some(job_tree) = self.job_trees.get_mut(&file.target_index) {
            // Nothing is left of what jobs wrote.
            job_tree.written.remove(name);
            match stamp {
                Some(bytes) => job_tree.stamped.insert(name.to_owned(), bytes),
                None => job_tree.stamped.remove(name),
            };
        }
        Ok(())
    }

    /// The files that a job uses by name, and the directory that contains them.
    pub(super) fn names_of(&self, job: &JobPlan, files: &JobFiles) -> Result<Fileset, RunError> {
        let files = || {
            let parts = job.files.iter();
            parts.map(|part| &files.files[part.file_index as usize])
        };
        let first = files().next().map_or(0, |file| file.target_index);
        let tree = self.job_trees.get(&first).filter(|_| {
            let mut files = files();
            files.all(|file| file.target_index == first && file.name.is_some())
        });
        let tree = tree.ok_or_else(|| RunError::System {
            what: "work on names in several directories".to_owned(),
            source: std::io::ErrorKind::Unsupported.into(),
        })?;
        let names = files().filter_map(|it| it.name.as_ref()).map(PathBuf::from);
        let names: Vec<PathBuf> = names.collect();
        let tree = &tree.tree;
        let location = tree.directory().try_clone();
        let location = location.map_err(|source| RunError::System {
            what: format!("open `{}` again", tree.path().display()),
            source,
        })?;
        Ok(Fileset::listed(location, &names)?)
    }

    /// Opens a file for a job. Stores at most one warning about direct I/O per target in
    /// `warnings`.
    pub(super) fn open_job_file(
        &self,
        cell: &Cell,
        (job, file): (&JobPlan, &NamedFile),
        (reads, writes): (bool, bool),
        warnings: &RefCell<BTreeMap<u32, Warning>>,
    ) -> Result<OwnedFd, RunError> {
        let prepared = self.targets.get(&file.target_index);
        let prepared = prepared.expect("every target of a cell that does I/O was prepared");
        let opened = match (&file.name, self.job_trees.get(&file.target_index)) {
            (Some(name), Some(tree)) => {
                let tree = &tree.tree;
                let mode = NamedOpen {
                    cache: job.cache,
                    reads,
                    writes,
                    durable: job.durable,
                };
                prepared.open_named(&NamedTreeFile { tree, name }, mode)?
            }
            _ => prepared.open(job.cache, reads, writes)?,
        };
        if let Some(doubt) = opened.doubt {
            let warning = direct_doubt(&doubt, cell);
            warnings
                .borrow_mut()
                .entry(file.target_index)
                .or_insert(warning);
        }
        Ok(opened.file)
    }

    /// Removes the files that only this cell needed.
    pub(super) fn remove_job_files(&mut self, files: &JobFiles) -> Result<(), RunError> {
        for file in &files.files {
            let Some(job_tree) = self.job_trees.get(&file.target_index) else {
                continue;
            };
            if let Some(name) = file.name.as_deref().filter(|_| file.is_removed) {
                let tree = &job_tree.tree;
                NamedTreeFile { tree, name }.remove()?;
            }
        }
        Ok(())
    }

    /// Records which files contain stamps from end to end: those that a job with stamps wrote
    /// completely, unless a job without stamps wrote to them.
    pub(super) fn note_stamps(&mut self, cell: &Cell, files: &JobFiles) -> Result<(), RunError> {
        let checked = cell.workers.iter().any(|worker| worker.verify);
        // Jobs that were stopped may not have written their files completely.
        let block_bytes = match checked && !self.stopped() {
            true => Some(stamp_bytes(self.plan)?),
            false => None,
        };
        for (_, worker) in cell.own_workers() {
            let Some(job) = worker.job.as_deref().filter(|job| job.writes()) else {
                continue;
            };
            let writes_all = writes_all(job);
            for part in &job.files {
                let file = &files.files[part.file_index as usize];
                let Some(name) = &file.name else { continue };
                let is_whole =
                    writes_all && (part.start_bytes, part.size_bytes) == (0, file.size_bytes);
                let Some(tree) = self.job_trees.get_mut(&file.target_index) else {
                    continue;
                };
                tree.written.insert(name.clone());
                // What was trimmed has no stamps, also if the job did not get to write it again.
                let keeps_stamps = worker.verify && !job.stream.mix.trims();
                match block_bytes.filter(|_| keeps_stamps) {
                    Some(bytes) if is_whole => {
                        tree.stamped.insert(name.clone(), bytes);
                    }
                    // A file that was stamped before stays stamped.
                    Some(_) => {}
                    None => {
                        tree.stamped.remove(name);
                    }
                }
            }
        }
        Ok(())
    }

    /// Content seeds of a job's files, in the job's order.
    pub(super) fn job_seeds(&self, job: &JobPlan, files: &JobFiles) -> Vec<u64> {
        let parts = job.files.iter();
        parts
            .map(|part| self.job_seed(&files.files[part.file_index as usize]))
            .collect()
    }

    /// Seed of a file's content, derived from its name so that later cells know it too.
    fn job_seed(&self, file: &NamedFile) -> u64 {
        let name = file.name.as_deref().unwrap_or_default();
        let name_hash = name.bytes().fold(0_u64, |sum, byte| {
            generate::mix(sum ^ u64::from(byte).wrapping_add(1))
        });
        file_seed(self.plan.seed ^ name_hash, file.target_index)
    }
}

/// Lengths of the stamped blocks that a file must contain; `None` if no job checks them.
#[derive(Debug, Clone, Copy)]
struct StampedBlocks {
    /// Everywhere, whatever the file contains.
    whole: Option<u32>,
    /// Where the file does not reach yet.
    rest: Option<u32>,
}

/// A use of a file by a worker.
struct FileUse<'a> {
    worker: &'a WorkerPlan,
    job: &'a JobPlan,
}

/// Workers of this process that use each file, in order. A worker appears once per part that it
/// uses.
fn users<'a>(cell: &'a Cell, files: &JobFiles) -> Vec<Vec<FileUse<'a>>> {
    // One pass for all files: a search per file took 24 s for 400,000 files of one job.
    let mut all: Vec<Vec<FileUse<'a>>> = files.files.iter().map(|_| Vec::new()).collect();
    for (_, worker) in cell.own_workers() {
        let Some(job) = worker.job.as_deref() else {
            continue;
        };
        for part in &job.files {
            all[part.file_index as usize].push(FileUse { worker, job });
        }
    }
    all
}

/// `true` if a job has written every byte of its files when its work ends it.
fn writes_all(job: &JobPlan) -> bool {
    let all: u64 = job.files.iter().map(|part| part.size_bytes).sum();
    let stream = &job.stream;
    let is_each_once = matches!(stream.visits, OffsetOrder::Once) && stream.step_bytes == 0;
    let is_limited = stream.zones.is_some() || stream.end.requests.is_some() || job.run_time_ns > 0;
    let writes = stream.mix == ReadWriteMix::Write && stream.writes();
    writes && stream.end.bytes >= all && is_each_once && !is_limited
}

#[cfg(test)]
mod tests;
