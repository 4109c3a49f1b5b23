//! Files and filesets of a script as those of a program.

use std::collections::{BTreeMap, BTreeSet};

use workload::program::{
    Access, Copies, DirectoryTree, FILES_MAX, FileNames, FilesetPlan, Law, TreeGrowth,
};
use workload::{Diagnostic, nearest};

use super::page::Place;
use super::script::{Entity, Script};
use super::values::Scope;

/// Bytes of a file whose size nobody says.
const SIZE_BYTES: u64 = 1024;
/// A thousand times the shape of the gamma law that widths are drawn by.
const GAMMA_PERMILLE: u64 = 1500;

/// What is known of the filesets of a program.
#[derive(Debug, Default)]
pub(super) struct Sets {
    pub plans: Vec<FilesetPlan>,
    /// How the files of each are opened.
    pub access: Vec<Access>,
    by_name: BTreeMap<String, u8>,
    /// Those that stand for the directories of others, by the number of these.
    directories: BTreeMap<u8, u8>,
    /// Where files are to lie in the original.
    pub paths: BTreeSet<String>,
}

impl Sets {
    /// All that a script defines, in its order.
    pub(super) fn of(script: &Script, scope: &Scope<'_>) -> Result<Self, Diagnostic> {
        let mut sets = Self::default();
        for entity in &script.filesets {
            let plan = sets.fileset(entity, scope)?;
            let number = sets.plans.len();
            if number >= workload::program::FILESETS_MAX {
                let message = format!("there are more than {number} filesets");
                return Err(scope.error(entity.place, message).help("define fewer"));
            }
            // Fewer than 255.
            if sets
                .by_name
                .insert(plan.name.clone(), number as u8)
                .is_some()
            {
                let message = format!("`{}` is defined twice", workload::printable(&plan.name));
                let help = "give one of them another name";
                return Err(scope.error(entity.place, message).help(help));
            }
            sets.plans.push(plan);
        }
        Ok(sets)
    }

    fn fileset(&mut self, entity: &Entity, scope: &Scope<'_>) -> Result<FilesetPlan, Diagnostic> {
        let all = &entity.attributes;
        let what = if entity.is_single { "file" } else { "fileset" };
        let name = scope.needed(all, "name", what, entity.place)?;
        check_name(&name, entity.place, scope)?;
        self.paths.extend(scope.text(all, "path")?);
        let is_only = (scope.flag(all, "readonly")?, scope.flag(all, "writeonly")?);
        self.access.push(match is_only {
            (true, _) => Access::Read,
            (false, true) => Access::Write,
            (false, false) => Access::ReadWrite,
        });
        let size = scope.amount(all, "size")?;
        let number = |name: &str, default: u64| scope.number(all, name, default, FILES_MAX.into());
        let leaf_count = number("leafdirs", 0)?;
        let file_count = if entity.is_single {
            1
        } else {
            number("entries", 0)?
        };
        let help = "write one of `entries` and `leafdirs`";
        let count = match (file_count, leaf_count) {
            (0, 0) => {
                let message = format!("`{name}` has no entries");
                return Err(scope.error(entity.place, message).help(help));
            }
            (0, count) | (count, 0) => count,
            _ => {
                let message = format!("`{name}` has both files and leaf directories");
                return Err(scope.error(entity.place, message).help(help));
            }
        };
        if let Some(depth) = all.get("dirdepthrv") {
            let message = "depths are drawn by `dirgamma` alone here";
            return Err(scope
                .error(depth.place, message)
                .help("leave `dirdepthrv` out"));
        }
        let width = scope.amount(all, "dirwidth")?;
        let is_size_of_tree = size.as_ref().is_some_and(|it| it.is_of_library);
        Ok(FilesetPlan {
            path: name.clone(),
            name,
            copies: Copies::One,
            // Below 2^32.
            count: count as u32,
            names: numbered(""),
            tree: DirectoryTree::Grown(TreeGrowth {
                width: width.map_or(Law::fixed(0), |it| it.law),
                gamma_permille: number("dirgamma", GAMMA_PERMILLE)? as u32,
                is_size_of_tree,
                of_directories: leaf_count > 0,
            }),
            size: size.map_or(Law::fixed(SIZE_BYTES), |it| it.law),
            present_permille: present_permille(entity, scope)?,
        })
    }

    /// The fileset of that name.
    pub(super) fn find(
        &self,
        name: &str,
        place: Place,
        scope: &Scope<'_>,
    ) -> Result<u8, Diagnostic> {
        if let Some(number) = self.by_name.get(name) {
            return Ok(*number);
        }
        let help = match nearest(name, self.by_name.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "define it first, as in `define fileset name=...`".to_owned(),
        };
        let name = workload::printable(name);
        let message = format!("there is no file or fileset `{name}`");
        Err(scope.error(place, message).help(help))
    }

    /// What stands for the directories of a fileset's tree.
    pub(super) fn directories_of(&mut self, fileset: u8) -> u8 {
        if let Some(known) = self.directories.get(&fileset) {
            return *known;
        }
        let of = &self.plans[usize::from(fileset)];
        // At most 255, as whatever is beyond is refused when the program is checked.
        let number = self.plans.len() as u8;
        self.plans.push(FilesetPlan {
            name: format!("directories of {}", of.name),
            path: of.path.clone(),
            copies: Copies::One,
            count: of.count,
            names: numbered("in each "),
            tree: DirectoryTree::DirectoriesOf { fileset },
            size: Law::fixed(0),
            present_permille: 0,
        });
        self.access.push(Access::Read);
        self.directories.insert(fileset, number);
        number
    }
}

fn numbered(before: &str) -> FileNames {
    FileNames::Number {
        before: before.to_owned(),
        digits: 8,
        after: String::new(),
    }
}

/// The name is that of a directory below the target.
fn check_name(name: &str, place: Place, scope: &Scope<'_>) -> Result<(), Diagnostic> {
    let is_plain = !name.contains('/') && name != "." && name != "..";
    if is_plain && !name.is_empty() && name.len() <= 255 && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let message = format!(
        "`{}` cannot be a directory's name",
        workload::printable(name)
    );
    let help = "name it without slashes, and say where it lies by `path`";
    Err(scope.error(place, message).help(help))
}

/// `prealloc` alone is all.
fn present_permille(entity: &Entity, scope: &Scope<'_>) -> Result<u32, Diagnostic> {
    let all = &entity.attributes;
    let is_all = all
        .get("prealloc")
        .map(|it| scope.settled(&it.value, it.place));
    Ok(match is_all.transpose()? {
        Some(super::script::Value::Flag(flag)) => 1000 * u32::from(flag),
        // At most 100.
        _ => scope.number(all, "prealloc", 0, 100)? as u32 * 10,
    })
}
