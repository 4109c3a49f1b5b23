//! Results of recovery trials.

use std::time::Duration;

use super::check::Findings;
use super::kernel_log::recovery_lines;
use super::part::MountFindings;
use crate::built_as::FileSystemSetup;
use crate::outcome::{LabFailure, LabNote, LabVerdict};

/// Results of one trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Index into the file systems.
    pub choice_index: usize,
    /// Number of the trial for this file system, 0-based.
    pub trial_index: u32,
    /// Number of completed steps when the kernel was killed.
    pub done_count: u32,
    /// Findings; the reason if the mount failed.
    pub mounted: Result<MountFindings, String>,
    /// Result of the file system's check program afterwards; `None` if there is no such program.
    pub fsck: Option<Result<(), String>>,
}

/// Results of all trials.
#[derive(Debug, Default)]
pub struct TrialsOutcome {
    /// The trials, in running order.
    pub trials: Vec<Trial>,
    /// How each file system was created, if it was.
    pub setups: Vec<Option<FileSystemSetup>>,
    /// Failures that did not end the lab.
    pub failures: Vec<LabFailure>,
    /// Notes for the reader, without duplicates.
    pub notes: Vec<LabNote>,
}

impl Trial {
    /// `true` if a guarantee was broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        match &self.mounted {
            Ok(mounted) => mounted.findings.broken_count() > 0,
            Err(_) => true,
        }
    }
}

impl TrialsOutcome {
    /// Overall verdict. `is_stopped` is `true` if the user stopped it.
    #[must_use]
    pub fn verdict(&self, is_stopped: bool) -> LabVerdict {
        // First, because a broken guarantee is a finding, whatever happened to other trials.
        if self.trials.iter().any(Trial::is_broken) {
            return LabVerdict::Failed;
        }
        if !self.failures.is_empty() {
            return LabVerdict::System;
        }
        match is_stopped {
            true => LabVerdict::Interrupted,
            false => LabVerdict::Complete,
        }
    }

    /// All trials of one file system, whose type is `kind`.
    #[must_use]
    pub fn of_choice<'a>(&'a self, choice_index: usize, kind: &'a str) -> FileSystemTrials<'a> {
        let is_match = |trial: &&Trial| trial.choice_index == choice_index;
        FileSystemTrials {
            trials: self.trials.iter().filter(is_match).collect(),
            kind,
        }
    }
}

/// The trials of one file system.
#[derive(Debug)]
pub struct FileSystemTrials<'a> {
    /// The trials, in running order.
    pub trials: Vec<&'a Trial>,
    /// The kernel's type of the file system.
    kind: &'a str,
}

impl<'a> FileSystemTrials<'a> {
    /// Trials in which the mount succeeded.
    pub fn mounted(&self) -> impl Iterator<Item = &'a MountFindings> {
        self.trials.iter().filter_map(|it| it.mounted.as_ref().ok())
    }

    /// Sum of the findings; `None` if nothing could be checked.
    #[must_use]
    pub fn findings(&self) -> Option<Findings> {
        let mut sum: Option<Findings> = None;
        for mounted in self.mounted() {
            *sum.get_or_insert_default() += &mounted.findings;
        }
        sum
    }

    /// Number of steps completed before the kernels were killed.
    #[must_use]
    pub fn done_count(&self) -> u64 {
        self.trials.iter().map(|it| u64::from(it.done_count)).sum()
    }

    /// Mean duration of the mount.
    #[must_use]
    pub fn mount_time_mean(&self) -> Option<Duration> {
        let sum: Duration = self.mounted().map(|it| it.elapsed).sum();
        match u32::try_from(self.mounted().count()) {
            Ok(count) if count > 0 => Some(sum / count),
            _ => None,
        }
    }

    /// Number of trials in which the kernel recovered something.
    #[must_use]
    pub fn recovered_count(&self) -> usize {
        let has_recovered = |it: &&MountFindings| !self.recovery_lines(it).is_empty();
        self.mounted().filter(has_recovered).count()
    }

    /// Number of trials in which the unmount succeeded.
    #[must_use]
    pub fn unmounted_count(&self) -> usize {
        self.mounted()
            .filter(|it| it.not_unmounted.is_none())
            .count()
    }

    /// Number of trials in which the check program found no error; `None` without such a program.
    #[must_use]
    pub fn consistent_count(&self) -> Option<usize> {
        let mut all = self.trials.iter().filter_map(|it| it.fsck.as_ref());
        let count = all.clone().filter(|fsck| fsck.is_ok()).count();
        all.next().map(|_| count)
    }

    /// The first trial in which the check program found errors, and its output.
    #[must_use]
    pub fn first_inconsistent(&self) -> Option<(&'a Trial, &'a str)> {
        self.trials
            .iter()
            .find_map(|it| Some((*it, it.fsck.as_ref()?.as_ref().err()?.as_str())))
    }

    /// Kernel messages about the recovery, from the trial with most of them.
    #[must_use]
    pub fn longest_recovery_messages(&self) -> Vec<&'a str> {
        let all = self.mounted().map(|it| self.recovery_lines(it));
        all.max_by_key(Vec::len).unwrap_or_default()
    }

    fn recovery_lines(&self, mounted: &'a MountFindings) -> Vec<&'a str> {
        recovery_lines(self.kind, &mounted.kernel_messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(millis: u64, messages: &[&str]) -> MountFindings {
        MountFindings {
            elapsed: Duration::from_millis(millis),
            options: "rw".to_owned(),
            kernel_messages: messages.iter().map(|line| (*line).to_owned()).collect(),
            findings: Findings {
                promised_count: 10,
                intact_count: 10,
                ..Findings::default()
            },
            not_unmounted: None,
        }
    }

    fn trial(trial_index: u32, mounted: Result<MountFindings, String>) -> Trial {
        Trial {
            choice_index: 0,
            trial_index,
            done_count: 100,
            mounted,
            fsck: Some(Ok(())),
        }
    }

    fn outcome(trials: Vec<Trial>) -> TrialsOutcome {
        TrialsOutcome {
            trials,
            ..TrialsOutcome::default()
        }
    }

    #[test]
    fn a_broken_promise_outranks_a_failure_and_that_an_interruption() {
        let intact = || trial(0, Ok(mounted(1, &[])));
        let mut outcome = outcome(vec![intact()]);
        assert_eq!(outcome.verdict(false), LabVerdict::Complete);
        assert_eq!(outcome.verdict(true), LabVerdict::Interrupted);
        outcome
            .failures
            .push(LabFailure::NotRemoved("an image".to_owned()));
        assert_eq!(outcome.verdict(true), LabVerdict::System);
        let mut lost = mounted(1, &[]);
        lost.findings.intact_count = 9;
        outcome.trials.push(trial(1, Ok(lost)));
        assert_eq!(outcome.verdict(true), LabVerdict::Failed);
    }

    #[test]
    fn a_file_system_that_does_not_mount_again_is_broken() {
        assert!(trial(0, Err("bad superblock".to_owned())).is_broken());
    }

    #[test]
    fn trials_of_a_file_system_are_added_up() {
        let salvaged = [
            "NILFS (ubda): salvaged 3 blocks",
            "NILFS (ubda): salvaged 1",
        ];
        let mut inconsistent = trial(2, Ok(mounted(40, &salvaged[..1])));
        inconsistent.fsck = Some(Err("free blocks are wrong".to_owned()));
        let mut outcome = outcome(vec![
            trial(0, Ok(mounted(20, &salvaged))),
            trial(1, Err("bad superblock".to_owned())),
            inconsistent,
        ]);
        let other = Trial {
            choice_index: 1,
            ..trial(0, Ok(mounted(1000, &[])))
        };
        outcome.trials.push(other);
        let one = outcome.of_choice(0, "nilfs2");
        assert_eq!((one.trials.len(), one.done_count()), (3, 300));
        assert_eq!(one.findings().map(|it| it.promised_count), Some(20));
        assert_eq!(one.mount_time_mean(), Some(Duration::from_millis(30)));
        assert_eq!((one.recovered_count(), one.unmounted_count()), (2, 2));
        assert_eq!(one.longest_recovery_messages(), salvaged);
        assert_eq!(one.consistent_count(), Some(2));
        let first = one.first_inconsistent();
        let first = first.map(|(trial, kernel_messages)| (trial.trial_index, kernel_messages));
        assert_eq!(first, Some((2, "free blocks are wrong")));
    }

    #[test]
    fn without_trials_there_are_no_findings() {
        let outcome = outcome(Vec::new());
        let none = outcome.of_choice(0, "ext4");
        assert_eq!((none.findings(), none.mount_time_mean()), (None, None));
        assert_eq!(none.consistent_count(), None);
    }
}
