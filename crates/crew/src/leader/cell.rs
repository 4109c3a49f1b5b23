//! A cell that all measure, stage by stage.

use std::collections::{BTreeMap, BTreeSet};

use engine::clock::Clock;
use results::{
    CellRecord, ClockOffset, RankCell, RunEvent, Warning, WarningCode, doubt_crew, merged,
};
use run::CrewWatch;
use workload::plan::Cell;

use super::clocks::{Reading, offset};
use super::live::Live;
use super::{LOOK, Leader, OnLost, Said};
use crate::CrewError;
use crate::message::{Failed, Order, Report};

/// Between the agreement and the start there is at least so much time, in nanoseconds.
const LEAD_NS: u64 = 50_000_000;
/// And so many round trips.
const LEAD_TRIPS: u64 = 20;

/// How far a cell is.
struct Course {
    cell: u32,
    /// Who is ready for the next stage.
    armed: BTreeSet<u32>,
    /// When the stages began, in nanoseconds of the leader's clock.
    starts_ns: Vec<u64>,
    /// When the first worker of each began, from the start of the last stage.
    begins_ns: BTreeMap<u32, i64>,
    clocks: BTreeMap<u32, Reading>,
    done: BTreeMap<u32, Vec<CellRecord>>,
    failed: Option<(u32, Failed)>,
    /// Who was lost, and when, in nanoseconds of the leader's clock.
    lost_ns: BTreeMap<u32, u64>,
    live: Live,
    is_cut: bool,
    /// Warnings by what they say, and who said so.
    warnings: Vec<(Warning, Vec<u32>)>,
}

impl Leader {
    /// Has all measure a cell, and puts together what they measured.
    pub(super) fn measure_cell(
        &mut self,
        cell: &Cell,
        watch: &mut CrewWatch<'_>,
    ) -> Result<Vec<CellRecord>, CrewError> {
        let order = self.order(cell);
        let at_work = self.present();
        self.say_all(&order);
        let mut course = Course::new(cell.index);
        while !self.is_over(&course, &at_work) {
            self.look(&mut course, &at_work, watch)?;
        }
        let ranks: Vec<u32> = course.done.keys().copied().collect();
        let after = self.read_clocks(&ranks, &mut Vec::new());
        let own_warnings = std::mem::take(&mut course.warnings);
        for (warning, ranks) in own_warnings {
            watch
                .warnings
                .push(self.told(warning, &ranks, at_work.len()));
        }
        if let Some((rank, failed)) = course.failed.take() {
            return Err(CrewError::failed(self.who(rank), failed));
        }
        let records = self.together(&mut course, &after, cell);
        watch.warnings.extend(self.lost_warnings(&course));
        for record in &records {
            watch.warnings.extend(doubt_crew(record));
        }
        Ok(records)
    }

    /// The cell as an order: its workers, which may be many, are known already.
    fn order(&self, cell: &Cell) -> Order {
        let plan = self.plan.as_ref();
        let known =
            plan.and_then(|plan| plan.cells.iter().position(|it| it.workers == cell.workers));
        let mut sent = cell.clone();
        if known.is_some() {
            sent.workers.clear();
            sent.files = None;
        }
        Order::Cell {
            cell: Box::new(sent),
            like: known.unwrap_or(usize::MAX),
        }
    }

    fn is_over(&self, course: &Course, at_work: &[u32]) -> bool {
        let is_done = |rank: &u32| {
            course.done.contains_key(rank) || self.peers[*rank as usize].lost.is_some()
        };
        at_work.iter().all(is_done)
    }

    /// Hears what is said, and lets a stage begin when all are ready for it.
    fn look(
        &mut self,
        course: &mut Course,
        at_work: &[u32],
        watch: &mut CrewWatch<'_>,
    ) -> Result<(), CrewError> {
        if watch.is_cut() && !course.is_cut {
            course.is_cut = true;
            let is_all = crate::worker::is_stopped(watch.stop);
            self.say_all(if is_all { &Order::Stop } else { &Order::Skip });
        }
        if let Some((rank, said)) = self.hear(LOOK) {
            self.take(course, (rank, said), at_work, watch)?;
        }
        let left: Vec<u32> = at_work
            .iter()
            .copied()
            .filter(|rank| self.peers[*rank as usize].lost.is_none())
            .collect();
        let is_ready = |rank: &u32| course.armed.contains(rank);
        if !left.is_empty() && left.iter().all(is_ready) {
            self.start(course, &left, at_work, watch)?;
        } else if let (Some(rank), false) = (course.armed.first().copied(), course.done.is_empty())
        {
            // Whoever is done will not be ready for another stage.
            let failed = Failed {
                message: "it has another stage to measure, and others have none".to_owned(),
                help: None,
            };
            course.failed.get_or_insert((rank, failed));
            self.stop(course);
        }
        Ok(())
    }

    fn take(
        &mut self,
        course: &mut Course,
        (rank, said): (u32, Said),
        at_work: &[u32],
        watch: &mut CrewWatch<'_>,
    ) -> Result<(), CrewError> {
        match said {
            Said::Report(Report::Armed) => {
                course.armed.insert(rank);
            }
            Said::Report(Report::Begun { at_ns }) => {
                let offset_ns = course.clocks.get(&rank).map_or(0, |it| it.offset_ns);
                let start_ns = course.starts_ns.last().copied().unwrap_or(0);
                let own_ns = at_ns.cast_signed().wrapping_sub(offset_ns);
                course
                    .begins_ns
                    .insert(rank, own_ns.wrapping_sub(start_ns.cast_signed()));
            }
            Said::Report(Report::Measured {
                records, failure, ..
            }) => {
                course.done.insert(rank, records);
                if let Some(failed) = failure {
                    course.failed.get_or_insert((rank, failed));
                    self.stop(course);
                }
            }
            Said::Report(Report::Event { event }) => match *event {
                RunEvent::Warning { warning } => course.add_warning(rank, warning),
                event => {
                    let present: Vec<u32> = at_work
                        .iter()
                        .copied()
                        .filter(|it| self.peers[*it as usize].lost.is_none())
                        .filter(|it| !course.done.contains_key(it))
                        .collect();
                    let told = course.live.take(rank, event, &present);
                    told.iter().for_each(|it| (watch.listener)(it));
                }
            },
            Said::Report(_) => {}
            Said::Lost(why) => {
                course.lost_ns.insert(rank, self.clock.now_ns());
                if self.options.on_lost == OnLost::Fail {
                    self.stop(course);
                    self.wait_for_the_rest(course, at_work);
                    return Err(self.gone(rank, &format!("was lost while it measured: it {why}")));
                }
            }
        }
        Ok(())
    }

    /// Agrees with all on when the next stage begins: at one time, as each clock has it.
    fn start(
        &mut self,
        course: &mut Course,
        ranks: &[u32],
        at_work: &[u32],
        watch: &mut CrewWatch<'_>,
    ) -> Result<(), CrewError> {
        let mut kept = Vec::new();
        course.clocks = self.read_clocks(ranks, &mut kept);
        let longest_ns = course
            .clocks
            .values()
            .map(|it| it.trip_ns)
            .max()
            .unwrap_or(0);
        let start_ns = self.clock.now_ns() + LEAD_NS.max(LEAD_TRIPS * longest_ns);
        for (rank, reading) in &course.clocks {
            let at_ns = start_ns.cast_signed().wrapping_add(reading.offset_ns);
            let at_ns = at_ns.cast_unsigned();
            self.say(*rank, &Order::Start { at_ns });
        }
        course.starts_ns.push(start_ns);
        course.armed.clear();
        course.live.begin_stage();
        kept.into_iter()
            .try_for_each(|it| self.take(course, it, at_work, watch))
    }

    fn stop(&mut self, course: &mut Course) {
        if !course.is_cut {
            course.is_cut = true;
            self.say_all(&Order::Stop);
        }
    }

    /// Lets the others end what they do, for so long as that may take.
    fn wait_for_the_rest(&mut self, course: &mut Course, at_work: &[u32]) {
        let end = std::time::Instant::now() + super::SILENCE_MAX;
        while !self.is_over(course, at_work) && std::time::Instant::now() < end {
            if let Some((rank, Said::Report(Report::Measured { records, .. }))) = self.hear(LOOK) {
                course.done.insert(rank, records);
            }
        }
    }

    /// The records of all as one each, as many as each has.
    fn together(
        &self,
        course: &mut Course,
        after: &BTreeMap<u32, Reading>,
        cell: &Cell,
    ) -> Vec<CellRecord> {
        let count = course.done.values().map(Vec::len).min().unwrap_or(0);
        let start_ns = course.starts_ns.last().copied().unwrap_or(0) + cell.ramp_time_ns;
        let mut records = Vec::with_capacity(count);
        for place in 0..count {
            let parts: Vec<RankCell> = course
                .done
                .iter()
                .map(|(rank, own)| RankCell {
                    rank: *rank,
                    host: self.peers[*rank as usize].host.clone(),
                    record: own[place].clone(),
                    begin_ns: course.begins_ns.get(rank).copied().unwrap_or(0),
                    clock: clock(course, after, *rank),
                    lost_ns: None,
                })
                .collect();
            let Some(mut record) = merged(&parts) else {
                continue;
            };
            let lost = course.lost_ns.iter();
            let lost = lost.map(|(rank, at_ns)| (*rank, at_ns.saturating_sub(start_ns)));
            let named =
                lost.map(|(rank, at_ns)| (rank, self.peers[rank as usize].host.clone(), at_ns));
            record.set_lost(named);
            records.push(record);
        }
        records
    }

    /// A warning of some, or of all, of those at work.
    fn told(&self, warning: Warning, ranks: &[u32], count: usize) -> Warning {
        let who = match ranks {
            _ if ranks.len() == count => return warning,
            [rank] => self.who(*rank),
            ranks => format!("{} of {count} processes", ranks.len()),
        };
        Warning {
            message: format!("{who}: {}", warning.message),
            ..warning
        }
    }

    fn lost_warnings(&self, course: &Course) -> Vec<Warning> {
        let lost = course.lost_ns.keys().map(|rank| {
            let why = self.peers[*rank as usize]
                .lost
                .as_deref()
                .unwrap_or("went away");
            let message = format!(
                "{} was lost and what it did is in no figure: it {why}",
                self.who(*rank)
            );
            Warning::of_cell(WarningCode::RankLost, course.cell, message)
        });
        lost.collect()
    }
}

impl Course {
    fn new(cell: u32) -> Self {
        Self {
            cell,
            armed: BTreeSet::new(),
            starts_ns: Vec::new(),
            begins_ns: BTreeMap::new(),
            clocks: BTreeMap::new(),
            done: BTreeMap::new(),
            failed: None,
            lost_ns: BTreeMap::new(),
            live: Live::default(),
            is_cut: false,
            warnings: Vec::new(),
        }
    }

    fn add_warning(&mut self, rank: u32, warning: Warning) {
        match self
            .warnings
            .iter_mut()
            .find(|(known, _)| *known == warning)
        {
            Some((_, ranks)) => ranks.push(rank),
            None => self.warnings.push((warning, vec![rank])),
        }
    }
}

fn clock(course: &Course, after: &BTreeMap<u32, Reading>, rank: u32) -> ClockOffset {
    offset(course.clocks.get(&rank), after.get(&rank))
}
