//! What to do after a run: one action, chosen from the causes of all its warnings.

use std::cmp::Ordering;

use plan::{CacheMode, Cell};

use crate::advice::Advice;
use crate::doubt::{lengthening_options, processor_advice};
use crate::{CellRecord, Claim, RunRecord, Status, Warning, WarningCode, WarningLevel, effect};

/// Advice with its weight.
struct WeighedAdvice<'a> {
    advice: Advice,
    /// `true` if it removes the cause of invalid results.
    is_urgent: bool,
    /// Largest effect of each kind of warning that it removes.
    effects: Vec<(&'a WarningCode, f64)>,
}

impl WeighedAdvice<'_> {
    /// Orders by urgency, then by the largest effect, so that the action fits the warning that
    /// comes first. Of equal ones, the one that removes more is heavier.
    fn cmp_weight(&self, other: &Self) -> Ordering {
        let largest = |it: &Self| it.effects.iter().fold(0.0_f64, |most, one| most.max(one.1));
        let sum = |it: &Self| it.effects.iter().map(|one| one.1).sum::<f64>();
        self.is_urgent
            .cmp(&other.is_urgent)
            .then(largest(self).total_cmp(&largest(other)))
            .then(sum(self).total_cmp(&sum(other)))
    }
}

/// The one action to take next: the one that removes the cause of the warning with the largest
/// effect. Without warnings that call for an action, the one that makes the result more certain.
///
/// Warnings about results state causes, not actions, so that a report never has actions that
/// contradict each other.
#[must_use]
pub fn next_action(record: &RunRecord) -> String {
    let mut weighed: Vec<WeighedAdvice> = Vec::new();
    let is_disturbed = record.warnings.iter().any(|it| is_disturbance(&it.code));
    let counts = |warning: &&Warning| {
        let is_explained = is_disturbed && is_consequence(&warning.code);
        warning.level() == WarningLevel::Warning && !is_explained
    };
    for warning in record.warnings.iter().filter(counts) {
        if let Some(advice) = advice(warning, record) {
            weigh(&mut weighed, advice, warning, effect(warning, record));
        }
    }
    // The first of equal ones, because warnings about the whole run come last.
    let heaviest = weighed.iter().rev().max_by(|a, b| a.cmp_weight(b));
    match heaviest {
        Some(found) => found.advice.sentence(),
        None => without_doubts(record).to_owned(),
    }
}

/// `true` for what others do to a run.
fn is_disturbance(code: &WarningCode) -> bool {
    matches!(
        code,
        WarningCode::LoadBefore | WarningCode::OtherIoOnDevice | WarningCode::StealTime
    )
}

/// `true` for what a disturbance can cause, so that it needs an action only in a run without
/// disturbances.
fn is_consequence(code: &WarningCode) -> bool {
    matches!(
        code,
        WarningCode::NotSteady | WarningCode::WarmUp | WarningCode::PrecisionNotReached
    )
}

fn weigh<'a>(
    weighed: &mut Vec<WeighedAdvice<'a>>,
    advice: Advice,
    warning: &'a Warning,
    effect: f64,
) {
    let index = weighed.iter_mut().position(|it| it.advice.join(&advice));
    let index = index.unwrap_or_else(|| {
        weighed.push(WeighedAdvice {
            advice,
            is_urgent: false,
            effects: Vec::new(),
        });
        weighed.len() - 1
    });
    let own = &mut weighed[index];
    own.is_urgent |= warning.contradicts(Claim::Valid);
    let mut effects = own.effects.iter_mut();
    match effects.find(|(code, _)| **code == warning.code) {
        Some((_, most)) => *most = most.max(effect),
        None => own.effects.push((&warning.code, effect)),
    }
}

/// What to do if no warning calls for anything.
fn without_doubts(record: &RunRecord) -> &'static str {
    if record.status != Status::Complete {
        return "run it again, to its end";
    }
    // An emulated program has the options of its original.
    let is_emulated = record.command.get(1).is_some_and(|it| it == "as");
    match record.estimates.is_empty() {
        true if is_emulated => "run it again: only repetitions show how much results differ",
        true => "add `--repetitions 5`: only repetitions show how much results differ",
        false => "keep this run, change one thing, run again, and compare: `pgmeter compare`",
    }
}

/// What to do about a warning; `None` if there is nothing to do.
fn advice(warning: &Warning, record: &RunRecord) -> Option<Advice> {
    let planned = warning.cell.and_then(|index| record.plan.cell(index));
    // All phases of a program are records of one cell, so each function passes over those that the
    // warning is not about.
    let of_cells = |find: fn(&CellRecord, &RunRecord) -> Option<Advice>| {
        let own = record.cells.iter();
        let mut own = own.filter(|cell| Some(cell.index) == warning.cell);
        own.find_map(|cell| find(cell, record))
    };
    match warning.code {
        WarningCode::NothingMeasured => of_cells(unmeasured),
        WarningCode::StoodStill => of_cells(after_standstill),
        WarningCode::CacheServedReads | WarningCode::FileSmallerThanMemory => {
            Some(past_the_cache(planned))
        }
        WarningCode::CacheAbsorbedWrites => Some(sync_writes(planned)),
        WarningCode::WorkerCpuBound
        | WarningCode::WaitedForProcessor
        | WarningCode::ProcessorsSaturated => {
            of_cells(|cell, record| processor_advice(cell, &record.environment))
        }
        WarningCode::LoadBefore => Some(Advice::STOP_PROGRAMS),
        WarningCode::WarmUp => of_cells(longer_ramp),
        WarningCode::NotSteady => of_cells(until_steady),
        WarningCode::RateNotReached | WarningCode::ResponsesCensored => of_cells(lower_rate),
        WarningCode::TooShort => longer(record),
        _ => fixed_words(&warning.code).map(Advice::Do),
    }
}

/// What to do about a warning, if that does not depend on the run; `None` if there is nothing to
/// do. The match lists every code, so that a new code does not compile until it has an entry.
const fn fixed_words(code: &WarningCode) -> Option<&'static str> {
    let words = match code {
        WarningCode::IoErrors => "find out why operations failed (see `dmesg`)",
        WarningCode::VerifyMismatch => {
            "find out why the data is wrong before you trust this storage (see `dmesg`)"
        }
        WarningCode::CellCutShort => "run it again, to its end",
        WarningCode::RunFailed => "remove the cause of the error, and run again",
        WarningCode::TargetLost => "keep the test files in place, and run again",
        WarningCode::GoalMissed => "lower the goal that was missed",
        WarningCode::DepthNotFound => "raise the latency limit of the job",
        WarningCode::RankLost => "find out why the process ended, and run again",
        WarningCode::ReplayLate => {
            "replay it more slowly (`--speed 0.5x`), or a part of it, or on an idle machine"
        }
        WarningCode::TraceBroken => "replay it on the files that it was recorded on",
        WarningCode::DirectNotHonored | WarningCode::DirectFallsBack => {
            "use a target on a file system with direct I/O, such as ext4 or xfs"
        }
        WarningCode::MemoryBacked => "choose a `--target` on a disk",
        WarningCode::BlankStorage => "fill the target with data first",
        WarningCode::OtherIoOnDevice => {
            "stop other programs (`iotop` shows those that use the device), and run again"
        }
        WarningCode::StealTime => "use a host with spare CPUs",
        WarningCode::ClockUnstable => "choose a stable clock source, such as `tsc`",
        WarningCode::LimitInForce => "run outside of the control group that limits it",
        WarningCode::NotMounted => "mount the file system, and run again",
        WarningCode::NetworkLoopback => "use a peer on another machine",
        WarningCode::PoolDepleted => "use more files or fewer transactions",
        WarningCode::PrecisionNotReached => {
            "allow more time for repetitions, with a longer `--budget`"
        }
        WarningCode::NotStored => "choose a results store that can be written, with `--db`",
        WarningCode::StoreOnTarget => "put the results store on another device, with `--db`",
        WarningCode::UnequalHosts => "use hosts that are alike",
        WarningCode::RankImbalance => "find out what is different about the slow processes",
        WarningCode::StartSpread => "use a longer `--run-time`",
        WarningCode::ClockOffset => "use longer intervals, with a longer `--run-time`",
        WarningCode::NothingMeasured
        | WarningCode::StoodStill
        | WarningCode::CacheServedReads
        | WarningCode::FileSmallerThanMemory
        | WarningCode::CacheAbsorbedWrites
        | WarningCode::WorkerCpuBound
        | WarningCode::WaitedForProcessor
        | WarningCode::ProcessorsSaturated
        | WarningCode::LoadBefore
        | WarningCode::WarmUp
        | WarningCode::NotSteady
        | WarningCode::RateNotReached
        | WarningCode::ResponsesCensored
        | WarningCode::TooShort
        | WarningCode::CompressibleContent
        | WarningCode::FewSamplesForPercentile
        | WarningCode::FewOperations
        | WarningCode::RingFlagsMissing
        | WarningCode::ShortTransfers
        | WarningCode::SizeReduced
        | WarningCode::AlignmentRaised
        | WarningCode::IntervalLate
        | WarningCode::LeftoverFiles
        | WarningCode::ClassicFigure
        | WarningCode::DiffersFromOriginal
        | WarningCode::Plan
        | WarningCode::Lab
        | WarningCode::Other(_) => return None,
    };
    Some(words)
}

fn unmeasured(cell: &CellRecord, _: &RunRecord) -> Option<Advice> {
    if cell.total.count > 0 {
        return None;
    }
    let was_all_ramp = cell.run_time_ns == 0 && cell.ramp_time_ns > 0;
    Some(Advice::Do(match cell.status {
        Status::Interrupted => "run it again, to its end",
        _ if was_all_ramp => "use a shorter `--ramp-time` or more work",
        _ => "find out why no operation succeeded",
    }))
}

fn after_standstill(cell: &CellRecord, _: &RunRecord) -> Option<Advice> {
    (!cell.is_valid()).then_some(Advice::Do("run it again, without interrupting it"))
}

/// Work on many files cannot use direct I/O, which needs sizes that are multiples of a sector.
fn works_on_files(planned: Option<&Cell>) -> bool {
    planned.is_some_and(|cell| cell.work.is_acts())
}

fn is_direct(planned: Option<&Cell>) -> bool {
    planned.is_some_and(|cell| cell.cache == CacheMode::Direct)
}

fn past_the_cache(planned: Option<&Cell>) -> Advice {
    Advice::Do(match () {
        () if works_on_files(planned) => "use more or larger files than memory can hold",
        () if is_direct(planned) => "use a target whose file system bypasses the cache",
        () => "use `--cache direct`, or a `--size` larger than memory",
    })
}

fn sync_writes(planned: Option<&Cell>) -> Advice {
    Advice::Do(match () {
        () if works_on_files(planned) => "sync the files, or write more than memory can hold",
        () if is_direct(planned) => "use a target whose file system writes directly",
        () => "use `--cache direct`, or write more than memory can hold",
    })
}

fn longer_ramp(cell: &CellRecord, _: &RunRecord) -> Option<Advice> {
    let ramp_s = cell.within.as_ref()?.ramp_needed_s(cell.ramp_time_ns)?;
    Some(Advice::LongerRamp(ramp_s))
}

fn until_steady(cell: &CellRecord, _: &RunRecord) -> Option<Advice> {
    Some(Advice::Do(match cell.steady {
        None => "use `--until steady`, or a longer `--ramp-time`",
        Some(_) => "use longer rounds, with a longer `--run-time`",
    }))
}

fn lower_rate(cell: &CellRecord, _: &RunRecord) -> Option<Advice> {
    // Curves and searches choose their own rates.
    let is_own = cell.curve.is_none();
    is_own.then_some(Advice::Do(
        "use a lower `--rate`, or search for it with `--find-rate`",
    ))
}

/// Options that make the first cell that was too short longer.
fn longer(record: &RunRecord) -> Option<Advice> {
    let short = record.cells.iter().find(|cell| cell.is_too_short())?;
    let planned = record.plan.cell(short.index);
    let options = planned.map_or("a longer `--run-time`", lengthening_options);
    Some(Advice::DoThis(format!("use {options}")))
}
