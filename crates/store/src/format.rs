//! The number of the store's format, beside its history and the steps from each to the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The newest format, which is the one that is written: the number of [`STEPS`].
///
/// An older store is brought up to date when it is opened; a newer one is refused.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `runs.host`; the best rates as numbers in place of `runs.headline` |
/// | 3 | 0.1.0 | added: `labs` |
/// | 4 | 0.1.0 | added: `runs.rate_of`, `runs.rate`, `runs.kernel` |
/// | 5 | 0.1.0 | rates are means of repetitions; transactions follow PostMark |
pub const FORMAT_NUMBER: i64 = STEPS.len() as i64;

/// Marks an SQLite file as a store: "PGMR".
pub(crate) const APPLICATION_ID: i64 = 0x5047_4d52;

/// The SQL that leads from each format to the next; the first begins with an empty file.
///
/// A step is never changed once it was released.
const STEPS: &[&str] = &[
    include_str!("format/1.sql"),
    include_str!("format/2.sql"),
    include_str!("format/3.sql"),
    include_str!("format/4.sql"),
    include_str!("format/5.sql"),
];

/// The number of an open store's format; 0 for an empty file.
pub(crate) fn number(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings the store to the newest format, all at once or not at all.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let behavior = TransactionBehavior::Immediate;
    let transaction = Transaction::new(connection, behavior)?;
    // Asked again under the lock: another process may have been quicker.
    let seen = usize::try_from(number(&transaction)?).unwrap_or(usize::MAX);
    for (step, next) in STEPS.iter().zip(1_i64..).skip(seen) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", next)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}
