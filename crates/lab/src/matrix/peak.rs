//! Peak of the storage under the file systems: the same requests on the bare device.

use std::path::Path;

use description::model::OneOrMany;
use description::{Overrides, Workload};
use plan::{CacheMode, EngineKind};
use results::{RunRecord, Status};
use units::Span;

use super::LabMatrix;
use super::run::planned;
use super::runner::{LabRunRequest, LabRunner, RunSubject};
use crate::bench::Lab;
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::error::LabError;
use crate::watch::{LabEvent, LabStep};

/// Queue depths: one request at a time, and enough to keep a device busy. The better result counts.
pub const PEAK_DEPTHS: [u32; 2] = [1, 16];
/// Minimum number of bytes moved, so that the startup time is negligible.
const MOVED_BYTES_MIN: u64 = 256 << 20;

/// Results on a bare device.
#[derive(Debug)]
pub struct DevicePeak {
    /// Record of the run.
    pub record: RunRecord,
    /// Description of the device.
    pub medium: String,
}

impl LabMatrix {
    /// Measures the workloads on the bare device, before any file system is created on it. `None`
    /// if no file system uses one, or the measurement was interrupted.
    ///
    /// # Errors
    /// If there is no such device, or it cannot be measured.
    pub fn measure_device_peak<R: LabRunner>(
        &self,
        repetitions: u32,
        runner: &R,
    ) -> Result<Option<DevicePeak>, R::Error> {
        let request = &self.request;
        // Guests see an image of the host's file system, so there is no bare device to compare.
        if !request.needs_device() || request.host.is_some() {
            return Ok(None);
        }
        runner.on_event(LabEvent::Step(LabStep::MeasureDevice));
        let mut lab = Lab::begin(&request.directory)?;
        let bare = lab.build_bare(&request.medium)?;
        let medium = bare.medium.clone();
        let measured = match &bare.device {
            Some(device) => {
                self.measure_bare_device(&lab.name(), (device, &medium), repetitions, runner)
            }
            None => Err(LabError::NoMedium {
                medium: request.medium.kind.to_string(),
            }
            .into()),
        };
        // The device is removed even if the measurement failed.
        lab.tear_down(bare)?;
        lab.end()?;
        let record = measured?;
        let is_whole = record.status == Status::Complete;
        Ok(is_whole.then_some(DevicePeak { record, medium }))
    }

    /// Measures the workloads on each existing directory with direct I/O, in the order of the
    /// choices. `None` if its file system does not support direct I/O.
    ///
    /// # Errors
    /// If a directory cannot be measured.
    pub fn measure_target_peaks<R: LabRunner>(
        &self,
        repetitions: u32,
        runner: &R,
    ) -> Result<Vec<Option<RunRecord>>, R::Error> {
        let peak_of = |choice: &FileSystemChoice| match &choice.kind {
            ChoiceKind::Path(path) if self.request.host.is_none() => {
                runner.on_event(LabEvent::Step(LabStep::MeasurePeak));
                let (workloads, overrides) = self.peak_workloads(path, repetitions)?;
                let text = path.to_string_lossy();
                let Ok(planned) = planned((&workloads, &overrides), &text) else {
                    return Ok(None);
                };
                let order = LabRunRequest {
                    planned,
                    workloads: &workloads,
                    overrides: &overrides,
                    subject: RunSubject::Peak(&choice.label),
                    lab_name: "peak",
                    overwrite_devices: Vec::new(),
                };
                let record = runner.measure(order, &mut |_| {})?;
                Ok(Some(record).filter(|it| it.status == Status::Complete))
            }
            _ => Ok(None),
        };
        self.request.choices.iter().map(peak_of).collect()
    }

    /// The workloads, adapted to measure a peak.
    fn peak_workloads(
        &self,
        path: &Path,
        repetitions: u32,
    ) -> Result<(Vec<Workload>, Overrides), LabError> {
        let Some(text) = path.to_str() else {
            let path = path.to_owned();
            return Err(LabError::NotUtf8 { path });
        };
        let all = self.workloads.iter().flat_map(|it| &it.workloads);
        let mut overrides = Overrides::default();
        overrides.set_targets(vec![text.to_owned()]);
        overrides.set("repetitions", &repetitions.to_string())?;
        Ok((all.filter_map(on_device).collect(), overrides))
    }

    fn measure_bare_device<R: LabRunner>(
        &self,
        lab_name: &str,
        (device, medium): (&Path, &str),
        repetitions: u32,
        runner: &R,
    ) -> Result<RunRecord, R::Error> {
        let (workloads, overrides) = self.peak_workloads(device, repetitions)?;
        let path = device.to_string_lossy();
        let order = LabRunRequest {
            planned: planned((&workloads, &overrides), &path)?,
            workloads: &workloads,
            overrides: &overrides,
            subject: RunSubject::BareDevice(medium),
            lab_name,
            overwrite_devices: vec![device.to_owned()],
        };
        runner.measure(order, &mut |_| {})
    }
}

/// The workload for a bare device, which reads or writes the size at least once. `None` unless the
/// workload is a file of one size.
fn on_device(workload: &Workload) -> Option<Workload> {
    let size = workload.size?.0;
    let line = workload.access_spec.first()?.line.first()?;
    let request = line.size?.0;
    Some(Workload {
        new_file: None,
        engine: Some(EngineKind::Psync),
        // The peak of the storage must not include the page cache.
        cache: Some(CacheMode::Direct),
        iodepth: Some(OneOrMany::Many(PEAK_DEPTHS.into())),
        run_time: None,
        ramp_time: Some(Span(0)),
        operations: Some((size.max(MOVED_BYTES_MIN) / request.max(1)).max(1)),
        ..workload.clone()
    })
}

#[cfg(test)]
mod tests {
    use description::model::{AccessLine, AccessSpec};
    use units::Bytes;

    use super::*;

    fn of_size(size_bytes: u64, request_bytes: u64) -> Workload {
        let line = AccessLine {
            size: Some(Bytes(request_bytes)),
            ..AccessLine::default()
        };
        Workload {
            size: Some(Bytes(size_bytes)),
            new_file: Some(true),
            access_spec: vec![AccessSpec {
                line: vec![line],
                ..AccessSpec::default()
            }],
            ..Workload::default()
        }
    }

    #[test]
    fn a_device_gets_the_operations_of_the_file_but_at_least_a_minimum() {
        let on = on_device(&of_size(1 << 30, 1 << 20)).unwrap();
        assert_eq!((on.operations, on.new_file), (Some(1024), None));
        assert_eq!(on.cache, Some(CacheMode::Direct));
        let small = on_device(&of_size(1 << 20, 1 << 20)).unwrap();
        assert_eq!(small.operations, Some(256));
    }

    #[test]
    fn only_single_file_workloads_have_a_peak() {
        let no_size = Workload {
            size: None,
            ..of_size(1, 1)
        };
        assert_eq!(on_device(&no_size), None);
        assert_eq!(on_device(&Workload::default()), None);
    }
}
