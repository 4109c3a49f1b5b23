//! A worker in the section `MANAGER LIST`.

use std::collections::HashSet;

use description::iometer::{IometerWorker, Target, WorkerKind};

use super::display::id_name;
use super::keywords::Keyword;
use super::reader::{IcfBlock, IcfReader, Keys, starts_with_ignoring_case};
use super::settings;
use super::text::IcfLine;
use plan::Diagnostic;

const WORKER: IcfBlock = IcfBlock {
    name: "Worker",
    end: "'End worker",
};
const ASSIGNED: IcfBlock = IcfBlock {
    name: "Assigned access specs",
    end: "'End assigned access specs",
};
const TARGETS: IcfBlock = IcfBlock {
    name: "Target assignments",
    end: "'End target assignments",
};
const TARGET: IcfBlock = IcfBlock {
    name: "Target",
    end: "'End target",
};

#[derive(Debug, Clone, Copy)]
pub(super) enum WorkerKey {
    Type,
    Settings,
    Assigned,
    Targets,
    End,
}

pub(super) const KEYS: &Keys<WorkerKey> = &[
    ("'Worker type", WorkerKey::Type),
    ("'Default target settings for worker", WorkerKey::Settings),
    ("'Assigned access specs", WorkerKey::Assigned),
    ("'Target assignments", WorkerKey::Targets),
    (WORKER.end, WorkerKey::End),
];

#[derive(Debug, Clone, Copy)]
enum AssignedKey {
    End,
}

const ASSIGNED_KEYS: &Keys<AssignedKey> = &[(ASSIGNED.end, AssignedKey::End)];

#[derive(Debug, Clone, Copy)]
enum TargetsKey {
    Target,
    EndTarget,
    End,
}

const TARGETS_KEYS: &Keys<TargetsKey> = &[
    ("'Target", TargetsKey::Target),
    (TARGET.end, TargetsKey::EndTarget),
    (TARGETS.end, TargetsKey::End),
];

#[derive(Debug, Clone, Copy)]
enum TargetKey {
    Type,
    Manager,
    End,
}

const TARGET_KEYS: &Keys<TargetKey> = &[
    ("'Target type", TargetKey::Type),
    ("'Target manager ID, manager name", TargetKey::Manager),
    (TARGET.end, TargetKey::End),
];

/// A disk worker without any settings.
pub(super) fn disk(name: &str) -> IometerWorker {
    IometerWorker {
        name: name.to_owned(),
        kind: WorkerKind::Disk,
        settings: None,
        assigned: None,
        targets: None,
    }
}

/// Reads the rest of a worker after its name.
pub(super) fn read(
    reader: &mut IcfReader<'_>,
    mut worker: IometerWorker,
) -> Result<IometerWorker, Diagnostic> {
    loop {
        let line = reader.key(WORKER)?;
        match reader.known(line, WORKER, KEYS)? {
            WorkerKey::End => return Ok(worker),
            WorkerKey::Type => {
                let value = reader.value(line, WORKER, KEYS)?;
                worker.kind = kind(reader, value)?;
                if worker.kind == WorkerKind::NetworkVi {
                    let message = "network worker of VI is kept, running it is refused";
                    let finding = reader.at(value, message);
                    reader.warn(finding.help("remove the worker to run the others"));
                }
            }
            WorkerKey::Settings => worker.settings = Some(settings::read(reader)?),
            WorkerKey::Assigned => {
                worker
                    .assigned
                    .get_or_insert_default()
                    .extend(assigned(reader)?);
            }
            WorkerKey::Targets => {
                worker
                    .targets
                    .get_or_insert_default()
                    .extend(targets(reader)?);
            }
        }
    }
}

fn kind<'a>(reader: &mut IcfReader<'a>, value: IcfLine<'a>) -> Result<WorkerKind, Diagnostic> {
    WorkerKind::from_word(value.trimmed()).ok_or_else(|| {
        let message = format!("`{}` is not a type", plan::printable(value.trimmed()));
        reader
            .at(value, message)
            .help("write DISK, NETWORK,TCP or NETWORK,VI")
    })
}

/// Reads names of access specifications, one per line.
fn assigned(reader: &mut IcfReader<'_>) -> Result<Vec<String>, Diagnostic> {
    let mut names = Vec::new();
    let ends =
        |line: &IcfLine<'_>| line.is_mark() || starts_with_ignoring_case(line.trimmed(), "'End");
    while let Some(line) = reader.peek().filter(|line| !ends(line)) {
        let line = reader.take()?.unwrap_or(line);
        if line.is_blank() {
            let finding = reader.at(line, "empty line among assigned access specs");
            reader.warn(finding.help("remove the line"));
            continue;
        }
        // Sections may come in any order, so the names are checked at the end of the file.
        reader.assigned.push(line);
        names.push(line.trimmed().to_owned());
    }
    let line = reader.key(ASSIGNED)?;
    reader.known(line, ASSIGNED, ASSIGNED_KEYS)?;
    Ok(names)
}

fn targets(reader: &mut IcfReader<'_>) -> Result<Vec<Target>, Diagnostic> {
    let mut targets = Vec::new();
    let mut names = HashSet::new();
    loop {
        let line = reader.key(TARGETS)?;
        match reader.known(line, TARGETS, TARGETS_KEYS)? {
            TargetsKey::End => return Ok(targets),
            TargetsKey::EndTarget => {
                // Published files have such surplus lines.
                let finding = reader.at(line, "`'End target` without a target");
                reader.warn_or_fail(finding.help("remove the line"))?;
            }
            TargetsKey::Target => {
                let value = reader.value(line, TARGETS, TARGET_KEYS)?;
                let target = target(reader, value.trimmed())?;
                if target.name.is_empty() || names.insert(target.name.clone()) {
                    targets.push(target);
                } else {
                    let finding = reader.at(value, "target is assigned twice, once is enough");
                    reader.warn(finding.help("remove the second assignment"));
                }
            }
        }
    }
}

fn target(reader: &mut IcfReader<'_>, name: &str) -> Result<Target, Diagnostic> {
    let mut target = Target {
        name: name.to_owned(),
        kind: WorkerKind::Disk,
        manager: None,
    };
    loop {
        let line = reader.key(TARGET)?;
        match reader.known(line, TARGET, TARGET_KEYS)? {
            TargetKey::End => return Ok(target),
            TargetKey::Type => {
                let value = reader.value(line, TARGET, TARGET_KEYS)?;
                target.kind = kind(reader, value)?;
            }
            TargetKey::Manager => {
                let value = reader.value(line, TARGET, TARGET_KEYS)?;
                target.manager = Some(id_name(reader, value)?);
            }
        }
    }
}
