//! Headers and patterns of a job's blocks, in both directions.

use units::Bytes;

use super::{JobTable, differing};
use crate::flaw::ValueError;
use plan::job::{BlockCheck, ContentPattern, JobPlan, StreamPlan};

/// How a job verifies blocks; `None` for stamps and for jobs that do not verify.
pub(super) fn check(
    table: &JobTable,
    stream: &StreamPlan,
) -> Result<Option<BlockCheck>, ValueError> {
    let is_verified = table.verify == Some(true);
    if is_verified && table.pattern.is_some() && table.verify_with.is_none() {
        let message = "stamps would replace parts of the `pattern`";
        let help = "add `verify_with = \"pattern\"`";
        return Err(ValueError::new("pattern", message, help));
    }
    let Some(kind) = table.verify_with.filter(|_| is_verified) else {
        return Ok(None);
    };
    if kind.needs_pattern() && table.pattern.is_none() {
        let message = format!(
            "`verify_with = \"{}\"` needs a `pattern`",
            units::text_of(&kind)
        );
        return Err(ValueError::new("verify_with", message, "add a `pattern`"));
    }
    let unit_bytes = stream.checked_unit_bytes();
    let narrow = |key, value: Option<Bytes>| match value.map(|it| u32::try_from(it.0)) {
        None => Ok(None),
        Some(Ok(bytes)) => Ok(Some(bytes)),
        Some(Err(_)) => Err(ValueError::leave_out(key, format!("`{key}` is too large"))),
    };
    let interval_bytes = narrow("verify_interval", table.verify_interval)?.unwrap_or(unit_bytes);
    if !unit_bytes.is_multiple_of(interval_bytes.max(1)) {
        let message = format!(
            "`verify_interval` is {}, which does not divide all block sizes",
            Bytes(interval_bytes.into())
        );
        let help = format!("write `verify_interval = {unit_bytes}`");
        return Err(ValueError::new("verify_interval", message, help));
    }
    let check = BlockCheck {
        kind,
        interval_bytes,
        header_offset_bytes: narrow("verify_offset", table.verify_offset)?.unwrap_or(0),
    };
    let (key, help) = match table.verify_offset {
        Some(_) => ("verify_offset", "leave `verify_offset` out"),
        None => (
            "verify_with",
            "use larger blocks, or `verify_with = \"crc32c\"`",
        ),
    };
    match check.problem() {
        Some(problem) => Err(ValueError::new(key, problem, help)),
        None => Ok(Some(check)),
    }
}

/// Pattern of a job's blocks.
pub(super) fn pattern(table: &JobTable) -> Result<Option<ContentPattern>, ValueError> {
    let Some(text) = &table.pattern else {
        return Ok(None);
    };
    let interval = table.pattern_interval.map_or(0, |it| it.0);
    let pattern = ContentPattern {
        text: text.clone(),
        // Requests are much smaller than 4 GiB, so a longer interval has the same effect.
        interval_bytes: u32::try_from(interval).unwrap_or(u32::MAX),
    };
    match pattern.template() {
        Some(_) => Ok(Some(pattern)),
        None => {
            let message = "`pattern` is not pairs of hexadecimal digits and `%o`, at most 1 MiB";
            let help = "write a pattern such as `\"deadbeef%o\"`";
            Err(ValueError::new("pattern", message, help))
        }
    }
}

/// Writes the keys of both.
pub(super) fn put(plan: &JobPlan, table: &mut JobTable) {
    if let Some(check) = &plan.check {
        let unit_bytes = plan.stream.checked_unit_bytes();
        table.verify_with = Some(check.kind);
        table.verify_interval = differing(check.interval_bytes, unit_bytes).map(of);
        table.verify_offset = differing(check.header_offset_bytes, 0).map(of);
    }
    if let Some(pattern) = &plan.pattern {
        table.pattern = Some(pattern.text.clone());
        table.pattern_interval = differing(pattern.interval_bytes, 0).map(of);
    }
}

fn of(bytes: u32) -> Bytes {
    Bytes(bytes.into())
}
