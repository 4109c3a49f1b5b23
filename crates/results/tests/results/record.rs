//! Records written and read back.

use std::io::{Cursor, Read, Seek, SeekFrom};

use plan::TargetKind;
use results::{
    FORMAT, IntervalKind, LabRecord, Latency, Phase, ReadError, RunRecord, Status, Warning,
    WarningCode,
};

use crate::sample;

#[test]
fn a_record_reads_back_as_it_was_written() {
    let record = sample::record();
    let text = record.to_json();
    assert!(text.ends_with("}\n"));
    assert_eq!(RunRecord::from_json(&text).unwrap(), record);
    assert_eq!(RunRecord::read(Cursor::new(&text)).unwrap(), record);
    let other = text.replace(FORMAT, "pgmeter-record/99");
    let error = RunRecord::read(Cursor::new(other)).unwrap_err();
    assert!(
        matches!(error, ReadError::UnsupportedFormat { .. }),
        "{error}"
    );
}

/// Text that is generated while it is read. Remembers the largest read request.
struct Blanks<'a> {
    record: Cursor<&'a [u8]>,
    blanks_left: usize,
    requested_max: usize,
}

impl Read for Blanks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.requested_max = self.requested_max.max(buffer.len());
        let count = self.record.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        let count = buffer.len().min(self.blanks_left);
        self.blanks_left -= count;
        buffer[..count].fill(b' ');
        Ok(count)
    }
}

impl Seek for Blanks<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.record.seek(to)
    }
}

#[test]
fn a_record_is_read_without_holding_its_whole_text() {
    let record = sample::record();
    let text = record.to_json();
    let mut blanks = Blanks {
        record: Cursor::new(text.as_bytes()),
        blanks_left: 4 << 20,
        requested_max: 0,
    };
    assert_eq!(RunRecord::read(&mut blanks).unwrap(), record);
    assert_eq!(blanks.blanks_left, 0);
    assert!(blanks.requested_max <= 1 << 16, "{}", blanks.requested_max);
}

#[test]
fn a_target_has_its_full_path_if_the_directory_is_known() {
    let mut record = sample::record();
    let mut target = record.plan.targets[0].clone();
    let mut full_path = |directory: &str, path: &str, kind| {
        record.environment.directory = directory.to_owned();
        target.path = path.into();
        target.kind = kind;
        record.full_path(&target).display().to_string()
    };
    assert_eq!(
        full_path("/home/me", ".", TargetKind::Directory),
        "/home/me"
    );
    assert_eq!(
        full_path("/home/me", "./a/", TargetKind::File),
        "/home/me/a"
    );
    assert_eq!(full_path("/home/me", "/mnt", TargetKind::Directory), "/mnt");
    assert_eq!(full_path("/home/me", "null", TargetKind::Null), "null");
    assert_eq!(full_path("", ".", TargetKind::Directory), ".");
}

#[test]
fn a_record_of_an_interrupted_run_without_cells_is_valid() {
    let mut record = RunRecord::new(sample::plan(), sample::environment(), Vec::new());
    record.finish(Status::Interrupted);
    let read = RunRecord::from_json(&record.to_json()).unwrap();
    assert_eq!(read, record);
    assert_eq!(read.status, Status::Interrupted);
    assert!(read.finished_at.is_some());
}

#[test]
fn numbers_that_are_not_finite_become_null() {
    let mut record = sample::record();
    record.cells[0].total.per_second = f64::NAN;
    record.cells[0].cpu.utilization = f64::INFINITY;
    record.cells[0].own_cost_ns_per_operation = Some(f64::NEG_INFINITY);
    let text = record.to_json();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(value["cells"][0]["total"]["per_second"].is_null());
    assert!(value["cells"][0]["cpu"]["utilization"].is_null());
    let read = RunRecord::from_json(&text).unwrap();
    assert!(read.cells[0].total.per_second.is_nan());
    assert_eq!(read.cells[0].own_cost_ns_per_operation, None);
}

#[test]
fn a_path_that_is_not_utf8_does_not_spoil_the_record() {
    use std::os::unix::ffi::OsStringExt;
    let mut record = sample::record();
    record.plan.targets[0].path = std::ffi::OsString::from_vec(vec![b'/', 0xff, b'x']).into();
    let read = RunRecord::from_json(&record.to_json()).unwrap();
    assert_eq!(read.plan.targets[0].path.to_str(), Some("/\u{fffd}x"));
}

#[test]
fn the_documented_fields_are_there() {
    let value: serde_json::Value = serde_json::from_str(&sample::record().to_json()).unwrap();
    assert_eq!(value["format"], FORMAT);
    assert_eq!(value["status"], "complete");
    assert_eq!(value["started_at"], "2026-11-21T02:36:12.042Z");
    assert_eq!(value["plan"]["settings"][0]["source"], "option");
    let cell = &value["cells"][0];
    for field in [
        "index",
        "workload",
        "access_spec",
        "target",
        "engine",
        "cache",
        "iodepth",
        "workers",
        "ranks",
        "repetition",
        "phase",
        "run_time_ns",
        "ramp_time_ns",
        "operations",
        "transactions",
        "total",
        "cpu",
        "device",
        "own_cost_ns_per_operation",
        "intervals",
    ] {
        assert!(!cell[field].is_null(), "`{field}` is missing");
    }
    let latency = &cell["operations"]["read"]["latency"];
    for percentile in ["50", "90", "95", "99", "99.9", "99.99", "99.999"] {
        assert!(
            latency["percentiles_ns"][percentile].is_u64(),
            "`{percentile}` is missing"
        );
    }
    assert!(
        latency["histogram"]["hdr_v2_base64"]
            .as_str()
            .unwrap()
            .starts_with("HISTF")
    );
    assert_eq!(cell["intervals"][0]["operations"]["read"]["count"], 8000);
    assert_eq!(cell["phase"], "measure");
    assert_eq!(cell["engine"], "io_uring");
}

#[test]
fn a_later_record_of_the_same_format_is_read() {
    let mut value: serde_json::Value = serde_json::from_str(&sample::record().to_json()).unwrap();
    value["invented"] = 1.into();
    value["cells"][0]["total"]["invented"] = 1.into();
    value["warnings"] = serde_json::json!([{"code": "of-tomorrow", "message": "m", "cell": null}]);
    let read = RunRecord::from_json(&value.to_string()).unwrap();
    assert_eq!(
        read.warnings[0].code,
        WarningCode::Other("of-tomorrow".into())
    );
}

#[test]
fn an_earlier_record_of_the_same_format_is_read() {
    let mut value: serde_json::Value = serde_json::from_str(&sample::record().to_json()).unwrap();
    let cell = value["cells"][0].as_object_mut().unwrap();
    for added in [
        "worker_figures",
        "engine_notes",
        "errors",
        "started_at",
        "device",
    ] {
        cell.remove(added);
    }
    value.as_object_mut().unwrap().remove("environment");
    let read = RunRecord::from_json(&value.to_string()).unwrap();
    assert!(read.cells[0].worker_figures.is_empty());
}

#[test]
fn other_formats_and_other_texts_are_refused() {
    let invalid = r#"{"format": "pgmeter-record/3", "whatever": []}"#;
    let error = RunRecord::from_json(invalid).unwrap_err();
    let wanted = "the record's format is `pgmeter-record/3`, but this version reads \
                  `pgmeter-record/2`";
    assert_eq!(error.to_string(), wanted);
    for text in ["", "{", "[]", "null", "\u{0}"] {
        assert!(
            matches!(RunRecord::from_json(text), Err(ReadError::NotARecord(_))),
            "{text}"
        );
    }
}

#[test]
fn ids_sort_by_time() {
    let first = RunRecord::new(sample::plan(), sample::environment(), Vec::new());
    std::thread::sleep(std::time::Duration::from_millis(2));
    let second = RunRecord::new(sample::plan(), sample::environment(), Vec::new());
    assert!(first.id < second.id, "{} {}", first.id, second.id);
}

#[test]
fn rates_come_from_measured_time() {
    let plan = sample::plan();
    let totals = sample::totals(1000, true);
    let run_time_ns = 2 * sample::SECOND;
    let record =
        results::CellRecord::of(&plan.cells[0], &plan, &totals, run_time_ns, sample::NAMES);
    assert_eq!(record.planned_run_time_ns, 10 * sample::SECOND);
    assert_eq!(record.total.per_second, 500.0);
    assert_eq!(record.operations["read"].count, 800);
    assert_eq!(record.operations["write"].bytes_per_second, 100.0 * 4096.0);
    assert_eq!(record.transactions["transfer"].count, 1000);
    assert_eq!(record.target, "/mnt/array");
}

#[test]
fn a_measured_time_of_zero_gives_no_rate_and_no_panic() {
    let plan = sample::plan();
    let empty = stats::Interval::default();
    let record = results::CellRecord::of(&plan.cells[0], &plan, &empty, 0, sample::NAMES);
    assert_eq!(record.total.per_second, 0.0);
    assert_eq!(record.total.latency, Latency::default());
    assert!(record.operations.is_empty());
}

#[test]
fn errors_are_counted_by_cause() {
    let plan = sample::plan();
    let mut totals = sample::totals(10, false);
    totals.operation_mut(0).record_error(-5, 1000);
    totals.operation_mut(0).record_error(-5, 1000);
    totals.operation_mut(0).record_error(99_999, 1000);
    let record = results::CellRecord::of(
        &plan.cells[1],
        &plan,
        &totals,
        sample::SECOND,
        sample::NAMES,
    );
    assert_eq!(record.total.errors, 3);
    let causes: Vec<_> = record
        .errors
        .iter()
        .map(|cause| {
            (
                cause.operation.as_str(),
                cause.message.as_str(),
                cause.count,
            )
        })
        .collect();
    let other = "an error number that Linux does not have";
    assert_eq!(
        causes,
        [("read", "Input/output error", 2), ("read", other, 1)]
    );
}

#[test]
fn latencies_are_counted_between_bounds() {
    let mut histogram = stats::Histogram::new();
    for ns in [10, 49, 50, 99, 5000] {
        histogram.record(ns);
    }
    assert_eq!(
        Latency::of(&histogram).counts_between(&[50, 100]),
        [2, 2, 1]
    );
    assert_eq!(Latency::default().counts_between(&[50, 100]), [0, 0, 0]);
}

#[test]
fn repetitions_become_estimates() {
    let plan = sample::plan();
    let mut cells: Vec<_> = [1000, 1200, 1100]
        .map(|count| sample::cell_record(&plan, 0, count))
        .into();
    for (repetition, cell) in (0..).zip(&mut cells) {
        cell.repetition = repetition;
    }
    cells.push(sample::cell_record(&plan, 1, 500));
    let estimates = results::estimates(&cells);
    let total = estimates
        .iter()
        .find(|estimate| (&*estimate.operation, &*estimate.metric) == ("total", "per_second"))
        .unwrap();
    assert_eq!(
        (total.n, total.mean, total.unit.as_str()),
        (3, 110.0, "1/s")
    );
    assert!(total.ci95_low.unwrap() < 110.0 && total.ci95_high.unwrap() > 110.0);
    assert!(
        estimates.iter().all(|estimate| estimate.iodepth == 8),
        "one run is no estimate"
    );
}

#[test]
fn means_have_a_detectable_difference_and_percentiles_an_interval() {
    let plan = sample::plan();
    let of = |n: u32| {
        let cells: Vec<_> = (0..n)
            .map(|repetition| {
                let mut cell = sample::cell_record(&plan, 0, 20_000 + 100 * u64::from(repetition));
                cell.repetition = repetition;
                cell
            })
            .collect();
        let estimates = results::estimates(&cells);
        let one = |metric: &str| {
            let is_it =
                |it: &&results::EstimateRecord| (&*it.operation, &*it.metric) == ("total", metric);
            estimates.iter().find(is_it).cloned().unwrap()
        };
        (one("per_second"), one("latency_p99"))
    };
    let (rate, p99) = of(4);
    assert_eq!(rate.interval, Some(IntervalKind::T));
    assert!(rate.smallest_difference.unwrap() > 0.0 && rate.verdict.is_none());
    assert_eq!(
        (p99.interval, p99.smallest_difference),
        (Some(IntervalKind::T), None)
    );
    let (rate, p99) = of(5);
    assert_eq!(rate.interval, Some(IntervalKind::T));
    assert_eq!(p99.interval, Some(IntervalKind::Bootstrap));
    assert!(p99.ci95_low.unwrap() <= p99.mean && p99.mean <= p99.ci95_high.unwrap());
    let text = serde_json::to_string(&p99).unwrap();
    assert!(
        text.contains(r#""interval":"bootstrap""#) && !text.contains("verdict"),
        "{text}"
    );
}

#[test]
fn interrupted_repetitions_do_not_count() {
    let plan = sample::plan();
    let mut cells = vec![
        sample::cell_record(&plan, 0, 100),
        sample::cell_record(&plan, 0, 100),
    ];
    cells[1].repetition = 1;
    cells[1].status = Status::Interrupted;
    assert!(results::estimates(&cells).is_empty());
}

/// The sample with both cells of one name and one depth, each measured twice.
fn run_with_equal_names() -> results::RunRecord {
    let mut record = sample::record();
    for cell in &mut record.plan.cells {
        *cell = sample::cell(cell.index, "4 KiB random read", 1, 1, 100.0);
        cell.workload_index = Some(cell.index);
    }
    let measured = |index, repetition, count| {
        let mut cell = sample::cell_record(&record.plan, index, count);
        (cell.index, cell.repetition) = (2 * repetition + index as u32, repetition);
        cell
    };
    record.cells = vec![
        measured(0, 0, 5000),
        measured(1, 0, 100),
        measured(0, 1, 5200),
        measured(1, 1, 120),
    ];
    record.estimates = results::estimates(&record.cells);
    record
}

#[test]
fn workloads_with_the_same_name_are_estimated_separately() {
    let record = run_with_equal_names();
    let is_rate =
        |it: &&results::EstimateRecord| (&*it.operation, &*it.metric) == ("total", "per_second");
    let rates = record.estimates.iter().filter(is_rate);
    let rates: Vec<_> = rates.map(|it| (it.first_index, it.n, it.mean)).collect();
    assert_eq!(rates, [(Some(0), 2, 510.0), (Some(1), 2, 11.0)]);
    let names = results::CellNames::of(&record.plan);
    let names: Vec<String> = record.cells.iter().map(|it| names.title(it)).collect();
    assert_eq!(names[..2], ["4 KiB random read", "4 KiB random read (2)"]);
    assert_eq!(names[2..], names[..2]);
    let read = results::RunRecord::from_json(&record.to_json()).unwrap();
    assert_eq!(read, record);
}

#[test]
fn records_without_keys_match_repetitions_by_name() {
    let mut record = sample::record();
    let again: Vec<_> = record.cells.iter().cloned().zip(2..).collect();
    record
        .cells
        .extend(again.into_iter().map(|(mut cell, index)| {
            (cell.index, cell.repetition) = (index, 1);
            cell
        }));
    record.estimates = results::estimates(&record.cells);
    let mut old: serde_json::Value = serde_json::from_str(&record.to_json()).unwrap();
    for cells in ["/cells", "/estimates", "/plan/cells"] {
        for cell in old.pointer_mut(cells).unwrap().as_array_mut().unwrap() {
            cell.as_object_mut().unwrap().remove("first_index");
        }
    }
    let read = results::RunRecord::from_json(&old.to_string()).unwrap();
    assert_eq!(
        (&read.cells, &read.estimates),
        (&record.cells, &record.estimates)
    );
    let lab = LabRecord::new(sample::environment(), Vec::new());
    let mut lab = units::json_value(&lab).unwrap();
    for format in ["pgmeter-lab/1", "pgmeter-lab/2"] {
        (lab["format"], lab["runs"]) = (format.into(), serde_json::json!([old]));
        let read = LabRecord::from_json(&lab.to_string()).unwrap();
        assert_eq!(read.runs[0].cells, record.cells, "{format}");
    }
}

#[test]
fn phases_are_serialized_as_text() {
    for (text, phase) in [
        ("\"measure\"", Phase::Measure),
        ("\"prepare\"", Phase::Prepare),
        ("\"rewrite\"", Phase::Classic("rewrite".into())),
        ("\"classic:measure\"", Phase::Classic("measure".into())),
        ("\"classic:prepare\"", Phase::Classic("prepare".into())),
        ("\"classic:ramp\"", Phase::Classic("ramp".into())),
        ("\"classic:cleanup\"", Phase::Classic("cleanup".into())),
        ("\"classic:classic:x\"", Phase::Classic("classic:x".into())),
    ] {
        assert_eq!(serde_json::from_str::<Phase>(text).unwrap(), phase);
        assert_eq!(serde_json::to_string(&phase).unwrap(), text);
    }
}

#[test]
fn every_code_reads_back_and_is_kebab_case() {
    for code in WarningCode::ALL {
        let text = code.as_str();
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-'),
            "{text}"
        );
        assert_eq!(&WarningCode::from(text.to_owned()), code);
    }
}

#[test]
fn a_warning_in_a_record_has_its_level() {
    let json = |code| serde_json::to_value(Warning::of_cell(code, 1, "so")).unwrap();
    let late = json(WarningCode::IntervalLate);
    let wanted = serde_json::json!({
        "code": "interval-late", "level": "note", "message": "so", "cell": 1
    });
    assert_eq!(late, wanted);
    assert_eq!(json(WarningCode::IoErrors)["level"], "warning");
    // The level follows from the code, also in records that lack it.
    let mut old = late.clone();
    old.as_object_mut().unwrap().remove("level");
    let read: Warning = serde_json::from_value(old).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), late);
}

#[test]
fn a_title_distinguishes_a_cell_from_the_others() {
    let mut plan = sample::plan();
    let title = |plan: &plan::Plan| results::cell_title(&plan.cells[0], plan);
    assert_eq!(title(&plan), "File Server, iodepth 8, 2 workers");
    plan.targets.push(plan.targets[0].clone());
    plan.cells[1].repetition = 1;
    assert_eq!(
        title(&plan),
        "File Server, iodepth 8, 2 workers, /mnt/array, repetition 1"
    );
}

/// Ten transfers over two connections, whose third opening failed.
fn connected() -> (results::CounterNames<'static>, stats::Interval) {
    let names = results::CounterNames {
        operations: &["read", "write", "open", "close"],
        transactions: &["transaction", "connection"],
    };
    let mut totals = stats::Interval::with(0..4, 2);
    for number in 0..10 {
        totals.operation_mut(number % 2).record(4096, 1000);
        totals.transaction_mut(0).record(4096, 1000);
    }
    for operation in [2, 3, 2, 3] {
        totals.operation_mut(operation).record(0, 50_000);
    }
    totals.operation_mut(2).record_error(-24, 70);
    totals.transaction_mut(1).record(0, 100_000);
    totals.transaction_mut(1).record(0, 300_000);
    (names, totals)
}

#[test]
fn the_total_counts_operations_that_move_bytes_and_all_errors() {
    let plan = sample::plan();
    let (names, totals) = connected();
    let record = results::CellRecord::of(&plan.cells[0], &plan, &totals, sample::SECOND, names);
    assert_eq!(record.total.count, 10);
    assert_eq!(record.total.per_second, 10.0);
    assert_eq!(record.total.latency.count, 10);
    assert_eq!(record.total.latency.max_ns, Some(1000));
    assert_eq!(record.total.errors, 1);
    assert_eq!(record.errors[0].operation, "open");
    assert_eq!(record.operations["open"].errors, 1);
    assert_eq!(record.operations["close"].count, 2);
}

#[test]
fn the_total_counts_everything_if_nothing_moves_bytes() {
    let plan = sample::plan();
    let (names, _) = connected();
    let mut totals = stats::Interval::with(0..4, 0);
    totals.operation_mut(2).record(0, 10);
    totals.operation_mut(3).record(0, 20);
    let record = results::CellRecord::of(&plan.cells[0], &plan, &totals, sample::SECOND, names);
    assert_eq!(record.total.count, 2);
}

#[test]
fn connections_are_not_counted_as_transactions() {
    let plan = sample::plan();
    let (names, totals) = connected();
    let worker = &plan.cells[0].workers[0];
    let figures = results::WorkerFigures::of(worker, &totals, sample::SECOND, names);
    assert_eq!((figures.transactions, figures.connections), (10, 2));
    assert_eq!(figures.transaction_latency, None, "single operations");
    let latency = figures.connection_latency.unwrap();
    assert_eq!((latency.sum_ns, latency.max_ns), (400_000, Some(300_000)));
    let target = results::TargetFigures::of(&plan, 0, &totals, sample::SECOND, names);
    assert_eq!((target.transactions, target.connections), (10, 2));
    let plain = sample::totals(10, false);
    let plain = results::WorkerFigures::of(worker, &plain, sample::SECOND, sample::NAMES);
    assert_eq!((plain.connections, plain.connection_latency), (0, None));
}

#[test]
fn a_record_read_and_written_again_is_the_same_bytes() {
    let mut record = sample::record();
    // Numbers of 17 digits, which a reader that rounds carelessly misses by the last one.
    let mut value = 0.1_f64;
    for _ in 0..200 {
        value = (value * 997.123_456_789).fract() + 1e-9;
        record.cells[0].own_cost_ns_per_operation = Some(value * 51.247_448_160_1);
        record.cells[0].total.per_second = value / 3.0;
        let text = record.to_json();
        assert_eq!(RunRecord::from_json(&text).unwrap().to_json(), text);
    }
}

#[test]
fn a_cell_restored_from_intervals_has_their_sums() {
    let plan = sample::plan();
    let interval = |at: u64, count| {
        let mut interval = sample::totals(count, true);
        (interval.at_ns, interval.length_ns) = (at * sample::SECOND, sample::SECOND);
        results::IntervalRecord::of(&interval, sample::NAMES)
    };
    let intervals = vec![interval(0, 1000), interval(1, 500)];
    let record = results::CellRecord::of_intervals(&plan.cells[0], &plan, intervals.clone());
    assert_eq!(record.status, Status::Interrupted);
    assert_eq!(record.run_time_ns, 2 * sample::SECOND);
    assert_eq!(record.operations["read"].count, 1200);
    assert_eq!(record.operations["write"].per_second, 150.0);
    assert_eq!((record.total.count, record.total.per_second), (1500, 750.0));
    assert_eq!(record.total.latency.max_ns, Some(12_000_000));
    assert_eq!(record.total.latency.percentiles_ns.p50, None);
    assert_eq!(record.intervals, intervals);
}
