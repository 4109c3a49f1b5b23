//! Generates `docs/api.md` from the routes and their types.

use std::fmt::Write as _;

use schemars::{Schema, schema_for};
use serde_json::Value;
use store::CellView;

use crate::api::events::HelloEvent;
use crate::live::{CellStartEvent, GapEvent, IntervalEvent, RunEndEvent};
use crate::routes::{ROUTES, Route};

const INTRODUCTION: &str = include_str!("reference/introduction.md");
const EVENTS: &str = include_str!("reference/events.md");

/// An event of a stream: its name, when it is sent, and its type.
type Event = (&'static str, &'static str, fn() -> Schema);

const EVENT_TYPES: [Event; 7] = [
    ("hello", "The first event.", || schema_for!(HelloEvent)),
    ("cell-start", "A cell begins.", || {
        schema_for!(CellStartEvent)
    }),
    (
        "interval",
        "An interval of measured time is complete.",
        || schema_for!(IntervalEvent),
    ),
    ("cell-end", "A cell is complete.", || schema_for!(CellView)),
    ("warning", "A warning about the results.", || {
        schema_for!(results::Warning)
    }),
    ("gap", "Events were lost.", || schema_for!(GapEvent)),
    ("run-end", "The last event: the run has ended.", || {
        schema_for!(RunEndEvent)
    }),
];

/// The reference page of the API.
#[must_use]
pub fn api_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = "";
    for route in ROUTES {
        if route.section != section {
            section = route.section;
            put(&mut page, format_args!("\n## {section}\n"));
        }
        write_route(&mut page, route);
    }
    page.push('\n');
    page.push_str(EVENTS);
    for (name, when, schema) in EVENT_TYPES {
        put(&mut page, format_args!("\n### `{name}`\n{when}\n"));
        write_fields(&mut page, &schema());
    }
    page
}

fn put(page: &mut String, text: std::fmt::Arguments) {
    // Writing to a string does not fail.
    let _ = page.write_fmt(text);
}

fn write_route(page: &mut String, route: &Route) {
    let Route {
        method,
        path,
        description: meaning,
        answer,
        ..
    } = route;
    put(
        page,
        format_args!("\n### `{method} {path}`\n{meaning}\n\nAnswer: {answer}\n"),
    );
    if let Some(query) = route.query {
        page.push_str("\nQuery:\n");
        write_fields(page, &query());
    }
    if let Some(body) = route.body {
        page.push_str("\nJSON of the request:\n");
        write_fields(page, &body());
    }
}

/// Adds a table with the fields of a type and of the types it contains.
fn write_fields(page: &mut String, schema: &Schema) {
    let root = schema.as_value();
    let mut rows = Vec::new();
    collect(root, root, ("", 0), &mut rows);
    page.push_str("\n| field | kind | meaning |\n|---|---|---|\n");
    for (name, kind, meaning) in rows {
        put(page, format_args!("| `{name}` | {kind} | {meaning} |\n"));
    }
}

type Row = (String, String, String);

/// Maximum depth of nested types. Records are described elsewhere.
const DEPTH_MAX: u32 = 2;

fn collect(root: &Value, at: &Value, (above, depth): (&str, u32), rows: &mut Vec<Row>) {
    let at = resolved(root, at);
    let parts = at["allOf"].as_array().into_iter().flatten();
    let mut fields: Vec<(&String, &Value)> = Vec::new();
    for part in std::iter::once(at).chain(parts.map(|part| resolved(root, part))) {
        fields.extend(part["properties"].as_object().into_iter().flatten());
    }
    for (name, field) in fields {
        let inner = within(root, field);
        let described = field["description"].as_str();
        let described = described.or_else(|| inner["description"].as_str());
        let meaning = described
            .unwrap_or_default()
            .replace('\n', " ")
            .replace('|', "\\|");
        let name = format!("{above}{name}");
        rows.push((name.clone(), kind(root, field), meaning));
        if inner.get("properties").is_some() && depth < DEPTH_MAX {
            let is_list = resolved(root, field)["type"] == "array";
            let above = format!("{name}{}.", if is_list { "[]" } else { "" });
            collect(root, inner, (&above, depth + 1), rows);
        }
    }
}

/// Follows a reference within the schema.
fn resolved<'a>(root: &'a Value, at: &'a Value) -> &'a Value {
    match at["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
        Some(pointer) => root.pointer(pointer).unwrap_or(at),
        None => at,
    }
}

/// The type of a field without lists and `null`.
fn within<'a>(root: &'a Value, field: &'a Value) -> &'a Value {
    let mut at = resolved(root, field);
    if let Some(items) = at.get("items") {
        at = resolved(root, items);
    }
    let options = at["anyOf"].as_array().into_iter().flatten();
    let mut given = options.filter(|it| it["type"] != "null");
    match given.next() {
        Some(only) => resolved(root, only),
        None => at,
    }
}

/// Short description of a field's type.
fn kind(root: &Value, field: &Value) -> String {
    let at = resolved(root, field);
    if let Some(options) = at["anyOf"].as_array() {
        let given: Vec<String> = options
            .iter()
            .filter(|it| it["type"] != "null")
            .map(|it| kind(root, it))
            .collect();
        return format!("{} or null", given.join(", "));
    }
    let words = |options: &Value| -> Vec<String> {
        let options = options.as_array().into_iter().flatten();
        let values = options.filter_map(|it| it.get("const").unwrap_or(it).as_str());
        values.map(|word| format!("`{word}`")).collect()
    };
    for list in [&at["oneOf"], &at["enum"]] {
        let words = words(list);
        if !words.is_empty() {
            return words.join(", ");
        }
    }
    match &at["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(root, &at["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_page_documents_every_route_and_field() {
        let page = api_page();
        for route in ROUTES {
            assert!(page.contains(&format!("`{} {}`", route.method, route.path)));
        }
        let fields = page.lines().filter(|line| line.starts_with("| `"));
        for line in fields {
            assert!(!line.ends_with("|  |"), "{line}");
        }
    }

    #[test]
    fn the_api_page_in_docs_matches_the_routes() {
        let committed = include_str!("../../../docs/api.md");
        assert!(committed == api_page(), "run `cargo xtask docs`");
    }
}
