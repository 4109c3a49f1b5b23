//! A type name has one meaning in the workspace: no two types outside of tests share it. Type
//! aliases, such as a crate's `Result`, may.

use std::collections::BTreeMap;

use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;
use super::spelling::DefinedNames;

/// Checks that each name is defined once.
pub fn check(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let mut definitions: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for file in sources {
        let mut defined = DefinedNames::default();
        defined.visit_file(&file.tree);
        for ident in defined.types {
            let line = ident.span().start().line;
            if !file.is_test_line(line) {
                let definitions = definitions.entry(ident.to_string()).or_default();
                definitions.push((&file.path, line));
            }
        }
    }
    for (name, places) in definitions {
        let Some(((first, _), others)) = places.split_first() else {
            continue;
        };
        findings.extend(others.iter().map(|(path, line)| TidyFinding {
            rule: "type-defined-twice",
            path: (*path).to_owned(),
            line: *line,
            message: format!("`{name}` is also a type of {first}; name what only this one is"),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(texts: [&str; 2]) -> Vec<TidyFinding> {
        let paths = ["crates/a/src/lib.rs", "crates/b/src/lib.rs"];
        let files = paths.iter().zip(texts);
        let files = files.map(|(path, text)| SourceFile::parse(path, text).unwrap());
        let mut findings = Vec::new();
        check(&files.collect::<Vec<_>>(), &mut findings);
        findings
    }

    #[test]
    fn a_second_type_with_the_same_name_is_found() {
        let found = findings(["struct Place;", "\nfn here() { enum Place {} }"]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].path.as_str(), found[0].line),
            ("crates/b/src/lib.rs", 2)
        );
        assert!(found[0].message.contains("crates/a/src/lib.rs"));
    }

    #[test]
    fn tests_and_aliases_may_share_a_name() {
        let test = "#[cfg(test)]\nmod tests { struct Place; }";
        assert!(findings(["struct Place;", test]).is_empty());
        assert!(findings(["type Place = u8;", "struct Place;"]).is_empty());
    }
}
