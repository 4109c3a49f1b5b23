//! Verification of a job's blocks, and the pattern of its writes.

use plan::Diagnostic;
use plan::job::{BlockCheck, BlockCheckKind, ContentPattern, StreamPlan};

use super::super::jobs::{FioJob, JobSet};
use super::super::settings::FioSettings;
use super::super::source_line::SourceLine;
use super::super::values::{BytePattern, PatternPart};
use super::JobContext;
use super::files::name_work;
use crate::FileAccess;
use replay::common_divisor;

/// Verification and pattern of a job.
#[derive(Default)]
pub(super) struct JobBlocks {
    pub check: Option<BlockCheck>,
    pub pattern: Option<ContentPattern>,
}

/// Verification and pattern of a job with this stream.
///
/// # Errors
/// Blocks without room for fio's header, or a pattern that is missing or cannot be read.
pub(super) fn of(
    job: &FioJob,
    stream: &StreamPlan,
    context: &JobContext<'_>,
) -> Result<JobBlocks, Diagnostic> {
    let (settings, set) = (&*job.settings, context.set);
    if name_work(settings).is_some() {
        return Ok(JobBlocks::default());
    }
    let verify = &settings.verify;
    let check = match verify.kind() {
        Some(kind) => Some(check(job, set, stream, kind)?),
        None => None,
    };
    check_state(job, context)?;
    let own = verify.pattern.as_ref().filter(|_| check.is_some());
    if check.is_some_and(|it| it.kind.needs_pattern()) && own.is_none() {
        let location = set.place_of(job, "verify");
        let error = location.error("`verify` compares blocks with a pattern, and there is none");
        return Err(error.help("add `verify_pattern`"));
    }
    let (written, option) = match own {
        Some(pattern) => (Some(pattern), "verify_pattern"),
        None => (settings.content.pattern.as_ref(), "buffer_pattern"),
    };
    let is_used = stream.writes() || own.is_some();
    let Some(pattern) = written.filter(|_| is_used) else {
        return Ok(JobBlocks {
            check,
            pattern: None,
        });
    };
    let pattern = ContentPattern {
        text: text(pattern, set.place_of(job, option), context.access)?,
        interval_bytes: match own {
            Some(_) => verify.pattern_interval_bytes,
            None => 0,
        },
    };
    Ok(JobBlocks {
        check,
        pattern: Some(pattern),
    })
}

/// Checks that there is no state of an interrupted run of fio, which limits what can be verified.
fn check_state(job: &FioJob, context: &JobContext<'_>) -> Result<(), Diagnostic> {
    let number = job.number.saturating_sub(1);
    let file = format!("local-{}-{number}-verify.state", job.name);
    if !job.settings.verify.loads_state || context.access.size_bytes(&file).is_none() {
        return Ok(());
    }
    let location = context.set.place_of(job, "verify_state_load");
    let file = plan::printable(&file);
    let error = location.error(format!("the state in `{file}` is not supported"));
    Err(error.help("leave `verify_state_load` out to verify everything"))
}

fn check(
    job: &FioJob,
    set: &JobSet,
    stream: &StreamPlan,
    kind: BlockCheckKind,
) -> Result<BlockCheck, Diagnostic> {
    let settings = &*job.settings;
    let mut interval_bytes = interval(settings);
    let unit_bytes = u64::from(stream.checked_unit_bytes());
    // Offsets between intervals would overlap, and a later header would cover earlier data.
    let align = match stream.mix.writes() {
        true => stream.blocks.write.align_bytes,
        false => stream.blocks.read.align_bytes,
    };
    interval_bytes = common_divisor(interval_bytes, unit_bytes);
    if settings.access.is_random {
        interval_bytes = common_divisor(interval_bytes, align.into());
    }
    let check = BlockCheck {
        kind,
        interval_bytes: u32::try_from(interval_bytes).unwrap_or(u32::MAX),
        header_offset_bytes: u32::try_from(settings.verify.offset_bytes).unwrap_or(u32::MAX),
    };
    let Some(problem) = check.problem() else {
        return Ok(check);
    };
    let (option, help) = match settings.verify.offset_bytes {
        0 if settings.blocks.is_unaligned => ("bs_unaligned", "leave `bs_unaligned` out"),
        0 => ("verify", "use larger blocks, or `verify=crc32c`"),
        _ => (
            "verify_offset",
            "use a smaller `verify_offset`, or leave it out",
        ),
    };
    Err(set.place_of(job, option).error(problem).help(help))
}

/// The number of bytes that a header covers, as fio chooses it.
fn interval(settings: &FioSettings) -> u64 {
    let sizes = settings.blocks.sizes();
    let (least, most) = (sizes.write.min(), sizes.write.max());
    let mut interval = match settings.verify.interval_bytes {
        0 if least != most => least,
        interval => interval,
    };
    if interval > least {
        interval = least;
    } else if settings.access.reads() && interval > sizes.read.min() {
        interval = sizes.read.min();
    }
    match interval > 0 && least.is_multiple_of(interval) && most.is_multiple_of(interval) {
        true => interval,
        false => common_divisor(least, most),
    }
}

/// The pattern in hexadecimal digits, with the contents of its files.
fn text(
    pattern: &BytePattern,
    location: &SourceLine,
    access: FileAccess<'_>,
) -> Result<String, Diagnostic> {
    let mut text = String::new();
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|it| format!("{it:02x}")).collect() };
    for part in &pattern.0 {
        match part {
            PatternPart::Bytes(bytes) => text.push_str(&hex(bytes)),
            PatternPart::Offset => text.push_str("%o"),
            PatternPart::File(name) => {
                let bytes = access.read(name).map_err(|reason| {
                    let name = plan::printable(name);
                    let message = format!("the pattern `{name}` cannot be read: {reason}");
                    location.error(message).help("check the name of the file")
                })?;
                text.push_str(&hex(&bytes));
            }
        }
    }
    let pattern = ContentPattern {
        text,
        interval_bytes: 0,
    };
    match pattern.template() {
        Some(_) => Ok(pattern.text),
        None => {
            let error = location.error("the pattern is empty or longer than 1 MiB");
            Err(error.help("use a shorter pattern"))
        }
    }
}
