//! Parsers of whole-number options, with errors that state the range.

use std::str::FromStr;

use description::reference::range_of;

/// Returns a parser for an option that sets the workload key `key`. Text that is not a number of
/// type `T` is refused with the range of the key. The workload itself checks that range later.
pub(super) fn workload_key_parser<T: FromStr>(
    key: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text| {
        text.parse().map_err(|_| match range_of(key) {
            Some((min, max)) => wanted(min, max),
            None => "it takes a whole number".to_owned(),
        })
    }
}

/// Returns a parser for numbers from `min` to `max`.
pub(super) fn within<T>(min: T, max: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Copy + std::fmt::Display + Send + Sync,
{
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| (min..=max).contains(number));
        number.ok_or_else(|| match max.to_string().len() {
            // A maximum with 19 or more digits is the limit of the type, not of the option.
            19.. => format!("it takes a whole number of at least {min}"),
            _ => wanted(min, max),
        })
    }
}

fn wanted(min: impl std::fmt::Display, max: impl std::fmt::Display) -> String {
    format!("it takes a whole number from {min} to {max}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_counts_are_refused_with_the_allowed_range() {
        let refused = |text| workload_key_parser::<u32>("workers")(text).unwrap_err();
        for text in ["99999999999", "-4", "four", "4k", ""] {
            assert_eq!(
                refused(text),
                "it takes a whole number from 1 to 1024",
                "{text}"
            );
        }
        assert_eq!(workload_key_parser::<u32>("workers")("8"), Ok(8));
        assert_eq!(
            within(1, 1000)("0").unwrap_err(),
            "it takes a whole number from 1 to 1000"
        );
        assert_eq!(within(1, 1000)("7"), Ok(7));
    }
}
