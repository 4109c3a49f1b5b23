//! The table of formats.

use plan::Diagnostic;
use results::{ImportOrigin, ImportRecord, ImportedText};

use crate::draft::ImportDraft;
use crate::source::ResultText;
use crate::{
    bonnie, dbench, elbencho, fio, fs_mark, io500, iometer, ior, iozone, mdtest, phoronix,
    postmark, smallfile, sysbench,
};

/// Number of bytes at the beginning of a file in which pgmeter's own documents name their format.
const FORMAT_BYTES: usize = 256;

/// A format of another program's results.
#[derive(Debug)]
pub struct ImportFormat {
    /// Name of the program.
    pub program: &'static str,
    /// Name of the format.
    pub format: &'static str,
    recognizes: fn(&[ResultText]) -> bool,
    read: ReadResults,
}

/// Reads the texts of a result.
type ReadResults = fn(&[ResultText]) -> Result<ImportDraft, Diagnostic>;

/// In the order in which they are tried: a format whose marks another one may contain comes later.
const FORMATS: &[ImportFormat] = &[
    ImportFormat {
        program: "IO500",
        format: "summary or directory",
        recognizes: io500::recognizes,
        read: io500::read,
    },
    ImportFormat {
        program: "fio",
        format: "JSON",
        recognizes: |texts| only(texts).is_some_and(fio::recognizes),
        read: |texts| fio::read(&texts[0]),
    },
    ImportFormat {
        program: "smallfile",
        format: "JSON",
        recognizes: |texts| only(texts).is_some_and(smallfile::recognizes),
        read: |texts| smallfile::read(&texts[0]),
    },
    ImportFormat {
        program: "elbencho",
        format: "CSV or JSON",
        recognizes: |texts| only(texts).is_some_and(elbencho::recognizes),
        read: |texts| elbencho::read(&texts[0]),
    },
    ImportFormat {
        program: "Phoronix Test Suite",
        format: "XML",
        recognizes: |texts| only(texts).is_some_and(phoronix::recognizes),
        read: |texts| phoronix::read(&texts[0]),
    },
    ImportFormat {
        program: "Iometer",
        format: "CSV",
        recognizes: |texts| only(texts).is_some_and(iometer::recognizes),
        read: |texts| iometer::read(&texts[0]),
    },
    ImportFormat {
        program: "PostMark",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(postmark::recognizes),
        read: |texts| postmark::read(&texts[0]),
    },
    ImportFormat {
        program: "IOzone",
        format: "text or spreadsheet",
        recognizes: |texts| only(texts).is_some_and(iozone::recognizes),
        read: |texts| iozone::read(&texts[0]),
    },
    ImportFormat {
        program: "IOR",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(ior::recognizes),
        read: |texts| ior::read(&texts[0]),
    },
    ImportFormat {
        program: "mdtest",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(mdtest::recognizes),
        read: |texts| mdtest::read(&texts[0]),
    },
    ImportFormat {
        program: "dbench",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(dbench::recognizes),
        read: |texts| dbench::read(&texts[0]),
    },
    ImportFormat {
        program: "fs_mark",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(fs_mark::recognizes),
        read: |texts| fs_mark::read(&texts[0]),
    },
    ImportFormat {
        program: "sysbench fileio",
        format: "text",
        recognizes: |texts| only(texts).is_some_and(sysbench::recognizes),
        read: |texts| sysbench::read(&texts[0]),
    },
    ImportFormat {
        program: "Bonnie++",
        format: "CSV",
        recognizes: |texts| only(texts).is_some_and(bonnie::recognizes),
        read: |texts| bonnie::read(&texts[0]),
    },
];

/// The text, if there is exactly one.
fn only<'a, 'b>(texts: &'a [ResultText<'b>]) -> Option<&'a ResultText<'b>> {
    match texts {
        [text] => Some(text),
        _ => None,
    }
}

/// All formats, as `fio JSON`.
pub fn formats() -> impl Iterator<Item = String> {
    FORMATS
        .iter()
        .map(|it| format!("{} {}", it.program, it.format))
}

/// Names of all programs, in no order.
pub fn programs() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|it| it.program)
}

/// The format of a file, or of the files of a directory; `None` if no format matches, and for
/// pgmeter's own documents.
#[must_use]
pub fn recognize(texts: &[ImportedText]) -> Option<&'static ImportFormat> {
    // A record with imported results contains their text, which must not decide.
    let is_own = |text: &ImportedText| {
        let start = text.text.as_bytes();
        let start = &start[..start.len().min(FORMAT_BYTES)];
        String::from_utf8_lossy(start).contains("\"pgmeter-record/")
    };
    if texts.is_empty() || texts.iter().any(is_own) {
        return None;
    }
    let borrowed: Vec<ResultText> = texts.iter().map(borrow).collect();
    FORMATS.iter().find(|it| (it.recognizes)(&borrowed))
}

/// Reads results, and keeps their texts.
///
/// # Errors
/// If a text is not complete or has an unexpected line.
pub fn read(format: &ImportFormat, texts: Vec<ImportedText>) -> Result<ImportRecord, Diagnostic> {
    let borrowed: Vec<ResultText> = texts.iter().map(borrow).collect();
    let draft = (format.read)(&borrowed)?;
    let has_figure = draft.results.iter().any(|it| !it.figures.is_empty());
    if !has_figure {
        return Err(borrowed[0].ends_early("a result"));
    }
    Ok(ImportRecord {
        origin: ImportOrigin {
            program: format.program.to_owned(),
            version: draft.version,
            format: format.format.to_owned(),
            time: draft.time,
        },
        statements: draft.statements,
        results: draft.results,
        sources: texts,
    })
}

fn borrow(text: &ImportedText) -> ResultText<'_> {
    ResultText {
        name: &text.name,
        // Some editors and shells put a byte order mark before the text.
        text: text.text.strip_prefix('\u{feff}').unwrap_or(&text.text),
    }
}
