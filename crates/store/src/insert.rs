//! A run that is over, entered all at once.

use results::RunRecord;
use rusqlite::{Connection, TransactionBehavior};

use crate::draft::Draft;
use crate::entry::{Entry, apply, finish_run, not_json};
use crate::header::Header;

/// Enters a run that is over.
pub(crate) fn insert_record(
    connection: &mut Connection,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let entries = Draft::default().corrections(record).map_err(not_json)?;
    insert(connection, record, &entries)
}

/// Enters a run that is over with its entries, all at once or not at all.
pub(crate) fn insert(
    connection: &mut Connection,
    record: &RunRecord,
    entries: &[Entry],
) -> rusqlite::Result<()> {
    let header = Header::of(record).map_err(not_json)?;
    let store = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let run = header.insert(&store, "")?;
    for entry in entries {
        apply(&store, run, entry)?;
    }
    finish_run(&store, run, record)?;
    store.commit()
}
