//! Files and filesets of a script as those of a program.

use workload::printable;
use workload::program::{
    Access, DirectoryTree, FILES_MAX, FILESETS_MAX, FilesetPlan, Law, TreeGrowth,
};

use super::program::Writer;
use super::script::{Entity, Kind, Read, Value};
use crate::acts::{fileset, number_of, numbered};
use crate::tokens::{Place, error, unknown};

/// Bytes of a file whose size nobody says.
const SIZE_BYTES: u64 = 1024;
/// A thousand times the shape of the gamma law that widths are drawn by.
const GAMMA_PERMILLE: u64 = 1500;

impl Writer {
    /// Adds what a script defines.
    pub(super) fn define(&mut self, set: &Entity) -> Read<()> {
        let plan = set.fileset()?;
        if self.program.filesets.len() >= FILESETS_MAX {
            let message = format!("there are more than {FILESETS_MAX} filesets");
            return Err(set.error(message, "define fewer"));
        }
        if self.program.filesets.iter().any(|it| it.name == plan.name) {
            let message = format!("`{}` is defined twice", printable(&plan.name));
            return Err(set.error(message, "give one of them another name"));
        }
        self.program.filesets.push(plan);
        self.paths.extend(set.text("path")?);
        let access = match (set.flag("readonly")?, set.flag("writeonly")?) {
            (true, _) => Access::Read,
            (false, true) => Access::Write,
            (false, false) => Access::ReadWrite,
        };
        self.access.push(access);
        Ok(())
    }

    /// The number of the fileset of that name.
    pub(super) fn find(&self, name: &str, place: Place) -> Read<u8> {
        let defined = &self.program.filesets[..self.access.len()];
        if let Some(number) = defined.iter().position(|it| it.name == name) {
            // Fewer than 255.
            return Ok(number as u8);
        }
        let known = defined.iter().map(|it| it.name.as_str());
        let lacks = "there is no file or fileset";
        let help = || "define it first, as in `define fileset name=...`".to_owned();
        Err(unknown(place, lacks, name, known, help))
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

impl Entity {
    fn fileset(&self) -> Read<FilesetPlan> {
        let name = self.needed("name")?;
        check_name(&name, self.place)?;
        let number = |name: &str, otherwise| self.number(name, FILES_MAX.into(), otherwise);
        let leaf_count = number("leafdirs", 0)?;
        let file_count = match self.kind == Kind::File {
            true => 1,
            false => number("entries", 0)?,
        };
        if (file_count == 0) == (leaf_count == 0) {
            let message = match leaf_count {
                0 => format!("`{name}` has no entries"),
                _ => format!("`{name}` has both files and leaf directories"),
            };
            return Err(self.error(message, "write one of `entries` and `leafdirs`"));
        }
        if let Some(depth) = self.attributes.get("dirdepthrv") {
            let message = "depths are drawn by `dirgamma` alone here";
            return Err(error(depth.place, message, "leave `dirdepthrv` out"));
        }
        let growth = TreeGrowth {
            width: self.amount("dirwidth")?.unwrap_or(Law::fixed(0)),
            // At most the files that there may be.
            gamma_permille: number("dirgamma", GAMMA_PERMILLE)? as u32,
            is_size_of_tree: self.is_of_library("size")?,
            of_directories: leaf_count > 0,
        };
        Ok(FilesetPlan {
            names: numbered("", 8),
            tree: DirectoryTree::Grown(growth),
            size: self.amount("size")?.unwrap_or(Law::fixed(SIZE_BYTES)),
            present_permille: self.present_permille()?,
            // Below 2^32.
            ..fileset(&name, &name, "", (file_count + leaf_count) as u32)
        })
    }

    /// Whether an amount comes from the C library's generator, which trees of filesets use, too.
    fn is_of_library(&self, name: &str) -> Read<bool> {
        match self.get(name) {
            Some(Value::Random(law)) => Ok(law.text("type")?.as_deref() == Some("cvar-gamma")),
            _ => Ok(false),
        }
    }

    /// `prealloc` alone is all.
    fn present_permille(&self) -> Read<u32> {
        match self.get("prealloc").map(Value::shown).as_deref() {
            Some("true") => Ok(1000),
            Some("false") => Ok(0),
            // At most 100.
            _ => Ok(self.number("prealloc", 100, 0)? as u32 * 10),
        }
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
