//! The peak of what file systems lie on: the same requests on the bare device.

use lab::Lab;
use results::RunRecord;
use units::Span;
use workload::model::OneOrMany;
use workload::plan::{CacheMode, EngineKind};
use workload::{Overrides, Workload, plan, wanted_targets};

use super::contest::Contest;
use super::measure::{Assignment, measure, tags};
use crate::failure::{Exit, Failure};

/// One request after the other, and as many as keep a device busy: the better counts.
const DEPTHS: [u32; 2] = [1, 16];

/// What a bare device was measured with.
pub(crate) struct Peak {
    pub record: RunRecord,
    /// What was measured, in words.
    pub described: String,
}

/// Measures the workloads on the bare device, before any file system is made on it; none where no
/// file system here lies on one, or where it was interrupted.
pub(crate) fn peak(contest: &Contest, repetitions: u32) -> Result<Option<Peak>, Failure> {
    let asked = contest.asked;
    let needs_device = asked.choices.iter().any(lab::Choice::needs_device);
    if !needs_device || asked.host.is_some() {
        return Ok(None);
    }
    contest.step("measure the bare device, to find its peak");
    let mut lab = Lab::begin(&asked.directory)?;
    let bare = lab.build_bare(&asked.ground)?;
    let described = format!(
        "the peak is that of the bare device ({}), measured before any file system was made: \
         direct I/O in the same chunks, the better of queue depths {} and {}",
        bare.ground, DEPTHS[0], DEPTHS[1]
    );
    let measured = match &bare.device {
        Some(device) => on_device(contest, lab.name(), (device, &described), repetitions),
        None => Err(Failure::bug()),
    };
    // Whatever became of the measurement, the device goes.
    lab.take_down(bare)?;
    lab.end()?;
    let record = measured?;
    let is_whole = record.status == results::Status::Complete;
    Ok(is_whole.then_some(Peak { record, described }))
}

fn on_device(
    contest: &Contest,
    lab_name: String,
    (device, described): (&std::path::Path, &str),
    repetitions: u32,
) -> Result<RunRecord, Failure> {
    let Some(path) = device.to_str() else {
        let message = format!("`{}` is not UTF-8 text", device.display());
        return Err(Failure::new(Exit::Usage, message, None));
    };
    let all = contest.entrants.iter().flat_map(|it| &it.workloads);
    let workloads: Vec<Workload> = all.filter_map(bare).collect();
    let mut overrides = Overrides::default();
    overrides.set_targets(vec![path.to_owned()]);
    overrides.set("repetitions", &repetitions.to_string())?;
    let wanted = wanted_targets(&workloads, &overrides);
    let facts = target::system_facts(&wanted, Some(path));
    let assignment = Assignment {
        planned: plan(&workloads, &overrides, &facts)?,
        notes: vec![described.to_owned()],
        tags: tags(lab_name),
        overwrite_devices: vec![device.to_owned()],
        is_stored: contest.stores,
        progress: &contest.progress,
        stdout: contest.stdout,
        stop: std::sync::Arc::clone(&contest.stop),
    };
    Ok(measure(assignment, contest.place)?.0)
}

/// So many bytes are moved at least, so that starting takes no share of the time.
const MOVED_BYTES_MIN: u64 = 256 << 20;

/// The workload on a bare device, gone through once or more often; none of what is not a file of
/// one size.
fn bare(workload: &Workload) -> Option<Workload> {
    let size = workload.size?.0;
    let line = workload.access_spec.first()?.line.first()?;
    let request = line.size?.0;
    Some(Workload {
        new_file: None,
        engine: Some(EngineKind::Psync),
        cache: Some(CacheMode::Direct),
        iodepth: Some(OneOrMany::Many(DEPTHS.into())),
        run_time: None,
        ramp_time: Some(Span(0)),
        operations: Some((size.max(MOVED_BYTES_MIN) / request.max(1)).max(1)),
        ..workload.clone()
    })
}
