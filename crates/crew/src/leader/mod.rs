//! The process that leads: it asks, waits, and puts together what the others measured.

mod beginnings;
mod cell;
mod clocks;
mod course;
mod facts;
mod grounds;
mod live;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::TscClock;
use plan::{Cell, Plan};
use results::{
    CellRecord, CrewRecord, Environment, HostRecord, RunEvent, Warning, WarningCode, doubt_hosts,
};
use run::{Crew, CrewWatch, RunError};

use crate::CrewError;
use crate::hub::{Arrival, Hub};
use crate::message::{ALIVE, Failed, MemberOptions, Order, PROTOCOL, Report, decode, encode};
use crate::worker::{hash, is_stopped};

/// Whoever says nothing for so long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Others must have said who they are within this time: logging in takes its own.
const GREETING_MAX: Duration = Duration::from_secs(60);
/// And cleaned up within this.
const CLEANING_MAX: Duration = Duration::from_secs(15);
/// How long is waited for a message before anything else is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// How often the others hear that the leader is there, and how often that is looked at.
const SIGN: Duration = Duration::from_secs(1);
const SIGN_LOOK: Duration = Duration::from_millis(200);

/// What it means that a process is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLost {
    /// The run has failed.
    #[default]
    Fail,
    /// The others go on; what it would have measured is missing, which is told.
    Continue,
}

/// What the others are told besides the plan.
#[derive(Debug, Clone, Default)]
pub struct LeaderOptions {
    /// How they are spoken to: `mpi` with the library, `ssh` with the command.
    pub carrier: String,
    /// What it means that one is lost.
    pub on_lost: OnLost,
    /// Devices whose content may be destroyed.
    pub overwrite_devices: Vec<std::path::PathBuf>,
    /// Whether targets that are not there may be made.
    pub create: bool,
    /// Where each process finds the token of sinks.
    pub sink_token_file: Option<std::path::PathBuf>,
}

/// One of the others.
#[derive(Debug, Clone, Default)]
struct Peer {
    host: String,
    environment: Environment,
    /// Why it is not heard of any more.
    lost: Option<String>,
    heard: Option<Instant>,
    /// When something was last said to it.
    spoken: Option<Instant>,
}

/// The processes of a run, led from here.
pub struct Leader {
    hub: Hub,
    peers: Vec<Peer>,
    options: LeaderOptions,
    clock: TscClock,
    clocks: clocks::Clocks,
    plan: Option<Plan>,
    /// Who made directories for others.
    makers: Vec<u32>,
    /// When the others were last listened to.
    listened: Instant,
    /// When it was last looked at who wants to hear a sign.
    signed: Instant,
}

impl Leader {
    /// Asks who is there.
    ///
    /// # Errors
    /// When somebody does not answer, or with another version.
    pub fn greet(hub: Hub, options: LeaderOptions, stop: &AtomicBool) -> Result<Self, CrewError> {
        let count = hub.count();
        let mut leader = Self {
            hub,
            peers: vec![Peer::default(); count as usize],
            options,
            clock: TscClock::new(),
            clocks: clocks::Clocks::default(),
            plan: None,
            makers: Vec::new(),
            listened: Instant::now(),
            signed: Instant::now(),
        };
        for rank in 0..count {
            leader.say(
                rank,
                &Order::Hello {
                    protocol: PROTOCOL,
                    rank,
                },
            );
        }
        let mut awaited: BTreeSet<u32> = (0..count).collect();
        let end = Instant::now() + GREETING_MAX;
        while let Some(first) = awaited.first().copied() {
            if is_stopped(stop) {
                return Err(CrewError::Stopped);
            }
            if Instant::now() > end {
                return Err(leader.gone(first, "did not answer within a minute"));
            }
            match leader.hear(LOOK) {
                Some((
                    rank,
                    Said::Report(Report::Hello {
                        protocol,
                        version,
                        host,
                        environment,
                        ..
                    }),
                )) => {
                    let own = env!("CARGO_PKG_VERSION");
                    if protocol[0] != PROTOCOL[0] || version != own {
                        return Err(CrewError::Version {
                            who: leader.who(rank),
                            seen: version,
                            wanted: own.to_owned(),
                        });
                    }
                    let peer = &mut leader.peers[rank as usize];
                    (peer.host, peer.environment) = (host, *environment);
                    awaited.remove(&rank);
                }
                Some((rank, Said::Lost(why))) => return Err(leader.gone(rank, &why)),
                _ => {}
            }
        }
        Ok(leader)
    }

    /// How many there are.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.hub.count()
    }

    /// Whether nobody was lost.
    #[must_use]
    pub fn has_all(&self) -> bool {
        self.absent().is_empty()
    }

    /// Tells all that nothing follows.
    pub fn dismiss(&mut self) {
        self.say_all(&Order::Bye);
    }

    /// Those who are there.
    fn present(&self) -> Vec<u32> {
        let ranks = (0..).zip(&self.peers);
        let present = ranks.filter(|(_, peer)| peer.lost.is_none());
        present.map(|(rank, _)| rank).collect()
    }

    /// Those who are lost.
    fn absent(&self) -> Vec<u32> {
        let ranks = (0..).zip(&self.peers);
        let absent = ranks.filter(|(_, peer)| peer.lost.is_some());
        absent.map(|(rank, _)| rank).collect()
    }

    fn who(&self, rank: u32) -> String {
        match self.peers.get(rank as usize).map(|peer| peer.host.as_str()) {
            Some("") | None => format!("rank {rank}"),
            Some(host) => format!("rank {rank} on {host}"),
        }
    }

    fn gone(&self, rank: u32, why: &str) -> CrewError {
        let (who, why) = (self.who(rank), why.to_owned());
        match self.plan {
            None => CrewError::Lost { who, why },
            Some(_) => CrewError::LostAtWork { who, why },
        }
    }

    fn say(&mut self, rank: u32, order: &Order) {
        self.say_bytes(rank, encode(order));
    }

    fn say_bytes(&mut self, rank: u32, bytes: Vec<u8>) {
        self.hub.send(rank, bytes);
        if let Some(peer) = self.peers.get_mut(rank as usize) {
            peer.spoken = Some(Instant::now());
        }
    }

    /// Says the same to all who are there, packed once.
    fn say_all(&mut self, order: &Order) {
        let bytes = encode(order);
        for rank in self.present() {
            self.say_bytes(rank, bytes.clone());
        }
    }

    /// What somebody says within that time; those who have been silent for too long are lost.
    fn hear(&mut self, wait: Duration) -> Option<(u32, Said)> {
        self.allow_for_absence();
        self.show_signs();
        let said = match self.hub.receive(Duration::ZERO) {
            Some(came) => self.take_arrival(came),
            // Only now is it known that nothing of theirs lies waiting.
            None => self.silent().or_else(|| {
                let came = self.hub.receive(wait)?;
                self.take_arrival(came)
            }),
        };
        self.listened = Instant::now();
        said
    }

    fn take_arrival(&mut self, (rank, arrival): (u32, Arrival)) -> Option<(u32, Said)> {
        let known = self.peers.get_mut(rank as usize);
        let peer = known.filter(|peer| peer.lost.is_none())?;
        peer.heard = Some(Instant::now());
        let said = match arrival {
            Arrival::Gone(why) => Err(why),
            Arrival::Message(bytes) => decode::<Report>(&bytes),
        };
        match said {
            Ok(report) => Some((rank, Said::Report(report?.with_short_words()))),
            Err(why) => Some((rank, self.lose(rank, why))),
        }
    }

    /// While this process did not listen, as when it was stopped, nobody was silent.
    fn allow_for_absence(&mut self) {
        let absence = self.listened.elapsed();
        if absence > SIGN {
            for heard in self.peers.iter_mut().filter_map(|it| it.heard.as_mut()) {
                *heard += absence;
            }
        }
    }

    fn silent(&mut self) -> Option<(u32, Said)> {
        let is_silent = |peer: &Peer| {
            let heard = peer.heard.is_some_and(|it| it.elapsed() > SILENCE_MAX);
            peer.lost.is_none() && heard
        };
        let rank = u32::try_from(self.peers.iter().position(is_silent)?).ok()?;
        let seconds = SILENCE_MAX.as_secs();
        Some((
            rank,
            self.lose(rank, format!("has said nothing for {seconds} s")),
        ))
    }

    /// Takes note that one is lost; should it be there all the same, it is to end.
    fn lose(&mut self, rank: u32, why: String) -> Said {
        for order in [Order::Stop, Order::Bye] {
            self.say(rank, &order);
        }
        self.peers[rank as usize].lost = Some(why.clone());
        Said::Lost(why)
    }

    /// Lets all hear now and then that the leader is there.
    fn show_signs(&mut self) {
        if self.signed.elapsed() < SIGN_LOOK {
            return;
        }
        self.signed = Instant::now();
        for rank in self.present() {
            let spoken = self.peers[rank as usize].spoken;
            if spoken.is_none_or(|it| it.elapsed() > SIGN) {
                self.say_bytes(rank, ALIVE.to_vec());
            }
        }
    }

    /// Asks each of these and waits for an answer of each.
    fn ask(
        &mut self,
        ranks: &[u32],
        order: impl Fn(u32) -> Order,
        is_wanted: fn(&Report) -> bool,
        stop: &AtomicBool,
    ) -> Result<Vec<(u32, Report)>, CrewError> {
        for rank in ranks {
            self.say(*rank, &order(*rank));
        }
        self.answers(ranks, is_wanted, stop, &mut |_, _| {})
    }

    /// Waits for an answer of each; `told` hears what else they say.
    fn answers(
        &mut self,
        ranks: &[u32],
        is_wanted: fn(&Report) -> bool,
        stop: &AtomicBool,
        told: &mut dyn FnMut(u32, RunEvent),
    ) -> Result<Vec<(u32, Report)>, CrewError> {
        let mut awaited: BTreeSet<u32> = ranks.iter().copied().collect();
        let mut answers = Vec::with_capacity(ranks.len());
        while !awaited.is_empty() {
            if is_stopped(stop) {
                return Err(CrewError::Stopped);
            }
            match self.hear(LOOK) {
                Some((rank, Said::Report(Report::Event { event }))) => told(rank, *event),
                Some((rank, Said::Report(Report::Failed(failed)))) => {
                    return Err(CrewError::failed(self.who(rank), failed));
                }
                Some((rank, Said::Report(report))) => {
                    if !is_wanted(&report) || !awaited.remove(&rank) {
                        let why = "said what it was not asked";
                        self.lose(rank, why.to_owned());
                        return Err(self.gone(rank, why));
                    }
                    answers.push((rank, report));
                }
                Some((rank, Said::Lost(why))) => return Err(self.gone(rank, &why)),
                None => {}
            }
        }
        answers.sort_by_key(|(rank, _)| *rank);
        Ok(answers)
    }

    /// Tells all of the plan, and sees that each has the same.
    fn send_plan(&mut self, plan: &Plan, run: &str, stop: &AtomicBool) -> Result<(), CrewError> {
        let options = MemberOptions {
            run: run.to_owned(),
            overwrite_devices: self.options.overwrite_devices.clone(),
            create: self.options.create,
            sink_token_file: self.options.sink_token_file.clone(),
        };
        let order = Order::Plan {
            plan: Box::new(plan.clone()),
            options,
        };
        self.say_all(&order);
        let ranks = self.present();
        let own = hash(plan);
        let is_wanted = |report: &Report| matches!(report, Report::Planned { .. });
        for (rank, report) in self.answers(&ranks, is_wanted, stop, &mut |_, _| {})? {
            let is_same = matches!(&report, Report::Planned { hash } if *hash == own);
            if !is_same {
                let failed = Failed {
                    message: "it understood another plan than it was sent".to_owned(),
                    help: Some("install the same build of pgmeter there".to_owned()),
                };
                return Err(CrewError::failed(self.who(rank), failed));
            }
        }
        Ok(())
    }
}

/// What came of somebody.
enum Said {
    Report(Report),
    /// It is lost, and why.
    Lost(String),
}

impl Crew for Leader {
    fn record(&self) -> CrewRecord {
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
        CrewRecord {
            carrier: self.options.carrier.clone(),
            ranks: self.ranks(),
            hosts,
        }
    }

    fn prepare(
        &mut self,
        plan: &Plan,
        run: &str,
        watch: &mut CrewWatch<'_>,
    ) -> Result<(), RunError> {
        let prepared = self.prepare_all(plan, run, watch);
        watch.warnings.extend(doubt_hosts(&self.record()));
        if let Err(error @ CrewError::LostAtWork { .. }) = &prepared {
            let warning = Warning::of_run(WarningCode::RankLost, error.to_string());
            watch.warnings.push(warning);
        }
        prepared.map_err(|error| of_crew(&error))
    }

    fn measure(
        &mut self,
        cell: &Cell,
        watch: &mut CrewWatch<'_>,
    ) -> Result<Vec<CellRecord>, RunError> {
        let measured = self.measure_cell(cell, watch);
        if let Err(error @ CrewError::LostAtWork { .. }) = &measured {
            let warning = Warning::of_cell(WarningCode::RankLost, cell.index, error.to_string());
            watch.warnings.push(warning);
        }
        measured.map_err(|error| of_crew(&error))
    }

    fn finish(&mut self, watch: &mut CrewWatch<'_>) {
        // Whoever is still at work, as after the failure of another, need not go on.
        self.say_all(&Order::Stop);
        self.clean_all(watch);
    }
}

fn of_crew(error: &CrewError) -> RunError {
    match error {
        CrewError::Stopped => RunError::Stopped,
        error => RunError::Crew {
            message: error.to_string(),
            help: error.help(),
        },
    }
}

#[cfg(test)]
mod tests;
