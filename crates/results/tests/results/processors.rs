//! Workers that had no processor, used one up, or shared them all.

use plan::EngineKind;
use results::{
    CellRecord, Environment, IntervalRecord, Limit, LimitedResource, MachineCpu, ProcessorFigures,
    WarningCode, doubt,
};

use crate::sample::{self, SECOND};

/// A cell of two workers with a thread each on two processors, of which so much was busy.
pub fn cell(busy: f64) -> CellRecord {
    let mut cell = sample::cell_record(&sample::plan(), 0, 100_000);
    let shares = MachineCpu {
        busy,
        ..MachineCpu::default()
    };
    cell.cpu.processors = (0..4).map(|cpu| ProcessorFigures { cpu, shares }).collect();
    cell.cpu.usable = vec![0, 1];
    set_thread_times(&mut cell, 2, 0.5, 0.0);
    cell
}

/// Gives so many threads to the workers, each of which ran and waited for such a share.
pub fn set_thread_times(cell: &mut CellRecord, threads: u32, running: f64, waiting: f64) {
    let workers = cell.worker_figures.len() as u32;
    let per_worker_ns = u64::from(threads / workers) * 10 * SECOND;
    for worker in &mut cell.worker_figures {
        let share = |share: f64| (share * per_worker_ns as f64) as u64;
        *worker = std::mem::take(worker)
            .with_cpu(share(running), 0)
            .with_waits(threads / workers, share(waiting), per_worker_ns);
    }
    let all_ns = u64::from(threads) * 10 * SECOND;
    cell.set_threads(threads, (waiting * all_ns as f64) as u64, all_ns);
    cell.cpu.utilization = running * f64::from(threads);
}

pub fn environment() -> Environment {
    let mut environment = sample::environment();
    environment.cpu.usable_count = 2;
    environment
}

fn warnings_of(cell: &CellRecord) -> Vec<(WarningCode, String)> {
    let warnings = doubt(cell, &environment(), &sample::plan()).into_iter();
    warnings.map(|it| (it.code, it.message)).collect()
}

fn only(cell: &CellRecord, code: WarningCode, message: &str) {
    assert_eq!(warnings_of(cell), [(code, message.to_owned())]);
}

#[test]
fn a_busy_worker_is_reported() {
    let mut cell = cell(0.7);
    let busy = &mut cell.worker_figures[1];
    *busy = std::mem::take(busy)
        .with_cpu(9 * SECOND, 810_000_000)
        .with_waits(1, 0, 10 * SECOND);
    let message = "worker `Worker 2` used 98 % of a CPU";
    only(&cell, WarningCode::WorkerCpuBound, message);
    for processor in &mut cell.cpu.processors {
        processor.shares.busy = 0.97;
    }
    let message = "worker `Worker 2` used 98 % of a CPU; the 2 usable CPUs (97 % \
                   busy) have no room for more workers";
    only(&cell, WarningCode::WorkerCpuBound, message);
    cell.engine = EngineKind::Null;
    assert_eq!(
        warnings_of(&cell),
        [],
        "the null engine measures nothing but the processor"
    );
}

#[test]
fn threads_of_a_synchronous_worker_share_its_processor_time() {
    let mut cell = cell(0.5);
    cell.engine = EngineKind::Psync;
    set_thread_times(&mut cell, 16, 0.5, 0.01);
    assert_eq!(
        warnings_of(&cell),
        [],
        "8 threads used half a processor each"
    );
    set_thread_times(&mut cell, 16, 0.95, 0.01);
    let wanted = "2 of 2 workers used 95 % of a CPU each";
    assert!(
        warnings_of(&cell)[0].1.starts_with(wanted),
        "{:?}",
        warnings_of(&cell)
    );
    let other = &mut cell.worker_figures[1];
    *other = std::mem::take(other)
        .with_cpu(0, 0)
        .with_waits(8, 0, 80 * SECOND);
    let wanted = "the threads of worker `Worker 1` used 95 % of a CPU each";
    assert!(
        warnings_of(&cell)[0].1.starts_with(wanted),
        "{:?}",
        warnings_of(&cell)
    );
}

#[test]
fn more_threads_than_processors_wait_for_each_other() {
    let mut cell = cell(1.0);
    cell.workers = 4;
    set_thread_times(&mut cell, 4, 0.5, 0.49);
    let wanted = [
        (
            WarningCode::WaitedForProcessor,
            "the workers were ready to run but waited for a CPU for 49 % of the time: 4 threads \
             of this run share 2 usable CPUs (100 % busy)",
        ),
        (
            WarningCode::WorkerCpuBound,
            "2 of 2 workers ran for 50 % of the time each and waited for a CPU for 49 %; the \
             2 usable CPUs (100 % busy) have no room for more workers",
        ),
    ];
    let wanted = wanted.map(|(code, message)| (code, message.to_owned()));
    assert_eq!(warnings_of(&cell), wanted);
}

#[test]
fn cpu_use_of_others_is_distinguished_from_our_own() {
    let mut cell = cell(1.0);
    set_thread_times(&mut cell, 2, 0.4, 0.1);
    let message = "the workers were ready to run but waited for a CPU for 10 % of the time: the \
                   2 usable CPUs were 100 % busy; other processes and kernel threads used \
                   1.2 of them";
    only(&cell, WarningCode::WaitedForProcessor, message);
    // What the kernel does for a ring is ours.
    cell.cpu.utilization = 1.95;
    assert!(
        warnings_of(&cell)[0]
            .1
            .contains("runs for the engine used 1.1")
    );
    cell.cpu.utilization = 0.8;
    set_thread_times(&mut cell, 8, 0.1, 0.4);
    let text = &warnings_of(&cell)[0].1;
    assert!(
        text.contains("used 1.2 of them, and 8 threads of this run share the rest"),
        "{text}"
    );
}

#[test]
fn a_quota_that_leaves_cpus_idle_is_reported() {
    let mut cell = cell(0.3);
    set_thread_times(&mut cell, 2, 0.25, 0.7);
    let mut environment = environment();
    environment.cpu.usable_count = 1;
    let warnings = doubt(&cell, &environment, &sample::plan());
    let wanted = "waited for a CPU for 70 % of the time: of 2 usable CPUs (30 % busy), \
                  a quota allows this run 1";
    assert!(warnings[0].message.ends_with(wanted), "{warnings:?}");
    // The system rounds a quota to whole processors.
    environment.limits = vec![Limit {
        resource: LimitedResource::Processors,
        value: 0.5,
        group: "/sys/fs/cgroup/a".into(),
        device: None,
    }];
    let warnings = doubt(&cell, &environment, &sample::plan());
    let wanted = "a quota allows this run 0.5";
    assert!(warnings[0].message.ends_with(wanted), "{warnings:?}");
}

#[test]
fn waiting_without_a_visible_cause_blames_nobody() {
    let mut cell = cell(0.3);
    set_thread_times(&mut cell, 2, 0.28, 0.05);
    let text = &warnings_of(&cell)[0].1;
    let wanted = "the averages of the 2 usable CPUs (30 % busy) show no cause";
    assert!(text.ends_with(wanted), "{text}");
}

#[test]
fn threads_woken_together_on_idle_cpus_raise_no_alarm() {
    let mut cell = cell(0.3);
    set_thread_times(&mut cell, 8, 0.07, 0.14);
    assert_eq!(warnings_of(&cell), []);
    // The processors are short, or others use them.
    for busy in [0.8, 0.5] {
        for processor in &mut cell.cpu.processors {
            processor.shares.busy = busy;
        }
        cell.cpu.utilization = if busy == 0.8 { 1.5 } else { 0.7 };
        assert_eq!(warnings_of(&cell)[0].0, WarningCode::WaitedForProcessor);
    }
}

#[test]
fn waiting_below_two_percent_or_at_thread_start_raises_no_alarm() {
    let mut cell = cell(0.6);
    set_thread_times(&mut cell, 2, 0.5, 0.0199);
    assert_eq!(warnings_of(&cell), []);
    set_thread_times(&mut cell, 2, 0.5, 0.0201);
    assert_eq!(warnings_of(&cell)[0].0, WarningCode::WaitedForProcessor);
    cell.cpu.waited_ns = Some(9_000_000);
    assert_eq!(warnings_of(&cell), []);
    cell.cpu.waited_ns = None;
    assert_eq!(warnings_of(&cell), []);
}

#[test]
fn saturated_cpus_without_a_busy_worker_are_reported() {
    let message = "this run used 1.0 and others 0.9 of the 2 usable CPUs (96 % busy); threads \
                   that serve the target may have waited for a CPU";
    only(&cell(0.96), WarningCode::ProcessorsSaturated, message);
    assert_eq!(warnings_of(&cell(0.94)), []);
}

/// Gives the cell 40 intervals of a quarter of a second, in which so many of 10,000 were waited.
fn over_time(cell: &mut CellRecord, waits: impl Fn(usize) -> u64) {
    let interval = |index: usize| IntervalRecord {
        at_ns: index as u64 * SECOND / 4,
        length_ns: SECOND / 4,
        waited_ns: Some(waits(index) * (SECOND / 2) / 10_000),
        ..IntervalRecord::default()
    };
    cell.intervals = (0..40).map(interval).collect();
    let waited_ns = cell.intervals.iter().filter_map(|it| it.waited_ns).sum();
    cell.set_threads(2, waited_ns, 20 * SECOND);
}

/// From when to when the workers waited, by the warning.
fn stretch(cell: &CellRecord) -> Option<String> {
    let doubts = warnings_of(cell);
    let (code, message) = doubts.first()?;
    assert_eq!(code, &WarningCode::WaitedForProcessor);
    let (_, rest) = message.split_once(" from ")?;
    Some(rest.split_once("): ")?.0.to_owned())
}

#[test]
fn a_period_of_waiting_is_reported_with_its_time() {
    let mut cell = cell(0.6);
    // Half of the time in two intervals of forty is more than 2 %, in one it is less.
    over_time(
        &mut cell,
        |index| if (12..14).contains(&index) { 5000 } else { 10 },
    );
    assert_eq!(stretch(&cell).unwrap(), "3.0 s to 3.5 s");
    over_time(&mut cell, |index| if index == 39 { 5000 } else { 10 });
    assert_eq!(stretch(&cell).unwrap(), "9.8 s to 10.0 s");
    // All the time, more or less.
    over_time(&mut cell, |index| 4000 + 1000 * (index as u64 % 2));
    assert_eq!((warnings_of(&cell).len(), stretch(&cell)), (1, None));
    // Much waiting from 2.5 s on, and a little waiting with another cause before that.
    over_time(&mut cell, |index| if index < 10 { 500 } else { 6000 });
    assert_eq!(stretch(&cell).unwrap(), "2.5 s to 10.0 s");
}

/// Numbers that are the same each time: xorshift.
struct XorShift(u64);

impl XorShift {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// What quiet runs showed: some hundredths of a percent as a rule, and in one interval of 50 a
/// kernel thread that takes one of the processors for up to 12 ms.
fn quiet(dice: &mut XorShift) -> Vec<u64> {
    let burst = |dice: &mut XorShift| match dice.roll(50) {
        0 => dice.roll(240),
        _ => 0,
    };
    (0..40).map(|_| dice.roll(20) + burst(dice)).collect()
}

#[test]
fn a_busy_loop_in_mid_run_is_found_and_quiet_runs_raise_no_alarm() {
    let (mut dice, mut cell) = (XorShift(0x2545_f491_4f6c_dd1d), cell(0.6));
    for _ in 0..300 {
        let waits = quiet(&mut dice);
        over_time(&mut cell, |index| waits[index]);
        assert_eq!(warnings_of(&cell), []);
        // A loop that shares one of two processors for half a second: 1.25 % of the whole.
        let from = dice.roll(38) as usize;
        over_time(&mut cell, |index| match index.checked_sub(from) {
            Some(0 | 1) => waits[index] + 2500,
            _ => waits[index],
        });
        let seconds = |index: usize| index as f64 / 4.0;
        let wanted = format!("{:.1} s to {:.1} s", seconds(from), seconds(from + 2));
        assert_eq!(stretch(&cell), Some(wanted));
    }
}

#[test]
fn more_workers_are_not_advised_if_workers_wait_for_a_cpu() {
    let mut cell = cell(0.7);
    let busy = &mut cell.worker_figures[1];
    *busy = std::mem::take(busy)
        .with_cpu(9 * SECOND, 810_000_000)
        .with_waits(1, 0, 10 * SECOND);
    cell.set_threads(2, 2 * SECOND, 20 * SECOND);
    let doubts = warnings_of(&cell);
    let codes: Vec<_> = doubts.iter().map(|(code, _)| code.clone()).collect();
    let wanted = [WarningCode::WaitedForProcessor, WarningCode::WorkerCpuBound];
    assert_eq!(codes, wanted, "{doubts:?}");
    let advises = doubts
        .iter()
        .any(|(_, text)| text.contains("more `--workers`"));
    assert!(!advises, "{doubts:?}");
}

#[test]
fn fewer_workers_are_not_advised_for_a_single_worker() {
    let mut cell = cell(1.0);
    cell.worker_figures.truncate(1);
    (cell.workers, cell.iodepth) = (1, 1);
    for processor in &mut cell.cpu.processors {
        processor.shares.busy = 0.99;
    }
    let fewer = warnings_of(&cell)
        .iter()
        .any(|(_, text)| text.contains("fewer `--workers`") || text.contains("`--iodepth`"));
    assert!(!fewer, "{:?}", warnings_of(&cell));
}
