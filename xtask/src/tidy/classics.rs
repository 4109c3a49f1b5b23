//! An emulated program may be named only in its front, because the code between its arguments and
//! its output is generic.

use super::TidyFinding;
use super::fronts::{self, FRONTS};
use super::source::SourceFile;

/// Directory of the settings of workload tables, with one subdirectory per program.
const SETTINGS: &str = "crates/description/src/classics/";
/// Files that may name all programs: tables of fronts, of workload files and of their kinds, with
/// the code that reads, merges and describes each key of a workload; and the manual's examples.
const TABLES: [&str; 9] = [
    "crates/cli/src/command/manual/examples.rs",
    "crates/front/src/lib.rs",
    "crates/front/src/table.rs",
    "crates/description/src/builtin/files.rs",
    "crates/description/src/classics/mod.rs",
    "crates/description/src/classics/stored.rs",
    "crates/description/src/model/mod.rs",
    "crates/description/src/model/table.rs",
    "crates/description/src/reference/markdown.rs",
];

/// Readers of the results of programs, which are named after the programs.
const READERS: &str = "crates/import/src/";

/// Fronts whose language is also used elsewhere (results and one-line workloads), and formats that
/// `convert` writes.
const ALSO_USED_ELSEWHERE: [&str; 2] = ["fio", "icf"];

/// Fronts that combine other programs and name them.
const COMBINED_FRONTS: [(&str, &[&str]); 1] = [("io500", &["ior", "mdtest"])];

/// Directories of code that fronts share.
const SHARED: [&str; 3] = ["file_access", "options", "random"];

/// Checks that no front is named outside of its directory.
pub fn check(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let names = names(sources);
    let is_checked = |file: &&SourceFile| {
        let is_built = file.path.starts_with("crates/") && file.path.contains("/src/");
        let is_reader = file.path.starts_with(READERS);
        is_built && !is_reader && !TABLES.contains(&file.path.as_str())
    };
    for file in sources.iter().filter(is_checked) {
        for (index, text) in file.text.lines().enumerate() {
            let line = index + 1;
            let is_code = !text.trim_start().starts_with("//") && !file.is_test_line(line);
            let named = names.iter().find(|name| is_code && is_named(text, name));
            let Some(name) = named else { continue };
            let own = [FRONTS, SETTINGS].map(|all| format!("{all}{name}/"));
            if own.iter().any(|own| file.path.starts_with(own)) || combines(file, name) {
                continue;
            }
            findings.push(TidyFinding {
                rule: "classic-names",
                path: file.path.clone(),
                line,
                message: format!("`{name}` is named outside of {FRONTS}{name}"),
            });
        }
    }
}

/// `true` if the file belongs to a front that combines the named one.
fn combines(file: &SourceFile, name: &str) -> bool {
    let own = fronts::directory(file);
    let mut rows = COMBINED_FRONTS
        .iter()
        .filter(|(front, _)| own == Some(*front));
    rows.any(|(_, parts)| parts.contains(&name))
}

/// Names of all fronts.
fn names(sources: &[SourceFile]) -> Vec<String> {
    let directories = sources.iter().filter_map(fronts::directory);
    let is_held = |name: &&str| !ALSO_USED_ELSEWHERE.contains(name) && !SHARED.contains(name);
    let mut names: Vec<String> = directories.filter(is_held).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// `true` if the line has the name, or a type with this name, but not as a part of a longer word.
fn is_named(line: &str, name: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    // Type names have no underscores.
    [name.to_owned(), name.replace('_', "")].iter().any(|name| {
        let mut matches = lower.match_indices(name.as_str());
        matches.any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + name.len()..].chars().next();
            let is_in_word = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphabetic());
            // In a type name, the next word starts with a capital letter.
            !is_in_word(before) && !after.is_some_and(|it| it.is_ascii_lowercase())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let parse = |(path, text): &(&str, &str)| SourceFile::parse(path, text).unwrap();
        let sources: Vec<SourceFile> = files.iter().map(parse).collect();
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        findings.into_iter().map(|it| (it.path, it.line)).collect()
    }

    #[test]
    fn a_front_may_be_named_only_in_its_files_the_table_and_comments() {
        let own = (
            "crates/front/src/dbench/mod.rs",
            "const NAME: &str = \"dbench\";\n",
        );
        let table = ("crates/front/src/table.rs", "use crate::dbench;\n");
        let other = (
            "crates/run/src/lib.rs",
            "// As dbench does it.\nconst VDBENCH: u8 = 1;\nfn dbenched() {}\nfn of_dbench() {}\n",
        );
        let settings = (
            "crates/description/src/classics/old_mark/mod.rs",
            "pub struct OldMark;\n",
        );
        let text = (
            "crates/front/src/old_mark/mod.rs",
            "const OLD_MARK: u8 = 1;\n",
        );
        let composite = (
            "crates/front/src/io500/mod.rs",
            "const IOR: u8 = 1;\nconst DBENCH: u8 = 1;\n",
        );
        let part = (
            "crates/front/src/ior/mod.rs",
            "const NAME: &str = \"ior\";\n",
        );
        let typed = ("crates/report/src/lib.rs", "use description::OldMark;\n");
        let shared = ("crates/front/src/options/mod.rs", "pub fn options() {}\n");
        let cli = ("crates/cli/src/lib.rs", "fn options() {}\n");
        let test = ("crates/run/src/tests.rs", "const DBENCH: u8 = 1;\n");
        assert_eq!(
            found(&[
                own, table, other, settings, text, composite, part, typed, test, shared, cli
            ]),
            [
                ("crates/run/src/lib.rs".to_owned(), 4),
                ("crates/front/src/io500/mod.rs".to_owned(), 2),
                ("crates/report/src/lib.rs".to_owned(), 1)
            ]
        );
    }
}
