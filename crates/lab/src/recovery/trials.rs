//! Runs recovery trials: write, kill, mount again and check, one after another.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::crash::{CrashPoint, trial_seed};
use super::part::{MountFindings, RecoveryGuestTask, fsck, parse_done_step};
use super::trial::{Trial, TrialsOutcome};
use crate::bench::Lab;
use crate::built_as::FileSystemSetup;
use crate::choice::FileSystemChoice;
use crate::error::LabError;
use crate::medium::LabMedium;
use crate::outcome::{LabFailure, LabNote};
use crate::schedule::{JobOrder, LabMeasurement, schedule};
use crate::task::{GuestTask, probe_in};
use crate::vm::{Guest, GuestOutput, Host, Image, ListenAction, answer_of, listen};
use crate::watch::{LabEvent, LabStep, LabWatcher};

/// Maximum time without a completed step; after that, the writer hangs.
const HANG_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum time until all processes of a killed guest are gone.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Recovery trials of file systems.
#[derive(Debug)]
pub struct RecoveryTrials {
    /// The file systems.
    pub choices: Vec<FileSystemChoice>,
    /// Storage for the file systems.
    pub medium: LabMedium,
    /// Host of the guests.
    pub host: Host,
    /// Number of trials per file system.
    pub trial_count: u32,
    /// Seed of the writes and crash times.
    pub seed: u64,
    /// `true` if writers really sync; `false` for a control.
    pub really_syncs: bool,
}

impl RecoveryTrials {
    /// Runs all trials alternately over the file systems, in a lab in `directory`, until it is
    /// stopped. A file system that fails is skipped from then on.
    ///
    /// # Errors
    /// If no lab can be started, or no guests run.
    pub fn run<W: LabWatcher>(
        &self,
        directory: &Path,
        watcher: &W,
        stop: &AtomicBool,
    ) -> Result<TrialsOutcome, LabError> {
        let mut lab = Lab::begin(directory)?;
        probe_in(&mut lab, &self.host, stop)?;
        let run = TrialsRun {
            trials: self,
            watcher,
            stop,
        };
        Ok(run.all(lab))
    }
}

/// Trials in progress.
struct TrialsRun<'a, W> {
    trials: &'a RecoveryTrials,
    watcher: &'a W,
    stop: &'a AtomicBool,
}

impl<W: LabWatcher> TrialsRun<'_, W> {
    fn all(&self, mut lab: Lab) -> TrialsOutcome {
        let count = self.trials.choices.len();
        let mut outcome = TrialsOutcome {
            setups: vec![None; count],
            ..TrialsOutcome::default()
        };
        let jobs = schedule(count, 1, self.trials.trial_count, JobOrder::Turns, 0);
        self.watcher.on_event(LabEvent::Jobs(&jobs));
        for (index, job) in jobs.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            if outcome.failures.iter().any(|it| it.is_of(job.choice_index)) {
                continue;
            }
            self.watcher.on_event(LabEvent::Begin(index));
            match self.trial(&mut lab, job, &mut outcome) {
                Ok(trial) => {
                    self.watcher.on_event(LabEvent::RecoveryTested(&trial));
                    outcome.trials.push(trial);
                }
                Err(_) if self.is_stopped() => {}
                Err(error) => {
                    let alarm = LabFailure::FileSystem {
                        choice_index: job.choice_index,
                        reason: W::Error::from(error).to_string(),
                    };
                    self.watcher.on_event(LabEvent::Failure(&alarm));
                    outcome.failures.push(alarm);
                }
            }
        }
        if let Err(error) = lab.end() {
            let alarm = LabFailure::NotRemoved(W::Error::from(error).to_string());
            outcome.failures.push(alarm);
        }
        self.watcher.on_event(LabEvent::End);
        outcome
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn step(&self, step: LabStep) {
        self.watcher.on_event(LabEvent::Step(step));
    }

    fn trial(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        outcome: &mut TrialsOutcome,
    ) -> Result<Trial, LabError> {
        let RecoveryTrials {
            choices,
            medium,
            host,
            ..
        } = self.trials;
        self.step(LabStep::MakeFileSystem);
        let image = lab.build_image(&choices[job.choice_index], medium, &host.kernel)?;
        outcome.setups[job.choice_index].get_or_insert_with(|| FileSystemSetup::of_image(&image));
        for note in &image.notes {
            LabNote::of_file_system(job.choice_index, note).push_unique(&mut outcome.notes);
        }
        let trial = self.on_image(lab, job, &image);
        // The image is removed even if the trial failed.
        let removed = lab.remove_image();
        let trial = trial?;
        removed?;
        Ok(trial)
    }

    fn on_image(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        image: &Image,
    ) -> Result<Trial, LabError> {
        let RecoveryTrials { host, choices, .. } = self.trials;
        // The file system is not part of the seed: all of them get the same steps and crash times.
        let seed = trial_seed(self.trials.seed, job.repetition);
        let part = RecoveryGuestTask::Write {
            seed,
            is_honest: self.trials.really_syncs,
        };
        self.step(LabStep::WriteUntilKilled);
        let mut writer = lab.boot(image, GuestTask::Recover(part), host)?;
        let done_count = self.write_and_kill(&mut writer, seed, lab)?;
        // Its processes must be gone before another guest opens the image.
        drop(writer);
        let part = RecoveryGuestTask::Check { seed, done_count };
        self.step(LabStep::CheckSynced);
        let mut reader = lab.boot(image, GuestTask::Recover(part), host)?;
        listen(&mut reader, self.stop, Duration::MAX, |_| {
            ListenAction::Listen
        })?;
        let mounted: Result<MountFindings, String> = answer_of(&reader, &lab.answer())?;
        drop(reader);
        Ok(Trial {
            choice_index: job.choice_index,
            trial_index: job.repetition,
            done_count,
            mounted,
            fsck: fsck(lab, &choices[job.choice_index]),
        })
    }

    /// Lets the writer work until the crash time; returns the number of completed steps.
    fn write_and_kill(&self, writer: &mut Guest, seed: u64, lab: &Lab) -> Result<u32, LabError> {
        let crash = CrashPoint::of(seed);
        let mut done_count = 0;
        let has_ended = listen(writer, self.stop, HANG_TIMEOUT, |line| {
            match parse_done_step(line) {
                Some(step) => done_count = step + 1,
                None => self.watcher.on_event(LabEvent::GuestLine(line)),
            }
            match done_count >= crash.done_count {
                true => ListenAction::Stop,
                false => ListenAction::Listen,
            }
        })?;
        // A writer only ends after an error, which its answer contains.
        if has_ended {
            return answer_of(writer, &lab.answer());
        }
        std::thread::sleep(crash.wait);
        writer.kill();
        // Its output from before the crash is still in the pipe, which the last of its processes
        // keeps open.
        loop {
            match writer.next_line(EXIT_TIMEOUT) {
                GuestOutput::Line(line) => {
                    done_count = parse_done_step(&line).map_or(done_count, |it| it + 1)
                }
                GuestOutput::None | GuestOutput::Heartbeat => {}
                GuestOutput::Ended => return Ok(done_count),
            }
        }
    }
}
