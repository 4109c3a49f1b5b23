//! Names of filesets, ways, labels and handles, and the numbers that replace them.

use crate::flaw::ValueError;
use crate::model::Workload;
use crate::nearest::{listed, nearest};
use plan::program::{
    ATTRIBUTES_MAX, CallObject, Group, LABELS_MAX, MEETINGS_MAX, Program, REGISTERS_MAX,
};

/// Names that all groups share, indexed by number.
pub(super) struct ProgramNames {
    pub filesets: Vec<String>,
    /// Only the ways that are written.
    pub open_modes: Vec<String>,
    /// Number of ways that precede the written ones: 1 if the default way is not written, else 0.
    unwritten_mode_count: u8,
    pub tokens: Vec<String>,
    /// In the order of first use.
    pub labels: Vec<String>,
    meetings: Vec<String>,
    /// Names of extended attributes, in the order of first use.
    pub attributes: Vec<String>,
}

/// Files that an act names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NamedFiles {
    /// A fileset, by its number.
    Fileset(u8),
    /// The file of a handle, or the directory that it is in.
    File { handle: String, on: CallObject },
}

/// Name of the extended attribute of acts that name none.
pub(super) const DEFAULT_ATTRIBUTE: &str = "user.pgmeter";

/// Prefix of a text that names a directory.
const DIRECTORY_PREFIX: &str = "directory of ";

impl ProgramNames {
    /// Collects the names written in a workload; labels and meetings are added later.
    pub fn written(workload: &Workload) -> Result<Self, ValueError> {
        let filesets = workload.fileset.iter().map(|it| it.name.as_deref());
        let modes = workload.way.iter().map(|it| it.name.as_deref());
        let tokens = workload.tokens.iter().map(|it| it.name.as_deref());
        Ok(Self {
            filesets: written(filesets, "fileset")?,
            open_modes: written(modes, "way")?,
            unwritten_mode_count: u8::from(!starts_with_default(workload)),
            tokens: written(tokens, "tokens")?,
            labels: Vec::new(),
            meetings: Vec::new(),
            attributes: Vec::new(),
        })
    }

    /// Names for the numbered items of a program.
    pub fn of(program: &Program) -> Self {
        let filesets = program.filesets.iter().map(|it| it.name.as_str());
        let modes = program.ways.iter().enumerate();
        let modes = modes.map(|(index, it)| match it.name.as_str() {
            "" if index == 0 => "default",
            name => name,
        });
        let tokens = program.tokens.iter().map(|it| it.name.as_str());
        Self {
            filesets: distinct(filesets, "fileset"),
            open_modes: distinct(modes, "way"),
            unwritten_mode_count: 0,
            tokens: distinct(tokens, "tokens"),
            labels: distinct(program.labels.iter().map(String::as_str), "step"),
            meetings: Vec::new(),
            attributes: program.attributes.clone(),
        }
    }

    /// Parses the value of a verb.
    pub fn named(&self, key: &'static str, text: &str) -> Result<NamedFiles, ValueError> {
        let text = text.trim();
        let (on, handle) = match text.strip_prefix(DIRECTORY_PREFIX) {
            Some(handle) => (CallObject::Directory, handle.trim().trim_start_matches('@')),
            None => match text.strip_prefix('@') {
                Some(handle) => (CallObject::Same, handle),
                None => return self.fileset(key, text).map(NamedFiles::Fileset),
            },
        };
        let handle = handle.to_owned();
        Ok(NamedFiles::File { handle, on })
    }

    /// The number of a fileset.
    pub fn fileset(&self, key: &'static str, name: &str) -> Result<u8, ValueError> {
        number(&self.filesets, name).ok_or_else(|| unknown(key, name, "fileset", &self.filesets))
    }

    /// The number of a fileset that `directories_of` names.
    pub fn grown_fileset(&self, name: &str) -> Result<u8, ValueError> {
        number(&self.filesets, name).ok_or_else(|| {
            let message = format!("there is no fileset `{}`", plan::printable(name));
            let help = "name a fileset whose directories are `grown`";
            ValueError::new("directories_of", message, help)
        })
    }

    /// The number of a `[[tokens]]` table.
    pub fn tokens(&self, key: &'static str, name: &str) -> Result<u8, ValueError> {
        number(&self.tokens, name).ok_or_else(|| unknown(key, name, "token", &self.tokens))
    }

    /// The number of a meeting; a new name gets the next number.
    pub fn meeting(&mut self, key: &'static str, name: &str) -> Result<u8, ValueError> {
        numbered(&mut self.meetings, name, MEETINGS_MAX).ok_or_else(|| {
            let message = format!("there are more than {MEETINGS_MAX} meetings");
            ValueError::new(key, message, "use fewer meetings")
        })
    }

    /// The number of a way; 0 for acts without a way.
    pub fn way(&self, name: Option<&str>) -> Result<u8, ValueError> {
        let Some(name) = name else { return Ok(0) };
        number(&self.open_modes, name)
            .and_then(|number| number.checked_add(self.unwritten_mode_count))
            .ok_or_else(|| unknown("way", name, "way", &self.open_modes))
    }

    /// The number of a label; a new name gets the next number.
    pub fn label(&mut self, key: &'static str, name: &str) -> Result<u8, ValueError> {
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            let message = format!("`{key}` is not a label of one line");
            let help = format!("write `{key} = \"LABEL\"`");
            return Err(ValueError::new(key, message, help));
        }
        numbered(&mut self.labels, name, LABELS_MAX).ok_or_else(|| {
            let message = format!("there are more than {LABELS_MAX} labels");
            ValueError::new(key, message, "use fewer labels")
        })
    }

    /// The number of an extended attribute; a new name gets the next number.
    pub fn attribute(&mut self, name: Option<&str>) -> Result<u8, ValueError> {
        let name = name.unwrap_or(DEFAULT_ATTRIBUTE);
        numbered(&mut self.attributes, name, ATTRIBUTES_MAX).ok_or_else(|| {
            let message = format!("there are more than {ATTRIBUTES_MAX} attributes");
            ValueError::new("attribute", message, "use fewer attributes")
        })
    }

    /// The number of a label that is already known.
    pub fn known_label(&self, key: &'static str, name: &str) -> Result<u8, ValueError> {
        number(&self.labels, name).ok_or_else(|| unknown(key, name, "label", &self.labels))
    }
}

/// The number of a name; a new name gets the next number. `None` if the limit is reached.
fn numbered(names: &mut Vec<String>, name: &str, most: usize) -> Option<u8> {
    let known = names.iter().position(|it| it == name);
    let index = known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    let is_allowed = index < most;
    u8::try_from(index).ok().filter(|_| is_allowed)
}

/// Whether the first written way is the default of acts without a way.
pub(super) fn starts_with_default(workload: &Workload) -> bool {
    let first = workload.way.first();
    first.is_some_and(|mode| mode.default == Some(true))
}

/// The names of tables of one kind; an error if a name is missing, unusable or used twice.
fn written<'a>(
    names: impl Iterator<Item = Option<&'a str>>,
    key: &'static str,
) -> Result<Vec<String>, ValueError> {
    let mut all: Vec<String> = Vec::new();
    // Text that starts with `@` names a handle, not a table.
    let is_plain = |c: char| !c.is_control() && c != '@';
    for (index, name) in names.enumerate() {
        let (message, help) = match name {
            None => {
                let help = format!("add `name` to the `[[{key}]]`");
                (format!("a `[[{key}]]` has no `name`"), help)
            }
            Some(name) if name.trim() != name || name.is_empty() || !name.chars().all(is_plain) => {
                let message = format!("`{}` is not a name of a {key}", plan::printable(name));
                let help = "write one without `@` and without spaces around it";
                (message, help.to_owned())
            }
            Some(name) if all.iter().any(|it| it == name) => {
                let message = format!("there are two `[[{key}]]` of the name `{name}`");
                (message, "give each its own name".to_owned())
            }
            Some(name) => {
                all.push(name.to_owned());
                continue;
            }
        };
        return Err(ValueError::new("name", message, help).within(key, index));
    }
    Ok(all)
}

fn number(names: &[String], name: &str) -> Option<u8> {
    let index = names.iter().position(|it| it == name)?;
    u8::try_from(index).ok()
}

fn unknown(key: &'static str, name: &str, noun: &str, known: &[String]) -> ValueError {
    let words = || known.iter().map(String::as_str);
    let help = match nearest(name, words()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("add a {noun} of that name"),
        None => format!("the {noun}s are {}", listed(words())),
    };
    let message = format!("there is no {noun} `{}`", plan::printable(name));
    ValueError::new(key, message, help)
}

/// The handles of a group, in the order of the acts; the first one has no name.
pub(super) struct GroupHandles(Vec<String>);

impl GroupHandles {
    /// The distinct handles of these acts.
    pub fn written<'a>(handles: impl Iterator<Item = &'a str>) -> Self {
        let mut all = vec![String::new()];
        for handle in handles.map(bare) {
            if !all.iter().any(|known| known == handle) {
                all.push(handle.to_owned());
            }
        }
        Self(all)
    }

    /// Handle names for the registers of a group: the name of the fileset from which a file is
    /// picked first.
    pub fn of(group: &Group, names: &ProgramNames) -> Self {
        let calls = group.calls();
        let count = calls.iter().map(|call| usize::from(call.handle) + 1).max();
        let name = |register: usize| {
            let register_calls = calls.iter().filter(|it| usize::from(it.handle) == register);
            let mut picks = register_calls.filter_map(|call| match &call.on {
                CallObject::Name(pick) => Some(names.filesets[usize::from(pick.fileset)].as_str()),
                _ => None,
            });
            picks.next().unwrap_or_default()
        };
        let named = distinct((1..count.unwrap_or(0)).map(name), "file");
        Self(std::iter::once(String::new()).chain(named).collect())
    }

    pub fn name(&self, register: u8) -> &str {
        &self.0[usize::from(register)]
    }

    /// The number of a handle; 0 for the handle without a name.
    pub fn number(&self, key: &'static str, name: Option<&str>) -> Result<u8, ValueError> {
        let name = bare(name.unwrap_or_default());
        let number = number(&self.0, name).ok_or_else(|| {
            let known: Vec<String> = self.0[1..].to_vec();
            unknown(key, name, "handle", &known)
        })?;
        if usize::from(number) < REGISTERS_MAX {
            return Ok(number);
        }
        let message = format!("the group has more than {REGISTERS_MAX} handles");
        Err(ValueError::new(key, message, "use fewer handles"))
    }
}

/// The `@` in front of a handle is optional everywhere.
fn bare(handle: &str) -> &str {
    handle.trim().trim_start_matches('@')
}

/// Makes the names distinct from each other and from reserved names.
fn distinct<'a>(names: impl Iterator<Item = &'a str>, noun: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (index, name) in names.enumerate() {
        let plain = plain(name, noun);
        // Only the first way may have the reserved name `default`.
        let is_taken = |it: &String| all.contains(it) || index > 0 && it == "default";
        let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        all.extend(candidates.find(|it| !is_taken(it)));
    }
    all
}

/// Removes characters and prefixes that have a meaning in acts.
fn plain(name: &str, noun: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() || c == '@' { '-' } else { c })
        .collect();
    match name.trim() {
        "" => noun.to_owned(),
        name => name.replace(DIRECTORY_PREFIX, "directory-of-"),
    }
}
