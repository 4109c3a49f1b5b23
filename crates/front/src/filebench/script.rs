//! What a script says, before its variables are looked up.

use std::collections::BTreeMap;
use std::fmt::Display;

use plan::Diagnostic;
use plan::program::{Before, Law};

use crate::Difference;
use crate::acts::number_of;
use crate::rows::rows;
use crate::tokens::{Place, error};

/// The most that anything drawn comes to, in bytes or pieces.
pub(super) const DRAWN_MAX: u64 = 1 << 40;
/// Factors of one value, at most.
const FACTORS_MAX: usize = 16;

/// What was read, or the first mistake; [`work`](super::work) adds file and line to it.
pub(super) type Read<T> = Result<T, Diagnostic>;
/// Variables by their names.
pub(super) type Variables = BTreeMap<String, Value>;

/// A script, as it stands when it runs.
#[derive(Default)]
pub(super) struct Script {
    pub variables: Variables,
    /// Its filesets and processes lie within, in the order of their definition. Its own attributes
    /// are how long it runs in seconds, `run`, and the generator's events in a second, `rate`.
    pub whole: Entity,
    /// What ends it besides time; empty where nothing does.
    pub mode: String,
    /// Whether its filesets are created, so that what follows is done after that.
    pub is_created: bool,
    /// What `system` asks for before the run.
    pub before: Vec<Before>,
    /// What it says as it is read.
    pub echoes: Vec<String>,
    /// What is done otherwise than in the original, or changes nothing.
    pub differences: Vec<Difference>,
}

impl Script {
    /// Tells once for each line what is always done otherwise, or changes nothing, if it is
    /// something of that kind.
    pub(super) fn note(&mut self, place: impl Into<Option<Place>>, what: &str) {
        let line = place.into().map(|it| it.line);
        let mut known = Difference::listed(include_str!("differences.txt"));
        if let Some(difference) = known.find(|it| it.what == what) {
            number_of(&mut self.differences, Difference { line, ..difference });
        }
    }
}

/// What stands behind an equals sign.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A word, a text or a number, as it is read where it is used.
    Plain(String),
    /// Looked up when the script runs.
    Variable(String),
    Product(Box<[Value; 2]>),
    /// Drawn anew each time that it is looked at.
    Random(Box<Entity>),
}

impl Value {
    /// As it is shown in a text.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Variable(name) => format!("${name}"),
            Self::Product(factors) => factors.each_ref().map(Self::shown).join(" * "),
            Self::Random(_) => "a random variable".to_owned(),
        }
    }

    /// What it comes to with these variables; others stay what they are.
    pub(super) fn settled(&self, variables: &Variables, place: Place) -> Read<Self> {
        Ok(match self {
            Self::Variable(name) => variables.get(name).unwrap_or(self).clone(),
            Self::Product(factors) => {
                let [one, other] = factors.each_ref().map(|it| it.settled(variables, place));
                Self::product(one?, other?, place)?
            }
            value => value.clone(),
        })
    }

    /// A product, which is a number as soon as both factors are.
    pub(super) fn product(one: Self, other: Self, place: Place) -> Read<Self> {
        if one.factor_count() + other.factor_count() > FACTORS_MAX {
            let message = format!("a product has more than {FACTORS_MAX} factors");
            return Err(error(place, message, "set a variable to a part of it"));
        }
        let is_open = |it: &Self| matches!(it, Self::Variable(_) | Self::Product(_));
        if is_open(&one) || is_open(&other) {
            return Ok(Self::Product(Box::new([one, other])));
        }
        let [Some(one), Some(other)] = [one, other].map(|it| it.number::<i64>()) else {
            let message = "only whole numbers can be multiplied";
            return Err(error(place, message, "write the product itself"));
        };
        let product = one.checked_mul(other).map(|it| Self::Plain(it.to_string()));
        let message = || format!("{one} * {other} is too large");
        product.ok_or_else(|| error(place, message(), "use smaller numbers"))
    }

    fn factor_count(&self) -> usize {
        match self {
            Self::Product(factors) => factors.iter().map(Self::factor_count).sum(),
            _ => 1,
        }
    }

    /// A number that is one of `N`.
    fn number<N: Whole>(&self) -> Option<N> {
        match self {
            Self::Plain(text) => text.parse::<i64>().ok()?.try_into().ok(),
            _ => None,
        }
    }
}

/// Whole numbers.
pub(super) trait Whole: TryFrom<i64> + PartialOrd + Display {}
impl<N: TryFrom<i64> + PartialOrd + Display> Whole for N {}

/// Whatever has attributes.
#[derive(Debug, Clone, Default)]
pub(super) struct Entity {
    pub kind: Kind,
    /// What a flowop does.
    pub word: String,
    pub place: Place,
    pub attributes: BTreeMap<String, Attribute>,
    /// The variables of a composite, or those that are handed to one; where they have no value
    /// each stands for itself.
    pub locals: Variables,
    /// The rows of a random variable: percent, least, most.
    pub table: Vec<[i64; 3]>,
    /// The threads of a process, the flowops of a thread or of a composite.
    pub inner: Vec<Entity>,
}

/// An attribute as it was written.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    pub value: Value,
    pub place: Place,
}

impl Entity {
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.attributes.get(name).map(|it| &it.value)
    }

    /// How many it is together with all that lies within.
    pub(super) fn count(&self) -> usize {
        1 + self.inner.iter().map(Self::count).sum::<usize>()
    }

    /// Puts values in the place of variables, in all that lies within, too.
    pub(super) fn settle(&mut self, variables: &Variables) -> Read<()> {
        for Attribute { value, place } in self.attributes.values_mut() {
            *value = value.settled(variables, *place)?;
            if let Value::Random(random) = value
                && !matches!(self.kind, Kind::Randvar | Kind::Cvar)
            {
                random.settle(variables)?;
            }
        }
        let mut inner = self.inner.iter_mut();
        inner.try_for_each(|it| it.settle(variables))
    }

    /// Says what is wrong with it.
    pub(super) fn error(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        error(self.place, message, help)
    }

    /// Says that an attribute is not there.
    pub(super) fn lacks(&self, name: &str, help: &str) -> Diagnostic {
        let message = match self.word.as_str() {
            "" => format!("a {} has no `{name}`", self.kind.row()[0]),
            word => format!("`{word}` has no `{name}`"),
        };
        self.error(message, help)
    }

    /// What `take` makes of a value; it says what the value should have been where that is nothing.
    fn taken<T>(
        &self,
        name: &str,
        wanted: &str,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Read<Option<T>> {
        let Some(Attribute { value, place }) = self.attributes.get(name) else {
            return Ok(None);
        };
        let wrong = || match value {
            Value::Variable(name) => {
                let help = format!("hand it over, as in `${name}=10`");
                error(*place, format!("`${name}` has no value here"), help)
            }
            _ => {
                let message = format!("`{name}` is not {wanted}");
                error(*place, message, format!("give `{name}` {wanted}"))
            }
        };
        take(value).ok_or_else(wrong).map(Some)
    }

    /// A text, or the number that stands for one.
    pub(super) fn text(&self, name: &str) -> Read<Option<String>> {
        self.taken(name, "a name", |value| match value {
            Value::Plain(text) if text.parse::<bool>().is_err() => Some(text.clone()),
            _ => None,
        })
    }

    /// What must be there.
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

    /// A whole number from 0 to `most`.
    pub(super) fn given<N: Whole>(&self, name: &str, most: N) -> Read<Option<N>> {
        let wanted = format!("a whole number up to {most}");
        self.taken(name, &wanted, |value| {
            value.number().filter(|it| *it <= most)
        })
    }

    /// The same, or what it is where nobody says it.
    pub(super) fn number<N: Whole>(&self, name: &str, most: N, otherwise: N) -> Read<N> {
        Ok(self.given(name, most)?.unwrap_or(otherwise))
    }

    /// A number, or how it is drawn; or what it is where nobody says it.
    pub(super) fn amount(&self, name: &str, otherwise: u64) -> Read<Law> {
        if let Some(Value::Random(random)) = self.get(name) {
            return random.law();
        }
        let wanted = format!("a whole number up to {DRAWN_MAX}, or a random variable");
        let number = |value: &Value| value.number().filter(|it| *it <= DRAWN_MAX);
        let number = self.taken(name, &wanted, number)?;
        Ok(Law::fixed(number.unwrap_or(otherwise)))
    }
}

/// What takes attributes, in the order of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
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

impl Kind {
    /// What it is called, which attributes it takes, those of older versions included, and which
    /// words begin what stands in it, or say what it does; with blanks between.
    pub(super) fn row(self) -> [&'static str; 3] {
        let mut rows = rows(include_str!("kinds.txt"));
        rows.nth(self as usize).unwrap_or_default()
    }
}
