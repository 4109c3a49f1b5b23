//! A line with several kinds or sizes of requests: one workload for each combination.

use plan::{Diagnostic, Variant, VariedSetting};

use super::{AccessPattern, BlockSizes, OneLineOptions};
use crate::model::Workload;

/// Options that define workloads, one for each pattern and each choice of sizes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OneLineMatrix {
    /// Kinds of the requests; empty for the shares of `rest`.
    pub patterns: Vec<AccessPattern>,
    /// Sizes of the requests; empty for the default.
    pub sizes: Vec<BlockSizes>,
    /// All other options, without pattern and sizes.
    pub rest: OneLineOptions,
}

impl OneLineMatrix {
    /// The first option that is given, for messages; `None` if there is none.
    #[must_use]
    pub fn first_option(&self) -> Option<&'static str> {
        self.one(self.patterns.first(), self.sizes.first())
            .first_option()
    }

    /// The workloads, in the order of the values, sizes varying fastest; empty if no option is
    /// given.
    ///
    /// # Errors
    /// As for [`OneLineOptions::workload`].
    pub fn workloads(&self) -> Result<Vec<Workload>, Diagnostic> {
        let mut workloads = Vec::new();
        for pattern in optional(&self.patterns) {
            for sizes in optional(&self.sizes) {
                let Some(mut workload) = self.one(pattern, sizes).workload()? else {
                    continue;
                };
                if let Some(variant) = self.variant(pattern, sizes) {
                    workload.pack = Some(variant.of.clone());
                    workload.varied = Some(Box::new(variant));
                }
                workloads.push(workload);
            }
        }
        Ok(workloads)
    }

    fn one(&self, pattern: Option<&AccessPattern>, sizes: Option<&BlockSizes>) -> OneLineOptions {
        // Of several patterns, the share of reads belongs to the mixes.
        let has_mix = self.patterns.iter().any(|it| it.is_mix());
        let takes_mix = !has_mix || pattern.is_some_and(|it| it.is_mix());
        OneLineOptions {
            pattern: pattern.copied(),
            mix: self.rest.mix.filter(|_| takes_mix),
            sizes: sizes.cloned(),
            ..self.rest.clone()
        }
    }

    /// The values of the options that vary; `None` if none does.
    fn variant(
        &self,
        pattern: Option<&AccessPattern>,
        sizes: Option<&BlockSizes>,
    ) -> Option<Variant> {
        let patterns: Vec<&str> = self.patterns.iter().map(|it| it.name()).collect();
        let all_sizes: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
        let setting = |key: &str, value: String| VariedSetting {
            key: key.to_owned(),
            value,
        };
        let rw = pattern.filter(|_| patterns.len() > 1);
        let bs = sizes.filter(|_| all_sizes.len() > 1);
        let settings = [
            rw.map(|it| setting("rw", it.name().to_owned())),
            bs.map(|it| setting("bs", it.to_string())),
        ];
        let settings: Vec<VariedSetting> = settings.into_iter().flatten().collect();
        (!settings.is_empty()).then(|| Variant {
            of: format!("{} {}", patterns.join(","), all_sizes.join(","))
                .trim()
                .to_owned(),
            settings,
        })
    }
}

/// Each item, or `None` once if there are none.
fn optional<T>(items: &[T]) -> impl Iterator<Item = Option<&T>> {
    let none = items.is_empty().then_some(None);
    items.iter().map(Some).chain(none)
}

#[cfg(test)]
mod tests {
    use units::Percent;

    use super::*;

    fn lines(patterns: &[AccessPattern], sizes: &str) -> OneLineMatrix {
        OneLineMatrix {
            patterns: patterns.to_vec(),
            sizes: sizes
                .split_whitespace()
                .map(|it| it.parse().unwrap())
                .collect(),
            rest: OneLineOptions::default(),
        }
    }

    #[test]
    fn each_pattern_is_combined_with_each_size() {
        let workloads = lines(&[AccessPattern::Read, AccessPattern::RandRead], "4k 64k");
        let workloads = workloads.workloads().unwrap();
        let names = workloads.iter().map(Workload::name_or_default);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["read 4k", "read 64k", "randread 4k", "randread 64k"]
        );
        let varied = workloads[3].varied.as_ref().unwrap();
        assert_eq!(varied.of, "read,randread 4k,64k");
        let settings = varied.settings.iter();
        let settings: Vec<_> = settings
            .map(|it| (it.key.as_str(), it.value.as_str()))
            .collect();
        assert_eq!(settings, [("rw", "randread"), ("bs", "64k")]);
        assert_eq!(workloads[0].pack.as_deref(), Some("read,randread 4k,64k"));
    }

    #[test]
    fn a_single_line_does_not_vary() {
        let workloads = lines(&[AccessPattern::Read], "4k:60,64k:40")
            .workloads()
            .unwrap();
        assert_eq!(workloads.len(), 1);
        assert_eq!((&workloads[0].pack, &workloads[0].varied), (&None, &None));
        assert!(lines(&[], "").workloads().unwrap().is_empty());
    }

    #[test]
    fn the_read_share_applies_to_the_mixed_ones_of_several_patterns() {
        let mut some = lines(&[AccessPattern::Read, AccessPattern::RandReadWrite], "4k");
        some.rest.mix = Some(Percent(70.0));
        let reads = some.workloads().unwrap();
        let reads = reads
            .iter()
            .map(|it| it.access_spec[0].line[0].read.unwrap().0);
        assert_eq!(reads.collect::<Vec<_>>(), [100.0, 70.0]);
        some.patterns.truncate(1);
        assert!(
            some.workloads()
                .unwrap_err()
                .message
                .contains("is not a mix")
        );
    }
}
