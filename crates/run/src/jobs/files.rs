//! Files of jobs: found or laid out before a cell, opened for it, and removed after it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use engine::Fileset;
use plan::job::{FileCache, JobFiles, JobPlan, Layout, NamedFile, OffsetOrder, ReadWriteMix};
use plan::{Cell, ContentPlan, EngineKind, WorkerPlan};
use results::{RunEvent, Warning};
use storage::{FillPlan, NamedOpen, NamedTreeFile};

use crate::RunError;
use crate::job_tree::JobTree;
use crate::session::Session;
use crate::targets::{direct_doubt, file_seed, stamp_bytes};

impl Session<'_> {
    /// Makes sure that every file of the cell exists and is long enough. Missing files are laid out
    /// again, because all files here belong to pgmeter.
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
            let stamp = self.stamp_of(users, (file, name))?;
            let content = users.first().map(|it| it.worker.content);
            self.lay_out((file, name), content, stamp)?;
            let tree_file = NamedTreeFile {
                tree: &self.job_trees[&file.target_index].tree,
                name,
            };
            match file.cache {
                // There is no file whose pages could be dropped or read.
                _ if file.layout == Layout::Absent => {}
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
        };
        self.job_trees.insert(target_index, tree);
        Ok(())
    }

    /// Length of the stamped blocks that a file must contain when the cell starts. `None` if no job
    /// checks earlier content, or if earlier jobs of the run wrote that content and it is kept.
    fn stamp_of(
        &self,
        users: &[FileUse<'_>],
        (file, name): (&NamedFile, &str),
    ) -> Result<Option<u32>, RunError> {
        let checking = users.iter().filter(|it| it.worker.verify);
        let mut reading = checking.filter(|it| it.job.stream.mix.reads());
        let tree = self.job_trees.get(&file.target_index);
        let is_written = match tree.filter(|it| it.written.contains(name)) {
            Some(job_tree) => is_large_enough(job_tree, (file, name))?,
            None => false,
        };
        // A job that also writes may read blocks that were never written with a stamp.
        let is_needed = match is_written {
            true => reading.any(|it| it.job.stream.mix.writes()),
            false => reading.next().is_some(),
        };
        match is_needed {
            true => Ok(Some(stamp_bytes(self.plan)?)),
            false => Ok(None),
        }
    }

    fn lay_out(
        &mut self,
        (file, name): (&NamedFile, &str),
        content: Option<ContentPlan>,
        stamp: Option<u32>,
    ) -> Result<(), RunError> {
        let job_tree = &self.job_trees[&file.target_index];
        let tree = &job_tree.tree;
        let tree_file = NamedTreeFile { tree, name };
        let is_stamped = stamp.is_none() || job_tree.stamped.get(name) == stamp.as_ref();
        let is_unwanted = file.layout == Layout::Absent;
        if !is_unwanted && is_stamped && is_large_enough(job_tree, (file, name))? {
            return Ok(());
        }
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

    /// Opens a file for a job. Stores at most one warning about direct I/O per target in `doubts`.
    pub(super) fn open_job_file(
        &self,
        cell: &Cell,
        (job, file): (&JobPlan, &NamedFile),
        (reads, writes): (bool, bool),
        doubts: &RefCell<BTreeMap<u32, Warning>>,
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
            doubts
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
                match block_bytes.filter(|_| worker.verify) {
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

/// `true` if the file is present and need not be laid out again for its length.
fn is_large_enough(job_tree: &JobTree, (file, name): (&NamedFile, &str)) -> Result<bool, RunError> {
    let tree = &job_tree.tree;
    let present = NamedTreeFile { tree, name }.size_bytes()?;
    // An earlier job may have needed a longer file, which serves this job too. An empty file grows.
    let is_enough = |bytes| bytes >= file.size_bytes || file.layout == Layout::Empty;
    Ok(present.is_some_and(is_enough))
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
    stream.mix == ReadWriteMix::Write && stream.end.bytes >= all && is_each_once && !is_limited
}

#[cfg(test)]
mod tests;
