//! The writer: executes a plan in any directory.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::content::fill;
use super::plan::{
    DIRECTORIES, RecoveryOperation, RecoveryStep, SyncKind, directory_of, draft_of, path_of,
};
use crate::error::LabError;

/// Executes steps under a directory.
#[derive(Debug)]
pub struct StepWriter {
    root: PathBuf,
    seed: u64,
    /// `true` if it really syncs. A writer that does not sync shows that the check detects lost
    /// data.
    really_syncs: bool,
}

impl StepWriter {
    /// Creates the directories and syncs them.
    ///
    /// # Errors
    /// I/O errors.
    pub fn begin(root: &Path, seed: u64, is_honest: bool) -> Result<Self, LabError> {
        let writer = Self {
            root: root.to_owned(),
            seed,
            really_syncs: is_honest,
        };
        for name in DIRECTORIES {
            let path = root.join(name);
            fs::create_dir(&path)
                // Directories are durable before the first step, so only the steps create
                // guarantees to check.
                .and_then(|()| writer.sync(&path))
                .and_then(|()| writer.sync(path.parent().unwrap_or(root)))
                .map_err(|error| LabError::system("make", &path, error))?;
        }
        Ok(writer)
    }

    /// Executes one step. Its guarantees hold when this returns.
    ///
    /// # Errors
    /// I/O errors.
    pub fn carry_out(&self, step: &RecoveryStep) -> Result<(), LabError> {
        let path = self.root.join(path_of(step.file));
        let failed = |error| LabError::system("write", &path, error);
        self.act(step, &path).map_err(failed)?;
        if step.syncs_directory {
            let directory = self.root.join(DIRECTORIES[directory_of(step.file)]);
            self.sync(&directory).map_err(failed)?;
        }
        Ok(())
    }

    fn act(&self, step: &RecoveryStep, path: &Path) -> io::Result<()> {
        match step.operation {
            RecoveryOperation::Create { length_bytes } => {
                self.write(step, &File::create_new(path)?, 0, length_bytes)
            }
            RecoveryOperation::Write {
                at_bytes,
                length_bytes,
            } => {
                let file = OpenOptions::new().write(true).open(path)?;
                self.write(step, &file, at_bytes, length_bytes)
            }
            RecoveryOperation::Replace { length_bytes } => {
                let draft = self.root.join(draft_of(step.file));
                self.write(step, &File::create_new(&draft)?, 0, length_bytes)?;
                fs::rename(&draft, path)
            }
            RecoveryOperation::Remove => fs::remove_file(path),
        }
    }

    fn write(
        &self,
        step: &RecoveryStep,
        file: &File,
        at_bytes: u64,
        length_bytes: u64,
    ) -> io::Result<()> {
        let mut buffer = vec![0; length_bytes as usize];
        fill(self.seed, step.number, at_bytes, &mut buffer);
        file.write_all_at(&buffer, at_bytes)?;
        match step.sync {
            SyncKind::Data if self.really_syncs => file.sync_data(),
            SyncKind::All if self.really_syncs => file.sync_all(),
            _ => Ok(()),
        }
    }

    fn sync(&self, directory: &Path) -> io::Result<()> {
        match self.really_syncs {
            true => File::open(directory)?.sync_all(),
            false => Ok(()),
        }
    }
}
