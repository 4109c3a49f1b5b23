//! Names of filesets, ways, labels and handles, and the numbers that take their place.

use super::super::Flaw;
use super::super::Step;
use crate::model::{ActChoice, GroupTable, Workload};
use crate::nearest::{listed, nearest};
use plan::program::{LABELS_MAX, MEETINGS_MAX, REGISTERS_MAX};

/// The names of a workload.
pub(super) struct Names {
    filesets: Vec<String>,
    ways: Vec<String>,
    /// How many ways there are before those that are written: that of acts which name none.
    unwritten_ways: u8,
    tokens: Vec<String>,
    /// In the order in which they are first written.
    pub labels: Vec<String>,
    meetings: Vec<String>,
}

/// What an act names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// A fileset, by its number.
    Fileset(u8),
    /// The file of a handle.
    Handle(String),
    /// The directory that the file of a handle is in.
    Directory(String),
}

/// What begins a text that names a directory.
const DIRECTORY_OF: &str = "directory of ";

impl Names {
    pub fn of(workload: &Workload) -> Result<Self, Flaw> {
        let filesets = workload.fileset.iter().map(|it| it.name.as_deref());
        let ways = workload.way.iter().map(|it| it.name.as_deref());
        let tokens = workload.tokens.iter().map(|it| it.name.as_deref());
        Ok(Self {
            filesets: written(filesets, "fileset")?,
            ways: written(ways, "way")?,
            unwritten_ways: u8::from(!begins_with_default(workload)),
            tokens: written(tokens, "tokens")?,
            labels: Vec::new(),
            meetings: Vec::new(),
        })
    }

    /// What a verb's value names.
    pub fn named(&self, key: &'static str, text: &str) -> Result<Named, Flaw> {
        let text = text.trim();
        if let Some(handle) = text.strip_prefix(DIRECTORY_OF) {
            let handle = handle.trim();
            return Ok(Named::Directory(handle.trim_start_matches('@').to_owned()));
        }
        match text.strip_prefix('@') {
            Some(handle) => Ok(Named::Handle(handle.to_owned())),
            None => self.fileset(key, text).map(Named::Fileset),
        }
    }

    /// The number of a fileset.
    pub fn fileset(&self, key: &'static str, name: &str) -> Result<u8, Flaw> {
        number(&self.filesets, name).ok_or_else(|| unknown(key, name, "fileset", &self.filesets))
    }

    /// The number of tokens.
    pub fn tokens(&self, key: &'static str, name: &str) -> Result<u8, Flaw> {
        number(&self.tokens, name).ok_or_else(|| unknown(key, name, "token", &self.tokens))
    }

    /// The number of a meeting, which is a new one where it was not written before.
    pub fn meeting(&mut self, key: &'static str, name: &str) -> Result<u8, Flaw> {
        numbered(&mut self.meetings, name, MEETINGS_MAX).ok_or_else(|| {
            let message = format!("there are more than {MEETINGS_MAX} meetings");
            Flaw::new(key, message, "use fewer meetings")
        })
    }

    /// The number of a way; that of none is the first.
    pub fn way(&self, name: Option<&String>) -> Result<u8, Flaw> {
        let Some(name) = name else { return Ok(0) };
        number(&self.ways, name)
            .and_then(|number| number.checked_add(self.unwritten_ways))
            .ok_or_else(|| unknown("way", name, "way", &self.ways))
    }

    /// The number of a label, which is a new one where it was not written before.
    pub fn label(&mut self, key: &'static str, name: &str) -> Result<u8, Flaw> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let message = format!("`{key}` is not a label of one line");
            return Err(Flaw::new(
                key,
                message,
                format!("write `{key} = \"LABEL\"`"),
            ));
        }
        numbered(&mut self.labels, name, LABELS_MAX).ok_or_else(|| {
            let message = format!("there are more than {LABELS_MAX} labels");
            Flaw::new(key, message, "use fewer labels")
        })
    }

    /// The number of a label that must have been written before.
    pub fn known_label(&self, key: &'static str, name: &str) -> Result<u8, Flaw> {
        number(&self.labels, name).ok_or_else(|| unknown(key, name, "label", &self.labels))
    }
}

/// The number of a name, which is a new one where it was not written before; none if there are as
/// many as there may be.
fn numbered(names: &mut Vec<String>, name: &str, most: usize) -> Option<u8> {
    let known = names.iter().position(|it| it == name);
    let index = known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    let is_allowed = index < most;
    u8::try_from(index).ok().filter(|_| is_allowed)
}

/// Whether the first way that is written is that of acts which name none.
pub(super) fn begins_with_default(workload: &Workload) -> bool {
    let first = workload.way.first();
    first.is_some_and(|way| way.default == Some(true))
}

/// The names of tables of one kind, each of which has one.
fn written<'a>(
    names: impl Iterator<Item = Option<&'a str>>,
    key: &'static str,
) -> Result<Vec<String>, Flaw> {
    let mut all: Vec<String> = Vec::new();
    for (index, name) in names.enumerate() {
        let flaw = |message: String, help: &str| Flaw {
            path: vec![Step::Key(key), Step::Index(index), Step::Key("name")],
            message,
            help: help.to_owned(),
        };
        let Some(name) = name else {
            let help = format!("add `name` to the `[[{key}]]`");
            return Err(flaw(format!("a `[[{key}]]` has no `name`"), &help));
        };
        let is_plain = |c: char| !c.is_control() && c != '@';
        if name.trim() != name || name.is_empty() || !name.chars().all(is_plain) {
            let message = format!("`{}` is not a name of a {key}", plan::printable(name));
            return Err(flaw(
                message,
                "write one without `@` and without spaces around it",
            ));
        }
        if all.iter().any(|it| it == name) {
            let message = format!("there are two `[[{key}]]` of the name `{name}`");
            return Err(flaw(message, "give each a name of its own"));
        }
        all.push(name.to_owned());
    }
    Ok(all)
}

fn number(names: &[String], name: &str) -> Option<u8> {
    let index = names.iter().position(|it| it == name)?;
    u8::try_from(index).ok()
}

fn unknown(key: &'static str, name: &str, what: &str, known: &[String]) -> Flaw {
    let words = || known.iter().map(String::as_str);
    let help = match nearest(name, words()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("add a {what} of that name"),
        None => format!("the {what}s are {}", listed(words())),
    };
    let message = format!("there is no {what} `{}`", plan::printable(name));
    Flaw::new(key, message, help)
}

/// The handles of a group, by the acts that name files with them; the first is that without a name.
pub(super) struct Handles(Vec<String>);

impl Handles {
    pub fn of(group: &GroupTable) -> Self {
        let mut handles = Self(vec![String::new()]);
        for acts in [
            &group.enter,
            &group.first,
            &group.body,
            &group.last,
            &group.leave,
        ] {
            handles.collect(acts);
        }
        handles
    }

    fn collect(&mut self, acts: &[ActChoice]) {
        for act in acts {
            let ActChoice::Table(table) = act else {
                continue;
            };
            let handle = table.handle.as_deref().map(bare);
            if let Some(handle) = handle.filter(|it| !self.0.iter().any(|known| known == it)) {
                self.0.push(handle.to_owned());
            }
            self.collect(&table.acts);
            for branch in table.mix.iter().flatten() {
                self.collect(&branch.acts);
            }
        }
    }

    /// The number of a handle; that of none is the first.
    pub fn number(&self, key: &'static str, name: Option<&str>) -> Result<u8, Flaw> {
        let name = bare(name.unwrap_or_default());
        let number = number(&self.0, name).ok_or_else(|| {
            let known: Vec<String> = self.0[1..].to_vec();
            unknown(key, name, "handle", &known)
        })?;
        if usize::from(number) < REGISTERS_MAX {
            return Ok(number);
        }
        let message = format!("the group has more than {REGISTERS_MAX} handles");
        Err(Flaw::new(key, message, "use fewer handles"))
    }
}

/// A handle may be written with its mark everywhere.
fn bare(handle: &str) -> &str {
    handle.trim().trim_start_matches('@')
}
