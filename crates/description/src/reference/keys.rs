//! All keys of a workload file with their properties, from the same schema as the reference page.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::nearest::nearest;

use super::markdown;
use super::schema::schema;

/// A key of a workload file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkloadKey {
    /// Path of its table, such as `access_spec.line`; empty at the top of the file.
    pub table: String,
    /// Name of the key.
    pub name: String,
    /// Kind of its value.
    pub value: String,
    /// Unit of a plain number.
    pub unit: Option<&'static str>,
    /// Value if the key is not written.
    pub default: Option<String>,
    /// Description.
    pub meaning: String,
    /// Allowed words; empty if it does not take words.
    pub words: Vec<String>,
}

impl WorkloadKey {
    /// The key with its table, in the form of `--set`.
    #[must_use]
    pub fn path(&self) -> String {
        match self.table.as_str() {
            "" => self.name.clone(),
            table => format!("{table}.{}", self.name),
        }
    }

    /// Range of whole numbers, as stated in the description: `1 to 1024`, or `up to 1000`, which
    /// starts at 0.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        let number = |word: &str| {
            word.trim_end_matches([',', ';', '.', ':', ')'])
                .parse()
                .ok()
        };
        // No other part of the schema states the range.
        let words: Vec<&str> = self.meaning.split(' ').collect();
        words.windows(3).find_map(|three| match three {
            ["up", "to", max] => Some((0, number(max)?)),
            [min, "to", max] => Some((number(min)?, number(max)?)),
            _ => None,
        })
    }

    /// First sentence of the description.
    #[must_use]
    pub fn sentence(&self) -> &str {
        let end = self.meaning.find(". ").unwrap_or(self.meaning.len());
        self.meaning[..end].trim_end_matches('.')
    }
}

/// All keys, table by table in the order of the reference page.
#[must_use]
pub fn keys() -> Vec<WorkloadKey> {
    let schema = schema();
    let mut keys = of_table("", schema, schema);
    for (name, path) in markdown::paths() {
        keys.extend(of_table(path, &schema["$defs"][name], schema));
    }
    keys
}

/// The keys that match a word: first exact names, then names that contain it, then descriptions
/// that contain it.
#[must_use]
pub fn find_keys(word: &str) -> Vec<WorkloadKey> {
    let wanted = folded(word);
    let rank = |key: &WorkloadKey| {
        let (name, path) = (folded(&key.name), folded(&key.path()));
        let description = || folded(&format!("{} {}", key.meaning, key.words.join(" ")));
        match () {
            () if name == wanted || path == wanted => Some(0),
            () if path.contains(&wanted) => Some(1),
            () if description().contains(&wanted) => Some(2),
            () => None,
        }
    };
    let ranked = keys()
        .into_iter()
        .filter_map(|key| Some((rank(&key)?, key)));
    let mut ranked: Vec<(u8, WorkloadKey)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, key)| key).collect()
}

/// The key name most similar to a word that matches none.
#[must_use]
pub fn nearest_key(word: &str) -> Option<String> {
    let names: Vec<String> = keys().into_iter().map(|key| key.name).collect();
    nearest(word, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Path of the table of acts.
const ACTS_PATH: &str = "phase.group.body";

/// The key of that name in the table with exactly these keys.
pub(crate) fn sibling_key(name: &str, siblings: &[String]) -> Option<WorkloadKey> {
    let all = keys();
    let table = table_of(&all, siblings)?;
    let mut named = all.iter().filter(|key| key.name == name);
    named.find(|key| key.table == table).cloned()
}

/// The key of that name in another table than the one with exactly these keys; nested tables of
/// that one come first.
pub(crate) fn key_elsewhere(name: &str, siblings: &[String]) -> Option<WorkloadKey> {
    let all = keys();
    let own = table_of(&all, siblings);
    let is_of_phases = own.as_ref().is_some_and(|it| it.starts_with("phase"));
    let inner = own.map(|table| format!("{table}."));
    // Acts have many common words as keys, which are meant only in phases.
    let is_eligible = |key: &&WorkloadKey| is_of_phases || !key.table.starts_with(ACTS_PATH);
    let named = || {
        all.iter()
            .filter(|key| key.name == name)
            .filter(is_eligible)
    };
    let is_inner = |key: &&WorkloadKey| inner.as_ref().is_some_and(|it| key.table.starts_with(it));
    named().find(is_inner).or_else(|| named().next()).cloned()
}

fn table_of(all: &[WorkloadKey], siblings: &[String]) -> Option<String> {
    let has_siblings = |table: &str| {
        // Serde's error has the keys of the table, but not its name.
        let own = || all.iter().filter(|key| key.table == table);
        own().count() == siblings.len() && own().all(|key| siblings.contains(&key.name))
    };
    let table = all.iter().find(|key| has_siblings(&key.table));
    table.map(|key| key.table.clone())
}

/// Range of whole numbers of the key at this path, if its description states one.
#[must_use]
pub fn range_of(path: &str) -> Option<(u64, u64)> {
    key_at(path)?.range()
}

/// The key at this path, such as `access_spec.line.burst`.
pub(crate) fn key_at(path: &str) -> Option<WorkloadKey> {
    keys().into_iter().find(|key| key.path() == path)
}

/// All keys of that name, in any table.
pub(crate) fn keys_named(name: &str) -> Vec<WorkloadKey> {
    keys().into_iter().filter(|key| key.name == name).collect()
}

/// Ignores case and the difference between `-`, `_` and spaces.
fn folded(text: &str) -> String {
    text.to_lowercase().replace(['-', ' '], "_")
}

fn of_table(table: &str, definition: &Value, schema: &Value) -> Vec<WorkloadKey> {
    let properties = definition["properties"].as_object();
    let key = |(name, property): (&String, &Value)| {
        let text = markdown::plain_meaning(property);
        let (meaning, default) = match text.rsplit_once("Default: ") {
            Some((meaning, default)) => (meaning.trim_end(), Some(default.trim_end_matches('.'))),
            None => (text.as_str(), None),
        };
        WorkloadKey {
            table: table.to_owned(),
            name: name.clone(),
            value: value(property, schema),
            unit: unit(property, schema),
            default: default.map(str::to_owned),
            meaning: meaning.to_owned(),
            words: words(property, schema),
        }
    };
    properties.into_iter().flatten().map(key).collect()
}

/// The definition that a property refers to, with its name.
fn resolve_reference<'a>(property: &'a Value, schema: &'a Value) -> Option<(&'a str, &'a Value)> {
    // An optional value is `anyOf` with its definition and `null`.
    let several = property["anyOf"].as_array().into_iter().flatten();
    let mut all = several.chain([property]);
    let reference = all.find_map(|it| it["$ref"].as_str())?;
    let name = reference.rsplit('/').next()?;
    Some((name, &schema["$defs"][name]))
}

/// Kind of a value; for a list, the kind of its items.
fn value(property: &Value, schema: &Value) -> String {
    match resolve_reference(property, schema) {
        Some((name, definition)) if name.starts_with("OneOrMany") => {
            format!("{}, or a list", markdown::kind(&definition["anyOf"][0]))
        }
        _ => markdown::kind(property),
    }
}

fn unit(property: &Value, schema: &Value) -> Option<&'static str> {
    let (name, definition) = resolve_reference(property, schema)?;
    let name = match name.starts_with("OneOrMany") {
        true => resolve_reference(&definition["anyOf"][0], schema)?.0,
        false => name,
    };
    match name {
        "Bytes" => Some("bytes"),
        "Span" => Some("seconds"),
        "Percent" => Some("percent"),
        "Rate" => Some("per second"),
        _ => None,
    }
}

fn words(property: &Value, schema: &Value) -> Vec<String> {
    let definition = resolve_reference(property, schema).map(|(_, definition)| definition);
    let choices = definition.and_then(|it| it["oneOf"].as_array());
    let all = choices
        .into_iter()
        .flatten()
        .flat_map(markdown::choice_words);
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(path: &str) -> WorkloadKey {
        let found = keys().into_iter().find(|key| key.path() == path);
        found.unwrap_or_else(|| panic!("no `{path}`"))
    }

    #[test]
    fn keys_have_value_unit_default_and_meaning() {
        let size = key("size");
        assert_eq!((size.value.as_str(), size.unit), ("size", Some("bytes")));
        assert!(size.default.unwrap().ends_with("else 1 GiB"));
        let depth = key("iodepth");
        assert_eq!(
            (depth.value.as_str(), depth.unit),
            ("number, or a list", None)
        );
        assert_eq!(depth.default.as_deref(), Some("1"));
        assert!(
            depth
                .sentence()
                .starts_with("Requests each worker keeps in flight")
        );
        assert_eq!(key("rate").unit, Some("per second"));
        assert_eq!(key("run_time").unit, Some("seconds"));
        assert_eq!(key("access_spec.line.read").unit, Some("percent"));
        assert_eq!(key("engine").words, ["psync", "io_uring", "mmap", "null"]);
        assert_eq!(key("repetitions").value, "number or `auto`");
        for key in keys() {
            assert!(
                key.meaning.len() > 5 && !key.value.is_empty(),
                "{}",
                key.path()
            );
            assert!(!key.meaning.contains("Default:"), "{}", key.path());
        }
    }

    #[test]
    fn ranges_are_read_from_the_descriptions() {
        for (path, range) in [
            ("iodepth", Some((1, 32_768))),
            ("workers", Some((1, 1024))),
            ("repetitions", Some((1, 1000))),
            ("postmark.keep_open", Some((0, 1_000_000))),
            ("fs_mark.threads", Some((1, 64))),
            ("cycling", None),
            ("size", None),
        ] {
            assert_eq!(key(path).range(), range, "{path}");
        }
    }

    #[test]
    fn a_search_lists_matching_names_before_descriptions() {
        let found: Vec<String> = find_keys("IODEPTH").iter().map(WorkloadKey::path).collect();
        assert_eq!(found[0], "iodepth");
        assert!(found.contains(&"rate".to_owned()), "{found:?}");
        assert_eq!(find_keys("ramp-time")[0].path(), "ramp_time");
        assert_eq!(find_keys("postmark.number")[0].path(), "postmark.number");
        assert!(find_keys("no such thing").is_empty());
        assert_eq!(nearest_key("io_depht").as_deref(), Some("iodepth"));
    }

    #[test]
    fn a_key_is_identified_by_its_sibling_keys() {
        let of = |table: &str| {
            let own = keys().into_iter().filter(|key| key.table == table);
            own.map(|key| key.name).collect::<Vec<_>>()
        };
        let size = sibling_key("size", &of("access_spec.line")).unwrap();
        assert_eq!(size.path(), "access_spec.line.size");
        assert_eq!(sibling_key("size", &of("")).unwrap().path(), "size");
        assert_eq!(sibling_key("size", &[]), None);
    }
}
