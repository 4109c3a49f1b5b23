//! Converts random variables to laws.

use plan::printable;
use plan::program::{Band, Law, Shape};

use super::script::{Entity, EntityKind, RANDOM_VALUE_MAX, Read};
use crate::rows::{number, rows};

impl Entity {
    /// The law of a random variable.
    pub(super) fn law(&self) -> Read<Law> {
        let number = |name, otherwise| self.number(name, RANDOM_VALUE_MAX, otherwise);
        let step = number("round", 0)?;
        let min = number("min", 0)?;
        let most = number("max", RANDOM_VALUE_MAX)?;
        // A `cvar` is clamped to `min`, but a `randvar` adds `min` to each drawn value.
        let (shape, base, least) = match self.kind == EntityKind::Cvar {
            true => (self.custom()?, 0, min),
            false => self.randvar(min).map(|(shape, base)| (shape, base, 0))?,
        };
        Ok(Law {
            shape,
            // A law rounds down, so half a step more gives the nearest multiple, as in the
            // original.
            base: base + step / 2,
            least,
            most,
            step,
        })
    }

    /// The shape of a `randvar`, and the offset that is added to each drawn value. Tables contain
    /// their offset.
    fn randvar(&self, least: u64) -> Read<(Shape, u64)> {
        let shape = self.number("gamma", RANDOM_VALUE_MAX, 1500)?.max(1) as f64 / 1000.0;
        let mean = self.given("mean", RANDOM_VALUE_MAX)?;
        let kind = self.text("type")?;
        Ok(match kind.as_deref().unwrap_or("gamma") {
            "uniform" => {
                // The original draws up to twice the distance of the mean from the minimum, which
                // keeps the mean.
                let high = mean.unwrap_or(least).saturating_sub(least) * 2;
                (Shape::Uniform { low: 0, high }, least)
            }
            "gamma" => {
                // Without a mean, the original uses the shape.
                let mean = mean.map_or(shape, |mean| mean as f64) - least as f64;
                let mean = mean.max(f64::MIN_POSITIVE);
                (Shape::Gamma { mean, shape }, least)
            }
            "tabular" => (self.table(least as f64, mean)?, 0),
            other => {
                let message = format!("`{}` is not a type of `randvar`", printable(other));
                let help = "write `uniform`, `gamma` or `tabular`";
                return Err(self.error(message, help));
            }
        })
    }

    /// A table's rows, shifted to start at `least` and scaled to the requested mean.
    fn table(&self, least: f64, mean: Option<u64>) -> Read<Shape> {
        let band = |&[percent, low, high]: &[i64; 3]| {
            let band = Band {
                weight: u32::try_from(percent).ok()?,
                low: u64::try_from(low).ok()?,
                high: u64::try_from(high).ok()?,
            };
            let is_drawn = percent <= 100 && low <= high && band.high <= RANDOM_VALUE_MAX;
            is_drawn.then_some(band)
        };
        let Some(bands) = self.table.iter().map(band).collect::<Option<Vec<Band>>>() else {
            let message = "a row of the table cannot be drawn";
            return Err(self.error(message, "write rows as `{percent, least, most}`"));
        };
        let sum: u32 = bands.iter().map(|band| band.weight).sum();
        if sum != 100 {
            let message = format!("the rows of the table add up to {sum} %, not 100 %");
            let help = "make the percentages add up to 100, as in `{{60, 1k, 8k}, {40, 8k, 1m}}`";
            return Err(self.error(message, help));
        }
        // A mean of 0 stands for the table's own.
        let mean = mean.filter(|mean| *mean > 0).map(|mean| mean as f64);
        let bands = Band::moved(&bands, least, mean).into_iter();
        let limited = bands.map(|band| Band {
            low: band.low.min(RANDOM_VALUE_MAX),
            high: band.high.min(RANDOM_VALUE_MAX),
            ..band
        });
        Ok(Shape::Table(limited.collect()))
    }

    /// The shape of a custom variable, whose parameters are written as `mean:4096;gamma:1.5`.
    fn custom(&self) -> Read<Shape> {
        let kind = self.needed("type")?;
        let mut known = rows(include_str!("customs.txt"));
        let Some([_, first, one, second, other]) = known.find(|row| row[0] == kind) else {
            let message = format!("`{}` is not a supported distribution", printable(&kind));
            let help = "use cvar-uniform, -exponential, -gamma, -normal, -lognormal or -erlang";
            return Err(self.error(message, help));
        };
        let (names, mut values) = ([first, second], [one, other].map(number));
        let text = self.text("parameters")?.unwrap_or_default();
        // In reverse, so that the first value of a name applies.
        for pair in text.rsplit(';').filter(|it| !it.is_empty()) {
            let (name, text) = pair.split_once(':').unwrap_or((pair, ""));
            let Some(at) = names.iter().position(|it| *it == name && !it.is_empty()) else {
                let message = format!("`{kind}` has no parameter `{}`", printable(name));
                let help = format!("use {}", names.join(", "));
                return Err(self.error(message, help.trim_end_matches(", ")));
            };
            let value = text.trim().parse().ok();
            let value = value.filter(|value| (0.0..=RANDOM_VALUE_MAX as f64).contains(value));
            let message = || format!("`{}` is not a number for `{name}`", printable(text));
            let invalid =
                || self.error(message(), "write parameters such as `mean:4096;gamma:1.5`");
            values[at] = value.ok_or_else(invalid)?;
        }
        Ok(match (kind.as_str(), values[0], values[1]) {
            ("cvar-uniform", low, high) => {
                // At most 2^40, so it fits.
                let (low, high) = (low as u64, low.max(high) as u64);
                Shape::Uniform { low, high }
            }
            ("cvar-exponential", mean, _) => Shape::Exponential { mean },
            ("cvar-gamma", mean, shape) => Shape::Gamma { mean, shape },
            ("cvar-normal", mean, deviation) => Shape::Normal { mean, deviation },
            ("cvar-lognormal", spread, scale) => {
                let median = scale.exp();
                Shape::LogNormal { median, spread }
            }
            // This is `cvar-erlang`: an Erlang law is a gamma law whose shape is a whole number.
            (_, shape, rate) => {
                let mean = shape / rate;
                Shape::Gamma { mean, shape }
            }
        })
    }
}
