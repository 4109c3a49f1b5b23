//! Used part of each target, and checks of the free space.

use std::path::PathBuf;

use units::Bytes;
use units::format::size as rounded;

use description::model::defaults::SIZE_DEFAULT;
use plan::facts::{SystemFacts, min_free_bytes};
use plan::{Diagnostic, DiagnosticCode};
use plan::{Plan, TargetKind, TargetPlan};

use super::Context;
use super::targets::ResolvedTarget;

/// Sector size in bytes, the minimum for an alignment of 0.
pub(super) const SECTOR_BYTES: u32 = 512;

/// A reduced default size is a multiple of this, and at least this.
pub(super) const SIZE_UNIT: u64 = 1 << 20;

impl ResolvedTarget {
    /// Existing bytes of a target, which the default size covers.
    fn present_bytes(&self) -> u64 {
        let is_present = self.facts.exists || self.facts.kind == TargetKind::Device;
        if is_present { self.facts.size_bytes } else { 0 }
    }

    /// Bytes that test files may take; `None` if unknown.
    pub fn usable_bytes(&self) -> Option<u64> {
        let facts = &self.facts;
        let makes_files = matches!(facts.kind, TargetKind::Directory | TargetKind::File);
        (self.is_known && makes_files && facts.total_bytes > 0).then(|| {
            let free = facts.free_bytes.saturating_add(facts.reusable_bytes);
            // The bytes of an existing test file are used again, so they count as usable.
            let present = if facts.kind == TargetKind::File {
                self.present_bytes()
            } else {
                0
            };
            free.saturating_add(present)
                .saturating_sub(min_free_bytes(facts.total_bytes))
        })
    }

    /// Bytes for which the file system must have room; 0 for a file that is large enough.
    fn new_bytes(&self, needed_bytes: u64) -> u64 {
        let is_present =
            self.facts.kind == TargetKind::File && self.present_bytes() >= needed_bytes;
        if is_present { 0 } else { needed_bytes }
    }

    pub fn shares_space_with(&self, other: &Self) -> bool {
        match (self.facts.device_id, other.facts.device_id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.facts.path == other.facts.path,
        }
    }
}

/// The part of a target that a worker uses: first byte and size, both in bytes. With `is_limited`,
/// a run time ends the worker, perhaps before the file has its size.
pub(super) fn span(
    context: &mut Context,
    target_index: u32,
    start: u64,
    size: Option<u64>,
    is_limited: bool,
) -> Result<(u64, u64), Diagnostic> {
    let entry = &context.targets.entries[target_index as usize];
    let (path, present) = (&entry.facts.path, entry.present_bytes());
    if entry.facts.kind == TargetKind::Endless {
        let message = format!("`{path}` is a character device, which only jobs work on");
        return Err(Diagnostic::error("", message).help("name a directory with `--target`"));
    }
    let is_device = entry.facts.kind == TargetKind::Device;
    // As in Iometer, a size of 0 means all of the target.
    let requested = size.filter(|size| *size > 0);
    if present > 0 && start >= present && (is_device || requested.is_none()) {
        let message = format!(
            "`start` is {}, but `{path}` ends at {}",
            Bytes(start),
            Bytes(present)
        );
        return Err(Diagnostic::error("", message).help("use a smaller `start`"));
    }
    let size = match requested {
        Some(size) if is_device && present > 0 && size > present - start => {
            let message = format!(
                "`{path}` has only {} of {}",
                Bytes(present - start),
                Bytes(size)
            );
            let warning = Diagnostic::warning("", message).code(DiagnosticCode::SizeReduced);
            context.warnings.push(warning.help("use a smaller `size`"));
            present - start
        }
        Some(size) => size,
        None if present > 0 => present - start,
        None => default_size(context, target_index)?,
    };
    let Some(end) = start
        .checked_add(size)
        // File offsets (`off_t`) are signed 64-bit numbers.
        .filter(|end| i64::try_from(*end).is_ok())
    else {
        let message = "`start` and `size` together are more than a file can have";
        return Err(Diagnostic::error("", message).help("use a smaller `start`"));
    };
    let entry = &mut context.targets.entries[target_index as usize];
    // Workers share the test file of a target, so the farthest end counts, not a sum.
    entry.needed_bytes = entry.needed_bytes.max(end);
    if !is_limited {
        entry.firm_bytes = entry.firm_bytes.max(end);
    }
    entry.size_is_default |= requested.is_none();
    Ok((start, size))
}

/// The default size, reduced with a warning if the file system does not have enough room.
fn default_size(context: &mut Context, target_index: u32) -> Result<u64, Diagnostic> {
    let entries = &context.targets.entries;
    let entry = &entries[target_index as usize];
    let Some(usable) = entry.usable_bytes() else {
        return Ok(SIZE_DEFAULT);
    };
    let sharers = entries
        .iter()
        .filter(|other| other.shares_space_with(entry))
        .count();
    // Equal shares, so that no size depends on which target is planned first.
    let share = usable / sharers.max(1) as u64 / SIZE_UNIT * SIZE_UNIT;
    if share >= SIZE_DEFAULT {
        return Ok(SIZE_DEFAULT);
    }
    let path = &entry.facts.path;
    let reserved = rounded(min_free_bytes(entry.facts.total_bytes));
    if share == 0 {
        let message = format!("`{path}` has no room for a test file, as {reserved} must stay free");
        return Err(Diagnostic::error("", message).help("name another target with `--target`"));
    }
    let message = format!(
        "the test file on `{path}` has {}, not {}: more would leave less than {reserved} free",
        rounded(share),
        rounded(SIZE_DEFAULT)
    );
    let warning = Diagnostic::warning("", message).code(DiagnosticCode::SizeReduced);
    context
        .warnings
        .push(warning.help("add `--size` to choose"));
    Ok(share)
}

/// The planned targets; an error if their files do not fit.
pub(super) fn checked(context: &mut Context) -> Result<Vec<TargetPlan>, Diagnostic> {
    let entries = &context.targets.entries;
    let mut warnings = Vec::new();
    for entry in entries {
        let Some(usable) = entry.usable_bytes() else {
            continue;
        };
        let sharers = entries
            .iter()
            .filter(|other| other.shares_space_with(entry));
        let needs =
            |it: &ResolvedTarget| it.new_bytes(it.firm_bytes).saturating_add(it.files_bytes);
        let needed = sharers.fold(0_u64, |sum, other| sum.saturating_add(needs(other)));
        if needed > usable {
            let (what, help) = match entries.iter().any(|entry| entry.files_bytes > 0) {
                true => ("files", "use fewer or smaller files, or another `--target`"),
                false => ("test files", "use a smaller `--size`"),
            };
            let message = format!(
                "the {what} on `{}` need {}, as {} must stay free",
                entry.facts.path,
                shortage(needed, usable),
                rounded(min_free_bytes(entry.facts.total_bytes))
            );
            return Err(Diagnostic::error("", message).help(help));
        }
        let file_bytes = match entry.needed_bytes > entry.firm_bytes {
            true => entry.new_bytes(entry.needed_bytes),
            false => 0,
        };
        let most = entry.files_max_bytes.saturating_add(file_bytes);
        if most > usable {
            let message = format!(
                "the files on `{}` take up to {}: if the time allows that, writes will fail",
                entry.facts.path,
                shortage(most, usable)
            );
            warnings.push(Diagnostic::warning("", message));
        }
    }
    let planned = entries.iter().map(planned).collect();
    context.warnings.extend(warnings);
    Ok(planned)
}

/// Refuses plans that fit individually but not together on a shared file system. Test files of all
/// plans exist at the same time; files of work on many files do not.
///
/// # Errors
/// The needed and the available space.
pub fn check_space_together(plans: &[&Plan], facts: &SystemFacts) -> Result<(), Diagnostic> {
    let mut needs: Vec<(ResolvedTarget, u64)> = Vec::new();
    for plan in plans {
        for (index, target) in (0..).zip(&plan.targets) {
            let path = target.path.to_string_lossy();
            let found = facts.targets.iter().find(|found| found.path == path);
            // All plans use the same target in turn.
            let is_new = needs.iter().all(|(entry, _)| entry.facts.path != path);
            if let Some(found) = found.filter(|_| is_new) {
                let entry = ResolvedTarget {
                    facts: found.clone(),
                    is_known: true,
                    is_named: true,
                    needed_bytes: 0,
                    firm_bytes: 0,
                    files_bytes: files_bytes(plan, index),
                    files_max_bytes: 0,
                    size_is_default: false,
                };
                let new_bytes = entry.new_bytes(target.size_bytes);
                needs.push((entry, new_bytes));
            }
        }
    }
    for (entry, _) in &needs {
        let Some(usable) = entry.usable_bytes() else {
            continue;
        };
        let sharers = || {
            needs
                .iter()
                .filter(|(other, _)| other.shares_space_with(entry))
        };
        let kept = sharers().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let passing = sharers().map(|(other, _)| other.files_bytes).max();
        let needed = kept.saturating_add(passing.unwrap_or(0));
        // `checked` has already refused a plan that does not fit alone.
        if needed > usable && sharers().count() > 1 {
            let paths: Vec<String> = sharers()
                .map(|(it, _)| format!("`{}`", it.facts.path))
                .collect();
            let message = format!(
                "{} share one file system and together need {}, as {} must stay free",
                paths.join(" and "),
                shortage(needed, usable),
                rounded(min_free_bytes(entry.facts.total_bytes))
            );
            return Err(Diagnostic::error("", message).help("use a smaller `--size`"));
        }
    }
    Ok(())
}

/// Describes needed and available space; adds the difference if their rounded forms are equal.
fn shortage(needed: u64, usable: u64) -> String {
    let (need, can) = (rounded(needed), rounded(usable));
    match need == can {
        true => format!("{need}, {} more than can be used", rounded(needed - usable)),
        false => format!("{need}, but only {can} can be used"),
    }
}

/// Maximum of the bytes that the files of a plan's cells take on a target.
fn files_bytes(plan: &Plan, target_index: u32) -> u64 {
    let file_cells = plan.cells.iter().filter(|cell| cell.work.is_acts());
    let bytes = file_cells.map(|cell| {
        let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
        let local = spans.filter(|span| span.target_index == target_index);
        local.fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes))
    });
    bytes.max().unwrap_or(0)
}

fn planned(entry: &ResolvedTarget) -> TargetPlan {
    TargetPlan {
        path: PathBuf::from(&entry.facts.path),
        kind: entry.facts.kind,
        size_bytes: entry.needed_bytes,
        block_bytes: entry.facts.direct_unit(),
    }
}
