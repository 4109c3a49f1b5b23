//! Warnings as data: what a reader must know before believing a figure.

use std::fmt;

use plan::{Diagnostic, DiagnosticCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a figure, or something worth knowing of it.
///
/// In records it has its `level` too, which follows from its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "WarningForm")]
pub struct Warning {
    /// What kind of warning.
    pub code: WarningCode,
    /// A sentence for people, in lower case and without a full stop.
    pub message: String,
    /// The cell it belongs to, 0-based; none when it belongs to the whole run.
    pub cell: Option<u32>,
}

/// What a warning is to its reader.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum WarningLevel {
    /// A reason to doubt a figure.
    Warning,
    /// Worth knowing; no figure that is shown is wrong by it.
    Note,
}

/// A warning as records have it.
#[derive(Serialize, JsonSchema)]
struct WarningForm {
    /// What kind of warning.
    code: WarningCode,
    /// Whether it is a reason to doubt a figure.
    level: WarningLevel,
    /// A sentence for people, in lower case and without a full stop.
    message: String,
    /// The cell it belongs to, 0-based; none when it belongs to the whole run.
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
    /// What it is to its reader.
    #[must_use]
    pub fn level(&self) -> WarningLevel {
        self.code.level()
    }

    /// A warning that belongs to the whole run.
    #[must_use]
    pub fn of_run(code: WarningCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            cell: None,
        }
    }

    /// A warning that belongs to one cell.
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
        let place = match (diagnostic.file.as_str(), diagnostic.line) {
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
        Self::of_run(code, format!("{place}{}{help}", diagnostic.message))
    }
}

macro_rules! warning_codes {
    ($($(#[$doc:meta])+ $variant:ident = $code:literal,)+) => {
        /// What kind of warning, in records as kebab-case text.
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
            /// Every code known here.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The code in records.
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
    /// The page cache served a part of the reads, so the device was not measured.
    CacheServedReads = "cache-served-reads",
    /// A part of what was written had not come to the device at the end of the measurement.
    CacheAbsorbedWrites = "cache-absorbed-writes",
    /// A part of what is read was never written, so no medium is asked for it.
    BlankStorage = "blank-storage",
    /// What keeps a target's bytes is memory, so no device is measured.
    MemoryBacked = "memory-backed",
    /// A worker used its processor fully, so the processor was measured.
    WorkerCpuBound = "worker-cpu-bound",
    /// Workers could run and waited for a processor.
    WaitedForProcessor = "waited-for-processor",
    /// All processors were busy.
    ProcessorsSaturated = "processors-saturated",
    /// Without direct I/O, a file smaller than memory is served by the page cache.
    FileSmallerThanMemory = "file-smaller-than-memory",
    /// What is written can be compressed, which some devices and file systems do.
    CompressibleContent = "compressible-content",
    /// The hypervisor gave processor time to others.
    StealTime = "steal-time",
    /// The device did more I/O than was asked of it here.
    OtherIoOnDevice = "other-io-on-device",
    /// A percentile stands on too few samples.
    FewSamplesForPercentile = "few-samples-for-percentile",
    /// So few operations were measured that one more or less changes the rate.
    FewOperations = "few-operations",
    /// The file system takes direct I/O but goes through the page cache.
    DirectNotHonored = "direct-not-honored",
    /// The file system serves some direct I/O through the page cache.
    DirectFallsBack = "direct-falls-back",
    /// The kernel does not know some setup flags of the ring.
    RingFlagsMissing = "ring-flags-missing",
    /// Operations moved fewer bytes than asked for.
    ShortTransfers = "short-transfers",
    /// Operations failed.
    IoErrors = "io-errors",
    /// A test file is smaller than asked for.
    SizeReduced = "size-reduced",
    /// Requests are aligned to more than asked for.
    AlignmentRaised = "alignment-raised",
    /// The clock does not run evenly or not alike on all processors.
    ClockUnstable = "clock-unstable",
    /// The machine was busy before the run.
    LoadBefore = "load-before",
    /// An interval was handed over late, so it is longer than the others.
    IntervalLate = "interval-late",
    /// The process or the machine stood still while measuring.
    StoodStill = "stood-still",
    /// The figures still rose or fell while measuring.
    NotSteady = "not-steady",
    /// The ramp was too short: the start of the measurement still was warm-up.
    WarmUp = "warm-up",
    /// The cell ended before its time.
    CellCutShort = "cell-cut-short",
    /// What was read is not what was written.
    VerifyMismatch = "verify-mismatch",
    /// Nothing was done in a cell.
    NothingMeasured = "nothing-measured",
    /// A job missed a goal of its own, which ended it.
    GoalMissed = "goal-missed",
    /// No queue depth kept the latency that it was looked for with.
    DepthNotFound = "depth-not-found",
    /// The asked rate was not reached.
    RateNotReached = "rate-not-reached",
    /// Requests that were due never began, so their response times are lower bounds.
    ResponsesCensored = "responses-censored",
    /// A limit of the system or of a control group held the run back.
    LimitInForce = "limit-in-force",
    /// A test file or its directory was removed or replaced while it was measured.
    TargetLost = "target-lost",
    /// A target lies below a mount point of `/etc/fstab` at which nothing is mounted.
    NotMounted = "not-mounted",
    /// A TCP peer is on this machine, so no network is measured.
    NetworkLoopback = "network-loopback",
    /// Files of an interrupted run are still there.
    LeftoverFiles = "leftover-files",
    /// A pool of files was empty before its transactions were done.
    PoolDepleted = "pool-depleted",
    /// A classic program's own figure is not what it seems to be.
    ClassicFigure = "classic-figure",
    /// What stands in for another program does something otherwise.
    DiffersFromOriginal = "differs-from-original",
    /// A recorded call ended otherwise than recorded, which ended the run.
    TraceBroken = "trace-broken",
    /// A figure is not as precise as its repetitions were to make it.
    PrecisionNotReached = "precision-not-reached",
    /// The results store does not have the run.
    NotStored = "not-stored",
    /// The results store is on a device under test, which moves its bytes too.
    StoreOnTarget = "store-on-target",
    /// The hosts that share a run are not alike.
    UnequalHosts = "unequal-hosts",
    /// The clocks of hosts are not known well enough for intervals to be cut at the same time.
    ClockOffset = "clock-offset-large",
    /// Processes that share a run did not begin together.
    StartSpread = "start-spread",
    /// Some of the processes that share a run were much slower than the others.
    RankImbalance = "rank-imbalance",
    /// A process that shared the run was lost.
    RankLost = "rank-lost",
    /// Rates come from too short a time.
    TooShort = "too-short",
    /// The reader of a workload file or the planner understood something otherwise.
    Plan = "plan",
    /// What the lab says of a file system that it made.
    Lab = "lab",
}

impl WarningCode {
    /// What warnings of this kind are to their reader.
    #[must_use]
    pub fn level(&self) -> WarningLevel {
        match self {
            // A percentile on too few samples is not shown, a rate of few operations is told with
            // what it is known to, rates are those of their intervals'
            // own lengths, and what is written is what was asked for.
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
