//! Derives laws from other laws.

use super::{Band, Law, Shape};

/// Number of parts into which a band is cut, so that each part has nearly one size.
const PARTS: u64 = 8;

impl Law {
    /// A uniform law from 0 to the drawn amount minus `less`. For a law that is neither fixed nor a
    /// table, the upper bound is its mean.
    #[must_use]
    pub fn uniform_below(&self, less: u64) -> Self {
        let uniform = |high: u64| Self::of(Shape::Uniform { low: 0, high });
        if let Some(amount) = self.always() {
            return uniform(amount.saturating_sub(less));
        }
        let Shape::Table(bands) = &self.shape else {
            // The cast saturates.
            return uniform(self.mean() as u64);
        };
        let parts = bands.iter().flat_map(|band| {
            (0..PARTS).map(move |part| {
                let middle = band.low + (band.high - band.low) * (2 * part + 1) / (2 * PARTS);
                Band {
                    weight: band.weight,
                    low: 0,
                    high: middle.saturating_sub(less),
                }
            })
        });
        Self::of(Shape::Table(parts.collect()))
    }
}

impl Band {
    /// Shifts and stretches bands so that their smallest value is `least` and their mean is `mean`,
    /// or unchanged if that is `None`.
    #[must_use]
    pub fn moved(bands: &[Self], least: f64, mean: Option<f64>) -> Vec<Self> {
        let low = bands.iter().map(|band| band.low).min().unwrap_or(0) as f64;
        let mean_before = Law::of(Shape::Table(bands.to_vec())).mean();
        let wanted = mean.unwrap_or(mean_before);
        let factor = match mean_before > low {
            true => (wanted - least).max(0.0) / (mean_before - low),
            false => 1.0,
        };
        let moved = |value: u64| ((value as f64 - low) * factor + least).round() as u64;
        let bands = bands.iter().map(|band| Self {
            weight: band.weight,
            low: moved(band.low),
            high: moved(band.high),
        });
        bands.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(weight: u32, low: u64, high: u64) -> Band {
        Band { weight, low, high }
    }

    #[test]
    fn bands_are_rescaled_to_a_minimum_and_a_mean() {
        let bands = [band(50, 2, 2), band(50, 6, 6)];
        let moved = Band::moved(&bands, 0.0, Some(10.0));
        assert_eq!(moved, [band(50, 0, 0), band(50, 20, 20)]);
        assert_eq!(Band::moved(&bands, 2.0, None), bands);
        let one = [band(1, 5, 5)];
        assert_eq!(Band::moved(&one, 7.0, Some(100.0)), [band(1, 7, 7)]);
    }

    #[test]
    fn an_amount_below_a_drawn_one_is_uniform() {
        let high = |law: Law| law.uniform_below(2).largest();
        assert_eq!(high(Law::fixed(10)), Some(8));
        assert_eq!(high(Law::fixed(1)), Some(0));
        assert_eq!(high(Law::of(Shape::Exponential { mean: 9.5 })), Some(9));
        let table = Law::of(Shape::Table(vec![band(3, 0, 16)])).uniform_below(2);
        let Shape::Table(parts) = &table.shape else {
            panic!("{table:?}");
        };
        assert_eq!(
            (parts.len(), parts[0], parts[7]),
            (8, band(3, 0, 0), band(3, 0, 13))
        );
    }
}
