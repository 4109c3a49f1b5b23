//! Limits on lengths and widths: functions, files, lines, parameter lists.

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::TidyFinding;
use super::source::SourceFile;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
const LOOP_LINES_MAX: usize = 120;
const LINE_WIDTH_MAX: usize = 100;
const PARAMETERS_MAX: usize = 6;

/// Possible files of the measurement loop; the first existing one is checked.
const LOOP_FILES: &[&str] = &[
    "crates/run/src/measure/measurement_loop.rs",
    "crates/run/src/measure.rs",
];

/// A function with its length.
struct Function {
    name: String,
    line: usize,
    line_count: usize,
    parameter_count: usize,
    /// The trait, not the implementation, determines the parameters of its methods.
    is_trait_method: bool,
}

/// Checks one file's lengths and widths.
pub fn check(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    let mut push = |rule, line, message| {
        findings.push(TidyFinding {
            rule,
            path: file.path.clone(),
            line,
            message,
        });
    };
    for function in functions(file) {
        let Function {
            name,
            line,
            line_count: lines_count,
            parameter_count: parameters_count,
            is_trait_method,
        } = function;
        if lines_count > FUNCTION_LINES_MAX {
            let message = format!("`{name}` has {lines_count} lines, at most {FUNCTION_LINES_MAX}");
            push("function-length", line, message);
        }
        if parameters_count > PARAMETERS_MAX && !is_trait_method {
            let message = format!("`{name}` takes {parameters_count} parameters, at most 6");
            push("parameters", line, message);
        }
    }
    let (total, tests) = file.line_counts();
    if total - tests > FILE_LINES_MAX {
        let message = format!(
            "{} lines without tests, at most {FILE_LINES_MAX}",
            total - tests
        );
        push("file-length", 0, message);
    }
    for (index, text) in file.text.lines().enumerate() {
        let width = text.chars().count();
        // An address cannot be wrapped.
        if width > LINE_WIDTH_MAX && !text.contains("://") {
            push(
                "line-width",
                index + 1,
                format!("{width} columns, at most {LINE_WIDTH_MAX}"),
            );
        }
    }
}

/// Keeps the measurement loop short enough to read in one sitting.
pub fn check_loop_file(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let found = LOOP_FILES
        .iter()
        .find_map(|path| sources.iter().find(|file| file.path == *path));
    let (path, message) = match found {
        None => (
            LOOP_FILES[0],
            "the measurement loop's file is missing".to_owned(),
        ),
        Some(file) => {
            let (total, tests) = file.line_counts();
            if total - tests <= LOOP_LINES_MAX {
                return;
            }
            (
                file.path.as_str(),
                format!("{} lines, at most {LOOP_LINES_MAX}", total - tests),
            )
        }
    };
    findings.push(TidyFinding {
        rule: "loop-length",
        path: path.to_owned(),
        line: 0,
        message,
    });
}

/// Values with a target but no limit.
pub fn figures(sources: &[SourceFile]) -> Vec<String> {
    let mut lengths: Vec<usize> = sources
        .iter()
        .flat_map(|file| {
            functions(file)
                .into_iter()
                .map(move |function| (file, function))
        })
        .filter(|(file, function)| !file.is_test_line(function.line))
        .map(|(_, function)| function.line_count)
        .collect();
    let counts: Vec<(usize, usize)> = sources.iter().map(SourceFile::line_counts).collect();
    let total: usize = counts.iter().map(|count| count.0).sum();
    let tests: usize = counts.iter().map(|count| count.1).sum();
    let mut files: Vec<usize> = counts
        .iter()
        .map(|count| count.0 - count.1)
        // Files with tests only would lower the median.
        .filter(|&count| count > 0)
        .collect();
    let share = 100.0 * tests as f64 / total.max(1) as f64;
    vec![
        format!(
            "functions: 90th percentile {} lines (target 25)",
            quantile(&mut lengths, 90)
        ),
        format!(
            "files without tests: median {} lines (target 200)",
            quantile(&mut files, 50)
        ),
        format!("tests: {share:.0} % of {total} lines (target 35 to 45)"),
    ]
}

/// The nearest-rank quantile; 0 if empty.
fn quantile(values: &mut [usize], percent: usize) -> usize {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied().unwrap_or(0)
}

fn functions(file: &SourceFile) -> Vec<Function> {
    let mut visitor = FunctionVisitor::default();
    visitor.visit_file(&file.tree);
    visitor.found
}

#[derive(Default)]
struct FunctionVisitor {
    found: Vec<Function>,
    in_trait_impl: bool,
}

impl FunctionVisitor {
    fn take(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let line = signature.span().start().line;
        self.found.push(Function {
            name: signature.ident.to_string(),
            line,
            line_count: block.span().end().line + 1 - line,
            parameter_count: signature.inputs.len(),
            is_trait_method: self.in_trait_impl,
        });
    }
}

impl<'ast> Visit<'ast> for FunctionVisitor {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.take(&item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.take(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.take(&item.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.in_trait_impl, item.trait_.is_some());
        syn::visit::visit_item_impl(self, item);
        // Implementations can be nested in functions of others.
        self.in_trait_impl = outer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<&'static str> {
        let file = SourceFile::parse("crates/units/src/lib.rs", text).unwrap();
        let mut findings = Vec::new();
        check(&file, &mut findings);
        findings.into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_function_may_have_seventy_lines_and_no_more() {
        let function = |lines: usize| format!("fn a() {{\n{}}}\n", "    b();\n".repeat(lines - 2));
        assert!(findings(&function(70)).is_empty());
        assert_eq!(findings(&function(71)), ["function-length"]);
    }

    #[test]
    fn doc_comments_and_attributes_do_not_lengthen_a_function() {
        let text = format!("{}#[inline]\nfn a() {{}}\n", "/// b\n".repeat(100));
        assert!(findings(&text).is_empty());
    }

    #[test]
    fn only_lines_outside_tests_lengthen_a_file() {
        let items = "use a::b;\n".repeat(500);
        let tests = format!(
            "#[cfg(test)]\nmod tests {{\n{}}}\n",
            "use a::b;\n".repeat(300)
        );
        assert!(findings(&format!("{items}{tests}")).is_empty());
        assert_eq!(
            findings(&format!("{items}use c::d;\n{tests}")),
            ["file-length"]
        );
    }

    #[test]
    fn seven_parameters_are_too_many_unless_a_trait_requires_them() {
        let parameters = "a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8";
        assert_eq!(
            findings(&format!("fn x({parameters}) {{}}")),
            ["parameters"]
        );
        assert!(findings(&format!("impl T for S {{ fn x({parameters}) {{}} }}")).is_empty());
    }

    #[test]
    fn line_width_counts_characters_and_ignores_urls() {
        assert!(findings(&format!("// {}\n", "µ".repeat(97))).is_empty());
        assert_eq!(
            findings(&format!("// {}\n", "µ".repeat(98))),
            ["line-width"]
        );
        assert!(findings(&format!("// https://{}\n", "a".repeat(98))).is_empty());
    }

    #[test]
    fn the_loop_file_is_found_and_measured() {
        let file = |lines| {
            SourceFile::parse("crates/run/src/measure.rs", &"use a::b;\n".repeat(lines)).unwrap()
        };
        let count = |sources: &[SourceFile]| {
            let mut findings = Vec::new();
            check_loop_file(sources, &mut findings);
            findings.len()
        };
        assert_eq!(count(&[file(120)]), 0);
        assert_eq!(count(&[file(121)]), 1);
        assert_eq!(count(&[]), 1);
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        assert_eq!(quantile(&mut (1..=10).collect::<Vec<_>>(), 90), 9);
        assert_eq!(quantile(&mut [7], 90), 7);
        assert_eq!(quantile(&mut [], 90), 0);
    }
}
