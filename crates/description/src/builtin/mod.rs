//! Workloads and packs that come with pgmeter, by name.

mod files;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Workload;
use crate::nearest::nearest;
use plan::Diagnostic;

use files::{FILES, origin};

/// Kind of a built-in name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BuiltinKind {
    /// One workload.
    Workload,
    /// Several workloads, run in order.
    Pack,
}

/// A workload or pack that comes with pgmeter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Builtin {
    /// Name on the command line.
    pub name: &'static str,
    /// Kind of the name.
    pub kind: BuiltinKind,
    /// Origin: another program, a publication, or pgmeter itself.
    pub origin: &'static str,
    /// Title in one line.
    pub title: String,
    /// Publication or program it comes from.
    pub source: String,
    /// Text of the file, in TOML.
    #[serde(skip)]
    pub text: &'static str,
}

/// All built-in workloads and packs, the most useful ones for beginners first.
#[must_use]
pub fn list() -> Vec<Builtin> {
    FILES
        .iter()
        .map(|(name, text)| described(name, text))
        .collect()
}

/// The built-in with this name; case does not matter, nor whether words are joined by `-`, `_` or a
/// space.
///
/// # Errors
/// If there is none; the help has the nearest name.
pub fn find(name: &str) -> Result<Builtin, Diagnostic> {
    if let Some((name, text)) = lookup(name) {
        return Ok(described(name, text));
    }
    let message = format!("there is no built-in workload `{}`", plan::printable(name));
    // `randread-8k` is nearest to `randread-4k`, which would measure another size.
    if let Some(words) = one_line_options(name) {
        return Err(Diagnostic::error("", message).help(format!("write `{words}` instead")));
    }
    let help = match nearest(name, FILES.iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`pgmeter list` shows them all".to_owned(),
    };
    Err(Diagnostic::error("", message).help(help))
}

/// The options that describe a workload whose name has the form of a built-in one, but another
/// size.
fn one_line_options(name: &str) -> Option<String> {
    const PATTERNS: [(&str, &str); 6] = [
        ("randread", "randread"),
        ("randwrite", "randwrite"),
        ("randrw", "randrw"),
        ("seqread", "read"),
        ("seqwrite", "write"),
        ("seqrw", "rw"),
    ];
    let folded = name.to_ascii_lowercase().replace(['_', ' '], "-");
    let (pattern, size) = folded.split_once('-')?;
    let (_, rw) = PATTERNS.into_iter().find(|(known, _)| *known == pattern)?;
    size.parse::<units::Bytes>().ok()?;
    Some(format!("--rw {rw} --bs {size}"))
}

fn lookup(name: &str) -> Option<(&'static str, &'static str)> {
    let folded = name.to_ascii_lowercase().replace(['_', ' '], "-");
    FILES.iter().copied().find(|(known, _)| *known == folded)
}

fn described(name: &'static str, text: &'static str) -> Builtin {
    let workload = parsed(name, text);
    Builtin {
        name,
        kind: if workload.part.is_empty() {
            BuiltinKind::Workload
        } else {
            BuiltinKind::Pack
        },
        origin: origin(name),
        title: workload.title.unwrap_or_default(),
        source: workload.source.unwrap_or_default(),
        text,
    }
}

/// The workload of a built-in name, as in its file.
pub(crate) fn workload(name: &str) -> Result<Workload, Diagnostic> {
    find(name).map(|builtin| parsed(builtin.name, builtin.text))
}

fn parsed(name: &str, text: &str) -> Workload {
    // A test reads every built-in file.
    crate::read_toml(name, text).expect("built-in workloads are correct files")
}
