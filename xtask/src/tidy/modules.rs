//! Dependencies between the modules of a crate.
//!
//! Re-exports are followed to the file with the definition. Code compiled only for tests is
//! ignored, and so are dependencies between a module and its submodules.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::Visit;

use super::source::SourceFile;

/// Path of a module from the crate's root.
pub type Module = Vec<String>;

/// Maximum number of re-exports to follow.
const STEPS_MAX: u32 = 8;

/// First use of another module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleUse {
    /// Path of the file, relative to the workspace root.
    pub path: String,
    /// Line number from 1.
    pub line: usize,
    /// Name of the used item.
    pub name: String,
}

/// The dependencies of each module.
pub type ModuleDependencies = BTreeMap<Module, BTreeMap<Module, ModuleUse>>;

/// Dependencies within each crate, by the directory of its sources.
pub fn needs(sources: &[SourceFile]) -> BTreeMap<String, ModuleDependencies> {
    let mut crates: BTreeMap<String, Vec<FileImports>> = BTreeMap::new();
    for file in sources.iter().filter(|file| !file.is_test) {
        if let Some((directory, module)) = module_of(&file.path) {
            let names = FileImports::of(file, module);
            crates.entry(directory).or_default().push(names);
        }
    }
    let crate_needs =
        |(directory, files): (String, Vec<FileImports>)| (directory, needs_of(&files));
    crates.into_iter().map(crate_needs).collect()
}

/// The source directory of a crate that contains a file, and the module of the file.
fn module_of(path: &str) -> Option<(String, Module)> {
    let (directory, inside) = path.split_once("/src/")?;
    let mut module: Module = inside
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    let is_of_directory = |name: &String| matches!(name.as_str(), "mod" | "lib" | "main");
    if module.last().is_some_and(is_of_directory) {
        module.pop();
    }
    Some((format!("{directory}/src"), module))
}

fn needs_of(files: &[FileImports]) -> ModuleDependencies {
    let for_tests: BTreeSet<&Module> = files.iter().flat_map(|file| &file.for_tests).collect();
    let is_for_tests = |module: &Module| {
        // Submodules of a test module are compiled only for tests as well.
        (1..=module.len()).any(|end| for_tests.iter().any(|it| it.as_slice() == &module[..end]))
    };
    let files: Vec<&FileImports> = files
        .iter()
        .filter(|it| !is_for_tests(&it.module))
        .collect();
    let scope = CrateModules::of(&files);
    let mut needs = ModuleDependencies::new();
    for file in files {
        let uses = needs.entry(file.module.clone()).or_default();
        for named in &file.paths {
            let Some(other) = scope.module_with(&named.module, &named.path) else {
                continue;
            };
            // A module and its submodules may need each other.
            if other.starts_with(&file.module) || file.module.starts_with(&other) {
                continue;
            }
            uses.entry(other).or_insert_with(|| ModuleUse {
                path: file.path.clone(),
                line: named.line,
                name: named.path.last().cloned().unwrap_or_default(),
            });
        }
    }
    needs
}

/// The modules of a crate and their imports.
struct CrateModules<'a> {
    modules: BTreeSet<&'a [String]>,
    /// Imports, by module and local name.
    imports: BTreeMap<(&'a Module, &'a str), &'a NamedPath>,
}

impl<'a> CrateModules<'a> {
    fn of(files: &[&'a FileImports]) -> Self {
        let imports = files
            .iter()
            .flat_map(|file| &file.paths)
            .filter_map(|named| {
                let name = named.import.as_deref()?;
                Some(((&named.module, name), named))
            });
        Self {
            modules: files.iter().map(|file| file.module.as_slice()).collect(),
            imports: imports.collect(),
        }
    }

    /// The module that defines `path` as seen from `current`; `None` if it is in another crate.
    fn module_with(&self, current: &Module, path: &[String]) -> Option<Module> {
        let mut path = self.absolute(current, path)?;
        // Re-exports can also form a longer cycle, which this limit ends.
        for _ in 0..STEPS_MAX {
            // The longest prefix that is a module; what follows is an item in it.
            let end = (0..=path.len()).rev().find(|end| self.has(&path[..*end]))?;
            let (module, inside) = (path[..end].to_vec(), &path[end..]);
            let import = inside
                .first()
                .and_then(|name| self.imports.get(&(&module, name.as_str())));
            match import.and_then(|it| self.absolute(&it.module, &it.path)) {
                // A re-export that leads to itself would never end.
                Some(target) if target != path => path = [&target, &inside[1..]].concat(),
                _ => return Some(module),
            }
        }
        None
    }

    fn has(&self, path: &[String]) -> bool {
        self.modules.contains(path)
    }

    /// The path from the crate's root; `None` if it starts with another crate or a local name.
    fn absolute(&self, current: &Module, path: &[String]) -> Option<Module> {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (current.as_slice(), &path[1..]),
            "super" => (
                &current[..current.len().checked_sub(supers)?],
                &path[supers..],
            ),
            child if self.has(&[current.as_slice(), &[child.to_owned()]].concat()) => {
                (current.as_slice(), path)
            }
            _ => return None,
        };
        Some([base, rest].concat())
    }
}

/// A path used in the code.
#[derive(Debug)]
struct NamedPath {
    /// The module of the use, which may be inside a file.
    module: Module,
    path: Vec<String>,
    line: usize,
    /// Local name, if a `use` imports it.
    import: Option<String>,
}

/// Paths used in a file outside of its tests.
struct FileImports {
    path: String,
    module: Module,
    paths: Vec<NamedPath>,
    /// Modules in separate files that are compiled only for tests.
    for_tests: Vec<Module>,
}

impl FileImports {
    fn of(file: &SourceFile, module: Module) -> Self {
        let names = Self {
            path: file.path.clone(),
            module: module.clone(),
            paths: Vec::new(),
            for_tests: Vec::new(),
        };
        let mut visitor = NamesVisitor {
            file,
            module,
            names,
        };
        visitor.visit_file(&file.tree);
        visitor.names
    }
}

struct NamesVisitor<'a> {
    file: &'a SourceFile,
    module: Module,
    names: FileImports,
}

impl NamesVisitor<'_> {
    fn push(&mut self, path: Vec<String>, line: usize, import: Option<String>) {
        if !path.is_empty() && !self.file.is_test_line(line) {
            let module = self.module.clone();
            self.names.paths.push(NamedPath {
                module,
                path,
                line,
                import,
            });
        }
    }

    fn push_use(&mut self, tree: &syn::UseTree, before: &[String]) {
        let line = tree.span().start().line;
        let with = |ident: &syn::Ident| match ident == "self" && !before.is_empty() {
            true => before.to_vec(),
            false => [before, &[ident.to_string()]].concat(),
        };
        match tree {
            syn::UseTree::Path(path) => self.push_use(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|item| self.push_use(item, before));
            }
            syn::UseTree::Glob(_) => self.push(before.to_vec(), line, None),
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                let import = path.last().cloned();
                self.push(path, line, import);
            }
            syn::UseTree::Rename(rename) => {
                self.push(with(&rename.ident), line, Some(rename.rename.to_string()));
            }
        }
    }

    /// A macro's arguments are only tokens, so paths are found by their first word.
    fn scan_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match &token {
                // A single colon separates a name from its type, so it does not continue a path.
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => {
                    path.push(ident.to_string());
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                other => {
                    self.push(std::mem::take(&mut path), line, None);
                    line = other.span().start().line;
                    if let TokenTree::Ident(ident) = other
                        && is_rooted(&ident.to_string())
                    {
                        path.push(ident.to_string());
                    }
                }
            }
            colons = 0;
            if let TokenTree::Group(group) = token {
                self.scan_tokens(group.stream());
            }
        }
        self.push(path, line, None);
    }
}

/// `true` if a path with this first word is in the same crate.
fn is_rooted(first: &str) -> bool {
    matches!(first, "crate" | "super" | "self")
}

impl<'ast> Visit<'ast> for NamesVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        let line = item.ident.span().start().line;
        if item.content.is_none() && self.file.is_test_line(line) {
            self.names.for_tests.push(self.module.clone());
        }
        syn::visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.push_use(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|it| it.ident.to_string())
            .collect();
        if names.len() > 1 && is_rooted(&names[0]) {
            self.push(names, path.span().start().line, None);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.scan_tokens(item.tokens.clone());
        syn::visit::visit_macro(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each module of a crate of these files needs, as `a -> b: name`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let parse = |(path, text): &(&str, &str)| {
            SourceFile::parse(&format!("crates/units/src/{path}"), text).unwrap()
        };
        let sources: Vec<SourceFile> = files.iter().map(parse).collect();
        let mut edges = Vec::new();
        for (module, others) in needs(&sources).into_values().flatten() {
            for (other, need) in others {
                let (module, other) = (module.join("::"), other.join("::"));
                edges.push(format!("{module} -> {other}: {}", need.name));
            }
        }
        edges
    }

    #[test]
    fn a_use_needs_the_module_that_it_names() {
        let a = "use crate::b::{X, c::{self, Y}};\nuse super::d::Z as W;\nuse std::fs;";
        let files = [
            ("lib.rs", "mod a; mod b; mod d;"),
            ("a.rs", a),
            ("b/mod.rs", "pub mod c;"),
            ("b/c.rs", ""),
            ("d.rs", ""),
        ];
        assert_eq!(edges(&files), ["a -> b: X", "a -> b::c: c", "a -> d: Z"]);
    }

    #[test]
    fn a_path_in_an_expression_a_type_or_a_macro_counts() {
        let files = [
            ("a.rs", "fn f(x: crate::b::X) { super::c::g(); }"),
            (
                "b.rs",
                "fn f() { println!(\"{}\", [crate::c::g(1)].len()); }",
            ),
            ("c.rs", "fn g() { self::h(); }"),
        ];
        assert_eq!(edges(&files), ["a -> b: X", "a -> c: g", "b -> c: g"]);
    }

    #[test]
    fn re_exports_are_followed_to_the_defining_file() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::{X, Y as Z};"),
            ("a.rs", "use crate::X;"),
            ("b/mod.rs", "mod c; pub use c::X; pub struct Y;"),
            ("b/c.rs", "use crate::Z;"),
            ("d.rs", "use crate::{X, Z};"),
        ];
        assert_eq!(edges(&files), ["a -> b::c: X", "d -> b: Z", "d -> b::c: X"]);
    }

    #[test]
    fn a_module_and_its_submodules_may_need_each_other() {
        let files = [
            ("a/mod.rs", "mod b; use b::X; struct Y;"),
            ("a/b.rs", "use super::Y; mod inner { use super::super::Y; }"),
        ];
        assert!(edges(&files).is_empty());
    }

    #[test]
    fn test_only_code_adds_no_dependency() {
        let tests = "#[cfg(test)]\nmod tests {\n    use crate::b::X;\n}\n#[cfg(test)]\nmod made;\n";
        let files = [
            ("a.rs", tests),
            ("b.rs", ""),
            ("a/made.rs", "use crate::b::X;"),
            ("a/made/more.rs", "use crate::b::X;"),
            ("a/tests.rs", "use crate::b::X;"),
        ];
        assert!(edges(&files).is_empty());
    }

    #[test]
    fn circular_re_exports_terminate() {
        let files = [
            ("a.rs", "pub use crate::b::X;"),
            ("b.rs", "pub use crate::a::X;"),
        ];
        assert!(edges(&files).is_empty(), "nobody has it");
    }

    #[test]
    fn modules_of_other_crates_are_separate() {
        let parse = |path: &str| SourceFile::parse(path, "use crate::b::X;").unwrap();
        let sources = ["crates/x/src/a.rs", "crates/y/src/b.rs", "xtask/build.rs"].map(parse);
        let all = needs(&sources);
        assert_eq!(
            all.keys().collect::<Vec<_>>(),
            ["crates/x/src", "crates/y/src"]
        );
        assert!(
            all.values()
                .flat_map(BTreeMap::values)
                .all(BTreeMap::is_empty)
        );
    }
}
