//! Files and filesets of a script as those of a program.

use std::collections::BTreeSet;

use workload::printable;
use workload::program::{
    Access, DirectoryTree, FILES_MAX, FILESETS_MAX, FilesetPlan, Law, TreeGrowth,
};

use crate::acts::{fileset, numbered};

use super::attributes::Attributes;
use super::script::{Kind, Read, Value};
use super::writer::Writer;
use crate::acts::number_of;
use crate::tokens::{Place, error, meant};

/// Bytes of a file whose size nobody says.
const SIZE_BYTES: u64 = 1024;
/// A thousand times the shape of the gamma law that widths are drawn by.
const GAMMA_PERMILLE: u64 = 1500;

impl Writer<'_> {
    /// Adds what a script defines.
    pub(super) fn define(&mut self, all: &Attributes<'_>) -> Read<()> {
        let place = all.entity.place;
        let plan = self.fileset_plan(all)?;
        if self.program.filesets.len() >= FILESETS_MAX {
            let message = format!("there are more than {FILESETS_MAX} filesets");
            return Err(error(place, message, "define fewer"));
        }
        if self.program.filesets.iter().any(|it| it.name == plan.name) {
            let message = format!("`{}` is defined twice", printable(&plan.name));
            return Err(error(place, message, "give one of them another name"));
        }
        self.program.filesets.push(plan);
        Ok(())
    }

    fn fileset_plan(&mut self, all: &Attributes<'_>) -> Read<FilesetPlan> {
        let place = all.entity.place;
        let name = all.needed("name")?;
        check_name(&name, place)?;
        self.paths.extend(all.text("path")?);
        self.access
            .push(match (all.flag("readonly")?, all.flag("writeonly")?) {
                (true, _) => Access::Read,
                (false, true) => Access::Write,
                (false, false) => Access::ReadWrite,
            });
        let size = all.amount("size")?.unwrap_or(Law::fixed(SIZE_BYTES));
        let number = |name: &str| all.number(name, FILES_MAX.into());
        let leaf_count = number("leafdirs")?.unwrap_or(0);
        let file_count = match all.entity.kind == Kind::File {
            true => 1,
            false => number("entries")?.unwrap_or(0),
        };
        if (file_count == 0) == (leaf_count == 0) {
            let message = match leaf_count {
                0 => format!("`{name}` has no entries"),
                _ => format!("`{name}` has both files and leaf directories"),
            };
            return Err(error(
                place,
                message,
                "write one of `entries` and `leafdirs`",
            ));
        }
        if let Some(depth) = all.entity.get("dirdepthrv") {
            let message = "depths are drawn by `dirgamma` alone here";
            return Err(error(depth.place, message, "leave `dirdepthrv` out"));
        }
        let growth = TreeGrowth {
            width: all.amount("dirwidth")?.unwrap_or(Law::fixed(0)),
            // At most the files that there may be.
            gamma_permille: number("dirgamma")?.unwrap_or(GAMMA_PERMILLE) as u32,
            is_size_of_tree: is_of_library(all, "size")?,
            of_directories: leaf_count > 0,
        };
        Ok(FilesetPlan {
            names: numbered("", 8),
            tree: DirectoryTree::Grown(growth),
            size,
            present_permille: present_permille(all)?,
            // Below 2^32.
            ..fileset(&name, &name, "", (file_count + leaf_count) as u32)
        })
    }

    /// The number of the fileset of that name.
    pub(super) fn find(&self, name: &str, place: Place) -> Read<u8> {
        let defined = &self.program.filesets[..self.access.len()];
        if let Some(number) = defined.iter().position(|it| it.name == name) {
            // Fewer than 255.
            return Ok(number as u8);
        }
        let known: BTreeSet<&str> = defined.iter().map(|it| it.name.as_str()).collect();
        let help = meant(name, known.into_iter(), || {
            "define it first, as in `define fileset name=...`".to_owned()
        });
        let message = format!("there is no file or fileset `{}`", printable(name));
        Err(error(place, message, help))
    }

    /// What stands for the directories of a fileset's tree.
    pub(super) fn directories_of(&mut self, of: u8) -> u8 {
        let tree = DirectoryTree::DirectoriesOf { fileset: of };
        let of = &self.program.filesets[usize::from(of)];
        let name = format!("directories of {}", of.name);
        let plan = FilesetPlan {
            names: numbered("in each ", 8),
            tree,
            ..fileset(&name, &of.path, "", of.count)
        };
        number_of(&mut self.program.filesets, plan)
    }
}

/// The name is that of a directory below the target.
fn check_name(name: &str, place: Place) -> Read<()> {
    let is_plain = !name.contains('/') && name != "." && name != "..";
    if is_plain && !name.is_empty() && name.len() <= 255 && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let message = format!("`{}` cannot be a directory's name", printable(name));
    let help = "name it without slashes, and say where it lies by `path`";
    Err(error(place, message, help))
}

/// Whether an amount comes from the C library's generator, which the trees of filesets use, too.
fn is_of_library(all: &Attributes<'_>, name: &str) -> Read<bool> {
    let Some(Value::Random(random)) = all.value(name)? else {
        return Ok(false);
    };
    Ok(all.of(&random).text("type")?.as_deref() == Some("cvar-gamma"))
}

/// `prealloc` alone is all.
fn present_permille(all: &Attributes<'_>) -> Read<u32> {
    Ok(match all.value("prealloc")? {
        Some(Value::Flag(flag)) => 1000 * u32::from(flag),
        // At most 100.
        _ => all.number("prealloc", 100)?.unwrap_or(0) as u32 * 10,
    })
}
