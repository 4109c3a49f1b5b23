//! The lines of lat_fs: size, files, creations and removals a second.

use workload::classics::lat_fs::{Best, Sample};

/// The line of version 1.6, with its line break; it goes to standard error.
///
/// A time of 0 counts as one nanosecond, where the original prints `inf`.
#[must_use]
pub fn best_line(size_bytes: u64, best: &Best) -> String {
    let rate = |time_ns| per_second(best.file_count, time_ns, 1);
    format!(
        "{}k\t{}\t{:.0}\t{:.0}\n",
        size_bytes >> 10,
        best.file_count,
        rate(best.create_ns),
        rate(best.remove_ns),
    )
}

/// The line of version 3, with its line break; it goes to standard error.
///
/// Files are those of the creations; times are cut to microseconds, and where nothing is left
/// -1 stands.
#[must_use]
pub fn median_line(size_bytes: u64, create: Option<Sample>, remove: Option<Sample>) -> String {
    let timed = |sample: Option<Sample>| {
        let sample = sample?;
        let time_ns = sample.time_ns - sample.time_ns % 1000;
        let rate = per_second(sample.file_count, time_ns, 0);
        (time_ns > 0).then(|| (sample.file_count, format!("{rate:.0}")))
    };
    let absent = || "-1".to_owned();
    let (count, created) = timed(create).map_or_else(
        || (absent(), absent()),
        |(count, rate)| (count.to_string(), rate),
    );
    let removed = timed(remove).map_or_else(absent, |(_, rate)| rate);
    format!("{}k\t{count}\t{created}\t{removed}\n", size_bytes >> 10)
}

fn per_second(file_count: u32, time_ns: u64, least_ns: u64) -> f64 {
    f64::from(file_count) * 1e9 / time_ns.max(least_ns) as f64
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn version_1_6_prints_the_best_of_both() {
        let best = Best {
            file_count: 1000,
            create_ns: 250_000_000,
            remove_ns: 3_000_000,
        };
        assert_eq!(best_line(10_240, &best), "10k\t1000\t4000\t333333\n");
        assert_eq!(best_line(1023, &best), "0k\t1000\t4000\t333333\n");
    }

    #[test]
    fn a_pass_without_time_does_not_print_infinity() {
        let best = Best {
            file_count: 1,
            create_ns: 0,
            remove_ns: 0,
        };
        assert_eq!(best_line(0, &best), "0k\t1\t1000000000\t1000000000\n");
    }

    #[test]
    fn version_3_prints_minus_one_for_what_took_no_time() {
        let sample = |file_count, time_ns| {
            Some(Sample {
                file_count,
                time_ns,
            })
        };
        let line = median_line(4096, sample(10, 2_000_999), sample(20, 1_000_000));
        assert_eq!(line, "4k\t10\t5000\t20000\n");
        assert_eq!(median_line(0, sample(10, 999), None), "0k\t-1\t-1\t-1\n");
        assert_eq!(
            median_line(0, None, sample(1, 1_000_000)),
            "0k\t-1\t-1\t1000\n"
        );
    }

    #[test]
    fn recorded_lines_come_back_from_their_numbers() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/misc");
        let Ok(text) = std::fs::read_to_string(samples.join("lat_fs_v3_run.txt")) else {
            println!("skipped: the recorded run of lat_fs is not here");
            return;
        };
        let sizes = [0, 1024, 4096, 10_240];
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(lines.len(), sizes.len());
        for (line, size_bytes) in lines.into_iter().zip(sizes) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let file_count: u32 = fields[1].parse().unwrap();
            let sample = |rate: &str| {
                let rate: f64 = rate.parse().unwrap();
                let time_us = (f64::from(file_count) * 1e6 / rate).round();
                Some(Sample {
                    file_count,
                    time_ns: time_us as u64 * 1000,
                })
            };
            let printed = median_line(size_bytes, sample(fields[2]), sample(fields[3]));
            for (ours, theirs) in printed.split('\t').zip(line.split('\t')) {
                // A microsecond is as much as a few files a second.
                match (ours.trim().parse::<f64>(), theirs.trim().parse::<f64>()) {
                    (Ok(ours), Ok(theirs)) => assert!((ours - theirs).abs() <= 2.0, "{printed}"),
                    _ => assert_eq!(ours, theirs),
                }
            }
            assert_eq!(printed.matches('\t').count(), 3);
        }
    }
}
