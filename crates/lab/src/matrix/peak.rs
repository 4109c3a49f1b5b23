//! The peak of what file systems lie on: the same requests on the bare device.

use std::path::Path;

use description::model::OneOrMany;
use description::{Overrides, Workload};
use plan::{CacheMode, EngineKind};
use results::{RunRecord, Status};
use units::Span;

use super::LabMatrix;
use super::run::planned;
use super::runner::{LabRunner, RunOrder, RunSubject};
use crate::bench::Lab;
use crate::choice::{Choice, ChoiceKind};
use crate::error::LabError;
use crate::watch::{LabEvent, LabStep};

/// One request after the other, and as many as keep a device busy: the better counts.
pub const PEAK_DEPTHS: [u32; 2] = [1, 16];
/// So many bytes are moved at least, so that starting takes no share of the time.
const MOVED_BYTES_MIN: u64 = 256 << 20;

/// What a bare device was measured with.
#[derive(Debug)]
pub struct DevicePeak {
    /// The run.
    pub record: RunRecord,
    /// What the device is, in words.
    pub medium: String,
}

impl LabMatrix {
    /// Measures the workloads on the bare device, before any file system is made on it; none where
    /// no file system here lies on one, or where it was interrupted.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be measured.
    pub fn device_peak<R: LabRunner>(
        &self,
        repetitions: u32,
        runner: &R,
    ) -> Result<Option<DevicePeak>, R::Error> {
        let request = &self.request;
        if !request.needs_device() || request.host.is_some() {
            return Ok(None);
        }
        runner.hear(LabEvent::Step(LabStep::MeasureDevice));
        let mut lab = Lab::begin(&request.directory)?;
        let bare = lab.build_bare(&request.medium)?;
        let medium = bare.medium.clone();
        let measured = match &bare.device {
            Some(device) => self.on_bare(&lab.name(), (device, &medium), repetitions, runner),
            None => Err(LabError::NoMedium {
                medium: request.medium.kind.to_string(),
            }
            .into()),
        };
        // Whatever became of the measurement, the device goes.
        lab.take_down(bare)?;
        lab.end()?;
        let record = measured?;
        let is_whole = record.status == Status::Complete;
        Ok(is_whole.then_some(DevicePeak { record, medium }))
    }

    /// Measures the workloads on each directory that is there, past the page cache; none where its
    /// file system does not take that. The first is that of the first choice.
    ///
    /// # Errors
    /// When one cannot be measured.
    pub fn target_peaks<R: LabRunner>(
        &self,
        repetitions: u32,
        runner: &R,
    ) -> Result<Vec<Option<RunRecord>>, R::Error> {
        let of_choice = |choice: &Choice| match &choice.kind {
            ChoiceKind::Path(path) if self.request.host.is_none() => {
                runner.hear(LabEvent::Step(LabStep::MeasurePeak));
                let (workloads, overrides) = self.on_path(path, repetitions)?;
                let text = path.to_string_lossy();
                let Ok(planned) = planned((&workloads, &overrides), &text) else {
                    return Ok(None);
                };
                let order = RunOrder {
                    planned,
                    workloads: &workloads,
                    overrides: &overrides,
                    subject: RunSubject::PeakOf(&choice.label),
                    lab_name: "peak",
                    overwrite_devices: Vec::new(),
                };
                let record = runner.measure(order, &mut |_| {})?;
                Ok(Some(record).filter(|it| it.status == Status::Complete))
            }
            _ => Ok(None),
        };
        self.request.choices.iter().map(of_choice).collect()
    }

    /// The workloads as they are done to learn a peak.
    fn on_path(
        &self,
        path: &Path,
        repetitions: u32,
    ) -> Result<(Vec<Workload>, Overrides), LabError> {
        let Some(text) = path.to_str() else {
            let path = path.to_owned();
            return Err(LabError::NotText { path });
        };
        let all = self.workloads.iter().flat_map(|it| &it.workloads);
        let mut overrides = Overrides::default();
        overrides.set_targets(vec![text.to_owned()]);
        overrides.set("repetitions", &repetitions.to_string())?;
        Ok((all.filter_map(on_device).collect(), overrides))
    }

    fn on_bare<R: LabRunner>(
        &self,
        lab_name: &str,
        (device, medium): (&Path, &str),
        repetitions: u32,
        runner: &R,
    ) -> Result<RunRecord, R::Error> {
        let (workloads, overrides) = self.on_path(device, repetitions)?;
        let path = device.to_string_lossy();
        let order = RunOrder {
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

/// The workload on a bare device, gone through once or more often; none of what is not a file of
/// one size.
fn on_device(workload: &Workload) -> Option<Workload> {
    let size = workload.size?.0;
    let line = workload.access_spec.first()?.line.first()?;
    let request = line.size?.0;
    Some(Workload {
        new_file: None,
        engine: Some(EngineKind::Psync),
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
    fn a_device_is_gone_through_as_the_file_is_and_at_least_for_a_while() {
        let on = on_device(&of_size(1 << 30, 1 << 20)).unwrap();
        assert_eq!((on.operations, on.new_file), (Some(1024), None));
        assert_eq!(on.cache, Some(CacheMode::Direct));
        let small = on_device(&of_size(1 << 20, 1 << 20)).unwrap();
        assert_eq!(small.operations, Some(256));
    }

    #[test]
    fn what_is_not_one_file_has_no_peak() {
        let no_size = Workload {
            size: None,
            ..of_size(1, 1)
        };
        assert_eq!(on_device(&no_size), None);
        assert_eq!(on_device(&Workload::default()), None);
    }
}
