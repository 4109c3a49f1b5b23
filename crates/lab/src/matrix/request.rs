//! What a lab is asked for.

use std::path::PathBuf;

use crate::age::Aging;
use crate::availability::check;
use crate::choice::{Choice, ChoiceKind};
use crate::error::LabError;
use crate::medium::LabMedium;
use crate::namespace::become_root_for;
use crate::scale::Scale;
use crate::vm::{self, Host};

/// File systems, what they are made on, and what is done to them before a workload.
#[derive(Debug)]
pub struct LabRequest {
    /// The file systems.
    pub choices: Vec<Choice>,
    /// What they are made on.
    pub medium: LabMedium,
    /// Where labs are.
    pub directory: PathBuf,
    /// How large workloads are.
    pub scale: Scale,
    /// What runs the kernels that the file systems are in; none where it is this one.
    pub host: Option<Host>,
    /// To what each file system is brought first.
    pub aging: Option<Aging>,
}

impl LabRequest {
    /// Refuses what can be seen to fail before anything is made, and finds what runs guests where
    /// they are to have so much memory.
    ///
    /// Where an ordinary user asks for file systems in memory alone, this program begins anew in a
    /// user namespace, where it may mount them.
    ///
    /// # Errors
    /// What is not here, or does not fit.
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

    /// What aging leaves free.
    #[must_use]
    pub fn free_share(&self) -> f64 {
        let fullness = self.aging.map_or(0.0, |aging| aging.fullness.fraction());
        1.0 - fullness
    }

    /// Whether any of them lies on what the lab provides.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        self.choices.iter().any(Choice::needs_device)
    }
}

impl Aging {
    /// What a text says of all these file systems, under a seed of its own where one is given.
    ///
    /// # Errors
    /// When it cannot be read, or one of them is there already and so not filled.
    pub fn of_all(text: &str, seed: Option<u64>, choices: &[Choice]) -> Result<Self, LabError> {
        let aging: Self = text.parse()?;
        for choice in choices {
            if let ChoiceKind::Path(path) = &choice.kind {
                return Err(LabError::AgeOfPath { path: path.clone() });
            }
        }
        Ok(seed.map_or(aging, |seed| aging.seeded(seed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(text: &str) -> Vec<Choice> {
        Choice::read_all(&[text.to_owned()]).unwrap()
    }

    #[test]
    fn only_what_the_lab_makes_is_aged() {
        let aging = Aging::of_all("70%", Some(7), &choices("ext4,xfs")).unwrap();
        assert_eq!(aging.seed, 7);
        let refused = Aging::of_all("70%", None, &choices("ext4,path:/mnt")).unwrap_err();
        assert!(matches!(refused, LabError::AgeOfPath { .. }), "{refused}");
    }

    #[test]
    fn what_is_aged_has_as_much_room_as_aging_leaves() {
        let mut request = LabRequest {
            choices: choices("tmpfs"),
            medium: LabMedium::default(),
            directory: PathBuf::new(),
            scale: Scale::FULL,
            host: None,
            aging: None,
        };
        assert!((request.free_share() - 1.0).abs() < f64::EPSILON);
        request.aging = Some("75%".parse().unwrap());
        assert!((request.free_share() - 0.25).abs() < f64::EPSILON);
        assert!(!request.needs_device());
    }
}
