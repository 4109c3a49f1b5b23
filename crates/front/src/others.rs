//! Recognizes files that are not workloads, so that the error can name them.

use plan::{Diagnostic, printable};

use crate::file::NO_WORKLOAD_HELP;
use crate::icf;

/// Number of lines to look at; the kind of a file shows early.
const LINES_MAX: usize = 10_000;

/// File name endings of documents, whose content has no common form.
const DOCUMENT_ENDINGS: [&str; 4] = [".adoc", ".markdown", ".md", ".rst"];

/// A kind of file that is not a workload that pgmeter reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherFile {
    Vdbench,
    Record,
    IometerResults,
    FioResults,
    FioLog,
    Page,
    Document,
}

impl OtherFile {
    /// What the file is, as the end of a sentence.
    const fn what(self) -> &'static str {
        match self {
            Self::Vdbench => "is a vdbench parameter file, which pgmeter does not read yet",
            Self::Record => "is the record of a run, not a workload",
            Self::IometerResults => "has results of Iometer, not a workload",
            Self::FioResults => "has results of fio, not a job",
            Self::FioLog => "is a log of fio, not a job",
            Self::Page => "is an HTML page, not a workload",
            Self::Document => "is a document, not a workload",
        }
    }

    fn help(self, file: &str) -> String {
        match self {
            Self::Vdbench => {
                "give options instead, such as `pgmeter run --read 70 --random 100 --bs 4k`".into()
            }
            Self::Record => format!(
                "to run its workload again, write `jq -r .workload_file {file} > again.toml`, then \
                 `pgmeter run again.toml`"
            ),
            Self::IometerResults => "name the configuration (`.icf`) that Iometer ran".into(),
            Self::FioResults | Self::FioLog => "name the job file that fio ran".into(),
            Self::Page | Self::Document => NO_WORKLOAD_HELP.into(),
        }
    }
}

/// The error that names the kind of the file; `None` if its kind is not recognized.
pub(crate) fn other_format_error(file: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_document = DOCUMENT_ENDINGS.iter().any(|it| file.ends_with(it));
    let other = kind(text).or(is_document.then_some(OtherFile::Document))?;
    let shown = printable(file);
    let message = format!("`{shown}` {}", other.what());
    Some(Diagnostic::error(file, message).help(other.help(&shown)))
}

/// The error about a file that was given as a job file of fio but is of another kind; `None` if its
/// kind is not recognized.
pub(crate) fn not_a_job(file: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let shown = printable(file);
    if bytes.contains(&0) {
        let error = Diagnostic::error(file, "the file is binary, not a job file");
        return Some(error.help("name a job file of fio"));
    }
    if (icf::FILE.detect)(bytes) {
        let message = format!("`{shown}` is an {}, not a job file", icf::FILE.kind);
        let help = format!("`pgmeter run {shown}` runs it");
        return Some(Diagnostic::error(file, message).help(help));
    }
    other_format_error(file, bytes)
}

fn kind(text: &str) -> Option<OtherFile> {
    let text = text.trim_start();
    if text.starts_with('{') {
        let is_record = text.contains("\"pgmeter-record/");
        return match is_record {
            true => Some(OtherFile::Record),
            false => text
                .contains("\"fio version\"")
                .then_some(OtherFile::FioResults),
        };
    }
    // The first row of results; a configuration has the same words further down.
    if text.starts_with("'Test Type,") {
        return Some(OtherFile::IometerResults);
    }
    let start = text.get(..5).unwrap_or_default();
    if start.eq_ignore_ascii_case("<html") || start.eq_ignore_ascii_case("<!doc") {
        return Some(OtherFile::Page);
    }
    // All lines of a log have the same form, so the first one decides. A parameter file may begin
    // with comments.
    let mut lines = text.lines().map(str::trim).take(LINES_MAX);
    if lines.clone().next().is_some_and(is_log_line) {
        return Some(OtherFile::FioLog);
    }
    lines
        .any(is_vdbench_definition)
        .then_some(OtherFile::Vdbench)
}

/// `true` for lines such as `1000, 40960, 0, 4096`: time, value, direction, block size, and newer
/// columns such as the offset.
fn is_log_line(line: &str) -> bool {
    let mut columns = line.split(',').map(str::trim);
    let is_number = |column: &str| match column.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).is_ok(),
        None => column.parse::<u64>().is_ok(),
    };
    columns.clone().count() >= 4 && columns.all(is_number)
}

/// `true` for lines such as `sd=sd1,lun=...`: a definition and at least one known parameter.
fn is_vdbench_definition(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let begins = ["sd=", "wd=", "rd=", "fsd=", "fwd="];
    let parameters = [
        "lun=",
        "sd=",
        "wd=",
        "xfersize=",
        "rdpct=",
        "seekpct=",
        "iorate=",
        "elapsed=",
        "anchor=",
        "fsd=",
        "fwd=",
        "fwdrate=",
        "threads=",
        "operation=",
    ];
    let Some((head, rest)) = line.split_once(',') else {
        return false;
    };
    // A line of another format may begin with `rd=`, so a known parameter has to follow.
    begins.iter().any(|it| head.starts_with(it))
        && rest
            .split(',')
            .any(|part| parameters.iter().any(|it| part.trim().starts_with(it)))
}

#[cfg(test)]
mod tests {
    use crate::{FrontFile, load};

    fn refusal(file: &str, text: &str) -> String {
        let file = FrontFile::new(file, text.as_bytes());
        load(&file).unwrap_err().to_string()
    }

    #[test]
    fn vdbench_files_are_recognized() {
        let vdbench = "* comment\nsd=sd1,lun=/dev/sdx,openflags=o_direct\nwd=wd1,sd=sd1,\
                       xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=max,elapsed=60\n";
        let error = refusal("x.txt", vdbench);
        assert!(
            error.contains("`x.txt` is a vdbench parameter file, which"),
            "{error}"
        );
    }

    #[test]
    fn result_files_are_recognized() {
        for (text, wanted) in [
            (
                "1000, 40960, 0, 4096, 0\n",
                "`x` is a log of fio, not a job",
            ),
            ("1, 7, 1, 4096, 0x0f, 3\n", "`x` is a log of fio, not a job"),
            (
                "{\n \"fio version\" : \"fio-3.36\"\n}",
                "`x` has results of fio, not a job",
            ),
            (
                "{\"format\": \"pgmeter-record/2\"}",
                "`x` is the record of a run, not a workload",
            ),
            ("<!DOCTYPE html>\n", "`x` is an HTML page, not a workload"),
            (
                "'Test Type,Test Description\n0,a\n'Version\n1.1.0\n",
                "`x` has results of Iometer, not a workload",
            ),
        ] {
            let error = refusal("x", text);
            assert!(error.contains(wanted), "{error}");
        }
        assert!(!refusal("x", "1, 2, 3\n").contains("log"));
        let document = refusal("README.md", "# Title\n\nSome **text**.\n");
        assert!(
            document.contains("`README.md` is a document, not a workload"),
            "{document}"
        );
        let record = refusal("x", "{\"format\": \"pgmeter-record/2\"}");
        assert!(
            record.contains("`jq -r .workload_file x > again.toml`"),
            "{record}"
        );
    }

    #[test]
    fn mistakes_in_our_own_files_get_the_usual_errors() {
        for text in [
            "size = \"1m\"\nio_depth = 4\n",
            "[access_spec]\n",
            "name = run\n[[access_spec]]\n",
            "set number 100\nset size\nrun\n",
        ] {
            let error = refusal("x.toml", text);
            assert!(!error.contains("does not read yet"), "{error}");
        }
    }
}
