//! Parses distributions of random offsets.

use super::super::settings::ByDirection;
use super::lists::{shares, shares_by_direction};
use super::{NumberUnit, number};

/// Distribution of random offsets.
#[derive(Debug, Clone, PartialEq)]
pub enum RandomDistribution {
    /// All offsets equally often.
    Uniform,
    /// Zipf distribution with this exponent, around an optional center from 0 to 1.
    Zipf(f64, Option<f64>),
    /// Pareto distribution with this power, around an optional center from 0 to 1.
    Pareto(f64, Option<f64>),
    /// Normal distribution with this width in percent, around an optional center from 0 to 1.
    Normal(f64, Option<f64>),
    /// Shares of the requests for zones given in percent of the space, by direction.
    Zoned(ByDirection<Vec<ZoneShare>>),
    /// Shares of the requests for zones given in bytes, by direction.
    ZonedBytes(ByDirection<Vec<ZoneShare>>),
}

/// A zone and its share of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneShare {
    /// Share of the requests in percent.
    pub requests_percent: u32,
    /// Size of the zone, in percent of the space or in bytes.
    pub size: u64,
}

/// Largest skew that can be drawn; with it, nearly all requests go to one block.
const SKEW_MAX: f64 = 100.0;
/// Maximum number of zones of a direction, as in fio.
const ZONES_MAX: usize = 256;

/// Reads a distribution such as `zipf:1.2` or `zoned:60/10:40/90`.
///
/// # Errors
/// An unknown distribution or an invalid number; the text says what is expected.
pub(in crate::fio) fn distribution(text: &str, kilo: u64) -> Result<RandomDistribution, String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let bounded = |fallback: f64, is_good: fn(f64) -> bool, wanted: &str| {
        let (value, center) = parse_centered(rest, fallback)?;
        match is_good(value) {
            true => Ok((value, center)),
            false => Err(wanted.to_owned()),
        }
    };
    match name {
        "random" => Ok(RandomDistribution::Uniform),
        // fio's generator divides by 1 - theta (`lib/zipf.c`), so theta cannot be 1.
        "zipf" => bounded(1.1, is_skew, "use a number from 0 to 100, but not 1")
            .map(|(theta, center)| RandomDistribution::Zipf(theta, center)),
        "pareto" => bounded(0.2, |it| it > 0.0 && it < 1.0, "it is between 0 and 1")
            .map(|(power, center)| RandomDistribution::Pareto(power, center)),
        "normal" => bounded(0.0, |it| (0.0..=100.0).contains(&it), "it is from 0 to 100")
            .map(|(deviation, center)| RandomDistribution::Normal(deviation, center)),
        "zoned" => zones(rest, kilo, true).map(RandomDistribution::Zoned),
        "zoned_abs" => zones(rest, kilo, false).map(RandomDistribution::ZonedBytes),
        _ => Err("use one of random, zipf, pareto, normal, zoned, zoned_abs".to_owned()),
    }
}

/// `true` for a skew of `zipf` that can be drawn.
fn is_skew(theta: f64) -> bool {
    (0.0..=SKEW_MAX).contains(&theta) && theta != 1.0
}

fn parse_centered(text: &str, fallback: f64) -> Result<(f64, Option<f64>), String> {
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
    // As in fio, a negative center means none.
    let center = center.filter(|it| *it >= 0.0);
    match center.is_some_and(|it| it > 1.0) {
        true => Err("use a center from 0 to 1".to_owned()),
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
        let percent = number(first, NumberUnit::Bytes { kilo })?.plain()?;
        let percent = u32::try_from(percent.clamp(0, 100)).unwrap_or(0);
        let size = match second {
            Some(second) if is_of_percent => second.parse().ok(),
            Some(second) => number(second, NumberUnit::Bytes { kilo })?
                .value
                .try_into()
                .ok(),
            None => None,
        };
        let size: Option<u64> = size.filter(|it| !is_of_percent || *it <= 100);
        zones.push((percent, size));
    }
    let (requests, _) = rest_of(zones.iter().map(|it| u64::from(it.0)), 0);
    if zones.is_empty() || requests != 100 {
        return Err("the shares of requests must add up to 100 %".to_owned());
    }
    let missing = zones.iter().filter(|it| it.1.is_none()).count() as u64;
    let (known, left) = rest_of(zones.iter().filter_map(|it| it.1), missing);
    let known = known.saturating_add(left * missing);
    if is_of_percent && known > 100 {
        return Err("the shares of the space exceed 100 % in total".to_owned());
    }
    let zone_shares = zones.iter().map(|(percent, size)| ZoneShare {
        requests_percent: *percent,
        size: size.unwrap_or(left),
    });
    let mut zone_shares: Vec<ZoneShare> = zone_shares.collect();
    if is_of_percent && known < 100 {
        // As in fio, no request goes to the space after the last zone.
        zone_shares.push(ZoneShare {
            requests_percent: 0,
            size: 100 - known,
        });
    }
    Ok(zone_shares)
}

/// The sum of the known shares, and an equal part of the rest up to 100 for each missing one.
fn rest_of(known: impl Iterator<Item = u64>, missing: u64) -> (u64, u64) {
    let sum = known.fold(0_u64, u64::saturating_add);
    (sum, 100_u64.saturating_sub(sum) / missing.max(1))
}
