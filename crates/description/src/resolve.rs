//! Resolves a file to its workloads: looks up `use` and splits packs.

use crate::builtin;
use crate::flaw::ValueError;
use crate::model::Workload;
use crate::overlay::overlay;

/// Maximum length of a chain of `use`; a cycle of built-in files would otherwise never end.
const CHAIN_MAX: u32 = 8;

/// The workloads of a file, in order, each of them complete.
pub(crate) fn resolve(file: Workload) -> Result<Vec<Workload>, ValueError> {
    if file.part.is_empty() {
        return Ok(vec![resolve_base(file, CHAIN_MAX)?]);
    }
    let mut common = file;
    let parts = std::mem::take(&mut common.part);
    // Name, title and description belong to the pack, not to its parts.
    let pack_source = common.source.take();
    let pack_name = common.name.take();
    common.title = None;
    common.description = None;
    let resolved = parts.into_iter().enumerate().map(|(index, part)| {
        let mut workload = resolve_base(overlay(common.clone(), part), CHAIN_MAX)
            .map_err(|flaw| flaw.within("part", index))?;
        workload.source = workload.source.or_else(|| pack_source.clone());
        workload.name = workload.name.or_else(|| {
            let pack = pack_name.as_deref().unwrap_or("part");
            Some(format!("{pack}-{}", index + 1))
        });
        Ok(workload)
    });
    resolved.collect()
}

/// Merges the workload with the built-in one that it names.
fn resolve_base(mut workload: Workload, chain_left: u32) -> Result<Workload, ValueError> {
    let Some(name) = workload.base.take() else {
        return Ok(workload);
    };
    let flaw = |message: String, help: String| Err(ValueError::new("use", message, help));
    let base = match builtin::workload(&name) {
        Ok(base) => base,
        Err(unknown) => return flaw(unknown.message, unknown.help.unwrap_or_default()),
    };
    if !base.part.is_empty() {
        let message = format!("`{name}` is a pack, which cannot be used as a part");
        return flaw(message, "name one of its parts".to_owned());
    }
    if chain_left == 0 {
        let message = format!("`{name}` uses itself");
        return flaw(message, "take out `use`".to_owned());
    }
    Ok(overlay(resolve_base(base, chain_left - 1)?, workload))
}
