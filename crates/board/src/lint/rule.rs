//! The rules, and what a check found.

use schemars::JsonSchema;
use serde::Serialize;

/// Effect of a broken rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleLevel {
    /// The submission is refused.
    Error,
    /// The page of the submission shows it.
    Warning,
}

// One list makes the variants, their ids, names and levels, so that none can lack one of them.
macro_rules! rules {
    ($($(#[$doc:meta])+ $variant:ident = $id:literal, $name:literal, $level:ident;)+) => {
        /// A rule for submissions.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BoardRule {
            $($(#[$doc])+ $variant,)+
        }

        impl BoardRule {
            /// All rules, in the order of their ids.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the id, such as `E03`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// Returns the name in words.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the effect unless the rule's check decides otherwise.
            #[must_use]
            pub const fn level(self) -> RuleLevel {
                match self { $(Self::$variant => RuleLevel::$level,)+ }
            }
        }
    };
}

rules! {
    /// The files have known formats and no unknown keys.
    Format = "E01", "known-format", Error;
    /// The run and its cells are complete, and no warning contradicts success.
    Complete = "E02", "complete", Error;
    /// Counts, bytes and times give the rates, and the parts give the whole.
    Rates = "E03", "counts-give-rates", Error;
    /// Histograms agree with counts, extremes, means and percentiles.
    Histograms = "E04", "histograms-agree", Error;
    /// Operations of a fixed size moved that size each.
    FixedSizes = "E05", "fixed-sizes", Error;
    /// Intervals add up to the cell, and are not copies of each other.
    Intervals = "E06", "intervals-add-up", Error;
    /// Times are in order, not in the future, and as long as planned.
    Times = "E07", "times-in-order", Error;
    /// No operation failed, or the submitter declares why.
    NoErrors = "E08", "no-errors", Error;
    /// All verified data was correct.
    Verified = "E09", "verified-data", Error;
    /// The hashes of the record and of its work recompute.
    Hashes = "E10", "hashes-recompute", Error;
    /// The board accepts the program's version and the edition of the rules.
    Versions = "E11", "accepted-versions", Error;
    /// No other submission has the same run or the same results.
    Unique = "E12", "unique-record", Error;
    /// The result belongs to a table of the board, with its work and its columns.
    Table = "E13", "fits-a-table", Error;
    /// The signature fits the record.
    Signature = "E14", "valid-signature", Error;
    /// Names, license and texts are present and short enough.
    Texts = "E15", "texts-present", Error;
    /// The rate is possible on the links between storage and memory.
    Link = "E20", "within-link-limit", Error;
    /// The devices moved the bytes of direct I/O.
    DeviceMoved = "W21", "device-moved-bytes", Warning;
    /// The page cache served reads.
    CachedReads = "W22", "reads-from-cache", Warning;
    /// The median latency is too short for a block device.
    ShortLatency = "W23", "latency-below-2us", Warning;
    /// Rate times latency equals the requests in flight (Little's law).
    LittlesLaw = "W24", "littles-law", Warning;
    /// An array may compress or deduplicate the written data.
    Compressible = "W25", "compressible-data", Warning;
    /// Flash storage was not preconditioned.
    Precondition = "W26", "precondition-unknown", Warning;
    /// The rate was not steady, or the warm-up was measured.
    Steady = "W27", "steady", Warning;
    /// Others used the CPUs or the device.
    Quiet = "W28", "quiet-machine", Warning;
    /// The file fits into memory, and the page cache was in use.
    FitsMemory = "W29", "file-above-memory", Warning;
    /// The frequency governor of the CPUs is unknown.
    Governor = "W30", "governor-unknown", Warning;
    /// The server of a network file system is not described.
    Server = "W31", "server-unknown", Warning;
    /// The results store was on the measured device.
    Store = "W32", "store-on-target", Warning;
    /// At least 5 repetitions, with an interval of at most 5 % to each side.
    Repetitions = "W40", "enough-repetitions", Warning;
    /// Repetitions follow each other.
    Gaps = "W41", "repetitions-follow", Warning;
    /// No repetition is missing.
    Picked = "W42", "no-repetition-missing", Warning;
    /// Counts of PostMark equal those that its random numbers determine.
    PoolCounts = "P1", "pool-counts", Error;
    /// The ratio of written to read bytes belongs to a generation of PostMark.
    PoolGeneration = "P2", "pool-generation", Error;
    /// A whole number of seconds gives both rates.
    PoolSeconds = "P3", "pool-whole-seconds", Error;
    /// The transactions are not longer than the run, and not too short for it.
    PoolTransactions = "P4", "pool-transaction-time", Error;
    /// Totals of bytes are exact, not sums of 32-bit floats.
    PoolFloats = "P5", "pool-exact-totals", Warning;
    /// The terse report of PostMark has the rate of deletions, not that of creations.
    PoolTerse = "P6", "pool-terse-rates", Warning;
}

/// A rule that a submission does not follow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RuleFinding {
    /// Id of the rule.
    pub rule: &'static str,
    /// Name of the rule.
    pub name: &'static str,
    /// Effect.
    pub level: RuleLevel,
    /// Part of the submission, such as a cell or a table.
    pub place: String,
    /// The value or state that the rule expects.
    pub expected: String,
    /// The value or state of the submission.
    pub actual: String,
}

impl RuleFinding {
    /// Returns `true` if the finding refuses the submission.
    #[must_use]
    pub fn is_refusing(&self) -> bool {
        self.level == RuleLevel::Error
    }
}

/// Findings of one submission while it is checked.
#[derive(Debug, Default)]
pub(crate) struct FindingList {
    found: Vec<RuleFinding>,
}

/// Maximum number of findings of one rule in a submission. A record may have thousands of cells.
const FINDINGS_OF_A_RULE_MAX: usize = 8;

impl FindingList {
    /// Adds a finding with the rule's own level.
    pub fn add(&mut self, rule: BoardRule, place: &str, expected: String, actual: String) {
        self.add_with((rule, rule.level()), place, expected, actual);
    }

    /// Adds a finding with a level.
    pub fn add_with(
        &mut self,
        (rule, level): (BoardRule, RuleLevel),
        place: &str,
        expected: String,
        actual: String,
    ) {
        let same = self.found.iter().filter(|it| it.rule == rule.id());
        if same.count() < FINDINGS_OF_A_RULE_MAX {
            self.found.push(RuleFinding {
                rule: rule.id(),
                name: rule.name(),
                level,
                place: place.to_owned(),
                expected,
                actual,
            });
        }
    }

    /// Returns the findings, those that refuse first, in the order of the rules.
    pub fn into_sorted(mut self) -> Vec<RuleFinding> {
        self.found.sort();
        self.found.sort_by_key(|it| it.level);
        self.found
    }
}
