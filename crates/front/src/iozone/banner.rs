//! The lines that IOzone prints before its results.

use plan::program::OpenSync;

use super::options::{IozoneOptions, RateUnit};

/// The banner of a run that began at this time.
pub(super) fn banner(options: &IozoneOptions, arguments: &[String], began: &str) -> String {
    let command = [&["iozone".to_owned()], arguments].concat().join(" ");
    let compute = f64::from(options.compute_ms) / 1e3;
    let mut lines = vec![
        "Iozone: Performance Test of File I/O".to_owned(),
        "        Emulation of Version $Revision: 3.489 $\n".to_owned(),
        format!("Run began: {began}\n"),
    ];
    lines.extend(lines_of_options(options, arguments));
    lines.push(format!("Command line used: {}", plan::printable(&command)));
    if options.unit == RateUnit::Kib {
        lines.push(format!("Output is in {}", options.unit.names()[0]));
    }
    if options.compute_ms > 0 {
        lines.push(format!(
            "Compute time {compute:.6} seconds for reads and writes."
        ));
    }
    lines.extend([
        "Time Resolution = 0.000001 seconds.".to_owned(),
        format!("Processor cache size set to {} kBytes.", options.cache_kib),
        format!(
            "Processor cache line size set to {} bytes.",
            options.line_bytes
        ),
        format!("File stride size set to {} * record size.", options.stride),
    ]);
    if let Some(burst) = options.burst {
        lines.push(format!("Burst size set to {} Kbytes.", burst.kib));
        lines.push(format!(
            "Burst sleep duration set to {} msec",
            burst.pause_ms
        ));
    }
    lines.iter().map(|line| format!("\t{line}\n")).collect()
}

/// Lines of the options that have an effect, in the order of the options.
fn lines_of_options(options: &IozoneOptions, arguments: &[String]) -> Vec<String> {
    let flags = flags(options).into_iter();
    let flags = flags.map(|(option, is_on, line)| (option, is_on.then(|| line.to_owned())));
    let mut lines: Vec<(usize, String)> = flags
        .chain(values(options))
        .filter_map(|(option, line)| Some((position(arguments, option)?, line?)))
        .collect();
    lines.sort_by_key(|(position, _)| *position);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Options without a value: whether each is on, and its line.
fn flags(options: &IozoneOptions) -> [(&'static str, bool, &'static str); 23] {
    let is_synced = options.sync == OpenSync::All;
    let is_mapped = options.mapped.is_some();
    let auto_short = "Auto Mode 2. This option is obsolete. Use -az -i0 -i1 ";
    let microseconds = "Microseconds/op Mode. Output is in microseconds per operation.";
    [
        ("-a", options.is_auto, "Auto Mode"),
        ("-A", options.is_short, auto_short),
        ("-B", is_mapped, "Using mmap files"),
        ("-c", options.closes, "Include close in write timing"),
        ("-D", is_mapped, "Using msync(MS_ASYNC) on mmap files"),
        ("-e", options.flushes, "Include fsync in write timing"),
        ("-G", is_mapped, "Using msync(MS_SYNC) on mmap files"),
        ("-I", options.is_direct, "O_DIRECT feature enabled"),
        (
            "-K",
            options.has_jitter,
            "Disrupted read patterns selected.",
        ),
        ("-N", options.unit == RateUnit::Microseconds, microseconds),
        ("-o", is_synced, "SYNC Mode."),
        (
            "-O",
            options.unit == RateUnit::Operations,
            "OPS Mode. Output is in operations per second.",
        ),
        (
            "-Q",
            options.has_latency_files,
            "Offset/latency files enabled.",
        ),
        ("-R", options.is_excel, "Excel chart generation enabled"),
        ("-W", options.locks, "Lock file when reading/writing."),
        ("-x", !options.has_stonewall, "Stonewall disabled"),
        (
            "-z",
            options.has_all_records,
            "Cross over of record size disabled.",
        ),
        (
            "-+B",
            options.is_mix_sequential,
            ">>> Sequential Mixed workload. <<<",
        ),
        (
            "-+D",
            options.sync == OpenSync::Data,
            ">>> O_DSYNC mode enabled. <<<",
        ),
        (
            "-+J",
            options.counts_compute,
            ">>> Think time is included in throughput cal. <<<",
        ),
        ("-+n", !options.retests, "No retest option selected"),
        ("-+r", is_synced, "Read & Write sync mode active."),
        (
            "-+V",
            options.shares_file,
            ">>> Shared file mode enabled. <<<",
        ),
    ]
}

/// Options with a value, and their lines.
fn values(options: &IozoneOptions) -> [(&'static str, Option<String>); 9] {
    let sizes = |sizes: &[u64], line: &dyn Fn(u64) -> String| {
        let lines: Vec<String> = sizes.iter().map(|kib| line(*kib)).collect();
        lines.join("\n\t")
    };
    let files = sizes(&options.files_kib, &|kib| {
        format!("File size set to {kib} kB")
    });
    let records = sizes(&options.records_kib, &|kib| format!("Record Size {kib} kB"));
    let largest = options.file_max_kib;
    let largest = largest.map(|kib| format!("Using maximum file size of {kib} kilobytes."));
    let least = options.file_min_kib;
    let least = least.map(|kib| format!("Using minimum file size of {kib} kilobytes."));
    let record = |name: &str, kib: u64| Some(format!("Using {name} Record Size {kib} kB"));
    let rest = options.rest_seconds;
    let percent = options.readers_percent;
    let percent = percent.map(|it| format!("Percent read in mix test is {it}"));
    let manual = "Manual control of test 8. >>> Very Experimental. Sony special <<<";
    [
        ("-s", Some(files)),
        ("-r", Some(records)),
        ("-g", largest),
        ("-n", least),
        ("-y", record("Minimum", options.record_min_kib)),
        ("-q", record("Maximum", options.record_max_kib)),
        (
            "-+q",
            Some(format!("Delay {rest} seconds between tests enabled.")),
        ),
        ("-+p", percent),
        ("-+K", options.readers.map(|_| manual.to_owned())),
    ]
}

/// Index of the first argument that is this option, alone or joined; `None` if it was not given.
fn position(arguments: &[String], option: &str) -> Option<usize> {
    let letter = &option[1..];
    arguments.iter().position(|word| {
        let joined = word.strip_prefix('-').unwrap_or_default();
        match joined.starts_with('+') || letter.starts_with('+') {
            true => word.starts_with(option),
            false => joined.contains(letter),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = IozoneOptions::read(&words).unwrap();
        let text = banner(&options, &words, "now");
        let lines = text.lines().skip_while(|it| !it.contains("Run began"));
        let lines = lines.map(str::trim).filter(|it| !it.is_empty()).skip(1);
        let lines = lines.take_while(|it| !it.starts_with("Command"));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn lines_are_in_the_order_of_the_options() {
        assert_eq!(
            lines("-e -+n -s 1m -r 64k -r 128k -c"),
            [
                "Include fsync in write timing",
                "No retest option selected",
                "File size set to 1024 kB",
                "Record Size 64 kB",
                "Record Size 128 kB",
                "Include close in write timing",
            ]
        );
        assert_eq!(
            lines("-y 8k -q 64k -a -g 128k -n 64k"),
            [
                "Using Minimum Record Size 8 kB",
                "Using Maximum Record Size 64 kB",
                "Auto Mode",
                "Using maximum file size of 128 kilobytes.",
                "Using minimum file size of 64 kilobytes.",
            ]
        );
        assert_eq!(
            lines("-BG -i0"),
            ["Using mmap files", "Using msync(MS_SYNC) on mmap files"]
        );
        // Options without an effect have no line.
        assert_eq!(lines("-p -w -+d"), Vec::<String>::new());
    }
}
