//! Command lines of fronts: a table of options, and a parser of words.
//!
//! This module words errors about single options in the same form for all fronts. Each front
//! handles combinations of options and the messages of its original.

mod row;
#[cfg(test)]
mod tests;
mod value;

pub use row::{
    OptionRow, act, attached, count_within, flag, idle, idle_value, level, number, number_within,
    read, read_each, refused, refused_value, refused_value_with, refused_with, size, text,
    yes_or_no,
};
pub use value::{
    WrittenValue, all_of, at_least, bytes, located, only, posix_or_dummy, rule_out, within,
};

use crate::OriginalDifference;
use row::{Effect, OptionArity};

/// Rules by which a program parses its arguments into `T`.
pub struct Grammar<T: 'static> {
    /// The program's options.
    pub rows: &'static [OptionRow<T>],
    /// List for the names of options that are accepted and have no effect.
    pub ignored: fn(&mut T) -> &mut Vec<String>,
    /// Words that may contain their value after a `=`.
    pub equals: EqualsSyntax,
    /// Text that may follow the letter of a short option in the same word.
    pub letters: LetterSyntax,
    /// `true` if a long option may be shortened to an unambiguous beginning, as in Python's
    /// `argparse`.
    pub takes_prefixes: bool,
    /// Handler of words that are not options; `None` if the program accepts no such words.
    pub operand: Option<Operand<T>>,
    /// Message about a word that is not an option.
    pub unknown: fn(&UnknownWord<'_>) -> String,
    /// Formats a value for messages.
    pub format: fn(&str) -> String,
}

/// Handles a word that is not an option.
pub type Operand<T> = fn(&mut T, &str) -> Result<(), String>;

/// Words that may contain their value after a `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EqualsSyntax {
    /// None of them.
    None,
    /// Words that begin with `--`.
    Long,
    /// All words.
    All,
}

/// Text that may follow the letter of a short option in the same word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterSyntax {
    /// Nothing.
    Alone,
    /// More letters of flags.
    Flags,
    /// The option's value.
    Value,
    /// More letters, or the option's value.
    Joined,
    /// More letters, or the option's value, also after a `=`.
    JoinedOrEquals,
}

/// A word that matches no option.
pub struct UnknownWord<'a> {
    /// The word as given.
    pub word: &'a str,
    /// The letter with its `-`, or the part before `=`.
    pub name: &'a str,
    /// `true` if a value is joined to it.
    pub is_joined: bool,
    /// `true` if a joined value or another word follows, which may be its value.
    pub has_value: bool,
}

/// Arguments that are not parsed yet.
struct UnreadArguments<'a>(&'a [String]);

impl<T> Grammar<T> {
    /// A grammar like `getopt`'s: letters of flags may be joined, and values may be joined to
    /// letters.
    pub const fn new(
        rows: &'static [OptionRow<T>],
        ignored: fn(&mut T) -> &mut Vec<String>,
    ) -> Self {
        Self {
            rows,
            ignored,
            equals: EqualsSyntax::None,
            letters: LetterSyntax::Joined,
            takes_prefixes: false,
            operand: None,
            unknown: |it| match it.is_joined && it.name.len() > 2 {
                true => format!("option `{}` takes no value", it.name),
                false => unknown_option_message(it.name),
            },
            format: plan::printable,
        }
    }

    /// Parses all arguments, starting from the defaults in `to`.
    ///
    /// # Errors
    /// Unknown and unsupported options and invalid values, one per line. An empty message requests
    /// the usage.
    pub fn read(&self, arguments: &[String], mut to: T) -> Result<T, String> {
        let mut rest = UnreadArguments(arguments);
        let mut flaws = Vec::new();
        let mut previous = "";
        while let Some(word) = rest.next() {
            let is_known = self
                .find(word.split('=').next().unwrap_or_default())
                .is_some();
            if let Err(flaw) = self.word(&mut to, word, &mut rest) {
                // An empty message requests the usage, which replaces all other errors.
                if flaw.is_empty() {
                    return Err(flaw);
                }
                if !is_known {
                    // The next words may be values of the unknown option, so skip them to avoid
                    // follow-up errors.
                    while rest.next_value().is_some() {}
                }
                flaws.push(self.detached_value(previous, word).unwrap_or(flaw));
            }
            previous = word;
        }
        all_of(flaws).map(|()| to)
    }

    /// The options that are refused, with the reasons. An option that only requests the usage is
    /// not one of them.
    pub fn refused_options(&self) -> Vec<OriginalDifference> {
        let rows = self.rows.iter();
        let refused = rows.flat_map(|row| row.names().filter_map(|it| row.refusal(it)));
        refused.collect()
    }

    fn word(&self, to: &mut T, word: &str, rest: &mut UnreadArguments<'_>) -> Result<(), String> {
        let has_equals = match self.equals {
            EqualsSyntax::None => false,
            EqualsSyntax::Long => word.starts_with("--"),
            EqualsSyntax::All => true,
        };
        let split = word.split_once('=').filter(|_| has_equals);
        let (name, joined) = split.map_or((word, None), |(name, value)| (name, Some(value)));
        let (row, name) = match self.find(name) {
            // An exact name comes first, so `--files` is not ambiguous with `--files-per-dir`.
            None if self.takes_prefixes => self.find_by_prefix(name)?,
            found => (found, name),
        };
        let takes_value =
            |it: &&OptionRow<T>| matches!(it.arity, OptionArity::Value | OptionArity::Attached);
        // An option without a value must not match `--flag=value`.
        if let Some(row) = row.filter(|it| joined.is_none() || takes_value(it)) {
            return self.option(row, to, name, joined, rest);
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        // Without long options, a second `-` is a letter like any other.
        let is_long = letters.starts_with('-') && self.equals != EqualsSyntax::None;
        if self.letters != LetterSyntax::Alone && !letters.is_empty() && !is_long {
            return self.short_options(to, word, rest);
        }
        match self.operand.filter(|_| !word.starts_with('-')) {
            Some(operand) => operand(to, word),
            None => Err(self.unknown(word, name, joined, rest)),
        }
    }

    /// A word of short options, the last of which may have a value.
    fn short_options(
        &self,
        to: &mut T,
        word: &str,
        rest: &mut UnreadArguments<'_>,
    ) -> Result<(), String> {
        for (at, letter) in word.char_indices().skip(1) {
            let name = format!("-{letter}");
            let after = &word[at + letter.len_utf8()..];
            let after = match self.letters {
                LetterSyntax::JoinedOrEquals => after.strip_prefix('=').unwrap_or(after),
                _ => after,
            };
            let joined = Some(after).filter(|it| !it.is_empty());
            // Refused options stay, so that the user learns why they are refused.
            let is_apart = |it: &OptionRow<T>| it.arity != OptionArity::None && !it.is_refused();
            let row = self.find(&name);
            let row = row.filter(|it| self.letters != LetterSyntax::Flags || !is_apart(it));
            match row {
                None if letter == '-' => return Err(self.unknown(word, word, None, rest)),
                None => return Err(self.unknown(word, &name, joined, rest)),
                Some(row)
                    if self.letters != LetterSyntax::Flags && row.arity != OptionArity::None =>
                {
                    return self.option(row, to, &name, joined, rest);
                }
                Some(row) => self.apply(row, to, &name, None)?,
            }
            if self.letters == LetterSyntax::Value && joined.is_some() {
                return Err(format!(
                    "`{word}` joins several options; write them separately"
                ));
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&'static OptionRow<T>> {
        let is_it = |row: &&OptionRow<T>| name.starts_with('-') && row.names().any(|it| it == name);
        self.rows.iter().find(is_it)
    }

    /// The only long option that begins with this prefix, with its full name.
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
                let prefix = (self.format)(prefix);
                Err(format!(
                    "`{prefix}` is short for several options: {}",
                    names.join(", ")
                ))
            }
        }
    }

    fn unknown(
        &self,
        word: &str,
        name: &str,
        joined: Option<&str>,
        rest: &UnreadArguments<'_>,
    ) -> String {
        if let Some(near) = self.nearest(name) {
            let message = unknown_option_message(&(self.format)(name));
            return format!("{message}; did you mean `{near}`?");
        }
        (self.unknown)(&UnknownWord {
            word,
            name,
            is_joined: joined.is_some(),
            has_value: joined.is_some() || !rest.0.is_empty(),
        })
    }

    /// The long option that is meant by a similar name; `None` for single letters, which are too
    /// short to be similar, and for known names.
    fn nearest(&self, name: &str) -> Option<&'static str> {
        let supported = self.rows.iter().filter(|row| !row.is_refused());
        let long = supported
            .flat_map(OptionRow::names)
            .filter(|it| it.starts_with("--"));
        let is_typo = name.starts_with("--") && self.find(name).is_none();
        description::nearest(name, long).filter(|_| is_typo)
    }

    /// The message about a word after an option that takes its value only in the same word.
    fn detached_value(&self, option: &str, word: &str) -> Option<String> {
        let is_attached = self.find(option)?.arity == OptionArity::Attached;
        (is_attached && !word.starts_with('-')).then(|| {
            let word = (self.format)(word);
            format!(
                "`{word}` is not an option; if it is the value of `{option}`, write \
                 `{option}{word}`"
            )
        })
    }

    /// `true` if a word is an option, perhaps with more letters or a value.
    fn is_option(&self, word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        let letter = word
            .get(..2)
            .filter(|_| self.letters != LetterSyntax::Alone);
        self.find(name).is_some() || letter.is_some_and(|it| self.find(it).is_some())
    }

    /// Applies an option with its value, which is joined to it or follows.
    fn option(
        &self,
        row: &OptionRow<T>,
        to: &mut T,
        name: &str,
        joined: Option<&str>,
        rest: &mut UnreadArguments<'_>,
    ) -> Result<(), String> {
        let behind = rest.0;
        let value = match row.arity {
            OptionArity::None => None,
            OptionArity::Attached => joined,
            OptionArity::Value | OptionArity::Words => {
                let value = joined.or_else(|| rest.next());
                Some(value.ok_or_else(|| missing_value_message(name))?)
            }
        };
        let applied = self.apply(row, to, name, value);
        let next = value.filter(|it| joined.is_none() && !row.is_refused() && self.is_option(it));
        if let (Err(_), Some(next)) = (&applied, next) {
            rest.0 = behind;
            let next = (self.format)(next);
            return Err(format!(
                "{}, but the option `{next}` follows",
                missing_value_message(name)
            ));
        }
        applied?;
        while row.arity == OptionArity::Words
            && let Some(value) = rest.next_value()
        {
            self.apply(row, to, name, Some(value))?;
        }
        Ok(())
    }

    /// Applies an option. A flag with a value is set if the value is not 0.
    ///
    /// # Errors
    /// The option is not supported, or its value is invalid.
    pub fn apply(
        &self,
        row: &OptionRow<T>,
        to: &mut T,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), String> {
        let value = value.map(|text| WrittenValue {
            option: name,
            text,
            format: self.format,
        });
        let given = || value.ok_or_else(|| missing_value_message(name));
        match row.effect {
            Effect::Flag(field) => {
                *field(to) = match value {
                    // Directives set and clear flags by numbers, as in `fsync=0`.
                    Some(value) => value.number::<u32>()? != 0,
                    None => true,
                }
            }
            Effect::Level(field) => {
                *field(to) = match value {
                    Some(value) => value.number()?,
                    None => field(to).saturating_add(1),
                }
            }
            Effect::Call(act) => act(to),
            Effect::Bool(field) => *field(to) = given()?.is_yes()?,
            Effect::Number(field) => *field(to) = given()?.number()?,
            Effect::NumberWithin(field, low, high) => {
                *field(to) = given()?.number_within(low, high)?;
            }
            Effect::CountWithin(field, low, high) => {
                *field(to) = given()?.number_within(low, high)?;
            }
            Effect::Size(field) => *field(to) = given()?.size()?,
            Effect::Text(field) => given()?.text.clone_into(field(to)),
            Effect::Parse(read) => read(to, &given()?)?,
            Effect::Attached(read) => read(to, value.as_ref())?,
            Effect::Ignored => (self.ignored)(to).push(name.to_owned()),
            Effect::Refused(what) => {
                return Err(format!(
                    "`{name}` {what}, which is not supported; leave it out"
                ));
            }
            Effect::RefusedWith(sentence) => return Err(sentence.replace("{}", name)),
        }
        Ok(())
    }
}

impl<'a> UnreadArguments<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Takes the next word unless it is an option.
    fn next_value(&mut self) -> Option<&'a str> {
        let is_value = self.0.first().is_some_and(|word| !word.starts_with('-'));
        is_value.then(|| self.next())?
    }
}

/// A text on one line, with escapes for all characters except plain ASCII.
pub fn escaped(text: &str) -> String {
    text.escape_default().to_string()
}

/// The message about an unknown option.
pub fn unknown_option_message(name: &str) -> String {
    format!("there is no option `{name}`")
}

/// The message about a missing value.
pub fn missing_value_message(name: &str) -> String {
    format!("option `{name}` needs a value")
}
