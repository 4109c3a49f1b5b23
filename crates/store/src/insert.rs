//! Adds a completed run in one transaction.

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior};

use crate::draft::RunDraft;
use crate::entry::{EventRows, apply, finish_run, json_error};
use crate::header::RunHeader;

/// Adds a completed run.
pub(crate) fn insert_record(
    connection: &mut Connection,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let entries = RunDraft::default()
        .corrections(record)
        .map_err(json_error)?;
    insert(connection, record, &entries)
}

/// Adds a completed run with its entries in one transaction.
pub(crate) fn insert(
    connection: &mut Connection,
    record: &RunRecord,
    entries: &[EventRows],
) -> rusqlite::Result<()> {
    let header = RunHeader::of(record).map_err(json_error)?;
    let store = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // No owner: other processes see the run only after the commit, when it is complete.
    let run = header.insert(&store, "")?;
    for entry in entries {
        apply(&store, run, entry)?;
    }
    finish_run(&store, run, record)?;
    store.commit()
}
