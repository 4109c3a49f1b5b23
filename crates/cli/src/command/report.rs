//! `report`: stored or exported records in another format.

use std::collections::BTreeSet;

use report::{Format, html, render};
use results::RunRecord;

use super::lab::{Reported, report_file as report_lab};
use crate::args::{ReportArgs, ReportFormat};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{page_of, write_new};
use crate::stored::Place;

/// Finds the records and renders them.
pub(crate) fn report(args: &ReportArgs, place: &Place) -> Result<Exit, Failure> {
    let format = match args.format {
        ReportFormat::Text => Format::Text,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Html => Format::Html,
        ReportFormat::Json => Format::Json,
        ReportFormat::Csv => Format::Csv,
        ReportFormat::IometerCsv => Format::IometerCsv,
        ReportFormat::Classic => Format::Classic,
        ReportFormat::FioJson => Format::FioJson,
    };
    let json = args.json.open()?;
    let has_place = json.leaves_place_for(args.output.as_deref())?;
    let json = match report_lab(args, json)? {
        Reported::Lab(exit) => return Ok(exit),
        Reported::Nothing(json) => json,
    };
    let is_html = format == Format::Html;
    if args.records.len() > 1 && (!is_html || args.json.file.is_some()) {
        let count = args.records.len();
        let help = Some("use `--format html`, or name one record at a time".to_owned());
        let message = format!("this format takes one record, not {count}");
        return Err(Failure::new(Exit::Usage, message, help));
    }
    let records = args.records.iter().map(|run| place.record(run));
    let records: Vec<RunRecord> = records.collect::<Result<_, _>>()?;
    if has_place {
        let text = match records.as_slice() {
            [record] => render(record, format, page_of(args.output.as_deref())),
            several => html(several).into(),
        };
        write_new(args.output.as_deref(), &Document::report(format, text))?;
    }
    if let [record] = records.as_slice() {
        json.write(record)?;
    }
    if has_place && format == Format::FioJson {
        records.iter().for_each(tell_of_depths);
    }
    Ok(Exit::Measured)
}

/// Says what fio-plot makes of several queue depths in one document.
fn tell_of_depths(record: &RunRecord) {
    let depths: BTreeSet<u32> = record.cells.iter().map(|cell| cell.iodepth).collect();
    if depths.len() > 1 {
        tell!(
            "note: fio-plot merges the jobs of a file, so these {} queue depths become one bar; \
             run each `--iodepth` separately to plot them",
            depths.len()
        );
    }
}
