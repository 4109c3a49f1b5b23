//! Command lines of fronts: a table of options, and how words are taken apart.
//!
//! What is wrong is said here in one form for all of them. What follows from several options stays
//! with the front, and so do the words of its original.

mod row;
#[cfg(test)]
mod tests;
mod value;

pub use row::{
    OptionRow, act, attached, count_within, flag, idle, idle_value, number, number_within, read,
    read_each, refused, refused_value, size, text, told, told_value, yes_or_no,
};
pub use value::{Value, all_of, at_least, bytes, is_posix, only, rule_out, within};

use row::{Effect, Takes};

/// How a program reads its arguments into `T`.
pub struct Grammar<T: 'static> {
    /// Its options.
    pub rows: &'static [OptionRow<T>],
    /// Where the names of options go that are understood and change nothing.
    pub ignored: fn(&mut T) -> &mut Vec<String>,
    /// Which words may have their value behind a `=`.
    pub equals: Equals,
    /// What stands behind the letter of a short option.
    pub letters: Letters,
    /// Whether a long option may be shortened to the beginning that no other has, as Python's
    /// `argparse` allows.
    pub takes_prefixes: bool,
    /// Of words that are no options; none where there are no such words.
    pub operand: Option<Operand<T>>,
    /// Says what is wrong with a word that is none of the options.
    pub unknown: fn(&Unknown<'_>) -> String,
    /// Shows a value in messages.
    pub shown: fn(&str) -> String,
}

/// Takes a word that is no option.
pub type Operand<T> = fn(&mut T, &str) -> Result<(), String>;

/// Which words may have their value behind a `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equals {
    /// None of them.
    No,
    /// Those that begin with `--`.
    Long,
    /// All of them.
    All,
}

/// What stands behind the letter of a short option, in one word with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// Nothing.
    Alone,
    /// More letters, of flags.
    Flags,
    /// Its value.
    Value,
    /// More letters, or its value.
    Joined,
    /// More letters, or its value, which may stand behind a `=`.
    JoinedByEquals,
}

/// A word that is none of the options.
pub struct Unknown<'a> {
    /// As it was written.
    pub word: &'a str,
    /// The letter behind its `-`, or what stands before its `=`.
    pub name: &'a str,
    /// Whether a value stands behind a `=`.
    pub is_joined: bool,
    /// Whether something follows that could be its value.
    pub has_value: bool,
}

/// What is not read yet.
struct Words<'a>(&'a [String]);

impl<T> Grammar<T> {
    /// That of `getopt`: letters of flags may be joined, and a value to its letter.
    pub const fn new(
        rows: &'static [OptionRow<T>],
        ignored: fn(&mut T) -> &mut Vec<String>,
    ) -> Self {
        Self {
            rows,
            ignored,
            equals: Equals::No,
            letters: Letters::Joined,
            takes_prefixes: false,
            operand: None,
            unknown: |it| match it.is_joined && it.name.len() > 2 {
                true => format!("option `{}` takes no value", it.name),
                false => no_option(it.name),
            },
            shown: plan::printable,
        }
    }

    /// Reads all arguments into what is asked for without any.
    ///
    /// # Errors
    /// All that are not known or not done here, and all values that are wrong, a line for each;
    /// none but the usage, where that is asked for.
    pub fn read(&self, arguments: &[String], mut to: T) -> Result<T, String> {
        let mut rest = Words(arguments);
        let mut flaws = Vec::new();
        while let Some(word) = rest.next() {
            let is_known = self
                .find(word.split('=').next().unwrap_or_default())
                .is_some();
            if let Err(flaw) = self.word(&mut to, word, &mut rest) {
                if flaw.is_empty() {
                    return Err(flaw);
                }
                if !is_known {
                    // The words that follow may be its value.
                    while rest.next_value().is_some() {}
                }
                flaws.push(flaw);
            }
        }
        all_of(flaws).map(|()| to)
    }

    fn word(&self, to: &mut T, word: &str, rest: &mut Words<'_>) -> Result<(), String> {
        let has_equals = match self.equals {
            Equals::No => false,
            Equals::Long => word.starts_with("--"),
            Equals::All => true,
        };
        let split = word.split_once('=').filter(|_| has_equals);
        let (name, joined) = split.map_or((word, None), |(name, value)| (name, Some(value)));
        let (row, name) = match self.find(name) {
            None if self.takes_prefixes => self.find_by_prefix(name)?,
            found => (found, name),
        };
        let takes_value = |it: &&OptionRow<T>| matches!(it.takes, Takes::Value | Takes::Attached);
        if let Some(row) = row.filter(|it| joined.is_none() || takes_value(it)) {
            return self.option(row, to, name, joined, rest);
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        // Where there are no long options, a second `-` is a letter as any other.
        let is_long = letters.starts_with('-') && self.equals != Equals::No;
        if self.letters != Letters::Alone && !letters.is_empty() && !is_long {
            return self.short_options(to, word, rest);
        }
        match self.operand.filter(|_| !word.starts_with('-')) {
            Some(operand) => operand(to, word),
            None => Err(self.unknown(word, name, joined, rest)),
        }
    }

    /// A word of letters, the value of the last perhaps.
    fn short_options(&self, to: &mut T, word: &str, rest: &mut Words<'_>) -> Result<(), String> {
        for (at, letter) in word.char_indices().skip(1) {
            let name = format!("-{letter}");
            let behind = &word[at + letter.len_utf8()..];
            let behind = match self.letters {
                Letters::JoinedByEquals => behind.strip_prefix('=').unwrap_or(behind),
                _ => behind,
            };
            let joined = Some(behind).filter(|it| !it.is_empty());
            let is_apart = |it: &OptionRow<T>| it.takes != Takes::Nothing && !it.is_refused();
            let row = self.find(&name);
            let row = row.filter(|it| self.letters != Letters::Flags || !is_apart(it));
            match row {
                None => return Err(self.unknown(word, &name, joined, rest)),
                Some(row) if self.letters != Letters::Flags && row.takes != Takes::Nothing => {
                    return self.option(row, to, &name, joined, rest);
                }
                Some(row) => self.apply(row, to, &name, None)?,
            }
            if self.letters == Letters::Value && joined.is_some() {
                return Err(format!(
                    "`{word}` is more than one option; write them apart"
                ));
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&'static OptionRow<T>> {
        let is_it = |row: &&OptionRow<T>| name.starts_with('-') && row.names().any(|it| it == name);
        self.rows.iter().find(is_it)
    }

    /// The only long option that begins so, and its whole name.
    fn find_by_prefix<'a>(
        &self,
        prefix: &'a str,
    ) -> Result<(Option<&'static OptionRow<T>>, &'a str), String> {
        if !prefix.starts_with("--") || prefix.len() < 3 {
            return Ok((None, prefix));
        }
        let all = self.rows.iter();
        let all = all.flat_map(|row| row.names().map(move |name| (row, name)));
        let found: Vec<_> = all.filter(|(_, name)| name.starts_with(prefix)).collect();
        match found[..] {
            [] => Ok((None, prefix)),
            [(row, name)] => Ok((Some(row), name)),
            _ => {
                let names: Vec<&str> = found.iter().map(|(_, name)| *name).collect();
                let prefix = (self.shown)(prefix);
                Err(format!(
                    "`{prefix}` is short for several options: {}",
                    names.join(", ")
                ))
            }
        }
    }

    fn unknown(&self, word: &str, name: &str, joined: Option<&str>, rest: &Words<'_>) -> String {
        (self.unknown)(&Unknown {
            word,
            name,
            is_joined: joined.is_some(),
            has_value: joined.is_some() || !rest.0.is_empty(),
        })
    }

    /// An option whose value is joined to it, or follows.
    fn option(
        &self,
        row: &OptionRow<T>,
        to: &mut T,
        name: &str,
        joined: Option<&str>,
        rest: &mut Words<'_>,
    ) -> Result<(), String> {
        let value = match row.takes {
            Takes::Nothing => None,
            Takes::Attached => joined,
            Takes::Value | Takes::Words => {
                let value = joined.or_else(|| rest.next());
                Some(value.ok_or_else(|| lacks_value(name))?)
            }
        };
        self.apply(row, to, name, value)?;
        while row.takes == Takes::Words
            && let Some(value) = rest.next_value()
        {
            self.apply(row, to, name, Some(value))?;
        }
        Ok(())
    }

    /// Does what an option asks for. A flag that has a value is one where that is not 0.
    ///
    /// # Errors
    /// It is not done here, or its value is wrong.
    pub fn apply(
        &self,
        row: &OptionRow<T>,
        to: &mut T,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), String> {
        let value = value.map(|text| Value {
            option: name,
            text,
            shown: self.shown,
        });
        let given = || value.ok_or_else(|| lacks_value(name));
        match row.effect {
            Effect::Flag(field) => {
                *field(to) = match value {
                    Some(value) => value.number::<u32>()? != 0,
                    None => true,
                }
            }
            Effect::Act(act) => act(to),
            Effect::Yes(field) => *field(to) = given()?.is_yes()?,
            Effect::Number(field) => *field(to) = given()?.number()?,
            Effect::NumberWithin(field, low, high) => {
                *field(to) = given()?.number_within(low, high)?;
            }
            Effect::CountWithin(field, low, high) => {
                *field(to) = given()?.number_within(low, high)?;
            }
            Effect::Size(field) => *field(to) = given()?.size()?,
            Effect::Text(field) => given()?.text.clone_into(field(to)),
            Effect::Read(read) => read(to, &given()?)?,
            Effect::Attached(read) => read(to, value.as_ref())?,
            Effect::Idle => (self.ignored)(to).push(name.to_owned()),
            Effect::Refused(what) => {
                return Err(format!("`{name}` {what}, which is not done here"));
            }
            Effect::Told(sentence) => return Err(sentence.replace("{}", name)),
        }
        Ok(())
    }
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// The next word, unless it is an option.
    fn next_value(&mut self) -> Option<&'a str> {
        let is_value = self.0.first().is_some_and(|word| !word.starts_with('-'));
        is_value.then(|| self.next())?
    }
}

/// A text on one line, with all but plain characters as escapes.
pub fn escaped(text: &str) -> String {
    text.escape_default().to_string()
}

/// What is said of an option that is not there.
pub fn no_option(name: &str) -> String {
    format!("there is no option `{name}`")
}

/// What is said of an option whose value is not there.
pub fn lacks_value(name: &str) -> String {
    format!("option `{name}` lacks its value")
}
