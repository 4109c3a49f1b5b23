//! The parameters, a line for each thread, and the sums.

use std::fmt::Write as _;

use results::RunRecord;

use super::document;
use super::done::{Sums, percent, threads};
use super::options::Options;
use crate::{ClassicText, FrontOrigin};

/// Fewer files than this share of those that were asked for say little, in percent.
const FILES_PERCENT_MIN: f64 = 70.0;

/// The text of a run.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Report {
        arguments: origin.arguments.clone(),
    })
}

struct Report {
    arguments: Vec<String>,
}

impl ClassicText for Report {
    fn end(&mut self, record: &RunRecord) -> String {
        match Options::read(&self.arguments) {
            Ok(options) => parameters(&options) + &sums(&options, record),
            Err(message) => message + "\n",
        }
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let Ok(options) = Options::read(&self.arguments) else {
            return Vec::new();
        };
        let path = options.output_json.clone();
        let document = || document::json(&options, record, &threads(&options, record));
        path.map(|path| (path, document())).into_iter().collect()
    }
}

fn parameters(options: &Options) -> String {
    let mut text = String::new();
    if options.is_finish_forced {
        let name = options.operation.name();
        // Writing to a string does not fail.
        let _ = writeln!(text, "changing --finish to true for op type {name}");
    }
    let yes = |is: bool| if is { "Y" } else { "N" }.to_owned();
    let number = |number: u32| number.to_string();
    let size = match options.is_exponential {
        true => "random exponential",
        false => "fixed",
    };
    let rows = [
        ("version", "3.2".to_owned()),
        ("hosts in test", "None".to_owned()),
        ("launch by daemon", "False".to_owned()),
        ("top test directory(s)", format!("['{}']", options.top)),
        ("operation", options.operation.name().to_owned()),
        ("files/thread", number(options.files)),
        ("threads", number(options.threads)),
        ("record size (KB, 0 = maximum)", number(options.record_kib)),
        ("file size (KB)", number(options.file_kib)),
        ("file size distribution", size.to_owned()),
        ("files per dir", number(options.files_per_directory)),
        ("dirs per dir", number(options.directories_per_directory)),
        ("threads share directories?", yes(options.is_shared)),
        ("filename prefix", options.prefix.clone()),
        ("filename suffix", options.suffix.clone()),
        ("hash file number into dir.?", yes(false)),
        ("fsync after modify?", yes(options.is_synced)),
        ("incompressible?", yes(false)),
        ("pause between files (microsec)", number(options.pause_us)),
        ("auto-pause?", yes(false)),
        ("delay after cleanup per file (microsec)", number(0)),
        ("minimum directories per sec", number(50)),
        ("total hosts", number(1)),
        ("finish all requests?", yes(options.is_finished)),
        ("stonewall?", yes(options.has_stonewall)),
        ("measure response times?", yes(false)),
        ("verify read?", yes(options.is_verified)),
        ("verbose?", yes(false)),
        ("log to stderr?", yes(false)),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "{name:>40} : {value}");
    }
    text
}

fn sums(options: &Options, record: &RunRecord) -> String {
    let threads = threads(options, record);
    let host = short(&record.environment.host);
    let mut text = String::new();
    for (number, it) in threads.iter().enumerate() {
        let seconds = seconds(it.seconds);
        let _ = writeln!(
            text,
            "host = {host},thr = {number:02},elapsed = {seconds},files = {},records = {},status = \
             ok",
            it.files, it.records
        );
    }
    let sums = Sums::of(&threads);
    let percent = percent(options, threads.len(), sums.files);
    let _ = writeln!(text, "total threads = {}", threads.len());
    let _ = writeln!(text, "total files = {}", sums.files);
    if sums.records > 0 {
        let gib = sums.records as f64 * options.record_bytes() as f64 / f64::from(1 << 30);
        let _ = writeln!(text, "total IOPS = {:.0}", sums.iops.floor());
        let _ = writeln!(text, "total data = {gib:9.3} GiB");
    }
    let _ = writeln!(
        text,
        "{percent:6.2}% of requested files processed, warning threshold is \
         {FILES_PERCENT_MIN:6.2}%\nelapsed time = {:9.3}",
        sums.seconds
    );
    if sums.seconds < 0.001 {
        text += "WARNING: test must run longer than a millisecond\n";
    } else {
        let _ = writeln!(text, "files/sec = {:.6}", sums.files_per_second);
        if sums.records > 0 {
            let _ = writeln!(text, "IOPS = {:.6}", sums.iops);
            let _ = writeln!(text, "MiB/sec = {:.6}", sums.mib_per_second);
        }
    }
    if percent < FILES_PERCENT_MIN {
        text += "WARNING: not enough total files processed before 1st thread finished, change \
                 test parameters\n";
    }
    text
}

/// A host's name without its domain.
fn short(host: &str) -> &str {
    host.split('.').next().unwrap_or(host)
}

/// As Python writes a number: with an exponent below 0.0001.
fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0.0".to_owned(),
        short if short < 1e-4 => {
            let text = format!("{short:e}");
            let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
            format!("{digits}e-{exponent:0>2}")
        }
        long => format!("{long:?}"),
    }
}
