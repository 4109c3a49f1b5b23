//! An option: its names, whether it has a value, and what it does.

use super::Value;

/// An option of a program.
pub struct OptionRow<T> {
    /// Its names, a space between two. Those without a `-` are not of the command line.
    names: &'static str,
    pub(super) takes: Takes,
    pub(super) effect: Effect<T>,
}

/// What belongs to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// A value, in the same word or the next.
    Value,
    /// A value in the same word, or none.
    Attached,
    /// A value, and all words behind it up to the next option.
    Words,
}

/// What an option does.
pub(super) enum Effect<T> {
    Flag(fn(&mut T) -> &mut bool),
    Act(fn(&mut T)),
    Yes(fn(&mut T) -> &mut bool),
    Number(fn(&mut T) -> &mut u32),
    Size(fn(&mut T) -> &mut u64),
    NumberWithin(fn(&mut T) -> &mut u32, u32, u32),
    CountWithin(fn(&mut T) -> &mut u64, u64, u64),
    Text(fn(&mut T) -> &mut String),
    Read(fn(&mut T, &Value<'_>) -> Result<(), String>),
    Attached(fn(&mut T, Option<&Value<'_>>) -> Result<(), String>),
    /// Nothing: it is understood.
    Idle,
    /// What the original does and we do not.
    Refused(&'static str),
    /// The same as a whole sentence, in which `{}` stands for its name.
    Told(&'static str),
}

impl<T> OptionRow<T> {
    const fn new(names: &'static str, takes: Takes, effect: Effect<T>) -> Self {
        Self {
            names,
            takes,
            effect,
        }
    }

    /// Its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    pub(super) const fn is_refused(&self) -> bool {
        matches!(self.effect, Effect::Refused(_) | Effect::Told(_))
    }
}

/// A flag that is set.
pub const fn flag<T>(names: &'static str, field: fn(&mut T) -> &mut bool) -> OptionRow<T> {
    OptionRow::new(names, Takes::Nothing, Effect::Flag(field))
}

/// A flag whose value is yes or no.
pub const fn yes_or_no<T>(names: &'static str, field: fn(&mut T) -> &mut bool) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Yes(field))
}

/// Something that is done, without a value.
pub const fn act<T>(names: &'static str, act: fn(&mut T)) -> OptionRow<T> {
    OptionRow::new(names, Takes::Nothing, Effect::Act(act))
}

/// A number.
pub const fn number<T>(names: &'static str, field: fn(&mut T) -> &mut u32) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Number(field))
}

/// A number within limits.
pub const fn number_within<T>(
    names: &'static str,
    field: fn(&mut T) -> &mut u32,
    low: u32,
    high: u32,
) -> OptionRow<T> {
    let effect = Effect::NumberWithin(field, low, high);
    OptionRow::new(names, Takes::Value, effect)
}

/// A number within limits that may be beyond 32 bits.
pub const fn count_within<T>(
    names: &'static str,
    field: fn(&mut T) -> &mut u64,
    low: u64,
    high: u64,
) -> OptionRow<T> {
    let effect = Effect::CountWithin(field, low, high);
    OptionRow::new(names, Takes::Value, effect)
}

/// A size, in bytes where it has no letter.
pub const fn size<T>(names: &'static str, field: fn(&mut T) -> &mut u64) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Size(field))
}

/// A text.
pub const fn text<T>(names: &'static str, field: fn(&mut T) -> &mut String) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Text(field))
}

/// A value that is read.
pub const fn read<T>(
    names: &'static str,
    read: fn(&mut T, &Value<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Read(read))
}

/// A value that is read if it stands in the same word.
pub const fn attached<T>(
    names: &'static str,
    read: fn(&mut T, Option<&Value<'_>>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, Takes::Attached, Effect::Attached(read))
}

/// Something that changes nothing.
pub const fn idle<T>(names: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Nothing, Effect::Idle)
}

/// A value that changes nothing.
pub const fn idle_value<T>(names: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Idle)
}

/// Several values, each of which is read.
pub const fn read_each<T>(
    names: &'static str,
    read: fn(&mut T, &Value<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, Takes::Words, Effect::Read(read))
}

/// Something that is not done here: what the original does.
pub const fn refused<T>(names: &'static str, what: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Nothing, Effect::Refused(what))
}

/// The same with a value.
pub const fn refused_value<T>(names: &'static str, what: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Refused(what))
}

/// Something that is not done here: all that is said of it, with `{}` for its name.
pub const fn told<T>(names: &'static str, sentence: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Nothing, Effect::Told(sentence))
}

/// The same with a value.
pub const fn told_value<T>(names: &'static str, sentence: &'static str) -> OptionRow<T> {
    OptionRow::new(names, Takes::Value, Effect::Told(sentence))
}
