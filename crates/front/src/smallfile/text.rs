//! Output of smallfile: the parameters, a line for each thread, and the sums.

use results::RunRecord;

use super::done::{ThreadSums, percent, threads};
use super::options::SmallfileOptions;
use crate::figures::format_python;
use crate::text::ParsedArguments;

/// Share of finished files below which a warning is printed, in percent.
const FILES_PERCENT_MIN: f64 = 70.0;

/// The output at the end of a run.
pub(super) fn page(parsed: &ParsedArguments<SmallfileOptions>, record: &RunRecord) -> String {
    parameters(&parsed.options) + &sums(&parsed.options, record)
}

fn parameters(options: &SmallfileOptions) -> String {
    let name = options.operation.name();
    let yes = |is: bool| if is { "Y" } else { "N" }.to_owned();
    let number = |number: u32| number.to_string();
    let tops: Vec<&str> = options.top_directories().collect();
    let hosts = options.hosts.as_ref().map(|hosts| {
        let hosts: Vec<&str> = hosts.split(',').collect();
        format!("['{}']", hosts.join("', '"))
    });
    let hosts = hosts.unwrap_or_else(|| "None".to_owned());
    let rows = [
        ("version", "3.2".to_owned()),
        ("hosts in test", hosts),
        ("launch by daemon", "False".to_owned()),
        (
            "top test directory(s)",
            format!("['{}']", tops.join("', '")),
        ),
        ("operation", name.to_owned()),
        ("files/thread", number(options.files)),
        ("threads", number(options.threads)),
        ("record size (KB, 0 = maximum)", number(options.record_kib)),
        ("file size (KB)", number(options.file_kib)),
        ("file size distribution", options.distribution().to_owned()),
        ("files per dir", number(options.files_per_directory)),
        ("dirs per dir", number(options.directories_per_directory)),
        ("threads share directories?", yes(options.is_shared)),
        ("filename prefix", options.prefix.clone()),
        ("filename suffix", options.suffix.clone()),
        ("hash file number into dir.?", yes(options.is_hashed)),
        ("fsync after modify?", yes(options.is_synced)),
        ("incompressible?", yes(false)),
        ("pause between files (microsec)", number(options.pause_us)),
        ("auto-pause?", yes(false)),
        ("delay after cleanup per file (microsec)", number(0)),
        ("minimum directories per sec", number(50)),
        ("total hosts", number(1)),
        ("finish all requests?", yes(options.finishes_all)),
        ("stonewall?", yes(options.has_stonewall)),
        ("measure response times?", yes(options.has_response_times)),
        ("verify read?", yes(options.is_verified)),
        ("verbose?", yes(false)),
        ("log to stderr?", yes(false)),
    ];
    let rows = rows.map(|(name, value)| format!("{name:>40} : {value}\n"));
    let forced = format!("changing --finish to true for op type {name}\n");
    let forced = Some(forced).filter(|_| options.is_finish_forced);
    forced.into_iter().chain(rows).collect()
}

fn sums(options: &SmallfileOptions, record: &RunRecord) -> String {
    let threads = threads(options, record);
    let host = &record.environment.host;
    let host = host.split_once('.').map_or(host.as_str(), |(name, _)| name);
    let lines = threads.iter().enumerate().map(|(number, it)| {
        let (seconds, files, records) = (format_python(it.seconds), it.files, it.records);
        format!(
            "host = {host},thr = {number:02},elapsed = {seconds},files = {files},records = \
             {records},status = ok\n"
        )
    });
    let mut text: String = lines.collect();
    let sums = ThreadSums::of(&threads);
    let (count, files, has_records) = (threads.len(), sums.files, sums.records > 0);
    text += &format!("total threads = {count}\ntotal files = {files}\n");
    if has_records {
        let gib = sums.records as f64 * options.record_bytes() as f64 / f64::from(1 << 30);
        let iops = sums.iops.floor();
        text += &format!("total IOPS = {iops:.0}\ntotal data = {gib:9.3} GiB\n");
    }
    let percent = percent(options, count, files);
    text += &format!(
        "{percent:6.2}% of requested files processed, warning threshold is \
         {FILES_PERCENT_MIN:6.2}%\nelapsed time = {:9.3}\n",
        sums.seconds
    );
    let is_measured = sums.seconds >= 0.001;
    match is_measured {
        true => text += &format!("files/sec = {:.6}\n", sums.files_per_second),
        false => text += "WARNING: test must run longer than a millisecond\n",
    }
    if is_measured && has_records {
        let (iops, mib) = (sums.iops, sums.mib_per_second);
        text += &format!("IOPS = {iops:.6}\nMiB/sec = {mib:.6}\n");
    }
    if percent < FILES_PERCENT_MIN {
        text += "WARNING: not enough total files processed before 1st thread finished, change \
                 test parameters\n";
    }
    text
}
