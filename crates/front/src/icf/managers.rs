//! The section `MANAGER LIST`: managers and their workers.

use super::display::id_name;
use super::document::Manager;
use super::reader::{IcfBlock, IcfReader, Keys};
use super::worker;
use plan::Diagnostic;

const LIST: IcfBlock = IcfBlock {
    name: "MANAGER LIST",
    end: "'END manager list",
};
const MANAGER: IcfBlock = IcfBlock {
    name: "Manager",
    end: "'End manager",
};

#[derive(Debug, Clone, Copy)]
enum ListKey {
    Manager,
    End,
}

const LIST_KEYS: &Keys<ListKey> = &[
    ("'Manager ID, manager name", ListKey::Manager),
    (LIST.end, ListKey::End),
];

#[derive(Debug, Clone, Copy)]
enum ManagerKey {
    Address,
    Worker,
    End,
}

const MANAGER_KEYS: &Keys<ManagerKey> = &[
    ("'Manager network address", ManagerKey::Address),
    ("'Worker", ManagerKey::Worker),
    (MANAGER.end, ManagerKey::End),
];

/// Reads the section after its first line.
pub(super) fn read(reader: &mut IcfReader<'_>) -> Result<Vec<Manager>, Diagnostic> {
    let mut managers = Vec::new();
    loop {
        let line = reader.key(LIST)?;
        match reader.known(line, LIST, LIST_KEYS)? {
            ListKey::End => return Ok(managers),
            ListKey::Manager => {
                let value = reader.value(line, LIST, MANAGER_KEYS)?;
                let identity = id_name(reader, value)?;
                managers.push(manager(
                    reader,
                    Manager {
                        identity,
                        ..Manager::default()
                    },
                )?);
            }
        }
    }
}

fn manager(reader: &mut IcfReader<'_>, mut manager: Manager) -> Result<Manager, Diagnostic> {
    loop {
        let line = reader.key(MANAGER)?;
        match reader.known(line, MANAGER, MANAGER_KEYS)? {
            ManagerKey::End => return Ok(manager),
            ManagerKey::Address => {
                let value = reader.value(line, MANAGER, MANAGER_KEYS)?;
                manager.address = value.trimmed().to_owned();
            }
            ManagerKey::Worker => {
                let value = reader.value(line, MANAGER, worker::KEYS)?;
                let worker = worker::disk(value.trimmed());
                manager.workers.push(worker::read(reader, worker)?);
            }
        }
    }
}
