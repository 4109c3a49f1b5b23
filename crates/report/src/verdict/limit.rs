//! Finds the bottleneck, as far as the results show it.

use std::collections::HashSet;

use results::{CellRecord, Claim, RunRecord, Status, WarningCode, cpus_used_by_others};
use units::format;

use crate::group::{CellIdentity, Metric, RepeatedCell};
use crate::numbers::digits;
use crate::parts::is_classic;
use crate::wrap::printable;

use super::known::{DEEP, DeviceAccess, KnownRate, find};

/// Maximum relative distance of a rate from a round number.
const ROUND_SHARE: f64 = 0.01;
/// A rate limited by a provider has a smaller relative standard deviation within the run than this.
const SCATTER_MAX: f64 = 0.05;
/// From this share of the usable CPUs on, it is mentioned that others used them.
const OTHERS_SHARE_MIN: f64 = 0.25;
/// From this share of a cell's reads or writes on, the device had a part in its result.
const MOVED_SHARE_MIN: f64 = 0.1;
/// Number of depths of one workload that must share a rate, if no other workload has it.
const DEPTHS_MIN: usize = 3;
/// From this share of the queue depth on, the growth of the rate counts as proportional.
const PROPORTIONAL_SHARE: f64 = 0.8;
/// Transfers of at least this mean size are reported as bandwidth, in bytes.
const LARGE_BYTES: f64 = 65_536.0;
/// Maximum number of results that a sentence names.
const NAMES_MAX: usize = 5;
/// Leading digits of typical limits of providers, for operations and for bytes.
const ROUND_DIGITS: [f64; 10] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0];
const ROUND_BYTES: [f64; 5] = [1.024, 1.25, 1.28, 2.56, 5.12];

/// Data for finding the bottleneck.
pub(super) struct RateLimits<'a> {
    pub record: &'a RunRecord,
    pub known: &'a [KnownRate<'a>],
    /// Results that a limit is about.
    pub subjects: Vec<LimitSubject<'a>>,
    /// All groups with the same target, engine and cache mode.
    pub groups: Vec<&'a RepeatedCell<'a>>,
}

/// A result that a limit is about.
pub(super) struct LimitSubject<'a> {
    /// Name of the result in a sentence.
    pub name: String,
    pub group: &'a RepeatedCell<'a>,
}

impl RateLimits<'_> {
    /// Describes the bottleneck in a sentence, or says that the results show none.
    pub fn sentence(&self) -> String {
        let limits = [
            // A limit that the system reports explains a plateau, so a guess is not needed.
            self.reported_limit().or_else(|| self.plateau()),
            self.processor(),
            self.cache(),
        ];
        let mut parts: Vec<String> = limits.into_iter().flatten().collect();
        // If another bottleneck is known, the results say nothing about queues.
        if parts.is_empty() {
            parts.extend(self.queue());
        }
        match parts.is_empty() {
            true => "the results do not show what limits them".to_owned(),
            false => parts.join("; "),
        }
    }

    /// Describes a limit that the system reports.
    fn reported_limit(&self) -> Option<String> {
        let mut warnings = self.record.warnings.iter();
        let limit = warnings.find(|it| it.code == WarningCode::LimitInForce)?;
        Some(printable(&limit.message))
    }

    /// Describes a value at which several rates stop, as with the limit of a provider.
    fn plateau(&self) -> Option<String> {
        // Requested rates are often round numbers, which would look like a limit.
        let plain = |group: &&&RepeatedCell| {
            let all = group.cells.iter();
            let mut excluded = all.filter(|it| it.open_loop.is_some() || it.curve.is_some());
            group.identity.rate_bits.is_none() && excluded.next().is_none() && is_even(group)
        };
        let rates = |is_large: bool| -> Vec<(f64, CellIdentity)> {
            let metric = match is_large {
                true => Metric::BytesPerSecond,
                false => Metric::PerSecond,
            };
            let own = self.groups.iter().filter(plain);
            let own = own.filter(|group| (mean_bytes(group) >= LARGE_BYTES) == is_large);
            own.filter_map(|group| {
                let rate = group.figure(metric)?.mean;
                Some((rate, group.identity.at_any_depth()))
            })
            .collect()
        };
        let iops = plateau(&rates(false), round)
            .map(|(rate, count)| (count, format!("{} IOPS", format::iops(rate))));
        let bandwidth = plateau(&rates(true), round_bytes)
            .map(|(rate, count)| (count, format::bandwidth(rate)));
        let found: Vec<String> = [iops, bandwidth]
            .into_iter()
            .flatten()
            .map(|(count, rate)| format!("{rate} in {count} cells"))
            .collect();
        (!found.is_empty()).then(|| {
            format!(
                "rates level off within 1 % of a round number, as at a provider's limit: {}",
                found.join(", ")
            )
        })
    }

    /// Lists the results that were limited by the CPU.
    fn processor(&self) -> Option<String> {
        let names = self.doubted(Claim::NotCpuBound);
        let others = self.others_use().unwrap_or_default();
        (!names.is_empty()).then(|| format!("the CPU limited {names}{others}"))
    }

    /// Says how much of the CPUs others used in the worst of the results that the CPU limited;
    /// `None` if they used little.
    fn others_use(&self) -> Option<String> {
        let cells = self.doubted_cells(Claim::NotCpuBound);
        let doubted = self.record.cells.iter();
        let doubted = doubted.filter(|cell| cells.contains(&cell.index));
        let others = doubted.filter_map(|cell| cpus_used_by_others(cell, &self.record.environment));
        let (most, cpus) = others.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let noun = if cpus == 1.0 { "CPU" } else { "CPUs" };
        (most >= OTHERS_SHARE_MIN * cpus).then(|| {
            format!(": other processes and kernel threads used up to {most:.1} of {cpus} {noun}")
        })
    }

    /// Lists the results that a cache produced.
    fn cache(&self) -> Option<String> {
        let names = self.doubted(Claim::MovedByDevice);
        (!names.is_empty()).then(|| match self.device_moved_data() {
            true => format!("a cache took part in {names}: the device moved only some of the data"),
            false => format!("a cache served {names}, not the device"),
        })
    }

    /// `true` if the device moved data to speak of in a result that a cache took part in.
    fn device_moved_data(&self) -> bool {
        let cells = self.doubted_cells(Claim::MovedByDevice);
        let moved = |cell: &CellRecord, name| cell.device_share(name) >= Some(MOVED_SHARE_MIN);
        let mut all = self.record.cells.iter();
        all.any(|cell| cells.contains(&cell.index) && (moved(cell, "read") || moved(cell, "write")))
    }

    /// Lists the results for which a warning contradicts the claim.
    fn doubted(&self, claim: Claim) -> String {
        let cells = self.doubted_cells(claim);
        let is_doubted = |subject: &&LimitSubject| {
            let mut own = subject.group.cells.iter();
            own.any(|cell| cells.contains(&cell.index))
        };
        let doubted: Vec<&LimitSubject> = self.subjects.iter().filter(is_doubted).collect();
        // Phases of a program share an index, and a warning has only the index.
        let is_phase = |it: &&LimitSubject| it.group.cells.iter().any(|cell| is_classic(cell));
        if doubted.iter().any(is_phase) {
            return "at least one phase".to_owned();
        }
        let names: Vec<&str> = doubted.iter().map(|it| it.name.as_str()).collect();
        let is_ambiguous = names.iter().any(|name| name.contains(", "));
        match (names.len(), self.subjects.len()) {
            (0, _) => String::new(),
            (1, 1) => "the result".to_owned(),
            (count, all) if count > 1 && count == all => "all results".to_owned(),
            (count, all) if count > NAMES_MAX || count > 1 && is_ambiguous => {
                format!("{count} of {all} results")
            }
            _ => names.join(", "),
        }
    }

    /// Returns the indexes of the cells for which a warning contradicts the claim.
    fn doubted_cells(&self, claim: Claim) -> HashSet<u32> {
        let against = self.record.warnings.iter();
        let against = against.filter(|it| it.contradicts(claim));
        // A set, because a program may have tens of thousands of phases.
        against.filter_map(|it| it.cell).collect()
    }

    /// Describes whether a deeper queue increases the rate of random reads.
    fn queue(&self) -> Option<String> {
        let one = find(self.known, DeviceAccess::RandomRead, Some(1))?;
        let deep = find(self.known, DeviceAccess::RandomRead, Some(DEEP))?;
        Some(queue_depth_effect(one.rate.bounds, deep.rate.bounds))
    }
}

/// Compares depth 32 with depth 1, given the ends of both rates' intervals.
fn queue_depth_effect(one: [f64; 2], deep: [f64; 2]) -> String {
    let middle = |ends: [f64; 2]| f64::midpoint(ends[0], ends[1]);
    let times = digits(middle(deep) / middle(one));
    let proportional = PROPORTIONAL_SHARE * DEEP as f64;
    // The smallest and the largest factor that both intervals allow.
    let (least, most) = (deep[0] / one[1], deep[1] / one[0]);
    let finding = format!("random reads at depth 32 reach {times} times the rate at depth 1");
    if least >= proportional {
        format!("the queue depth: {finding}, in proportion to the depth")
    } else if most < proportional {
        format!("the device or the path to it: {finding}, so requests wait there at depth 32")
    } else {
        format!("{finding}; the intervals do not show whether a deeper queue would help")
    }
}

/// Returns `true` if a group's rate hardly varied, as with a limit of a provider.
fn is_even(group: &RepeatedCell) -> bool {
    group.cells.iter().all(|cell| {
        let within = cell.within.as_ref();
        let is_even = within.is_some_and(|it| it.stddev <= SCATTER_MAX * it.mean);
        cell.status == Status::Complete && is_even
    })
}

fn mean_bytes(group: &RepeatedCell) -> f64 {
    // All repetitions have the same plan, so one of them is enough.
    let total = &group.cells[0].total;
    total.bytes as f64 / total.count.max(1) as f64
}

/// Returns the round value that most rates are close to, with their number. They must be from at
/// least two workloads, or from one at several queue depths.
fn plateau<K: PartialEq>(
    rates: &[(f64, K)],
    round: impl Fn(f64) -> Option<f64>,
) -> Option<(f64, usize)> {
    let mut best: Option<(f64, usize)> = None;
    for figure in rates.iter().filter_map(|(rate, _)| round(*rate)) {
        let at = |rate: f64| (rate / figure - 1.0).abs() <= ROUND_SHARE;
        let matching: Vec<&K> = rates.iter().filter(|it| at(it.0)).map(|it| &it.1).collect();
        let first = matching.first();
        let is_of_several = first.is_some_and(|first| matching.iter().any(|it| it != first));
        let is_enough = is_of_several || matching.len() >= DEPTHS_MIN;
        if is_enough && best.is_none_or(|(_, most)| matching.len() > most) {
            best = Some((figure, matching.len()));
        }
    }
    best
}

/// Returns the round number of operations that a rate is close to.
fn round(rate: f64) -> Option<f64> {
    let is_rate = rate.is_finite() && rate >= 100.0;
    is_rate.then(|| nearest(rate, &ROUND_DIGITS)).flatten()
}

/// Returns the round number of MiB or MB that a rate in bytes is close to.
fn round_bytes(rate: f64) -> Option<f64> {
    const UNITS: [f64; 2] = [1_048_576.0, 1e6];
    let leading: Vec<f64> = ROUND_DIGITS.into_iter().chain(ROUND_BYTES).collect();
    UNITS.into_iter().find_map(|unit| {
        let is_rate = rate.is_finite() && rate >= 10.0 * unit;
        let found = is_rate.then(|| nearest(rate / unit, &leading)).flatten();
        found.map(|it| it * unit)
    })
}

fn nearest(value: f64, leading: &[f64]) -> Option<f64> {
    let decade = 10_f64.powf(value.log10().floor());
    // A value just below a power of ten is close to that power.
    let figures = leading
        .iter()
        .flat_map(|it| [it * decade, it * decade * 10.0]);
    figures
        .filter(|figure| (value / figure - 1.0).abs() <= ROUND_SHARE)
        .min_by(|a, b| (value - a).abs().total_cmp(&(value - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_several_workloads_at_a_round_figure_are_a_plateau() {
        let rates = [(2_990.0, "reads"), (3_010.0, "writes"), (1_234.0, "one")];
        assert_eq!(plateau(&rates, round), Some((3_000.0, 2)));
        let bytes = 125.0 * 1_048_576.0;
        let rates = [(bytes * 0.995, "reads"), (bytes * 1.003, "writes")];
        assert_eq!(plateau(&rates, round_bytes), Some((bytes, 2)));
    }

    #[test]
    fn a_plateau_needs_several_rates_and_a_round_figure() {
        let at = |rate: f64| (rate, "reads");
        assert_eq!(plateau(&[at(3_000.0), at(3_000.0)], round), None);
        let three = [at(3_000.0), at(3_001.0), at(2_999.0)];
        assert_eq!(plateau(&three, round), Some((3_000.0, 3)));
        assert_eq!(plateau(&[(3_333.0, 1), (3_333.0, 2)], round), None);
        assert_eq!(plateau(&[(3_100.0, 1), (2_900.0, 2)], round), None);
    }

    #[test]
    fn a_figure_just_below_a_power_of_ten_is_round() {
        assert_eq!(round(9_960.0), Some(10_000.0));
        assert_eq!(round(50.0), None);
        assert_eq!(round(f64::NAN), None);
    }

    #[test]
    fn the_queue_is_named_as_the_limit_only_if_intervals_show_it() {
        let around = |rate: f64, share: f64| [rate * (1.0 - share), rate * (1.0 + share)];
        let sentence =
            |times: f64, share| queue_depth_effect(around(1e4, share), around(1e4 * times, share));
        assert!(sentence(31.0, 0.01).starts_with("the queue depth: random reads"));
        assert!(sentence(10.0, 0.05).starts_with("the device or the path to it"));
        assert!(sentence(25.0, 0.05).contains("the intervals do not show"));
    }
}
