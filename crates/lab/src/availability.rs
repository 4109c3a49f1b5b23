//! What can run here, and what is missing.

use std::fs;
use std::path::Path;

use crate::catalog::{ENTRIES, Entry, Maker};
use crate::choice::{Choice, ChoiceKind};
use crate::device;
use crate::error::LabError;
use crate::medium::{LabMedium, MediumKind};
use crate::tools;

/// Left free beside an image, for the rest of the system.
const KEPT_FREE_BYTES: u64 = 256 << 20;

/// Whether a file system can be made here.
#[derive(Debug)]
pub struct Availability {
    /// Which.
    pub entry: &'static Entry,
    /// What is missing, each with what would help; nothing where it can be made.
    pub missing: Vec<String>,
}

/// All file systems with what is missing for each; `path:DIR` is no entry and misses nothing.
#[must_use]
pub fn availability() -> Vec<Availability> {
    let described = |entry: &'static Entry| Availability {
        entry,
        missing: missing(entry),
    };
    ENTRIES.iter().map(described).collect()
}

fn missing(entry: &Entry) -> Vec<String> {
    let mut missing = Vec::new();
    if let Some(program) = entry.program()
        && tools::find(program).is_none()
    {
        missing.push(format!("`{program}` (package `{}`)", entry.package));
    }
    if kernel_type(entry.types, entry.mounter).is_none() {
        let by_kernel = format!("`{}` in the kernel", entry.types[0]);
        missing.push(match entry.mounter {
            None => by_kernel,
            Some((program, _)) if tools::find(program).is_some() => {
                format!("{by_kernel}, or `fuse` in it for `{program}`")
            }
            Some((program, package)) => {
                format!("{by_kernel}, or `{program}` (package `{package}`)")
            }
        });
    }
    if entry.maker == Maker::Pool {
        missing
            .push("a pool, which the lab does not make (make one and use `path:DIR`)".to_owned());
    }
    if !is_root() && entry.maker != Maker::Memory {
        missing.push("root".to_owned());
    }
    missing
}

/// Refuses what can be seen to fail before anything is made.
///
/// # Errors
/// A program, file system or device that is not here, too little space, no root, or a device that
/// may not be written.
pub fn check(choices: &[Choice], medium: &LabMedium, directory: &Path) -> Result<(), LabError> {
    for choice in choices {
        check_choice(choice, medium)?;
    }
    let needs_device = choices.iter().any(Choice::needs_device);
    let is_in_memory = |choice: &Choice| {
        choice
            .entry()
            .is_some_and(|entry| entry.maker == Maker::Memory)
    };
    if needs_device {
        check_medium(medium, directory)?;
    }
    if choices.iter().any(is_in_memory) {
        check_memory(medium.size_bytes)?;
    }
    Ok(())
}

fn check_choice(choice: &Choice, medium: &LabMedium) -> Result<(), LabError> {
    let entry = match &choice.kind {
        ChoiceKind::Path(path) => {
            let admitted = target::admit(path, &target::Permission::default());
            admitted.map_err(|error| match error {
                // A lab measures directories, and makes none of them.
                target::TargetError::NotThere { path } => {
                    target::TargetError::NoSuchDirectory { path }
                }
                other => other,
            })?;
            return Ok(());
        }
        ChoiceKind::Made { entry, .. } => *entry,
    };
    if !is_root() {
        let what = match entry.maker {
            Maker::Memory => format!("mounting {}", entry.name),
            _ => format!("making and mounting {} on a block device", entry.name),
        };
        return Err(LabError::NotRoot { what });
    }
    check_program(entry)?;
    if kernel_type(entry.types, entry.mounter).is_none() {
        let name = entry.name.to_owned();
        return Err(LabError::NoKernel { name });
    }
    let is_sized = !matches!(medium.kind, MediumKind::Device(_)) || entry.maker == Maker::Memory;
    if is_sized {
        check_size(entry, medium.size_bytes)?;
    }
    Ok(())
}

/// Refuses a file system whose program is not installed.
pub(crate) fn check_program(entry: &Entry) -> Result<(), LabError> {
    match entry.program() {
        Some(program) if tools::find(program).is_none() => Err(no_program(entry, program)),
        _ => Ok(()),
    }
}

fn check_size(entry: &Entry, size_bytes: u64) -> Result<(), LabError> {
    if size_bytes >= entry.size_min_bytes {
        return Ok(());
    }
    Err(LabError::TooSmall {
        name: entry.name.to_owned(),
        min_bytes: entry.size_min_bytes,
        size_bytes,
    })
}

/// Refuses images that are too small for one of the file systems, or too large for the directory.
pub(crate) fn check_image(
    choices: &[Choice],
    medium: &LabMedium,
    directory: &Path,
) -> Result<(), LabError> {
    for entry in choices.iter().filter_map(Choice::entry) {
        check_size(entry, medium.size_bytes)?;
    }
    check_space(medium.size_bytes, directory)
}

fn check_medium(medium: &LabMedium, directory: &Path) -> Result<(), LabError> {
    let no_medium = |is_there: bool| match is_there {
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
            let permission = target::Permission {
                overwrite_devices: medium.overwrite_devices.clone(),
                ..target::Permission::default()
            };
            let found = target::probe(path)?;
            if found.kind != target::PathKind::Device {
                return Err(LabError::BadMedium {
                    seen: path.display().to_string(),
                });
            }
            target::admit(path, &permission)?;
            Ok(())
        }
    }
}

fn check_space(size_bytes: u64, directory: &Path) -> Result<(), LabError> {
    let parent = directory.parent().unwrap_or(directory);
    let place = if directory.exists() {
        directory
    } else {
        parent
    };
    let found =
        rustix::fs::statvfs(place).map_err(|error| LabError::system("access", place, error))?;
    let free_bytes = found.f_bavail.saturating_mul(found.f_frsize);
    fits(size_bytes, free_bytes, place)
}

fn check_memory(size_bytes: u64) -> Result<(), LabError> {
    match memory_available_bytes() {
        Some(free_bytes) => fits(size_bytes, free_bytes, Path::new("memory")),
        None => Ok(()),
    }
}

fn fits(size_bytes: u64, free_bytes: u64, place: &Path) -> Result<(), LabError> {
    let free_bytes = free_bytes.saturating_sub(KEPT_FREE_BYTES);
    if size_bytes <= free_bytes {
        return Ok(());
    }
    Err(LabError::NoSpace {
        size_bytes,
        free_bytes,
        directory: place.to_owned(),
    })
}

fn memory_available_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The type to mount by: one that the kernel has or can load, or that a program serves.
pub(crate) fn kernel_type(
    types: &'static [&'static str],
    mounter: Option<(&str, &str)>,
) -> Option<&'static str> {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_known = |kind: &&str| {
        let names = known
            .lines()
            .filter_map(|line| line.split_whitespace().last());
        names.into_iter().any(|name| name == *kind) || is_module(kind)
    };
    let by_kernel = types.iter().find(|kind| is_known(kind));
    let by_program = mounter
        .filter(|(program, _)| tools::find(program).is_some())
        .filter(|_| is_known(&"fuseblk") || is_module("fuse"))
        .and_then(|(program, _)| {
            let served = program.strip_prefix("mount.").unwrap_or(program);
            types.iter().find(|kind| **kind == served)
        });
    by_kernel.or(by_program).copied()
}

/// Whether the running kernel has such a module to load.
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

/// Whether this process may do what root may.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says which package has the program, where that is what is missing.
pub(crate) fn missing_program(error: LabError, entry: &Entry) -> LabError {
    match error {
        LabError::NoProgram { program, .. } => no_program(entry, &program),
        other => other,
    }
}

fn no_program(entry: &Entry, program: &str) -> LabError {
    LabError::NoProgram {
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
    fn a_program_that_is_missing_names_its_package() {
        let entry = Entry {
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
        assert!(check_memory(1 << 60).is_err());
        assert!(fits(1, KEPT_FREE_BYTES + 1, Path::new("/")).is_ok());
    }
}
