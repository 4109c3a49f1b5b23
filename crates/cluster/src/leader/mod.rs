//! The leader: sends orders, waits for the answers, and merges the results of the processes.

mod cell;
mod cell_progress;
mod clocks;
mod facts;
mod live;
mod meetings;
mod start_times;
mod work_dirs;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::TscClock;
use plan::{Cell, Plan};
use results::{
    CellRecord, ClusterRecord, Environment, HostRecord, RunEvent, Warning, WarningCode,
    host_difference_warning,
};
use run::{Cluster, ClusterWatch, RunError};

use crate::ClusterError;
use crate::leader_links::{LeaderLinks, LinkEvent};
use crate::message::{
    FailureMessage, KEEPALIVE, LeaderMessage, MemberMessage, MemberOptions, PROTOCOL, decode,
    encode,
};
use crate::worker::{hash, is_stopped};

/// A process that sends nothing for this time is lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for the first answer, which includes the login.
const GREETING_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for the removal of files.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum wait for a message before other conditions are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval of the leader's signs of life, and interval at which they are checked.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
const KEEPALIVE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Reaction to the loss of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLost {
    /// The run fails.
    #[default]
    Fail,
    /// The other processes continue. The results of the lost process are missing, with a warning.
    Continue,
}

/// Settings of the processes in addition to the plan.
#[derive(Debug, Clone, Default)]
pub struct LeaderOptions {
    /// How messages are carried: `mpi` with the library, or `ssh` with the command.
    pub carrier: String,
    /// Reaction to the loss of a process.
    pub on_lost: OnLost,
    /// Devices whose content may be destroyed.
    pub overwrite_devices: Vec<std::path::PathBuf>,
    /// `true` if missing targets may be created.
    pub create: bool,
    /// Path on each host of the file with the sinks' token.
    pub sink_token_file: Option<std::path::PathBuf>,
}

/// A process from the leader's point of view.
#[derive(Debug, Clone, Default)]
struct MemberProcess {
    host: String,
    environment: Environment,
    /// Reason why the process is lost; `None` while it is present.
    lost: Option<String>,
    last_received: Option<Instant>,
    /// Time of the last message to the process.
    last_sent: Option<Instant>,
}

/// Leads the processes of a run.
pub struct Leader {
    links: LeaderLinks,
    peers: Vec<MemberProcess>,
    options: LeaderOptions,
    clock: TscClock,
    clocks: clocks::Clocks,
    plan: Option<Plan>,
    /// Processes that created directories for others.
    creators: Vec<u32>,
    /// Time at which messages were last received.
    last_received: Instant,
    /// Time of the last check for processes that need a sign of life.
    last_keepalive_check: Instant,
}

impl Leader {
    /// Greets all processes.
    ///
    /// # Errors
    /// A process does not answer, or is another version.
    pub fn greet(
        hub: LeaderLinks,
        options: LeaderOptions,
        stop: &AtomicBool,
    ) -> Result<Self, ClusterError> {
        let count = hub.count();
        let mut leader = Self {
            links: hub,
            peers: vec![MemberProcess::default(); count as usize],
            options,
            clock: TscClock::new(),
            clocks: clocks::Clocks::default(),
            plan: None,
            creators: Vec::new(),
            last_received: Instant::now(),
            last_keepalive_check: Instant::now(),
        };
        for rank in 0..count {
            leader.send(
                rank,
                &LeaderMessage::Hello {
                    protocol: PROTOCOL,
                    rank,
                },
            );
        }
        let mut awaited: BTreeSet<u32> = (0..count).collect();
        let end = Instant::now() + GREETING_TIMEOUT;
        while let Some(first) = awaited.first().copied() {
            if is_stopped(stop) {
                return Err(ClusterError::Stopped);
            }
            if Instant::now() > end {
                return Err(leader.lost_error(first, "did not answer within a minute"));
            }
            match leader.receive(POLL_INTERVAL) {
                Some((
                    rank,
                    PeerEvent::Report(MemberMessage::Hello {
                        protocol,
                        version,
                        host,
                        environment,
                        ..
                    }),
                )) => {
                    let own = env!("CARGO_PKG_VERSION");
                    if protocol[0] != PROTOCOL[0] || version != own {
                        return Err(ClusterError::Version {
                            who: leader.process_name(rank),
                            seen: version,
                            wanted: own.to_owned(),
                        });
                    }
                    let peer = &mut leader.peers[rank as usize];
                    (peer.host, peer.environment) = (host, *environment);
                    awaited.remove(&rank);
                }
                Some((rank, PeerEvent::Lost(why))) => return Err(leader.lost_error(rank, &why)),
                _ => {}
            }
        }
        Ok(leader)
    }

    /// Number of processes.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.links.count()
    }

    /// `true` if no process was lost.
    #[must_use]
    pub fn has_all(&self) -> bool {
        self.absent().is_empty()
    }

    /// Tells all processes that no orders follow.
    pub fn dismiss(&mut self) {
        self.broadcast(&LeaderMessage::Bye);
    }

    /// Processes that are present.
    fn present(&self) -> Vec<u32> {
        let ranks = (0..).zip(&self.peers);
        let present = ranks.filter(|(_, peer)| peer.lost.is_none());
        present.map(|(rank, _)| rank).collect()
    }

    /// Processes that are lost.
    fn absent(&self) -> Vec<u32> {
        let ranks = (0..).zip(&self.peers);
        let absent = ranks.filter(|(_, peer)| peer.lost.is_some());
        absent.map(|(rank, _)| rank).collect()
    }

    fn process_name(&self, rank: u32) -> String {
        match self.peers.get(rank as usize).map(|peer| peer.host.as_str()) {
            Some("") | None => format!("rank {rank}"),
            Some(host) => format!("rank {rank} on {host}"),
        }
    }

    fn lost_error(&self, rank: u32, why: &str) -> ClusterError {
        let (who, why) = (self.process_name(rank), why.to_owned());
        match self.plan {
            None => ClusterError::Lost { who, why },
            Some(_) => ClusterError::LostDuringRun { who, why },
        }
    }

    fn send(&mut self, rank: u32, order: &LeaderMessage) {
        self.send_bytes(rank, encode(order));
    }

    fn send_bytes(&mut self, rank: u32, bytes: Vec<u8>) {
        self.links.send(rank, bytes);
        if let Some(peer) = self.peers.get_mut(rank as usize) {
            peer.last_sent = Some(Instant::now());
        }
    }

    /// Sends the same order to all processes that are present, encoded once.
    fn broadcast(&mut self, order: &LeaderMessage) {
        let bytes = encode(order);
        for rank in self.present() {
            self.send_bytes(rank, bytes.clone());
        }
    }

    /// Waits at most `wait` for a report. A process that has been silent for too long is lost.
    fn receive(&mut self, wait: Duration) -> Option<(u32, PeerEvent)> {
        self.discount_own_pause();
        self.send_keepalives();
        let event = match self.links.receive(Duration::ZERO) {
            Some(arrival) => self.take_arrival(arrival),
            // Silence counts only when no message is waiting in the queue.
            None => self.silent().or_else(|| {
                let arrival = self.links.receive(wait)?;
                self.take_arrival(arrival)
            }),
        };
        self.last_received = Instant::now();
        event
    }

    fn take_arrival(&mut self, (rank, arrival): (u32, LinkEvent)) -> Option<(u32, PeerEvent)> {
        let known = self.peers.get_mut(rank as usize);
        // Late messages of a lost process must not count.
        let peer = known.filter(|peer| peer.lost.is_none())?;
        peer.last_received = Some(Instant::now());
        let message = match arrival {
            LinkEvent::Closed(why) => Err(why),
            LinkEvent::Message(bytes) => decode::<MemberMessage>(&bytes),
        };
        match message {
            Ok(report) => Some((rank, PeerEvent::Report(report?.with_printable_texts()))),
            Err(why) => Some((rank, self.mark_lost(rank, why))),
        }
    }

    /// The time in which this process did not listen, for example while it was stopped, does not
    /// count as silence.
    fn discount_own_pause(&mut self) {
        let absence = self.last_received.elapsed();
        if absence > KEEPALIVE_INTERVAL {
            for last_received in self
                .peers
                .iter_mut()
                .filter_map(|it| it.last_received.as_mut())
            {
                *last_received += absence;
            }
        }
    }

    fn silent(&mut self) -> Option<(u32, PeerEvent)> {
        let is_silent = |peer: &MemberProcess| {
            // Before its first message, a process may still log in, which has its own limit.
            let is_overdue = peer
                .last_received
                .is_some_and(|it| it.elapsed() > SILENCE_TIMEOUT);
            peer.lost.is_none() && is_overdue
        };
        let rank = u32::try_from(self.peers.iter().position(is_silent)?).ok()?;
        let seconds = SILENCE_TIMEOUT.as_secs();
        Some((
            rank,
            self.mark_lost(rank, format!("has sent nothing for {seconds} s")),
        ))
    }

    /// Marks a process as lost, and tells it to end in case it still runs.
    fn mark_lost(&mut self, rank: u32, why: String) -> PeerEvent {
        for order in [LeaderMessage::Stop, LeaderMessage::Bye] {
            self.send(rank, &order);
        }
        self.peers[rank as usize].lost = Some(why.clone());
        PeerEvent::Lost(why)
    }

    /// Sends signs of life to processes that have received nothing for [`KEEPALIVE_INTERVAL`].
    fn send_keepalives(&mut self) {
        if self.last_keepalive_check.elapsed() < KEEPALIVE_CHECK_INTERVAL {
            return;
        }
        self.last_keepalive_check = Instant::now();
        for rank in self.present() {
            let last_sent = self.peers[rank as usize].last_sent;
            // A process that hears nothing from the leader ends itself.
            if last_sent.is_none_or(|it| it.elapsed() > KEEPALIVE_INTERVAL) {
                self.send_bytes(rank, KEEPALIVE.to_vec());
            }
        }
    }

    /// Sends an order to each of these processes and waits for all answers.
    fn request(
        &mut self,
        ranks: &[u32],
        order: impl Fn(u32) -> LeaderMessage,
        is_wanted: fn(&MemberMessage) -> bool,
        stop: &AtomicBool,
    ) -> Result<Vec<(u32, MemberMessage)>, ClusterError> {
        for rank in ranks {
            self.send(*rank, &order(*rank));
        }
        self.collect_answers(ranks, is_wanted, stop, &mut |_, _| {})
    }

    /// Waits for an answer from each process; passes their events to `on_event`.
    fn collect_answers(
        &mut self,
        ranks: &[u32],
        is_wanted: fn(&MemberMessage) -> bool,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(u32, RunEvent),
    ) -> Result<Vec<(u32, MemberMessage)>, ClusterError> {
        let mut awaited: BTreeSet<u32> = ranks.iter().copied().collect();
        let mut answers = Vec::with_capacity(ranks.len());
        while !awaited.is_empty() {
            if is_stopped(stop) {
                return Err(ClusterError::Stopped);
            }
            match self.receive(POLL_INTERVAL) {
                Some((rank, PeerEvent::Report(MemberMessage::Event { event }))) => {
                    on_event(rank, *event)
                }
                Some((rank, PeerEvent::Report(MemberMessage::Failed(failed)))) => {
                    return Err(ClusterError::failed(self.process_name(rank), failed));
                }
                Some((rank, PeerEvent::Report(report))) => {
                    if !is_wanted(&report) || !awaited.remove(&rank) {
                        let why = "sent an unexpected report";
                        self.mark_lost(rank, why.to_owned());
                        return Err(self.lost_error(rank, why));
                    }
                    answers.push((rank, report));
                }
                Some((rank, PeerEvent::Lost(why))) => return Err(self.lost_error(rank, &why)),
                None => {}
            }
        }
        // Sorted by rank, because results must not depend on which process answers first.
        answers.sort_by_key(|(rank, _)| *rank);
        Ok(answers)
    }

    /// Sends the plan to all processes, and checks that each has understood the same plan.
    fn send_plan(&mut self, plan: &Plan, run: &str, stop: &AtomicBool) -> Result<(), ClusterError> {
        let options = MemberOptions {
            run: run.to_owned(),
            overwrite_devices: self.options.overwrite_devices.clone(),
            create: self.options.create,
            // Only the path is sent: each host reads its own file, and the token stays there.
            sink_token_file: self.options.sink_token_file.clone(),
        };
        let order = LeaderMessage::Plan {
            plan: Box::new(plan.clone()),
            options,
        };
        self.broadcast(&order);
        let ranks = self.present();
        let own = hash(plan);
        let is_wanted = |report: &MemberMessage| matches!(report, MemberMessage::Planned { .. });
        for (rank, report) in self.collect_answers(&ranks, is_wanted, stop, &mut |_, _| {})? {
            // Another build of the same version may read the plan differently.
            let is_same = matches!(&report, MemberMessage::Planned { hash } if *hash == own);
            if !is_same {
                let failed = FailureMessage {
                    message: "it understood a different plan from the one sent".to_owned(),
                    help: Some("install the same build of pgmeter there".to_owned()),
                };
                return Err(ClusterError::failed(self.process_name(rank), failed));
            }
        }
        Ok(())
    }
}

/// News of a process.
enum PeerEvent {
    Report(MemberMessage),
    /// The process is lost, with the reason.
    Lost(String),
}

impl Cluster for Leader {
    fn record(&self) -> ClusterRecord {
        let mut hosts: Vec<HostRecord> = Vec::new();
        for (rank, peer) in (0..).zip(&self.peers) {
            match hosts.iter_mut().find(|host| host.name == peer.host) {
                Some(host) => host.ranks.push(rank),
                None => hosts.push(HostRecord {
                    name: peer.host.clone(),
                    ranks: vec![rank],
                    environment: peer.environment.clone(),
                }),
            }
        }
        ClusterRecord {
            carrier: self.options.carrier.clone(),
            ranks: self.ranks(),
            hosts,
        }
    }

    fn prepare(
        &mut self,
        plan: &Plan,
        run: &str,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<(), RunError> {
        let prepared = self.prepare_all(plan, run, watch);
        watch
            .warnings
            .extend(host_difference_warning(&self.record()));
        if let Err(error @ ClusterError::LostDuringRun { .. }) = &prepared {
            let warning = Warning::of_run(WarningCode::RankLost, error.to_string());
            watch.warnings.push(warning);
        }
        prepared.map_err(|error| of_cluster(&error))
    }

    fn measure(
        &mut self,
        cell: &Cell,
        watch: &mut ClusterWatch<'_>,
    ) -> Result<Vec<CellRecord>, RunError> {
        let measured = self.measure_cell(cell, watch);
        if let Err(error @ ClusterError::LostDuringRun { .. }) = &measured {
            let warning = Warning::of_cell(WarningCode::RankLost, cell.index, error.to_string());
            watch.warnings.push(warning);
        }
        measured.map_err(|error| of_cluster(&error))
    }

    fn finish(&mut self, watch: &mut ClusterWatch<'_>) {
        // A process that still works, for example after the failure of another one, can stop.
        self.broadcast(&LeaderMessage::Stop);
        self.clean_all(watch);
    }
}

fn of_cluster(error: &ClusterError) -> RunError {
    match error {
        ClusterError::Stopped => RunError::Stopped,
        error => RunError::Cluster {
            message: error.to_string(),
            help: error.help(),
        },
    }
}

#[cfg(test)]
mod tests;
