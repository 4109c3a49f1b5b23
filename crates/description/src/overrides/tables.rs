//! Options for the tables of file workloads.

use toml::Value;

use crate::check::check;
use crate::model::{Workload, WorkloadTable};
use crate::native::meant;
use crate::nearest::{self, nearest, nearest_few};
use crate::overlay::overlay;
use crate::reference::{keys_named, keys_of_table, outermost_keys};
use plan::Diagnostic;

use super::{UnusedOptions, listed, read};

/// The only key of workloads that tables also have.
pub(super) const SIZE: &str = "size";
/// The corresponding key of tables with several sizes.
pub(super) const SIZES: &str = "sizes";
/// PostMark's own names for keys of its pool.
const POOL_KEYS: [&str; 4] = [SIZE, "read", "write", "location"];

/// An option for a key of one or several tables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableOption {
    /// The key as it was given.
    pub key: String,
    /// `true` if the option names its table.
    is_dotted: bool,
    /// The value for each table that has the key.
    values: Vec<(WorkloadTable, Result<TableValue, Diagnostic>)>,
    /// Why the value is not valid for the workloads' own key of that name.
    pub own_error: Option<Diagnostic>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct TableValue {
    /// A workload with only this table.
    workload: Workload,
    /// A target that the value names in addition.
    target: Option<String>,
}

impl TableOption {
    /// Parses the value for each table that has the key; `None` for keys of workloads themselves
    /// and for unknown keys.
    pub fn read(key: &str, value: &str) -> Option<Self> {
        let (first, rest) = key.split_once('.').unwrap_or((key, ""));
        let named = WorkloadTable::ALL
            .into_iter()
            .find(|table| table.key() == first);
        if named == Some(WorkloadTable::Program) {
            // Its tables are lists, which can only be set as a whole.
            return None;
        }
        let values: Vec<_> = match named {
            Some(_) if rest.is_empty() => return None,
            Some(table) => vec![(table, value_for(table, rest, value))],
            // Workloads and tables both have `size`, so it is read for both.
            None if first != SIZE && outermost_keys().any(|key| key == first) => return None,
            None => WorkloadTable::ALL
                .into_iter()
                .filter(|table| is_key_of(*table, first))
                .map(|table| (table, value_for(table, key, value)))
                .collect(),
        };
        (!values.is_empty()).then(|| Self {
            key: key.to_owned(),
            is_dotted: named.is_some(),
            values,
            own_error: None,
        })
    }

    /// `true` if workloads have a key of that name, too.
    pub fn is_also_own(&self) -> bool {
        self.key == SIZE
    }

    /// Checks that the value is valid somewhere.
    ///
    /// # Errors
    /// The error of the workloads' own key, or else of the first table.
    pub fn checked(&self) -> Result<(), Diagnostic> {
        let fits_own = self.is_also_own() && self.own_error.is_none();
        if fits_own || self.values.iter().any(|(_, value)| value.is_ok()) {
            return Ok(());
        }
        let table_error = self
            .values
            .iter()
            .find_map(|(_, value)| value.as_ref().err());
        self.own_error
            .as_ref()
            .or(table_error)
            .map_or(Ok(()), |error| Err(error.clone()))
    }

    /// `true` if it is for a key of this name and the table has the key.
    pub fn takes(&self, table: WorkloadTable, key: &str) -> bool {
        self.key == key && self.value(table).is_some()
    }

    /// `true` if it sets this key of the table.
    pub fn sets(&self, table: WorkloadTable, key: &str) -> bool {
        let Some(Ok(value)) = self.value(table) else {
            return false;
        };
        // The serialized form shows whether a key is set, for every type of table.
        let written = units::json_value(&value.workload);
        written.is_ok_and(|workload| !workload[table.key()][key].is_null())
    }

    /// The target that the value names in addition.
    pub fn target(&self) -> Option<&str> {
        let mut values = self
            .values
            .iter()
            .filter_map(|(_, value)| value.as_ref().ok());
        values.find_map(|value| value.target.as_deref())
    }

    fn value(&self, table: WorkloadTable) -> Option<&Result<TableValue, Diagnostic>> {
        let mut values = self.values.iter();
        values.find_map(|(known, value)| (*known == table).then_some(value))
    }

    /// Applies the value to the workload's table.
    ///
    /// # Errors
    /// If the value is not valid for that table's key.
    pub fn apply(
        &self,
        workload: &mut Workload,
        unused: &mut UnusedOptions,
    ) -> Result<(), Diagnostic> {
        let table = workload.table();
        match table.and_then(|table| self.value(table)) {
            Some(Ok(value)) => {
                *workload = overlay(std::mem::take(workload), value.workload.clone());
                return Ok(());
            }
            Some(Err(error)) => return Err(error.clone()),
            None => {}
        }
        if !self.is_also_own() {
            unused.add(
                &self.key,
                self.no_effect_error(workload, table),
                self.is_dotted,
            );
        } else if let (None, Some(error)) = (table, &self.own_error) {
            unused.add(&self.key, error.clone(), false);
        }
        Ok(())
    }

    /// Why the option has no effect on the workload.
    fn no_effect_error(&self, workload: &Workload, table: Option<WorkloadTable>) -> Diagnostic {
        let (name, key) = (workload.name_or_default(), &self.key);
        let owners: Vec<String> = self
            .values
            .iter()
            .map(|(owner, _)| format!("`{}`", owner.header()))
            .collect();
        let owners = owners.join(" and ");
        let message = match table {
            _ if self.is_dotted => {
                format!("`{key}` is a key of {owners}, which `{name}` does not have")
            }
            Some(table) => format!(
                "`{key}` is not a key of `{}`, which `{name}` uses",
                table.header()
            ),
            None => format!("`{key}` is a key of {owners}, which `{name}` does not use"),
        };
        let keys = table.map(keys_of).unwrap_or_default();
        let help = match (nearest(key, keys.iter().copied()), table) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(table)) if !self.is_dotted && !keys.is_empty() => {
                let list = match keys.len() {
                    ..=LISTED_KEYS_MAX => format!(": {}", nearest::listed(keys)),
                    _ => format!("; `pgmeter keys {}` lists them", table.key()),
                };
                format!(
                    "leave `{key}` out, or use a key of `{}`{list}",
                    table.header()
                )
            }
            _ => format!("leave `{key}` out, or run a workload that has it"),
        };
        Diagnostic::error("", message).help(help)
    }
}

/// Maximum number of keys that an error lists.
const LISTED_KEYS_MAX: usize = 15;

/// Suggests the nearest key of all tables if the error of an unknown key has no suggestion.
pub(super) fn with_nearest(error: Diagnostic) -> Diagnostic {
    let unknown = error.message.strip_prefix("unknown key `");
    let Some(key) = unknown.and_then(|rest| rest.strip_suffix('`')) else {
        return error;
    };
    if error
        .help
        .as_ref()
        .is_some_and(|help| help.starts_with("did you mean") || help.contains(" belongs "))
    {
        return error;
    }
    let all: Vec<&str> = WorkloadTable::ALL.into_iter().flat_map(keys_of).collect();
    let near = nearest_few(key, all.iter().copied(), 3);
    if near.is_empty() {
        return error;
    }
    let table_key = |name: &str| {
        let mut named = keys_named(name).into_iter();
        named.find(|key| !key.table.is_empty())
    };
    let keys: Vec<_> = near.into_iter().map(|it| (it, table_key(it))).collect();
    error.help(meant(&keys))
}

fn is_key_of(table: WorkloadTable, key: &str) -> bool {
    keys_of(table).contains(&key)
}

/// The keys of a table, and other names for some of them.
fn keys_of(table: WorkloadTable) -> Vec<&'static str> {
    if table == WorkloadTable::Program {
        // Its tables can only be set in a file.
        return Vec::new();
    }
    let mut keys: Vec<&str> = keys_of_table(table.key()).collect();
    match table.has_pool() {
        true => keys.extend(POOL_KEYS),
        false if keys.contains(&SIZES) => keys.push(SIZE),
        false => {}
    }
    keys
}

/// Parses a value of the table's key, which may also have the original program's name.
fn value_for(table: WorkloadTable, key: &str, value: &str) -> Result<TableValue, Diagnostic> {
    let read_key = |key: &str, value: &str| read(&format!("{}.{key}", table.key()), value);
    let over = match key {
        SIZE if table.has_pool() => sizes(table, value),
        SIZE if keys_of_table(table.key()).any(|key| key == SIZES) => read_key(SIZES, value),
        _ if !table.has_pool() => read_key(key, value),
        "read" => read_key("read_block", value),
        "write" => read_key("write_block", value),
        "location" if value.starts_with('/') => return outside(table, value),
        "locations" if is_outside(value) => return locations_outside(table, value),
        "location" => read_key("locations", &Value::from(value).to_string()),
        "locations" => read_key("locations", &to_toml_list(value)),
        _ => read_key(key, value),
    }?;
    check(&over).map_err(|flaw| flaw.diagnostic(""))?;
    Ok(TableValue {
        workload: over,
        target: None,
    })
}

/// Parses `LOW HIGH`, or one number for both.
fn sizes(table: WorkloadTable, value: &str) -> Result<Workload, Diagnostic> {
    let (low, high) = match value.split_once(char::is_whitespace) {
        Some((low, high)) => (low, high.trim_start()),
        None => (value, value),
    };
    Ok(overlay(
        read(&format!("{}.min_size", table.key()), low)?,
        read(&format!("{}.max_size", table.key()), high)?,
    ))
}

/// Each text between commas is a location.
fn to_toml_list(value: &str) -> String {
    // A list with brackets and quotes stays unchanged.
    match value.contains(',') && value.parse::<Value>().is_err() {
        true => listed(value),
        false => value.to_owned(),
    }
}

/// A location without brackets and quotes.
fn bare(value: &str) -> &str {
    value.trim_matches(['[', ']', '"', '\'', ' '])
}

fn is_outside(value: &str) -> bool {
    bare(value).starts_with('/')
}

fn locations_outside(table: WorkloadTable, value: &str) -> Result<TableValue, Diagnostic> {
    if value.contains(',') {
        let message = "several locations outside the target are several targets";
        return Err(Diagnostic::error("", message).help("name each with `--target`"));
    }
    outside(table, bare(value))
}

/// An absolute location becomes the target; its weight has no effect, because it is the only one.
fn outside(table: WorkloadTable, location: &str) -> Result<TableValue, Diagnostic> {
    let path = match location.rsplit_once(' ') {
        Some((path, weight)) if weight.parse::<u32>().is_ok() => path,
        _ => location,
    };
    Ok(TableValue {
        workload: read(&format!("{}.locations", table.key()), "[]")?,
        target: Some(path.to_owned()),
    })
}
