//! `report`: an exported record in another format.

use report::{Format, render};
use results::RunRecord;

use crate::args::{ReportArgs, ReportFormat};
use crate::failure::{Exit, Failure};
use crate::output::{page, write_new};

/// Records of long runs have many intervals; nothing larger is read.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// Reads a record and renders it.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let name = args.record.display();
    let refused = |reason: &dyn std::fmt::Display| {
        let help = Some("name a file that `pgmeter run --json FILE` wrote".to_owned());
        Failure::new(
            Exit::Usage,
            format!("cannot read the record `{name}`: {reason}"),
            help,
        )
    };
    let found = std::fs::metadata(&args.record).map_err(|error| refused(&error))?;
    if !found.is_file() || found.len() > RECORD_BYTES_MAX {
        return Err(refused(&"it is not a regular file of at most 1 GiB"));
    }
    let text = std::fs::read_to_string(&args.record).map_err(|error| refused(&error))?;
    let record = RunRecord::from_json(&text).map_err(|error| refused(&error))?;
    let format = match args.format {
        ReportFormat::Text => Format::Text,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Json => Format::Json,
        ReportFormat::Csv => Format::Csv,
        ReportFormat::IometerCsv => Format::IometerCsv,
    };
    let page = page(&std::io::stdout());
    write_new(args.output.as_deref(), &render(&record, format, page))?;
    Ok(Exit::Measured)
}
