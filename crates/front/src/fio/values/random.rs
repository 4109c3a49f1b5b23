//! How often places are visited.

use super::super::settings::ByDirection;
use super::lists::{shares, shares_by_direction};
use super::{Unit, number};

/// How often places are visited.
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// All alike.
    Uniform,
    /// Zipf's law of that exponent, around a center from 0 to 1 if there is one.
    Zipf(f64, Option<f64>),
    /// Pareto's law of that power, around a center from 0 to 1 if there is one.
    Pareto(f64, Option<f64>),
    /// A normal law with that deviation in percent, around a center from 0 to 1 if there is one.
    Normal(f64, Option<f64>),
    /// Shares of requests in shares of the space, by direction.
    Zoned(ByDirection<Vec<ZoneShare>>),
    /// Shares of requests in zones of so many bytes, by direction.
    ZonedBytes(ByDirection<Vec<ZoneShare>>),
}

/// A zone's share of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneShare {
    /// Of the requests, in percent.
    pub requests_percent: u32,
    /// Of the space: percent, or bytes.
    pub size: u64,
}

/// Zones at most.
const ZONES_MAX: usize = 64;

/// Reads `zipf:1.2`, `zoned:60/10:40/90` and their like.
///
/// # Errors
/// What is wanted instead.
pub(in crate::fio) fn distribution(text: &str, kilo: u64) -> Result<Distribution, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let bounded = |fallback: f64, is_good: fn(f64) -> bool, wanted: &str| {
        let (value, center) = with_center(rest, fallback)?;
        match is_good(value) {
            true => Ok((value, center)),
            false => Err(wanted.to_owned()),
        }
    };
    match name {
        "random" => Ok(Distribution::Uniform),
        "zipf" => bounded(1.1, |it| it >= 0.0 && it != 1.0, "it is not 1, nor below 0")
            .map(|(theta, center)| Distribution::Zipf(theta, center)),
        "pareto" => bounded(0.2, |it| it > 0.0 && it < 1.0, "it is between 0 and 1")
            .map(|(power, center)| Distribution::Pareto(power, center)),
        "normal" => bounded(0.0, |it| (0.0..=100.0).contains(&it), "it is from 0 to 100")
            .map(|(deviation, center)| Distribution::Normal(deviation, center)),
        "zoned" => zones(rest, kilo, true).map(Distribution::Zoned),
        "zoned_abs" => zones(rest, kilo, false).map(Distribution::ZonedBytes),
        _ => Err("use one of random, zipf, pareto, normal, zoned, zoned_abs".to_owned()),
    }
}

fn with_center(text: &str, fallback: f64) -> Result<(f64, Option<f64>), String> {
    let float = |text: &str| {
        let value = text.parse::<f64>().ok().filter(|it| it.is_finite());
        value.ok_or_else(|| "it needs a number".to_owned())
    };
    if text.is_empty() {
        return Ok((fallback, None));
    }
    let (value, center) = match text.split_once(':') {
        Some((value, center)) => (value, Some(float(center)?)),
        None => (text, None),
    };
    // Below 0 there is no center, as in fio.
    let center = center.filter(|it| *it >= 0.0);
    match center.is_some_and(|it| it > 1.0) {
        true => Err("its center is from 0 to 1".to_owned()),
        false => Ok((float(value)?, center)),
    }
}

fn zones(
    text: &str,
    kilo: u64,
    is_of_percent: bool,
) -> Result<ByDirection<Vec<ZoneShare>>, String> {
    let one = |text: &str| zones_of_direction(text, kilo, is_of_percent);
    shares_by_direction(text, one)
}

fn zones_of_direction(
    text: &str,
    kilo: u64,
    is_of_percent: bool,
) -> Result<Vec<ZoneShare>, String> {
    let mut zones = Vec::new();
    for (first, second) in shares(text, ZONES_MAX)? {
        let percent = number(first, Unit::Bytes { kilo })?.plain()?;
        let percent = u32::try_from(percent.clamp(0, 100)).unwrap_or(0);
        let size = match second {
            Some(second) if is_of_percent => second.parse().ok(),
            Some(second) => number(second, Unit::Bytes { kilo })?.value.try_into().ok(),
            None => None,
        };
        let size: Option<u64> = size.filter(|it| !is_of_percent || *it <= 100);
        zones.push((percent, size));
    }
    let (requests, _) = rest_of(zones.iter().map(|it| u64::from(it.0)), 0);
    if zones.is_empty() || requests != 100 {
        return Err("its shares of requests must be 100 % together".to_owned());
    }
    let missing = zones.iter().filter(|it| it.1.is_none()).count() as u64;
    let (known, left) = rest_of(zones.iter().filter_map(|it| it.1), missing);
    if is_of_percent && known + left * missing != 100 {
        return Err("its shares of the space must be 100 % together".to_owned());
    }
    let whole = zones.iter().map(|(percent, size)| ZoneShare {
        requests_percent: *percent,
        size: size.unwrap_or(left),
    });
    Ok(whole.collect())
}

/// The sum, and an equal share of what is left to 100 for those that are missing.
fn rest_of(known: impl Iterator<Item = u64>, missing: u64) -> (u64, u64) {
    let sum = known.fold(0_u64, u64::saturating_add);
    (sum, 100_u64.saturating_sub(sum) / missing.max(1))
}
