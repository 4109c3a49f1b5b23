//! The command line of IOzone.

use std::collections::BTreeSet;

use plan::printable;
use plan::program::{MappedSync, OpenSync};
use units::format::size;

use super::telemetry::Telemetry;
use crate::options::{
    Grammar, OptionRow, WrittenValue, act, bytes, count_within, flag, idle, idle_value,
    missing_value_message, number_within, read, read_each, refused, refused_value,
    refused_value_with, refused_with, rule_out, text, unknown_option_message,
};

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IozoneOptions {
    pub is_auto: bool,
    /// `true` to use small records also for large files.
    pub has_all_records: bool,
    /// Sizes of the file, in KiB.
    pub files_kib: Vec<u64>,
    /// Record sizes for all files, in KiB; empty to derive them from the file's size.
    pub records_kib: Vec<u64>,
    pub record_min_kib: u64,
    pub record_max_kib: u64,
    /// Tests given by `-i`; empty for the mode's default.
    pub tests: BTreeSet<u8>,
    /// `true` for `-A`, whose table only has the columns of its four tests.
    pub is_short: bool,
    /// Smallest file of the automatic mode, `-n`, in KiB.
    pub file_min_kib: Option<u64>,
    /// Largest file of the automatic mode, `-g`, in KiB.
    pub file_max_kib: Option<u64>,
    pub has_extensions: bool,
    /// Numbers of children, tested one after the other; empty for a single stream.
    pub children: Vec<u32>,
    pub has_stonewall: bool,
    pub reports_children: bool,
    pub flushes: bool,
    pub closes: bool,
    pub retests: bool,
    pub is_direct: bool,
    pub sync: OpenSync,
    pub stride: u64,
    pub readers_percent: Option<u32>,
    /// Pause between two tests, in seconds; 0 for none.
    pub rest_seconds: u32,
    /// Time that is spent computing before each read or write, in milliseconds.
    pub compute_ms: u32,
    /// `true` if that time counts.
    pub counts_compute: bool,
    /// Factor from one size to the next in the automatic mode.
    pub size_factor: u64,
    pub unit: RateUnit,
    pub is_excel: bool,
    pub cache_kib: u64,
    pub line_bytes: u64,
    /// File of a single stream, `-f`.
    pub file: Option<String>,
    /// File of each child, from `-F`.
    pub files: Vec<String>,
    /// How mapped files are synced after each write; `None` without `-B`.
    pub mapped: Option<MappedSync>,
    /// `true` to lock each file as a whole during each test.
    pub locks: bool,
    /// `true` to write a file with the latency of each record.
    pub has_latency_files: bool,
    /// Mount point to mount again before each test.
    pub mount_point: Option<String>,
    /// `true` to read from the beginning of the file now and then.
    pub has_jitter: bool,
    /// Bursts of writes, with pauses between them.
    pub burst: Option<Burst>,
    /// `true` if the children share the size of the file.
    pub divides_size: bool,
    /// `true` if all children use one file.
    pub shares_file: bool,
    /// `true` if the report calls the children threads, which they always are.
    pub has_threads: bool,
    /// `true` if the mixed test is sequential, and if its writers write new files.
    pub is_mix_sequential: bool,
    pub is_mix_emptying: bool,
    /// Number of readers in the mixed test.
    pub readers: Option<u32>,
    /// Files of the writes and reads of tests 0 and 1, and their contents once they are read.
    pub telemetry_files: [Option<String>; 2],
    pub telemetry: [Telemetry; 2],
    /// Spreadsheet file of `-b`, which `-+u` gives tables of the CPU utilization.
    pub worksheet: Option<String>,
    pub has_cpu_tables: bool,
    /// Options that are accepted and have no effect.
    pub ignored: Vec<String>,
}

/// Writes that are followed by a sync and a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Burst {
    pub kib: u64,
    pub pause_ms: u32,
}

/// Unit of the printed rates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RateUnit {
    #[default]
    Kib,
    Operations,
    Microseconds,
}

impl RateUnit {
    /// Name of the unit in the banner, in the throughput report, and in its spreadsheet.
    pub(super) const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Kib => ["kBytes/sec", "kB/sec", "kBytes/sec"],
            Self::Operations => ["operations/sec", "ops/sec", "ops/sec"],
            Self::Microseconds => ["microseconds per operation", "usec/op", "microseconds/op"],
        }
    }
}

/// Largest file of the automatic mode, and largest record, in KiB.
const FILE_MAX_KIB: u64 = 512 << 10;
const RECORD_MAX_KIB: u64 = 16 << 10;
/// Files larger than this start at the larger record size below, in KiB.
const CROSSOVER_KIB: u64 = 16 << 10;
const CROSSOVER_RECORD_KIB: u64 = 64;

/// Tests 11 and 12 need calls without which Debian compiles the original.
const NOT_COMPILED_IN: &str = "needs `preadv` and `pwritev`, without which Debian compiles IOzone";

/// Options as given, before defaults and combinations are resolved.
#[derive(Default)]
pub(super) struct RawOptions {
    options: IozoneOptions,
    record_min_kib: Option<u64>,
    record_max_kib: Option<u64>,
    counts: Vec<u32>,
    is_in_operations: bool,
    is_in_microseconds: bool,
    lower: Option<u32>,
    upper: Option<u32>,
    has_stride: bool,
    is_mapped: bool,
    mapped_sync: Option<MappedSync>,
    rate: Option<u32>,
}

pub(super) const GRAMMAR: Grammar<RawOptions> = Grammar {
    unknown: |it| match it.word.as_bytes() {
        [b'-', b'+', ..] => format!("`{}` is not supported", printable(it.word)),
        [b'-', b'-', ..] => unknown_option_message(&printable(it.name)),
        [b'-', _, ..] if it.has_value => unknown_option_message(it.name),
        [b'-', _, ..] => missing_value_message(it.name),
        _ => format!("`{}` is not an option", printable(it.word)),
    },
    ..Grammar::new(OPTIONS, |it| &mut it.options.ignored)
};

const OPTIONS: &[OptionRow<RawOptions>] = &[
    flag("-a", |it| &mut it.options.is_auto),
    // In the original, `-A` is short for `-az -i0 -i1`.
    act("-A", |it| {
        (it.options.is_auto, it.options.has_all_records) = (true, true);
        it.options.is_short = true;
        it.options.tests.extend([0, 1]);
    }),
    flag("-c", |it| &mut it.options.closes),
    flag("-C", |it| &mut it.options.reports_children),
    flag("-e", |it| &mut it.options.flushes),
    flag("-E", |it| &mut it.options.has_extensions),
    flag("-I", |it| &mut it.options.is_direct),
    flag("-N", |it| &mut it.is_in_microseconds),
    act("-o -+r", |it| it.options.sync = OpenSync::All),
    flag("-O", |it| &mut it.is_in_operations),
    flag("-R", |it| &mut it.options.is_excel),
    act("-x", |it| it.options.has_stonewall = false),
    flag("-z", |it| &mut it.options.has_all_records),
    act("-+n", |it| it.options.retests = false),
    act("-+D", |it| it.options.sync = OpenSync::Data),
    read("-s", |it, value| {
        add_once(&mut it.options.files_kib, kib(value)?)
    }),
    read("-r", |it, value| {
        add_once(&mut it.options.records_kib, kib(value)?)
    }),
    read("-n", |it, value| {
        put_kib(&mut it.options.file_min_kib, value)
    }),
    read("-g", |it, value| {
        put_kib(&mut it.options.file_max_kib, value)
    }),
    read("-y", |it, value| put_kib(&mut it.record_min_kib, value)),
    read("-q", |it, value| put_kib(&mut it.record_max_kib, value)),
    read("-i", |it, value| {
        if let Ok(11..=13) = value.text.parse::<u8>() {
            let option = format!("`-i {}`", value.text);
            return Err(format!(
                "{option} {NOT_COMPILED_IN}; use a test from 0 to 10"
            ));
        }
        it.options.tests.insert(value.number_within(0, 10)?);
        Ok(())
    }),
    read("-t", |it, value| {
        add_once(&mut it.counts, value.number_within(1, 1024)?)
    }),
    number_within("-l", |it| it.lower.get_or_insert_default(), 1, 1024),
    number_within("-u", |it| it.upper.get_or_insert_default(), 1, 1024),
    read("-j", |it, value| {
        it.options.stride = value.number_within(1, 1 << 20)?;
        it.has_stride = true;
        Ok(())
    }),
    count_within("-S", |it| &mut it.options.cache_kib, 1, 1 << 40),
    count_within("-L", |it| &mut it.options.line_bytes, 1, 1 << 20),
    number_within(
        "-+p",
        |it| it.options.readers_percent.get_or_insert_default(),
        0,
        100,
    ),
    number_within("-+q", |it| &mut it.options.rest_seconds, 0, 86_400),
    number_within("-J", |it| &mut it.options.compute_ms, 0, 60_000),
    flag("-+J", |it| &mut it.options.counts_compute),
    count_within("-+x", |it| &mut it.options.size_factor, 2, 1 << 20),
    flag("-W", |it| &mut it.options.locks),
    flag("-Q", |it| &mut it.options.has_latency_files),
    flag("-K", |it| &mut it.options.has_jitter),
    flag("-+k", |it| &mut it.options.divides_size),
    flag("-+V", |it| &mut it.options.shares_file),
    flag("-T", |it| &mut it.options.has_threads),
    flag("-+B", |it| &mut it.options.is_mix_sequential),
    flag("-+F", |it| &mut it.options.is_mix_emptying),
    number_within(
        "-+K",
        |it| it.options.readers.get_or_insert_default(),
        1,
        1024,
    ),
    text("-U", |it| it.options.mount_point.get_or_insert_default()),
    text("-X", |it| {
        it.options.telemetry_files[0].get_or_insert_default()
    }),
    text("-Y", |it| {
        it.options.telemetry_files[1].get_or_insert_default()
    }),
    text("-b", |it| it.options.worksheet.get_or_insert_default()),
    read("-+b", |it, value| {
        it.options.burst = Some(burst(value)?);
        Ok(())
    }),
    // The content has no pattern and no shares of duplicates, so it is the same for old data sets.
    flag("-B", |it| &mut it.is_mapped),
    act("-D", |it| it.mapped_sync = Some(MappedSync::Async)),
    act("-G", |it| it.mapped_sync = Some(MappedSync::Sync)),
    idle("-Z -M -p -m -w -+N -+z -+T -+d -+Z"),
    flag("-+u", |it| &mut it.options.has_cpu_tables),
    read("-f", |it, value| {
        it.options.file = Some(value.text.to_owned());
        Ok(())
    }),
    read_each("-F", |it, value| {
        it.options.files.push(value.text.to_owned());
        Ok(())
    }),
    // `-d` delays the children one after the other by microseconds; `-+A` advises on mapped memory.
    idle_value("-P -V -+w -+y -+C -+S -+W -d -+A"),
    refused_with("-h -v", ""),
    refused("-+l -+L", "locks the records that are read and written"),
    refused("-+E", "reads a file of another program"),
    refused("-+X", "skips the reads and writes that it reports"),
    refused("-+t", "measures the network, not a file system"),
    number_within("-+O", |it| it.rate.get_or_insert_default(), 1, u32::MAX),
    refused_value_with("-+m -+c", CLUSTER),
    refused_value("-+H -+P", "takes the time from a server"),
    refused_value("-H -k", "uses asynchronous I/O"),
];

const CLUSTER: &str = "`{}` is not supported, because all children run on this host; to measure \
                       on several hosts, use a workload file and `pgmeter run --hosts`";

impl IozoneOptions {
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = RawOptions {
            options: Self {
                has_stonewall: true,
                retests: true,
                stride: 17,
                size_factor: 2,
                cache_kib: 1024,
                line_bytes: 32,
                ..Self::default()
            },
            ..RawOptions::default()
        };
        let mut written = GRAMMAR.read(arguments, start)?;
        let mut options = std::mem::take(&mut written.options);
        options.resolve(&written)?;
        Ok(options)
    }

    fn resolve(&mut self, written: &RawOptions) -> Result<(), String> {
        // Either limit is enough: `-u` alone counts from 1, and `-l` alone is a single number.
        let lower = written.lower.or(written.upper.and(Some(1)));
        let upper = written.upper.or(written.lower).unwrap_or(1);
        rule_out(&[
            (lower > Some(upper), "`-l` is above `-u`"),
            (
                is_descending(&self.files_kib),
                "`-s` is repeated with smaller sizes later",
            ),
            (
                is_descending(&self.records_kib),
                "`-r` is repeated with smaller sizes later",
            ),
        ])?;
        self.children = match lower {
            Some(lower) if written.counts.is_empty() => (lower..=upper).collect(),
            _ => written.counts.clone(),
        };
        let is_matrix = self.is_auto || self.files_kib.len() > 1 || self.records_kib.len() > 1;
        let mixed = "`-t`, `-l` and `-u` take one size of file and one of record, without `-a`";
        let computes = self.is_together() && self.compute_ms > 0 && !self.counts_compute;
        let computing = "`-J` with several children needs `-+J`, which counts its time; add it";
        // In the original, a single stream has no such limit, and no others to share its file with.
        let limits_rate = self.is_together() && written.rate.is_some();
        let limited = "`-+O` limits the rate of operations of children, which is not supported; \
                       use `pgmeter run --rate` instead";
        self.shares_file &= self.is_together();
        self.ignored.extend(written.rate.map(|_| "-+O".to_owned()));
        rule_out(&[
            (self.is_together() && is_matrix, mixed),
            (computes, computing),
            (limits_rate, limited),
        ])?;
        // As in the original, `-D` and `-G` have no effect without `-B`.
        self.mapped = written
            .is_mapped
            .then(|| written.mapped_sync.unwrap_or(MappedSync::No));
        self.check_files()?;
        self.check_special(written.has_stride)?;
        self.unit = match (written.is_in_microseconds, written.is_in_operations) {
            (true, _) => RateUnit::Microseconds,
            (false, true) => RateUnit::Operations,
            (false, false) => RateUnit::Kib,
        };
        let low = self.file_min_kib.unwrap_or(64);
        let high = self.file_max_kib.unwrap_or(FILE_MAX_KIB.max(low));
        if self.files_kib.is_empty() {
            self.files_kib = match self.is_auto {
                true => self.growing_sizes(low, high).collect(),
                false => vec![512],
            };
        }
        self.record_min_kib = written.record_min_kib.unwrap_or(4);
        self.record_max_kib = written.record_max_kib.unwrap_or(RECORD_MAX_KIB);
        // As in the original, limits for the record size replace the larger first record of large
        // files.
        self.has_all_records |= written.record_min_kib.or(written.record_max_kib).is_some();
        if !self.is_auto && self.records_kib.is_empty() {
            self.records_kib.push(4);
        }
        if let Some(kib) = self.records_kib.iter().find(|it| **it > RECORD_MAX_KIB) {
            return Err(format!("records of {kib} kB are above {RECORD_MAX_KIB} kB"));
        }
        self.check_fit()
    }

    /// Checks combinations that the original refuses.
    fn check_special(&self, has_stride: bool) -> Result<(), String> {
        let [writes, reads] = self.telemetry_files.each_ref().map(Option::is_some);
        let has_telemetry = writes || reads;
        let has_sizes = !self.files_kib.is_empty() || !self.records_kib.is_empty();
        let is_together = self.is_together();
        let alone =
            "`-+b`, `-U`, `-X` and `-Y` need a single stream; leave `-t`, `-l` and `-u` out";
        let needs_stream = self.burst.is_some() || self.mount_point.is_some() || has_telemetry;
        let sized = "the file of `-X` sets the sizes of the file and its records; leave `-s` and \
                     `-r` out";
        let modes = "files of `-X` and `-Y` do not combine with `-a`, `-j` and `-K`";
        rule_out(&[
            (is_together && needs_stream, alone),
            (writes && has_sizes, sized),
            (
                has_telemetry && (self.is_auto || has_stride || self.has_jitter),
                modes,
            ),
        ])
    }

    /// `true` if time counts only in calls: the original subtracts what it spends computing and
    /// sleeping.
    pub(super) fn counts_only_calls(&self) -> bool {
        let has_telemetry = self.telemetry_files.iter().any(Option::is_some);
        let computes = self.compute_ms > 0 || has_telemetry;
        computes && !self.counts_compute || self.burst.is_some()
    }

    /// Checks that a record fits into a file. Files smaller than all records get no cell, but at
    /// least one cell must remain.
    fn check_fit(&self) -> Result<(), String> {
        let mut files = self.files_kib.iter();
        if !files.all(|file| self.records_kib(*file).is_empty()) {
            return Ok(());
        }
        let records = self.records_kib.iter().min();
        let record = records.map_or(self.record_min_kib, |it| *it);
        let file = self.files_kib.iter().max().map_or(0, |it| *it);
        if record <= file {
            return Err("the limits of `-y` and `-q` leave no size of record".to_owned());
        }
        let [record, file] = [record, file].map(|kib| size(kib << 10));
        Err(format!(
            "a record of {record} is larger than the file of {file}; use smaller records or a \
             larger file"
        ))
    }

    /// Record sizes for a file of this size, in KiB.
    pub(super) fn records_kib(&self, file_kib: u64) -> Vec<u64> {
        let fits = |record: &u64| *record <= file_kib;
        if !self.records_kib.is_empty() {
            return self.records_kib.iter().copied().filter(fits).collect();
        }
        let is_large = file_kib > CROSSOVER_KIB && !self.has_all_records;
        let low = match is_large {
            true => self.record_min_kib.max(CROSSOVER_RECORD_KIB),
            false => self.record_min_kib,
        };
        self.growing_sizes(low, self.record_max_kib.min(file_kib))
            .collect()
    }

    /// Sizes from `low` to `high`, each the same number of times the one before.
    pub(super) fn growing_sizes(&self, low: u64, high: u64) -> impl Iterator<Item = u64> {
        let factor = self.size_factor;
        let sizes = std::iter::successors(Some(low), move |it| it.checked_mul(factor));
        sizes.take_while(move |it| *it <= high)
    }

    /// `true` if several children work at the same time.
    pub(super) const fn is_together(&self) -> bool {
        !self.children.is_empty()
    }

    /// `true` if the test runs.
    pub(super) fn has(&self, test: u8) -> bool {
        let is_usual = match test {
            // In a single stream, the original's mixed test does nothing.
            8 => self.is_together(),
            // Streams are not mapped.
            6 | 7 => self.mapped.is_none(),
            9 | 10 => self.has_extensions,
            _ => true,
        };
        is_usual && (self.tests.is_empty() || self.tests.contains(&test))
    }
}

/// A size in KiB; KiB is also the unit of a plain number.
fn kib(value: &WrittenValue<'_>) -> Result<u64, String> {
    let size = bytes(value.text, 1 << 10).ok_or_else(|| value.not_size())?;
    match (1 << 10..=1 << 40).contains(&size) {
        true => Ok(size >> 10),
        false => Err(value.not("a size from 1 KiB to 1 TiB")),
    }
}

/// Size and pause of `-+b`: `SIZE,MILLISECONDS`.
fn burst(value: &WrittenValue<'_>) -> Result<Burst, String> {
    let parts = value.text.split_once(',');
    let (size, pause) =
        parts.ok_or_else(|| value.not("a size and a pause in ms, such as `1m,100`"))?;
    Ok(Burst {
        kib: kib(&value.part(size))?,
        pause_ms: value.part(pause).number_within(1, 60_000)?,
    })
}

/// Adds a value unless it was given before.
fn add_once<N: PartialEq>(to: &mut Vec<N>, value: N) -> Result<(), String> {
    if !to.contains(&value) {
        to.push(value);
    }
    Ok(())
}

/// `true` if a list is not in ascending order, which the original refuses.
fn is_descending(sizes: &[u64]) -> bool {
    !sizes.is_sorted()
}

fn put_kib(to: &mut Option<u64>, value: &WrittenValue<'_>) -> Result<(), String> {
    *to = Some(kib(value)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<IozoneOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        IozoneOptions::read(&words)
    }

    #[test]
    fn the_automatic_mode_uses_the_sizes_of_the_original() {
        let options = read("-a").unwrap();
        let counts: Vec<usize> = options
            .files_kib
            .iter()
            .map(|file| options.records_kib(*file).len())
            .collect();
        assert_eq!(counts, [5, 6, 7, 8, 9, 10, 11, 12, 13, 9, 9, 9, 9, 9]);
        assert_eq!(options.records_kib(32 << 10)[0], 64);
        assert_eq!(read("-az").unwrap().records_kib(32 << 10)[0], 4);
        assert_eq!(read("-a -g 1m -n 256").unwrap().files_kib, [256, 512, 1024]);
        let options = read("-a -g 1m -n 64 -+x 4").unwrap();
        assert_eq!(options.files_kib, [64, 256, 1024]);
        assert_eq!(options.records_kib(64), [4, 16, 64]);
        assert_eq!(read("").unwrap().files_kib, [512]);
        assert_eq!(read("-s 1m -r 64k").unwrap().records_kib(1024), [64]);
    }

    #[test]
    fn options_may_be_joined_and_take_values() {
        let options = read("-Rec -i 0 -i1 -t 4 -+n -+p 75 -O -w -j 3 -CxoI").unwrap();
        assert_eq!(options.tests, BTreeSet::from([0, 1]));
        assert_eq!(options.children, [4]);
        assert!(options.is_excel && options.flushes && options.closes && !options.retests);
        assert!(options.reports_children && !options.has_stonewall && options.is_direct);
        assert_eq!((options.readers_percent, options.stride), (Some(75), 3));
        assert_eq!(
            (options.unit, options.sync),
            (RateUnit::Operations, OpenSync::All)
        );
        assert_eq!(options.ignored, ["-w"]);
        assert_eq!(read("-l 2 -u 4 -F a b c d").unwrap().children, [2, 3, 4]);
        assert!(read("-i 0 -E").unwrap().has(0) && !read("-i 0 -E").unwrap().has(9));
        assert!(read("-E").unwrap().has(10) && !read("-E").unwrap().has(8));
    }

    #[test]
    fn repeated_options_form_a_list_as_in_the_original() {
        let options = read("-s 1m -s 2m -r 4k -r 64k -r 64k -i 0").unwrap();
        assert_eq!(options.files_kib, [1024, 2048]);
        assert_eq!(options.records_kib(1024), [4, 64]);
        assert_eq!(super::super::matrix(&options).len(), 4);
        let options = read("-t 1 -t 4 -t 2").unwrap();
        assert_eq!(options.children, [1, 4, 2]);
        assert_eq!(super::super::matrix(&options).len(), 3);
        assert_eq!(read("-l 1 -u 3 -t 2").unwrap().children, [2]);
        // The last of these holds in the original.
        let options = read("-a -n 64 -n 128 -g 256 -g 512 -y 4 -y 8 -q 64 -q 32").unwrap();
        assert_eq!(options.files_kib, [128, 256, 512]);
        assert_eq!(options.records_kib(512), [8, 16, 32]);
        assert_eq!(read("-j 3 -j 5").unwrap().stride, 5);
        assert_eq!(read("-N -O").unwrap().unit, RateUnit::Microseconds);
    }

    #[test]
    fn rare_options_are_refused_by_name() {
        for (line, wanted) in [
            (
                "-+m x",
                "`-+m` is not supported, because all children run on this host; to measure on \
                 several hosts, use a workload file and `pgmeter run --hosts`",
            ),
            ("-+Y 5", "`-+Y` is not supported"),
            (
                "-J 1 -t 2",
                "`-J` with several children needs `-+J`, which counts its time; add it",
            ),
            (
                "-t 2 -X x",
                "`-+b`, `-U`, `-X` and `-Y` need a single stream; leave `-t`, `-l` and `-u` out",
            ),
            (
                "-X x -s 1m",
                "the file of `-X` sets the sizes of the file and its records; leave `-s` and \
                 `-r` out",
            ),
            (
                "-K -Y x",
                "files of `-X` and `-Y` do not combine with `-a`, `-j` and `-K`",
            ),
            (
                "-+b 4k",
                "`-+b 4k` is not a size and a pause in ms, such as `1m,100`",
            ),
            ("-+b 4k,0", "`-+b 0` is not a number from 1 to 60000"),
            ("-+x 1", "`-+x 1` is not a number from 2 to 1048576"),
        ] {
            assert_eq!(read(line).unwrap_err(), wanted, "{line}");
        }
    }

    #[test]
    fn unsupported_options_are_refused_by_name() {
        for (line, wanted) in [
            (
                "-i 0 -i 12",
                "`-i 12` needs `preadv` and `pwritev`, without which Debian compiles IOzone; use \
                 a test from 0 to 10",
            ),
            ("-i 14", "`-i 14` is not a number from 0 to 10"),
            (
                "-s 4m -r 8m",
                "a record of 8 MiB is larger than the file of 4 MiB; use smaller records or a \
                 larger file",
            ),
            (
                "-a -y 64 -q 32",
                "the limits of `-y` and `-q` leave no size of record",
            ),
            (
                "-s -f t/x",
                "option `-s` needs a value, but the option `-f` follows",
            ),
            ("--size 4m", "there is no option `--size`"),
            ("-r 32m", "records of 32768 kB are above 16384 kB"),
            (
                "-H 4",
                "`-H` uses asynchronous I/O, which is not supported; leave it out",
            ),
            ("-s", "option `-s` needs a value"),
            ("-s 0", "`-s 0` is not a size from 1 KiB to 1 TiB"),
            (
                "-r 3q",
                "`-r 3q` is not a number with an optional unit: `k`, `m`, `g` or `t`",
            ),
            ("-F a b", "`-F` names the files of children; add `-t N`"),
            ("-t 2 -f a -F a b", "`-f` and `-F` exclude each other"),
            (
                "-t 3 -F a b",
                "`-F` names 2 files for 3 children; name 3 files, or use `-t 2`",
            ),
            ("-l 4 -u 2", "`-l` is above `-u`"),
            ("-r 64k -r 4k", "`-r` is repeated with smaller sizes later"),
            (
                "-t 2 -r 4k -r 64k",
                "`-t`, `-l` and `-u` take one size of file and one of record, without `-a`",
            ),
            (
                "-a -t 2",
                "`-t`, `-l` and `-u` take one size of file and one of record, without `-a`",
            ),
            ("-!", "option `-!` needs a value"),
            ("-! x", "there is no option `-!`"),
            ("x", "`x` is not an option"),
        ] {
            assert_eq!(read(line).unwrap_err(), wanted, "{line}");
        }
    }
}
