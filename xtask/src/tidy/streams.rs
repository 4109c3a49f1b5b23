//! Only a few files write to standard output and standard error. They filter everything that could
//! control a terminal.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;

/// Files that may write to the streams.
const TERMINALS: &[&str] = &[
    "crates/cli/src/terminal.rs",
    "crates/display/src/terminal.rs",
    // A guest's console, which the host reads.
    "crates/lab/src/vm/guest_init.rs",
];
const MACROS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
const STREAMS: &[&str] = &["stdout", "stderr"];

/// Checks one file of the program.
pub fn check(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    let is_of_program = file.path.starts_with("crates/") && file.path.contains("/src/");
    if !is_of_program || TERMINALS.contains(&file.path.as_str()) {
        return;
    }
    let mut writes = WriteCallVisitor::default();
    writes.visit_file(&file.tree);
    let lines = writes.found.into_iter().map(|span| span.start().line);
    for line in lines.filter(|line| !file.is_test_line(*line)) {
        findings.push(TidyFinding {
            rule: "direct-output",
            path: file.path.clone(),
            line,
            message: "this may reach a terminal unfiltered: print through `terminal`".to_owned(),
        });
    }
}

#[derive(Default)]
struct WriteCallVisitor {
    found: Vec<Span>,
}

impl WriteCallVisitor {
    /// A macro's arguments are only tokens, so a stream is found by its name before empty
    /// parentheses.
    fn scan_tokens(&mut self, tokens: TokenStream) {
        let mut stream = None;
        for token in tokens {
            match &token {
                TokenTree::Group(group) if group.stream().is_empty() => self.found.extend(stream),
                TokenTree::Group(group) => self.scan_tokens(group.stream()),
                _ => {}
            }
            stream = match &token {
                TokenTree::Ident(ident) if STREAMS.iter().any(|name| ident == name) => {
                    Some(ident.span())
                }
                _ => None,
            };
        }
    }
}

impl<'ast> Visit<'ast> for WriteCallVisitor {
    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        if let Some(last) = invocation.path.segments.last()
            && MACROS.iter().any(|name| last.ident == name)
        {
            self.found.push(last.ident.span());
        }
        self.scan_tokens(invocation.tokens.clone());
        syn::visit::visit_macro(self, invocation);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = path.segments.iter().rev().map(|part| &part.ident);
        if let (Some(last), Some(module)) = (names.next(), names.next())
            && STREAMS.iter().any(|name| last == name)
            // Functions of other modules may have the same names.
            && (module == "io" || module == "stdio")
        {
            self.found.push(last.span());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_use_tree(&mut self, tree: &'ast syn::UseTree) {
        let name = match tree {
            syn::UseTree::Name(name) => Some(&name.ident),
            syn::UseTree::Rename(rename) => Some(&rename.ident),
            _ => None,
        };
        self.found.extend(
            name.filter(|name| STREAMS.iter().any(|stream| name == stream))
                .map(syn::Ident::span),
        );
        syn::visit::visit_use_tree(self, tree);
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
    fn every_way_to_a_terminal_is_found() {
        for statement in [
            "println!(\"{x}\");",
            "std::eprint!(\"{x}\");",
            "let _ = std::io::stdout().write_all(b\"x\");",
            "let _ = writeln!(io::stderr(), \"x\");",
            "let open = io::stdout;",
            "use std::io::{stderr, Write};",
            "use std::io::stdout as out;",
            "let _ = rustix::io::write(rustix::stdio::stdout(), b\"x\");",
        ] {
            let text = format!("fn a() {{\n    {statement}\n}}\n");
            assert_eq!(lines_in("crates/cli/src/a.rs", &text), [2], "{statement}");
            assert!(lines_in(TERMINALS[0], &text).is_empty());
            assert!(lines_in("xtask/src/a.rs", &text).is_empty());
        }
    }

    #[test]
    fn names_that_only_resemble_a_stream_are_not_found() {
        let text = "fn a() { command.stdout(Stdio::piped()); let stderr = child.stderr; }\n\
                    #[cfg(test)]\nmod tests { fn b() { println!(\"skipped\"); } }\n";
        assert!(lines_in("crates/cli/src/a.rs", text).is_empty());
    }
}
