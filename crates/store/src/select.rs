//! Which run is meant.

use rusqlite::{Connection, OptionalExtension};

use crate::StoreError;
use crate::store::Store;

/// What the name of a tag begins with.
const TAG: &str = "tag:";

/// What the tag of a lab's runs begins with, before the time at which the lab began.
const LAB_TAG: &str = "lab-";

/// What a name in a list of runs and labs stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The run of this id.
    Run(String),
    /// The lab of this id, which has a record.
    Lab(String),
    /// The runs with this tag, which are those of a lab; the oldest first.
    Tagged {
        /// The tag.
        tag: String,
        /// Their ids.
        ids: Vec<String>,
    },
}

/// The tag by which the runs of one lab are known, if this is one.
#[must_use]
pub fn is_lab_tag(tag: &str) -> bool {
    let name = tag.strip_prefix(LAB_TAG);
    name.is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// A run of the store.
#[derive(Debug, Clone)]
pub(crate) struct Selected {
    pub key: i64,
    pub id: String,
}

impl Store {
    /// The id of the run that is meant: an id, the beginning of one, `last` for the newest run,
    /// `@-N` for the N-th newest, or `tag:NAME` for the only one with that tag.
    ///
    /// # Errors
    /// When there is no such run or more than one.
    pub fn resolve(&self, selector: &str) -> Result<String, StoreError> {
        Ok(self.select(selector)?.id)
    }

    /// The ids of the runs that are meant, the oldest first: all with a tag for `tag:NAME`, else as
    /// [`Store::resolve`].
    ///
    /// # Errors
    /// When there is no such run, or more than one without a tag.
    pub fn resolve_all(&self, selector: &str) -> Result<Vec<String>, StoreError> {
        let Some(tag) = selector.strip_prefix(TAG) else {
            return Ok(vec![self.resolve(selector)?]);
        };
        let found = tagged(&self.connection, tag);
        let found = found.map_err(|error| StoreError::of(self.path(), error))?;
        match found.is_empty() {
            true => Err(StoreError::NoSuchRun {
                selector: selector.to_owned(),
                path: self.path().to_owned(),
            }),
            false => Ok(found.into_iter().map(|run| run.id).collect()),
        }
    }

    /// What is meant: a run as [`Store::resolve`] finds it, a lab by its id or the beginning of
    /// that, or the runs of a lab by their tag or the beginning of that.
    ///
    /// # Errors
    /// When there is no such run or lab, or more than one.
    pub fn find(&self, selector: &str) -> Result<Found, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        if is_lab_tag(selector) {
            return self.find_tag(selector);
        }
        let labs = labs_beginning_with(&self.connection, selector).map_err(failed)?;
        let Some(lab) = labs.first() else {
            return self.resolve(selector).map(Found::Run);
        };
        if labs.iter().any(|id| id == selector) {
            return Ok(Found::Lab(selector.to_owned()));
        }
        let runs = beginning_with(&self.connection, selector).map_err(failed)?;
        if let Some(exact) = runs.iter().find(|run| run.id == selector) {
            return Ok(Found::Run(exact.id.clone()));
        }
        let others = labs[1..].iter().chain(runs.iter().map(|run| &run.id));
        match others.clone().next() {
            None => Ok(Found::Lab(lab.clone())),
            Some(other) => Err(StoreError::Ambiguous {
                selector: selector.to_owned(),
                count: 1 + others.count(),
                first: lab.clone(),
                second: other.clone(),
            }),
        }
    }

    fn find_tag(&self, selector: &str) -> Result<Found, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        let mut tags = tags_beginning_with(&self.connection, selector).map_err(failed)?;
        if let Some(exact) = tags.iter().position(|tag| tag == selector) {
            tags.swap(0, exact);
            tags.truncate(1);
        }
        match tags.as_slice() {
            [tag] => {
                let runs = tagged(&self.connection, tag).map_err(failed)?;
                Ok(Found::Tagged {
                    tag: tag.clone(),
                    ids: runs.into_iter().map(|run| run.id).collect(),
                })
            }
            [first, second, ..] => Err(StoreError::Ambiguous {
                selector: selector.to_owned(),
                count: tags.len(),
                first: first.clone(),
                second: second.clone(),
            }),
            [] => Err(StoreError::NoSuchRun {
                selector: selector.to_owned(),
                path: self.path().to_owned(),
            }),
        }
    }

    pub(crate) fn select(&self, selector: &str) -> Result<Selected, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        let found = match (newest_number(selector), selector.strip_prefix(TAG)) {
            (Some(number), _) => nth_newest(&self.connection, number),
            (None, Some(tag)) => tagged(&self.connection, tag),
            (None, None) => beginning_with(&self.connection, selector),
        };
        let mut found = found.map_err(failed)?;
        // A whole id is meant as such even when a longer one begins with it.
        if let Some(exact) = found.iter().position(|run| run.id == selector) {
            found.swap(0, exact);
            found.truncate(1);
        }
        match found.as_slice() {
            [one] => Ok(one.clone()),
            [first, second, ..] => Err(StoreError::Ambiguous {
                selector: selector.to_owned(),
                count: found.len(),
                first: first.id.clone(),
                second: second.id.clone(),
            }),
            [] => Err(StoreError::NoSuchRun {
                selector: selector.to_owned(),
                path: self.path().to_owned(),
            }),
        }
    }
}

/// 1 for the newest run, 2 for the one before.
fn newest_number(selector: &str) -> Option<i64> {
    if selector == "last" {
        return Some(1);
    }
    let digits = selector.strip_prefix("@-")?;
    digits.parse().ok().filter(|number| *number > 0)
}

fn nth_newest(connection: &Connection, number: i64) -> rusqlite::Result<Vec<Selected>> {
    let sql = "SELECT key, id FROM runs ORDER BY started_us DESC, id DESC LIMIT 1 OFFSET ?1";
    let mut query = connection.prepare_cached(sql)?;
    let found = query.query_row([number - 1], selected).optional()?;
    Ok(found.into_iter().collect())
}

fn tagged(connection: &Connection, tag: &str) -> rusqlite::Result<Vec<Selected>> {
    let sql = "SELECT key, id FROM runs JOIN tags ON tags.run = runs.key WHERE tag = ?1 \
               ORDER BY started_us, id";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([tag], selected)?.collect()
}

fn beginning_with(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<Selected>> {
    if prefix.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT key, id FROM runs WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 \
               ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([prefix], selected)?.collect()
}

fn labs_beginning_with(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    if prefix.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT id FROM labs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([prefix], |row| row.get(0))?.collect()
}

fn tags_beginning_with(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT DISTINCT tag FROM tags WHERE substr(tag, 1, length(?1)) = ?1 ORDER BY tag";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([prefix], |row| row.get(0))?.collect()
}

fn selected(row: &rusqlite::Row) -> rusqlite::Result<Selected> {
    Ok(Selected {
        key: row.get(0)?,
        id: row.get(1)?,
    })
}
