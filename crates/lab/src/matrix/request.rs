//! Request for a lab.

use std::path::PathBuf;

use crate::age::AgingOptions;
use crate::availability::check;
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::error::LabError;
use crate::medium::LabMedium;
use crate::namespace::become_root_for;
use crate::scale::LabScale;
use crate::vm::{self, Host};

/// File systems, their storage, and their preparation before a workload.
#[derive(Debug)]
pub struct MatrixRequest {
    /// The file systems.
    pub choices: Vec<FileSystemChoice>,
    /// Storage for the file systems.
    pub medium: LabMedium,
    /// Directory that contains the labs.
    pub directory: PathBuf,
    /// Scale of the workloads.
    pub scale: LabScale,
    /// Host of the guests whose kernels run the file systems; `None` for the running kernel.
    pub host: Option<Host>,
    /// Aging of each file system before its workload.
    pub aging: Option<AgingOptions>,
}

impl MatrixRequest {
    /// Refuses requests that are certain to fail, before anything is created. With
    /// `guest_memory_bytes`, also finds the host for guests with this much memory.
    ///
    /// If an ordinary user requests only file systems in memory, this program restarts in a user
    /// namespace, where it may mount them.
    ///
    /// # Errors
    /// If something is missing or does not fit.
    pub fn check(&mut self, guest_memory_bytes: Option<u64>) -> Result<(), LabError> {
        let (choices, medium, directory) = (&self.choices, &self.medium, &self.directory);
        match guest_memory_bytes {
            Some(bytes) => self.host = Some(vm::check(choices, medium, directory, bytes)?),
            None => {
                become_root_for(choices)?;
                check(choices, medium, directory)?;
            }
        }
        Ok(())
    }

    /// Share of the space that aging leaves free.
    #[must_use]
    pub fn free_share(&self) -> f64 {
        let fullness = self.aging.map_or(0.0, |aging| aging.fullness.fraction());
        1.0 - fullness
    }

    /// `true` if any of them uses storage that the lab provides.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        self.choices.iter().any(FileSystemChoice::needs_device)
    }
}

impl AgingOptions {
    /// Parses the aging of all these file systems, with another seed if given.
    ///
    /// # Errors
    /// If the text cannot be parsed, or a file system already exists and so cannot be aged.
    pub fn of_all(
        text: &str,
        seed: Option<u64>,
        choices: &[FileSystemChoice],
    ) -> Result<Self, LabError> {
        let aging: Self = text.parse()?;
        for choice in choices {
            if let ChoiceKind::Path(path) = &choice.kind {
                return Err(LabError::CannotAgePath { path: path.clone() });
            }
        }
        Ok(seed.map_or(aging, |seed| aging.seeded(seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(text: &str) -> Vec<FileSystemChoice> {
        FileSystemChoice::read_all(&[text.to_owned()]).unwrap()
    }

    #[test]
    fn only_file_systems_made_by_the_lab_are_aged() {
        let aging = AgingOptions::of_all("70%", Some(7), &choices("ext4,xfs")).unwrap();
        assert_eq!(aging.seed, 7);
        let refused = AgingOptions::of_all("70%", None, &choices("ext4,path:/mnt")).unwrap_err();
        assert!(
            matches!(refused, LabError::CannotAgePath { .. }),
            "{refused}"
        );
    }

    #[test]
    fn an_aged_file_system_has_the_room_that_aging_leaves() {
        let mut request = MatrixRequest {
            choices: choices("tmpfs"),
            medium: LabMedium::default(),
            directory: PathBuf::new(),
            scale: LabScale::FULL,
            host: None,
            aging: None,
        };
        assert!((request.free_share() - 1.0).abs() < f64::EPSILON);
        request.aging = Some("75%".parse().unwrap());
        assert!((request.free_share() - 0.25).abs() < f64::EPSILON);
        assert!(!request.needs_device());
    }
}
