//! `lab recover`: kernels are killed while they write, and what was synced is looked for.

mod table;
mod trial;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use display::{ExpectedPart, Parts};
use lab::recovery::{Crash, Mounted, Part, check_after_crash, trial_seed, write_until_killed};
use lab::vm::{Host, Order};
use lab::{Choice, Ground, Job, Lab, Medium, schedule};
use report::Lineup;
use results::LabRecord;

use super::guest::{Task, leave};
use super::progress::progress;
use super::stored::{keep, page_name, page_of_lab};
use crate::args::{LabRecoverArgs, LineupArg, VmArg};
use crate::failure::{Exit, Failure};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::Place;

/// All trials while they go on.
struct Trials<'a> {
    args: &'a LabRecoverArgs,
    choices: Vec<Choice>,
    ground: Ground,
    host: Host,
    /// Tells how far they are.
    progress: RefCell<Parts>,
    stop: Arc<AtomicBool>,
}

/// What one trial came to.
struct Tried {
    choice_index: usize,
    trial_index: u32,
    /// Steps that were done when the kernel was killed.
    done_count: u32,
    /// What was found; the reason where it could not be mounted.
    mounted: Result<Mounted, String>,
    /// What the file system's program says afterwards; none where there is no such program.
    fsck: Option<Result<(), String>>,
}

/// What all came to.
#[derive(Default)]
struct Held {
    tried: Vec<Tried>,
    /// How each was made, by file system, once it was.
    described: Vec<Option<String>>,
    /// Trials that could not be done, in words.
    alarms: Vec<String>,
    /// File systems that failed and were left out from then on.
    failed: Vec<usize>,
    notes: Vec<String>,
}

/// Tries recovery, and prints what was kept.
pub(super) fn recover(
    args: &LabRecoverArgs,
    place: &Place,
    at_once: fn() -> !,
) -> Result<Exit, Failure> {
    let json = args.table.open()?;
    let mut page = TablePage::open(&args.page, place, args.table.quiet)?;
    let start = LabRecord::new(target::environment(&[]), std::env::args().collect());
    let choices = Choice::read_all(&args.fs)?;
    let ground = Ground {
        medium: Medium::Loop,
        size_bytes: args.image_size.0,
        overwrite_devices: Vec::new(),
    };
    let directory = args.place.dir.clone();
    let directory = directory.unwrap_or_else(lab::default_directory);
    let VmArg::Uml = args.vm;
    let host = lab::vm::check(&choices, &ground, &directory, args.vm_memory.0)?;
    let trials = Trials {
        args,
        choices,
        ground,
        host,
        progress: progress(args.table.quiet),
        stop: stop_flag(at_once)?,
    };
    let mut lab = Lab::begin(&directory)?;
    super::guest::probe_in(&mut lab, &trials.host, &trials.stop)?;
    let held = trials.hold(lab);
    let record = table::record(&trials, &held, start);
    let table = Lineup::of(&record);
    let render = |format, page| table.render(format, page);
    let printed = args.table.print(json, &record, render);
    if !args.no_db && !held.tried.is_empty() {
        keep(&record, place, args.table.quiet);
    }
    if args.table.format()? == LineupArg::Html || held.tried.is_empty() {
        page.only_if_named();
    }
    let paged = page.finish(&page_name(&record), || page_of_lab(&record));
    printed.and(paged)?;
    Ok(exit(&held, trials.stop.load(Ordering::Relaxed)))
}

/// In a guest: does its part of a trial.
pub(super) fn obey(order: &Order<Task>, part: Part) -> Result<Exit, Failure> {
    match part {
        Part::Write { seed, is_honest } => {
            let Err(error) = write_until_killed(&order.image, seed, is_honest);
            leave::<()>(order, Err(error.into()))
        }
        Part::Check { seed, done_count } => {
            let checked = check_after_crash(&order.image, seed, done_count);
            leave(order, checked.map_err(Failure::from))
        }
    }
}

impl Trials<'_> {
    /// Does all trials in turns, until it is stopped.
    fn hold(&self, mut lab: Lab) -> Held {
        let count = self.choices.len();
        let mut held = Held {
            described: vec![None; count],
            ..Held::default()
        };
        let jobs = schedule(count, 1, self.args.trials, lab::Order::Turns, 0);
        let part = |job: &Job| ExpectedPart {
            what: format!(
                "{}: trial {}",
                self.choices[job.choice_index].label,
                job.repetition + 1
            ),
            kind: 0,
        };
        let parts = jobs.iter().map(part).collect();
        self.progress.borrow_mut().expect(parts);
        for (place, job) in jobs.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if held.failed.contains(&job.choice_index) {
                continue;
            }
            self.progress.borrow_mut().begin(place);
            self.job(&mut lab, job, &mut held);
        }
        if let Err(error) = lab.end() {
            held.alarms.push(Failure::from(error).text().to_owned());
        }
        self.progress.borrow_mut().end();
        held
    }

    fn job(&self, lab: &mut Lab, job: &Job, held: &mut Held) {
        let seed = trial_seed(self.args.seed, job.repetition);
        let label = &self.choices[job.choice_index].label;
        match self.trial(lab, job, seed, held) {
            Ok(tried) => {
                self.progress.borrow_mut().done(&table::in_short(&tried));
                held.tried.push(tried);
            }
            Err(_) if self.stop.load(Ordering::Relaxed) => {}
            Err(failure) => {
                let alarm = format!("{label}: {}", failure.text());
                self.progress.borrow().say(&alarm);
                held.alarms.push(alarm);
                held.failed.push(job.choice_index);
            }
        }
    }
}

/// What the exit code says.
fn exit(held: &Held, is_stopped: bool) -> Exit {
    let is_broken = |tried: &Tried| match &tried.mounted {
        Ok(mounted) => mounted.findings.broken_count() > 0,
        Err(_) => true,
    };
    if held.tried.iter().any(is_broken) {
        return Exit::Failed;
    }
    if !held.alarms.is_empty() {
        return Exit::System;
    }
    match is_stopped {
        true => Exit::Interrupted,
        false => Exit::Measured,
    }
}
