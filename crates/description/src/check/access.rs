//! Access specifications: names, shares and sizes.

use std::collections::HashSet;

use units::{Bytes, Percent};

use crate::model::{
    AccessLine, AccessSpec, DistributionChoice, IDLE, SequenceChoice, Workload, ZoneChoice,
};
use crate::nearest::nearest;

use crate::flaw::ValueError;

/// Maximum size of a request in bytes: a ring registers no larger buffer.
///
/// Source: `io_sqe_buffer_register` of Linux, 1 GiB.
pub const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// Largest skew of `zipf`: with more, almost all requests go to one offset.
const ZIPF_MAX: f64 = 100.0;

/// Largest distance of a sum of shares from 100: the rounding error of adding decimal fractions.
pub(crate) const SHARE_ERROR_MAX: f64 = 1e-6;

pub(crate) fn check(workload: &Workload) -> Result<(), ValueError> {
    let mut names = HashSet::new();
    for (index, spec) in workload.access_spec.iter().enumerate() {
        check_name(spec, &mut names)
            .and_then(|()| check_spec(spec))
            .map_err(|flaw| flaw.within("access_spec", index))?;
    }
    for (index, worker) in workload.worker.iter().enumerate() {
        let assigned = worker.access_specs.iter().flatten();
        for name in assigned {
            known(name, workload, &names).map_err(|flaw| flaw.within("worker", index))?;
        }
    }
    Ok(())
}

fn check_name(spec: &AccessSpec, names: &mut HashSet<String>) -> Result<(), ValueError> {
    let name = label(spec);
    // Iometer ignores case in these names; the later one of two would replace the other.
    if names.insert(name.to_lowercase()) {
        return Ok(());
    }
    let message = format!("two access specifications are named `{name}`");
    Err(ValueError::new("name", message, "give each its own `name`"))
}

/// Checks that a worker names an access specification of the file.
fn known(name: &str, workload: &Workload, names: &HashSet<String>) -> Result<(), ValueError> {
    // A part may get its specifications from the pack or from `use`.
    let is_external = workload.access_spec.is_empty();
    if is_external || is_idle(name) || names.contains(&name.to_lowercase()) {
        return Ok(());
    }
    let message = format!("there is no access specification `{name}`");
    let help = match nearest(name, workload.access_spec.iter().map(label)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add an `[[access_spec]]` named `{name}`"),
    };
    Err(ValueError::new("access_specs", message, help))
}

/// Whether the name stands for no I/O.
pub fn is_idle(name: &str) -> bool {
    name.eq_ignore_ascii_case(IDLE)
}

/// Name for messages.
fn label(spec: &AccessSpec) -> &str {
    spec.name.as_deref().unwrap_or("access_spec")
}

fn check_spec(spec: &AccessSpec) -> Result<(), ValueError> {
    // Iometer has this specification built in, and no lines of it are used.
    if is_idle(label(spec)) {
        return Ok(());
    }
    if spec.line.is_empty() {
        let message = format!("`{}` has no access lines", label(spec));
        return Err(ValueError::new(
            "line",
            message,
            "add an `[[access_spec.line]]` with a `size`",
        ));
    }
    for (index, line) in spec.line.iter().enumerate() {
        check_line(line).map_err(|flaw| flaw.within("line", index))?;
    }
    let sum: f64 = spec.line.iter().map(of_size).sum();
    if (sum - 100.0).abs() > SHARE_ERROR_MAX {
        let message = format!(
            "access lines of `{}` add up to {} %, not 100 %",
            label(spec),
            rounded(sum)
        );
        return Err(ValueError::new(
            "line",
            message,
            "change `of_size` of a line",
        ));
    }
    Ok(())
}

/// The line's share in percent; 100 if it is not written.
pub fn of_size(line: &AccessLine) -> f64 {
    line.of_size.map_or(100.0, |percent| percent.0)
}

/// Formats a number of any magnitude in a few characters.
fn in_short(value: f64) -> String {
    match value.abs() {
        // `Display` never uses exponents: 1e300 would have 301 digits.
        0.001..1e9 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// Removes the rounding error of adding decimal fractions.
pub(crate) fn rounded(sum: f64) -> f64 {
    (sum * 1e6).round() / 1e6
}

fn check_line(line: &AccessLine) -> Result<(), ValueError> {
    for (key, value) in [
        ("of_size", line.of_size),
        ("read", line.read),
        ("random", line.random),
    ] {
        percent(key, value)?;
    }
    let Some(size) = line.size else {
        return Err(ValueError::new(
            "line",
            "the access line has no `size`",
            "add `size = \"4k\"`",
        ));
    };
    // Many Iometer files have unused lines of size 0, which are kept for converting back.
    if size.0 == 0 && of_size(line) > 0.0 {
        let message = format!("`size` is 0 in a line with {} %", rounded(of_size(line)));
        return Err(ValueError::new(
            "size",
            message,
            "write `of_size = 0` to keep the line unused",
        ));
    }
    for (key, value) in [
        ("size", Some(size)),
        ("reply", line.reply),
        ("align", line.align),
    ] {
        check_request_limit(key, value)?;
    }
    sequence(line.sequence.as_ref())?;
    line.distribution.as_ref().map_or(Ok(()), distribution)
}

/// Refuses a stride of 0, which would never leave its block.
fn sequence(choice: Option<&SequenceChoice>) -> Result<(), ValueError> {
    match choice {
        Some(SequenceChoice::Strided(stride)) if stride.0 == 0 => Err(ValueError::new(
            "sequence",
            "the stride of `strided` is 0, so every request would go to the same place",
            "write `{ strided = \"1MiB\" }`",
        )),
        _ => Ok(()),
    }
}

/// Checks a percentage. Importers may create values outside the range, which files cannot.
pub(crate) fn percent(key: &'static str, value: Option<Percent>) -> Result<(), ValueError> {
    match value {
        Some(percent) if !(0.0..=100.0).contains(&percent.0) => {
            let message = format!("`{key}` is {} %, not from 0 to 100 %", percent.0);
            Err(ValueError::new(
                key,
                message,
                format!("write `{key} = 100`"),
            ))
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_request_limit(
    key: &'static str,
    value: Option<Bytes>,
) -> Result<(), ValueError> {
    match value {
        Some(value) if value.0 > REQUEST_BYTES_MAX => {
            let most = Bytes(REQUEST_BYTES_MAX);
            let message = format!("`{key}` is {value}, more than a request may have ({most})");
            Err(ValueError::new(
                key,
                message,
                format!("write `{key} = \"1GiB\"` or less"),
            ))
        }
        _ => Ok(()),
    }
}

pub(crate) fn distribution(choice: &DistributionChoice) -> Result<(), ValueError> {
    let flaw = |message: String, help: &str| Err(ValueError::new("distribution", message, help));
    match choice {
        // fio's generator divides by 1 - theta, and workloads are converted to its job files. So a
        // skew of 1 is refused here, too.
        DistributionChoice::Zipf(theta)
            if !(*theta > 0.0 && *theta <= ZIPF_MAX && *theta != 1.0) =>
        {
            let message = format!(
                "the skew of `zipf` is {}, not above 0, at most {ZIPF_MAX} and other than 1",
                in_short(*theta)
            );
            flaw(message, "write `{ zipf = 1.2 }`")
        }
        DistributionChoice::Pareto(h) if !(*h > 0.0 && *h < 1.0) => {
            let message = format!("the shape of `pareto` is {h}, not between 0 and 1");
            flaw(message, "write `{ pareto = 0.2 }`")
        }
        DistributionChoice::Normal(deviation) if !(deviation.0 > 0.0 && deviation.0 <= 100.0) => {
            let message = format!(
                "the deviation of `normal` is {} %, not above 0 %",
                deviation.0
            );
            flaw(message, "write `{ normal = 10 }`")
        }
        DistributionChoice::Zones(zones) => check_zones(zones),
        _ => Ok(()),
    }
}

fn check_zones(zones: &[ZoneChoice]) -> Result<(), ValueError> {
    let flaw = |message: String, help: &str| Err(ValueError::new("distribution", message, help));
    if zones.is_empty() {
        return flaw(
            "`zones` is an empty list".into(),
            "write `{ zones = [{ access = 80, size = 20 }, { access = 20, size = 80 }] }`",
        );
    }
    for (what, sum) in [
        (
            "access",
            zones.iter().map(|zone| zone.access.0).sum::<f64>(),
        ),
        ("size", zones.iter().map(|zone| zone.size.0).sum()),
    ] {
        if (sum - 100.0).abs() > SHARE_ERROR_MAX {
            let message = format!(
                "`{what}` of the zones adds up to {} %, not 100 %",
                rounded(sum)
            );
            return flaw(message, "change the shares of the zones");
        }
    }
    if zones
        .iter()
        .any(|zone| zone.size.0 <= 0.0 && zone.access.0 > 0.0)
    {
        return flaw(
            "a zone has requests but no size".into(),
            "give the zone a `size`",
        );
    }
    Ok(())
}
