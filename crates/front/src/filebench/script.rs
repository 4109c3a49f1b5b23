//! A parsed script, before its variables are replaced.

use std::collections::BTreeMap;
use std::fmt::Display;

use plan::Diagnostic;
use plan::program::{Law, PhasePreparation};

use crate::OriginalDifference;
use crate::acts::number_of;
use crate::rows::rows;
use crate::tokens::{SourcePosition, error};

/// Largest random value, in bytes or pieces.
pub(super) const RANDOM_VALUE_MAX: u64 = 1 << 40;
/// Maximum number of factors in a product.
const FACTORS_MAX: usize = 16;

/// A parsed value, or the first mistake; [`work`](super::work) adds file and line to it.
pub(super) type Read<T> = Result<T, Diagnostic>;
/// Variables by name.
pub(super) type Variables = BTreeMap<String, ScriptValue>;

/// A script in the state in which it runs.
#[derive(Default)]
pub(super) struct Script {
    pub variables: Variables,
    /// Contains filesets and processes, in the order of their definition. Its attributes are the
    /// run time in seconds, `run`, and the event generator's rate per second, `rate`.
    pub root: Entity,
    /// Condition that ends the run, in addition to its time; empty for none.
    pub mode: String,
    /// `true` after `create`, so `system` commands that follow run before the phase.
    pub is_created: bool,
    /// Actions of `system` before the run.
    pub preparations: Vec<PhasePreparation>,
    /// Texts of `echo` commands.
    pub echoes: Vec<String>,
    /// Differences from the original.
    pub differences: Vec<OriginalDifference>,
}

impl Script {
    /// Records a known difference once per line; other values of `subject` are ignored.
    pub(super) fn note(&mut self, position: impl Into<Option<SourcePosition>>, subject: &str) {
        let line = position.into().map(|it| it.line);
        let mut known = OriginalDifference::listed(include_str!("differences.txt"));
        // Callers pass every command and flowop; only the ones in the table differ.
        if let Some(difference) = known.find(|it| it.subject == subject) {
            number_of(
                &mut self.differences,
                OriginalDifference { line, ..difference },
            );
        }
    }
}

/// The value of an attribute or a variable.
#[derive(Debug, Clone)]
pub(super) enum ScriptValue {
    /// A word, a text or a number; the attribute decides how it is parsed.
    Plain(String),
    /// A variable whose value is looked up when the script runs.
    Variable(String),
    Product(Box<[ScriptValue; 2]>),
    /// A random variable, which is drawn again on each use.
    Random(Box<Entity>),
}

impl ScriptValue {
    /// The value as a text shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Variable(name) => format!("${name}"),
            Self::Product(factors) => factors.each_ref().map(Self::shown).join(" * "),
            Self::Random(_) => "a random variable".to_owned(),
        }
    }

    /// The value with these variables replaced; unknown variables remain.
    pub(super) fn settled(&self, variables: &Variables, position: SourcePosition) -> Read<Self> {
        Ok(match self {
            Self::Variable(name) => variables.get(name).unwrap_or(self).clone(),
            Self::Product(factors) => {
                let [one, other] = factors.each_ref().map(|it| it.settled(variables, position));
                Self::product(one?, other?, position)?
            }
            value => value.clone(),
        })
    }

    /// A product, which is computed once both factors are numbers.
    pub(super) fn product(one: Self, other: Self, position: SourcePosition) -> Read<Self> {
        // Variables that multiply each other would otherwise double the product each time.
        if one.factor_count() + other.factor_count() > FACTORS_MAX {
            let message = format!("a product has more than {FACTORS_MAX} factors");
            return Err(error(position, message, "set a variable to a part of it"));
        }
        let is_open = |it: &Self| matches!(it, Self::Variable(_) | Self::Product(_));
        if is_open(&one) || is_open(&other) {
            return Ok(Self::Product(Box::new([one, other])));
        }
        let [Some(one), Some(other)] = [one, other].map(|it| it.number::<i64>()) else {
            let message = "only whole numbers can be multiplied";
            return Err(error(position, message, "write the product itself"));
        };
        let product = one.checked_mul(other).map(|it| Self::Plain(it.to_string()));
        let message = || format!("{one} * {other} is too large");
        product.ok_or_else(|| error(position, message(), "use smaller numbers"))
    }

    fn factor_count(&self) -> usize {
        match self {
            Self::Product(factors) => factors.iter().map(Self::factor_count).sum(),
            _ => 1,
        }
    }

    /// The value as a number of type `N`, if it is one.
    fn number<N: WholeNumber>(&self) -> Option<N> {
        match self {
            Self::Plain(text) => text.parse::<i64>().ok()?.try_into().ok(),
            _ => None,
        }
    }
}

/// Integer types.
pub(super) trait WholeNumber: TryFrom<i64> + PartialOrd + Display {}
impl<N: TryFrom<i64> + PartialOrd + Display> WholeNumber for N {}

/// A part of a script that has attributes.
#[derive(Debug, Clone, Default)]
pub(super) struct Entity {
    pub kind: EntityKind,
    /// Name of a flowop's operation.
    pub operation: String,
    pub position: SourcePosition,
    pub attributes: BTreeMap<String, Attribute>,
    /// Variables of a composite, or values passed to one. A variable without a value stands for
    /// itself.
    pub locals: Variables,
    /// Rows of a random variable's table: percent, least, most.
    pub table: Vec<[i64; 3]>,
    /// Threads of a process, or flowops of a thread or composite.
    pub children: Vec<Entity>,
}

/// An attribute's value and position.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub value: ScriptValue,
    pub position: SourcePosition,
}

impl Entity {
    pub(super) fn get(&self, name: &str) -> Option<&ScriptValue> {
        self.attributes.get(name).map(|it| &it.value)
    }

    /// Number of entities: this one and all it contains.
    pub(super) fn count(&self) -> usize {
        1 + self.children.iter().map(Self::count).sum::<usize>()
    }

    /// Replaces variables by values, also in all entities that it contains.
    pub(super) fn settle(&mut self, variables: &Variables) -> Read<()> {
        for Attribute {
            value,
            position: place,
        } in self.attributes.values_mut()
        {
            *value = value.settled(variables, *place)?;
            // Following parameters of random variables would never end for `$a=randvar(mean=$a)`. A
            // random parameter becomes an error in `law`.
            if let ScriptValue::Random(random) = value
                && !matches!(self.kind, EntityKind::Randvar | EntityKind::Cvar)
            {
                random.settle(variables)?;
            }
        }
        let mut inner = self.children.iter_mut();
        inner.try_for_each(|it| it.settle(variables))
    }

    /// An error at this entity's position.
    pub(super) fn error(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        error(self.position, message, help)
    }

    /// The error that a required attribute is missing.
    pub(super) fn lacks(&self, name: &str, help: &str) -> Diagnostic {
        let message = match self.operation.as_str() {
            "" => format!("a {} has no `{name}`", self.kind.row()[0]),
            word => format!("`{word}` has no `{name}`"),
        };
        self.error(message, help)
    }

    /// An attribute as `take` converts it. If that is `None`, the error names the wanted value.
    fn taken<T>(
        &self,
        name: &str,
        wanted: &str,
        take: impl FnOnce(&ScriptValue) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(Attribute {
            value,
            position: place,
        }) = self.attributes.get(name)
        else {
            return Ok(None);
        };
        let invalid = || match value {
            ScriptValue::Variable(name) => {
                let help = format!("pass a value, as in `${name}=10`");
                error(*place, format!("`${name}` has no value here"), help)
            }
            _ => {
                let message = format!("`{name}` is not {wanted}");
                error(*place, message, format!("give `{name}` {wanted}"))
            }
        };
        take(value).ok_or_else(invalid).map(Some)
    }

    /// A text or a number, but not a truth value.
    pub(super) fn text(&self, name: &str) -> Read<Option<String>> {
        self.taken(name, "a name", |value| match value {
            // The parser stores `true` for an attribute without a value, which is no name.
            ScriptValue::Plain(text) if text.parse::<bool>().is_err() => Some(text.clone()),
            _ => None,
        })
    }

    /// A text that is required.
    pub(super) fn needed(&self, name: &str) -> Read<String> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.lacks(name, &format!("add `{name}=...`")))
    }

    pub(super) fn flag(&self, name: &str) -> Read<bool> {
        let flag = self.taken(name, "`true` or `false`", |value| {
            let number = value.number().map(|it: i64| it != 0);
            number.or_else(|| value.shown().parse().ok())
        });
        Ok(flag?.unwrap_or(false))
    }

    /// A whole number from 0 to `most`; `None` without the attribute.
    pub(super) fn given<N: WholeNumber>(&self, name: &str, most: N) -> Read<Option<N>> {
        let wanted = format!("a whole number up to {most}");
        self.taken(name, &wanted, |value| {
            value.number().filter(|it| *it <= most)
        })
    }

    /// A whole number from 0 to `most`; `otherwise` without the attribute.
    pub(super) fn number<N: WholeNumber>(&self, name: &str, most: N, otherwise: N) -> Read<N> {
        Ok(self.given(name, most)?.unwrap_or(otherwise))
    }

    /// A number or a random variable; `otherwise` without the attribute.
    pub(super) fn amount(&self, name: &str, otherwise: u64) -> Read<Law> {
        if let Some(ScriptValue::Random(random)) = self.get(name) {
            return random.law();
        }
        let wanted = format!("a whole number up to {RANDOM_VALUE_MAX}, or a random variable");
        let number = |value: &ScriptValue| value.number().filter(|it| *it <= RANDOM_VALUE_MAX);
        let number = self.taken(name, &wanted, number)?;
        Ok(Law::fixed(number.unwrap_or(otherwise)))
    }
}

/// Kind of an entity, in the order of `kinds.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum EntityKind {
    #[default]
    Script,
    Eventgen,
    File,
    Fileset,
    Process,
    Thread,
    Flowop,
    Composite,
    Randvar,
    Cvar,
}

impl EntityKind {
    /// Name of the kind, its attributes (also of older versions), and the words that begin its
    /// contents or name its operation. Words are separated by blanks.
    pub(super) fn row(self) -> [&'static str; 3] {
        let mut rows = rows(include_str!("kinds.txt"));
        rows.nth(self as usize).unwrap_or_default()
    }
}
