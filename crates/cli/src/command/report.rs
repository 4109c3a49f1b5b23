//! `report`: renders stored or exported records, or opens their page in the browser.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use report::{Format, Page, ParquetTable, VerdictPosition, html, parquet, render, render_text};
use results::RunRecord;

use super::lab::stored::{lab_of, not_of_labs, page_name, page_of_lab, report_lab};
use crate::args::{ReportArgs, ReportFormat};
use crate::browser;
use crate::detached_output::detached_output;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::format::{choose_format, repetitions};
use crate::output::{OutputFile, OverwritePolicy, is_stdout, page_of, write_new};
use crate::pages::ReportDirectory;
use crate::stored::StoreLocation;
use crate::terminal::print;
use crate::usage::command_words;

/// Finds the records and renders them.
pub(crate) fn report(args: &ReportArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let output = args.output.as_deref();
    if args.open {
        return open(args, location);
    }
    let requested = choose_format(args.format, output)?;
    let json = args.json.open()?;
    let has_place = json.has_destination_for_text(output)?;
    if let [name] = args.records.as_slice()
        && let Some(lab) = lab_of(name, location)?
    {
        return report_lab(&lab, requested, output, json);
    }
    let format = match requested.content() {
        ReportContent::Text(format) => format,
        ReportContent::Table(table) => return write_table(args, table, location),
    };
    if args.records.len() > 1 && (format != Format::Html || args.json.file.is_some()) {
        return Err(several_records(args));
    }
    let records = records(args, location)?;
    check_imports(&records, format)?;
    if has_place {
        let text = match records.as_slice() {
            [record] if format == Format::Text => render_text(
                record,
                repetitions(args.all),
                VerdictPosition::First,
                page_of(output),
            ),
            [record] => render(record, format, page_of(output)),
            several => html(several).into(),
        };
        write_new(output, &OutputText::report(format, text))?;
    }
    if let [record] = records.as_slice() {
        json.write(record)?;
    }
    if has_place && format == Format::FioJson {
        records.iter().for_each(warn_of_merged_depths);
    }
    Ok(Exit::Success)
}

/// Writes a table of a run as Parquet. The file is binary, so it needs a name.
fn write_table(
    args: &ReportArgs,
    table: ParquetTable,
    location: &StoreLocation,
) -> Result<Exit, CliError> {
    let output = args.output.as_deref().filter(|path| !is_stdout(path));
    let Some(output) = output.filter(|_| args.json.file.is_none()) else {
        let message = "Parquet is a binary format, which needs a separate file";
        let help = "name it with `--output run.parquet`, without `--json`";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    };
    let [record] = &*records(args, location)? else {
        return Err(several_records(args));
    };
    let bytes = parquet(record, table)
        .map_err(|error| CliError::new(Exit::System, &error, Some(error.help())))?;
    OutputFile::create(output, OverwritePolicy::Keep)?.finish_bytes(&bytes)?;
    Ok(Exit::Success)
}

/// Refuses several records for a format that takes one.
fn several_records(args: &ReportArgs) -> CliError {
    let count = args.records.len();
    let words = command_words();
    let mut names = args.records.iter().filter_map(|it| it.to_str());
    let help = names.find_map(|name| detached_output(name, &words));
    let help =
        help.or_else(|| Some("use `--format html`, or name one record at a time".to_owned()));
    let message = format!("this format takes one record, not {count}");
    CliError::new(Exit::Usage, message, help)
}

/// Refuses formats that describe cells, which imported results do not have.
fn check_imports(records: &[RunRecord], format: Format) -> Result<(), CliError> {
    let mut imports = records.iter().filter(|it| it.import.is_some());
    let Some(import) = imports.next().filter(|_| !format.takes_imports()) else {
        return Ok(());
    };
    let message = format!(
        "`{}` has imported results, which this format cannot show",
        import.id
    );
    let help = "use `text`, `markdown`, `html`, `csv`, `json` or, for the original text, `classic`";
    Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
}

fn records(args: &ReportArgs, location: &StoreLocation) -> Result<Vec<RunRecord>, CliError> {
    let records = args.records.iter().map(|run| location.record(run));
    records.collect()
}

/// Writes the page again, prints its path, and opens it in the browser.
fn open(args: &ReportArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    // A browser needs a file, so with `--output -` the page goes to the report directory.
    let output = args.output.as_deref().filter(|path| !is_stdout(path));
    let format = match &args.output {
        Some(output) => choose_format(args.format, Some(output))?,
        None => args.format.unwrap_or(ReportFormat::Html),
    };
    let page_format = match format {
        ReportFormat::Html => Some(Format::Html),
        ReportFormat::Summary => Some(Format::Summary),
        _ => None,
    };
    let Some(page_format) = page_format else {
        let message = "`--open` shows an HTML page, but another format is requested";
        let help = "leave `--format` out, or name an output that ends in `.html`";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    };
    let (name, page) = page(args, page_format, location)?;
    let path = write_page(&name, &page, output, args, location)?;
    print(format!("{}\n", path.display()))?;
    browser::show(&path).map_err(|not_shown| {
        let help = Some(not_shown.help.to_owned());
        CliError::new(Exit::System, not_shown.reason, help)
    })?;
    Ok(Exit::Success)
}

/// Renders the page of a lab, of a run or of several runs. Returns its file name and text.
fn page(
    args: &ReportArgs,
    format: Format,
    location: &StoreLocation,
) -> Result<(String, OutputText), CliError> {
    if let [name] = args.records.as_slice()
        && let Some(lab) = lab_of(name, location)?
    {
        return match format {
            Format::Summary => Err(not_of_labs(&lab)),
            _ => Ok((page_name(&lab), page_of_lab(&lab))),
        };
    }
    let records = records(args, location)?;
    let (name, text) = match records.as_slice() {
        [record] => (
            match format {
                Format::Summary => format!("pgmeter-{}-summary.html", record.id),
                _ => format!("pgmeter-{}.html", record.id),
            },
            render(record, format, Page::PLAIN),
        ),
        _ if format == Format::Summary => return Err(several_records(args)),
        several => {
            let ids: Vec<&str> = several.iter().map(|record| record.id.as_str()).collect();
            // clap's default value makes the list non-empty.
            let (first, last) = (ids[0], ids[ids.len() - 1]);
            let name = format!("pgmeter-{first}-to-{last}-{}.html", ids.len());
            (name, html(several).into())
        }
    };
    Ok((name, OutputText::Prose(text)))
}

fn write_page(
    name: &str,
    page: &OutputText,
    output: Option<&Path>,
    args: &ReportArgs,
    location: &StoreLocation,
) -> Result<PathBuf, CliError> {
    match output {
        Some(path) => {
            write_new(Some(path), page)?;
            Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
        }
        None => ReportDirectory::new(args.place.report_dir.as_deref(), location)
            .write(name, page)
            .map_err(|reason| {
                let help = "name another directory with `--report-dir`, or a file with `--output`";
                CliError::new(Exit::System, reason, Some(help.to_owned()))
            }),
    }
}

/// Content of a report.
enum ReportContent {
    Text(Format),
    /// A table in a binary file.
    Table(ParquetTable),
}

impl ReportFormat {
    /// Returns the content in this format.
    const fn content(self) -> ReportContent {
        ReportContent::Text(match self {
            Self::Text => Format::Text,
            Self::Markdown => Format::Markdown,
            Self::Html => Format::Html,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::IometerCsv => Format::IometerCsv,
            Self::Classic => Format::Classic,
            Self::FioJson => Format::FioJson,
            Self::Summary => Format::Summary,
            Self::Junit => Format::Junit,
            Self::OpenMetrics => Format::OpenMetrics,
            Self::GithubSummary => Format::GithubSummary,
            Self::Bencher => Format::Bencher,
            Self::Influx => Format::Influx,
            Self::Parquet => return ReportContent::Table(ParquetTable::Intervals),
            Self::ParquetHistograms => return ReportContent::Table(ParquetTable::Histograms),
        })
    }
}

/// Warns that fio-plot merges several queue depths in one document.
fn warn_of_merged_depths(record: &RunRecord) {
    let depths: BTreeSet<u32> = record.cells.iter().map(|cell| cell.iodepth).collect();
    if depths.len() > 1 {
        tell!(
            "note: fio-plot merges the jobs of a file, so these {} queue depths become one bar; \
             run each `--iodepth` separately to plot them",
            depths.len()
        );
    }
}
