//! Generates a page of tables from a JSON Schema.

use serde_json::{Map, Value};

struct SchemaTable {
    /// Name of the definition.
    name: &'static str,
    /// Title on the page.
    title: &'static str,
    /// Path of its keys.
    path: &'static str,
}

const fn of(name: &'static str, title: &'static str, path: &'static str) -> SchemaTable {
    SchemaTable { name, title, path }
}

/// Tables of the schema, in the order of the page.
const TABLES: [SchemaTable; 30] = [
    of("Postmark", "`[postmark]`", "postmark"),
    of("CreateRemove", "`[create_remove]`", "create_remove"),
    of("LatFs", "`[lat_fs]`", "lat_fs"),
    of("FsMark", "`[fs_mark]`", "fs_mark"),
    of("AccessSpec", "`[[access_spec]]`", "access_spec"),
    of("AccessLine", "`[[access_spec.line]]`", "access_spec.line"),
    of(
        "ZoneChoice",
        "Zones of a `distribution`",
        "access_spec.line.distribution.zones",
    ),
    of("WorkerTable", "`[[worker]]`", "worker"),
    of("FilesetTable", "`[[fileset]]`", "fileset"),
    of(
        "NestedTable",
        "`fileset.nested`, `fileset.paths`",
        "fileset.nested",
    ),
    of("GrownTable", "`fileset.grown`", "fileset.grown"),
    of("OpenModeTable", "`[[way]]`", "way"),
    of("TokensTable", "`[[tokens]]`", "tokens"),
    of("PhaseTable", "`[[phase]]`", "phase"),
    of("GroupTable", "`[[phase.group]]`", "phase.group"),
    of("RoundsTable", "`[[rounds]]`", "rounds"),
    of("ActTable", "Acts of a group", "phase.group.body"),
    of("BranchTable", "Branches of `mix`", "phase.group.body.mix"),
    of("PositionTable", "Positions in files", "phase.group.body.at"),
    of(
        "LawOfBytes",
        "Laws of sizes, times and counts",
        "fileset.size",
    ),
    of("BandOfBytes", "Bands of a `table`", "fileset.size.table"),
    of("SteadyChoice", "`[steady]`", "steady"),
    of("Cycling", "`[cycling]`", "cycling"),
    of(
        "Cycle",
        "`cycling.workers`, `cycling.targets`",
        "cycling.workers",
    ),
    of("DepthCycle", "`cycling.iodepth`", "cycling.iodepth"),
    of("Reducible", "Shares of `content`", "content"),
    of("JobTable", "`[[job]]`", "job"),
    of("DirectionTable", "`job.reads`, `job.writes`", "job.reads"),
    of("JobFileTable", "Files of a job", "job.files"),
    of("ByteZone", "`job.byte_zones`", "job.byte_zones"),
];

/// The definitions of tables, each with the path of its keys.
pub(super) fn paths() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.iter().map(|table| (table.name, table.path))
}

/// Enumerations of the schema: name of the definition, and title.
const CHOICES: [(&str, &str); 40] = [
    ("EngineKind", "`engine`"),
    ("ArrivalKind", "`arrivals`"),
    ("CacheMode", "`cache`"),
    ("UntilChoice", "`until`"),
    ("PositionRule", "`position`"),
    ("CursorKind", "`cursor`"),
    ("TestType", "`test_type`"),
    ("DistributionChoice", "`distribution`"),
    ("SequenceChoice", "`sequence`"),
    ("StepKind", "`kind` of a cycle"),
    ("FileChoice", "`postmark.choice`"),
    ("Fsync", "`postmark.fsync`"),
    ("PoolSharing", "`postmark.pool`"),
    ("PostmarkCompat", "`postmark.compat`"),
    ("ReportForm", "`postmark.report`"),
    ("LatFsCompat", "`lat_fs.compat`"),
    ("Order", "`order`"),
    ("FileSync", "`sync`"),
    ("BetweenSteps", "`create_remove.between`"),
    ("CreateRemoveMode", "`create_remove.mode`"),
    ("SyncMethod", "`fs_mark.sync_method`"),
    ("BareVerb", "acts without arguments"),
    ("PickChoice", "`pick`"),
    ("FileFilter", "`which`"),
    ("FileSharing", "`turn`"),
    ("FilesetSharing", "`fileset.copies`"),
    ("Access", "`way.access`"),
    ("OpenSync", "`way.sync`"),
    ("OnNoFile", "`when_out`"),
    ("OnFailure", "`on_failure`"),
    ("BeforeChoice", "`before` of a phase"),
    ("MetadataWork", "`job.names`"),
    ("SpaceWork", "`job.space`"),
    ("Layout", "`job.layout`"),
    ("FileCache", "`job.page_cache`"),
    ("TrimSetting", "`job.trim`"),
    ("RunDirection", "`job.run_place`"),
    ("FileOrderSetting", "`job.file_order`"),
    ("DurableWrites", "`job.durable`"),
    ("IoClass", "`job.io_class`"),
];

/// The whole page: the introductory text, all keys, and all enumerations.
pub(super) fn page(intro: &str, schema: &Value, again: &str) -> String {
    let mut page = format!("<!-- Generated from crates/description: {again}. -->\n{intro}");
    table(&mut page, "Keys of a workload", schema);
    for SchemaTable { name, title, .. } in &TABLES {
        table(&mut page, title, &schema["$defs"][name]);
    }
    for (name, title) in CHOICES {
        choices(&mut page, title, &schema["$defs"][name]);
    }
    page
}

fn table(page: &mut String, title: &str, definition: &Value) {
    page.push_str(&format!("\n## {title}\n\n"));
    page.push_str(&format!(
        "{}\n\n| key | value | meaning |\n|---|---|---|\n",
        meaning(definition)
    ));
    for (key, property) in definition["properties"].as_object().into_iter().flatten() {
        page.push_str(&format!(
            "| `{key}` | {} | {} |\n",
            kind(property),
            meaning(property)
        ));
    }
}

fn choices(page: &mut String, title: &str, definition: &Value) {
    page.push_str(&format!(
        "\n## Values of {title}\n\n| value | meaning |\n|---|---|\n"
    ));
    for choice in definition["oneOf"].as_array().into_iter().flatten() {
        for value in values(choice) {
            page.push_str(&format!("| {value} | {} |\n", meaning(choice)));
        }
    }
}

/// Forms of a choice: a word, or a table with one key.
fn values(choice: &Value) -> Vec<String> {
    let words = choice_words(choice);
    if !words.is_empty() {
        return words.iter().map(|word| format!("`{word}`")).collect();
    }
    let properties = choice["properties"].as_object();
    let table =
        |(key, property): (&String, &Value)| format!("`{{ {key} = … }}`: {}", kind(property));
    properties.into_iter().flatten().map(table).collect()
}

/// The description on one line, for a table cell.
fn meaning(schema: &Value) -> String {
    // A bar would end the cell of the table.
    plain_meaning(schema).replace('|', "\\|")
}

/// The description on one line.
pub(super) fn plain_meaning(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a choice; empty for a table.
pub(super) fn choice_words(choice: &Value) -> Vec<String> {
    let one = choice["const"].as_str();
    let several = choice["enum"].as_array().into_iter().flatten();
    let words = one.into_iter().chain(several.filter_map(Value::as_str));
    words.map(str::to_owned).collect()
}

/// Short name of the kind of a value.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return named(reference.rsplit('/').next().unwrap_or_default());
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(options) = schema[several].as_array() {
            let kinds = options
                .iter()
                // Nearly every key is optional, so `null` would be in each row.
                .filter(|option| option["type"] != "null")
                .map(kind);
            return kinds.collect::<Vec<_>>().join(" or ");
        }
    }
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kinds = types.into_iter().filter(|name| *name != "null");
    kinds
        .map(|name| plain(name, schema))
        .collect::<Vec<_>>()
        .join(" or ")
}

fn plain(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}s", kind(&schema["items"])),
        "string" => "text".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "object" => one_key(schema["properties"].as_object()),
        other => other.to_owned(),
    }
}

fn one_key(properties: Option<&Map<String, Value>>) -> String {
    match properties.and_then(|properties| properties.keys().next()) {
        Some(key) => format!("`{{ {key} = … }}`"),
        None => "table".to_owned(),
    }
}

/// Names of the definitions that the page shows.
#[cfg(test)]
pub(super) fn definitions() -> impl Iterator<Item = &'static str> {
    let choices = CHOICES.iter().map(|(name, _)| *name);
    TABLES.iter().map(|table| table.name).chain(choices)
}

/// Short name of the value of a definition.
fn named(name: &str) -> String {
    match name {
        "Bytes" => "size".to_owned(),
        "Span" => "time".to_owned(),
        "Percent" => "percent".to_owned(),
        "Seed" => "number".to_owned(),
        "Precondition" => "text".to_owned(),
        "Rate" => "rate".to_owned(),
        "Repetitions" => "number or `auto`".to_owned(),
        "CpuList" => "list of numbers or text".to_owned(),
        "Content" => "word or table".to_owned(),
        "Workload" => "workload".to_owned(),
        "IometerSettings" => "table".to_owned(),
        "ActChoice" => "act".to_owned(),
        "AmountChoice" => "amount".to_owned(),
        "PositionChoice" => "word, size or table".to_owned(),
        "FilesChoice" => "number or list".to_owned(),
        "BlockSize" => "size, range or shares".to_owned(),
        "PickChoice" | "BeforeChoice" => "word or table".to_owned(),
        "AmountOfBytes" => "size or law".to_owned(),
        "AmountOfSpan" => "time or law".to_owned(),
        _ if name.starts_with("AmountOf") => "number or law".to_owned(),
        _ if name.starts_with("OneOrMany") => "one or a list".to_owned(),
        "DistributionChoice" | "SequenceChoice" | "FileChoice" => "word or table".to_owned(),
        _ if CHOICES.iter().any(|(known, _)| *known == name) => "word".to_owned(),
        _ => "table".to_owned(),
    }
}
