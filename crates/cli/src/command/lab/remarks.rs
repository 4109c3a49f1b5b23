//! Texts about labs: general conditions, failures and notes.

use lab::vm::Host;
use lab::{
    AgedState, AgingOptions, AgingShortfall, FileSystemChoice, FileSystemSetup, FullnessShortfall,
    JobShortfall, LabFailure, LabMatrix, LabMeasurement, LabNote, LabWorkload, MatrixOutcome,
    MatrixRequest, MediumKind, MountSetup,
};
use units::Bytes;

/// Returns the conditions that apply to all results.
pub(crate) fn remarks(request: &MatrixRequest) -> Vec<String> {
    let scale = (!request.scale.is_full()).then(|| {
        format!(
            "scale {}: files, bytes and times of every workload are multiplied by {} (file pools \
             by its square root), down to a minimum",
            request.scale, request.scale
        )
    });
    let aged = request.aging.as_ref().map(describe_aging);
    let made_on = match &request.host {
        Some(host) => Some(describe_guests(host)),
        None => request.needs_device().then(|| on(&request.medium.kind)),
    };
    scale.into_iter().chain(made_on).chain(aged).collect()
}

fn on(medium: &MediumKind) -> String {
    match medium {
        MediumKind::Loop => {
            "each on a loop device with direct I/O on a preallocated image, one at \
                             a time"
                .to_owned()
        }
        MediumKind::Zram => {
            "each on a zram device, one at a time: compressed memory, so this measures \
             the CPU rather than a disk"
                .to_owned()
        }
        MediumKind::Device(path) => format!("each on `{}`, one at a time", path.display()),
    }
}

/// Describes how file systems were aged.
fn describe_aging(aging: &AgingOptions) -> String {
    format!(
        "each filled to {} first and then aged by writing {} times that much (`--age {aging} \
         --seed {}`)",
        aging.fullness, aging.churn, aging.seed
    )
}

/// Describes how results from guests can be used.
fn describe_guests(host: &Host) -> String {
    format!(
        "each on an image in User-mode Linux {} with {} of memory, one at a time: counts and bytes \
         are valid, times are not",
        host.kernel.release,
        Bytes(host.memory_bytes)
    )
}

/// Returns the note of a run on an aged file system.
pub(super) fn aging_note(aging: &AgingOptions, aged: &AgedState) -> String {
    format!("aged (`--age {aging} --seed {}`): {aged}", aging.seed)
}

/// Describes the medium of a file system, and how it was created and mounted.
pub(crate) fn built_as(built: &FileSystemSetup) -> String {
    let in_memory = built.in_memory.iter();
    let in_memory = in_memory.map(|layers| format!("in memory: {layers}"));
    let created = built.mkfs.iter().map(|it| format!("made by `{it}`"));
    let mounted = built.mount.iter().map(describe_mount);
    let medium = std::iter::once(built.medium.clone());
    let parts: Vec<String> = medium
        .chain(in_memory)
        .chain(created)
        .chain(mounted)
        .collect();
    parts.join("; ")
}

fn describe_mount(mount: &MountSetup) -> String {
    let MountSetup {
        file_system,
        options,
    } = mount;
    match file_system {
        Some(file_system) => format!("mounted as {file_system} with `{options}`"),
        None => format!("mounted with `{options}`"),
    }
}

/// Names the file system and the workload of a job.
pub(super) fn name_of(
    job: &LabMeasurement,
    choices: &[FileSystemChoice],
    workloads: &[LabWorkload],
) -> String {
    let label = &choices[job.choice_index].label;
    format!("{label}: {}", workloads[job.workload_index].name)
}

/// Describes a failure.
pub(super) fn alarm(alarm: &LabFailure, choices: &[FileSystemChoice]) -> String {
    match alarm {
        LabFailure::FileSystem {
            choice_index,
            reason,
        } => format!("{}: {reason}", choices[*choice_index].label),
        LabFailure::NotRemoved(reason) => reason.clone(),
    }
}

/// Describes all failures of a matrix, and jobs that did less work than the others.
pub(crate) fn alarms(matrix: &LabMatrix, outcome: &MatrixOutcome) -> Vec<String> {
    let choices = &matrix.request.choices;
    let failed = outcome.failures.iter().map(|it| alarm(it, choices));
    let shortfalls = outcome.shortfalls().into_iter();
    let short = shortfalls.map(|(job, shortfall)| {
        let label = &choices[job.choice_index].label;
        let name = &matrix.workloads[job.workload_index].name;
        let job = format!("{name}, repetition {}", job.repetition + 1);
        match shortfall {
            JobShortfall::Failures { count, kinds } => {
                let kinds = kinds.join(", ");
                format!("{label}: {count} operations of {job}, failed ({kinds})")
            }
            JobShortfall::Depleted(how) => format!("{label}: {job}: {how}"),
        }
    });
    failed.chain(short).collect()
}

/// Describes notes of a lab.
pub(super) fn notes(
    notes: &[LabNote],
    choices: &[FileSystemChoice],
    workloads: &[LabWorkload],
) -> Vec<String> {
    let note = |note: &LabNote| match note {
        LabNote::Interrupted(job) => {
            let name = name_of(job, choices, workloads);
            format!("{name} was interrupted and is left out")
        }
        LabNote::FileSystem { choice_index, note } => {
            format!("{}: {note}", choices[*choice_index].label)
        }
        LabNote::Age {
            choice_index,
            shortfall,
        } => format!(
            "{}: {}",
            choices[*choice_index].label,
            describe_shortfall(shortfall)
        ),
    };
    notes.iter().map(note).collect()
}

/// Describes notes of a matrix and its workloads.
pub(crate) fn notes_of(matrix: &LabMatrix, outcome: &MatrixOutcome) -> Vec<String> {
    let workloads = matrix.workloads.iter();
    let mut all: Vec<String> = workloads.flat_map(|it| notes_on(it, matrix)).collect();
    all.extend(notes(
        &outcome.notes,
        &matrix.request.choices,
        &matrix.workloads,
    ));
    all
}

fn notes_on(workload: &LabWorkload, matrix: &LabMatrix) -> Vec<String> {
    let misfit = workload.misaligned_block_bytes.map(|block_bytes| {
        format!(
            "{}: direct I/O on {} needs blocks of {block_bytes} bytes, which its requests do not \
             fit, so it went through the page cache on all file systems",
            workload.name, matrix.request.medium.kind
        )
    });
    workload.remarks.iter().cloned().chain(misfit).collect()
}

/// Describes a goal of aging that was not reached.
fn describe_shortfall(shortfall: &AgingShortfall) -> String {
    match shortfall {
        AgingShortfall::Fullness { wanted, why } => {
            let why = match why {
                FullnessShortfall::FullerWhenNew => "it is already fuller than that when new",
                FullnessShortfall::Unstable => "its reported free space keeps changing",
                FullnessShortfall::NoSpace => "there was no room for more",
            };
            format!("{wanted} full was requested but not reached: {why}")
        }
        AgingShortfall::ExtentsUnknown => "does not report the extents of its files".to_owned(),
        AgingShortfall::Extents { wanted } => {
            format!("{wanted} extents per file could not be reached")
        }
    }
}
