//! What guests can have, before anything is made.

use std::path::Path;

use super::guest::{Host, nameable};
use super::kernel::{Kernel, MEMORY_BYTES_MIN};
use crate::availability::{check_image, check_program};
use crate::catalog::{Entry, Maker};
use crate::choice::{Choice, ChoiceKind};
use crate::error::LabError;
use crate::medium::{LabMedium, MediumKind};

/// Refuses what can be seen to fail in guests before anything is made; finds what runs them.
///
/// # Errors
/// A program that is not here, a file system that the guest does not have or that lies on no
/// image, too little space.
pub fn check(
    choices: &[Choice],
    medium: &LabMedium,
    directory: &Path,
    memory_bytes: u64,
) -> Result<Host, LabError> {
    if memory_bytes < MEMORY_BYTES_MIN {
        return Err(LabError::LittleMemory {
            bytes: memory_bytes,
            min_bytes: MEMORY_BYTES_MIN,
        });
    }
    nameable(directory)?;
    let kernel = Kernel::find()?;
    if medium.kind != MediumKind::Loop {
        return Err(LabError::NotInGuest {
            what: format!("`--on {}`", medium.kind),
        });
    }
    for choice in choices {
        let entry = on_image(choice)?;
        check_program(entry)?;
        if !kernel.has(entry.types[0]) {
            return Err(LabError::NoGuestKernel {
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

/// Whether guests of this kernel can have this file system here.
#[must_use]
pub fn can_make(entry: &Entry, kernel: &Kernel) -> bool {
    entry.maker == Maker::Device && check_program(entry).is_ok() && kernel.has(entry.types[0])
}

/// The entry of a file system that can be made on an image for a guest.
fn on_image(choice: &Choice) -> Result<&'static Entry, LabError> {
    match &choice.kind {
        ChoiceKind::Made { entry, .. } if entry.maker == Maker::Device => Ok(entry),
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
        let choices = Choice::read_all(&["ext4,tmpfs,overlay".to_owned()]).unwrap();
        assert!(on_image(&choices[0]).is_ok());
        for choice in &choices[1..] {
            assert!(matches!(on_image(choice), Err(LabError::NotInGuest { .. })));
        }
    }
}
