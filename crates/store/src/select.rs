//! Which run is meant.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::StoreError;
use crate::lab::labs;
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
    /// The id of the run that is meant: an id, the beginning of one, `last` for the newest row of
    /// the list of runs, `@-N` for the N-th newest, or `tag:NAME` for the only one with that tag.
    /// The list has one row for a lab, however many runs that has.
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
    /// that or as the newest row of the list, or the runs of a lab by their tag or the beginning of
    /// that.
    ///
    /// # Errors
    /// When there is no such run or lab, or more than one.
    pub fn find(&self, selector: &str) -> Result<Found, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        if is_lab_tag(selector) {
            return self.find_tag(selector);
        }
        if let Some(number) = newest_number(selector) {
            return self.nth_newest(selector, number);
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

    /// The row of that place in the list of runs.
    fn nth_newest(&self, selector: &str, number: usize) -> Result<Found, StoreError> {
        let rows = rows(&self.connection).map_err(|error| StoreError::of(self.path(), error))?;
        let row = rows.into_iter().nth(number - 1);
        row.ok_or_else(|| StoreError::NoSuchRun {
            selector: selector.to_owned(),
            path: self.path().to_owned(),
        })
    }

    pub(crate) fn select(&self, selector: &str) -> Result<Selected, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        let newest = newest_number(selector).map(|number| self.nth_newest(selector, number));
        let newest = match newest.transpose()? {
            Some(Found::Run(id)) => Some(id),
            Some(Found::Lab(lab) | Found::Tagged { tag: lab, .. }) => {
                return Err(StoreError::IsLab {
                    selector: selector.to_owned(),
                    lab,
                });
            }
            None => None,
        };
        let selector = newest.as_deref().unwrap_or(selector);
        let found = match selector.strip_prefix(TAG) {
            Some(tag) => tagged(&self.connection, tag),
            None => beginning_with(&self.connection, selector),
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

/// 1 for the newest row of the list, 2 for the one before.
fn newest_number(selector: &str) -> Option<usize> {
    if selector == "last" {
        return Some(1);
    }
    let digits = selector.strip_prefix("@-")?;
    digits.parse().ok().filter(|number| *number > 0)
}

/// The rows of the list of runs and labs, the newest first: a lab is one row, which begins as the
/// lab or else the first of its runs does.
fn rows(connection: &Connection) -> rusqlite::Result<Vec<Found>> {
    let sql = "SELECT id, started_us, (SELECT group_concat(tag, ' ') FROM tags \
               WHERE run = runs.key) FROM runs ORDER BY started_us, id";
    let mut query = connection.prepare_cached(sql)?;
    let runs = query.query_map([], |row| {
        let tags: Option<String> = row.get(2)?;
        Ok((row.get(0)?, row.get(1)?, tags.unwrap_or_default()))
    })?;
    let runs: Vec<(String, i64, String)> = runs.collect::<rusqlite::Result<_>>()?;
    let labs = labs(connection)?;
    let of_labs: HashSet<&str> = labs
        .iter()
        .flat_map(|lab| lab.run_ids.iter().map(String::as_str))
        .collect();
    let mut rows: Vec<(i64, String, Found)> = labs
        .iter()
        .map(|lab| {
            let found = Found::Lab(lab.id.clone());
            (lab.started_at.as_microsecond(), lab.id.clone(), found)
        })
        .collect();
    let mut of_tags: HashMap<&str, usize> = HashMap::new();
    for (id, started_us, tags) in &runs {
        if of_labs.contains(id.as_str()) {
            continue;
        }
        // A tag has no blank.
        let tag = tags.split(' ').find(|tag| is_lab_tag(tag));
        let known = tag.and_then(|tag| of_tags.get(tag)).copied();
        match (tag, known.and_then(|place| rows.get_mut(place))) {
            (Some(_), Some((_, _, Found::Tagged { ids, .. }))) => ids.push(id.clone()),
            (Some(tag), _) => {
                of_tags.insert(tag, rows.len());
                let found = Found::Tagged {
                    tag: tag.to_owned(),
                    ids: vec![id.clone()],
                };
                rows.push((*started_us, tag.to_owned(), found));
            }
            (None, _) => rows.push((*started_us, id.clone(), Found::Run(id.clone()))),
        }
    }
    rows.sort_by(|one, other| (other.0, &other.1).cmp(&(one.0, &one.1)));
    Ok(rows.into_iter().map(|(_, _, found)| found).collect())
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
