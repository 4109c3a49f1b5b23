//! Limits the length of a front, all its files together. Code that several fronts need is shared.

use std::collections::BTreeMap;

use super::TidyFinding;
use super::source::SourceFile;

/// Directory of the fronts, with one subdirectory each.
pub(super) const FRONTS: &str = "crates/front/src/";
/// Maximum number of lines without tests and comments.
const LINES_MAX: usize = 700;

/// A front that may be longer.
struct LongFront {
    name: &'static str,
    lines_max: usize,
    reason: &'static str,
}

/// All fronts that may be longer.
const LONG_FRONTS: &[LongFront] = &[
    LongFront {
        name: "bonnie",
        lines_max: 1560,
        reason: "two programs, Bonnie and Bonnie++, with phases in common, the check of users, and \
                 waits for other processes",
    },
    LongFront {
        name: "dbench",
        lines_max: 820,
        reason: "load files of two versions and several back-ends",
    },
    LongFront {
        name: "filebench",
        lines_max: 1860,
        reason: "its scripts are a complete language",
    },
    LongFront {
        name: "fio",
        lines_max: 12_420,
        reason: "job files are a language of hundreds of options, which is read and written",
    },
    LongFront {
        name: "fs_mark",
        lines_max: 740,
        reason: "it prints the runs of its arguments and the runs of its table, and each number \
                 has its range",
    },
    LongFront {
        name: "icf",
        lines_max: 3530,
        reason: "Iometer's files of all versions, with every slip that is forgiven, are read and \
                 written",
    },
    LongFront {
        name: "io500",
        lines_max: 1500,
        reason: "every key of its files is known, and each has a meaning or a reason; it writes \
                 and verifies result files",
    },
    LongFront {
        name: "iozone",
        lines_max: 2010,
        reason: "seventeen tests, two reports, two spreadsheets, a worksheet, files of latencies \
                 and of requests, files named in two ways, and errors about each",
    },
    LongFront {
        name: "ior",
        lines_max: 1550,
        reason: "it leaves and finds files, runs the tests of scripts, and prints three forms of \
                 its results",
    },
    LongFront {
        name: "mdtest",
        lines_max: 1020,
        reason: "it makes several trees, which outlast a command, keeps the wall of its stonewall \
                 in a file, and has a table for each number of ranks",
    },
    LongFront {
        name: "smallfile",
        lines_max: 1240,
        reason: "records, stonewalls and response times follow the original file by file, a YAML \
                 file can hold its parameters, and there are operations on extended attributes",
    },
    LongFront {
        name: "postmark",
        lines_max: 2040,
        reason: "its command language is also read from scripts, and it has two report forms \
                 in four versions",
    },
];

/// Checks the length of each front, and that each longer limit is needed.
pub fn check(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let lengths = lengths(sources);
    check_lengths(&lengths, LONG_FRONTS, findings);
}

fn check_lengths(
    lengths: &BTreeMap<&str, usize>,
    longer: &[LongFront],
    findings: &mut Vec<TidyFinding>,
) {
    let mut push = |name: &str, message| {
        findings.push(TidyFinding {
            rule: "front-length",
            path: format!("{FRONTS}{name}"),
            line: 0,
            message,
        });
    };
    for (name, lines) in lengths {
        let known = longer.iter().find(|it| it.name == *name);
        let most = known.map_or(LINES_MAX, |it| it.lines_max);
        if *lines > most {
            push(
                name,
                format!("{lines} lines without tests and comments, at most {most}"),
            );
        }
    }
    // A limit that is no longer needed would allow the front to grow again without a reason.
    for LongFront { name, reason, .. } in longer {
        // A removed front has no lines, so its limit is reported as well.
        let lines = lengths.get(name).copied().unwrap_or(0);
        if lines <= LINES_MAX {
            let message = format!("{lines} lines need no separate limit ({reason})");
            push(name, message);
        }
    }
}

/// Name of the front that a file belongs to.
pub(super) fn directory(file: &SourceFile) -> Option<&str> {
    let (name, _) = file.path.strip_prefix(FRONTS)?.split_once('/')?;
    Some(name)
}

/// Number of lines of each front, without tests and without lines that are only comments: a comment
/// that gives a reason must not bring a front closer to its limit.
fn lengths(sources: &[SourceFile]) -> BTreeMap<&str, usize> {
    let mut lengths = BTreeMap::new();
    for file in sources {
        let Some(name) = directory(file) else {
            continue;
        };
        let lines = file.text.lines().zip(1..);
        let code = lines
            .filter(|(text, line)| !text.trim().starts_with("//") && !file.is_test_line(*line));
        *lengths.entry(name).or_default() += code.count();
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_TEST_FRONTS: &[LongFront] = &[LongFront {
        name: "long",
        lines_max: 900,
        reason: "two languages",
    }];

    fn found(files: &[(&str, usize)]) -> Vec<String> {
        let parse = |(path, lines): &(&str, usize)| {
            let path = format!("{FRONTS}{path}");
            let text = "// A reason.\nconst A: u8 = 0;\n".repeat(*lines);
            SourceFile::parse(&path, &text).unwrap()
        };
        let sources: Vec<SourceFile> = files.iter().map(parse).collect();
        let mut findings = Vec::new();
        check_lengths(&lengths(&sources), LONG_TEST_FRONTS, &mut findings);
        let messages = findings.into_iter();
        messages
            .map(|it| format!("{}: {}", it.path, it.message))
            .collect()
    }

    #[test]
    fn all_files_of_a_front_count_but_tests() {
        let long = ("long/mod.rs", 900);
        let files = [
            long,
            ("short/mod.rs", 300),
            ("short/text/table.rs", 400),
            ("short/tests.rs", 2000),
            ("short/text/tests/all.rs", 2000),
            ("shared.rs", 2000),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
        assert_eq!(
            found(&[long, ("short/mod.rs", 300), ("short/text.rs", 401)]),
            ["crates/front/src/short: 701 lines without tests and comments, at most 700"]
        );
    }

    #[test]
    fn a_front_has_its_own_line_limit() {
        assert_eq!(
            found(&[("long/mod.rs", 901)]),
            ["crates/front/src/long: 901 lines without tests and comments, at most 900"]
        );
    }

    #[test]
    fn a_limit_that_is_not_needed_is_found() {
        let unneeded = "lines need no separate limit (two languages)";
        for (files, lines) in [(&[("long/mod.rs", 700)][..], 700), (&[], 0)] {
            let wanted = format!("crates/front/src/long: {lines} {unneeded}");
            assert_eq!(found(files), [wanted]);
        }
    }
}
