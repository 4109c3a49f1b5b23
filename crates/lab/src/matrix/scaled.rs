//! Workloads of a matrix: scaled, and planned before anything is created.

use description::{Overrides, Workload};
use plan::Diagnostic;
use plan::TargetKind;
use plan::facts::{SystemFacts, TargetFacts};
use planning::plan;

use super::request::MatrixRequest;
use crate::error::LabError;

/// Stands for the mount point before it exists.
const MOUNT_PLACEHOLDER: &str = "/pgmeter-lab";

/// A workload of a matrix. All of its parts run on one file system, one after another.
#[derive(Debug, Clone)]
pub struct LabWorkload {
    /// Name given by the user.
    pub name: String,
    /// Parts of the workload.
    pub workloads: Vec<Workload>,
    /// Options that change them.
    pub overrides: Overrides,
    /// Remarks from reading it.
    pub remarks: Vec<String>,
    /// Block size of the medium in bytes, if the requests are not multiples of it. The workload
    /// then uses the page cache on all file systems.
    pub misaligned_block_bytes: Option<u32>,
}

impl LabWorkload {
    /// Scales the workload and plans it for a file system that does not exist yet. Requests that do
    /// not fit the medium's direct I/O use the page cache, on all file systems alike, unless
    /// `is_cache_chosen`.
    ///
    /// # Errors
    /// If it cannot be planned.
    pub fn fit_to(
        mut self,
        request: &MatrixRequest,
        is_cache_chosen: bool,
    ) -> Result<Self, LabError> {
        let scaled = self.workloads.iter().map(|it| request.scale.applied(it));
        self.workloads = scaled.collect();
        if request.choices.iter().any(|it| it.entry().is_some()) {
            self.rehearse(request, is_cache_chosen)?;
        }
        Ok(self)
    }

    fn rehearse(&mut self, request: &MatrixRequest, is_cache_chosen: bool) -> Result<(), LabError> {
        let block_bytes = match request.needs_device() {
            true => request.medium.kind.block_bytes(),
            false => 512,
        };
        let facts_for = |share: f64| facts(request.medium.size_bytes, share, block_bytes);
        let facts = facts_for(request.free_share());
        // The plan needs a target, but the file systems do not exist yet.
        self.overrides
            .set_targets(vec![MOUNT_PLACEHOLDER.to_owned()]);
        let Err(refused) = plan(&self.workloads, &self.overrides, &facts) else {
            return Ok(());
        };
        if let Some(aging) = &request.aging
            // If it fits on an empty file system, the age is the cause, and the advice is another
            // one.
            && plan(&self.workloads, &self.overrides, &facts_for(1.0)).is_ok()
        {
            return Err(LabError::TooFull {
                fullness: aging.fullness,
                reason: without_placeholder(&refused),
            });
        }
        // With 512 bytes, direct I/O cannot be the reason for the refusal.
        if is_cache_chosen || block_bytes <= 512 {
            return Err(refused.into());
        }
        let direct = self.overrides.clone();
        self.overrides.set("cache", "buffered")?;
        // The first error is the one to report, since the page cache does not help.
        if plan(&self.workloads, &self.overrides, &facts).is_err() {
            self.overrides = direct;
            return Err(refused.into());
        }
        self.misaligned_block_bytes = Some(block_bytes);
        Ok(())
    }
}

/// The error message without the placeholder for the mount point.
fn without_placeholder(refused: &Diagnostic) -> String {
    refused
        .message
        .replace(&format!(" on `{MOUNT_PLACEHOLDER}`"), "")
}

/// A new file system with this size and share of free space.
fn facts(size_bytes: u64, free_share: f64, block_bytes: u32) -> SystemFacts {
    // A file system needs about a tenth of the space for itself.
    let free_bytes = (size_bytes as f64 * 0.9 * free_share) as u64;
    let target = TargetFacts {
        exists: true,
        free_bytes,
        total_bytes: size_bytes,
        direct_alignment_bytes: block_bytes,
        block_bytes,
        device_id: Some(0),
        ..TargetFacts::placeholder(MOUNT_PLACEHOLDER, TargetKind::Directory)
    };
    SystemFacts {
        targets: vec![target.clone()],
        default_target: Some(target),
        ..storage::system_facts(&[], None)
    }
}

#[cfg(test)]
mod tests {
    use description::load_builtin;
    use units::Bytes;

    use super::*;
    use crate::choice::FileSystemChoice;
    use crate::medium::{LabMedium, MediumKind};
    use crate::scale::LabScale;

    fn request(list: &str, kind: MediumKind) -> MatrixRequest {
        MatrixRequest {
            choices: FileSystemChoice::read_all(&[list.to_owned()]).unwrap(),
            medium: LabMedium {
                kind,
                size_bytes: 4 << 30,
                overwrite_devices: Vec::new(),
            },
            directory: "/".into(),
            scale: LabScale::FULL,
            host: None,
            aging: None,
        }
    }

    fn read(name: &str) -> LabWorkload {
        LabWorkload {
            name: name.to_owned(),
            workloads: load_builtin(name).unwrap(),
            overrides: Overrides::default(),
            remarks: Vec::new(),
            misaligned_block_bytes: None,
        }
    }

    #[test]
    fn a_workload_is_scaled_once() {
        let mut request = request("ext4", MediumKind::Loop);
        request.scale = "0.5".parse().unwrap();
        let fitted = read("file-server").fit_to(&request, false).unwrap();
        assert_eq!(fitted.workloads[0].size, Some(Bytes(512 << 20)));
        assert_eq!(fitted.misaligned_block_bytes, None);
    }

    #[test]
    fn requests_below_the_medium_block_size_use_the_page_cache_by_default() {
        let request = request("ext4", MediumKind::Zram);
        let fitted = read("file-server").fit_to(&request, false).unwrap();
        assert_eq!(fitted.misaligned_block_bytes, Some(4096));
        let refused = read("file-server").fit_to(&request, true).unwrap_err();
        assert!(matches!(refused, LabError::Plan(_)), "{refused}");
    }

    #[test]
    fn a_workload_that_fits_only_without_aging_is_too_full() {
        let mut request = request("ext4", MediumKind::Loop);
        let mut workload = read("create-remove");
        workload.overrides.set("count", "20000").unwrap();
        request.medium.size_bytes = 2 << 30;
        workload.clone().fit_to(&request, false).unwrap();
        request.aging = Some("90%".parse().unwrap());
        let refused = workload.clone().fit_to(&request, false).unwrap_err();
        let LabError::TooFull { reason, .. } = &refused else {
            panic!("{refused}");
        };
        assert!(!reason.contains(MOUNT_PLACEHOLDER), "{reason}");
        request.medium.size_bytes = 256 << 20;
        let refused = workload.fit_to(&request, false).unwrap_err();
        assert!(matches!(refused, LabError::Plan(_)), "{refused}");
    }

    #[test]
    fn an_existing_path_is_not_checked_for_room() {
        let mut request = request("path:/", MediumKind::Loop);
        request.medium.size_bytes = 0;
        read("file-server").fit_to(&request, false).unwrap();
    }
}
