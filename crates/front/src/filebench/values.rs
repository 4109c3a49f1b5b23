//! Values as a script's run sees them: variables looked up, random ones as laws.

use std::collections::BTreeMap;

use workload::Diagnostic;
use workload::program::{Band, Law, Shape};

use super::page::{Page, Place};
use super::script::{Attribute, Attributes, Random, Value};

/// The most that anything drawn comes to, in bytes or pieces.
const DRAWN_MAX: u64 = 1 << 40;

/// Where variables are looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub page: Page<'a>,
    pub globals: &'a BTreeMap<String, Value>,
    /// Those of a composite, already looked up.
    pub locals: &'a BTreeMap<String, Value>,
}

/// A number, or how it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    pub law: Law,
    /// Whether it comes from the C library's generator, which the trees of filesets use, too.
    pub is_of_library: bool,
}

impl Scope<'_> {
    pub(super) fn error(&self, place: Place, message: impl Into<String>) -> Diagnostic {
        self.page.error(place, message)
    }

    /// What a value comes to, without variables.
    pub(super) fn settled(&self, value: &Value, place: Place) -> Result<Value, Diagnostic> {
        match value {
            Value::Variable(name) => {
                let known = self.locals.get(name).or_else(|| self.globals.get(name));
                match known {
                    Some(Value::Variable(_)) | None => {
                        let message = format!("`${name}` has no value here");
                        let help = format!("hand it over, as in `${name}=10`");
                        Err(self.error(place, message).help(help))
                    }
                    Some(Value::Product(one, other)) => self.product(one, other, place),
                    Some(value) => Ok(value.clone()),
                }
            }
            Value::Product(one, other) => self.product(one, other, place),
            value => Ok(value.clone()),
        }
    }

    fn product(&self, one: &Value, other: &Value, place: Place) -> Result<Value, Diagnostic> {
        let factors = (self.settled(one, place)?, self.settled(other, place)?);
        let product = match factors {
            (Value::Number(one), Value::Number(other)) => one.checked_mul(other),
            _ => None,
        };
        product.map(Value::Number).ok_or_else(|| {
            let message = "only whole numbers can be multiplied";
            self.error(place, message).help("write the product itself")
        })
    }

    fn of(&self, attribute: &Attribute) -> Result<Value, Diagnostic> {
        self.settled(&attribute.value, attribute.place)
    }

    /// Says what an attribute's value should have been.
    fn wrong(&self, attribute: &Attribute, wanted: &str) -> Diagnostic {
        let message = format!("`{}` is not {wanted}", attribute.name);
        let help = format!("give `{}` {wanted}", attribute.name);
        self.error(attribute.place, message).help(help)
    }

    /// A text, or the number that stands for one.
    pub(super) fn text(
        &self,
        attributes: &Attributes,
        name: &str,
    ) -> Result<Option<String>, Diagnostic> {
        let Some(attribute) = attributes.get(name) else {
            return Ok(None);
        };
        match self.of(attribute)? {
            Value::Text(text) => Ok(Some(text)),
            Value::Number(number) => Ok(Some(number.to_string())),
            _ => Err(self.wrong(attribute, "a name")),
        }
    }

    /// What must be there.
    pub(super) fn needed(
        &self,
        attributes: &Attributes,
        name: &str,
        of: &str,
        place: Place,
    ) -> Result<String, Diagnostic> {
        self.text(attributes, name)?.ok_or_else(|| {
            let message = format!("a {of} has no `{name}`");
            self.error(place, message).help(format!("add `{name}=...`"))
        })
    }

    pub(super) fn flag(&self, attributes: &Attributes, name: &str) -> Result<bool, Diagnostic> {
        let Some(attribute) = attributes.get(name) else {
            return Ok(false);
        };
        match self.of(attribute)? {
            Value::Flag(flag) => Ok(flag),
            Value::Number(number) => Ok(number != 0),
            _ => Err(self.wrong(attribute, "`true` or `false`")),
        }
    }

    /// A whole number from 0 to `most`.
    pub(super) fn number(
        &self,
        attributes: &Attributes,
        name: &str,
        default: u64,
        most: u64,
    ) -> Result<u64, Diagnostic> {
        let Some(attribute) = attributes.get(name) else {
            return Ok(default);
        };
        let number = match self.of(attribute)? {
            Value::Number(number) => u64::try_from(number).ok(),
            Value::Flag(flag) => Some(flag.into()),
            _ => None,
        };
        let number = number.filter(|number| *number <= most);
        number.ok_or_else(|| self.wrong(attribute, &format!("a whole number up to {most}")))
    }

    /// A number or how it is drawn; nothing where the attribute is not there.
    pub(super) fn amount(
        &self,
        attributes: &Attributes,
        name: &str,
    ) -> Result<Option<Amount>, Diagnostic> {
        let Some(attribute) = attributes.get(name) else {
            return Ok(None);
        };
        let fixed = |number: u64| Amount {
            law: Law::fixed(number),
            is_of_library: false,
        };
        match self.of(attribute)? {
            Value::Number(number) => match u64::try_from(number) {
                Ok(number) if number <= DRAWN_MAX => Ok(Some(fixed(number))),
                _ => Err(self.wrong(attribute, &format!("from 0 to {DRAWN_MAX}"))),
            },
            Value::Flag(flag) => Ok(Some(fixed(flag.into()))),
            Value::Random(random) => self.drawn(&random).map(Some),
            _ => Err(self.wrong(attribute, "a number, or a random variable")),
        }
    }

    /// A random variable as a law.
    fn drawn(&self, random: &Random) -> Result<Amount, Diagnostic> {
        match random.is_custom {
            true => self.custom(random),
            false => self.randvar(random),
        }
    }

    /// Where `randvar` begins, or its own mean lies, is added to what is drawn.
    fn randvar(&self, random: &Random) -> Result<Amount, Diagnostic> {
        let all = &random.attributes;
        let number = |name: &str, default: u64| self.number(all, name, default, DRAWN_MAX);
        let least = number("min", 0)?;
        let gamma = number("gamma", 1500)?.max(1);
        let round = number("round", 0)?;
        let mean = match all.get("mean") {
            Some(_) => Some(number("mean", 0)?),
            None => None,
        };
        let shape = gamma as f64 / 1000.0;
        let above = |mean: f64| (mean - least as f64).max(f64::MIN_POSITIVE);
        let kind = self.text(all, "type")?;
        let (shape, base) = match kind.as_deref().unwrap_or("gamma") {
            "uniform" => {
                let high = mean.unwrap_or(least).saturating_sub(least) * 2;
                (Shape::Uniform { low: 0, high }, least)
            }
            "gamma" => {
                let mean = above(mean.map_or(shape, |mean| mean as f64));
                (Shape::Gamma { mean, shape }, least)
            }
            "tabular" => (self.table(random, least, mean)?, 0),
            other => {
                let message = format!(
                    "`{}` is not a type of `randvar`",
                    workload::printable(other)
                );
                let error = self.error(random.place, message);
                return Err(error.help("write `uniform`, `gamma` or `tabular`"));
            }
        };
        Ok(Amount {
            law: Law {
                most: DRAWN_MAX,
                step: round,
                base: base + round / 2,
                ..Law::of(shape)
            },
            is_of_library: false,
        })
    }

    /// The rows of a table, moved so that the least is `min` and the mean as it was asked for.
    fn table(&self, random: &Random, least: u64, mean: Option<u64>) -> Result<Shape, Diagnostic> {
        let rows = &random.table;
        let wrong = |message: &str, help: &str| self.error(random.place, message).help(help);
        if rows.is_empty() {
            let help = "add `randtable={{100, 1k, 8k}}`";
            return Err(wrong("a random variable by a table has no table", help));
        }
        let fits = |row: &[i64; 3]| row[0] >= 0 && row[1] >= 0 && row[1] <= row[2];
        let most = DRAWN_MAX as i64;
        if !rows
            .iter()
            .all(|row| fits(row) && row[0] <= 100 && row[2] <= most)
        {
            let help = "write rows as `{percent, least, most}`";
            return Err(wrong("a row of the table cannot be drawn", help));
        }
        let sum: i64 = rows.iter().map(|row| row[0]).sum();
        if sum != 100 {
            let message = format!("the rows of the table add up to {sum} %, not 100 %");
            return Err(wrong(&message, "make the percentages add up to 100"));
        }
        let low = rows.iter().map(|row| row[1]).min().unwrap_or(0) as f64;
        let middle = |row: &[i64; 3]| row[0] as f64 * (row[1] + row[2]) as f64 / 200.0;
        let table_mean: f64 = rows.iter().map(middle).sum();
        let wanted = mean.filter(|mean| *mean > 0);
        let wanted = wanted.map_or(table_mean, |mean| mean as f64);
        let least = least as f64;
        let factor = match table_mean > low {
            true => (wanted - least).max(0.0) / (table_mean - low),
            false => 1.0,
        };
        let moved = |value: i64| ((value as f64 - low) * factor + least).round() as u64;
        let bands = rows.iter().map(|row| Band {
            // At most 100.
            weight: row[0] as u32,
            low: moved(row[1]).min(DRAWN_MAX),
            high: moved(row[2]).min(DRAWN_MAX),
        });
        Ok(Shape::Table(bands.collect()))
    }

    fn custom(&self, random: &Random) -> Result<Amount, Diagnostic> {
        let all = &random.attributes;
        let kind = self.needed(all, "type", "custom variable", random.place)?;
        let written = self.text(all, "parameters")?.unwrap_or_default();
        let parameters = Parameters {
            scope: self,
            place: random.place,
            written: &written,
        };
        let (shape, names) = parameters.shape(&kind)?;
        parameters.check(&kind, names)?;
        let round = self.number(all, "round", 0, DRAWN_MAX)?;
        Ok(Amount {
            law: Law {
                least: self.number(all, "min", 0, DRAWN_MAX)?,
                most: self.number(all, "max", DRAWN_MAX, DRAWN_MAX)?,
                step: round,
                base: round / 2,
                ..Law::of(shape)
            },
            is_of_library: kind == "cvar-gamma",
        })
    }
}

/// What stands behind `parameters=`: names with numbers, such as `mean:4096;gamma:1.5`.
struct Parameters<'a> {
    scope: &'a Scope<'a>,
    place: Place,
    written: &'a str,
}

impl Parameters<'_> {
    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.written.split(';').filter(|it| !it.is_empty());
        parts.map(|part| part.split_once(':').unwrap_or((part, "")))
    }

    fn get(&self, name: &str, default: f64) -> Result<f64, Diagnostic> {
        let Some((_, text)) = self.pairs().find(|(it, _)| *it == name) else {
            return Ok(default);
        };
        let value = text.trim().parse::<f64>().ok();
        let limit = DRAWN_MAX as f64;
        let value = value.filter(|value| (0.0..=limit).contains(value));
        value.ok_or_else(|| {
            let text = workload::printable(text);
            let message = format!("`{text}` is no number for `{name}`");
            let error = self.scope.error(self.place, message);
            error.help("write such as `mean:4096;gamma:1.5`")
        })
    }

    /// The law of a type, and the names of its parameters.
    fn shape(&self, kind: &str) -> Result<(Shape, &'static [&'static str]), Diagnostic> {
        Ok(match kind {
            "cvar-uniform" => {
                let low = self.get("lower", 0.0)? as u64;
                let high = (self.get("upper", 1.0)? as u64).max(low);
                (Shape::Uniform { low, high }, &["lower", "upper"])
            }
            "cvar-exponential" => {
                let mean = self.get("mean", 1.0)?;
                (Shape::Exponential { mean }, &["mean"])
            }
            "cvar-gamma" => {
                let mean = self.get("mean", 4096.0)?;
                let shape = self.get("gamma", 1.5)?;
                (Shape::Gamma { mean, shape }, &["mean", "gamma"])
            }
            "cvar-normal" => {
                let mean = self.get("mean", 0.0)?;
                let deviation = self.get("sigma", 1.0)?;
                (Shape::Normal { mean, deviation }, &["mean", "sigma"])
            }
            "cvar-lognormal" => {
                let median = self.get("scale", 1.0)?.exp();
                let spread = self.get("shape", 1.0)?;
                (Shape::LogNormal { median, spread }, &["shape", "scale"])
            }
            "cvar-erlang" => {
                let shape = self.get("shape", 1.0)?;
                let mean = shape / self.get("rate", 1.0)?;
                (Shape::Gamma { mean, shape }, &["shape", "rate"])
            }
            _ => {
                let kind = workload::printable(kind);
                let message = format!("amounts are not drawn by `{kind}` here");
                let error = self.scope.error(self.place, message);
                let known = "cvar-uniform, -exponential, -gamma, -normal, -lognormal or -erlang";
                return Err(error.help(format!("use {known}")));
            }
        })
    }

    fn check(&self, kind: &str, names: &[&str]) -> Result<(), Diagnostic> {
        let Some((name, _)) = self.pairs().find(|(name, _)| !names.contains(name)) else {
            return Ok(());
        };
        let name = workload::printable(name);
        let message = format!("`{kind}` has no parameter `{name}`");
        let error = self.scope.error(self.place, message);
        Err(error.help(format!("use {}", names.join(", "))))
    }
}
