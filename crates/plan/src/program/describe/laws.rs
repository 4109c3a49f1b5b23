//! Descriptions of random amounts.

use units::{Bytes as Size, Span};

use super::super::{Law, Shape};

/// Describes a size.
pub fn size(law: &Law) -> String {
    drawn(law, &|bytes| Size(bytes).to_string())
}

/// Describes a time.
pub fn time(law: &Law) -> String {
    drawn(law, &|ns| Span(ns).to_string())
}

/// Describes a number.
pub fn count(law: &Law) -> String {
    drawn(law, &|count| count.to_string())
}

fn drawn(law: &Law, show: &dyn Fn(u64) -> String) -> String {
    let named = |middle: f64, name: &str| {
        // Means are shown as whole numbers.
        let middle = show(law.within(middle.round() as u64));
        let most = match law.most {
            u64::MAX => String::new(),
            most => format!(", up to {}", show(most)),
        };
        format!("{middle} ({name}{most})")
    };
    match &law.shape {
        Shape::Fixed(amount) => show(law.within(*amount)),
        Shape::Uniform { .. } | Shape::Table(_) => {
            let ends = (law.smallest(), law.largest().unwrap_or(u64::MAX));
            match ends {
                (low, high) if low == high => show(low),
                (low, high) => format!("{} to {}", show(low), show(high)),
            }
        }
        Shape::Exponential { mean } => named(*mean, "exponential"),
        Shape::Gamma { mean, .. } => named(*mean, "gamma"),
        Shape::Normal { mean, .. } => named(*mean, "normal"),
        Shape::LogNormal { median, .. } => named(*median, "lognormal"),
    }
}
