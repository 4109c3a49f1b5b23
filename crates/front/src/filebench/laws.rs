//! Random variables as laws.

use workload::printable;
use workload::program::{Band, Law, Shape};

use super::attributes::{Attributes, DRAWN_MAX};
use super::script::{Kind, Read};
use crate::tokens::error;

/// Custom variables: their parameters, and what these are where nobody says.
const PARAMETERS: [(&str, &[(&str, f64)]); 6] = [
    ("cvar-uniform", &[("lower", 0.0), ("upper", 1.0)]),
    ("cvar-exponential", &[("mean", 1.0)]),
    ("cvar-gamma", &[("mean", 4096.0), ("gamma", 1.5)]),
    ("cvar-normal", &[("mean", 0.0), ("sigma", 1.0)]),
    ("cvar-lognormal", &[("shape", 1.0), ("scale", 1.0)]),
    ("cvar-erlang", &[("shape", 1.0), ("rate", 1.0)]),
];

impl Attributes<'_> {
    /// The law of a random variable.
    pub(super) fn law(&self) -> Read<Law> {
        match self.entity.kind == Kind::Cvar {
            true => self.custom(),
            false => self.randvar(),
        }
    }

    /// Where `randvar` begins, or its own mean lies, is added to what is drawn.
    fn randvar(&self) -> Read<Law> {
        let number = |name: &str| self.number(name, DRAWN_MAX);
        let least = number("min")?.unwrap_or(0);
        let shape = number("gamma")?.unwrap_or(1500).max(1) as f64 / 1000.0;
        let step = number("round")?.unwrap_or(0);
        let mean = number("mean")?;
        let kind = self.text("type")?;
        let (shape, base) = match kind.as_deref().unwrap_or("gamma") {
            "uniform" => {
                let high = mean.unwrap_or(least).saturating_sub(least) * 2;
                (Shape::Uniform { low: 0, high }, least)
            }
            "gamma" => {
                let mean = mean.map_or(shape, |mean| mean as f64) - least as f64;
                let mean = mean.max(f64::MIN_POSITIVE);
                (Shape::Gamma { mean, shape }, least)
            }
            "tabular" => (self.table(least as f64, mean)?, 0),
            other => {
                let message = format!("`{}` is not a type of `randvar`", printable(other));
                let help = "write `uniform`, `gamma` or `tabular`";
                return Err(error(self.entity.place, message, help));
            }
        };
        Ok(Law {
            most: DRAWN_MAX,
            step,
            base: base + step / 2,
            ..Law::of(shape)
        })
    }

    /// The rows of a table, moved so that the least is `min` and the mean as it was asked for.
    fn table(&self, least: f64, mean: Option<u64>) -> Read<Shape> {
        let (rows, place) = (&self.entity.table, self.entity.place);
        if rows.is_empty() {
            let message = "a random variable by a table has no table";
            return Err(error(place, message, "add `randtable={{100, 1k, 8k}}`"));
        }
        let fits = |&[percent, low, high]: &[i64; 3]| {
            (0..=100).contains(&percent) && 0 <= low && low <= high && high <= DRAWN_MAX as i64
        };
        if !rows.iter().all(fits) {
            let message = "a row of the table cannot be drawn";
            return Err(error(
                place,
                message,
                "write rows as `{percent, least, most}`",
            ));
        }
        let sum: i64 = rows.iter().map(|row| row[0]).sum();
        if sum != 100 {
            let message = format!("the rows of the table add up to {sum} %, not 100 %");
            return Err(error(place, message, "make the percentages add up to 100"));
        }
        let bands = rows.iter().map(|row| Band {
            // All of them were looked at above.
            weight: row[0] as u32,
            low: row[1] as u64,
            high: row[2] as u64,
        });
        let mean = mean.filter(|mean| *mean > 0).map(|mean| mean as f64);
        let bands = Band::moved(&bands.collect::<Vec<_>>(), least, mean);
        let limited = bands.into_iter().map(|band| Band {
            low: band.low.min(DRAWN_MAX),
            high: band.high.min(DRAWN_MAX),
            ..band
        });
        Ok(Shape::Table(limited.collect()))
    }

    fn custom(&self) -> Read<Law> {
        let kind = self.needed("type")?;
        let shape = custom_shape(&kind, &self.text("parameters")?.unwrap_or_default())
            .map_err(|(message, help)| error(self.entity.place, message, help))?;
        let step = self.number("round", DRAWN_MAX)?.unwrap_or(0);
        Ok(Law {
            least: self.number("min", DRAWN_MAX)?.unwrap_or(0),
            most: self.number("max", DRAWN_MAX)?.unwrap_or(DRAWN_MAX),
            step,
            base: step / 2,
            ..Law::of(shape)
        })
    }
}

/// The shape of a custom variable by what stands behind `parameters=`, such as
/// `mean:4096;gamma:1.5`; else what is wrong with that, and what helps.
fn custom_shape(kind: &str, written: &str) -> Result<Shape, (String, String)> {
    let mut known = PARAMETERS.iter();
    let Some((_, parameters)) = known.find(|(name, _)| *name == kind) else {
        let message = format!("amounts are not drawn by `{}` here", printable(kind));
        let help = "use cvar-uniform, -exponential, -gamma, -normal, -lognormal or -erlang";
        return Err((message, help.to_owned()));
    };
    let pairs = written.split(';').filter(|it| !it.is_empty());
    let pairs = pairs.map(|pair| pair.split_once(':').unwrap_or((pair, "")));
    let value = |(name, default): &(&str, f64)| {
        let Some((_, text)) = pairs.clone().find(|(it, _)| it == name) else {
            return Ok(*default);
        };
        let value = text.trim().parse().ok();
        let value = value.filter(|value| (0.0..=DRAWN_MAX as f64).contains(value));
        value.ok_or_else(|| {
            let message = format!("`{}` is no number for `{name}`", printable(text));
            (message, "write such as `mean:4096;gamma:1.5`".to_owned())
        })
    };
    let values: Result<Vec<f64>, _> = parameters.iter().map(value).collect();
    let values = values?;
    let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
    if let Some((name, _)) = pairs.clone().find(|(name, _)| !names.contains(name)) {
        let message = format!("`{kind}` has no parameter `{}`", printable(name));
        return Err((message, format!("use {}", names.join(", "))));
    }
    // Every type has a parameter.
    let (one, other) = (values[0], values.get(1).copied().unwrap_or_default());
    Ok(match kind {
        "cvar-uniform" => Shape::Uniform {
            low: one as u64,
            high: (other as u64).max(one as u64),
        },
        "cvar-exponential" => Shape::Exponential { mean: one },
        "cvar-gamma" => Shape::Gamma {
            mean: one,
            shape: other,
        },
        "cvar-normal" => Shape::Normal {
            mean: one,
            deviation: other,
        },
        "cvar-lognormal" => Shape::LogNormal {
            median: other.exp(),
            spread: one,
        },
        _ => Shape::Gamma {
            mean: one / other,
            shape: one,
        },
    })
}
