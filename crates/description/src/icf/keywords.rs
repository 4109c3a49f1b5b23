//! The words that an Iometer configuration takes, each with the integer that old versions wrote.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enum whose variants are Iometer's words, numbered from 0 in Iometer's order.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$vmeta])* $variant,)*
        }

        impl $name {
            /// All values, in Iometer's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word in a file of 1.1.0.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Reads the word (case ignored) or the integer of old versions.
            #[must_use]
            pub fn from_word(text: &str) -> Option<Self> {
                if let Ok(index) = text.parse::<usize>() {
                    return Self::ALL.get(index).copied();
                }
                Self::ALL.iter().copied().find(|value| value.word().eq_ignore_ascii_case(text))
            }

            /// The words for a message, with commas between.
            #[must_use]
            pub fn choices() -> String {
                let words: Vec<&str> = Self::ALL.iter().map(|value| value.word()).collect();
                words.join(", ")
            }
        }
    };
}

words! {
    /// Which rows the results file has.
    RecordResults {
        /// All of them.
        All = "ALL",
        /// All but those of targets.
        NoTargets = "NO_TARGETS",
        /// Those of managers and their sum.
        NoWorkers = "NO_WORKERS",
        /// The sum only.
        NoManagers = "NO_MANAGERS",
        /// No file.
        None = "NONE",
    }
}

words! {
    /// How a value grows from step to step.
    StepType {
        /// The step is added.
        Linear = "LINEAR",
        /// The value is multiplied by the step.
        Exponential = "EXPONENTIAL",
    }
}

words! {
    /// Which runs an access specification gives.
    TestType {
        /// One run with all targets and workers.
        Normal = "NORMAL",
        /// More targets of each worker from run to run.
        CycleTargets = "CYCLE_TARGETS",
        /// More workers from run to run.
        CycleWorkers = "CYCLE_WORKERS",
        /// More targets of each manager from run to run.
        IncrementTargetsParallel = "INCREMENT_TARGETS_PARALLEL",
        /// More targets over all managers from run to run.
        IncrementTargetsSerial = "INCREMENT_TARGETS_SERIAL",
        /// For each number of workers, more targets from run to run.
        CycleWorkersAndTargets = "CYCLE_WORKERS_AND_TARGETS",
        /// More requests in flight from run to run.
        CycleOutstandingIos = "CYCLE_OUTSTANDING_IOS",
        /// For each number of targets, more requests in flight from run to run.
        CycleOutstandingIosAndTargets = "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
    }
}

words! {
    /// Which new workers get an access specification.
    Assignment {
        /// None.
        None = "NONE",
        /// All.
        All = "ALL",
        /// Disk workers.
        Disk = "DISK",
        /// Network workers.
        Net = "NET",
    }
}

words! {
    /// What an update of Iometer's window shows.
    UpdateType {
        /// The time since the last update.
        LastUpdate = "LAST_UPDATE",
        /// The time since the start.
        WholeTest = "WHOLE_TEST",
    }
}

/// What a worker or target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerKind {
    /// Disks and files.
    Disk,
    /// TCP connections.
    NetworkTcp,
    /// Virtual interface connections, a dead technology.
    NetworkVi,
}

impl WorkerKind {
    /// The word in a file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disk => "DISK",
            Self::NetworkTcp => "NETWORK,TCP",
            Self::NetworkVi => "NETWORK,VI",
        }
    }

    /// Reads the word; case and blanks are ignored.
    #[must_use]
    pub fn from_word(text: &str) -> Option<Self> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        [Self::Disk, Self::NetworkTcp, Self::NetworkVi]
            .into_iter()
            .find(|kind| kind.word().eq_ignore_ascii_case(&compact))
    }

    /// Whether it is one of the two network kinds.
    #[must_use]
    pub fn is_network(self) -> bool {
        self != Self::Disk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_old_integers_mean_the_same() {
        for (index, value) in TestType::ALL.iter().enumerate() {
            assert_eq!(TestType::from_word(value.word()), Some(*value));
            assert_eq!(TestType::from_word(&index.to_string()), Some(*value));
            assert_eq!(
                TestType::from_word(&value.word().to_lowercase()),
                Some(*value)
            );
        }
        assert_eq!(TestType::from_word("8"), None);
        assert_eq!(TestType::from_word(""), None);
        assert_eq!(TestType::from_word("-1"), None);
    }

    #[test]
    fn kinds_ignore_case_and_blanks() {
        assert_eq!(
            WorkerKind::from_word("network, tcp"),
            Some(WorkerKind::NetworkTcp)
        );
        assert_eq!(WorkerKind::from_word("DISK"), Some(WorkerKind::Disk));
        assert_eq!(WorkerKind::from_word("TAPE"), None);
    }

    #[test]
    fn choices_are_listed_for_messages() {
        assert_eq!(StepType::choices(), "LINEAR, EXPONENTIAL");
    }
}
