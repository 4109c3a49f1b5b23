//! Names for what programs have by number.

use plan::program::{Group, On, Program};

/// The names of what all groups have in common, by number.
pub(super) struct Names {
    pub filesets: Vec<String>,
    pub ways: Vec<String>,
    pub tokens: Vec<String>,
    pub labels: Vec<String>,
}

impl Names {
    pub fn of(program: &Program) -> Self {
        let filesets = program.filesets.iter().map(|it| it.name.as_str());
        let ways = program
            .ways
            .iter()
            .enumerate()
            .map(|(index, it)| match it.name.as_str() {
                "" if index == 0 => "default",
                name => name,
            });
        let tokens = program.tokens.iter().map(|it| it.name.as_str());
        Self {
            filesets: distinct(filesets, "fileset"),
            ways: distinct(ways, "way"),
            tokens: distinct(tokens, "tokens"),
            labels: distinct(program.labels.iter().map(String::as_str), "step"),
        }
    }

    /// The names of a group's registers: the first has none, the others are called after the
    /// fileset that a file is picked from first.
    pub fn handles(&self, group: &Group) -> Vec<String> {
        let calls = group.calls();
        let count = calls.iter().map(|call| usize::from(call.handle) + 1).max();
        let name = |register: usize| {
            let of_register = calls.iter().filter(|it| usize::from(it.handle) == register);
            let mut picks = of_register.filter_map(|call| match &call.on {
                On::Name(pick) => Some(self.filesets[usize::from(pick.fileset)].as_str()),
                _ => None,
            });
            picks.next().unwrap_or_default()
        };
        let named = distinct((1..count.unwrap_or(0)).map(name), "file");
        std::iter::once(String::new()).chain(named).collect()
    }
}

/// Names that differ from each other, and from what has a meaning of its own.
fn distinct<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (index, name) in names.enumerate() {
        let plain = plain(name, what);
        let is_taken = |it: &String| all.contains(it) || index > 0 && it == "default";
        let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        all.extend(candidates.find(|it| !is_taken(it)));
    }
    all
}

/// The name without what would make it something else in an act.
fn plain(name: &str, what: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() || c == '@' { '-' } else { c })
        .collect();
    match name.trim() {
        "" => what.to_owned(),
        name => name.replace("directory of ", "directory-of-"),
    }
}
