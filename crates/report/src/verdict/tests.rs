use results::{MachineCpu, Phase, ProcessorFigures, RunRecord, Warning, WarningCode, WithinRun};

use super::*;
use crate::Model;
use crate::sample;

/// Figures of these kinds: whether they read, at random, at this depth, and their rate.
fn record(cells: &[(bool, bool, u32, f64)]) -> RunRecord {
    let mut record = sample::record();
    let plan = record.plan.clone();
    let measured = sample::cell_record(&plan, 1, 5_000);
    record.warnings.clear();
    (record.plan.cells, record.cells) = (0..)
        .zip(cells)
        .map(|(index, (reads, is_random, depth, rate))| {
            let mut cell = sample::cell(index, "x", *depth, 1, if *reads { 100.0 } else { 0.0 });
            let line = &mut cell.workers[0].lines[0];
            line.random_percent = if *is_random { 100.0 } else { 0.0 };
            line.size_bytes = if *is_random { 4096 } else { 1 << 20 };
            let mut one = measured.clone();
            (one.index, one.first_index, one.iodepth) = (index, Some(index), *depth);
            one.access_spec = Some(format!("spec {reads} {is_random}"));
            one.total.per_second = *rate;
            one.total.bytes_per_second = rate * f64::from(line_size(*is_random));
            one.total.bytes = one.total.count * u64::from(line_size(*is_random));
            (cell, one)
        })
        .unzip();
    record
}

fn line_size(is_random: bool) -> u32 {
    if is_random { 4096 } else { 1 << 20 }
}

const QUICK: [(bool, bool, u32, f64); 6] = [
    (true, false, 4, 2_000.0),
    (false, false, 4, 1_000.0),
    (true, true, 1, 12_000.0),
    (true, true, 32, 240_000.0),
    (false, true, 1, 30_000.0),
    (false, true, 32, 120_000.0),
];

fn within(share: f64) -> WithinRun {
    WithinRun {
        intervals: 60,
        mean: 1.0,
        stddev: 0.01,
        effective: Some(30.0),
        ci95_low: Some(1.0 - share),
        ci95_high: Some(1.0 + share),
        warm_up: None,
        drift: None,
    }
}

fn sentence<'a>(verdict: &'a RunVerdict, name: &str) -> Option<&'a str> {
    let mut sentences = verdict.sentences.iter();
    sentences
        .find(|(own, _)| *own == name)
        .map(|(_, text)| text.as_str())
}

#[test]
fn device_figures_are_in_the_order_of_data_sheets() {
    let mut record = record(&QUICK);
    record.cells[3].within = Some(within(0.012));
    let verdicts = Model::new(&record).verdicts;
    let lines: Vec<String> = verdicts[0]
        .figures
        .iter()
        .map(|it| {
            format!(
                "{}, {}: {} ({})",
                it.name,
                it.depth.unwrap(),
                it.value,
                it.uncertainty
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "sequential read, 4: 1.953 GiB/s (measured once)",
            "sequential write, 4: 1000 MiB/s (measured once)",
            "4 KiB random read, 1: 12.00k IOPS (measured once)",
            "4 KiB random read, 32: 240.0k IOPS (measured once, ±1.2 % within the run)",
            "4 KiB random write, 1: 30.00k IOPS (measured once)",
            "4 KiB random write, 32: 120.0k IOPS (measured once)",
        ]
    );
}

#[test]
fn the_verdict_names_class_and_limit_and_ends_with_the_worst_doubt() {
    let mut record = record(&QUICK);
    record.warnings = vec![
        Warning::of_cell(WarningCode::NotSteady, 0, "the rate fell"),
        Warning::of_cell(WarningCode::StealTime, 1, "stolen"),
    ];
    let verdict = &Model::new(&record).verdicts[0];
    let like = sentence(verdict, "like").unwrap();
    assert!(
        like.starts_with("an NVMe SSD: 12.00k random reads per second"),
        "{like}"
    );
    let limit = sentence(verdict, "limit").unwrap();
    assert!(limit.starts_with("the device or the path to it"), "{limit}");
    let doubt = sentence(verdict, "doubt").unwrap();
    assert!(doubt.ends_with("(and 1 more reason to doubt)"), "{doubt}");
    let (name, last) = verdict.sentences.last().unwrap();
    assert_eq!(
        (*name, last.as_str()),
        ("next", "use a host with spare CPUs")
    );
}

#[test]
fn reads_from_the_page_cache_are_like_memory_and_limited_by_the_cpu() {
    let mut record = record(&QUICK);
    record.warnings = vec![
        Warning::of_cell(WarningCode::CacheServedReads, 3, "cached"),
        Warning::of_cell(WarningCode::WorkerCpuBound, 3, "busy"),
    ];
    let verdict = &Model::new(&record).verdicts[0];
    let like = sentence(verdict, "like").unwrap();
    assert!(
        like.starts_with("memory: the page cache served reads"),
        "{like}"
    );
    assert_eq!(
        sentence(verdict, "limit"),
        Some(
            "the CPU limited random reads at depth 32; a cache took part in random reads at depth \
             32: the device moved only some of the data"
        )
    );
}

#[test]
fn a_cache_took_the_place_of_the_device_only_if_the_device_moved_hardly_anything() {
    let mut record = record(&QUICK);
    record.warnings = vec![Warning::of_cell(WarningCode::CacheServedReads, 3, "cached")];
    let device = record.cells[3].device.as_mut().unwrap();
    (device.read_bytes, device.write_bytes) = (0, 0);
    let verdict = &Model::new(&record).verdicts[0];
    let wanted = "a cache served random reads at depth 32, not the device";
    assert_eq!(sentence(verdict, "limit"), Some(wanted));
}

#[test]
fn programs_that_use_the_cpus_are_mentioned_where_the_cpu_is_the_limit() {
    let mut record = record(&QUICK);
    record.warnings = vec![Warning::of_cell(
        WarningCode::WaitedForProcessor,
        3,
        "it waited",
    )];
    let cpus = f64::from(record.environment.cpu.logical_count);
    let limit_with_busy = |busy: f64| {
        let mut record = record.clone();
        record.cells[3].cpu.utilization = 1.0;
        let shares = MachineCpu {
            busy,
            ..MachineCpu::default()
        };
        let of_cpu = |cpu| ProcessorFigures { cpu, shares };
        record.cells[3].cpu.processors = (0..cpus as u32).map(of_cpu).collect();
        record.cells[3].cpu.usable.clear();
        let verdict = &Model::new(&record).verdicts[0];
        sentence(verdict, "limit").unwrap().to_owned()
    };
    let named = "the CPU limited random reads at depth 32";
    assert_eq!(limit_with_busy(1.0 / cpus), named);
    assert_eq!(
        limit_with_busy(0.75),
        format!(
            "{named}: other processes and kernel threads used up to {:.1} of {cpus} CPUs",
            0.75 * cpus - 1.0
        )
    );
}

#[test]
fn a_plateau_at_a_round_rate_indicates_a_provider_limit() {
    let mut cells = QUICK;
    (cells[3].3, cells[5].3) = (3_004.0, 2_991.0);
    let mut record = record(&cells);
    for cell in &mut record.cells {
        cell.within = Some(within(0.01));
    }
    let verdict = &Model::new(&record).verdicts[0];
    let limit = sentence(verdict, "limit").unwrap();
    assert!(
        limit.ends_with("provider's limit: 3.000k IOPS in 2 cells"),
        "{limit}"
    );
}

#[test]
fn a_single_access_kind_or_another_workload_has_the_results_of_its_cells() {
    let verdict = |record: &RunRecord| {
        let mut verdicts = Model::new(record).verdicts;
        assert_eq!(verdicts.len(), 1);
        verdicts.remove(0)
    };
    let reads = verdict(&record(&QUICK[2..4]));
    assert!(!reads.is_of_device);
    let values: Vec<&str> = reads.figures.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(values, ["12.00k IOPS", "240.0k IOPS"]);
    assert_eq!(sentence(&reads, "like"), None);
    assert!(
        sentence(&reads, "next")
            .unwrap()
            .starts_with("add `--repetitions 5`")
    );
    let mixed = verdict(&sample::record());
    assert!(!mixed.is_of_device && !mixed.figures.is_empty());
    let mut classic = record(&QUICK);
    classic
        .plan
        .cells
        .iter_mut()
        .for_each(|cell| cell.workers.clear());
    for cell in &mut classic.cells {
        cell.phase = Phase::Classic("tx".to_owned());
    }
    let classic = verdict(&classic);
    assert!(!classic.is_of_device);
    assert!(
        classic.figures[0].value.ends_with(" per second"),
        "{classic:?}"
    );
}

#[test]
fn verdicts_fit_on_a_screen_of_24_lines() {
    let depths = [1, 2, 4, 8, 16, 32];
    let sweep = depths.map(|depth| (true, true, depth, 1_000.0 * f64::from(depth)));
    let long = "a workload whose name takes more than one line in a terminal of 80 columns";
    let mut named = record(&[QUICK, sweep].concat());
    for (index, cell) in named.cells.iter_mut().enumerate() {
        cell.access_spec = Some(format!("{long} {index}"));
    }
    for mut record in [record(&QUICK), record(&sweep), named, sample::record()] {
        let message = "word ".repeat(60);
        record.warnings = vec![Warning::of_run(WarningCode::StealTime, message)];
        let verdicts = fit::shortened(&Model::new(&record).verdicts);
        assert!(fit::lines_count(&verdicts) <= 24, "{verdicts:#?}");
        let shown: usize = verdicts.iter().map(|it| it.figures.len()).sum();
        assert!(shown > 0);
    }
}

#[test]
fn a_sweep_adds_advice_on_depth_to_the_verdict() {
    let cells = [1, 2, 4].map(|depth| (true, true, depth, 1_000.0 * f64::from(depth)));
    let verdicts = Model::new(&record(&cells)).verdicts;
    assert_eq!(verdicts.len(), 1);
    let advice = sentence(&verdicts[0], "queue depth").unwrap();
    assert!(
        advice.starts_with("the highest measured rate, 4.000k IOPS, at depth 4"),
        "{advice}"
    );
}
