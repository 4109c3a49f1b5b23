//! The kernel of guests, and its features.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::tools;

/// The program that is the kernel, and its Debian package.
const PROGRAM: &str = "linux.uml";
const PACKAGE: &str = "user-mode-linux";
/// Debian's directory for its modules, with one subdirectory per release.
const MODULES: &str = "/usr/lib/uml/modules";

/// Minimum memory to load all modules.
pub(super) const MEMORY_BYTES_MIN: u64 = 128 << 20;

/// A kernel for guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Path of the program.
    pub program: PathBuf,
    /// Release, such as `6.1.176`.
    pub release: String,
}

impl Kernel {
    /// Finds User-mode Linux.
    ///
    /// # Errors
    /// If it is not installed or does not report its release.
    pub fn find() -> Result<Self, LabError> {
        let program = tools::find(PROGRAM).ok_or_else(|| LabError::MissingProgram {
            name: "`--vm uml`".to_owned(),
            program: PROGRAM.to_owned(),
            package: PACKAGE.to_owned(),
        })?;
        let release = tools::run(PROGRAM, &["--version".to_owned()])?;
        Ok(Self {
            program,
            release: release.trim().to_owned(),
        })
    }

    /// `true` if it has this file system, built in or as a module.
    #[must_use]
    pub fn has(&self, kind: &str) -> bool {
        let lists = ["modules.builtin", "modules.dep"].map(|name| self.list(name));
        // ext4 also serves ext3, as its alias shows.
        let file = format!("/{}.ko", if kind == "ext3" { "ext4" } else { kind });
        let has = |list: &String| list.lines().any(|line| module_of(line).ends_with(&file));
        lists.iter().any(has)
    }

    /// Modules to load for this file system, in order.
    pub(crate) fn modules(&self, kind: &str) -> Vec<PathBuf> {
        // The mount requests it by name, but a guest has no `modprobe`.
        let wanted: &[&str] = match kind {
            "f2fs" => &["crc32_generic", "f2fs"],
            kind => &[kind],
        };
        let dependencies = self.list("modules.dep");
        let mut modules = Vec::new();
        for name in wanted {
            let file = format!("/{name}.ko");
            let Some(line) = dependencies
                .lines()
                .find(|line| module_of(line).ends_with(&file))
            else {
                continue;
            };
            let needed = line.split(':').nth(1).unwrap_or_default();
            // The list has direct dependencies first.
            let needed = needed.split_whitespace().rev();
            for path in needed.chain([module_of(line)]) {
                let path = self.directory().join(path);
                // Several modules may need the same one.
                if !modules.contains(&path) {
                    modules.push(path);
                }
            }
        }
        modules
    }

    fn directory(&self) -> PathBuf {
        Path::new(MODULES).join(&self.release)
    }

    fn list(&self, name: &str) -> String {
        fs::read_to_string(self.directory().join(name)).unwrap_or_default()
    }
}

/// The module in a line of `modules.builtin` or `modules.dep`.
fn module_of(line: &str) -> &str {
    line.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_of_a_line_precedes_the_colon() {
        assert_eq!(
            module_of("kernel/fs/f2fs/f2fs.ko: a.ko"),
            "kernel/fs/f2fs/f2fs.ko"
        );
        assert_eq!(module_of("kernel/fs/xfs/xfs.ko"), "kernel/fs/xfs/xfs.ko");
    }

    #[test]
    fn log_structured_file_systems_come_as_modules() {
        // Without the package there is nothing to look at.
        let Ok(kernel) = Kernel::find() else {
            return;
        };
        for kind in ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "nilfs2"] {
            assert!(kernel.has(kind), "{kind}");
        }
        assert!(!kernel.has("ext5"));
        assert!(kernel.modules("nilfs2")[0].ends_with("kernel/fs/nilfs2/nilfs2.ko"));
        assert_eq!(kernel.modules("ext4"), [""; 0].map(PathBuf::from));
    }
}
