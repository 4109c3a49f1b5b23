//! Describes distributions.

use units::Percent;

use plan::Distribution;

/// A distribution in a few words; `None` for the uniform distribution.
pub(super) fn law(distribution: &Distribution) -> Option<String> {
    Some(match distribution {
        Distribution::Uniform => return None,
        Distribution::Zipf { theta } => format!("zipf {theta}"),
        Distribution::Pareto { h } => format!("pareto {h}"),
        Distribution::Normal { deviation_percent } => {
            format!("normal {}", Percent(*deviation_percent))
        }
        Distribution::Zones { zones } => format!("{} zones", zones.len()),
        Distribution::NoRepeat => "no repeat".to_owned(),
    })
}
