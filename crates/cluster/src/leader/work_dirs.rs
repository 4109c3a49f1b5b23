//! Work directories of the processes, and their removal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use plan::Plan;
use results::{RunEvent, Warning, WarningCode};
use run::ClusterWatch;

use super::cell_progress::note_warning;
use super::{CLEANUP_TIMEOUT, Leader, POLL_INTERVAL, PeerEvent};
use crate::ClusterError;
use crate::message::{LeaderMessage, MemberMessage};

impl Leader {
    /// Prepares all targets; each process works in its own directories.
    pub(super) fn prepare_all(
        &mut self,
        plan: &Plan,
        run: &str,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), ClusterError> {
        self.plan = Some(plan.clone());
        self.send_plan(plan, run, watch.stop)?;
        self.agree_on_places(plan, watch.stop)?;
        self.broadcast(&LeaderMessage::Prepare);
        let ranks = self.present();
        let mut progress = PreparationProgress::default();
        let listener = &mut *watch.listener;
        let is_wanted = |report: &MemberMessage| matches!(report, MemberMessage::Prepared { .. });
        let mut warnings = Vec::new();
        let mut on_event = |rank, event| {
            if let RunEvent::Warning { warning } = event {
                note_warning(&mut warnings, rank, warning);
            } else if let Some(event) = progress.add(rank, event) {
                listener(&event);
            }
        };
        let answers = self.collect_answers(&ranks, is_wanted, watch.stop, &mut on_event)?;
        for (warning, of_ranks) in warnings {
            let attributed = self.with_senders(warning, &of_ranks, ranks.len());
            watch.warnings.push(attributed);
        }
        for (rank, report) in answers {
            if let MemberMessage::Prepared { environment } = report {
                self.peers[rank as usize].environment = *environment;
            }
        }
        Ok(())
    }

    /// Decides where each process works. A process that sees the directory of another process works
    /// there. On hosts that do not see it, the first process creates one.
    fn agree_on_places(&mut self, plan: &Plan, stop: &AtomicBool) -> Result<(), ClusterError> {
        let used = plan.targets_by_rank(self.ranks());
        let needs = |rank: u32, places: &[Option<String>]| {
            let mut targets = (0..).zip(plan.targets.iter().zip(places));
            targets.any(|(index, (target, place))| {
                used[rank as usize].contains(&index) && target.kind.is_path() && place.is_none()
            })
        };
        let ranks = self.present();
        let is_wanted = |report: &MemberMessage| matches!(report, MemberMessage::Grounded { .. });
        let mut known: Vec<Option<String>> = vec![None; plan.targets.len()];
        let mut all = vec![known.clone(); self.peers.len()];
        self.creators.clear();
        for maker in ranks.clone() {
            if !needs(maker, &all[maker as usize]) {
                continue;
            }
            let request = |_| LeaderMessage::Ground {
                places: known.clone(),
                makes: true,
            };
            // A process that is lost before it answers may have created directories all the same.
            self.creators.push(maker);
            for (_, report) in self.request(&[maker], request, is_wanted, stop)? {
                if let MemberMessage::Grounded { places } = report {
                    // For targets that it does not use, the places of others stay valid.
                    let pairs = places.into_iter().zip(&known);
                    known = pairs.map(|(own, known)| own.or(known.clone())).collect();
                }
            }
            let is_unplaced = |rank: &u32| needs(*rank, &all[*rank as usize]);
            let unplaced: Vec<u32> = ranks.iter().copied().filter(is_unplaced).collect();
            let look = |_| LeaderMessage::Ground {
                places: known.clone(),
                makes: false,
            };
            for (rank, report) in self.request(&unplaced, look, is_wanted, stop)? {
                if let MemberMessage::Grounded { places } = report {
                    all[rank as usize] = places;
                }
            }
        }
        Ok(())
    }

    /// Makes all processes remove their files: first each one's own, then the shared directories.
    pub(super) fn clean_all(&mut self, watch: &mut ClusterWatch<'_>) {
        let ranks = self.present();
        self.broadcast(&LeaderMessage::Clean);
        let late = self.wait_until_cleaned(ranks, watch);
        self.broadcast(&LeaderMessage::Vacate);
        let present = self.present().into_iter();
        // A process that was late once would use up the whole time limit again.
        let ranks = present.filter(|rank| !late.contains(rank)).collect();
        let late = &late | &self.wait_until_cleaned(ranks, watch);
        for rank in late {
            let process = self.process_name(rank);
            let message = format!("{process} did not report that it removed its files");
            watch
                .warnings
                .push(Warning::of_run(WarningCode::LeftoverFiles, message));
        }
        self.warn_of_leftover_directories(watch);
    }

    /// Waits until these processes have removed their files; returns those that are late.
    fn wait_until_cleaned(
        &mut self,
        ranks: Vec<u32>,
        watch: &mut ClusterWatch<'_>,
    ) -> BTreeSet<u32> {
        let mut awaited: BTreeSet<u32> = ranks.into_iter().collect();
        let mut end = Instant::now() + CLEANUP_TIMEOUT;
        while !awaited.is_empty() && Instant::now() < end {
            match self.receive(POLL_INTERVAL) {
                Some((rank, PeerEvent::Report(MemberMessage::Cleaned { left }))) => {
                    awaited.remove(&rank);
                    for left in left {
                        let message = format!("{}: {left}", self.process_name(rank));
                        let warning = Warning::of_run(WarningCode::LeftoverFiles, message);
                        watch.warnings.push(warning);
                    }
                }
                Some((rank, PeerEvent::Lost(_))) => {
                    awaited.remove(&rank);
                }
                Some((rank, PeerEvent::Report(MemberMessage::Event { event }))) => {
                    if let RunEvent::Cleanup { .. } = *event {
                        // The removal of many files takes time, so each sign of progress extends
                        // the limit.
                        end = Instant::now() + CLEANUP_TIMEOUT;
                    }
                    self.pass(rank, *event, watch);
                }
                _ => {}
            }
        }
        awaited
    }

    /// Warns of directories left on a host because the process that created them is lost.
    fn warn_of_leftover_directories(&self, watch: &mut ClusterWatch<'_>) {
        let lost = self.creators.iter().copied();
        let lost = lost.filter(|rank| self.peers[*rank as usize].lost.is_some());
        let targets = self.plan.iter().flat_map(|plan| &plan.targets);
        let targets: Vec<String> = targets
            .filter(|target| target.kind.is_path())
            .map(|target| target.path.display().to_string())
            .collect();
        for rank in lost {
            let message = format!(
                "{} was lost and may have left files there; `pgmeter clean {}` removes them",
                self.process_name(rank),
                targets.join(" ")
            );
            watch
                .warnings
                .push(Warning::of_run(WarningCode::LeftoverFiles, message));
        }
    }

    /// Passes on events for the record or the display.
    fn pass(&self, rank: u32, event: RunEvent, watch: &mut ClusterWatch<'_>) {
        match event {
            RunEvent::Warning { warning } => {
                let message = format!("{}: {}", self.process_name(rank), warning.message);
                watch.warnings.push(Warning { message, ..warning });
            }
            event => (watch.listener)(&event),
        }
    }
}

/// Progress of preparing the targets of all processes.
#[derive(Default)]
struct PreparationProgress {
    bytes: BTreeMap<(u32, String), (u64, u64)>,
}

impl PreparationProgress {
    fn add(&mut self, rank: u32, event: RunEvent) -> Option<RunEvent> {
        let RunEvent::Prepare {
            target,
            done_bytes,
            total_bytes,
        } = event
        else {
            return None;
        };
        self.bytes.insert((rank, target), (done_bytes, total_bytes));
        let sums = self.bytes.values();
        let (done_bytes, total_bytes) = sums.fold((0_u64, 0_u64), |sum, it| {
            (sum.0.saturating_add(it.0), sum.1.saturating_add(it.1))
        });
        Some(RunEvent::Prepare {
            target: "all processes".to_owned(),
            done_bytes,
            total_bytes,
        })
    }
}
