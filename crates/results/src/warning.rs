//! Warnings as data: what a reader must know before trusting a result.

use std::fmt;

use plan::{Diagnostic, DiagnosticCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a result, or a remark on it.
///
/// In records, a warning also has a `level`, which follows from its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "WarningForm")]
pub struct Warning {
    /// Kind of warning.
    pub code: WarningCode,
    /// A sentence for the reader, in lower case and without a period.
    pub message: String,
    /// The affected cell, 0-based; none if the warning is about the whole run.
    pub cell: Option<u32>,
}

/// Severity of a warning.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum WarningLevel {
    /// A reason to doubt a result.
    Warning,
    /// Worth knowing; all shown results remain correct.
    Note,
}

/// A warning, as stored in records.
#[derive(Serialize, JsonSchema)]
struct WarningForm {
    /// Kind of warning.
    code: WarningCode,
    /// Severity: a reason to doubt a result, or a remark.
    level: WarningLevel,
    /// A sentence for the reader, in lower case and without a period.
    message: String,
    /// The affected cell, 0-based; none if the warning is about the whole run.
    cell: Option<u32>,
}

impl From<Warning> for WarningForm {
    fn from(warning: Warning) -> Self {
        Self {
            level: warning.level(),
            code: warning.code,
            message: warning.message,
            cell: warning.cell,
        }
    }
}

impl Warning {
    /// Severity of the warning.
    #[must_use]
    pub fn level(&self) -> WarningLevel {
        self.code.level()
    }

    /// A warning about the whole run.
    #[must_use]
    pub fn of_run(code: WarningCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            cell: None,
        }
    }

    /// A warning about one cell.
    #[must_use]
    pub fn of_cell(code: WarningCode, cell: u32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            cell: Some(cell),
        }
    }
}

impl From<Diagnostic> for Warning {
    fn from(diagnostic: Diagnostic) -> Self {
        let location = match (diagnostic.file.as_str(), diagnostic.line) {
            ("", _) => String::new(),
            (file, Some(line)) => format!("{file}:{line}: "),
            (file, None) => format!("{file}: "),
        };
        let help = diagnostic
            .help
            .map(|help| format!("; {help}"))
            .unwrap_or_default();
        let code = match diagnostic.code {
            Some(DiagnosticCode::SizeReduced) => WarningCode::SizeReduced,
            Some(DiagnosticCode::AlignmentRaised) => WarningCode::AlignmentRaised,
            Some(DiagnosticCode::DiffersFromOriginal) => WarningCode::DiffersFromOriginal,
            None => WarningCode::Plan,
        };
        Self::of_run(code, format!("{location}{}{help}", diagnostic.message))
    }
}

// One list makes the variants, their texts and `ALL`, so that none can lack one of them.
macro_rules! warning_codes {
    ($($(#[$doc:meta])+ $variant:ident = $code:literal,)+) => {
        /// Kind of warning, in records as kebab-case text.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum WarningCode {
            $($(#[$doc])+ $variant,)+
            /// A code of a later version of pgmeter.
            Other(String),
        }

        impl WarningCode {
            /// All codes of this version.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The code as in records.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $code,)+
                    Self::Other(code) => code,
                }
            }
        }

        impl From<String> for WarningCode {
            fn from(code: String) -> Self {
                match code.as_str() {
                    $($code => Self::$variant,)+
                    _ => Self::Other(code),
                }
            }
        }
    };
}

warning_codes! {
    /// The page cache served part of the reads, so the device was not measured.
    CacheServedReads = "cache-served-reads",
    /// Part of the written data had not reached the device at the end of the measurement.
    CacheAbsorbedWrites = "cache-absorbed-writes",
    /// Part of the data read was never written, so the device did not read it from its medium.
    BlankStorage = "blank-storage",
    /// A target is backed by memory, so no device is measured.
    MemoryBacked = "memory-backed",
    /// A worker used its CPU fully, so the CPU limited the result.
    WorkerCpuBound = "worker-cpu-bound",
    /// Workers were runnable but waited for a CPU.
    WaitedForProcessor = "waited-for-processor",
    /// All CPUs were busy.
    ProcessorsSaturated = "processors-saturated",
    /// Without direct I/O, the page cache serves a file that is smaller than memory.
    FileSmallerThanMemory = "file-smaller-than-memory",
    /// The written data is compressible, and some devices and file systems compress.
    CompressibleContent = "compressible-content",
    /// The hypervisor gave CPU time to other virtual machines.
    StealTime = "steal-time",
    /// The device did more I/O than this run requested.
    OtherIoOnDevice = "other-io-on-device",
    /// A percentile has too few samples.
    FewSamplesForPercentile = "few-samples-for-percentile",
    /// The number of operations is so small that one more or less changes the rate.
    FewOperations = "few-operations",
    /// The file system accepts direct I/O but uses the page cache.
    DirectNotHonored = "direct-not-honored",
    /// The file system serves some direct I/O from the page cache.
    DirectFallsBack = "direct-falls-back",
    /// The kernel does not know some setup flags of the ring.
    RingFlagsMissing = "ring-flags-missing",
    /// Operations moved fewer bytes than requested.
    ShortTransfers = "short-transfers",
    /// Operations failed.
    IoErrors = "io-errors",
    /// A test file is smaller than requested.
    SizeReduced = "size-reduced",
    /// Requests are aligned to a larger unit than requested.
    AlignmentRaised = "alignment-raised",
    /// The clock is not constant or not synchronized across all CPUs.
    ClockUnstable = "clock-unstable",
    /// The machine was busy before the run.
    LoadBefore = "load-before",
    /// The monitor recorded an interval late, so it is longer than the others.
    IntervalLate = "interval-late",
    /// The process or the machine stood still during the measurement.
    StoodStill = "stood-still",
    /// The rate was still rising or falling during the measurement.
    NotSteady = "not-steady",
    /// The ramp was too short: the measurement started during warm-up.
    WarmUp = "warm-up",
    /// The cell ended early.
    CellCutShort = "cell-cut-short",
    /// The data read differs from the data written.
    VerifyMismatch = "verify-mismatch",
    /// An error ended the run.
    RunFailed = "run-failed",
    /// A cell has no results.
    NothingMeasured = "nothing-measured",
    /// A job missed one of its goals and was ended.
    GoalMissed = "goal-missed",
    /// No queue depth met the job's latency limit.
    DepthNotFound = "depth-not-found",
    /// The requested rate was not reached.
    RateNotReached = "rate-not-reached",
    /// Requests of a replay started late.
    ReplayLate = "replay-late",
    /// Requests that were due never started, so their response times are lower bounds.
    ResponsesCensored = "responses-censored",
    /// A limit of the system or of a control group held the run back.
    LimitInForce = "limit-in-force",
    /// A test file or its directory was removed or replaced during the measurement.
    TargetLost = "target-lost",
    /// A target is below a mount point of `/etc/fstab` that has nothing mounted.
    NotMounted = "not-mounted",
    /// A TCP peer is on this machine, so no network is measured.
    NetworkLoopback = "network-loopback",
    /// Files of an interrupted run still exist.
    LeftoverFiles = "leftover-files",
    /// A pool of files was empty before all transactions were done.
    PoolDepleted = "pool-depleted",
    /// A classic program's own result can be misleading.
    ClassicFigure = "classic-figure",
    /// The emulation of another program differs from the original.
    DiffersFromOriginal = "differs-from-original",
    /// A replayed call ended differently than recorded, which ended the run.
    TraceBroken = "trace-broken",
    /// A result did not reach the requested precision.
    PrecisionNotReached = "precision-not-reached",
    /// The run is not in the results store.
    NotStored = "not-stored",
    /// The results store is on a device under test and adds I/O to it.
    StoreOnTarget = "store-on-target",
    /// The hosts of a run differ.
    UnequalHosts = "unequal-hosts",
    /// The clock offsets between hosts are too uncertain to cut intervals at the same time.
    ClockOffset = "clock-offset-large",
    /// The processes of a run did not start together.
    StartSpread = "start-spread",
    /// Some processes of a run were much slower than the others.
    RankImbalance = "rank-imbalance",
    /// A process of the run was lost.
    RankLost = "rank-lost",
    /// The measured time is too short for rates.
    TooShort = "too-short",
    /// The workload reader or the planner changed the meaning of a setting.
    Plan = "plan",
    /// A remark of the lab on a file system that it created.
    Lab = "lab",
}

impl WarningCode {
    /// Severity of this kind of warning.
    #[must_use]
    pub fn level(&self) -> WarningLevel {
        match self {
            // Notes: a percentile on too few samples is not shown. The message for few operations
            // gives the possible error of the rate. Rates use the true length of their intervals,
            // and compressible content was requested.
            Self::FewSamplesForPercentile
            | Self::FewOperations
            | Self::IntervalLate
            | Self::CompressibleContent
            | Self::RingFlagsMissing
            | Self::ClassicFigure
            | Self::DiffersFromOriginal
            | Self::LeftoverFiles
            | Self::AlignmentRaised
            | Self::Lab => WarningLevel::Note,
            _ => WarningLevel::Warning,
        }
    }
}

impl From<WarningCode> for String {
    fn from(code: WarningCode) -> Self {
        code.as_str().to_owned()
    }
}

impl fmt::Display for WarningCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
