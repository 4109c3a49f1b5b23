//! Results of labs that are kept, and printed again.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use report::{Page, SideBySide, TableFormat};
use results::{LabRecord, RunRecord};
use store::{Found, Store};

use crate::args::{LabReportArgs, RecordJsonArg, ReportFormat, TableArgs, TableFormatArg};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::json::JsonOutput;
use crate::stored::{Place, names_a_run, read_text, refused};

/// Keeps the record of a lab in the results store, beside its runs, and says how it is printed
/// again. The result is printed already, so it is no failure when it cannot be kept.
pub(super) fn keep(record: &LabRecord, place: &Place, is_quiet: bool) {
    // Its runs are in the store by themselves.
    let bare = LabRecord {
        runs: Vec::new(),
        ..record.clone()
    };
    let kept = place.open().and_then(|mut store| store.keep_lab(&bare));
    match kept {
        Ok(()) if is_quiet => {}
        Ok(()) => tell!("to print it again: pgmeter lab report {}", record.id),
        Err(error) => tell!("warning: the lab is not in the results store: {error}"),
    }
}

/// Prints the result of a lab again.
pub(super) fn report(args: &LabReportArgs, place: &Place) -> Result<Exit, Failure> {
    let json = args.table.open()?;
    let record = find(&args.lab, place)?;
    print(&record, &args.table, json)?;
    Ok(Exit::Measured)
}

/// The record of a lab for `report`: from a file, or from the store by its id; none where the name
/// is not that of a lab.
pub(crate) fn lab_of(name: &Path, place: &Place) -> Result<Option<LabRecord>, Failure> {
    let selector = name.to_str().filter(|name| names_a_run(name));
    let Some(selector) = selector else {
        return read(name);
    };
    let store = place.open_for(selector)?;
    match store.find(selector)? {
        Found::Lab(id) => Ok(Some(with_runs(&id, &store)?)),
        Found::Run(_) | Found::Tagged { .. } => Ok(None),
    }
}

/// Prints the record of a lab for `report`.
pub(crate) fn report_lab(
    record: &LabRecord,
    format: ReportFormat,
    output: Option<&Path>,
    json: JsonOutput,
) -> Result<Exit, Failure> {
    let format = match format {
        ReportFormat::Text => TableFormatArg::Text,
        ReportFormat::Markdown => TableFormatArg::Markdown,
        ReportFormat::Html => TableFormatArg::Html,
        ReportFormat::Csv => TableFormatArg::Csv,
        ReportFormat::Json => TableFormatArg::Json,
        ReportFormat::IometerCsv | ReportFormat::Classic | ReportFormat::FioJson => {
            let message = format!("`{}` is a lab, which this format cannot show", record.id);
            let help = Some("use one of text, markdown, html, csv, json".to_owned());
            return Err(Failure::new(Exit::Usage, message, help));
        }
    };
    let table = TableArgs {
        format: Some(format),
        output: output.map(Path::to_owned),
        json: RecordJsonArg::default(),
        // The record alone was asked for where it is on standard output.
        quiet: true,
    };
    print(record, &table, json)?;
    Ok(Exit::Measured)
}

/// The name of the page of a lab.
pub(crate) fn page_name(record: &LabRecord) -> String {
    format!("pgmeter-lab-{}.html", record.id)
}

/// The page of a lab.
pub(crate) fn page_of_lab(record: &LabRecord) -> Document {
    Document::prose(SideBySide::of(record).render(TableFormat::Html, Page::PLAIN))
}

fn print(record: &LabRecord, table: &TableArgs, json: JsonOutput) -> Result<(), Failure> {
    let side_by_side = SideBySide::of(record);
    table.print(json, record, |format, page| {
        side_by_side.render(format, page)
    })
}

/// The record of that file, or else of the store, with its runs.
fn find(lab: &Path, place: &Place) -> Result<LabRecord, Failure> {
    if lab.exists() {
        let not_a_lab = "it is not the record of a lab";
        return read(lab)?.ok_or_else(|| refused(lab, &not_a_lab));
    }
    let selector = lab.to_string_lossy();
    with_runs(&selector, &place.open_for(&selector)?)
}

/// The record of a lab of the store, with its runs.
pub(crate) fn with_runs(selector: &str, store: &Store) -> Result<LabRecord, Failure> {
    let mut record = store.lab(selector)?;
    record.runs = runs(&record, store)?;
    Ok(record)
}

/// The runs of a lab that are still in the store.
fn runs(record: &LabRecord, store: &Store) -> Result<Vec<RunRecord>, Failure> {
    let mut runs = Vec::new();
    for id in record.run_ids() {
        match store.load(id) {
            Ok(run) => runs.push(run),
            // Somebody has removed it, which the report tells.
            Err(store::StoreError::NoSuchRun { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(runs)
}

/// The record of a lab in a file; none where it is something else.
fn read(path: &Path) -> Result<Option<LabRecord>, Failure> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| {
        file.take(LabRecord::BEGINNING_BYTES)
            .read_to_end(&mut beginning)
    });
    read.map_err(|error| refused(path, &error))?;
    if !LabRecord::is_meant(&beginning) {
        return Ok(None);
    }
    let record = LabRecord::from_json(&read_text(path)?).map_err(|error| refused(path, &error))?;
    Ok(Some(record))
}
