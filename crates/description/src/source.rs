//! Workload files of every kind: recognized by their content, read into workloads.

mod others;

use std::path::Path;

use crate::builtin;
use crate::check::{check, check_whole};
use crate::classics::postmark::{self, Reading, read_script};
use crate::flaw::Flaw;
use crate::icf;
use crate::model::Workload;
use crate::model::job::waves;
use crate::native::{Page, read_toml};
use crate::nearest::{listed, nearest};
use crate::resolve::resolve;
use plan::Diagnostic;

/// The file name of what comes by standard input.
pub const STDIN_NAME: &str = "<stdin>";

/// Kinds of workload files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// One workload in TOML.
    Toml,
    /// Several workloads in one TOML file.
    Pack,
    /// A configuration of Iometer.
    Icf,
    /// A script of PostMark.
    Postmark,
}

impl SourceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Toml, Self::Pack, Self::Icf, Self::Postmark];

    /// The word that `--as` takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Toml => "toml",
            Self::Pack => "pack",
            Self::Icf => "icf",
            Self::Postmark => "postmark",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Toml => "One workload in TOML",
            Self::Pack => "Several workloads in one TOML file",
            Self::Icf => "Iometer configuration",
            Self::Postmark => "PostMark script",
        }
    }

    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none, with those that there are.
    pub fn from_name(name: &str) -> Result<Self, Diagnostic> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(kind);
        }
        let names = || Self::ALL.into_iter().map(Self::name);
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the kinds are {}", listed(names())),
        };
        let message = format!("`{}` is not a kind of workload file", plan::printable(name));
        Err(Diagnostic::error("", message).help(help))
    }

    /// The kind that the content looks like; nothing for binary content.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        if looks_like_icf(bytes) {
            return Some(Self::Icf);
        }
        if postmark::looks_like(bytes) {
            return Some(Self::Postmark);
        }
        let text = std::str::from_utf8(bytes)
            .ok()
            .filter(|text| !text.contains('\0'))?;
        let begins_a_part = |line: &str| line.trim_start().starts_with("[[part");
        Some(if text.lines().any(begins_a_part) {
            Self::Pack
        } else {
            Self::Toml
        })
    }
}

/// The first line of an Iometer configuration has a version; its sections begin with an
/// apostrophe in the first column and a title.
fn looks_like_icf(bytes: &[u8]) -> bool {
    const TITLES: [&[u8]; 4] = [
        b"'TEST SETUP",
        b"'ACCESS SPECIFICATIONS",
        b"'MANAGER LIST",
        b"'RESULTS DISPLAY",
    ];
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let starts = |line: &[u8], title: &[u8]| {
        line.get(..title.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(title))
    };
    starts(bytes, b"Version ")
        || bytes
            .split(|byte| *byte == b'\n')
            .any(|line| TITLES.iter().any(|title| starts(line, title)))
}

/// What a file came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// What kind of file it is.
    pub kind: SourceKind,
    /// The workloads, each complete in itself: named, packs taken apart, `use` looked up.
    pub workloads: Vec<Workload>,
    /// What the reader should know.
    pub warnings: Vec<Diagnostic>,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// The kind that it is taken to be, whatever it looks like.
    pub kind: Option<SourceKind>,
    /// Refuse what the format's own program refuses.
    pub strict: bool,
    /// Whether a target is given, which stands for places that the file names and that may not be
    /// used without.
    pub has_target: bool,
}

/// Reads a workload file.
///
/// `file` is its name for messages and for workloads without one; `kind` forces the kind;
/// `strict` refuses what the format's own program refuses.
///
/// # Errors
/// The first mistake of the file, with its place.
pub fn load(
    file: &str,
    bytes: &[u8],
    kind: Option<SourceKind>,
    strict: bool,
) -> Result<Loaded, Diagnostic> {
    let options = LoadOptions {
        kind,
        strict,
        has_target: false,
    };
    load_with(file, bytes, &options)
}

/// Reads a workload file, whose name for messages and for workloads without one is `file`.
///
/// # Errors
/// The first mistake of the file, with its place.
pub fn load_with(file: &str, bytes: &[u8], options: &LoadOptions) -> Result<Loaded, Diagnostic> {
    if bytes.is_empty() {
        let error = Diagnostic::error(file, "the file is empty");
        return Err(error.help("name a workload file, or choose a workload from `pgmeter list`"));
    }
    let Some(kind) = options.kind.or_else(|| SourceKind::detect(bytes)) else {
        let error = Diagnostic::error(file, "the file is binary, not a workload");
        return Err(error.help("name a workload file, or choose a workload from `pgmeter list`"));
    };
    let read = match kind {
        SourceKind::Toml | SourceKind::Pack => load_toml(file, bytes).map(|it| (it, Vec::new())),
        SourceKind::Icf => load_icf(file, bytes, options.strict)
            .map(|(workload, warnings)| (vec![workload], warnings)),
        SourceKind::Postmark => load_postmark(file, bytes, options),
    };
    let (mut workloads, warnings) = read.map_err(|error| {
        let other = options
            .kind
            .is_none()
            .then(|| others::recognized(file, bytes));
        other.flatten().unwrap_or(error)
    })?;
    for workload in &mut workloads {
        name(workload, file);
    }
    Ok(Loaded {
        kind,
        workloads,
        warnings,
    })
}

/// Reads a workload that comes with pgmeter.
///
/// # Errors
/// When there is none of this name, with the nearest.
pub fn load_builtin(name: &str) -> Result<Loaded, Diagnostic> {
    let builtin = builtin::find(name)?;
    load(builtin.name, builtin.text.as_bytes(), None, false)
}

fn load_toml(file: &str, bytes: &[u8]) -> Result<Vec<Workload>, Diagnostic> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(Diagnostic::error(file, "the file is not UTF-8 text")
            .help("save it as UTF-8, or force its kind with `--as icf`"));
    };
    // A mark that Windows' editors put first; offsets are counted behind it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let page = Page { file, text };
    let written = read_toml(file, text)?;
    let is_pack = !written.part.is_empty();
    let pack = is_pack.then(|| written.name.clone().unwrap_or_else(|| stem(file)));
    let mut workloads = resolve(written).map_err(|flaw| page.flaw(&flaw))?;
    for workload in &mut workloads {
        workload.pack.clone_from(&pack);
    }
    for (index, workload) in workloads.iter().enumerate() {
        let checked = check_whole(workload).and_then(|()| has_work(workload));
        checked.map_err(|flaw| {
            // A part that lacks the key got it from the pack or from what it uses.
            page.flaw(&if is_pack {
                flaw.within("part", index)
            } else {
                flaw
            })
        })?;
    }
    Ok(with_waves(workloads, file))
}

/// Waves of jobs are workloads of their own.
fn with_waves(workloads: Vec<Workload>, file: &str) -> Vec<Workload> {
    let own = workloads.into_iter().flat_map(|mut workload| {
        if !workload.job.is_empty() {
            workload.name.get_or_insert_with(|| stem(file));
        }
        waves(workload)
    });
    own.collect()
}

fn has_work(workload: &Workload) -> Result<(), Flaw> {
    // A configuration of Iometer may say nothing, which planning refuses to run.
    let has_files = workload.needs_directory();
    if has_files || !workload.access_spec.is_empty() || workload.iometer.is_some() {
        return Ok(());
    }
    let message = match &workload.name {
        Some(name) => format!("`{name}` has no access specification, so there is nothing to run"),
        None => "there is no access specification, so there is nothing to run".to_owned(),
    };
    Err(Flaw::new(
        "access_spec",
        message,
        "add an `[[access_spec]]`, or `use` a built-in workload",
    ))
}

/// Values that no Iometer refuses may still be impossible here, such as a queue depth of 0.
fn load_icf(
    file: &str,
    bytes: &[u8],
    strict: bool,
) -> Result<(Workload, Vec<Diagnostic>), Diagnostic> {
    let mode = if strict {
        icf::Mode::Strict
    } else {
        icf::Mode::Tolerant
    };
    let mut parsed = icf::parse(bytes, file, mode)?;
    let (workload, mut found) = icf::to_workload(&parsed.document, &stem(file));
    for warning in found.iter_mut().filter(|warning| warning.file.is_empty()) {
        warning.file = file.to_owned();
    }
    parsed.warnings.append(&mut found);
    check(&workload).map_err(|flaw| flaw.diagnostic(file))?;
    Ok((workload, parsed.warnings))
}

/// The runs of a script: the first has the file's stem for a name, the others a number behind it.
fn load_postmark(
    file: &str,
    bytes: &[u8],
    options: &LoadOptions,
) -> Result<(Vec<Workload>, Vec<Diagnostic>), Diagnostic> {
    let reading = Reading {
        file,
        strict: options.strict,
        has_target: options.has_target,
    };
    let (mut workloads, warnings) = read_script(bytes, &reading)?;
    for (index, workload) in workloads.iter_mut().enumerate() {
        let stem = stem(file);
        workload.name = Some(match index {
            0 => stem,
            _ => format!("{stem}-{}", index + 1),
        });
        check_whole(workload).map_err(|flaw| flaw.diagnostic(file))?;
    }
    Ok((workloads, warnings))
}

fn stem(file: &str) -> String {
    if file == STDIN_NAME {
        return "stdin".to_owned();
    }
    let stem = Path::new(file).file_stem();
    stem.map_or_else(
        || "workload".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Names a workload after its file, where it does not name itself.
fn name(workload: &mut Workload, file: &str) {
    workload.name.get_or_insert_with(|| stem(file));
    if file == STDIN_NAME {
        workload.source.get_or_insert("standard input".to_owned());
    }
    let shown = Path::new(file).file_name();
    let shown = shown.map_or_else(|| file.to_owned(), |it| it.to_string_lossy().into_owned());
    workload.source.get_or_insert(shown);
}

#[cfg(test)]
mod tests;
