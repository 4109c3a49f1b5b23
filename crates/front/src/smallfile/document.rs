//! The results as JSON, as `--output-json` asks for them.

use results::RunRecord;
use serde_json::{Value, json};

use super::done::{Sums, ThreadDone, percent};
use super::options::Options;

/// The document of a run.
pub(super) fn json(options: &Options, record: &RunRecord, threads: &[ThreadDone]) -> String {
    let document =
        json!({ "params": params(options), "results": results(options, record, threads) });
    let mut text = format!("{document:#}");
    text.push('\n');
    text
}

fn params(options: &Options) -> Value {
    let yes = |is: bool| if is { "Y" } else { "N" };
    let size = match options.is_exponential {
        true => "random exponential",
        false => "fixed",
    };
    json!({
        "host-set": "localhost",
        "version": "3.2",
        "top": options.top,
        "operation": options.operation.name(),
        "files-per-thread": options.files,
        "threads": options.threads,
        "file-size": options.file_kib,
        "file-size-distr": size,
        "files-per-dir": options.files_per_directory,
        "share-dir": yes(options.is_shared),
        "fname-prefix": options.prefix,
        "fname-suffix": options.suffix,
        "hash-to-dir": "N",
        "fsync-after-modify": yes(options.is_synced),
        "pause-between-files": options.pause_us.to_string(),
        "finish-all-requests": yes(options.is_finished),
        "stonewall": yes(options.has_stonewall),
        "verify-read": yes(options.is_verified),
        "xattr-size": "0",
        "xattr-count": "0",
        "permute-host-dirs": "N",
        "network-sync-dir": null,
    })
}

fn results(options: &Options, record: &RunRecord, threads: &[ThreadDone]) -> Value {
    let each = threads.iter().enumerate().map(|(number, thread)| {
        let sums = Sums::of(std::slice::from_ref(thread));
        (format!("{number:02}"), counted(&sums))
    });
    let each: serde_json::Map<String, Value> = each.collect();
    let sums = Sums::of(threads);
    let mut all = counted(&sums);
    let start = record.started_at;
    let more = json!({
        "in-thread": each,
        "total-threads": threads.len(),
        "pct-files-done": percent(options, threads.len(), sums.files),
        "start-time": start.as_millisecond() as f64 / 1e3,
        "status": "Success",
        "date": start.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string(),
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
        if sums.records > 0 {
            let bytes = sums.records as f64 * options.record_bytes() as f64;
            all.insert(
                "total-data-GB".to_owned(),
                json!(bytes / f64::from(1 << 30)),
            );
        }
    }
    all
}

fn counted(sums: &Sums) -> Value {
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
