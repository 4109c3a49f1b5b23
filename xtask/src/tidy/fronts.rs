//! How long a front may be, all its files together: what several fronts need is written once,
//! beside them.

use std::collections::BTreeMap;

use super::Finding;
use super::source::SourceFile;

/// Where fronts lie, each in a directory of its name.
pub(super) const FRONTS: &str = "crates/front/src/";
/// Lines without tests.
const LINES_MAX: usize = 700;

/// A front that may be longer.
struct Longer {
    name: &'static str,
    lines_max: usize,
    /// Why.
    reason: &'static str,
}

/// All that may be longer.
const LONGER: &[Longer] = &[
    Longer {
        name: "bonnie",
        lines_max: 1310,
        reason: "two programs, Bonnie and Bonnie++, with phases in common",
    },
    Longer {
        name: "dbench",
        lines_max: 750,
        reason: "load files of two versions and several back-ends",
    },
    Longer {
        name: "filebench",
        lines_max: 1820,
        reason: "scripts are a language of their own",
    },
    Longer {
        name: "fio",
        lines_max: 12_600,
        reason: "job files are a language of hundreds of options, which is read and written",
    },
    Longer {
        name: "io500",
        lines_max: 960,
        reason: "every key of its files is known, and each has a meaning or a reason",
    },
    Longer {
        name: "iozone",
        lines_max: 1070,
        reason: "seventeen tests, two reports, two spreadsheets, and files named in two ways",
    },
    Longer {
        name: "ior",
        lines_max: 780,
        reason: "files that it leaves and finds, besides those that it removes",
    },
    Longer {
        name: "mdtest",
        lines_max: 800,
        reason: "it makes several trees, which outlast a command, and keeps the wall of its \
                 stonewall in a file",
    },
    Longer {
        name: "smallfile",
        lines_max: 760,
        reason: "records and stonewalls follow the original file by file",
    },
    Longer {
        name: "postmark",
        lines_max: 920,
        reason: "it is talked to, and reports in two forms of four versions",
    },
];

/// Checks the length of each front, and that none may be longer that is not.
pub fn check(sources: &[SourceFile], findings: &mut Vec<Finding>) {
    let lengths = lengths(sources);
    check_lengths(&lengths, LONGER, findings);
}

fn check_lengths(lengths: &BTreeMap<&str, usize>, longer: &[Longer], findings: &mut Vec<Finding>) {
    let mut push = |name: &str, message| {
        findings.push(Finding {
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
            push(name, format!("{lines} lines without tests, at most {most}"));
        }
    }
    for Longer { name, reason, .. } in longer {
        let lines = lengths.get(name).copied().unwrap_or(0);
        if lines <= LINES_MAX {
            let message = format!("{lines} lines need no limit of their own ({reason})");
            push(name, message);
        }
    }
}

/// The directory among those of fronts that a file lies in, if it lies in one.
pub(super) fn directory(file: &SourceFile) -> Option<&str> {
    let (name, _) = file.path.strip_prefix(FRONTS)?.split_once('/')?;
    Some(name)
}

/// The lines of each directory, without tests.
fn lengths(sources: &[SourceFile]) -> BTreeMap<&str, usize> {
    let mut lengths = BTreeMap::new();
    for file in sources {
        let Some(name) = directory(file) else {
            continue;
        };
        let (total, tests) = file.line_counts();
        *lengths.entry(name).or_default() += total - tests;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGER_OF_TEST: &[Longer] = &[Longer {
        name: "long",
        lines_max: 900,
        reason: "two languages",
    }];

    fn found(files: &[(&str, usize)]) -> Vec<String> {
        let parse = |(path, lines): &(&str, usize)| {
            let path = format!("{FRONTS}{path}");
            SourceFile::parse(&path, &"// A line.\n".repeat(*lines)).unwrap()
        };
        let sources: Vec<SourceFile> = files.iter().map(parse).collect();
        let mut findings = Vec::new();
        check_lengths(&lengths(&sources), LONGER_OF_TEST, &mut findings);
        let told = findings.into_iter();
        told.map(|it| format!("{}: {}", it.path, it.message))
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
            ["crates/front/src/short: 701 lines without tests, at most 700"]
        );
    }

    #[test]
    fn a_front_has_the_limit_of_its_name() {
        assert_eq!(
            found(&[("long/mod.rs", 901)]),
            ["crates/front/src/long: 901 lines without tests, at most 900"]
        );
    }

    #[test]
    fn a_limit_that_is_not_needed_is_found() {
        let unneeded = "lines need no limit of their own (two languages)";
        for (files, lines) in [(&[("long/mod.rs", 700)][..], 700), (&[], 0)] {
            let wanted = format!("crates/front/src/long: {lines} {unneeded}");
            assert_eq!(found(files), [wanted]);
        }
    }
}
