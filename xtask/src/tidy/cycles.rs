//! Finds modules of a crate that depend on each other, directly or indirectly.

use std::collections::BTreeSet;

use super::TidyFinding;
use super::modules::{Module, ModuleDependencies, needs};
use super::source::SourceFile;

/// Finds the cycles within every crate.
pub fn check(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    for needs in needs(sources).values() {
        findings.extend(
            cycles(needs)
                .iter()
                .filter_map(|cycle| finding(cycle, needs)),
        );
    }
}

/// Sets of modules that all depend on each other.
fn cycles(needs: &ModuleDependencies) -> Vec<BTreeSet<&Module>> {
    // A search for every module is enough for the size of a crate, and shorter than Tarjan's
    // algorithm.
    let mut cycles: Vec<BTreeSet<&Module>> = Vec::new();
    for module in needs.keys() {
        if cycles.iter().any(|known| known.contains(module)) {
            continue;
        }
        let dependencies = dependencies_of(module, needs).into_iter();
        let cycle: BTreeSet<&Module> = dependencies
            // Both directions: the set is then a strongly connected component that contains
            // `module`.
            .filter(|other| dependencies_of(other, needs).contains(module))
            .collect();
        if cycle.len() > 1 {
            cycles.push(cycle);
        }
    }
    cycles
}

/// All modules that a module depends on, directly or indirectly.
fn dependencies_of<'a>(module: &Module, needs: &'a ModuleDependencies) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut left: Vec<&Module> = needs
        .get(module)
        .into_iter()
        .flat_map(|it| it.keys())
        .collect();
    while let Some(next) = left.pop() {
        if found.insert(next) {
            left.extend(needs.get(next).into_iter().flat_map(|it| it.keys()));
        }
    }
    found
}

fn finding(cycle: &BTreeSet<&Module>, needs: &ModuleDependencies) -> Option<TidyFinding> {
    let names: Vec<String> = cycle.iter().map(|module| shown(module)).collect();
    let mut message = format!(
        "modules in a cycle: {}; what they share belongs in one that needs none of them",
        names.join(", ")
    );
    let mut first = None;
    for module in cycle {
        for (other, need) in needs
            .get(*module)?
            .iter()
            .filter(|(it, _)| cycle.contains(it))
        {
            first.get_or_insert((need.path.clone(), need.line));
            message.push_str(&format!(
                "\n  {} needs `{}` of {} ({}:{})",
                shown(module),
                need.name,
                shown(other),
                need.path,
                need.line
            ));
        }
    }
    let (path, line) = first?;
    Some(TidyFinding {
        rule: "module-cycles",
        path,
        line,
        message,
    })
}

fn shown(module: &Module) -> String {
    format!("`{}`", module.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<TidyFinding> {
        let parse = |(path, text): &(&str, &str)| {
            SourceFile::parse(&format!("crates/units/src/{path}"), text).unwrap()
        };
        let sources: Vec<SourceFile> = files.iter().map(parse).collect();
        let mut findings = Vec::new();
        check(&sources, &mut findings);
        findings
    }

    #[test]
    fn a_cycle_is_reported_with_its_edges() {
        let files = [
            ("a.rs", "\nuse crate::b::X;\nuse crate::d::W;"),
            ("b.rs", "use super::c::Y;"),
            ("c.rs", "fn f() { crate::a::g(); }"),
            ("d.rs", ""),
            ("e.rs", "use crate::a::g;"),
        ];
        let [found] = &findings(&files)[..] else {
            panic!("one cycle");
        };
        assert_eq!(
            (found.path.as_str(), found.line),
            ("crates/units/src/a.rs", 2)
        );
        let expected = "modules in a cycle: `a`, `b`, `c`; what they share belongs in one that \
                    needs \
                    none of them\
                    \n  `a` needs `X` of `b` (crates/units/src/a.rs:2)\
                    \n  `b` needs `Y` of `c` (crates/units/src/b.rs:1)\
                    \n  `c` needs `g` of `a` (crates/units/src/c.rs:1)";
        assert_eq!(found.message, expected);
    }

    #[test]
    fn separate_cycles_are_reported_one_by_one() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::a::A;"),
            ("c.rs", "use crate::a::A; use crate::d::D;"),
            ("d.rs", "use crate::c::C;"),
        ];
        assert_eq!(findings(&files).len(), 2);
    }

    #[test]
    fn layered_modules_are_not_a_cycle() {
        let files = [
            ("a.rs", "use crate::b::X; use crate::c::Y;"),
            ("b.rs", "use crate::c::Y;"),
            ("c.rs", ""),
        ];
        assert!(findings(&files).is_empty());
    }
}
