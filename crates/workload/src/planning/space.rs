//! How much of each target is used, and whether there is room for it.

use std::path::PathBuf;

use units::Bytes;

use crate::diagnostic::Diagnostic;
use crate::facts::kept_free_bytes;
use crate::plan::{TargetKind, TargetPlan};

use super::Context;
use super::targets::Entry;

/// Size of a test file when nobody says one: small enough to be made in seconds, larger than the
/// caches of drives.
pub(super) const SIZE_DEFAULT: u64 = 1 << 30;

/// A default is cut to whole multiples of this, and not below it.
const SIZE_UNIT: u64 = 1 << 20;

impl Entry {
    /// Bytes that are there already, when the default is to use them all.
    fn present_bytes(&self) -> u64 {
        let is_there = self.facts.exists || self.facts.kind == TargetKind::Device;
        if is_there { self.facts.size_bytes } else { 0 }
    }

    /// Bytes that test files may take; nothing when that is not known.
    fn usable_bytes(&self) -> Option<u64> {
        let facts = &self.facts;
        let makes_files = matches!(facts.kind, TargetKind::Directory | TargetKind::File);
        (self.known && makes_files && facts.total_bytes > 0).then(|| {
            let free = facts.free_bytes.saturating_add(facts.reusable_bytes);
            let present = if facts.kind == TargetKind::File {
                self.present_bytes()
            } else {
                0
            };
            free.saturating_add(present)
                .saturating_sub(kept_free_bytes(facts.total_bytes))
        })
    }

    fn shares_space_with(&self, other: &Self) -> bool {
        match (self.facts.device_id, other.facts.device_id) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.facts.path == other.facts.path,
        }
    }
}

/// The part of a target that a worker asks for, as first byte and size, both in bytes.
pub(super) fn span(
    context: &mut Context,
    target_index: u32,
    start: u64,
    size: Option<u64>,
) -> Result<(u64, u64), Diagnostic> {
    let entry = &context.targets.entries[target_index as usize];
    let (path, present) = (&entry.facts.path, entry.present_bytes());
    let is_device = entry.facts.kind == TargetKind::Device;
    let asked = size.filter(|size| *size > 0);
    if present > 0 && start >= present && (is_device || asked.is_none()) {
        let message = format!(
            "`start` is {}, but `{path}` ends at {}",
            Bytes(start),
            Bytes(present)
        );
        return Err(Diagnostic::error("", message).help("use a smaller `start`"));
    }
    let size = match asked {
        Some(size) if is_device && present > 0 && size > present - start => {
            let message = format!(
                "`{path}` has only {} of {}",
                Bytes(present - start),
                Bytes(size)
            );
            context
                .warnings
                .push(Diagnostic::warning("", message).help("use a smaller `size`"));
            present - start
        }
        Some(size) => size,
        None if present > 0 => present - start,
        None => default_size(context, target_index)?,
    };
    let Some(end) = start
        .checked_add(size)
        .filter(|end| i64::try_from(*end).is_ok())
    else {
        let message = "`start` and `size` together are more than a file can have";
        return Err(Diagnostic::error("", message).help("use a smaller `start`"));
    };
    let entry = &mut context.targets.entries[target_index as usize];
    entry.needed_bytes = entry.needed_bytes.max(end);
    entry.size_is_default |= asked.is_none();
    Ok((start, size))
}

/// The default, cut with a warning where the file system has no room for it.
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
    let share = usable / sharers.max(1) as u64 / SIZE_UNIT * SIZE_UNIT;
    if share >= SIZE_DEFAULT {
        return Ok(SIZE_DEFAULT);
    }
    let path = &entry.facts.path;
    let kept = Bytes(kept_free_bytes(entry.facts.total_bytes));
    if share == 0 {
        let message = format!("`{path}` has no room for a test file while {kept} stay free");
        return Err(Diagnostic::error("", message).help("name another target with `--target`"));
    }
    let message = format!(
        "the test file on `{path}` has {}, not {}: more would leave less than {kept} free",
        Bytes(share),
        Bytes(SIZE_DEFAULT)
    );
    context
        .warnings
        .push(Diagnostic::warning("", message).help("add `--size` to choose"));
    Ok(share)
}

/// The planned targets, once all that they need is known to fit.
pub(super) fn checked(context: &Context) -> Result<Vec<TargetPlan>, Diagnostic> {
    let entries = &context.targets.entries;
    for entry in entries {
        let Some(usable) = entry.usable_bytes() else {
            continue;
        };
        let sharers = entries
            .iter()
            .filter(|other| other.shares_space_with(entry));
        let needs = |other: &Entry| other.needed_bytes.saturating_add(other.files_bytes);
        let needed = sharers.fold(0_u64, |sum, other| sum.saturating_add(needs(other)));
        if needed > usable {
            let (what, help) = match entries.iter().any(|entry| entry.files_bytes > 0) {
                true => ("files", "use fewer or smaller files, or another `--target`"),
                false => ("test files", "use a smaller `--size`"),
            };
            let message = format!(
                "the {what} on `{}` need {}; {} can be used while {} stay free",
                entry.facts.path,
                Bytes(needed),
                Bytes(usable),
                Bytes(kept_free_bytes(entry.facts.total_bytes))
            );
            return Err(Diagnostic::error("", message).help(help));
        }
    }
    Ok(entries.iter().map(planned).collect())
}

fn planned(entry: &Entry) -> TargetPlan {
    TargetPlan {
        path: PathBuf::from(&entry.facts.path),
        kind: entry.facts.kind,
        size_bytes: entry.needed_bytes,
        block_bytes: entry.direct_unit(),
    }
}

impl Entry {
    /// Offsets and lengths of direct I/O are multiples of this; 512 when nobody knows.
    pub fn direct_unit(&self) -> u32 {
        match (self.facts.direct_alignment_bytes, self.facts.block_bytes) {
            (0, 0) => 512,
            (0, block) => block,
            (unit, _) => unit,
        }
    }
}
