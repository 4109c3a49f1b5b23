//! Stores results of labs, and prints them again.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use report::{Page, SideBySide, TableFormat};
use results::{LabRecord, RunRecord};
use store::{FoundName, Store};

use crate::args::{LabReportArgs, RecordJsonArg, ReportFormat, TableArgs, TableFormatArg};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::json::JsonOutput;
use crate::stored::{StoreLocation, names_a_run, read_text, refused};
use crate::terminal::{OutputStream, StandardOutput};

/// Stores the record of a lab, in addition to its runs, and prints how to show it again. The result
/// is already printed, so an error here is only a warning.
pub(super) fn keep(record: &LabRecord, location: &StoreLocation, is_quiet: bool) {
    // The store already has its runs.
    let bare = LabRecord {
        runs: Vec::new(),
        ..record.clone()
    };
    let result = location.open().and_then(|mut store| store.keep_lab(&bare));
    match result {
        Ok(()) if is_quiet => {}
        Ok(()) => tell!("to print it again: pgmeter lab report {}", record.id),
        Err(error) => tell!("warning: the lab is not in the results store: {error}"),
    }
}

/// Prints the result of a stored lab.
pub(super) fn report(args: &LabReportArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let json = args.table.open()?;
    let record = find(&args.lab, location)?;
    print(&record, &args.table, json)?;
    Ok(Exit::Success)
}

/// Returns the record of a lab for `report`, from a file or by its id from the store; `None` if the
/// name is not that of a lab.
pub(crate) fn lab_of(name: &Path, location: &StoreLocation) -> Result<Option<LabRecord>, CliError> {
    let selector = name.to_str().filter(|name| names_a_run(name));
    let Some(selector) = selector else {
        return read(name);
    };
    let store = location.open_for(selector)?;
    match store.find(selector)? {
        FoundName::Lab(id) => Ok(Some(with_runs(&id, &store)?)),
        FoundName::Run(_) | FoundName::Tagged { .. } => Ok(None),
    }
}

/// Prints the record of a lab in a format of `report`.
pub(crate) fn report_lab(
    record: &LabRecord,
    format: ReportFormat,
    output: Option<&Path>,
    json: JsonOutput,
) -> Result<Exit, CliError> {
    let format = match format {
        ReportFormat::Text => TableFormatArg::Text,
        ReportFormat::Markdown => TableFormatArg::Markdown,
        ReportFormat::Html => TableFormatArg::Html,
        ReportFormat::Csv => TableFormatArg::Csv,
        ReportFormat::Json => TableFormatArg::Json,
        ReportFormat::IometerCsv
        | ReportFormat::Classic
        | ReportFormat::FioJson
        | ReportFormat::Summary
        | ReportFormat::Junit
        | ReportFormat::OpenMetrics
        | ReportFormat::GithubSummary
        | ReportFormat::Bencher
        | ReportFormat::Influx
        | ReportFormat::Parquet
        | ReportFormat::ParquetHistograms => return Err(not_of_labs(record)),
    };
    let table = TableArgs {
        format: Some(format),
        output: output.map(Path::to_owned),
        json: RecordJsonArg::default(),
        // On standard output, the record is the only requested output.
        quiet: true,
    };
    print(record, &table, json)?;
    Ok(Exit::Success)
}

/// Refuses a format that shows only runs.
pub(crate) fn not_of_labs(record: &LabRecord) -> CliError {
    let message = format!("`{}` is a lab, which this format cannot show", record.id);
    let help = Some("use one of text, markdown, html, csv, json".to_owned());
    CliError::new(Exit::Usage, message, help)
}

/// Returns the file name of the page of a lab.
pub(crate) fn page_name(record: &LabRecord) -> String {
    format!("pgmeter-lab-{}.html", record.id)
}

/// Renders the page of a lab.
pub(crate) fn page_of_lab(record: &LabRecord) -> OutputText {
    OutputText::prose(SideBySide::of(record).render(TableFormat::Html, Page::PLAIN))
}

fn print(record: &LabRecord, table: &TableArgs, json: JsonOutput) -> Result<(), CliError> {
    let side_by_side = SideBySide::of(record);
    let is_free = json.stdout() == StandardOutput::Free && table.output.is_none();
    if is_free && table.format()? == TableFormatArg::Text {
        let page = OutputStream::Output.page();
        let text = || OutputText::prose(side_by_side.render(TableFormat::Text, page));
        return json.give(record, text);
    }
    table.print(json, record, |format, page| {
        side_by_side.render(format, page)
    })
}

/// Loads the record of a lab from a file, or else from the store, together with its runs.
fn find(lab: &Path, location: &StoreLocation) -> Result<LabRecord, CliError> {
    if lab.exists() {
        let not_a_lab = "it is not the record of a lab";
        return read(lab)?.ok_or_else(|| refused(lab, &not_a_lab));
    }
    let selector = lab.to_string_lossy();
    with_runs(&selector, &location.open_for(&selector)?)
}

/// Loads the record of a lab from the store, together with its runs.
pub(crate) fn with_runs(selector: &str, store: &Store) -> Result<LabRecord, CliError> {
    let mut record = store.lab(selector)?;
    record.runs = runs(&record, store)?;
    Ok(record)
}

/// Loads the runs of a lab that are still in the store.
fn runs(record: &LabRecord, store: &Store) -> Result<Vec<RunRecord>, CliError> {
    let mut runs = Vec::new();
    for id in record.run_ids() {
        match store.load(id) {
            Ok(run) => runs.push(run),
            // The user has removed it; the report mentions that.
            Err(store::StoreError::NoSuchRun { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(runs)
}

/// Reads the record of a lab from a file; `None` if the file holds something else.
fn read(path: &Path) -> Result<Option<LabRecord>, CliError> {
    if !path.is_file() {
        return Ok(None);
    }
    // Only the beginning: the file may be a large record of a run.
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| {
        file.take(LabRecord::SNIFF_BYTES)
            .read_to_end(&mut beginning)
    });
    read.map_err(|error| refused(path, &error))?;
    if !LabRecord::is_lab_record(&beginning) {
        return Ok(None);
    }
    let record = LabRecord::from_json(&read_text(path)?).map_err(|error| refused(path, &error))?;
    Ok(Some(record))
}
