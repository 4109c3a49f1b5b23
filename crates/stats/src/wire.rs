//! The stored forms: compact, and checked when read, since they come from outside.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::bucket;
use crate::{Counter, Histogram, Interval, StatsError};

/// A number that JSON readers elsewhere would cut is written as text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Sum {
    Number(u64),
    Text(String),
}

/// A histogram without its empty buckets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistogramForm {
    sum_ns: Sum,
    min_ns: u64,
    max_ns: u64,
    /// Bucket index and count, ascending.
    buckets: Vec<(u32, u64)>,
}

impl From<&Histogram> for HistogramForm {
    fn from(histogram: &Histogram) -> Self {
        let counted = histogram
            .used()
            .map(|index| (index as u32, histogram.counts[index]));
        Self {
            sum_ns: match u64::try_from(histogram.sum_ns) {
                Ok(sum_ns) => Sum::Number(sum_ns),
                Err(_) => Sum::Text(histogram.sum_ns.to_string()),
            },
            min_ns: histogram.min_ns().unwrap_or(0),
            max_ns: histogram.max_ns().unwrap_or(0),
            buckets: counted.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

impl TryFrom<HistogramForm> for Histogram {
    type Error = StatsError;

    fn try_from(form: HistogramForm) -> Result<Self, StatsError> {
        let sum_ns = match form.sum_ns {
            Sum::Number(sum_ns) => u128::from(sum_ns),
            Sum::Text(text) => match text.parse() {
                Ok(sum_ns) => sum_ns,
                Err(_) => {
                    return Err(StatsError::Sum {
                        sum_ns: text.chars().take(40).collect(),
                    });
                }
            },
        };
        let (min_ns, max_ns) = (form.min_ns, form.max_ns);
        let count = checked_count(&form.buckets)?;
        let ends = form.buckets.first().zip(form.buckets.last());
        let range_fits = match ends {
            None => min_ns == 0 && max_ns == 0,
            Some((first, last)) => {
                min_ns <= max_ns
                    && bucket::index_of(min_ns) == first.0 as usize
                    && bucket::index_of(max_ns) == last.0 as usize
                    && (count > 1 || min_ns == max_ns)
            }
        };
        if !range_fits {
            return Err(StatsError::Range { min_ns, max_ns });
        }
        if !sum_bounds(&form.buckets, min_ns, max_ns).contains(&sum_ns) {
            return Err(StatsError::Sum {
                sum_ns: sum_ns.to_string(),
            });
        }
        let mut histogram = Self::new();
        if count > 0 {
            (histogram.count, histogram.sum_ns) = (count, sum_ns);
            (histogram.min_ns, histogram.max_ns) = (min_ns, max_ns);
        }
        for (index, count) in form.buckets {
            histogram.counts[index as usize] = count;
        }
        Ok(histogram)
    }
}

/// The total of the counts of buckets that exist, are in order and hold samples.
fn checked_count(buckets: &[(u32, u64)]) -> Result<u64, StatsError> {
    let mut total = 0_u64;
    let mut before: Option<u32> = None;
    for (index, count) in buckets.iter().copied() {
        if index as usize >= bucket::COUNT {
            return Err(StatsError::BucketIndex {
                seen: index,
                limit: bucket::COUNT,
            });
        }
        if let Some(previous) = before.filter(|previous| *previous >= index) {
            return Err(StatsError::BucketOrder {
                seen: index,
                previous,
            });
        }
        if count == 0 {
            return Err(StatsError::BucketEmpty { index });
        }
        total = total.checked_add(count).ok_or(StatsError::CountOverflow)?;
        before = Some(index);
    }
    Ok(total)
}

/// The sums that samples in these buckets and within this range can have.
fn sum_bounds(buckets: &[(u32, u64)], min_ns: u64, max_ns: u64) -> std::ops::RangeInclusive<u128> {
    // The total count is below 2^64 and so is each value: the products cannot exceed 128 bits.
    let total = |value_of: &dyn Fn(usize) -> u64| {
        buckets
            .iter()
            .map(|(i, n)| u128::from(value_of(*i as usize)) * u128::from(*n))
            .sum()
    };
    let lowest = total(&|index| bucket::low_of(index).max(min_ns));
    let highest = total(&|index| bucket::high_of(index).min(max_ns));
    lowest..=highest
}

/// A counter whose sample count is that of its histogram.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CounterForm {
    bytes: u64,
    short_count: u64,
    error_latency_ns_max: u64,
    /// Error number and count, ascending.
    errnos: Vec<(i32, u64)>,
    latency: Histogram,
}

impl From<&Counter> for CounterForm {
    fn from(counter: &Counter) -> Self {
        Self {
            bytes: counter.bytes(),
            short_count: counter.short_count(),
            error_latency_ns_max: counter.error_latency_ns_max(),
            errnos: counter.errnos().collect(),
            latency: counter.latency().clone(),
        }
    }
}

impl TryFrom<CounterForm> for Counter {
    type Error = StatsError;

    fn try_from(form: CounterForm) -> Result<Self, StatsError> {
        Self::from_parts(
            form.latency,
            form.bytes,
            form.short_count,
            &form.errnos,
            form.error_latency_ns_max,
        )
    }
}

/// An interval without the operations that it does not count.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntervalForm {
    at_ns: u64,
    length_ns: u64,
    operations: Vec<(usize, Counter)>,
    transactions: Vec<Counter>,
}

impl From<&Interval> for IntervalForm {
    fn from(interval: &Interval) -> Self {
        Self {
            at_ns: interval.at_ns,
            length_ns: interval.length_ns,
            operations: interval.operations().map(|(i, c)| (i, c.clone())).collect(),
            transactions: interval.transactions().to_vec(),
        }
    }
}

impl TryFrom<IntervalForm> for Interval {
    type Error = StatsError;

    fn try_from(form: IntervalForm) -> Result<Self, StatsError> {
        let mut interval = Self::from_parts(form.operations, form.transactions)?;
        (interval.at_ns, interval.length_ns) = (form.at_ns, form.length_ns);
        Ok(interval)
    }
}

macro_rules! stored_as {
    ($stored:ident, $form:ident) => {
        impl Serialize for $stored {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $form::from(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $stored {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let form = $form::deserialize(deserializer)?;
                Self::try_from(form).map_err(de::Error::custom)
            }
        }
    };
}

stored_as!(Histogram, HistogramForm);
stored_as!(Counter, CounterForm);
stored_as!(Interval, IntervalForm);

#[cfg(test)]
mod tests;
