//! Table of options of other programs and their translations.

use units::Bytes;

use super::ValueShape::{self, Flag, Number, ParameterFile, Path, Size, Value};

/// Programs with known options. If several share an option, the first one is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherTool {
    Fio,
    Elbencho,
    Iozone,
    Vdbench,
}

impl OtherTool {
    pub(super) const ALL: [Self; 4] = [Self::Fio, Self::Elbencho, Self::Iozone, Self::Vdbench];

    /// The program's name for `pgmeter as`; `None` if it is not emulated.
    pub(super) const fn emulated(self) -> Option<&'static str> {
        match self {
            Self::Fio => Some("fio"),
            Self::Iozone => Some("iozone"),
            Self::Elbencho | Self::Vdbench => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Elbencho => "elbencho",
            Self::Iozone => "IOzone",
            Self::Vdbench => "vdbench",
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum OptionTranslation {
    /// The same value for this option.
    Same(&'static str),
    /// The value times the number of fio's jobs, for this option.
    TimesJobs(&'static str),
    /// These words, regardless of the value.
    Words(&'static str),
    /// Words computed from the value.
    Computed(fn(&str) -> String),
    /// Not needed; the text gives the reason.
    Unneeded(&'static str),
    /// Not an option; the text describes the alternative.
    Instead(&'static str),
}

/// An option of another program.
pub(super) struct OtherToolOption {
    pub program: OtherTool,
    /// With dashes; without dashes, it is written as `word=value`.
    pub word: &'static str,
    pub shape: ValueShape,
    pub translation: OptionTranslation,
}

const fn row(
    program: OtherTool,
    word: &'static str,
    shape: ValueShape,
    translation: OptionTranslation,
) -> OtherToolOption {
    OtherToolOption {
        program,
        word,
        shape,
        translation,
    }
}

/// `{}` stands for the option as it was written.
const AS_FIO: &str = "use `pgmeter as fio ... {}`";
const AS_IOZONE: &str = "use `pgmeter as iozone ... {}`";
const PARAMETER_FILE: &str =
    "parameter files are not read yet; write options such as `--rw randread --bs 4k`";
const FILE_ONLY: &str = "it is a key of an access line; `--print toml` makes a file to add it to";

use OptionTranslation::{Computed, Instead, Same, TimesJobs, Unneeded, Words};
use OtherTool::{Elbencho, Fio, Iozone, Vdbench};

/// Options that are spelled differently in pgmeter, by program.
///
/// Source: fio 3.38 `HOWTO`, elbencho 3.0 `--help-all`, IOzone 3.506 `-h`, vdbench 5.04.07 manual.
pub(super) const ROWS: &[OtherToolOption] = &[
    row(Fio, "--ioengine", Value, Computed(engine)),
    row(Fio, "--direct", Number, Computed(direct)),
    row(Fio, "--buffered", Number, Computed(buffered)),
    row(Fio, "--numjobs", Value, Same("--workers")),
    row(Fio, "--runtime", Value, Same("--run-time")),
    row(Fio, "--ramp_time", Value, Same("--ramp-time")),
    row(Fio, "--filename", Value, Same("--target")),
    row(Fio, "--directory", Value, Same("--target")),
    row(Fio, "--blocksize", Value, Same("--bs")),
    row(Fio, "--bssplit", Value, Computed(split_sizes)),
    row(Fio, "--rwmixwrite", Number, Computed(translate_write_mix)),
    row(Fio, "--percentage_random", Value, Same("--random")),
    row(Fio, "--filesize", Value, Same("--size")),
    row(Fio, "--offset", Value, Computed(|it| set("start", it))),
    row(Fio, "--number_ios", Value, Same("--operations")),
    row(Fio, "--loops", Value, Same("--repetitions")),
    row(Fio, "--rate_iops", Value, TimesJobs("--rate")),
    row(Fio, "--randseed", Value, Same("--seed")),
    row(Fio, "--cpus_allowed", Value, Computed(|it| set("cpus", it))),
    row(
        Fio,
        "--iodepth_batch",
        Value,
        Computed(|it| set("batch", it)),
    ),
    row(
        Fio,
        "--iodepth_batch_submit",
        Value,
        Computed(|it| set("batch", it)),
    ),
    row(Fio, "--hipri", Flag, Words("--set iopoll=true")),
    row(Fio, "--sqthread_poll", Flag, Words("--set sqpoll=true")),
    row(Fio, "--verify", ValueShape::AfterEquals, Words("--verify")),
    row(
        Fio,
        "--buffer_compress_percentage",
        Value,
        Computed(|it| content("compress", it)),
    ),
    row(
        Fio,
        "--dedupe_percentage",
        Value,
        Computed(|it| content("dedupe", it)),
    ),
    row(Fio, "--output", Value, Same("--json")),
    row(
        Fio,
        "--output-format",
        Value,
        Instead("`--json FILE` and `--csv FILE` write results"),
    ),
    row(
        Fio,
        "--name",
        Value,
        Unneeded("a run is named after its workload"),
    ),
    row(
        Fio,
        "--time_based",
        Flag,
        Unneeded("runs end by time anyway"),
    ),
    row(
        Fio,
        "--group_reporting",
        Flag,
        Unneeded("workers are reported together anyway"),
    ),
    row(
        Fio,
        "--thread",
        Flag,
        Unneeded("workers are threads anyway"),
    ),
    row(
        Fio,
        "--norandommap",
        Flag,
        Unneeded("random offsets may repeat anyway"),
    ),
    row(
        Fio,
        "--randrepeat",
        Number,
        Unneeded("the seed is 1 unless `--seed` sets another"),
    ),
    row(
        Fio,
        "--gtod_reduce",
        Number,
        Unneeded("every request is timed"),
    ),
    row(
        Fio,
        "--refill_buffers",
        Flag,
        Unneeded("data is incompressible anyway"),
    ),
    row(
        Fio,
        "--invalidate",
        Number,
        Unneeded("reads start with a cold cache anyway"),
    ),
    row(
        Fio,
        "--readonly",
        Flag,
        Unneeded("a workload that only reads opens its targets read-only"),
    ),
    row(Fio, "--random_distribution", Value, Instead(FILE_ONLY)),
    row(Fio, "--thinktime", Value, Instead(FILE_ONLY)),
    row(Fio, "--blockalign", Value, Instead(FILE_ONLY)),
    row(Fio, "--fsync", Number, Instead(AS_FIO)),
    row(Fio, "--fdatasync", Number, Instead(AS_FIO)),
    row(Fio, "--end_fsync", Number, Instead(AS_FIO)),
    row(Fio, "--sync", Value, Instead(AS_FIO)),
    row(
        Fio,
        "--section",
        Value,
        Instead("use `pgmeter as fio job.fio {}`"),
    ),
    row(Elbencho, "--threads", Number, Same("--workers")),
    row(Elbencho, "-t", Number, Same("--workers")),
    row(Elbencho, "--block", Size, Same("--bs")),
    row(Elbencho, "-b", Size, Same("--bs")),
    row(Elbencho, "-s", Size, Same("--size")),
    row(Elbencho, "--rand", Flag, Words("--random 100")),
    row(Elbencho, "--rwmixpct", Number, Same("--read")),
    row(Elbencho, "--read", Flag, Words("--read 100")),
    row(Elbencho, "-r", Flag, Words("--read 100")),
    row(Elbencho, "--write", Flag, Words("--read 0")),
    row(Elbencho, "-w", Flag, Words("--read 0")),
    row(Elbencho, "--direct", Flag, Words("--cache direct")),
    row(Elbencho, "--timelimit", Number, Same("--run-time")),
    row(Elbencho, "--jsonfile", Value, Same("--json")),
    row(Elbencho, "--csvfile", Value, Same("--csv")),
    row(Elbencho, "--zones", Value, Computed(|it| set("cpus", it))),
    row(
        Elbencho,
        "--dropcache",
        Flag,
        Unneeded("reads start with a cold cache anyway"),
    ),
    row(
        Elbencho,
        "--lat",
        Flag,
        Unneeded("latencies are reported anyway"),
    ),
    row(
        Elbencho,
        "--infloop",
        Flag,
        Unneeded("runs end by `--run-time`, at most 30d"),
    ),
    row(Iozone, "-i", Number, Computed(translate_iozone_test)),
    row(Iozone, "-r", Size, Same("--bs")),
    row(Iozone, "-s", Size, Same("--size")),
    row(Iozone, "-t", Number, Same("--workers")),
    row(Iozone, "-f", Path, Same("--target")),
    row(Iozone, "-F", Path, Same("--target")),
    row(Iozone, "-I", Flag, Words("--cache direct")),
    row(Iozone, "-w", Flag, Words("--keep")),
    row(Iozone, "-e", Flag, Instead(AS_IOZONE)),
    row(Iozone, "-c", Flag, Instead(AS_IOZONE)),
    row(
        Iozone,
        "-O",
        Flag,
        Unneeded("rates are in operations anyway"),
    ),
    row(
        Iozone,
        "-a",
        Flag,
        Instead("use `pgmeter as iozone ... {}`, or the pack `quick`"),
    ),
    row(Vdbench, "-f", ParameterFile, Instead(PARAMETER_FILE)),
    row(Vdbench, "xfersize", Size, Same("--bs")),
    row(Vdbench, "rdpct", Number, Same("--read")),
    row(Vdbench, "seekpct", Value, Computed(seeks)),
    row(Vdbench, "threads", Number, Same("--iodepth")),
    row(Vdbench, "elapsed", Value, Same("--run-time")),
    row(Vdbench, "warmup", Value, Same("--ramp-time")),
    row(Vdbench, "iorate", Value, Computed(rate)),
    row(Vdbench, "lun", Value, Same("--target")),
    row(Vdbench, "size", Size, Same("--size")),
    row(Vdbench, "openflags", Value, Words("--cache direct")),
    row(
        Vdbench,
        "interval",
        Value,
        Unneeded("intervals adapt to the run time"),
    ),
];

fn set(key: &str, value: &str) -> String {
    format!("--set {key}={value}")
}

fn content(key: &str, value: &str) -> String {
    format!("--set content='{{ {key} = {value} }}'")
}

fn engine(name: &str) -> String {
    let own = match name {
        "mmap" | "null" => name,
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => "psync",
        // Most of fio's other engines, such as `libaio`, are asynchronous.
        _ => "io_uring",
    };
    format!("--engine {own}")
}

fn direct(value: &str) -> String {
    let mode = if value == "0" { "buffered" } else { "direct" };
    format!("--cache {mode}")
}

fn buffered(value: &str) -> String {
    direct(if value == "0" { "1" } else { "0" })
}

/// Translates `4k/60:64k/40` to `4k:60,64k:40`. Drops a separate split for writes.
fn split_sizes(value: &str) -> String {
    let reads = value.split(',').next().unwrap_or_default();
    format!("--bs {}", reads.replace(':', ",").replace('/', ":"))
}

fn translate_write_mix(value: &str) -> String {
    // fio's own default is 50.
    let writes: u8 = value.parse().unwrap_or(50);
    format!("--rwmix {}", 100_u8.saturating_sub(writes))
}

fn translate_iozone_test(value: &str) -> String {
    let pattern = match value {
        "0" => "write",
        "1" => "read",
        // IOzone's test 2 is random reads and writes; its other tests have no counterpart.
        _ => "randrw",
    };
    format!("--rw {pattern}")
}

fn seeks(value: &str) -> String {
    let share = match value {
        "random" | "rand" => "100",
        "seq" | "seqnz" | "eof" | "sequential" => "0",
        share => share,
    };
    format!("--random {share}")
}

fn rate(value: &str) -> String {
    match value {
        // Without `--rate`, workers issue requests as fast as they can.
        "max" => String::new(),
        "curve" => "--curve".to_owned(),
        rate => format!("--rate {rate}"),
    }
}

/// Returns `true` if the text is a size.
pub(super) fn is_size(text: &str) -> bool {
    text.parse::<Bytes>().is_ok()
}
