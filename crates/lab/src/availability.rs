//! Detects which file systems can be created here, and what is missing.

use std::fs;
use std::path::Path;

use crate::catalog::{CreationMethod, ENTRIES, LabFileSystem};
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::device;
use crate::error::LabError;
use crate::medium::{LabMedium, MediumKind};
use crate::tools;

/// Space left free next to an image, for the rest of the system.
const RESERVED_BYTES: u64 = 256 << 20;

/// Whether a file system can be created here.
#[derive(Debug)]
pub struct Availability {
    /// The file system.
    pub entry: &'static LabFileSystem,
    /// Missing requirements, each with a remedy; empty if it can be created.
    pub missing: Vec<String>,
}

/// All file systems with their missing requirements. `path:DIR` is not listed because it has none.
#[must_use]
pub fn availability() -> Vec<Availability> {
    let described = |entry: &'static LabFileSystem| Availability {
        entry,
        missing: missing(entry),
    };
    ENTRIES.iter().map(described).collect()
}

fn missing(entry: &LabFileSystem) -> Vec<String> {
    let mut missing = Vec::new();
    if let Some(program) = entry.program()
        && tools::find(program).is_none()
    {
        missing.push(format!("`{program}` (package `{}`)", entry.package));
    }
    if kernel_type(entry.types, entry.mounter).is_none() {
        let in_kernel = format!("`{}` in the kernel", entry.types[0]);
        missing.push(match entry.mounter {
            None => in_kernel,
            Some((program, _)) if tools::find(program).is_some() => {
                format!("{in_kernel}, or `fuse` in it for `{program}`")
            }
            Some((program, package)) => {
                format!("{in_kernel}, or `{program}` (package `{package}`)")
            }
        });
    }
    if entry.creation_method == CreationMethod::Pool {
        missing
            .push("a pool, which the lab cannot create (create one and use `path:DIR`)".to_owned());
    }
    if !is_root() && entry.creation_method != CreationMethod::Memory {
        // Memory file systems work without root, in a user namespace.
        missing.push("root".to_owned());
    }
    missing
}

/// Refuses requests that are certain to fail, before anything is created.
///
/// # Errors
/// If a program, file system or device is missing, space is too small, root is needed, or the
/// device may not be written.
pub fn check(
    choices: &[FileSystemChoice],
    medium: &LabMedium,
    directory: &Path,
) -> Result<(), LabError> {
    for choice in choices {
        check_choice(choice, medium)?;
    }
    let needs_device = choices.iter().any(FileSystemChoice::needs_device);
    let is_in_memory = |choice: &FileSystemChoice| {
        choice
            .entry()
            .is_some_and(|entry| entry.creation_method == CreationMethod::Memory)
    };
    // Checked once, because all file systems use the same image, one after the other.
    if needs_device {
        check_medium(medium, directory)?;
    }
    if choices.iter().any(is_in_memory) {
        check_memory(medium.size_bytes)?;
    }
    Ok(())
}

fn check_choice(choice: &FileSystemChoice, medium: &LabMedium) -> Result<(), LabError> {
    let entry = match &choice.kind {
        ChoiceKind::Path(path) => {
            let admitted = storage::admit(path, &storage::Permission::default());
            admitted.map_err(|error| match error {
                // A lab only measures in existing directories.
                storage::TargetError::NotFound { path } => {
                    storage::TargetError::NoSuchDirectory { path }
                }
                other => other,
            })?;
            return Ok(());
        }
        ChoiceKind::Created { entry, .. } => *entry,
    };
    if !is_root() {
        let action = match entry.creation_method {
            CreationMethod::Memory => format!("mounting {}", entry.name),
            _ => format!("making and mounting {} on a block device", entry.name),
        };
        return Err(LabError::NotRoot { what: action });
    }
    check_program(entry)?;
    if kernel_type(entry.types, entry.mounter).is_none() {
        let name = entry.name.to_owned();
        return Err(LabError::UnsupportedByKernel { name });
    }
    // A named device has a fixed size; its mkfs reports if that is too small.
    let is_sized = !matches!(medium.kind, MediumKind::Device(_))
        || entry.creation_method == CreationMethod::Memory;
    if is_sized {
        check_size(entry, medium.size_bytes)?;
    }
    Ok(())
}

/// Refuses a file system whose programs are not installed.
pub(crate) fn check_program(entry: &LabFileSystem) -> Result<(), LabError> {
    match entry.program() {
        Some(program) if tools::find(program).is_none() => Err(no_program(entry, program)),
        _ => Ok(()),
    }
}

fn check_size(entry: &LabFileSystem, size_bytes: u64) -> Result<(), LabError> {
    if size_bytes >= entry.size_min_bytes {
        return Ok(());
    }
    Err(LabError::TooSmall {
        name: entry.name.to_owned(),
        min_bytes: entry.size_min_bytes,
        size_bytes,
    })
}

/// Refuses images that are too small for a file system, or too large for the directory.
pub(crate) fn check_image(
    choices: &[FileSystemChoice],
    medium: &LabMedium,
    directory: &Path,
) -> Result<(), LabError> {
    for entry in choices.iter().filter_map(FileSystemChoice::entry) {
        check_size(entry, medium.size_bytes)?;
    }
    check_space(medium.size_bytes, directory)
}

fn check_medium(medium: &LabMedium, directory: &Path) -> Result<(), LabError> {
    let no_medium = |exists: bool| match exists {
        true => Ok(()),
        false => Err(LabError::NoMedium {
            medium: medium.kind.to_string(),
        }),
    };
    match &medium.kind {
        MediumKind::Loop => {
            no_medium(device::has_loop())?;
            check_space(medium.size_bytes, directory)
        }
        MediumKind::Zram => {
            no_medium(device::has_zram())?;
            check_memory(medium.size_bytes)
        }
        MediumKind::Device(path) => {
            let permission = storage::Permission {
                overwrite_devices: medium.overwrite_devices.clone(),
                ..storage::Permission::default()
            };
            let found = storage::probe(path)?;
            if found.kind != storage::PathKind::Device {
                return Err(LabError::BadMedium {
                    seen: path.display().to_string(),
                });
            }
            storage::admit(path, &permission)?;
            Ok(())
        }
    }
}

fn check_space(size_bytes: u64, directory: &Path) -> Result<(), LabError> {
    let parent = directory.parent().unwrap_or(directory);
    // A check creates nothing, so the lab's directory may still be missing.
    let existing = if directory.exists() {
        directory
    } else {
        parent
    };
    let stat = rustix::fs::statvfs(existing)
        .map_err(|error| LabError::system("access", existing, error))?;
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    if has_room(size_bytes, free_bytes) {
        return Ok(());
    }
    Err(LabError::NoSpace {
        size_bytes,
        free_bytes: free_bytes.saturating_sub(RESERVED_BYTES),
        directory: existing.to_owned(),
    })
}

fn check_memory(size_bytes: u64) -> Result<(), LabError> {
    match memory_available_bytes() {
        Some(free_bytes) if !has_room(size_bytes, free_bytes) => Err(LabError::NoMemory {
            size_bytes,
            free_bytes: free_bytes.saturating_sub(RESERVED_BYTES),
        }),
        _ => Ok(()),
    }
}

const fn has_room(size_bytes: u64, free_bytes: u64) -> bool {
    size_bytes <= free_bytes.saturating_sub(RESERVED_BYTES)
}

fn memory_available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The type for mounting: one that the kernel has or can load, or that a FUSE program serves.
pub(crate) fn kernel_type(
    types: &'static [&'static str],
    mounter: Option<(&str, &str)>,
) -> Option<&'static str> {
    let listed = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_known = |kind: &&str| {
        let names = listed
            .lines()
            .filter_map(|line| line.split_whitespace().last());
        names.into_iter().any(|name| name == *kind) || is_module(kind)
    };
    let from_kernel = types.iter().find(|kind| is_known(kind));
    let from_program = mounter
        .filter(|(program, _)| tools::find(program).is_some())
        // These programs mount a block device through the kernel's `fuseblk`, which is part of
        // FUSE.
        .filter(|_| is_known(&"fuseblk") || is_module("fuse"))
        .and_then(|(program, _)| {
            let served = program.strip_prefix("mount.").unwrap_or(program);
            types.iter().find(|kind| **kind == served)
        });
    from_kernel.or(from_program).copied()
}

/// `true` if the running kernel has this loadable module.
fn is_module(name: &str) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    let list = fs::read_to_string(format!("/lib/modules/{release}/modules.dep"));
    let file = format!("/{name}.ko");
    list.unwrap_or_default().lines().any(|line| {
        let path = line.split(':').next().unwrap_or_default();
        path.contains(&file)
    })
}

/// `true` if this process runs as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Adds the package that contains the program, if a program is missing.
pub(crate) fn add_package_hint(error: LabError, entry: &LabFileSystem) -> LabError {
    match error {
        LabError::MissingProgram { program, .. } => no_program(entry, &program),
        other => other,
    }
}

fn no_program(entry: &LabFileSystem, program: &str) -> LabError {
    LabError::MissingProgram {
        name: entry.name.to_owned(),
        program: program.to_owned(),
        package: entry.package.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_system_is_listed() {
        let listed = availability();
        assert_eq!(listed.len(), ENTRIES.len());
        let tmpfs = listed.iter().find(|it| it.entry.name == "tmpfs").unwrap();
        assert_eq!(tmpfs.missing, [""; 0]);
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let entry = LabFileSystem {
            mkfs: &["mkfs.no-such"],
            package: "no-such-progs",
            types: &["no-such"],
            ..ENTRIES[0]
        };
        let missing = missing(&entry);
        assert_eq!(missing[0], "`mkfs.no-such` (package `no-such-progs`)");
        assert_eq!(missing[1], "`no-such` in the kernel");
    }

    #[test]
    fn an_image_that_does_not_fit_is_refused() {
        let error = check_space(1 << 60, Path::new("/")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("an image of 1 EiB does not fit"),
            "{error}"
        );
        let error = check_memory(1 << 60).unwrap_err();
        assert!(error.to_string().contains("fit: only "), "{error}");
        assert_eq!(
            error.help().as_deref(),
            Some("use a smaller `--image-size`")
        );
        assert!(has_room(1, RESERVED_BYTES + 1));
        assert!(!has_room(2, RESERVED_BYTES + 1));
    }
}
