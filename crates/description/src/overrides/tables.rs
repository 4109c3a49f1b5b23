//! Options for the tables of file workloads.

use toml::Value;

use crate::check::check;
use crate::classics::postmark::Postmark;
use crate::model::{OneOrMany, Table, Workload};
use crate::native::meant;
use crate::nearest::{nearest, nearest_few};
use crate::overlay::overlay;
use crate::reference::{keys_named, keys_of_type, outermost_keys};
use plan::Diagnostic;

use super::{Unused, listed, read};

/// The one key of workloads that a table of the same key, or PostMark's own name, takes for its
/// own.
const SIZE: &str = "size";

/// An option for a key of one or several tables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableOption {
    /// The key as it was given.
    key: String,
    /// Whether it names its table.
    is_dotted: bool,
    /// What it comes to in each table that has the key.
    values: Vec<(Table, Result<TableValue, Diagnostic>)>,
    /// Why the value is none of the workloads' own key of that name.
    pub elsewhere: Option<Diagnostic>,
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq, Default)]
struct TableValue {
    /// A workload with the table alone.
    over: Workload,
    /// A target that the value names as well.
    target: Option<String>,
}

impl TableOption {
    /// Reads the value for each table that has the key; nothing for a key of workloads
    /// themselves, and for one that nobody knows.
    pub fn read(key: &str, value: &str) -> Option<Self> {
        let (first, rest) = key.split_once('.').unwrap_or((key, ""));
        let named = Table::ALL.into_iter().find(|table| table.key() == first);
        if named == Some(Table::Program) {
            // Its tables are lists, which are set as a whole.
            return None;
        }
        let values: Vec<_> = match named {
            Some(_) if rest.is_empty() => return None,
            Some(table) => vec![(table, value_for(table, rest, value))],
            None if first != SIZE && outermost_keys().any(|key| key == first) => return None,
            None => Table::ALL
                .into_iter()
                .filter(|table| is_key_of(*table, first))
                .map(|table| (table, value_for(table, key, value)))
                .collect(),
        };
        (!values.is_empty()).then(|| Self {
            key: key.to_owned(),
            is_dotted: named.is_some(),
            values,
            elsewhere: None,
        })
    }

    /// Whether workloads have a key of that name, too.
    pub fn is_also_own(&self) -> bool {
        self.key == SIZE
    }

    /// The error of an option that fits nowhere.
    ///
    /// # Errors
    /// That of the workloads' own key, or else of the first table.
    pub fn checked(&self) -> Result<(), Diagnostic> {
        let fits_own = self.is_also_own() && self.elsewhere.is_none();
        if fits_own || self.values.iter().any(|(_, value)| value.is_ok()) {
            return Ok(());
        }
        let of_tables = self
            .values
            .iter()
            .find_map(|(_, value)| value.as_ref().err());
        self.elsewhere
            .as_ref()
            .or(of_tables)
            .map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Whether it is for a key of this name, and the table has it.
    pub fn takes(&self, table: Table, key: &str) -> bool {
        self.key == key && self.value(table).is_some()
    }

    /// Whether it sets this key of the table.
    pub fn sets(&self, table: Table, key: &str) -> bool {
        let Some(Ok(value)) = self.value(table) else {
            return false;
        };
        let written = match table {
            Table::Postmark => units::json_value(&value.over.postmark),
            Table::CreateRemove => units::json_value(&value.over.create_remove),
            Table::LatFs => units::json_value(&value.over.lat_fs),
            Table::FsMark => units::json_value(&value.over.fs_mark),
            Table::Program => return false,
        };
        written.is_ok_and(|table| !table[key].is_null())
    }

    /// The target that it names as well.
    pub fn target(&self) -> Option<&str> {
        let mut values = self
            .values
            .iter()
            .filter_map(|(_, value)| value.as_ref().ok());
        values.find_map(|value| value.target.as_deref())
    }

    fn value(&self, table: Table) -> Option<&Result<TableValue, Diagnostic>> {
        let mut values = self.values.iter();
        values.find_map(|(known, value)| (*known == table).then_some(value))
    }

    /// Lays the value over the workload's table.
    ///
    /// # Errors
    /// When it is no value of that table's key.
    pub fn apply(&self, workload: &mut Workload, unused: &mut Unused) -> Result<(), Diagnostic> {
        let table = workload.table();
        match table.and_then(|table| self.value(table)) {
            Some(Ok(value)) => {
                *workload = overlay(std::mem::take(workload), value.over.clone());
                return Ok(());
            }
            Some(Err(error)) => return Err(error.clone()),
            None => {}
        }
        if !self.is_also_own() {
            unused.add(&self.key, self.not_here(workload, table), self.is_dotted);
        } else if let (None, Some(error)) = (table, &self.elsewhere) {
            unused.add(&self.key, error.clone(), false);
        }
        Ok(())
    }

    /// Why the option changes nothing for the workload.
    fn not_here(&self, workload: &Workload, table: Option<Table>) -> Diagnostic {
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
        let near = table.and_then(|table| {
            let keys = keys_of(table);
            let known = keys.iter().copied();
            nearest(key, known).map(|near| format!("did you mean `{near}`?"))
        });
        let help = near.unwrap_or_else(|| {
            format!(
                "leave `{key}` out, or run a workload that has \
                                                   it"
            )
        });
        Diagnostic::error("", message).help(help)
    }
}

/// Adds the nearest key of all tables to the error of an unknown key that is near to no other.
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
    let all: Vec<&str> = Table::ALL.into_iter().flat_map(keys_of).collect();
    let near = nearest_few(key, all.iter().copied(), 3);
    if near.is_empty() {
        return error;
    }
    let of_a_table = |name: &str| {
        let mut named = keys_named(name).into_iter();
        named.find(|key| !key.table.is_empty())
    };
    let keys: Vec<_> = near.into_iter().map(|it| (it, of_a_table(it))).collect();
    error.help(meant(&keys))
}

fn is_key_of(table: Table, key: &str) -> bool {
    keys_of(table).contains(&key)
}

/// The keys of a table, and the names by which PostMark calls some of them.
fn keys_of(table: Table) -> Vec<&'static str> {
    const OF_POSTMARK: [&str; 4] = [SIZE, "read", "write", "location"];
    let name = match table {
        Table::Postmark => "Postmark",
        Table::CreateRemove => "CreateRemove",
        Table::LatFs => "LatFs",
        Table::FsMark => "FsMark",
        // What its tables have is said in the file.
        Table::Program => return Vec::new(),
    };
    let mut keys: Vec<&str> = keys_of_type(name).collect();
    match table {
        Table::Postmark => keys.extend(OF_POSTMARK),
        Table::CreateRemove | Table::LatFs => keys.push(SIZE),
        Table::FsMark | Table::Program => {}
    }
    keys
}

/// Reads a value of the table's key, which may be one of PostMark's own names.
fn value_for(table: Table, key: &str, value: &str) -> Result<TableValue, Diagnostic> {
    let over = match (table, key) {
        (Table::Postmark, SIZE) => sizes(value),
        (Table::CreateRemove | Table::LatFs, SIZE) => {
            read(&format!("{}.sizes", table.key()), value)
        }
        (Table::Postmark, "read") => read("postmark.read_block", value),
        (Table::Postmark, "write") => read("postmark.write_block", value),
        (Table::Postmark, "location") if value.starts_with('/') => return Ok(outside(value)),
        (Table::Postmark, "locations") if is_outside(value) => return locations_outside(value),
        (Table::Postmark, "location") => {
            read("postmark.locations", &Value::from(value).to_string())
        }
        (Table::Postmark, "locations") => read("postmark.locations", &as_list(value)),
        _ => read(&format!("{}.{key}", table.key()), value),
    }?;
    check(&over).map_err(|flaw| flaw.diagnostic(""))?;
    Ok(TableValue { over, target: None })
}

/// `LOW HIGH`, or one number for both, as PostMark's `set size` takes them.
fn sizes(value: &str) -> Result<Workload, Diagnostic> {
    let (low, high) = match value.split_once(char::is_whitespace) {
        Some((low, high)) => (low, high.trim_start()),
        None => (value, value),
    };
    Ok(overlay(
        read("postmark.min_size", low)?,
        read("postmark.max_size", high)?,
    ))
}

/// What stands between commas is a location each.
fn as_list(value: &str) -> String {
    match value.contains(',') && value.parse::<Value>().is_err() {
        true => listed(value),
        false => value.to_owned(),
    }
}

/// A location as it stands in a list or in quotes.
fn bare(value: &str) -> &str {
    value.trim_matches(['[', ']', '"', '\'', ' '])
}

fn is_outside(value: &str) -> bool {
    bare(value).starts_with('/')
}

fn locations_outside(value: &str) -> Result<TableValue, Diagnostic> {
    if value.contains(',') {
        let message = "several locations outside the target are several targets";
        return Err(Diagnostic::error("", message).help("name each with `--target`"));
    }
    Ok(outside(bare(value)))
}

/// An absolute location is the target; its weight changes nothing, as it is the only one.
fn outside(location: &str) -> TableValue {
    let path = match location.rsplit_once(' ') {
        Some((path, weight)) if weight.parse::<u32>().is_ok() => path,
        _ => location,
    };
    let postmark = Postmark {
        locations: Some(OneOrMany::Many(Vec::new())),
        ..Postmark::default()
    };
    TableValue {
        over: Workload {
            postmark: Some(postmark),
            ..Workload::default()
        },
        target: Some(path.to_owned()),
    }
}
