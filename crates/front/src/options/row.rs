//! A row of an option table: the option's names, whether it takes a value, and its effect.

use super::WrittenValue;
use crate::{DifferenceKind, OriginalDifference};

/// An option of a program.
pub struct OptionRow<T> {
    /// Names, separated by blanks. Names without `-` are not accepted on the command line.
    names: &'static str,
    pub(super) arity: OptionArity,
    pub(super) effect: Effect<T>,
}

/// Words that belong to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionArity {
    None,
    /// A value, in the same word or the next.
    Value,
    /// A value in the same word, or none.
    Attached,
    /// A value and all words after it, up to the next option.
    Words,
}

pub(super) enum Effect<T> {
    Flag(fn(&mut T) -> &mut bool),
    Level(fn(&mut T) -> &mut u32),
    Call(fn(&mut T)),
    Bool(fn(&mut T) -> &mut bool),
    Number(fn(&mut T) -> &mut u32),
    Size(fn(&mut T) -> &mut u64),
    NumberWithin(fn(&mut T) -> &mut u32, u32, u32),
    CountWithin(fn(&mut T) -> &mut u64, u64, u64),
    Text(fn(&mut T) -> &mut String),
    Parse(fn(&mut T, &WrittenValue<'_>) -> Result<(), String>),
    Attached(fn(&mut T, Option<&WrittenValue<'_>>) -> Result<(), String>),
    /// No effect, but the option is accepted.
    Ignored,
    /// The option is refused; the text says what the original does.
    Refused(&'static str),
    /// The option is refused with this sentence, in which `{}` stands for its name.
    RefusedWith(&'static str),
}

impl<T> OptionRow<T> {
    const fn new(names: &'static str, takes: OptionArity, effect: Effect<T>) -> Self {
        Self {
            names,
            arity: takes,
            effect,
        }
    }

    /// The option's names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    pub(super) const fn is_refused(&self) -> bool {
        matches!(self.effect, Effect::Refused(_) | Effect::RefusedWith(_))
    }

    /// The reason why the option of this name is refused; `None` if it is not.
    pub(super) fn refusal(&self, name: &str) -> Option<OriginalDifference> {
        let reason = match self.effect {
            Effect::Refused(what) => format!("it {what}"),
            Effect::RefusedWith(sentence) if !sentence.is_empty() => sentence.replace("{}", name),
            _ => return None,
        };
        let subject = format!("`{name}`");
        Some(OriginalDifference::new(
            DifferenceKind::Refused,
            subject,
            reason,
        ))
    }

    /// `true` if the option is refused or has no effect.
    pub const fn is_inert(&self) -> bool {
        self.is_refused() || matches!(self.effect, Effect::Ignored)
    }
}

/// A flag that is set by the option.
pub const fn flag<T>(names: &'static str, field: fn(&mut T) -> &mut bool) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::Flag(field))
}

/// A flag whose effect grows each time it is given; a value sets the level.
pub const fn level<T>(names: &'static str, field: fn(&mut T) -> &mut u32) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::Level(field))
}

/// A flag with a value of yes or no.
pub const fn yes_or_no<T>(names: &'static str, field: fn(&mut T) -> &mut bool) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Bool(field))
}

/// An action without a value.
pub const fn act<T>(names: &'static str, act: fn(&mut T)) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::Call(act))
}

/// An option whose value is a number without further limits.
pub const fn number<T>(names: &'static str, field: fn(&mut T) -> &mut u32) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Number(field))
}

/// A number within limits, both inclusive.
pub const fn number_within<T>(
    names: &'static str,
    field: fn(&mut T) -> &mut u32,
    low: u32,
    high: u32,
) -> OptionRow<T> {
    let effect = Effect::NumberWithin(field, low, high);
    OptionRow::new(names, OptionArity::Value, effect)
}

/// A number within limits that may exceed 32 bits.
pub const fn count_within<T>(
    names: &'static str,
    field: fn(&mut T) -> &mut u64,
    low: u64,
    high: u64,
) -> OptionRow<T> {
    let effect = Effect::CountWithin(field, low, high);
    OptionRow::new(names, OptionArity::Value, effect)
}

/// A size, in bytes unless it has a unit.
pub const fn size<T>(names: &'static str, field: fn(&mut T) -> &mut u64) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Size(field))
}

/// An option whose value is any text.
pub const fn text<T>(names: &'static str, field: fn(&mut T) -> &mut String) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Text(field))
}

/// A value with its own parser.
pub const fn read<T>(
    names: &'static str,
    read: fn(&mut T, &WrittenValue<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Parse(read))
}

/// A value with its own parser, only if it is in the same word.
pub const fn attached<T>(
    names: &'static str,
    read: fn(&mut T, Option<&WrittenValue<'_>>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Attached, Effect::Attached(read))
}

/// An option that has no effect.
pub const fn idle<T>(names: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::Ignored)
}

/// An option with a value that has no effect.
pub const fn idle_value<T>(names: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Ignored)
}

/// Several values, each parsed separately.
pub const fn read_each<T>(
    names: &'static str,
    read: fn(&mut T, &WrittenValue<'_>) -> Result<(), String>,
) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Words, Effect::Parse(read))
}

/// An option that is refused; `message` says what the original does.
pub const fn refused<T>(names: &'static str, message: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::Refused(message))
}

/// An option with a value that is refused; `message` says what the original does.
pub const fn refused_value<T>(names: &'static str, message: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::Refused(message))
}

/// An option that is refused with this sentence, in which `{}` stands for its name.
pub const fn refused_with<T>(names: &'static str, sentence: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::None, Effect::RefusedWith(sentence))
}

/// An option with a value that is refused with this sentence.
pub const fn refused_value_with<T>(names: &'static str, sentence: &'static str) -> OptionRow<T> {
    OptionRow::new(names, OptionArity::Value, Effect::RefusedWith(sentence))
}
