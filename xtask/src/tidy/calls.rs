//! Rules for code: no unwrap, exit, global state, unsafe code or silenced lints.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;

/// Crates that may contain `unsafe` code.
const UNSAFE_CRATES: &[&str] = &["engine", "preload", "mpi"];
/// The only file that may end the process, once.
const MAIN: &str = "crates/cli/src/main.rs";
/// Minimum number of lines of code outside tests per `expect`.
const LINES_PER_EXPECT: usize = 1000;

/// Checks one file.
pub fn check(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    let mut visitor = Calls::default();
    visitor.visit_file(&file.tree);
    let mut exits_left = usize::from(file.path == MAIN);
    for (rule, line, message) in visitor.found {
        // Tests may unwrap and exit, but unsafe code and silenced lints have the same risks there.
        let also_in_tests = matches!(rule, "unsafe-place" | "safety-comment" | "lint-attributes");
        if rule == EXPECT || (file.is_test_line(line) && !also_in_tests) {
            continue;
        }
        let breaks = match rule {
            "unsafe-place" => !UNSAFE_CRATES.contains(&file.crate_name()),
            "process-exit" => exits_left
                .checked_sub(1)
                .map(|left| exits_left = left)
                .is_none(),
            "safety-comment" => !has_safety_comment(&file.text, line),
            _ => true,
        };
        if breaks {
            findings.push(TidyFinding {
                rule,
                path: file.path.clone(),
                line,
                message,
            });
        }
    }
}

/// Each `expect` states an invariant, so there must be few.
pub fn check_expect_share(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let mut expects = Vec::new();
    let mut lines_count = 0;
    for file in sources
        .iter()
        .filter(|file| file.path.starts_with("crates/"))
    {
        let (total, tests) = file.line_counts();
        lines_count += total - tests;
        let mut visitor = Calls::default();
        visitor.visit_file(&file.tree);
        let in_file = visitor.found.into_iter().filter(|found| found.0 == EXPECT);
        expects.extend(
            in_file
                .filter(|found| !file.is_test_line(found.1))
                .map(|found| (file.path.clone(), found.1)),
        );
    }
    let allowed = lines_count.div_ceil(LINES_PER_EXPECT);
    if expects.len() > allowed {
        // Any of them may be the one to remove, so all are listed.
        for (path, line) in &expects {
            let message = format!(
                "one of {} `expect` in {lines_count} lines, at most {allowed}",
                expects.len()
            );
            findings.push(TidyFinding {
                rule: EXPECT,
                path: path.clone(),
                line: *line,
                message,
            });
        }
    }
}

const EXPECT: &str = "expect-share";

/// `true` if the comment above the line has `SAFETY:`; the first lines of a statement may be in
/// between.
fn has_safety_comment(text: &str, line: usize) -> bool {
    let above: Vec<&str> = text.lines().take(line).collect();
    let mut code_lines = 0;
    for candidate in above.iter().rev() {
        let trimmed = candidate.trim_start();
        if trimmed.contains("SAFETY:") || trimmed.contains("# Safety") {
            return true;
        }
        let is_comment = trimmed.starts_with("//") || trimmed.starts_with("#[");
        if !is_comment {
            code_lines += 1;
        }
        // Comments farther above belong to other code.
        if code_lines > 3 {
            return false;
        }
    }
    false
}

/// Collects rule, line and message of every candidate; exceptions are applied later.
#[derive(Default)]
struct Calls {
    found: Vec<(&'static str, usize, String)>,
}

impl Calls {
    fn push(&mut self, rule: &'static str, span: proc_macro2::Span, message: &str) {
        self.found
            .push((rule, span.start().line, message.to_owned()));
    }

    fn push_unsafe(&mut self, span: proc_macro2::Span) {
        self.push(
            "unsafe-place",
            span,
            "`unsafe` outside the crates that may hold it",
        );
        self.push(
            "safety-comment",
            span,
            "`unsafe` without `// SAFETY:` above it",
        );
    }

    /// A macro's arguments are only tokens, so `.unwrap()` is found by its three tokens.
    fn scan_tokens(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.scan_tokens(group.stream()),
                TokenTree::Ident(ident) if after_dot && ident == "unwrap" => {
                    self.push("unwrap", ident.span(), "`unwrap` outside tests");
                }
                _ => {}
            }
            after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let span = call.method.span();
        // Methods of this name with arguments do not belong to `Option` and `Result`.
        if call.method == "unwrap" && call.args.is_empty() {
            self.push("unwrap", span, "`unwrap` outside tests");
        }
        // Parsers have methods with this name; the relevant one takes a literal message.
        let is_literal = matches!(
            call.args.first(),
            Some(syn::Expr::Lit(literal)) if matches!(literal.lit, syn::Lit::Str(_))
        );
        if call.method == "expect" && call.args.len() == 1 && is_literal {
            self.push(EXPECT, span, "`expect`");
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .rev()
            // The last two parts, so that `std::process::exit` and `process::exit` are both found.
            .take(2)
            .map(|part| part.ident.to_string())
            .collect();
        if names.len() == 2 && names[1] == "process" && (names[0] == "exit" || names[0] == "abort")
        {
            self.push(
                "process-exit",
                path.span(),
                "the process ends outside `main`",
            );
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        let is_mutable = matches!(item.mutability, syn::StaticMutability::Mut(_));
        if is_mutable || names_atomic(&item.ty) {
            let message = format!("`{}` is global state", item.ident);
            self.push("global-state", item.span(), &message);
        }
        syn::visit::visit_item_static(self, item);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.push_unsafe(block.span());
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.unsafety.is_some() {
            self.push_unsafe(signature.span());
        }
        syn::visit::visit_signature(self, signature);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(token) = &item.unsafety {
            self.push_unsafe(token.span());
        }
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let path = attribute.path();
        let text = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string(),
            _ => String::new(),
        };
        if path.is_ident("allow") {
            self.push(
                "lint-attributes",
                attribute.span(),
                "`allow`: use `expect` with a reason",
            );
        } else if path.is_ident("expect") && !text.contains("reason") {
            self.push(
                "lint-attributes",
                attribute.span(),
                "`expect` without a reason",
            );
        }
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        if invocation.path.is_ident("todo") || invocation.path.is_ident("unimplemented") {
            self.push("unfinished", invocation.span(), "unfinished code");
        }
        self.scan_tokens(invocation.tokens.clone());
        syn::visit::visit_macro(self, invocation);
    }
}

fn names_atomic(ty: &syn::Type) -> bool {
    struct IdentVisitor(bool);
    impl<'ast> Visit<'ast> for IdentVisitor {
        fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
            self.0 |= ident.to_string().starts_with("Atomic");
        }
    }
    let mut names = IdentVisitor(false);
    names.visit_type(ty);
    names.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_in(path: &str, text: &str) -> Vec<&'static str> {
        let mut findings = Vec::new();
        check(&SourceFile::parse(path, text).unwrap(), &mut findings);
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    fn rules(text: &str) -> Vec<&'static str> {
        rules_in("crates/units/src/lib.rs", text)
    }

    #[test]
    fn unwrap_is_found_in_code_and_in_macro_arguments() {
        assert_eq!(rules("fn a() { b().unwrap(); }"), ["unwrap"]);
        assert_eq!(
            rules("fn a() { println!(\"{}\", b().unwrap()); }"),
            ["unwrap"]
        );
        assert!(rules("fn a() { b().unwrap_or(1); }").is_empty());
    }

    #[test]
    fn unwrap_is_allowed_in_tests() {
        assert!(rules("#[test]\nfn a() { b().unwrap(); }").is_empty());
    }

    #[test]
    fn unsafe_code_belongs_to_the_engine_with_its_reason() {
        let commented = "fn a() {\n    // SAFETY: b holds.\n    unsafe { c() }\n}\n";
        assert_eq!(rules(commented), ["unsafe-place"]);
        assert!(rules_in("crates/engine/src/lib.rs", commented).is_empty());
        let bare = "fn a() {\n    unsafe { c() }\n}\n";
        assert_eq!(
            rules_in("crates/engine/src/lib.rs", bare),
            ["safety-comment"]
        );
    }

    #[test]
    fn exits_and_global_state_are_found() {
        assert_eq!(rules("fn a() { std::process::exit(1) }"), ["process-exit"]);
        assert_eq!(
            rules("use std::process;\nfn a() { process::exit(1) }"),
            ["process-exit"]
        );
        assert_eq!(
            rules("static A: AtomicU64 = AtomicU64::new(0);"),
            ["global-state"]
        );
        assert_eq!(rules("static mut A: u8 = 0;"), ["global-state"]);
        assert!(rules("static A: u8 = 0;").is_empty());
    }

    #[test]
    fn the_program_may_exit_once_in_its_main_file() {
        let exit = "fn a() { std::process::exit(1) }\n";
        assert!(rules_in(MAIN, exit).is_empty());
        let twice = format!("{exit}{}", exit.replace('a', "b"));
        assert_eq!(rules_in(MAIN, &twice), ["process-exit"]);
    }

    #[test]
    fn lints_are_expected_with_a_reason() {
        assert_eq!(rules("#[allow(dead_code)]\nfn a() {}"), ["lint-attributes"]);
        assert_eq!(
            rules("#[expect(dead_code)]\nfn a() {}"),
            ["lint-attributes"]
        );
        assert!(rules("#[expect(dead_code, reason = \"b\")]\nfn a() {}").is_empty());
    }

    #[test]
    fn one_expect_per_thousand_lines_is_allowed() {
        let text = |count: usize| {
            format!(
                "fn a() {{ {} }}\n",
                "b.expect(\"c is set\"); ".repeat(count)
            )
        };
        let count = |text: &str| {
            let file = SourceFile::parse("crates/units/src/lib.rs", text).unwrap();
            let mut findings = Vec::new();
            check_expect_share(&[file], &mut findings);
            findings.len()
        };
        assert_eq!(count(&text(1)), 0);
        assert_eq!(count(&text(2)), 2);
        assert_eq!(
            count("fn a(&mut self) { self.expect(Token::Comma); self.expect(b); }"),
            0
        );
    }

    #[test]
    fn unfinished_code_is_found() {
        assert_eq!(rules("fn a() { todo!() }"), ["unfinished"]);
    }
}
