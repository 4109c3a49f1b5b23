//! The store's format number, its history, and the upgrades from one number to the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The newest format, which is the one written: the number of [`STEPS`].
///
/// An older store is upgraded when it is opened; a newer one is refused.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `runs.host`; the best rates as numbers instead of `runs.headline` |
/// | 3 | 0.1.0 | added: `labs` |
/// | 4 | 0.1.0 | added: `runs.rate_of`, `runs.rate`, `runs.kernel` |
/// | 5 | 0.1.0 | rates are means of repetitions; transactions follow PostMark |
/// | 6 | 0.1.0 | added: `runs.origin` |
pub const FORMAT_NUMBER: i64 = STEPS.len() as i64;

/// Marks an SQLite file as a store: "PGMR".
pub(crate) const APPLICATION_ID: i64 = 0x5047_4d52;

/// SQL for each upgrade from one format to the next; the first starts from an empty file.
///
/// A released step is never changed.
const STEPS: &[&str] = &[
    include_str!("format/1.sql"),
    include_str!("format/2.sql"),
    include_str!("format/3.sql"),
    include_str!("format/4.sql"),
    include_str!("format/5.sql"),
    include_str!("format/6.sql"),
];

/// Format number of an open store; 0 for an empty file.
pub(crate) fn number(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Upgrades the store to the newest format in one transaction.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let behavior = TransactionBehavior::Immediate;
    let transaction = Transaction::new(connection, behavior)?;
    // Read again under the lock, because another process may have upgraded the store.
    let version = usize::try_from(number(&transaction)?).unwrap_or(usize::MAX);
    for (step, next) in STEPS.iter().zip(1_i64..).skip(version) {
        transaction.execute_batch(step)?;
        // Part of the transaction, so a failed step leaves the number of the format that is there.
        transaction.pragma_update(None, "user_version", next)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}
