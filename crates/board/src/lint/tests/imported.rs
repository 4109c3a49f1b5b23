//! Results of other programs: honest ones get values and pass, and each forgery is found.

use std::collections::BTreeMap;

use generate::pool::Totals;
use results::{ImportedText, RunRecord, Timestamp};

use super::forged::description;
use crate::lint::PoolModel;
use crate::{
    BoardConfig, CheckedSubmission, Checker, PoolGeneration, PoolSize, Submission, TrustLevel,
    check_together, new_board, prepare, table_of, work_of,
};

const KIB: f64 = 1024.0;

fn config() -> BoardConfig {
    BoardConfig::read("board.toml", &new_board(None, false)[0].text).unwrap()
}

/// Sizes of the work in table 1 of 1999, and of PostMark's default.
const TABLE_1: PoolSize = size(1000, 50_000);
const SMALL: PoolSize = size(500, 500);

const fn size(number: u32, transactions: u32) -> PoolSize {
    PoolSize {
        number,
        transactions,
        subdirectories: 0,
    }
}

/// A session of PostMark that took these whole seconds: creation, transactions, deletion.
struct Session {
    version: &'static str,
    size: PoolSize,
    seconds: [u64; 3],
}

impl Session {
    fn totals(&self) -> Totals {
        let generation = match self.is_early() {
            true => PoolGeneration::Congruential,
            false => PoolGeneration::Twister,
        };
        PoolModel::default().of_size(self.size, generation).unwrap()
    }

    fn is_early(&self) -> bool {
        self.version.starts_with("1.1")
    }

    fn head(&self, report: &str) -> String {
        let PoolSize {
            number,
            transactions,
            ..
        } = self.size;
        format!(
            "PostMark v{} : 1/2/03\npm>Current configuration is:\n\
             The base number of files is {number}\nTransactions: {transactions}\n\
             Files range between 500 bytes and 9.77 kilobytes in size\n\
             Working directory: /home/ann/work\n\
             Block sizes are: read=512 bytes, write=512 bytes\n\
             Biases are: read/append=5, create/delete=5\nUsing Unix buffered file I/O\n\
             Random number generator seed is 42\nReport format is {report}.\n\
             pm>Creating files...Done\nPerforming transactions..........Done\n\
             Deleting files...Done\n",
            self.version
        )
    }

    /// The verbose report, with its whole divisions.
    fn verbose(&self) -> String {
        let it = self.totals();
        let [creation, transactions, deletion] = self.seconds;
        let total = creation + transactions + deletion;
        let megabyte = if self.is_early() {
            1000.0 * KIB
        } else {
            KIB * KIB
        };
        let bytes = |bytes: f32| {
            let shown = |bytes: f64| match bytes > megabyte {
                true => format!("{:.2} megabytes", bytes / megabyte),
                false => format!("{:.2} kilobytes", bytes / KIB),
            };
            let bytes = f64::from(bytes);
            (shown(bytes), shown(bytes / total as f64))
        };
        let (read, read_rate) = bytes(it.read_bytes_float);
        let (written, write_rate) = bytes(it.written_bytes_float);
        let count = |name: &str, count: u64, seconds: u64| {
            format!("\t{count} {name} ({} per second)\n", count / seconds)
        };
        let part = |name: &str, count: u64, seconds: u64| {
            format!(
                "\t\t{name}: {count} files ({} per second)\n",
                count / seconds
            )
        };
        let rate = u64::from(self.size.transactions) / transactions;
        [
            self.head("verbose"),
            format!("Time:\n\t{total} seconds total\n"),
            format!("\t{transactions} seconds of transactions ({rate} per second)\n\nFiles:\n"),
            count("created", it.created_count, total),
            part("Creation alone", it.created_before_count, creation),
            part(
                "Mixed with transactions",
                it.created_mixed_count(),
                transactions,
            ),
            count("read", it.read_count, transactions),
            count("appended", it.appended_count, transactions),
            count("deleted", it.deleted_count, total),
            part("Deletion alone", it.deleted_after_count, deletion),
            part(
                "Mixed with transactions",
                it.deleted_mixed_count(),
                transactions,
            ),
            format!("\nData:\n\t{read} read ({read_rate} per second)\n"),
            format!("\t{written} written ({write_rate} per second)\npm>"),
        ]
        .concat()
    }

    /// The terse report. Before 1.52, the rate of deletions is that of creations.
    fn terse(&self, is_before_1_52: bool) -> String {
        let it = self.totals();
        let seconds = self.seconds.map(|it| it as f64);
        let [creation, transactions, deletion] = seconds;
        let total = seconds.iter().sum::<f64>();
        let deleted = match is_before_1_52 {
            true => it.created_count as f64 / creation,
            false => it.deleted_count as f64 / total,
        };
        let rates = [
            f64::from(self.size.transactions) / transactions,
            it.created_count as f64 / total,
            it.created_before_count as f64 / creation,
            it.created_mixed_count() as f64 / transactions,
            it.read_count as f64 / transactions,
            it.appended_count as f64 / transactions,
            deleted,
            it.deleted_after_count as f64 / deletion,
            it.deleted_mixed_count() as f64 / transactions,
            f64::from(it.read_bytes_float) / total,
            f64::from(it.written_bytes_float) / total,
        ];
        let rates = rates.map(|rate| format!("{rate:.2}")).join(" ");
        format!("{}{total} {transactions} {rates}\n", self.head("terse"))
    }
}

/// A session of a version with the size of table 1.
fn session(version: &'static str) -> Session {
    Session {
        version,
        size: TABLE_1,
        seconds: [3, 104, 2],
    }
}

fn imported(text: &str) -> RunRecord {
    let texts = vec![ImportedText {
        name: "result.txt".to_owned(),
        text: text.to_owned(),
    }];
    let format = import::recognize(&texts).expect("a known format");
    RunRecord::imported(import::read(format, texts).unwrap(), Timestamp::now())
}

fn submitted(slug: &str, record: &RunRecord) -> Submission {
    prepare(slug, record, description(), &[])
        .unwrap()
        .submission
}

fn checked_by(config: &BoardConfig, record: &RunRecord) -> CheckedSubmission {
    Checker::new(config, Timestamp::now()).check(&submitted("a", record))
}

fn checked(text: &str) -> CheckedSubmission {
    checked_by(&config(), &imported(text))
}

fn refusing(checked: &CheckedSubmission) -> Vec<&'static str> {
    let found = checked.findings.iter().filter(|it| it.is_refusing());
    found.map(|it| it.rule).collect()
}

/// Changes a record as a forger does.
type RecordChange = fn(&mut RunRecord);

#[test]
fn reports_of_early_and_late_postmark_have_values_in_the_table_of_their_size() {
    for version in ["1.13", "1.5", "1.51"] {
        let found = checked(&session(version).verbose());
        assert!(!found.is_refused(), "{version} {:#?}", found.findings);
        assert_eq!(found.trust, TrustLevel::Record);
        let [values] = found.values.as_slice() else {
            panic!("{version}: {:?}", found.values)
        };
        assert_eq!(values.table, "netapp-postmark-1");
        let rate = &values.columns["transactions/s"];
        assert_eq!(
            (rate.text().as_str(), rate.n, rate.interval),
            ("480", 1, None)
        );
        let read = values.columns["read KB/s"].mean;
        let exact = session(version).totals().read_bytes as f64 / KIB / 109.0;
        assert!((read - exact).abs() < 10.3, "{version} {read} {exact}");
    }
}

#[test]
fn a_report_without_its_configuration_is_recognized_by_its_counts() {
    let text = session("1.51").verbose();
    let report = &text[text.find("Time:").unwrap()..];
    let found = checked(report);
    assert!(!found.is_refused(), "{:#?}", found.findings);
    assert_eq!(found.values.len(), 1);
    // Another size has no table, and a seed that is not shown is no forgery.
    let small = Session {
        size: SMALL,
        ..session("1.51")
    };
    let found = checked(&small.verbose());
    assert_eq!(refusing(&found), ["E13"]);
    let other = small.verbose().replace("243 read", "244 read");
    let other = &other[other.find("Time:").unwrap()..];
    assert_eq!(refusing(&checked(other)), ["E13"]);
}

#[test]
fn terse_reports_have_values_and_their_known_mistake_is_shown() {
    for is_early in [true, false] {
        let found = checked(&session("1.51").terse(is_early));
        assert!(!found.is_refused(), "{is_early} {:#?}", found.findings);
        assert_eq!(found.values[0].columns["transactions/s"].text(), "480.77");
        let has_finding = found.findings.iter().any(|it| it.rule == "P6");
        assert_eq!(has_finding, is_early);
    }
}

/// A forgery of a text: the expected rule, its description, a text and its replacement.
type TextForgery = (&'static str, &'static str, &'static str, &'static str);

const OF_SESSION: [TextForgery; 9] = [
    ("P1", "a file read in addition", "24868 read", "24869 read"),
    ("P1", "more bytes", "161.15 megabytes", "161.45 megabytes"),
    (
        "E03",
        "a file created in addition",
        "26014 created",
        "26015 created",
    ),
    ("P2", "counts of another version", "v1.51", "v1.13"),
    (
        "P3",
        "a higher rate",
        "(480 per second)",
        "(960 per second)",
    ),
    (
        "P3",
        "half the time",
        "109 seconds total",
        "54 seconds total",
    ),
    (
        "P3",
        "a shorter creation",
        "(333 per second)",
        "(334 per second)",
    ),
    (
        "P4",
        "longer transactions",
        "104 seconds of",
        "204 seconds of",
    ),
    (
        "E13",
        "another size",
        "Transactions: 50000",
        "Transactions: 5000",
    ),
];

#[test]
fn forged_reports_of_postmark_break_the_expected_rule() {
    let honest = session("1.51").verbose();
    for (rule, what, before, after) in OF_SESSION {
        assert!(honest.contains(before), "{before} is not in {honest}");
        let found = checked(&honest.replacen(before, after, 1));
        assert!(
            refusing(&found).contains(&rule),
            "{what}: {:?}",
            found.findings
        );
    }
    let terse = session("1.51").terse(false);
    let found = checked(&terse.replacen(" 239.12 ", " 339.12 ", 1));
    assert!(
        refusing(&found).contains(&"P1"),
        "{terse} {:?}",
        found.findings
    );
}

#[test]
fn figures_times_and_ids_that_differ_from_the_text_are_refused() {
    let honest = imported(&session("1.51").verbose());
    let changes: [(&str, RecordChange); 5] = [
        ("E10", |it| {
            it.import.as_mut().unwrap().results[0].figures[0].value *= 0.5;
        }),
        ("E10", |it| {
            it.import.as_mut().unwrap().origin.version = Some("1.5".to_owned());
        }),
        ("E10", |it| it.import.as_mut().unwrap().sources.clear()),
        ("E07", |it| it.id = format!("20990101-{}", it.id)),
        ("E02", |it| it.import.as_mut().unwrap().results.clear()),
    ];
    for (rule, change) in changes {
        let mut forged = honest.clone();
        change(&mut forged);
        let found = Checker::new(&config(), Timestamp::now()).check_alone("x", &forged);
        assert!(
            refusing(&found).contains(&rule),
            "{rule} {:?}",
            found.findings
        );
    }
}

#[test]
fn a_copied_import_is_found() {
    let config = config();
    let text = session("1.51").verbose();
    let moved = text.replace("/home/ann/work", "/srv/data/of/ben");
    let check_pair = |a: &str, b: &str| {
        let pair = [submitted("a", &imported(a)), submitted("b", &imported(b))];
        let mut checker = Checker::new(&config, Timestamp::now());
        let mut pair: Vec<_> = pair.iter().map(|it| checker.check(it)).collect();
        check_together(&config, &mut pair);
        pair.remove(1)
    };
    assert!(refusing(&check_pair(&text, &text)).contains(&"E12"));
    // Whole seconds may be equal by chance.
    let found = check_pair(&text, &moved);
    assert!(!found.is_refused(), "{:?}", found.findings);
    assert!(found.findings.iter().any(|it| it.rule == "E12"));
    let fio = FIO.replace("\"jobname\" : \"reads\"", "\"jobname\" : \"mine\"");
    assert!(refusing(&check_pair(FIO, &fio)).contains(&"E12"));
}

/// A result of fio with a histogram.
pub const FIO: &str = r#"{
  "fio version" : "fio-3.36",
  "timestamp_ms" : 1700000010250,
  "global options" : { "ioengine" : "libaio", "direct" : "1" },
  "jobs" : [
    {
      "jobname" : "reads",
      "error" : 0,
      "job options" : { "rw" : "randread", "bs" : "4k", "iodepth" : "4", "numjobs" : "1",
        "filename" : "/srv/data/file" },
      "read" : {
        "io_bytes" : 8192000, "bw_bytes" : 819200, "iops" : 200.0, "runtime" : 10000,
        "total_ios" : 2000,
        "lat_ns" : { "min" : 14000000, "max" : 16000000, "mean" : 15000000.0, "stddev" : 3.5,
          "N" : 2000, "bins" : { "13959168" : 100, "15073280" : 1800, "16056320" : 100 } }
      }
    }
  ]
}
"#;

const OF_FIO: [TextForgery; 8] = [
    (
        "E03",
        "a higher rate",
        "\"iops\" : 200.0",
        "\"iops\" : 400.0",
    ),
    (
        "E03",
        "a shorter time",
        "\"runtime\" : 10000",
        "\"runtime\" : 5000",
    ),
    (
        "E04",
        "a bucket",
        "\"15073280\" : 1800",
        "\"15073280\" : 1700",
    ),
    (
        "E04",
        "a lower mean",
        "\"mean\" : 15000000.0",
        "\"mean\" : 11000000.0",
    ),
    (
        "E04",
        "a lower maximum",
        "\"max\" : 16000000",
        "\"max\" : 15000000",
    ),
    ("E07", "the future", "1700000010250", "4700000010250"),
    ("E08", "an error", "\"error\" : 0", "\"error\" : 5"),
    (
        "W24",
        "two in flight",
        "\"iodepth\" : \"4\"",
        "\"iodepth\" : \"1\"",
    ),
];

#[test]
fn forged_results_of_fio_break_the_expected_rule() {
    let mut config = config();
    config.tables.push(table_of("fio", &imported(FIO)).unwrap());
    let found = checked_by(&config, &imported(FIO));
    assert!(!found.is_refused(), "{:#?}", found.findings);
    assert!(found.unknown.contains(&"governor-unknown"));
    for (rule, what, before, after) in OF_FIO {
        assert!(FIO.contains(before), "{before}");
        let found = checked_by(&config, &imported(&FIO.replacen(before, after, 1)));
        assert!(
            refusing(&found).contains(&rule),
            "{what}: {:?}",
            found.findings
        );
    }
    let twice = FIO.replace("\"io_bytes\" : 8192000", "\"io_bytes\" : 16384000");
    let twice = twice.replace("\"bw_bytes\" : 819200", "\"bw_bytes\" : 1638400");
    assert!(refusing(&checked_by(&config, &imported(&twice))).contains(&"E05"));
    let fast = FIO.replace("8192000", "8192000000000000");
    let fast = fast.replace("819200,", "819200000000000,");
    assert!(refusing(&checked_by(&config, &imported(&fast))).contains(&"E20"));
}

#[test]
fn results_of_fio_are_ranked_where_their_settings_are_those_of_the_table() {
    let mut config = config();
    let record = imported(FIO);
    let table = table_of("fio", &record).unwrap();
    let command = "fio --name=board --bs=4k --direct=1 --iodepth=4 --ioengine=libaio --numjobs=1 \
                   --rw=randread --directory=DIR --output-format=json";
    assert_eq!(table.command, command);
    assert_eq!(table.rank_by, "IOPS");
    config.tables.push(table);
    let text = config.text();
    assert_eq!(BoardConfig::read("board.toml", &text).unwrap(), config);
    let values = checked_by(&config, &record).values;
    let columns = &values[0].columns;
    assert_eq!(columns["IOPS"].mean, 200.0);
    assert_eq!(columns["MiB/s"].mean, 0.78125);
    // The percentiles of the source are of another latency, so this one is unknown.
    assert!(!columns.contains_key("p99 latency, µs"));
    let other = imported(&FIO.replace("\"direct\" : \"1\"", "\"direct\" : \"0\""));
    assert!(checked_by(&config, &other).values.is_empty());

    // The same settings can also belong to a table of runs.
    let table = config.tables.last_mut().unwrap();
    table.imports = vec![work_of(other.import.as_ref().unwrap()).unwrap()];
    assert_eq!(checked_by(&config, &other).values.len(), 1);
}

#[test]
fn results_of_iozone_and_bonnie_have_values() {
    let iozone = "        Iozone: Performance Test of File I/O\n\
        \tVersion $Revision: 3.283 $\n\
        \"Writer report\"\n        \"64\"\n\"131072\"   70000\n\n\
        \"Reader report\"\n        \"64\"\n\"131072\"   90000\n";
    let found = checked(iozone);
    let columns: BTreeMap<_, _> = found.values[0].columns.clone();
    assert_eq!(found.values[0].table, "bfs-iozone-table-9-2");
    assert!((columns["write MB/s"].mean - 68.36).abs() < 0.01);
    assert!((columns["read MB/s"].mean - 87.89).abs() < 0.01);

    let bonnie = include_str!("../../../../import/tests/texts/bonnie-1.97.csv");
    let record = imported(bonnie);
    let mut config = config();
    config.tables.push(table_of("bonnie", &record).unwrap());
    let found = checked_by(&config, &record);
    assert_eq!(found.values.len(), 1, "{:?}", found.findings);
    assert!(!found.is_refused(), "{:?}", found.findings);
}

#[test]
fn private_names_leave_the_text_and_its_settings() {
    let record = imported(&session("1.51").verbose());
    let prepared = prepare("a", &record, description(), &[]).unwrap();
    assert!(!prepared.files[1].text.contains("ann"));
    let import = prepared.submission.import().unwrap();
    assert!(import.sources[0].text.contains("Working directory: path-1"));
    let bonnie = include_str!("../../../../import/tests/texts/bonnie-1.97.csv");
    let bonnie = bonnie.replace(",host,", ",storage9,");
    let prepared = prepare("b", &imported(&bonnie), description(), &[]).unwrap();
    assert!(!prepared.files[1].text.contains("storage9"));
}
