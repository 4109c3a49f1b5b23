//! A Rust file as the rules see it: text, syntax tree, and lines of tests.

use std::ops::RangeInclusive;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::error::Failure;
use crate::workspace;

/// A parsed Rust file.
pub struct SourceFile {
    /// Path relative to the workspace root, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The syntax tree.
    pub tree: syn::File,
    /// Ranges of lines compiled only for tests, numbered from 1.
    test_lines: Vec<RangeInclusive<usize>>,
    /// `true` if the whole file is compiled only for tests.
    pub is_test: bool,
}

impl SourceFile {
    /// Parses `text` as the file `path`.
    pub fn parse(path: &str, text: &str) -> Result<SourceFile, Failure> {
        let tree = syn::parse_file(text).map_err(|error| Failure::Output {
            program: path.to_owned(),
            message: format!("not Rust: {error}"),
        })?;
        let mut ranges = TestRanges::default();
        ranges.visit_file(&tree);
        Ok(SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
            tree,
            test_lines: ranges.lines,
            is_test: is_test_path(path),
        })
    }

    /// `true` if the line, numbered from 1, is compiled only for tests.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test || self.test_lines.iter().any(|range| range.contains(&line))
    }

    /// Number of lines of the file, and of its tests.
    pub fn line_counts(&self) -> (usize, usize) {
        let total = self.text.lines().count();
        let tests = (1..=total).filter(|&line| self.is_test_line(line)).count();
        (total, tests)
    }

    /// Directory name of the crate; outside of `crates`, the first part of the path.
    pub fn crate_name(&self) -> &str {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next().unwrap_or_default(),
            Some(first) => first,
            None => "",
        }
    }
}

/// Reads and parses every Rust file of the workspace.
pub fn load(root: &Path) -> Result<Vec<SourceFile>, Failure> {
    let mut sources = Vec::new();
    for relative in workspace::files(root, &[".rs"])? {
        let text = workspace::read(root, &relative)?;
        sources.push(SourceFile::parse(&relative.to_string_lossy(), &text)?);
    }
    Ok(sources)
}

fn is_test_path(path: &str) -> bool {
    let directories = ["tests", "fuzz", "benches", "examples"];
    let stem = path
        .rsplit('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".rs");
    path.split('/').any(|part| directories.contains(&part))
        || stem == "tests"
        || stem.ends_with("_tests")
}

/// Collects the lines of items marked `#[cfg(test)]` or `#[test]`.
#[derive(Default)]
struct TestRanges {
    lines: Vec<RangeInclusive<usize>>,
}

impl TestRanges {
    /// Records the lines of an item that is only for tests; `false` for other items.
    fn take(&mut self, attributes: &[syn::Attribute], span: proc_macro2::Span) -> bool {
        let is_test = attributes.iter().any(is_test_attribute);
        if is_test {
            self.lines.push(span.start().line..=span.end().line);
        }
        is_test
    }
}

impl<'ast> Visit<'ast> for TestRanges {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes: &[syn::Attribute] = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Static(item) => &item.attrs,
            syn::Item::Macro(item) => &item.attrs,
            _ => &[],
        };
        // Everything within a test item is already covered by its range.
        if !self.take(attributes, item.span()) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.take(&item.attrs, item.span());
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        // Functions in a macro are not items of the tree; `proptest!` contains only tests.
        if item.mac.path.is_ident("proptest") {
            self.lines
                .push(item.span().start().line..=item.span().end().line);
        }
    }
}

fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    let words: Vec<String> = list
        .tokens
        .clone()
        .into_iter()
        .map(|token| token.to_string())
        .collect();
    // Tokens have no spaces, so the form depends only on this separator.
    let inside = words.join(" ");
    list.path.is_ident("cfg")
        && (inside == "test" || inside.starts_with("all (test") || inside.starts_with("any (test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn b() {}\n}\n";

    #[test]
    fn lines_of_a_test_module_are_tests() {
        let file = SourceFile::parse("crates/units/src/lib.rs", SOURCE).unwrap();
        assert!(!file.is_test_line(1));
        assert!(file.is_test_line(3), "the attribute belongs to the module");
        assert!(file.is_test_line(7));
        assert_eq!(file.line_counts(), (7, 5));
    }

    #[test]
    fn cfg_not_test_is_not_test_code() {
        let file = SourceFile::parse("a.rs", "#[cfg(not(test))]\nfn a() {}\n").unwrap();
        assert!(!file.is_test_line(2));
    }

    #[test]
    fn files_below_tests_and_named_tests_are_tests() {
        assert!(is_test_path("tests/src/lib.rs"));
        assert!(is_test_path("crates/units/src/bytes/tests.rs"));
        assert!(!is_test_path("crates/units/src/attests.rs"));
    }

    #[test]
    fn the_crate_is_the_directory_below_crates() {
        let name = |path: &str| {
            SourceFile::parse(path, "")
                .map(|file| file.crate_name().to_owned())
                .unwrap()
        };
        assert_eq!(name("crates/units/src/lib.rs"), "units");
        assert_eq!(name("xtask/src/main.rs"), "xtask");
    }
}
