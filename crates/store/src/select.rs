//! Resolves selectors of runs and labs.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::StoreError;
use crate::lab::labs;
use crate::store::Store;

/// Prefix of a selector by tag.
const TAG: &str = "tag:";

/// Prefix of the tag of a lab's runs; the start time of the lab follows.
const LAB_TAG: &str = "lab-";

/// SQL condition for such a tag, in the column `tag`.
pub(crate) const IS_LAB_TAG: &str = "tag GLOB 'lab-[0-9]*'";

/// Match of a selector in the list of runs and labs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundName {
    /// The run with this id.
    Run(String),
    /// The lab with this id, which has a record.
    Lab(String),
    /// The runs of a lab without a record, found by their tag, oldest first.
    Tagged {
        /// Tag of the lab, by which the runs were found.
        tag: String,
        /// Ids of the runs.
        ids: Vec<String>,
    },
}

/// `true` if the tag marks the runs of a lab.
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
    /// The id of the selected run. A selector is an id, a prefix of one, `last` for the newest row
    /// of the list of runs, or `@-N` for the N-th newest. `tag:NAME` selects the only run with that
    /// tag. In the list, a lab is one row, regardless of its number of runs.
    ///
    /// # Errors
    /// If no run matches, or more than one.
    pub fn resolve(&self, selector: &str) -> Result<String, StoreError> {
        Ok(self.select(selector)?.id)
    }

    /// The ids of the selected runs, oldest first: all runs with the tag for `tag:NAME`, otherwise
    /// one run as in [`Store::resolve`].
    ///
    /// # Errors
    /// If no run matches, or more than one without a tag.
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

    /// The match of a selector. A run is selected as in [`Store::resolve`]. A lab is selected by
    /// its id, a prefix of it, or as the newest row of the list. The runs of a lab are selected by
    /// their tag or a prefix of it.
    ///
    /// # Errors
    /// If no run or lab matches, or more than one.
    pub fn find(&self, selector: &str) -> Result<FoundName, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        // Ids begin with a digit, so such a selector can only be a tag.
        if is_lab_tag(selector) {
            return self.find_tag(selector);
        }
        if let Some(number) = newest_number(selector) {
            return self.nth_newest(selector, number);
        }
        let labs = labs_with_prefix(&self.connection, selector).map_err(failed)?;
        let Some(lab) = labs.first() else {
            return self.resolve(selector).map(FoundName::Run);
        };
        // A complete id takes precedence over longer ids that start with it.
        if labs.iter().any(|id| id == selector) {
            return Ok(FoundName::Lab(selector.to_owned()));
        }
        let runs = beginning_with(&self.connection, selector).map_err(failed)?;
        if let Some(exact) = runs.iter().find(|run| run.id == selector) {
            return Ok(FoundName::Run(exact.id.clone()));
        }
        let others = labs[1..].iter().chain(runs.iter().map(|run| &run.id));
        match others.clone().next() {
            None => Ok(FoundName::Lab(lab.clone())),
            Some(other) => Err(StoreError::Ambiguous {
                selector: selector.to_owned(),
                count: 1 + others.count(),
                first: lab.clone(),
                second: other.clone(),
            }),
        }
    }

    fn find_tag(&self, selector: &str) -> Result<FoundName, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        let mut tags = tags_with_prefix(&self.connection, selector).map_err(failed)?;
        if let Some(exact) = tags.iter().position(|tag| tag == selector) {
            tags.swap(0, exact);
            tags.truncate(1);
        }
        match tags.as_slice() {
            [tag] => {
                let runs = tagged(&self.connection, tag).map_err(failed)?;
                Ok(FoundName::Tagged {
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

    /// The N-th newest row of the list of runs and labs.
    fn nth_newest(&self, selector: &str, number: usize) -> Result<FoundName, StoreError> {
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
            Some(FoundName::Run(id)) => Some(id),
            Some(FoundName::Lab(lab) | FoundName::Tagged { tag: lab, .. }) => {
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
        // A complete id takes precedence over longer ids that start with it.
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

/// 1 for the newest row of the list, 2 for the second newest.
fn newest_number(selector: &str) -> Option<usize> {
    if selector == "last" {
        return Some(1);
    }
    let digits = selector.strip_prefix("@-")?;
    digits.parse().ok().filter(|number| *number > 0)
}

/// The rows of the list of runs and labs, newest first. A lab is one row; its start is that of the
/// lab, or of its first run if it has no record.
fn rows(connection: &Connection) -> rusqlite::Result<Vec<FoundName>> {
    let sql = "SELECT id, started_us, (SELECT group_concat(tag, ' ') FROM tags \
               WHERE run = runs.key) FROM runs ORDER BY started_us, id";
    let mut query = connection.prepare_cached(sql)?;
    let runs = query.query_map([], |row| {
        let tags: Option<String> = row.get(2)?;
        Ok((row.get(0)?, row.get(1)?, tags.unwrap_or_default()))
    })?;
    let runs: Vec<(String, i64, String)> = runs.collect::<rusqlite::Result<_>>()?;
    let labs = labs(connection)?;
    let lab_run_ids: HashSet<&str> = labs
        .iter()
        .flat_map(|lab| lab.run_ids.iter().map(String::as_str))
        .collect();
    let mut rows: Vec<(i64, String, FoundName)> = labs
        .iter()
        .map(|lab| {
            let found = FoundName::Lab(lab.id.clone());
            (lab.started_at.as_microsecond(), lab.id.clone(), found)
        })
        .collect();
    let mut tag_indexes: HashMap<&str, usize> = HashMap::new();
    for (id, started_us, tags) in &runs {
        // Runs of a lab with a record are in the lab's row.
        if lab_run_ids.contains(id.as_str()) {
            continue;
        }
        // Tags contain no spaces.
        let tag = tags.split(' ').find(|tag| is_lab_tag(tag));
        let known = tag.and_then(|tag| tag_indexes.get(tag)).copied();
        match (tag, known.and_then(|index| rows.get_mut(index))) {
            (Some(_), Some((_, _, FoundName::Tagged { ids, .. }))) => ids.push(id.clone()),
            (Some(tag), _) => {
                tag_indexes.insert(tag, rows.len());
                let found = FoundName::Tagged {
                    tag: tag.to_owned(),
                    ids: vec![id.clone()],
                };
                rows.push((*started_us, tag.to_owned(), found));
            }
            (None, _) => rows.push((*started_us, id.clone(), FoundName::Run(id.clone()))),
        }
    }
    // By id as well, so that rows with the same start always have the same number.
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
    // The first condition lets SQLite start in the index at the prefix.
    let sql = "SELECT key, id FROM runs WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 \
               ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([prefix], selected)?.collect()
}

fn labs_with_prefix(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    if prefix.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT id FROM labs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id";
    let mut query = connection.prepare_cached(sql)?;
    query.query_map([prefix], |row| row.get(0))?.collect()
}

fn tags_with_prefix(connection: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
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
