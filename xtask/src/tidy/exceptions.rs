//! Names of the rules, and the places that may break one.

use super::TidyFinding;

/// All rules.
pub const RULES: &[&str] = &[
    "function-length",
    "file-length",
    "loop-length",
    "line-width",
    "parameters",
    "unwrap",
    "expect-share",
    "unsafe-place",
    "safety-comment",
    "process-exit",
    "global-state",
    "direct-output",
    "file-access",
    "type-names",
    "type-defined-twice",
    "lint-attributes",
    "unfinished",
    "machine-paths",
    "spelling",
    "misspelling",
    "guide-names",
    "links",
    "words",
    "wording",
    "crate-graph",
    "module-cycles",
    "classic-names",
    "front-length",
    "dependency-reasons",
    "dependency-place",
    "lints-inherited",
    "exceptions",
];

/// A place that may break a rule.
pub struct Exception {
    /// Name of the rule.
    pub rule: &'static str,
    /// Path of the file, relative to the workspace root.
    pub path: &'static str,
    /// Part of the finding's message, so that an exception does not cover a whole file.
    pub message_part: &'static str,
    /// Reason why the place may break the rule.
    pub reason: &'static str,
}

/// All exceptions.
pub const EXCEPTIONS: &[Exception] = &[
    Exception {
        rule: "spelling",
        path: "xtask/src/tidy/spelling.rs",
        message_part: "",
        reason: "the rule's own list",
    },
    Exception {
        rule: "words",
        path: "xtask/src/tidy/spelling.rs",
        message_part: "",
        reason: "the rule's own list",
    },
    Exception {
        rule: "spelling",
        path: "crates/storage/src/own_io.rs",
        message_part: "",
        reason: "the kernel's own name of a counter",
    },
    Exception {
        rule: "direct-output",
        path: "crates/storage/src/lab.rs",
        message_part: "",
        reason: "devices for tests, which say why they are skipped",
    },
    Exception {
        rule: "type-names",
        path: "crates/front/src/icf/document.rs",
        message_part: "`Manager`",
        reason: "the format's own word: a manager is a machine with workers",
    },
    Exception {
        rule: "type-names",
        path: "crates/description/src/iometer/mod.rs",
        message_part: "`ManagerShare`",
        reason: "the format's own word: a manager is a machine with workers",
    },
    Exception {
        rule: "type-names",
        path: "crates/front/src/icf/managers.rs",
        message_part: "`ManagerKey`",
        reason: "the format's own word: a manager is a machine with workers",
    },
    Exception {
        rule: "direct-output",
        path: "crates/cluster/src/pipes.rs",
        message_part: "",
        reason: "standard output is the way to the process that leads",
    },
    Exception {
        rule: "direct-output",
        path: "crates/selftest/src/delay/server.rs",
        message_part: "",
        reason: "standard output is a socket to the process that measures, checked to be one",
    },
    Exception {
        rule: "global-state",
        path: "crates/preload/library/layout.rs",
        message_part: "`CACHED`",
        reason: "a preloaded function has no other state, and asking the processor takes long",
    },
    Exception {
        rule: "global-state",
        path: "crates/preload/library/room.rs",
        message_part: "`SPARE`",
        reason: "a preloaded function has no other state, and stacks there are too small",
    },
    Exception {
        rule: "classic-names",
        path: "crates/cli/src/other_tools/table.rs",
        message_part: "",
        reason: "options of other programs, which are named with each",
    },
    Exception {
        rule: "wording",
        path: "crates/board/src/rank.rs",
        message_part: "be told",
        reason: "places that cannot be told apart are not told anything",
    },
    Exception {
        rule: "classic-names",
        path: "crates/board/src/published.rs",
        message_part: "",
        reason: "published results, named after the program that measured them",
    },
    Exception {
        rule: "classic-names",
        path: "crates/board/src/session.rs",
        message_part: "",
        reason: "imported results, named after the program that printed them",
    },
    Exception {
        rule: "classic-names",
        path: "crates/board/src/imported.rs",
        message_part: "",
        reason: "imported results, named after the program that printed them",
    },
    Exception {
        rule: "wording",
        path: "crates/board/src/comparison.rs",
        message_part: "be told",
        reason: "places that cannot be told apart are not told anything",
    },
    Exception {
        rule: "classic-names",
        path: "crates/report/src/paper/catalog.rs",
        message_part: "",
        reason: "published results, named after the program that measured them",
    },
    Exception {
        rule: "wording",
        path: "crates/cli/src/live_page.rs",
        message_part: "`beside`",
        reason: "the name of an option, `--beside-run`",
    },
    Exception {
        rule: "misspelling",
        path: "xtask/src/tidy/spelling.rs",
        message_part: "",
        reason: "beginnings of words in British spelling",
    },
];

/// Removes findings that have an exception. Also returns the exceptions used, and adds a finding
/// for each exception that is no longer needed.
pub fn apply(findings: Vec<TidyFinding>) -> (Vec<TidyFinding>, Vec<String>) {
    let mut kept: Vec<TidyFinding> = findings
        .iter()
        .filter(|found| EXCEPTIONS.iter().all(|e| !e.covers(found)))
        .cloned()
        .collect();
    let mut used = Vec::new();
    for exception in EXCEPTIONS {
        let Exception {
            rule, path, reason, ..
        } = exception;
        // All findings, because an exception is needed even if another one covers the same place.
        if findings.iter().any(|finding| exception.covers(finding)) {
            used.push(format!("excepted: {path} from {rule}: {reason}"));
        } else {
            let message = format!("the exception from `{rule}` is no longer needed");
            kept.push(TidyFinding {
                rule: "exceptions",
                path: (*path).to_owned(),
                line: 0,
                message,
            });
        }
    }
    (kept, used)
}

impl Exception {
    fn covers(&self, finding: &TidyFinding) -> bool {
        self.rule == finding.rule
            && self.path == finding.path
            && finding.message.contains(self.message_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exception_names_a_rule_and_a_reason() {
        for exception in EXCEPTIONS {
            assert!(RULES.contains(&exception.rule), "{}", exception.rule);
            assert!(exception.reason.len() > 10, "{}", exception.path);
        }
    }

    #[test]
    fn an_exception_covers_its_file_and_no_other() {
        let finding = |path: &str| TidyFinding {
            rule: "spelling",
            path: path.to_owned(),
            line: 1,
            message: "x".to_owned(),
        };
        let (kept, _) = apply(vec![finding(EXCEPTIONS[0].path), finding("a.rs")]);
        assert_eq!(kept[0], finding("a.rs"));
        assert!(
            kept[1..].iter().all(|found| found.rule == "exceptions"),
            "{kept:?}"
        );
    }

    #[test]
    fn an_exception_that_is_not_needed_is_found() {
        let (kept, used) = apply(Vec::new());
        assert_eq!((kept.len(), used.len()), (EXCEPTIONS.len(), 0));
    }
}
