//! Converts arguments of `lab` and `paper` to a request for file systems.

use std::path::{Path, PathBuf};

use lab::{AgingOptions, FileSystemChoice, LabMedium, MatrixRequest};

use crate::args::{FileSystemArgs, VmArg};
use crate::bounds;
use crate::failure::{CliError, Exit};

/// Mount options that users pass with `-o`, as to `mount`, with or without a value.
const MOUNT_OPTIONS: [&str; 22] = [
    "atime",
    "barrier",
    "commit",
    "compress",
    "data",
    "defaults",
    "discard",
    "lazytime",
    "noatime",
    "nobarrier",
    "nodatacow",
    "nodev",
    "nodiratime",
    "nodiscard",
    "noexec",
    "nosuid",
    "relatime",
    "ro",
    "rw",
    "ssd",
    "strictatime",
    "sync",
];

/// Refuses mount options after `-o`, which would become the name of an output file.
pub(crate) fn refuse_mount_options(args: &FileSystemArgs) -> Result<(), CliError> {
    let name = args.table.output.as_deref().and_then(Path::to_str);
    let Some(options) = name.filter(|it| are_mount_options(it)) else {
        return Ok(());
    };
    let options = plan::printable(options);
    let message = format!("`-o {options}` names an output file, not mount options");
    let help = format!("write the mount options in `--fs`, as in `--fs ext4,mount={options}`");
    Err(CliError::new(Exit::Usage, message, Some(help)))
}

/// Returns `true` for a list such as `noatime,data=ordered`.
fn are_mount_options(text: &str) -> bool {
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let mut names = text.split(',').map(name);
    names.any(|name| MOUNT_OPTIONS.contains(&name.as_str()))
}

/// Reads the arguments, and refuses those that are sure to fail.
pub(crate) fn read_request(
    args: &FileSystemArgs,
    seed: Option<u64>,
    targets: &[PathBuf],
) -> Result<MatrixRequest, CliError> {
    let mut request = read_unchecked(args, seed, targets)?;
    let guest_memory = args.vm.map(|VmArg::Uml| args.vm_memory.0);
    request.check(guest_memory)?;
    Ok(request)
}

/// Reads the arguments without checks. Used in guests, because the host has checked them.
pub(crate) fn read_unchecked(
    args: &FileSystemArgs,
    seed: Option<u64>,
    targets: &[PathBuf],
) -> Result<MatrixRequest, CliError> {
    bounds::admit(targets.iter().map(PathBuf::as_path))?;
    let directory = args.place.dir.as_deref();
    // A missing directory is created in its parent.
    let made_in = directory.map(|dir| match dir.symlink_metadata() {
        Ok(_) => dir,
        Err(_) => dir.parent().unwrap_or(dir),
    });
    bounds::admit(made_in)?;
    if args.fs.is_empty() && targets.is_empty() {
        let help = Some("name some, as in `--fs ext4,xfs,tmpfs`".to_owned());
        let message = "no file system is named";
        return Err(CliError::new(Exit::Usage, message, help));
    }
    let choices = match targets {
        [] => FileSystemChoice::read_all(&args.fs)?,
        targets => targets
            .iter()
            .map(|path| FileSystemChoice::of_path(path))
            .collect(),
    };
    let medium = LabMedium {
        kind: args.on.parse()?,
        size_bytes: args.image_size.0,
        overwrite_devices: args.overwrite_device.clone(),
    };
    let directory = args.place.dir.clone();
    let scale = args.scale.parse()?;
    let aging = args.age.as_deref();
    let aging = aging.map(|text| AgingOptions::of_all(text, seed, &choices));
    Ok(MatrixRequest {
        medium,
        directory: directory.unwrap_or_else(lab::default_directory),
        scale,
        host: None,
        aging: aging.transpose()?,
        choices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_options_are_not_taken_for_an_output_file() {
        for text in ["noatime", "data=ordered", "nouuid,relatime", "commit=5"] {
            assert!(are_mount_options(text), "{text}");
        }
        for text in ["results.html", "./noatime", "noatime.txt", "", "sync/x"] {
            assert!(!are_mount_options(text), "{text}");
        }
    }
}
