//! Formats of comma-separated values.

use crate::{imported, refusal, value};

const MIB: f64 = 1_048_576.0;

const BONNIE: &str = include_str!("../texts/bonnie-2.00.csv");

#[test]
fn bonnie_omits_what_was_too_short() {
    let record = imported(BONNIE);
    assert_eq!(record.origin.title(), "Bonnie++ 2.00a");
    assert_eq!(
        value(&record, "put char", "total", "bytes_per_second"),
        2273.0 * 1024.0
    );
    assert_eq!(value(&record, "put char", "total", "cpu"), 95.0);
    assert_eq!(value(&record, "seeks", "total", "per_second"), 512.5);
    assert_eq!(
        value(&record, "sequential create", "total", "per_second"),
        196_995.0
    );
    assert_eq!(
        value(&record, "put block", "total", "latency_max"),
        4_060_000.0
    );
    assert_eq!(record.results[1].value("total", "bytes_per_second"), None);
    assert_eq!(record.statement("host"), Some("testhost"));
}

#[test]
fn lines_of_bonnie_with_equal_settings_are_repetitions() {
    let record = imported(&format!("Version 2.00a\n{BONNIE}{BONNIE}"));
    let repetitions = record.results.iter().filter(|it| it.name == "seeks");
    let repetitions: Vec<u32> = repetitions.map(|it| it.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
}

#[test]
fn bonnie_1_97_lacks_the_seeks_and_1_03_the_latencies() {
    let line = include_str!("../texts/bonnie-1.97.csv");
    let record = imported(line);
    assert_eq!(
        value(&record, "get block", "total", "bytes_per_second"),
        90_000.0 * 1024.0
    );
    assert_eq!(value(&record, "seeks", "total", "latency_max"), 1e9);
    let line = include_str!("../texts/bonnie-1.03.csv");
    let record = imported(line);
    assert_eq!(record.origin.version, None);
    assert_eq!(
        value(&record, "random delete", "total", "per_second"),
        1100.0
    );
    assert_eq!(record.results[0].workers, None);
}

#[test]
fn a_cut_line_of_bonnie_is_refused() {
    let cut = &BONNIE[..BONNIE.len() - 20];
    let (line, message) = refusal(cut);
    assert_eq!(line, 1);
    assert!(message.contains("50 of 1.98"), "{message}");
}

const IOMETER: &str = include_str!("../texts/iometer-1.1.0.csv");

#[test]
fn iometer_keeps_its_distribution() {
    let record = imported(IOMETER);
    assert_eq!(record.origin.title(), "Iometer 1.1.0");
    assert_eq!(record.origin.time, None, "the source states no time zone");
    assert_eq!(record.results.len(), 1);
    assert_eq!(value(&record, "4K", "total", "per_second"), 1000.5);
    assert_eq!(
        value(&record, "4K", "total", "bytes_per_second"),
        3.908_203 * MIB
    );
    assert_eq!(value(&record, "4K", "read", "count"), 1000.0);
    let result = &record.results[0];
    assert_eq!((result.iodepth, result.workers), (Some(8), Some(4)));
    let mean = result
        .figures
        .iter()
        .find(|it| it.metric == "latency_mean")
        .unwrap();
    let buckets = [
        [0, 49_999, 990],
        [500_000, 999_999, 9],
        [10_000_000_000, u64::MAX, 1],
    ];
    assert_eq!(mean.buckets_ns, buckets);
}

#[test]
fn iometer_2008_writes_binary_megabytes_without_saying_so() {
    let text = IOMETER
        .replace("1.1.0", "2008.06.18")
        .replace("MiBps (Binary)", "MBps");
    let record = imported(&text);
    assert_eq!(record.origin.version.as_deref(), Some("2008.06.18"));
    assert_eq!(
        value(&record, "4K", "total", "bytes_per_second"),
        3.908_203 * MIB
    );
    let cut = &IOMETER[..IOMETER.find(",10.578900").unwrap()];
    assert_eq!(refusal(cut).0, 15);
}

const ELBENCHO: &str = include_str!("../texts/elbencho-3.0.csv");

#[test]
fn elbencho_takes_the_end_of_the_slowest_worker() {
    let record = imported(ELBENCHO);
    assert_eq!(record.origin.title(), "elbencho 3.0-1");
    assert_eq!(value(&record, "WRITE", "write", "per_second"), 2941.0);
    assert_eq!(
        value(&record, "WRITE", "write", "per_second_first_done"),
        3494.0
    );
    assert_eq!(
        value(&record, "WRITE", "write", "latency_mean"),
        9_383_000.0
    );
    assert_eq!(value(&record, "MKDIRS", "entry", "per_second"), 1466.0);
    assert_eq!(record.results[0].value("total", "per_second"), None);
    assert_eq!(record.results[1].workers, Some(16));
    assert_eq!(record.results[1].iodepth, Some(4));
    assert_eq!(record.statement("command"), Some("elbencho \"-w\", -r"));
}

#[test]
fn a_cut_row_of_elbencho_is_refused() {
    let cut = &ELBENCHO[..ELBENCHO.find("3494,2941").unwrap()];
    assert_eq!(refusal(cut).0, 3);
    assert_eq!(
        refusal(&ELBENCHO.replace("290635,609112", "290635,soon")).0,
        3
    );
}

#[test]
fn json_of_elbencho_has_the_same_columns() {
    let object = r#"{"ISO date": "2026-05-22T16:09:38", "operation": "READ", "IOPS [last]": "9048",
 "MiB/s [last]": 9048, "threads": "8", "hosts": "1", "IO lat us [avg]": "3223"}"#;
    for text in [
        object.to_owned(),
        format!("[{object},\n{object}]"),
        format!("{object}\n{object}"),
    ] {
        let record = imported(&text);
        assert_eq!(value(&record, "READ", "read", "per_second"), 9048.0);
        assert_eq!(
            value(&record, "READ", "read", "bytes_per_second"),
            9048.0 * MIB
        );
    }
    assert_eq!(refusal(&object[..object.len() - 1]).0, 2);
}
