//! Keywords of an Iometer configuration, each with the integer that old versions wrote.

use description::iometer::{Assignment, RecordResults, UpdateType, WorkerKind};
use description::model::{StepKind, TestType};

/// A value that Iometer writes as a keyword.
pub(super) trait Keyword: Copy + PartialEq + 'static {
    /// All values with their keywords in version 1.1.0. Old versions write the index instead.
    const KEYWORDS: &'static [(Self, &'static str)];

    /// The keyword in a file of version 1.1.0.
    fn word(self) -> &'static str {
        let mut words = Self::KEYWORDS.iter();
        words
            .find(|(value, _)| *value == self)
            .map_or("", |(_, word)| word)
    }

    /// Parses a keyword, regardless of case, or the integer of old versions.
    fn from_word(text: &str) -> Option<Self> {
        let found = match text.parse::<usize>() {
            Ok(index) => Self::KEYWORDS.get(index),
            Err(_) => Self::KEYWORDS
                .iter()
                .find(|(_, word)| word.eq_ignore_ascii_case(text)),
        };
        found.map(|(value, _)| *value)
    }

    /// All keywords for a message, separated by commas.
    fn choices() -> String {
        let words: Vec<&str> = Self::KEYWORDS.iter().map(|(_, word)| *word).collect();
        words.join(", ")
    }
}

impl Keyword for RecordResults {
    const KEYWORDS: &'static [(Self, &'static str)] = &[
        (Self::All, "ALL"),
        (Self::NoTargets, "NO_TARGETS"),
        (Self::NoWorkers, "NO_WORKERS"),
        (Self::NoManagers, "NO_MANAGERS"),
        (Self::None, "NONE"),
    ];
}

impl Keyword for StepKind {
    const KEYWORDS: &'static [(Self, &'static str)] =
        &[(Self::Linear, "LINEAR"), (Self::Exponential, "EXPONENTIAL")];
}

impl Keyword for TestType {
    const KEYWORDS: &'static [(Self, &'static str)] = &[
        (Self::Normal, "NORMAL"),
        (Self::CycleTargets, "CYCLE_TARGETS"),
        (Self::CycleWorkers, "CYCLE_WORKERS"),
        (Self::IncrementTargetsParallel, "INCREMENT_TARGETS_PARALLEL"),
        (Self::IncrementTargetsSerial, "INCREMENT_TARGETS_SERIAL"),
        (Self::CycleWorkersAndTargets, "CYCLE_WORKERS_AND_TARGETS"),
        (Self::CycleOutstandingIos, "CYCLE_OUTSTANDING_IOS"),
        (
            Self::CycleOutstandingIosAndTargets,
            "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
        ),
    ];
}

impl Keyword for Assignment {
    const KEYWORDS: &'static [(Self, &'static str)] = &[
        (Self::None, "NONE"),
        (Self::All, "ALL"),
        (Self::Disk, "DISK"),
        (Self::Net, "NET"),
    ];
}

impl Keyword for UpdateType {
    const KEYWORDS: &'static [(Self, &'static str)] = &[
        (Self::LastUpdate, "LAST_UPDATE"),
        (Self::WholeTest, "WHOLE_TEST"),
    ];
}

impl Keyword for WorkerKind {
    const KEYWORDS: &'static [(Self, &'static str)] = &[
        (Self::Disk, "DISK"),
        (Self::NetworkTcp, "NETWORK,TCP"),
        (Self::NetworkVi, "NETWORK,VI"),
    ];

    /// Parses a keyword, regardless of case and blanks. No version writes an integer.
    fn from_word(text: &str) -> Option<Self> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let mut words = Self::KEYWORDS.iter();
        let found = words.find(|(_, word)| word.eq_ignore_ascii_case(&compact));
        found.map(|(kind, _)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_old_integers_mean_the_same() {
        for (index, (value, _)) in TestType::KEYWORDS.iter().enumerate() {
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
        assert_eq!(StepKind::choices(), "LINEAR, EXPONENTIAL");
    }
}
