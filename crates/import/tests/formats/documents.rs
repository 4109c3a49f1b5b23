//! Formats of JSON and XML.

use crate::{imported, refusal, value};

/// A document of fio with a job, in which `PART` is replaced.
const FIO: &str = include_str!("../texts/fio-3.36.json");

#[test]
fn fio_keeps_counts_rates_and_the_distribution() {
    let record = imported(FIO);
    assert_eq!(record.origin.title(), "fio 3.36");
    let start = record.origin.time.map(|time| time.as_millisecond());
    assert_eq!(start, Some(1_700_000_000_125), "the start of the job");
    let of = |operation, metric| value(&record, "first", operation, metric);
    assert_eq!(of("read", "count"), 2000.0);
    assert_eq!(of("read", "bytes"), 8_192_000.0);
    assert_eq!(of("read", "per_second"), 200.125);
    assert_eq!(of("read", "bytes_per_second"), 819_200.0);
    assert_eq!(of("read", "latency_mean"), 530.25);
    assert_eq!(of("read", "completion_latency_p99"), 1416.0);
    assert_eq!(of("read", "completion_latency_p99_9"), 9000.0);
    assert_eq!(of("total", "user_cpu"), 5.25);
    let result = &record.results[0];
    assert_eq!(
        result.value("read", "submission_latency_mean"),
        None,
        "not measured"
    );
    assert_eq!(result.value("write", "count"), None);
    assert_eq!((result.iodepth, result.workers), (Some(8), Some(4)));
    assert_eq!(result.target.as_deref(), Some("/dev/sdx"));
    let mean = result
        .figures
        .iter()
        .find(|it| it.metric == "completion_latency_mean")
        .unwrap();
    // From 128 ns on, a bucket is 1/64 of its power of two wide.
    assert_eq!(
        mean.buckets_ns,
        [[103, 103, 1990], [128, 129, 1], [1408, 1423, 9]]
    );
}

#[test]
fn the_first_versions_of_fio_3_state_only_kibibytes() {
    let text = FIO
        .replace("fio-3.36", "fio-3.1")
        .replace("\"bw_bytes\" : 819200, ", "")
        .replace("\"job_start\" : 1700000000125,", "");
    let record = imported(&text);
    assert_eq!(
        value(&record, "first", "read", "bytes_per_second"),
        819_200.0
    );
    let end = record.origin.time.map(|time| time.as_millisecond());
    assert_eq!(end, Some(1_700_000_010_250));
}

#[test]
fn jobs_of_clients_name_their_host() {
    let text = FIO
        .replace("\"jobs\"", "\"client_stats\"")
        .replace("\"groupid\"", "\"hostname\" : \"node1\", \"groupid\"");
    assert_eq!(imported(&text).names(), ["first on node1"]);
}

#[test]
fn clones_of_a_job_are_not_repetitions() {
    let start = FIO.find("    {\n      \"jobname\"").unwrap();
    let end = FIO.find("\n  ]").unwrap();
    let text = format!("{},\n{}{}", &FIO[..end], &FIO[start..end], &FIO[end..]);
    let record = imported(&text);
    assert_eq!(record.names(), ["first #1", "first #2"]);
    assert_eq!(record.results[0].workers, Some(1));
}

#[test]
fn damaged_documents_of_fio_are_refused_with_the_line() {
    let cut = &FIO[..FIO.find("\"iops\"").unwrap()];
    assert_eq!(refusal(cut).0, 16);
    let (line, message) = refusal(&FIO.replace("\"total_ios\" : 2000", "\"total_ios\" : -1"));
    assert_eq!(line, 16);
    assert!(message.contains("-1"), "{message}");
    let (line, message) = refusal(&FIO.replace("fio-3.36", "fio-2.21"));
    assert_eq!(line, 3);
    assert!(message.contains("fio-2.21"), "{message}");
    let two = format!("{FIO}{}", &FIO[FIO.find('{').unwrap()..]);
    assert_eq!(refusal(&two).0, 29);
    let overlap = FIO.replace("\"129\" : 1", "\"1410\" : 1");
    assert!(refusal(&overlap).1.contains("separate buckets"));
}

const SMALLFILE: &str = include_str!("../texts/smallfile-3.2.json");

#[test]
fn smallfile_states_files_and_bandwidth() {
    let record = imported(SMALLFILE);
    assert_eq!(record.origin.title(), "smallfile 3.2");
    let of = |metric| value(&record, "create", "total", metric);
    assert_eq!(of("count"), 348.0);
    assert_eq!(of("per_second"), 29_696.979_148);
    assert_eq!(of("bytes_per_second"), 464.015_299 * 1_048_576.0);
    assert_eq!(record.results[0].workers, Some(2));
    let start = record.origin.time.map(|time| time.as_millisecond());
    assert_eq!(start, Some(1_700_000_000_500));
    let cut = &SMALLFILE[..SMALLFILE.find("\"in-thread").unwrap()];
    assert_eq!(refusal(cut).0, 6);
}

#[test]
fn earlier_smallfile_names_the_rate_differently() {
    let text = SMALLFILE
        .replace("files-per-sec", "filesPerSec")
        .replace("\"version\": \"3.2\", ", "");
    let record = imported(&text);
    assert_eq!(
        value(&record, "create", "total", "per_second"),
        29_696.979_148
    );
    assert_eq!(record.origin.version, None);
}

const PHORONIX: &str = include_str!("../texts/phoronix-10.8.xml");

#[test]
fn phoronix_keeps_every_repetition() {
    let record = imported(PHORONIX);
    assert_eq!(
        record.origin.version.as_deref(),
        Some("Phoronix Test Suite v10.8.4")
    );
    let name = "Flexible IO Tester, Type: Random Read, sys & one";
    let rates: Vec<f64> = record
        .results
        .iter()
        .filter(|it| it.name == name)
        .filter_map(|it| it.value("total", "per_second"))
        .collect();
    assert_eq!(rates, [1000.0, 1100.5]);
    let seq = record.results.last().unwrap();
    let figure = &seq.figures[0];
    assert_eq!((figure.value, figure.unit.as_str()), (500.0, "MB/s"));
    assert_eq!(record.statement("Hardware"), Some("Disk: 1TB X"));
}

#[test]
fn damaged_phoronix_files_are_refused_with_the_line() {
    let cut = &PHORONIX[..PHORONIX.find("<Entry><Identifier>two").unwrap()];
    assert_eq!(refusal(cut).0, 10);
    assert_eq!(refusal(&PHORONIX.replace("1000:", "many:")).0, 9);
    // An entity that refers to a file or to itself is not read.
    let entity = PHORONIX.replacen(
        "<PhoronixTestSuite>",
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><PhoronixTestSuite>",
        1,
    );
    assert_eq!(refusal(&entity).0, 2);
}
