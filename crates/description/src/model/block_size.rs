//! Request sizes as one text: a size, a range, or sizes with their shares.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Bytes;

use super::sizes::{BlockSizes, SizeShare, short};

/// Sizes of requests.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockSizeChoice {
    /// One size for all requests.
    Fixed(Bytes),
    /// Any size from the smallest to the largest, both included.
    Range(Bytes, Bytes),
    /// Several sizes, each with its share of the requests.
    Split(Vec<SizeShare>),
}

impl BlockSizeChoice {
    /// The smallest and the largest size.
    #[must_use]
    pub fn ends(&self) -> (Bytes, Bytes) {
        match self {
            Self::Fixed(size) => (*size, *size),
            Self::Range(least, most) => (*least, *most),
            Self::Split(shares) => {
                let sizes = || shares.iter().map(|it| it.size);
                let (least, most) = (sizes().min(), sizes().max());
                (least.unwrap_or_default(), most.unwrap_or_default())
            }
        }
    }
}

impl FromStr for BlockSizeChoice {
    /// The error and one action, as `error; action`.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // With a colon, the parser of shares explains that a share cannot be a range.
        let Some((least, most)) = text.split_once('-').filter(|_| !text.contains(':')) else {
            let sizes: BlockSizes = text.parse().map_err(|error| format!("{error}"))?;
            return Ok(match sizes.shares() {
                // `4k:100` stays a list of one share, because it must be written as it was read.
                [only] if !text.contains(':') => Self::Fixed(only.size),
                shares => Self::Split(shares.to_vec()),
            });
        };
        let size = |text: &str| {
            let size: Result<Bytes, units::UnitError> = text.parse();
            size.map_err(|error| format!("{error}; {}", error.help()))
        };
        let (least, most) = (size(least)?, size(most)?);
        match least.0 > 0 && least <= most {
            true => Ok(Self::Range(least, most)),
            false => Err(format!(
                "a range from {least} to {most}; write the smaller size first, such as `4k-64k`"
            )),
        }
    }
}

impl fmt::Display for BlockSizeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(size) => f.write_str(&short(*size)),
            Self::Range(least, most) => write!(f, "{}-{}", short(*least), short(*most)),
            Self::Split(shares) => {
                for (index, SizeShare { size, share }) in shares.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{}:{}", short(*size), share.0)?;
                }
                Ok(())
            }
        }
    }
}

impl Serialize for BlockSizeChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlockSizeChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlockSizeVisitor)
    }
}

struct BlockSizeVisitor;

impl Visitor<'_> for BlockSizeVisitor {
    type Value = BlockSizeChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size, a range such as `4k-64k`, or shares such as `4k:60,64k:40`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<BlockSizeChoice, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<BlockSizeChoice, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<BlockSizeChoice, E> {
        self.visit_str(&number.to_string())
    }
}

impl JsonSchema for BlockSizeChoice {
    fn schema_name() -> Cow<'static, str> {
        "BlockSize".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Sizes of requests: one, a range such as `4k-64k`, or several with \
                            their shares in percent, such as `4k:60,64k:40`.",
            "type": ["string", "integer"],
            "minimum": 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back_as_written() {
        for text in [
            "4k",
            "512",
            "1k-16k",
            "4k:60,64k:40",
            "4k:100",
            "1k:33.5,3k:66.5",
        ] {
            let read: BlockSizeChoice = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        for (text, says) in [
            ("64k-4k", "write the smaller size first"),
            ("0-4k", "write the smaller size first"),
            ("4k,64k", "`4k` has no share"),
            ("4k:50,64k:40", "add up to 90 %"),
            ("four", "four"),
            ("4k-", "size"),
        ] {
            let error = text.parse::<BlockSizeChoice>().unwrap_err();
            assert!(
                error.contains(says) && error.contains("; "),
                "{text}: {error}"
            );
        }
    }
}
