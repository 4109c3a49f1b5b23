//! Chooses the format of an output: the requested one, or that of its file extension.

use std::path::Path;

use clap::ValueEnum;
use report::ShownRepetitions;

use crate::args::{CompareFormat, ReportFormat, TableFormatArg};
use crate::failure::{CliError, Exit};
use crate::output::is_stdout;

/// File extensions that imply a format of this or another command.
const KNOWN_EXTENSIONS: [&str; 12] = [
    "txt", "text", "md", "markdown", "html", "htm", "json", "csv", "xml", "prom", "lp", "parquet",
];
const TEXT: &[&str] = &["txt", "text", "log", "out"];
// A table in Markdown is readable as plain text, so `.txt` does not contradict `--format markdown`.
const MARKDOWN: &[&str] = &["md", "markdown", "txt", "text"];
const HTML: &[&str] = &["html", "htm"];
const JSON: &[&str] = &["json"];
const CSV: &[&str] = &["csv"];
const XML: &[&str] = &["xml"];
// The collector of text files of Prometheus reads only files with this extension.
const METRICS: &[&str] = &["prom", "txt"];
const LINES: &[&str] = &["lp", "txt"];
const PARQUET: &[&str] = &["parquet"];

/// Formats that a file extension can select.
pub(crate) trait FormatByExtension: ValueEnum + Copy {
    /// Format without an option or a known extension.
    const DEFAULT: Self;

    /// File extensions of this format, the usual one first.
    fn endings(self) -> &'static [&'static str];
}

/// Returns the repetitions that a report shows.
pub(crate) fn repetitions(all: bool) -> ShownRepetitions {
    match all {
        true => ShownRepetitions::All,
        false => ShownRepetitions::Means,
    }
}

/// Returns the requested format, or that of the output's file extension. A contradiction between
/// the two is refused. So is an unknown extension without a format, because a page in a `.pdf` file
/// would go unnoticed until it is opened.
pub(crate) fn choose_format<F: FormatByExtension>(
    requested: Option<F>,
    output: Option<&Path>,
) -> Result<F, CliError> {
    let name = output.filter(|path| !is_stdout(path));
    let ending = name.and_then(Path::extension);
    let Some((name, ending)) = name.zip(ending) else {
        return Ok(requested.unwrap_or(F::DEFAULT));
    };
    let ending = ending.to_string_lossy().to_lowercase();
    let holds = |format: F| format.endings().contains(&ending.as_str());
    match requested {
        // An extension such as `.page` implies no format, so it cannot contradict the option.
        Some(format) if holds(format) || !KNOWN_EXTENSIONS.contains(&ending.as_str()) => Ok(format),
        Some(format) => {
            let word = format_name(format);
            let message = format!(
                "`--format {word}` contradicts the file name `{}`",
                name.display()
            );
            let usual = format.endings()[0];
            let help = format!("leave `--format` out, or use a name that ends in `.{usual}`");
            Err(CliError::new(Exit::Usage, message, Some(help)))
        }
        None => {
            // The first format wins: `.txt` means text, although Markdown may have this name, too.
            let matching = F::value_variants().iter().copied().find(|it| holds(*it));
            matching.ok_or_else(|| unknown::<F>(name, &ending))
        }
    }
}

fn unknown<F: FormatByExtension>(name: &Path, ending: &str) -> CliError {
    let mut endings: Vec<String> = Vec::new();
    for format in F::value_variants() {
        let ending = format!("`.{}`", format.endings()[0]);
        if !endings.contains(&ending) {
            endings.push(ending);
        }
    }
    let message = format!(
        "no format is known for `{}`: this command writes no `.{ending}`",
        name.display()
    );
    let help = format!(
        "use a name that ends in one of {}, or add `--format`",
        endings.join(", ")
    );
    CliError::new(Exit::Usage, message, Some(help))
}

/// Returns the name of a format on the command line.
fn format_name<F: FormatByExtension>(format: F) -> String {
    let value = format.to_possible_value();
    value.map_or(String::new(), |value| value.get_name().to_owned())
}

impl FormatByExtension for ReportFormat {
    const DEFAULT: Self = Self::Text;

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Text | Self::Classic => TEXT,
            Self::Markdown | Self::GithubSummary => MARKDOWN,
            Self::Html | Self::Summary => HTML,
            Self::Json | Self::FioJson | Self::Bencher => JSON,
            Self::Csv | Self::IometerCsv => CSV,
            Self::Junit => XML,
            Self::OpenMetrics => METRICS,
            Self::Influx => LINES,
            Self::Parquet | Self::ParquetHistograms => PARQUET,
        }
    }
}

impl FormatByExtension for CompareFormat {
    const DEFAULT: Self = Self::Text;

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Text => TEXT,
            Self::Markdown => MARKDOWN,
            Self::Html => HTML,
            Self::Json => JSON,
        }
    }
}

impl FormatByExtension for TableFormatArg {
    const DEFAULT: Self = Self::Text;

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Text => TEXT,
            Self::Markdown => MARKDOWN,
            Self::Html => HTML,
            Self::Json => JSON,
            Self::Csv => CSV,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen<F: FormatByExtension>(requested: Option<F>, name: &str) -> Result<String, String> {
        choose_format(requested, Some(Path::new(name)))
            .map(format_name)
            .map_err(|failure| failure.text().to_owned())
    }

    #[test]
    fn the_file_name_sets_the_format_unless_an_option_does() {
        let format_of = |name| chosen::<ReportFormat>(None, name).unwrap();
        for (name, word) in [
            ("a.html", "html"),
            ("a.b.HTM", "html"),
            ("/x.y/a.md", "markdown"),
            ("a.csv", "csv"),
            ("a.json", "json"),
            ("a.txt", "text"),
            ("a.log", "text"),
            ("a", "text"),
            ("/x.html/a", "text"),
            (".html", "text"),
            ("-", "text"),
            ("/dev/stdout", "text"),
        ] {
            assert_eq!(format_of(name), word, "{name}");
        }
        for (format, name) in [
            (ReportFormat::IometerCsv, "a.csv"),
            (ReportFormat::FioJson, "a.json"),
            (ReportFormat::Classic, "a.txt"),
            (ReportFormat::Markdown, "a.txt"),
            (ReportFormat::Html, "a.page"),
            (ReportFormat::Html, "-"),
        ] {
            let wanted = format_name(format);
            assert_eq!(chosen(Some(format), name).unwrap(), wanted, "{name}");
        }
    }

    #[test]
    fn a_contradicting_file_name_is_an_error_with_help() {
        let message = chosen(Some(ReportFormat::IometerCsv), "a.html").unwrap_err();
        assert_eq!(
            message,
            "error: `--format iometer-csv` contradicts the file name `a.html`\n\
             help: leave `--format` out, or use a name that ends in `.csv`"
        );
        chosen(Some(CompareFormat::Text), "a.csv").unwrap_err();
    }

    #[test]
    fn an_unsupported_extension_is_refused_with_the_supported_ones() {
        let message = chosen::<ReportFormat>(None, "a.pdf").unwrap_err();
        assert!(
            message.contains("`.txt`, `.md`, `.html`, `.json`, `.csv`,"),
            "{message}"
        );
        let message = chosen::<CompareFormat>(None, "a.csv").unwrap_err();
        assert!(
            message.contains("`.txt`, `.md`, `.html`, `.json`,"),
            "{message}"
        );
        chosen::<TableFormatArg>(None, "a.csv").unwrap();
    }

    #[test]
    fn every_format_accepts_its_usual_extension() {
        for format in ReportFormat::value_variants() {
            let name = format!("a.{}", format.endings()[0]);
            chosen(Some(*format), &name).unwrap();
            chosen::<ReportFormat>(None, &name).unwrap();
        }
    }
}
