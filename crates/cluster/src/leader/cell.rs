//! Measures a cell on all processes, stage by stage.

use std::time::Instant;

use engine::clock::Clock;
use plan::{Cell, Work};
use results::{
    CellRecord, ClockOffset, RankCell, RunEvent, Status, Warning, WarningCode, doubt_cluster,
    merged,
};
use run::ClusterWatch;

use super::cell_progress::{CellProgress, note_warning};
use super::{Leader, OnLost, POLL_INTERVAL, PeerEvent};
use crate::ClusterError;
use crate::message::{FailureMessage, LeaderMessage, MemberMessage, encode};
use crate::worker::is_stopped;

/// Minimum and maximum time between the agreement and the start, in nanoseconds. Between these
/// limits, it is 1 % of the planned time.
const LEAD_MIN_NS: u64 = 1_000_000;
const LEAD_MAX_NS: u64 = 50_000_000;
/// Minimum in round trips, which applies on slow connections.
const LEAD_TRIPS: u64 = 20;
/// The same for stages that end with their work. They may be short and numerous, and waiting would
/// take longer than the stages themselves.
const WORK_LEAD_TRIPS: u64 = 3;

impl Leader {
    /// Lets all processes measure a cell, and merges their records.
    pub(super) fn measure_cell(
        &mut self,
        cell: &Cell,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<Vec<CellRecord>, ClusterError> {
        // A loss between two cells fails here, because no cell was there to report it.
        if let (OnLost::Fail, Some(rank)) = (self.options.on_lost, self.absent().first().copied()) {
            let why = self.peers[rank as usize].lost.clone().unwrap_or_default();
            return Err(self.lost_error(rank, &format!("was lost between two cells: it {why}")));
        }
        let bytes = encode(&self.order(cell));
        let mut progress = CellProgress::new(cell, self.ranks_in_cell(cell));
        progress.lead_ns = (cell.run_time_ns / 100).clamp(LEAD_MIN_NS, LEAD_MAX_NS);
        progress.lead_round_trips = match cell.run_time_ns {
            0 => WORK_LEAD_TRIPS,
            _ => LEAD_TRIPS,
        };
        for rank in progress.working.clone() {
            self.send_bytes(rank, bytes.clone());
        }
        while !progress.is_over() {
            self.advance(&mut progress, watch)?;
        }
        let ranks: Vec<u32> = progress.done.keys().copied().collect();
        let after = self.clocks_after(&ranks);
        for (warning, ranks) in std::mem::take(&mut progress.warnings) {
            let attributed = self.with_senders(warning, &ranks, progress.rank_count);
            watch.warnings.push(attributed);
        }
        watch.warnings.extend(self.lost_warnings(&progress));
        let written = std::mem::take(&mut progress.preconditions);
        watch.preconditions.extend(written.into_values());
        if let Some((rank, failed)) = progress.failed.take() {
            return Err(ClusterError::failed(self.process_name(rank), failed));
        }
        if progress.done.is_empty() {
            return Err(ClusterError::LostDuringRun {
                who: "every process that works in the cell".to_owned(),
                why: "was lost".to_owned(),
            });
        }
        progress.stage_starts.end(&after);
        let records = self.merged_records(&progress, cell);
        // Processes with different work are not slow if they finish later.
        let is_alike = cell.has_equal_shares();
        let doubts = records.iter().flat_map(doubt_cluster);
        let doubts = doubts.filter(|it| is_alike || it.code != WarningCode::RankImbalance);
        watch.warnings.extend(doubts);
        Ok(records)
    }

    /// Processes that are present and have workers in the cell, or all if the cell has no workers.
    fn ranks_in_cell(&self, cell: &Cell) -> Vec<u32> {
        let ranks = cell.ranks();
        let mut present = self.present();
        present.retain(|rank| ranks.is_empty() || ranks.contains(rank));
        present
    }

    /// The order for a cell. It refers to the plan for the workers, which may be many, and for
    /// their work on files.
    fn order(&self, cell: &Cell) -> LeaderMessage {
        let plan = self.plan.as_ref();
        // The workers alone are not enough: cells with the same workers may differ in their work.
        let is_like = |it: &Cell| it.workers == cell.workers && it.work == cell.work;
        let like_index = plan.and_then(|plan| plan.cells.iter().position(is_like));
        let mut sent = cell.clone();
        if like_index.is_some() {
            sent.workers.clear();
            sent.work = Work::Access;
        }
        LeaderMessage::Cell {
            cell: Box::new(sent),
            // No plan has this index, so the receiver uses the cell as it is.
            like: like_index.unwrap_or(usize::MAX),
        }
    }

    /// Handles the next message, and starts a stage when all processes are ready for it.
    fn advance(
        &mut self,
        progress: &mut CellProgress,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), ClusterError> {
        if watch.is_cut() && !progress.is_cut_short {
            progress.is_cut_short = true;
            let is_all = is_stopped(watch.stop);
            self.broadcast(if is_all {
                &LeaderMessage::Stop
            } else {
                &LeaderMessage::Skip
            });
        }
        if let Some((rank, event)) = self.receive(POLL_INTERVAL) {
            self.take(progress, (rank, event), watch)?;
        }
        if progress.has_levels() && !progress.is_cut_short {
            let levels = std::mem::take(&mut progress.max_rounds);
            let rounds = levels.into_values().max().unwrap_or(0);
            self.broadcast(&LeaderMessage::Level { rounds });
        }
        while let Some(meeting) = progress.take_meeting() {
            self.broadcast(&LeaderMessage::Met { meeting });
        }
        while let Some(per_second) = progress.take_round() {
            self.broadcast(&LeaderMessage::Round { per_second });
        }
        if progress.has_news() && !progress.is_cut_short {
            self.forward_file_news(progress);
        }
        if progress.is_ready() && !progress.is_cut_short {
            return self.start(progress, watch);
        }
        if let (Some(rank), false) = (progress.waiting(), progress.done.is_empty())
            && progress.failed.is_none()
            && !progress.is_cut_short
        {
            // Processes that are done will not be ready for another stage.
            let failed = FailureMessage {
                message: "it has another stage to measure, but the others have none".to_owned(),
                help: None,
            };
            progress.failed = Some((rank, failed));
            self.stop(progress);
        }
        Ok(())
    }

    fn take(
        &mut self,
        progress: &mut CellProgress,
        (rank, event): (u32, PeerEvent),
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), ClusterError> {
        let report = match event {
            PeerEvent::Lost(why) => return self.handle_lost_process(progress, rank, &why),
            // Reports of processes that are done do not matter.
            PeerEvent::Report(_) if !progress.working.contains(&rank) => return Ok(()),
            PeerEvent::Report(report) => report,
        };
        if !progress.is_relevant(&report) {
            let why = "sent an unexpected report";
            self.mark_lost(rank, why.to_owned());
            return self.handle_lost_process(progress, rank, why);
        }
        match report {
            MemberMessage::Level { rounds } => {
                progress.max_rounds.insert(rank, rounds);
            }
            MemberMessage::Meet { meeting } => progress.meetings.arrive(rank, meeting),
            MemberMessage::LeaveMeeting { meeting } => progress.meetings.leave(rank, meeting),
            MemberMessage::Round { per_second } => progress.note_round(rank, per_second),
            MemberMessage::News { news } => {
                progress.news.insert(rank, news);
            }
            MemberMessage::Armed => {
                progress.ready.insert(rank);
            }
            MemberMessage::Preconditioned { targets } => progress.note_preconditioned(targets),
            MemberMessage::Begun { phase, at_ns } => progress.stage_starts.note(rank, phase, at_ns),
            MemberMessage::Measured {
                records, failure, ..
            } => {
                let is_wanted = progress.is_cut_short || watch.is_cut();
                if !is_wanted && failure.is_none() && records.iter().any(is_cut_short) {
                    // The leader did not request this, so a user or the host ended the process.
                    let why = "was ended there before it was done";
                    self.mark_lost(rank, why.to_owned());
                    return self.handle_lost_process(progress, rank, why);
                }
                progress.note_done(rank, records, failure);
                if progress.failed.is_some() {
                    self.stop(progress);
                }
            }
            MemberMessage::Event { event } => match *event {
                RunEvent::Warning { warning } => {
                    note_warning(&mut progress.warnings, rank, warning);
                }
                event => {
                    let events = progress.live.take(rank, event, &progress.working);
                    events.iter().for_each(|it| (watch.listener)(it));
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// Continues without a lost process, or ends the run.
    fn handle_lost_process(
        &mut self,
        progress: &mut CellProgress,
        rank: u32,
        why: &str,
    ) -> Result<(), ClusterError> {
        if progress.done.contains_key(&rank) {
            // Its results are complete; it is missing only from the next cell on.
            return Ok(());
        }
        progress.note_lost(rank, self.clock.now_ns());
        // If the run is ending anyway, the other processes' results are kept.
        if self.options.on_lost == OnLost::Continue || progress.is_cut_short {
            return Ok(());
        }
        self.stop(progress);
        self.wait_for_the_rest(progress);
        Err(self.lost_error(rank, &format!("was lost while it measured: it {why}")))
    }

    /// Agrees on the start of the next stage: the same moment, given to each process in its own
    /// clock.
    fn start(
        &mut self,
        progress: &mut CellProgress,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), ClusterError> {
        let ranks: Vec<u32> = progress.working.iter().copied().collect();
        let mut kept = Vec::new();
        let clocks = self.clocks_before(&ranks, &mut kept);
        for rank in ranks {
            if !clocks.contains_key(&rank) && self.peers[rank as usize].lost.is_none() {
                // The process would wait for a start time, and all others for the process.
                let lost = self.mark_lost(rank, "did not report its time".to_owned());
                kept.push((rank, lost));
            }
        }
        let trips_ns = clocks.values().map(|it| it.round_trip_ns);
        let longest_ns = trips_ns.max().unwrap_or(0);
        // An agreed time is a more precise start than a barrier. Over TCP on two cores, processes
        // left an MPI barrier up to 12 ms apart.
        let start_ns =
            self.clock.now_ns() + progress.lead_ns.max(progress.lead_round_trips * longest_ns);
        for (rank, reading) in &clocks {
            let at_ns = start_ns.cast_signed().wrapping_add(reading.offset_ns);
            let at_ns = at_ns.cast_unsigned();
            self.send(*rank, &LeaderMessage::Start { at_ns });
        }
        progress.stage_starts.begin(start_ns, clocks);
        progress.ready.clear();
        progress.live.begin_stage();
        kept.into_iter()
            .try_for_each(|it| self.take(progress, it, watch))
    }

    /// Sends each process the file news of all others.
    fn forward_file_news(&mut self, progress: &mut CellProgress) {
        let all = std::mem::take(&mut progress.news);
        for rank in all.keys() {
            let others = all.iter().filter(|(other, _)| *other != rank);
            let news = others.flat_map(|(_, news)| news.clone()).collect();
            self.send(*rank, &LeaderMessage::News { news });
        }
    }

    fn stop(&mut self, progress: &mut CellProgress) {
        if !progress.is_cut_short {
            progress.is_cut_short = true;
            self.broadcast(&LeaderMessage::Stop);
        }
    }

    /// Lets the other processes end their work, for at most
    /// [`SILENCE_TIMEOUT`](super::SILENCE_TIMEOUT).
    fn wait_for_the_rest(&mut self, progress: &mut CellProgress) {
        let end = Instant::now() + super::SILENCE_TIMEOUT;
        while !progress.is_over() && Instant::now() < end {
            match self.receive(POLL_INTERVAL) {
                Some((rank, PeerEvent::Report(MemberMessage::Measured { records, .. }))) => {
                    progress.note_done(rank, records, None);
                }
                Some((rank, PeerEvent::Lost(_))) => progress.note_lost(rank, self.clock.now_ns()),
                _ => {}
            }
        }
    }

    /// Merges the records of all processes into one per phase.
    fn merged_records(&self, progress: &CellProgress, cell: &Cell) -> Vec<CellRecord> {
        // A process that was stopped early has fewer phases. Only phases of all processes are
        // merged.
        let count = progress.done.values().map(Vec::len).min().unwrap_or(0);
        let ranks = cell.ranks();
        let mut records = Vec::with_capacity(count);
        for index in 0..count {
            let first = progress.done.values().next();
            let phase = first.map_or("", |own| own[index].phase.name());
            let beginning = progress.stage_starts.of(phase);
            let start_ns = beginning.map_or(0, |it| it.start_ns) + cell.ramp_time_ns;
            let parts: Vec<RankCell> = progress
                .done
                .iter()
                .map(|(rank, own)| RankCell {
                    rank: *rank,
                    host: self.peers[*rank as usize].host.clone(),
                    record: own[index].clone(),
                    begin_ns: beginning.map_or(0, |it| it.begin_ns(*rank)),
                    clock: beginning.map_or_else(ClockOffset::default, |it| it.clock(*rank)),
                })
                .collect();
            let Some(mut record) = merged(&parts) else {
                continue;
            };
            let lost = progress.lost_ns.iter();
            let lost = lost.map(|(rank, at_ns)| (*rank, at_ns.saturating_sub(start_ns)));
            let is_done = |rank: &u32| progress.done.contains_key(rank);
            let is_lost = |rank: &u32| progress.lost_ns.contains_key(rank);
            // Processes that were lost in an earlier cell are missing from this cell's start on.
            let before = self.absent().into_iter();
            let before = before.filter(|rank| ranks.is_empty() || ranks.contains(rank));
            let before = before.filter(|rank| !is_done(rank) && !is_lost(rank));
            let lost = lost.chain(before.map(|rank| (rank, 0)));
            let named =
                lost.map(|(rank, at_ns)| (rank, self.peers[rank as usize].host.clone(), at_ns));
            record.set_lost(named);
            records.push(record);
        }
        records
    }

    /// Adds to a warning the processes that sent it, unless all of them did.
    pub(super) fn with_senders(&self, warning: Warning, ranks: &[u32], count: usize) -> Warning {
        let senders = match ranks {
            _ if ranks.len() == count => return warning,
            [rank] => self.process_name(*rank),
            ranks => format!("{} of {count} processes", ranks.len()),
        };
        Warning {
            message: format!("{senders}: {}", warning.message),
            ..warning
        }
    }

    fn lost_warnings(&self, progress: &CellProgress) -> Vec<Warning> {
        let lost = progress.lost_ns.keys().map(|rank| {
            let why = self.peers[*rank as usize]
                .lost
                .as_deref()
                .unwrap_or("went away");
            let message = format!(
                "{} was lost and its work is missing from the results: it {why}",
                self.process_name(*rank)
            );
            Warning::of_cell(WarningCode::RankLost, progress.cell, message)
        });
        lost.collect()
    }
}

fn is_cut_short(record: &CellRecord) -> bool {
    record.status == Status::Interrupted
}
