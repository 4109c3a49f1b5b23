//! The writer: carries a plan out, on any directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::content::fill;
use super::plan::{Act, DIRECTORIES, Step, Syncing, directory_of, draft_of, path_of};
use crate::error::LabError;

/// Carries steps out below a directory.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    seed: u64,
    /// Whether it syncs what it says it syncs; one that does not shows what a check finds.
    is_honest: bool,
}

impl Writer {
    /// Makes the directories, durable all of them.
    ///
    /// # Errors
    /// What the system says.
    pub fn begin(root: &Path, seed: u64, is_honest: bool) -> Result<Self, LabError> {
        let writer = Self {
            root: root.to_owned(),
            seed,
            is_honest,
        };
        for name in DIRECTORIES {
            let path = root.join(name);
            fs::create_dir(&path)
                .and_then(|()| writer.sync(&path))
                .and_then(|()| writer.sync(path.parent().unwrap_or(root)))
                .map_err(|error| LabError::system("make", &path, error))?;
        }
        Ok(writer)
    }

    /// Does one step; what it promises is promised when this returns.
    ///
    /// # Errors
    /// What the system says.
    pub fn carry_out(&self, step: &Step) -> Result<(), LabError> {
        let path = self.root.join(path_of(step.file));
        let failed = |error| LabError::system("write", &path, error);
        self.act(step, &path).map_err(failed)?;
        if step.syncs_directory {
            let directory = self.root.join(DIRECTORIES[directory_of(step.file)]);
            self.sync(&directory).map_err(failed)?;
        }
        Ok(())
    }

    fn act(&self, step: &Step, path: &Path) -> io::Result<()> {
        match step.act {
            Act::Create { length_bytes } => {
                self.write(step, &File::create_new(path)?, 0, length_bytes)
            }
            Act::Write {
                at_bytes,
                length_bytes,
            } => {
                let file = OpenOptions::new().write(true).open(path)?;
                self.write(step, &file, at_bytes, length_bytes)
            }
            Act::Replace { length_bytes } => {
                let draft = self.root.join(draft_of(step.file));
                self.write(step, &File::create_new(&draft)?, 0, length_bytes)?;
                fs::rename(&draft, path)
            }
            Act::Remove => fs::remove_file(path),
        }
    }

    fn write(&self, step: &Step, file: &File, at_bytes: u64, length_bytes: u64) -> io::Result<()> {
        let mut buffer = vec![0; length_bytes as usize];
        fill(self.seed, step.number, at_bytes, &mut buffer);
        file.write_all_at(&buffer, at_bytes)?;
        match step.syncing {
            Syncing::Data if self.is_honest => file.sync_data(),
            Syncing::All if self.is_honest => file.sync_all(),
            _ => Ok(()),
        }
    }

    fn sync(&self, directory: &Path) -> io::Result<()> {
        match self.is_honest {
            true => File::open(directory)?.sync_all(),
            false => Ok(()),
        }
    }
}
