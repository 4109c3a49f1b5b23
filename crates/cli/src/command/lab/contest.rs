//! A contest: workloads on file systems, each job on a file system of its own.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use display::Parts;
use lab::{Aged, Built, Choice, ChoiceKind, Job, Lab, LabError, Log};
use results::{RunRecord, Status};
use serde::{Deserialize, Serialize};
use target::{DeviceCounters, DeviceSample};
use workload::facts::{SystemFacts, TargetFacts};
use workload::plan::TargetKind;
use workload::{Overrides, Workload, plan, wanted_targets};

use super::aging::{in_note, shortfalls, too_full};
use super::ground::Asked;
use super::measure::{Assignment, keep, measure, tags};
use super::progress::{outcome, parts, progress};
use crate::args::ChangeArgs;
use crate::failure::{Exit, Failure};
use crate::input::{Input, input};
use crate::stored::Place;
use crate::terminal::StandardOutput;

/// A workload that takes part: all parts of it run on one file system, one after the other.
pub(crate) struct Entrant {
    /// As the user names it.
    pub name: String,
    pub workloads: Vec<Workload>,
    pub overrides: Overrides,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// What one job came to.
pub(crate) struct Done {
    pub job: Job,
    pub record: RunRecord,
    pub costs: Costs,
}

/// What a job cost beside the workload.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Costs {
    pub mkfs: Option<Duration>,
    pub sync: Option<Duration>,
    pub unmount: Option<Duration>,
    /// Bytes that reached the device from mounting to the end of the sync.
    pub device_written_bytes: Option<u64>,
    /// Bytes that the workload wrote meanwhile, where all of them were counted.
    pub user_written_bytes: Option<u64>,
    /// Segments of a log that were cleaned, during the workload and after it.
    pub cleaned_segments: Option<u64>,
    /// Bytes that reached the device while the log was cleaned after the workload.
    pub cleaning_written_bytes: Option<u64>,
    /// Bytes of which the device was told that they are free, after all that.
    pub trimmed_bytes: Option<u64>,
    /// What the file system was before the workload, where it was aged.
    pub aged: Option<Aged>,
}

/// A run, and what it cost beside.
pub(crate) type Measured = (RunRecord, Costs);

/// A contest as arguments describe it, on the host and in its guests alike.
pub(crate) struct Side {
    pub asked: Asked,
    pub entrants: Vec<Entrant>,
    pub is_cold: bool,
    pub is_quiet: bool,
    /// What standard output is for.
    pub stdout: StandardOutput,
}

impl Side {
    /// The contest, which keeps its runs where `stores` says so.
    pub fn contest<'a>(
        &'a self,
        place: &'a Place,
        stores: bool,
        stop: &Arc<AtomicBool>,
    ) -> Contest<'a> {
        Contest {
            asked: &self.asked,
            entrants: &self.entrants,
            place,
            stores,
            is_cold: self.is_cold,
            progress: progress(self.is_quiet),
            stdout: self.stdout,
            stop: Arc::clone(stop),
        }
    }
}

/// A contest while it goes on.
pub(crate) struct Contest<'a> {
    pub asked: &'a Asked,
    pub entrants: &'a [Entrant],
    pub place: &'a Place,
    pub stores: bool,
    pub is_cold: bool,
    /// Tells how far it is.
    pub progress: RefCell<Parts>,
    pub stdout: StandardOutput,
    pub stop: Arc<AtomicBool>,
}

/// What a contest came to.
#[derive(Default)]
pub(crate) struct Held {
    pub done: Vec<Done>,
    /// What is mounted how, by file system, once it was.
    pub described: Vec<Option<String>>,
    /// What failed, in words.
    pub alarms: Vec<String>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// File systems that failed and were left out from then on.
    failed: Vec<usize>,
}

impl Entrant {
    /// Reads a workload and scales it.
    pub fn read(name: &str, change: &ChangeArgs, asked: &Asked) -> Result<Self, Failure> {
        let Input {
            workloads,
            warnings,
            overrides,
        } = input(&change.for_workload(name))?;
        let notes = warnings.iter().map(ToString::to_string).collect();
        Self::new(name, (workloads, overrides, notes), change, asked)
    }

    /// Takes workloads as they are read, and scales them.
    pub fn of(
        name: &str,
        workloads: Vec<Workload>,
        change: &ChangeArgs,
        asked: &Asked,
    ) -> Result<Self, Failure> {
        let Input { overrides, .. } = input(&change.for_workload("quick"))?;
        Self::new(name, (workloads, overrides, Vec::new()), change, asked)
    }

    fn new(
        name: &str,
        (workloads, overrides, notes): (Vec<Workload>, Overrides, Vec<String>),
        change: &ChangeArgs,
        asked: &Asked,
    ) -> Result<Self, Failure> {
        let scaled = workloads.iter().map(|it| asked.scale.applied(it));
        let mut entrant = Self {
            name: name.to_owned(),
            workloads: scaled.collect(),
            overrides,
            notes,
        };
        if asked.choices.iter().any(|choice| choice.entry().is_some()) {
            entrant.rehearse(asked, change.cache.is_some())?;
        }
        Ok(entrant)
    }

    /// Plans the workload for a file system that is not there yet. What does not go with the
    /// medium's direct I/O goes through the page cache, on all file systems alike.
    fn rehearse(&mut self, asked: &Asked, is_settled: bool) -> Result<(), Failure> {
        let needs_device = asked.choices.iter().any(Choice::needs_device);
        let block_bytes = match needs_device {
            true => asked.ground.medium.block_bytes(),
            false => 512,
        };
        let of_share = |free_share: f64| facts(asked.ground.size_bytes, free_share, block_bytes);
        let facts = of_share(asked.free_share());
        self.overrides.set_targets(vec![PLACE.to_owned()]);
        let Err(refused) = plan(&self.workloads, &self.overrides, &facts) else {
            return Ok(());
        };
        if let Some(aging) = &asked.aging
            && plan(&self.workloads, &self.overrides, &of_share(1.0)).is_ok()
        {
            return Err(too_full(aging, &refused));
        }
        if is_settled || block_bytes <= 512 {
            return Err(refused.into());
        }
        let direct = self.overrides.clone();
        self.overrides.set("cache", "buffered")?;
        if plan(&self.workloads, &self.overrides, &facts).is_err() {
            self.overrides = direct;
            return Err(refused.into());
        }
        self.notes.push(format!(
            "{}: direct I/O on {} needs blocks of {block_bytes} bytes, which its requests do not \
             fit, so it went through the page cache on all file systems",
            self.name, asked.ground.medium
        ));
        Ok(())
    }
}

/// Stands for the mount point before there is one.
pub(super) const PLACE: &str = "/pgmeter-lab";

/// A new file system of that size, of which that share is still free.
fn facts(size_bytes: u64, free_share: f64, block_bytes: u32) -> SystemFacts {
    // A tenth is what a file system needs for itself.
    let free_bytes = (size_bytes as f64 * 0.9 * free_share) as u64;
    let target = TargetFacts {
        exists: true,
        free_bytes,
        total_bytes: size_bytes,
        direct_alignment_bytes: block_bytes,
        block_bytes,
        device_id: Some(0),
        ..TargetFacts::placeholder(PLACE, TargetKind::Directory)
    };
    SystemFacts {
        targets: vec![target.clone()],
        default_target: Some(target),
        ..target::system_facts(&[], None)
    }
}

impl Contest<'_> {
    /// Does all jobs in their order, until it is stopped or the lab cannot be taken down.
    pub fn hold(&self, jobs: &[Job]) -> Result<Held, Failure> {
        let mut held = Held {
            described: vec![None; self.asked.choices.len()],
            ..Held::default()
        };
        let mut lab = Lab::begin(&self.asked.directory)?;
        if let Some(host) = &self.asked.host {
            super::guest::probe_in(&mut lab, host, &self.stop)?;
        }
        self.progress
            .borrow_mut()
            .expect(parts(jobs, |job| self.name(job)));
        for (place, job) in jobs.iter().enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if held.failed.contains(&job.choice_index) {
                continue;
            }
            self.progress.borrow_mut().begin(place);
            if let Err(failure) = self.job(&mut lab, job, &mut held) {
                let label = &self.asked.choices[job.choice_index].label;
                let alarm = format!("{label}: {}", failure.text());
                if self.stop.load(Ordering::Relaxed) {
                    held.note([self.left_out(job)]);
                } else {
                    held.failed.push(job.choice_index);
                    self.say(&alarm);
                    held.alarms.push(alarm);
                }
            }
        }
        if let Err(error) = lab.end() {
            let failure = Failure::from(error);
            self.say(failure.text());
            held.alarms.push(failure.text().to_owned());
        }
        self.progress.borrow_mut().end();
        Ok(held)
    }

    fn left_out(&self, job: &Job) -> String {
        format!("{} was interrupted and is left out", self.name(job))
    }

    /// The file system and the workload of a job.
    fn name(&self, job: &Job) -> String {
        let label = &self.asked.choices[job.choice_index].label;
        format!("{label}: {}", self.entrants[job.workload_index].name)
    }

    /// Says what is being done of a job.
    pub(super) fn step(&self, step: &str) {
        self.progress.borrow_mut().step(step);
    }

    /// Says something that is to stay.
    pub(super) fn say(&self, text: &str) {
        self.progress.borrow().say(text);
    }

    fn job(&self, lab: &mut Lab, job: &Job, held: &mut Held) -> Result<(), Failure> {
        let choice = &self.asked.choices[job.choice_index];
        let (record, costs) = match &self.asked.host {
            Some(host) => {
                let (image, described, measured) = self.job_in_guest(lab, job, host)?;
                held.note_built(job, choice, described, &image.notes);
                measured
            }
            None => self.job_here(lab, job, held)?,
        };
        if record.status == Status::Interrupted {
            held.note([self.left_out(job)]);
            return Ok(());
        }
        if let Some((aging, aged)) = self.asked.aging.zip(costs.aged) {
            held.note(shortfalls(&choice.label, &aging, &aged));
        }
        self.progress.borrow_mut().done(&outcome(&record));
        held.done.push(Done {
            job: *job,
            record,
            costs,
        });
        Ok(())
    }

    /// Does a job on a file system of this kernel.
    fn job_here(&self, lab: &mut Lab, job: &Job, held: &mut Held) -> Result<Measured, Failure> {
        let choice = &self.asked.choices[job.choice_index];
        self.step("make the file system");
        let built = lab.build(choice, &self.asked.ground)?;
        held.note_built(job, choice, describe(&built), &built.notes);
        let measured = self.measure(lab.name(), job, &built);
        let (mkfs, directory) = (built.mkfs_time, built.directory.clone());
        // Whatever became of the workload, the file system goes.
        self.step("unmount");
        let unmounted = lab.take_down(built);
        let (record, mut costs) = measured?;
        costs.mkfs = mkfs;
        let is_made = matches!(choice.kind, ChoiceKind::Made { .. });
        match unmounted {
            Ok(elapsed) => costs.unmount = is_made.then_some(elapsed),
            Err(error) => {
                self.stop.store(true, Ordering::Relaxed);
                let failure = Failure::from(LabError::Left {
                    what: format!("`{}`", directory.display()),
                    reason: error.to_string(),
                });
                held.alarms.push(failure.text().to_owned());
            }
        }
        Ok((record, costs))
    }

    /// Keeps a run that a guest measured, where runs are to be kept.
    pub(super) fn keep(
        &self,
        record: &mut RunRecord,
        lab_name: String,
        notes: &[String],
    ) -> Result<(), Failure> {
        match self.stores {
            true => keep(record, notes, &tags(lab_name), self.place),
            false => Ok(()),
        }
    }

    /// Runs the workload on what was built, and makes durable what it wrote.
    pub(super) fn measure(
        &self,
        lab_name: String,
        job: &Job,
        built: &Built,
    ) -> Result<Measured, Failure> {
        let entrant = &self.entrants[job.workload_index];
        let choice = &self.asked.choices[job.choice_index];
        let aged = self.age(built)?;
        if self.is_cold {
            target::drop_caches()?;
        }
        let counters = DeviceCounters::open([built.directory.as_path()]);
        let sample = || counters.as_ref()?.sample().ok();
        let log = Log::of(built);
        let (before, log_before) = (sample(), log.as_ref().and_then(Log::sample));
        let (workloads, overrides) = self.prepared(entrant, choice, built)?;
        let wanted = wanted_targets(&workloads, &overrides);
        let facts = target::system_facts(&wanted, built.directory.to_str());
        let planned = plan(&workloads, &overrides, &facts)?;
        let assignment = Assignment {
            planned,
            notes: self.notes_on(choice, &describe(built), aged.as_ref()),
            tags: tags(lab_name),
            overwrite_devices: Vec::new(),
            is_stored: self.stores,
            progress: &self.progress,
            stdout: self.stdout,
            stop: Arc::clone(&self.stop),
        };
        let (record, user_written_bytes) = measure(assignment, self.place)?;
        self.step("make durable what was written");
        let sync = built.sync()?;
        let synced = sample();
        let written = |after: Option<DeviceSample>, before: Option<DeviceSample>| {
            let (after, before) = after.zip(before)?;
            Some(after.since(&before).write_bytes)
        };
        let mut costs = Costs {
            sync: Some(sync),
            device_written_bytes: written(synced, before),
            user_written_bytes,
            aged,
            ..Costs::default()
        };
        if let Some(log) = &log {
            if log.clean(|| self.stop.load(Ordering::Relaxed))? {
                built.sync()?;
                costs.cleaning_written_bytes = written(sample(), synced);
            }
            let cleaned = log.sample().zip(log_before);
            log.end_cleaner();
            costs.cleaned_segments = cleaned.map(|(after, before)| after.cleaned_since(&before));
        }
        Ok((record, costs))
    }

    /// The workloads for this file system, at its mount point.
    fn prepared(
        &self,
        entrant: &Entrant,
        choice: &Choice,
        built: &Built,
    ) -> Result<(Vec<Workload>, Overrides), Failure> {
        use workload::classics::create_remove::Between;
        let mut workloads = entrant.workloads.clone();
        let creates = workloads
            .iter_mut()
            .filter_map(|it| it.create_remove.as_mut());
        for create_remove in creates.filter(|_| self.is_cold) {
            // Without a device of its own a file system would be lost, or is not ours to unmount;
            // one that a program serves is not mounted by a system call, and one that a program
            // cleans is never free.
            let is_own = choice.needs_device()
                && choice.entry().is_some_and(|it| it.name != "overlay")
                && !built.is_served()
                && !built.is_cleaned_by_a_program();
            create_remove.between = Some(match is_own {
                true => Between::Remount,
                false => Between::DropCaches,
            });
        }
        let mut overrides = entrant.overrides.clone();
        let Some(directory) = built.directory.to_str() else {
            let message = format!("`{}` is not UTF-8 text", built.directory.display());
            return Err(Failure::new(Exit::Usage, message, None));
        };
        overrides.set_targets(vec![directory.to_owned()]);
        Ok((workloads, overrides))
    }

    /// What each record says of a file system that was mounted so.
    pub(super) fn notes_on(
        &self,
        choice: &Choice,
        described: &str,
        aged: Option<&Aged>,
    ) -> Vec<String> {
        let scale = (!self.asked.scale.is_full()).then(|| format!("scale {}", self.asked.scale));
        let made = format!("{}: {described}", choice.label);
        let aged = self.asked.aging.zip(aged).map(in_note);
        scale.into_iter().chain([made]).chain(aged).collect()
    }
}

impl Held {
    /// Notes what a job was done on.
    fn note_built(&mut self, job: &Job, choice: &Choice, described: String, notes: &[String]) {
        self.described[job.choice_index].get_or_insert(described);
        let notes = notes.iter();
        self.note(notes.map(|note| format!("{}: {note}", choice.label)));
    }

    /// Notes each once.
    fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// What is mounted how.
pub(super) fn describe(built: &Built) -> String {
    let mut parts = vec![built.ground.clone()];
    let stack = target::stack(&built.directory);
    let in_memory = stack.filter(|it| it.medium == target::Medium::Memory && it.has_device);
    parts.extend(in_memory.map(|it| format!("in memory: {}", it.text)));
    parts.extend(
        built
            .mkfs
            .as_ref()
            .map(|command| format!("made by `{command}`")),
    );
    if let Some(mount) = built.mount() {
        let options = mount.options.join(",");
        parts.push(format!("mounted as {} with `{options}`", mount.file_system));
    }
    parts.join("; ")
}
