//! Checks requests for guests before anything is created.

use std::path::Path;

use super::guest::{Host, check_guest_path};
use super::kernel::{Kernel, MEMORY_BYTES_MIN};
use crate::availability::{check_image, check_program};
use crate::catalog::{CreationMethod, LabFileSystem};
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::error::LabError;
use crate::medium::{LabMedium, MediumKind};

/// Refuses requests that are certain to fail in guests, before anything is created. Returns the
/// host for guests.
///
/// # Errors
/// If a program is missing, the guest does not support a file system, a file system cannot be on an
/// image, or space is too small.
pub fn check(
    choices: &[FileSystemChoice],
    medium: &LabMedium,
    directory: &Path,
    memory_bytes: u64,
) -> Result<Host, LabError> {
    if memory_bytes < MEMORY_BYTES_MIN {
        return Err(LabError::TooLittleMemory {
            bytes: memory_bytes,
            min_bytes: MEMORY_BYTES_MIN,
        });
    }
    check_guest_path(directory)?;
    let kernel = Kernel::find()?;
    // The disk of a guest is an image file, so it cannot use zram or a device of the host.
    if medium.kind != MediumKind::Loop {
        return Err(LabError::NotInGuest {
            what: format!("`--on {}`", medium.kind),
        });
    }
    for choice in choices {
        let entry = on_image(choice)?;
        check_program(entry)?;
        if !kernel.has(entry.types[0]) {
            return Err(LabError::UnsupportedByGuest {
                name: entry.name.to_owned(),
                release: kernel.release.clone(),
            });
        }
    }
    check_image(choices, medium, directory)?;
    Ok(Host {
        kernel,
        memory_bytes,
    })
}

/// `true` if guests of this kernel can use this file system here.
#[must_use]
pub fn can_run_in_guest(entry: &LabFileSystem, kernel: &Kernel) -> bool {
    entry.creation_method == CreationMethod::Device
        && check_program(entry).is_ok()
        && kernel.has(entry.types[0])
}

/// Catalog entry of a file system that can be created on an image for a guest.
fn on_image(choice: &FileSystemChoice) -> Result<&'static LabFileSystem, LabError> {
    match &choice.kind {
        ChoiceKind::Created { entry, .. } if entry.creation_method == CreationMethod::Device => {
            Ok(entry)
        }
        _ => Err(LabError::NotInGuest {
            what: choice.label.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_take_images_only() {
        let choices = FileSystemChoice::read_all(&["ext4,tmpfs,overlay".to_owned()]).unwrap();
        assert!(on_image(&choices[0]).is_ok());
        for choice in &choices[1..] {
            assert!(matches!(on_image(choice), Err(LabError::NotInGuest { .. })));
        }
    }
}
