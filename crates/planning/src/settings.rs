//! Settings that are known only after workers and targets.

use std::collections::HashSet;

use units::Bytes;

use description::model::{TestType, Worker, Workload};
use plan::Diagnostic;
use plan::{Setting, Source};

use super::Context;
use super::cluster::PlannedWorker;
use units::text_of;

/// Notes the number of workers, and refuses CPUs that do not exist.
///
/// # Errors
/// If a CPU does not exist; not checked if the number of CPUs is unknown.
pub(super) fn note_workers(
    workload: &Workload,
    count: usize,
    context: &mut Context,
) -> Result<(), Diagnostic> {
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
        let message = format!(
            "`cpus` names CPU {cpu}, but this machine has {cpu_count}, numbered \
                               from 0"
        );
        return Err(Diagnostic::error("", message).help("use a smaller number"));
    }
    Ok(())
}

/// For keys that all workers set, notes the workers' values, because those apply.
pub(super) fn note_worker_values(
    workload: &Workload,
    members: &[PlannedWorker],
    context: &mut Context,
) {
    let tables: Vec<&Worker> = members
        .iter()
        .filter_map(|member| workload.worker.get(member.table_index?))
        .collect();
    // A worker without a table uses the workload's values, so those must stay noted.
    if tables.is_empty() || tables.len() < members.len() {
        return;
    }
    let mut own = vec![
        ("size", distinct(&tables, |it| shown(it.size.as_ref()))),
        ("start", distinct(&tables, |it| shown(it.start.as_ref()))),
        ("seed", distinct(&tables, |it| shown(it.seed.as_ref()))),
        (
            "content",
            distinct(&tables, |it| it.content.as_ref().map(text_of)),
        ),
    ];
    // The depths of such a test type replace the workers' own.
    let cycles = matches!(
        workload.test_type,
        Some(TestType::CycleOutstandingIos | TestType::CycleOutstandingIosAndTargets)
    );
    if !cycles {
        let depths = distinct(&tables, |it| shown(it.iodepth.as_ref()));
        own.push(("iodepth", depths));
    }
    for (key, value) in own {
        if let Some(value) = value {
            replace(context, workload, key, value);
        }
    }
}

fn shown<T: std::fmt::Display>(value: Option<&T>) -> Option<String> {
    value.map(T::to_string)
}

/// The distinct values, in order; `None` if a worker has none.
fn distinct(tables: &[&Worker], value: impl Fn(&Worker) -> Option<String>) -> Option<String> {
    let mut seen = HashSet::new();
    let mut values: Vec<String> = tables.iter().map(|it| value(it)).collect::<Option<_>>()?;
    values.retain(|value| seen.insert(value.clone()));
    Some(values.join(","))
}

/// Replaces the value of a setting of the current workload, whose settings are the last ones and
/// start with `iodepth`.
fn replace(context: &mut Context, workload: &Workload, key: &str, value: String) {
    let source = match context.overrides.has("worker") {
        true => Source::Option,
        false => Source::Written,
    };
    let first = context.settings.iter().rposition(|it| it.key == "iodepth");
    let mut own = context.settings[first.unwrap_or(0)..].iter_mut();
    match own.find(|it| it.key == key) {
        Some(setting) => {
            setting.value = value;
            setting.source = source;
        }
        None => context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: key.to_owned(),
            value,
            source,
        }),
    }
}

/// Notes the targets of a workload, and their size if it is not written.
pub(super) fn note_targets(workload_index: usize, workload: &Workload, context: &mut Context) {
    let mut indices: Vec<u32> = Vec::new();
    let tables = (0..workload.worker.len()).map(Some);
    for table in tables.chain(workload.worker.is_empty().then_some(None)) {
        indices.extend(context.targets.of_worker(workload_index, table));
    }
    let mut seen = HashSet::new();
    indices.retain(|index| seen.insert(*index));
    let used = || {
        indices
            .iter()
            .map(|index| &context.targets.entries[*index as usize])
    };
    let paths: Vec<String> = used().map(|entry| entry.facts.path.clone()).collect();
    let named = used().any(|entry| entry.is_named);
    let default_sizes: Vec<String> = used()
        .filter(|entry| entry.size_is_default)
        .map(|entry| Bytes(entry.needed_bytes).to_string())
        .collect();
    let from_option = !context.overrides.targets_of(workload).is_empty();
    note(context, workload, "targets", paths.join(","), named);
    if let Some(setting) = context.settings.last_mut().filter(|_| from_option) {
        setting.source = Source::Option;
    }
    if workload.size.is_none() && !default_sizes.is_empty() {
        note(context, workload, "size", default_sizes.join(","), false);
    }
}

fn note(context: &mut Context, workload: &Workload, key: &str, value: String, written: bool) {
    let source = Source::of(context.overrides.has(key), written);
    let workload = workload.name_or_default().to_owned();
    context.settings.push(Setting {
        workload,
        key: key.to_owned(),
        value,
        source,
    });
}
