//! Results as JSON, for `--output-json`.

use results::RunRecord;
use serde_json::{Value, json};

use super::done::{ThreadSums, percent, threads};
use super::options::SmallfileOptions;
use super::response_times;
use crate::text::ParsedArguments;

/// The files of a run with their paths: the document of `--output-json`, and response times.
pub(super) fn documents(
    parsed: &ParsedArguments<SmallfileOptions>,
    record: &RunRecord,
) -> Vec<(String, String)> {
    let options = &parsed.options;
    let document = |path: &String| {
        let document = json!({ "params": params(options), "results": results(options, record) });
        (path.clone(), format!("{document:#}\n"))
    };
    let times = match options.has_response_times {
        true => response_times::files(options, record),
        false => Vec::new(),
    };
    let documents = options.output_json.iter().map(document);
    documents.chain(times).collect()
}

fn params(options: &SmallfileOptions) -> Value {
    let yes = |is: bool| if is { "Y" } else { "N" };
    json!({
        "host-set": options.hosts.as_deref().unwrap_or("localhost"),
        "version": "3.2",
        "top": options.top,
        "operation": options.operation.name(),
        "files-per-thread": options.files,
        "threads": options.threads,
        "file-size": options.file_kib,
        "file-size-distr": options.distribution(),
        "files-per-dir": options.files_per_directory,
        "share-dir": yes(options.is_shared),
        "fname-prefix": options.prefix,
        "fname-suffix": options.suffix,
        "hash-to-dir": yes(options.is_hashed),
        "fsync-after-modify": yes(options.is_synced),
        "pause-between-files": options.pause_us.to_string(),
        "finish-all-requests": yes(options.finishes_all),
        "stonewall": yes(options.has_stonewall),
        "verify-read": yes(options.is_verified),
        "xattr-size": options.attribute_bytes.to_string(),
        "xattr-count": options.attribute_count.to_string(),
        "permute-host-dirs": "N",
        "network-sync-dir": options.shared_directory,
    })
}

fn results(options: &SmallfileOptions, record: &RunRecord) -> Value {
    let threads = threads(options, record);
    let per_thread = threads.iter().enumerate();
    let per_thread = per_thread.map(|(number, it)| (format!("{number:02}"), counted(it)));
    let start = record.started_at;
    let sums = ThreadSums::of(&threads);
    let mut all = counted(&sums);
    all["in-thread"] = Value::Object(per_thread.collect());
    all["total-threads"] = json!(threads.len());
    all["pct-files-done"] = json!(percent(options, threads.len(), sums.files));
    all["start-time"] = json!(start.as_millisecond() as f64 / 1e3);
    all["status"] = json!("Success");
    all["date"] = json!(start.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string());
    if sums.records > 0 {
        let bytes = sums.records as f64 * options.record_bytes() as f64;
        all["total-data-GB"] = json!(bytes / f64::from(1 << 30));
    }
    all
}

fn counted(sums: &ThreadSums) -> Value {
    let mut counted = json!({
        "elapsed": sums.seconds,
        "files": sums.files,
        "records": sums.records,
        "files-per-sec": sums.files_per_second,
    });
    if sums.records > 0 {
        counted["IOPS"] = json!(sums.iops);
        counted["MiBps"] = json!(sums.mib_per_second);
    }
    counted
}
