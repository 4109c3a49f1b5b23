//! Settings that are known only once workers and targets are.

use units::Bytes;

use crate::diagnostic::Diagnostic;
use crate::model::Workload;
use crate::plan::{Setting, Source};

use super::Context;

/// Notes how many workers there are, and CPUs that are not there.
pub(super) fn note_workers(workload: &Workload, count: usize, context: &mut Context) {
    let written = workload.workers.is_some() || !workload.worker.is_empty();
    note(context, workload, "workers", count.to_string(), written);
    let cpu_count = context.facts.cpu_count;
    let missing = workload
        .cpus
        .iter()
        .flat_map(|cpus| &cpus.0)
        .find(|cpu| **cpu >= cpu_count);
    if let Some(cpu) = missing
        && cpu_count > 0
    {
        let message = format!("`cpus` names CPU {cpu}, but there are {cpu_count}, from 0");
        context
            .warnings
            .push(Diagnostic::warning("", message).help("use a smaller number"));
    }
}

/// Notes the targets of a workload, and their size where nobody wrote one.
pub(super) fn note_targets(workload_index: usize, workload: &Workload, context: &mut Context) {
    let mut indices: Vec<u32> = Vec::new();
    let tables = (0..workload.worker.len()).map(Some);
    for table in tables.chain(workload.worker.is_empty().then_some(None)) {
        indices.extend(context.targets.of_worker(workload_index, table));
    }
    let mut seen = std::collections::HashSet::new();
    indices.retain(|index| seen.insert(*index));
    let used = || {
        indices
            .iter()
            .map(|index| &context.targets.entries[*index as usize])
    };
    let paths: Vec<String> = used().map(|entry| entry.facts.path.clone()).collect();
    let named = used().any(|entry| entry.named);
    let default_sizes: Vec<String> = used()
        .filter(|entry| entry.size_is_default)
        .map(|entry| Bytes(entry.needed_bytes).to_string())
        .collect();
    note(context, workload, "targets", paths.join(","), named);
    if workload.size.is_none() && !default_sizes.is_empty() {
        note(context, workload, "size", default_sizes.join(","), false);
    }
}

fn note(context: &mut Context, workload: &Workload, key: &str, value: String, written: bool) {
    let source = match (context.overrides.has(key), written) {
        (true, _) => Source::Option,
        (false, true) => Source::Written,
        (false, false) => Source::Default,
    };
    let workload = workload.name_or_default().to_owned();
    context.settings.push(Setting {
        workload,
        key: key.to_owned(),
        value,
        source,
    });
}
