//! Work directories of the processes of a run. Each process has its own directory within one that
//! is marked as pgmeter's and removed as a whole.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use plan::{Plan, TargetKind, TargetPlan};
use run::COMMON_PREFIX;
use storage::{FillWatch, Permission, Prepared, Tree, admit, prepare};

use crate::message::FailureMessage;

/// Without a leader, time to wait for other processes to leave the directories made for them.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which this is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Directories that this process made for itself and for others.
#[derive(Default)]
pub(crate) struct WorkDirs {
    dirs: Vec<WorkDir>,
}

struct WorkDir {
    prepared: Prepared,
    tree: Tree,
    /// Parent of all processes' directories.
    parent: PathBuf,
}

impl WorkDirs {
    /// Returns the places that exist on this host. With `makes`, creates the missing ones.
    pub fn look(
        &mut self,
        (plan, used): (&Plan, &BTreeSet<u32>),
        run: &str,
        places: &[Option<String>],
        makes: bool,
    ) -> Result<Vec<Option<String>>, FailureMessage> {
        let mut found = Vec::new();
        for (index, target) in (0..).zip(&plan.targets) {
            let known = places.get(index as usize).cloned().flatten();
            // A process sees the directory of another one if both hosts mount the same file system.
            found.push(match known.filter(|path| Path::new(path).is_dir()) {
                _ if !used.contains(&index) || !target.kind.is_path() => None,
                Some(place) => Some(place),
                None if makes => Some(self.make(target, run)?),
                None => None,
            });
        }
        Ok(found)
    }

    fn make(&mut self, target: &TargetPlan, run: &str) -> Result<String, FailureMessage> {
        if target.kind != TargetKind::Directory {
            let path = target.path.display();
            return Err(FailureMessage {
                message: format!("`{path}` is not a directory"),
                help: Some("a run with several processes needs a directory".to_owned()),
            });
        }
        let permission = Permission {
            run_id: run.to_owned(),
            ..Permission::default()
        };
        let stop = AtomicBool::new(false);
        let mut watch = FillWatch {
            progress: &mut |_, _| {},
            stop: &stop,
        };
        let admitted = admit(&target.path, &permission).map_err(of_target)?;
        let mut prepared = prepare(admitted, target, None, &mut watch).map_err(of_target)?;
        let tree = prepared.make_tree().map_err(of_target)?;
        let directory = tree.path().join(run);
        make_directory(&directory)?;
        let text = directory
            .to_str()
            .map(str::to_owned)
            .ok_or_else(|| FailureMessage {
                message: format!("`{}` is not UTF-8", directory.display()),
                help: Some("name a directory whose path is UTF-8".to_owned()),
            });
        self.dirs.push(WorkDir {
            prepared,
            tree,
            parent: directory,
        });
        text
    }

    /// Removes the directories once the other processes have left them, or leaves them in place
    /// after [`LEAVE_TIMEOUT`]. Without a leader, no one reports whether a process still works
    /// there.
    pub fn release_when_unused(self) {
        let end = Instant::now() + LEAVE_TIMEOUT;
        let is_left = |work_dir: &WorkDir| {
            let entries = fs::read_dir(&work_dir.parent)
                .into_iter()
                .flatten()
                .flatten();
            let mut others = entries.filter(|it| !is_common(it));
            others.next().is_none()
        };
        while !self.dirs.iter().all(is_left) {
            if Instant::now() > end {
                // The directories stay for `clean`, which can check whether they are still in use.
                return std::mem::forget(self);
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.release();
    }

    /// Removes the shared files of earlier cells. All processes have finished those cells, and some
    /// may already work in this one.
    pub fn remove_files_before(&self, cell_index: u32) {
        let current = format!("{COMMON_PREFIX}{cell_index}");
        for ground in &self.dirs {
            let entries = fs::read_dir(&ground.parent).into_iter().flatten().flatten();
            let is_ended = |it: &fs::DirEntry| is_common(it) && it.file_name() != current.as_str();
            for entry in entries.filter(is_ended) {
                // If this fails, the removal of the whole directory reports it.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes the directories; returns the paths that remain, with the reasons.
    pub fn release(self) -> Vec<String> {
        let mut left = Vec::new();
        for WorkDir {
            mut prepared, tree, ..
        } in self.dirs
        {
            drop(tree);
            if let Err(error) = prepared.remove_tree(&mut |_| {}) {
                left.push(error.to_string());
            }
            match prepared.release(false) {
                Ok(report) => left.extend(report.left.into_iter().map(|it| it.to_string())),
                Err(error) => left.push(error.to_string()),
            }
        }
        left
    }
}

/// `true` if processes share this directory.
fn is_common(entry: &fs::DirEntry) -> bool {
    entry
        .file_name()
        .to_string_lossy()
        .starts_with(COMMON_PREFIX)
}

/// Plan of a process, and the directories made for it.
pub(crate) struct ProcessPlan {
    /// The plan with these directories as targets.
    pub plan: Plan,
    directories: Vec<PathBuf>,
}

/// Makes the plan of a process that uses these targets, and creates its directories.
pub(crate) fn of_rank(
    (plan, used): (&Plan, &BTreeSet<u32>),
    rank: u32,
    places: &[Option<String>],
) -> Result<ProcessPlan, FailureMessage> {
    let mut own = ProcessPlan {
        plan: plan.of_rank(rank),
        directories: Vec::new(),
    };
    for ((index, target), place) in (0..).zip(&mut own.plan.targets).zip(places) {
        if !used.contains(&index) || !target.kind.is_path() {
            continue;
        }
        let Some(path) = place else {
            return Err(FailureMessage {
                message: format!(
                    "there is no work directory below `{}`",
                    target.path.display()
                ),
                help: None,
            });
        };
        let directory = PathBuf::from(path).join(format!("rank-{rank:06}"));
        make_directory(&directory)?;
        own.directories.push(directory.clone());
        target.path = directory;
    }
    Ok(own)
}

impl ProcessPlan {
    /// Removes the directories of a process, which are empty after it has released its targets.
    pub fn leave(&self) {
        for directory in &self.directories {
            // If this fails, the removal of the whole directory reports it.
            let _ = fs::remove_dir(directory);
        }
    }
}

fn make_directory(path: &Path) -> Result<(), FailureMessage> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(FailureMessage {
            message: format!("cannot create `{}`: {error}", path.display()),
            help: None,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn of_target(error: storage::TargetError) -> FailureMessage {
    FailureMessage {
        message: error.to_string(),
        help: Some(error.help()),
    }
}
