//! Code that handles text of other programs opens files and reads variables only through one type,
//! which knows the permitted paths: see `crates/front/src/file_access.rs`.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;

/// Code that parses text of other programs and workload files.
const READERS: &[&str] = &[
    "crates/front/src/",
    "crates/description/src/",
    "crates/planning/src/",
    "crates/cli/src/other_tools/",
];
/// The file that defines the type.
const FILE_ACCESS: &str = "crates/front/src/file_access.rs";
/// Types and modules that access files or variables.
const NAMES: &[&str] = &["fs", "env", "File", "OpenOptions"];
/// Path methods that access the file system.
const METHODS: &[&str] = &[
    "canonicalize",
    "exists",
    "try_exists",
    "metadata",
    "symlink_metadata",
    "read_dir",
    "read_link",
    "is_symlink",
];

/// Checks one file of the program.
pub fn check(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    let is_reader = READERS.iter().any(|prefix| file.path.starts_with(prefix));
    if !is_reader || file.path == FILE_ACCESS {
        return;
    }
    let mut opens = OpenCallVisitor::default();
    opens.visit_file(&file.tree);
    let lines = opens.found.into_iter().map(|span| span.start().line);
    for line in lines.filter(|line| !file.is_test_line(*line)) {
        findings.push(TidyFinding {
            rule: "file-access",
            path: file.path.clone(),
            line,
            message: "text from a page may reach this: open files and read variables through \
                      `FileAccess`"
                .to_owned(),
        });
    }
}

#[derive(Default)]
struct OpenCallVisitor {
    found: Vec<Span>,
}

impl OpenCallVisitor {
    fn take(&mut self, ident: &syn::Ident) {
        if NAMES.iter().any(|name| ident == name) {
            self.found.push(ident.span());
        }
    }

    /// A macro's arguments are only tokens. Only a name that is followed by another one counts.
    fn scan_tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.scan_tokens(group.stream()),
                TokenTree::Ident(ident) => {
                    let next = tokens.peek();
                    if matches!(next, Some(TokenTree::Punct(it)) if it.as_char() == ':') {
                        self.take(&ident);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for OpenCallVisitor {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        // The last name of a path such as `TargetKind::File` opens nothing.
        let leading = path.segments.len().saturating_sub(1);
        let segments = path.segments.iter().take(leading);
        segments.for_each(|it| self.take(&it.ident));
        syn::visit::visit_path(self, path);
    }

    fn visit_use_tree(&mut self, tree: &'ast syn::UseTree) {
        match tree {
            syn::UseTree::Path(it) => self.take(&it.ident),
            syn::UseTree::Name(it) => self.take(&it.ident),
            syn::UseTree::Rename(it) => self.take(&it.ident),
            _ => {}
        }
        syn::visit::visit_use_tree(self, tree);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_one = METHODS.iter().any(|name| call.method == name);
        // Methods of other types with these names have arguments.
        if is_one && call.args.is_empty() {
            self.found.push(call.method.span());
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.scan_tokens(it.tokens.clone());
        syn::visit::visit_macro(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_in(path: &str, text: &str) -> Vec<usize> {
        let mut findings = Vec::new();
        check(&SourceFile::parse(path, text).unwrap(), &mut findings);
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn every_access_to_a_file_or_a_variable_is_found() {
        for statement in [
            "let text = std::fs::read_to_string(name);",
            "let file = File::open(name);",
            "use std::fs::File as Text;",
            "use std::{env, io};",
            "let home = std::env::var(\"HOME\");",
            "let set = vec![std::env::var(\"HOME\")];",
            "let file = rustix::fs::open(name, flags, mode);",
            "let is_there = Path::new(name).exists();",
            "let found = path.metadata();",
        ] {
            let text = format!("fn a() {{\n    {statement}\n}}\n");
            for path in ["crates/front/src/a/mod.rs", "crates/description/src/a.rs"] {
                let found = lines_in(path, &text);
                assert!(
                    !found.is_empty() && found.iter().all(|it| *it == 2),
                    "{statement}"
                );
            }
            assert!(lines_in(FILE_ACCESS, &text).is_empty());
            assert!(lines_in("crates/storage/src/a.rs", &text).is_empty());
        }
    }

    #[test]
    fn file_types_variants_and_tests_are_not_reported() {
        let text = "fn a() { let bytes = line.files.read(name); let file_count = set.files; }\n\
                    fn c() { let kind = TargetKind::File; assert!(matches!(kind, Kind::File)); }\n\
                    #[cfg(test)]\nmod tests { fn b() { std::fs::read(\"x\"); } }\n";
        assert!(lines_in("crates/front/src/a/mod.rs", text).is_empty());
    }
}
