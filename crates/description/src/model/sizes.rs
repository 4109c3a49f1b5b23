//! Request sizes with their shares: `4k`, `4k:60,64k:40`.

use std::fmt;
use std::str::FromStr;

use units::{Bytes, Percent};

use plan::printable;

/// Largest distance of a sum of shares from 100: the rounding error of adding decimal fractions.
const SHARE_ERROR_MAX: f64 = 1e-6;

/// Maximum number of sizes on a command line; longer lists belong in a file.
const SIZES_MAX: usize = 100;

/// A request size and its share of the requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeShare {
    /// Size of a request.
    pub size: Bytes,
    /// Share of the requests, in percent.
    pub share: Percent,
}

/// One size, or several with shares that add up to 100 %.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSizes(Vec<SizeShare>);

/// Error in a list of sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {help}")]
pub struct BlockSizesError {
    message: String,
    help: String,
}

impl BlockSizes {
    /// The sizes in the order given, at least one.
    #[must_use]
    pub fn shares(&self) -> &[SizeShare] {
        &self.0
    }

    pub(crate) fn smallest(&self) -> Bytes {
        let sizes = self.0.iter().map(|it| it.size);
        sizes.min().unwrap_or_default()
    }
}

impl Default for BlockSizes {
    /// 4 KiB, as in fio.
    fn default() -> Self {
        Self(vec![SizeShare {
            size: Bytes(4 * Bytes::KIB),
            share: Percent(100.0),
        }])
    }
}

impl FromStr for BlockSizes {
    type Err = BlockSizesError;

    fn from_str(text: &str) -> Result<Self, BlockSizesError> {
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > SIZES_MAX {
            let message = format!("{} sizes are more than {SIZES_MAX}", parts.len());
            return Err(refused(message, "write a workload file"));
        }
        let several = parts.len() > 1;
        let shares = parts.into_iter().map(|part| one(part, several));
        let shares: Vec<SizeShare> = shares.collect::<Result<_, _>>()?;
        let sum: f64 = shares.iter().map(|it| it.share.0).sum();
        if (sum - 100.0).abs() > SHARE_ERROR_MAX {
            let message = format!("the shares add up to {} %, not 100 %", rounded(sum));
            return Err(refused(message, "change one of them"));
        }
        Ok(Self(shares))
    }
}

/// Several choices of sizes, each for a separate workload, separated by commas; or one choice
/// with shares.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSizeList(pub Vec<BlockSizes>);

impl FromStr for BlockSizeList {
    type Err = BlockSizesError;

    fn from_str(text: &str) -> Result<Self, BlockSizesError> {
        // With a colon, commas separate shares, so the whole text is one choice.
        let parts = match text.contains(':') {
            true => vec![text],
            false => text.split(',').collect(),
        };
        let parts: Vec<BlockSizes> = parts
            .into_iter()
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        for (index, sizes) in parts.iter().enumerate() {
            if parts[..index].contains(sizes) {
                return Err(refused(
                    format!("`{sizes}` is given twice"),
                    "leave one of them out",
                ));
            }
        }
        Ok(Self(parts))
    }
}

fn one(part: &str, several: bool) -> Result<SizeShare, BlockSizesError> {
    let (size, share) = match part.split_once(':') {
        Some((size, share)) => (size, Some(share)),
        None => (part, None),
    };
    let size = Bytes::of_option(size).map_err(|error| {
        // A dash is a range, and fio's `bssplit` has slashes.
        let help = match part.contains(['-', '/']) {
            true => "write sizes with shares, such as `4k:60,64k:40`",
            false => error.help(),
        };
        refused(error.to_string(), help)
    })?;
    if size.0 == 0 {
        return Err(refused(
            "a request has at least 1 byte".to_owned(),
            "write `4k`",
        ));
    }
    let share = match share {
        Some(share) => share
            .parse()
            .map_err(|error: units::UnitError| refused(error.to_string(), error.help()))?,
        None if several => {
            let message = format!("`{}` has no share", printable(part));
            return Err(refused(
                message,
                "write shares in percent, such as `4k:60,64k:40`",
            ));
        }
        None => Percent(100.0),
    };
    Ok(SizeShare { size, share })
}

fn refused(message: String, help: &str) -> BlockSizesError {
    let help = help.to_owned();
    BlockSizesError { message, help }
}

/// Removes the rounding error of adding decimal fractions.
fn rounded(sum: f64) -> f64 {
    (sum * 1e6).round() / 1e6
}

impl fmt::Display for BlockSizes {
    /// The form used on the command line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, SizeShare { size, share }) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            formatter.write_str(&short(*size))?;
            if self.0.len() > 1 {
                write!(formatter, ":{}", share.0)?;
            }
        }
        Ok(())
    }
}

/// The shortest form of a size: `4k`, `1m`, `512`.
pub(super) fn short(size: Bytes) -> String {
    let units = [(Bytes::GIB, "g"), (Bytes::MIB, "m"), (Bytes::KIB, "k")];
    let largest = units
        .into_iter()
        .find(|(unit, _)| size.0.is_multiple_of(*unit));
    match largest {
        Some((unit, letter)) => format!("{}{letter}", size.0 / unit),
        None => size.0.to_string(),
    }
}
