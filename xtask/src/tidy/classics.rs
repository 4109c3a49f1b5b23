//! Another program that pgmeter stands in for is named in its front alone: all that lies between
//! its arguments and its text works for any.

use super::Finding;
use super::source::SourceFile;

/// Where fronts lie, each in a directory of its name.
const FRONTS: &str = "crates/front/src/";
/// Where all of them are named.
const TABLES: [&str; 2] = ["crates/front/src/lib.rs", "crates/front/src/table.rs"];

/// Checks that no front is named outside of it.
pub fn check(sources: &[SourceFile], findings: &mut Vec<Finding>) {
    let names = names(sources);
    let elsewhere = |file: &&SourceFile| {
        let is_built = file.path.starts_with("crates/") && file.path.contains("/src/");
        is_built && !TABLES.contains(&file.path.as_str())
    };
    for file in sources.iter().filter(elsewhere) {
        for (index, text) in file.text.lines().enumerate() {
            let line = index + 1;
            let is_code = !text.trim_start().starts_with("//") && !file.is_test_line(line);
            let named = names.iter().find(|name| is_code && is_named(text, name));
            let Some(name) = named else { continue };
            if file.path.starts_with(&format!("{FRONTS}{name}/")) {
                continue;
            }
            findings.push(Finding {
                rule: "classic-names",
                path: file.path.clone(),
                line,
                message: format!("`{name}` is named outside of {FRONTS}{name}"),
            });
        }
    }
}

/// The names of all fronts.
fn names(sources: &[SourceFile]) -> Vec<String> {
    let directories = sources.iter().filter_map(|file| {
        let (name, _) = file.path.strip_prefix(FRONTS)?.split_once('/')?;
        Some(name.to_owned())
    });
    let mut names: Vec<String> = directories.collect();
    names.sort();
    names.dedup();
    names
}

/// Whether the line has the name, not as the end of a longer word.
fn is_named(line: &str, name: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let mut places = line.match_indices(name);
    places.any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|it| it.is_ascii_alphabetic())
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
    fn a_front_is_named_in_its_own_files_the_table_and_comments() {
        let own = (
            "crates/front/src/dbench/mod.rs",
            "const NAME: &str = \"dbench\";\n",
        );
        let table = ("crates/front/src/table.rs", "use crate::dbench;\n");
        let other = (
            "crates/run/src/lib.rs",
            "// As dbench does it.\nconst VDBENCH: u8 = 1;\nfn of_dbench() {}\n",
        );
        let test = ("crates/run/src/tests.rs", "const DBENCH: u8 = 1;\n");
        assert_eq!(
            found(&[own, table, other, test]),
            [("crates/run/src/lib.rs".to_owned(), 3)]
        );
    }
}
