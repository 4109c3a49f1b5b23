//! Where the processes of a run work: each in a directory of its own below one that is marked as
//! pgmeter's, and removed as a whole.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use plan::{Plan, TargetKind, TargetPlan};
use run::COMMON;
use target::{Permission, Prepared, Tree, Watch, admit, prepare};

use crate::message::Failed;

/// Without the leader, others may take so long to leave what was made for them.
const LEAVING_MAX: Duration = Duration::from_secs(10);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a process has made for itself and others.
#[derive(Default)]
pub(crate) struct Grounds {
    kept: Vec<Ground>,
}

struct Ground {
    prepared: Prepared,
    tree: Tree,
    /// Where all have their directories.
    place: PathBuf,
}

impl Grounds {
    /// Which of the places are there; where one is wished that is not, it is made.
    pub fn look(
        &mut self,
        (plan, used): (&Plan, &BTreeSet<u32>),
        run: &str,
        places: &[Option<String>],
        makes: bool,
    ) -> Result<Vec<Option<String>>, Failed> {
        let mut found = Vec::new();
        for (index, target) in (0..).zip(&plan.targets) {
            let known = places.get(index as usize).cloned().flatten();
            found.push(match known.filter(|place| Path::new(place).is_dir()) {
                _ if !used.contains(&index) || !target.kind.is_path() => None,
                Some(place) => Some(place),
                None if makes => Some(self.make(target, run)?),
                None => None,
            });
        }
        Ok(found)
    }

    fn make(&mut self, target: &TargetPlan, run: &str) -> Result<String, Failed> {
        if target.kind != TargetKind::Directory {
            let path = target.path.display();
            return Err(Failed {
                message: format!("`{path}` is no directory"),
                help: Some("several processes work in directories; name one".to_owned()),
            });
        }
        let permission = Permission {
            run: run.to_owned(),
            ..Permission::default()
        };
        let stop = AtomicBool::new(false);
        let mut watch = Watch {
            progress: &mut |_, _| {},
            stop: &stop,
        };
        let admitted = admit(&target.path, &permission).map_err(of_target)?;
        let mut prepared = prepare(admitted, target, None, &mut watch).map_err(of_target)?;
        let tree = prepared.make_tree().map_err(of_target)?;
        let place = tree.path().join(run);
        make_directory(&place)?;
        let text = place.to_str().map(str::to_owned).ok_or_else(|| Failed {
            message: format!("`{}` is not plain text", place.display()),
            help: Some("name a directory whose path is UTF-8".to_owned()),
        });
        self.kept.push(Ground {
            prepared,
            tree,
            place,
        });
        text
    }

    /// Removes what was made once the others have left it, as far as they do: nobody says any more
    /// whether somebody still works there.
    pub fn release_once_left(self) {
        let end = Instant::now() + LEAVING_MAX;
        let is_left = |ground: &Ground| {
            let entries = fs::read_dir(&ground.place).into_iter().flatten().flatten();
            let mut others = entries.filter(|it| !is_common(it));
            others.next().is_none()
        };
        while !self.kept.iter().all(is_left) {
            if Instant::now() > end {
                // What others may work in is left to `clean`, which knows whether they still do.
                return std::mem::forget(self);
            }
            thread::sleep(LOOK);
        }
        self.release();
    }

    /// Removes what processes had together in the cells before: all have ended those, and some
    /// may work in this one already.
    pub fn clear_before(&self, cell_index: u32) {
        let current = format!("{COMMON}{cell_index}");
        for ground in &self.kept {
            let entries = fs::read_dir(&ground.place).into_iter().flatten().flatten();
            let ended = |it: &fs::DirEntry| is_common(it) && it.file_name() != current.as_str();
            for entry in entries.filter(ended) {
                // What cannot be removed is told of with all that lies here.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes what was made; what was left behind, and why.
    pub fn release(self) -> Vec<String> {
        let mut left = Vec::new();
        for Ground {
            mut prepared, tree, ..
        } in self.kept
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

/// Whether processes have it together.
fn is_common(entry: &fs::DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with(COMMON)
}

/// The plan of a process, and the directories that were made for it.
pub(crate) struct Own {
    /// Its targets are these directories.
    pub plan: Plan,
    directories: Vec<PathBuf>,
}

/// The plan of a process that uses these targets, whose directories there are made.
pub(crate) fn of_rank(
    (plan, used): (&Plan, &BTreeSet<u32>),
    rank: u32,
    places: &[Option<String>],
) -> Result<Own, Failed> {
    let mut own = Own {
        plan: plan.of_rank(rank),
        directories: Vec::new(),
    };
    for ((index, target), place) in (0..).zip(&mut own.plan.targets).zip(places) {
        if !used.contains(&index) || !target.kind.is_path() {
            continue;
        }
        let Some(place) = place else {
            return Err(Failed {
                message: format!(
                    "there is no place to work below `{}`",
                    target.path.display()
                ),
                help: None,
            });
        };
        let directory = PathBuf::from(place).join(format!("rank-{rank:06}"));
        make_directory(&directory)?;
        own.directories.push(directory.clone());
        target.path = directory;
    }
    Ok(own)
}

impl Own {
    /// Removes the directories of a process, which are empty once it has released its targets.
    pub fn leave(&self) {
        for directory in &self.directories {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn make_directory(path: &Path) -> Result<(), Failed> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Failed {
            message: format!("cannot make `{}`: {error}", path.display()),
            help: None,
        }),
        _ => Ok(()),
    }
}

pub(crate) fn of_target(error: target::TargetError) -> Failed {
    Failed {
        message: error.to_string(),
        help: Some(error.help()),
    }
}
