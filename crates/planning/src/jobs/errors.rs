//! Errors about files and targets of jobs.

use plan::Diagnostic;
use plan::job::JobFile;
use units::Bytes;

pub(super) fn missing_target(path: &str) -> Diagnostic {
    let message = format!("`{path}` does not exist on this machine");
    Diagnostic::error("", message).help("name a file or a device that exists")
}

pub(super) fn missing_size_error(job_name: &str) -> Diagnostic {
    let message = format!("the job `{}` has no size", plan::printable(job_name));
    Diagnostic::error("", message).help("add `size=1g`")
}

pub(super) fn too_short(path: &str, present: u64, wanted: u64) -> Diagnostic {
    let message = format!(
        "`{path}` has {}, and a job asks for {} of it",
        Bytes(present),
        Bytes(wanted)
    );
    Diagnostic::error("", message).help("use a smaller size")
}

/// The error that the part of a file is smaller than the largest block of the job.
pub(super) fn smaller_than_block(
    job_name: &str,
    path: &str,
    part: &JobFile,
    block_bytes: u64,
) -> Diagnostic {
    let (job_name, path) = (plan::printable(job_name), plan::printable(path));
    let place = match part.start_bytes {
        0 => String::new(),
        offset => format!(" from offset {}", Bytes(offset)),
    };
    let message = format!(
        "`{path}` has {}{place}, less than a block of the job `{job_name}`, {}",
        Bytes(part.size_bytes),
        Bytes(block_bytes)
    );
    Diagnostic::error("", message).help("use a smaller `bs` or a larger file")
}
