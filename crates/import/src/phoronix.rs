//! Result files of the Phoronix Test Suite (`composite.xml`).

use plan::Diagnostic;
use results::ImportedResult;
use roxmltree::{Document, Node};

use crate::draft::ImportDraft;
use crate::figures::{
    BYTES_PER_SECOND, FigureList, FigureMetric, KIB, LATENCY_MEAN, MIB, MICROSECOND, MILLISECOND,
    PER_SECOND, PrintedNumber, SECOND, TIME, statement,
};
use crate::source::{NumberedLine, ResultText};

/// Facts about each system.
const SYSTEM_FACTS: [&str; 6] = [
    "Identifier",
    "Hardware",
    "Software",
    "User",
    "TimeStamp",
    "Notes",
];

/// `true` if the text is such a file.
pub fn recognizes(text: &ResultText) -> bool {
    text.text.contains("<PhoronixTestSuite")
}

/// Reads all tests of all systems.
pub fn read(text: &ResultText) -> Result<ImportDraft, Diagnostic> {
    let document = Document::parse(text.text).map_err(|error| match error {
        // Its position is the start of the file.
        roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream => {
            text.ends_early("the end of the element `PhoronixTestSuite`")
        }
        roxmltree::Error::DtdDetected => {
            // A document type could make a short text expand without end.
            let mut lines = text.lines();
            let line = lines.find(|line| line.text.contains("<!DOCTYPE"));
            let line = line.unwrap_or(NumberedLine {
                number: 1,
                text: "",
            });
            text.unexpected(line, "XML without a document type")
        }
        error => Diagnostic::error(text.name, format!("expected XML: {error}"))
            .at_line(error.pos().row)
            .help("import the complete file"),
    })?;
    let root = document.root_element();
    let mut draft = ImportDraft::default();
    if let Some(generated) = child(root, "Generated") {
        draft.version = text_of(generated, "TestClient");
    }
    for system in root.children().filter(|it| it.has_tag_name("System")) {
        let facts = SYSTEM_FACTS.iter();
        let facts = facts.filter_map(|name| Some(statement(name, text_of(system, name)?)));
        draft.statements.extend(facts);
    }
    for result in root.children().filter(|it| it.has_tag_name("Result")) {
        draft.results.extend(results(text, result)?);
    }
    Ok(draft)
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|it| it.has_tag_name(name))
}

/// The text of a child; `None` if it is empty.
fn text_of(node: Node, name: &str) -> Option<String> {
    let text = child(node, name)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// One result per entry and repetition.
fn results(text: &ResultText, test: Node) -> Result<Vec<ImportedResult>, Diagnostic> {
    let title = text_of(test, "Title").or_else(|| text_of(test, "Identifier"));
    let title = title.unwrap_or_default();
    let scale = text_of(test, "Scale").unwrap_or_default();
    let settings = [
        "Identifier",
        "AppVersion",
        "Arguments",
        "Description",
        "Scale",
        "Proportion",
    ];
    let settings = settings.iter();
    let settings = settings.filter_map(|name| Some(statement(name, text_of(test, name)?)));
    let settings: Vec<_> = settings.collect();
    let description = text_of(test, "Description");
    let entries = child(test, "Data")
        .into_iter()
        .flat_map(|data| data.children());
    let mut results = Vec::new();
    for entry in entries.filter(|it| it.has_tag_name("Entry")) {
        let system = text_of(entry, "Identifier").unwrap_or_default();
        let value = text_of(entry, "Value");
        // The result of a test that failed is empty.
        let Some(value) = value else { continue };
        let raw = text_of(entry, "RawString").unwrap_or_else(|| value.clone());
        for (repetition, number) in (0..).zip(raw.split(':')) {
            let number = PrintedNumber::parse(number.trim()).ok_or_else(|| {
                let line = text_position(entry);
                let line = NumberedLine {
                    number: line,
                    text: &raw,
                };
                text.unexpected(line, "numbers, separated by colons")
            })?;
            let mut figures = FigureList::default();
            let (quantity, factor) = quantity(&scale);
            figures.add("total", quantity, number.times(factor));
            let names = [
                Some(title.as_str()),
                description.as_deref(),
                Some(system.as_str()),
            ];
            let names = names.into_iter().flatten().filter(|name| !name.is_empty());
            results.push(ImportedResult {
                name: names.collect::<Vec<&str>>().join(", "),
                repetition,
                settings: settings.clone(),
                figures: figures.0,
                ..ImportedResult::default()
            });
        }
    }
    Ok(results)
}

/// Line of a node, from 1.
fn text_position(node: Node) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

/// FigureMetric and factor of a scale; a scale without one stays as it is.
fn quantity(scale: &str) -> (FigureMetric<'_>, f64) {
    match scale {
        "IOPS" | "Files/s" | "Files/Sec" | "TPS" | "Transactions Per Second" => (PER_SECOND, 1.0),
        "KiB/s" => (BYTES_PER_SECOND, KIB),
        "MiB/s" => (BYTES_PER_SECOND, MIB),
        // The suite prints what its tests print, so this may be either unit.
        "KB/s" | "MB/s" => (FigureMetric("bandwidth", scale), 1.0),
        "us" => (LATENCY_MEAN, MICROSECOND),
        "ms" => (LATENCY_MEAN, MILLISECOND),
        "Seconds" => (TIME, SECOND),
        scale => (FigureMetric("value", scale), 1.0),
    }
}
