//! Rules about reports of PostMark: their counts, totals, times and rates.

use generate::pool::Totals;
use plan::program::PoolGenerator;

use super::figures::{COUNTS, TRANSACTIONS_FACTOR};
use super::pool::PoolModel;
use super::rule::FindingList;
use super::{BoardRule, RuleLevel};
use crate::PoolSize;
use crate::session::PoolSession;

/// Columns of the published tables, and the names of their counts in an import.
const COUNT_NAMES: [(&str, &str); 8] = [
    ("created", "create"),
    ("created alone", "create before transactions"),
    ("created mixed", "create in transactions"),
    ("read", "read"),
    ("appended", "append"),
    ("deleted", "delete"),
    ("deleted alone", "delete after transactions"),
    ("deleted mixed", "delete in transactions"),
];

/// Counts, and the operation whose time gives their rate: all of the run, or the transactions.
const RATES: [(&str, &str); 6] = [
    ("create", "total"),
    ("delete", "total"),
    ("create in transactions", "transactions"),
    ("delete in transactions", "transactions"),
    ("read", "transactions"),
    ("append", "transactions"),
];

/// Bytes of a megabyte before 1.5, for texts that do not state the version.
const EARLY_MEGABYTE_RATIO: f64 = 1_024_000.0 / 1_048_576.0;
/// Rounding of a total that was added up in 32 bits, relative to it.
const FLOAT_ROUNDING: f64 = 1e-6;

/// The check of one report.
pub(super) struct ReportCheck<'a> {
    pub session: PoolSession<'a>,
    /// Size of the board's table that the report belongs to.
    pub size: Option<PoolSize>,
    /// Place of the report in findings.
    pub at: String,
    pub found: &'a mut FindingList,
}

/// Totals of a run as a generation of PostMark makes them.
pub(super) type GenerationTotals = (PoolGenerator, Totals);

impl ReportCheck<'_> {
    pub(super) fn add(&mut self, rule: BoardRule, what: &str, expected: String, actual: String) {
        self.add_with((rule, rule.level()), what, expected, actual);
    }

    fn add_with(
        &mut self,
        rule: (BoardRule, RuleLevel),
        what: &str,
        expected: String,
        actual: String,
    ) {
        let at = format!("{}, {what}", self.at);
        self.found.add_with(rule, &at, expected, actual);
    }

    pub(super) fn is_terse(&self) -> bool {
        self.session.value("create", "count").is_none()
    }

    pub(super) fn value(&self, operation: &str, metric: &str) -> Option<f64> {
        self.session.value(operation, metric)
    }

    /// Returns a time in seconds.
    pub(super) fn seconds(&self, operation: &str) -> Option<f64> {
        Some(self.value(operation, "time")? / 1e9)
    }

    /// Returns the number of transactions.
    pub(super) fn transaction_count(&self) -> Option<f64> {
        let stated = self.session.transactions();
        stated
            .or(self.size.map(|it| it.transactions))
            .map(f64::from)
    }

    /// Checks that the parts give the whole.
    pub(super) fn sums(&mut self) {
        for (whole, before_or_after) in [
            ("create", "create before transactions"),
            ("delete", "delete after transactions"),
        ] {
            let mixed = format!("{whole} in transactions");
            let count = |name: &str| self.value(name, "count");
            let (Some(all), Some(alone), Some(mixed)) =
                (count(whole), count(before_or_after), count(&mixed))
            else {
                continue;
            };
            if all != alone + mixed {
                let expected = format!("{} in both parts", alone + mixed);
                self.add(BoardRule::Rates, whole, expected, all.to_string());
            }
        }
    }

    /// Computes the totals with each generator, those that the version may have first.
    pub(super) fn totals(&self, model: &mut PoolModel) -> Vec<GenerationTotals> {
        let Some(settings) = self.session.settings(self.size) else {
            return Vec::new();
        };
        let mut generators = self.session.generators();
        let others = [PoolGenerator::Twister1999, PoolGenerator::Congruential15];
        let others = others.into_iter().filter(|it| !generators.contains(it));
        generators.extend(others.collect::<Vec<_>>());
        let totals = generators.into_iter().filter_map(|draws| {
            let totals = model.totals(&plan::program::FilePool {
                draws,
                ..settings.clone()
            })?;
            Some((draws, totals))
        });
        totals.collect()
    }

    /// Compares the counts with those that the seed determines.
    pub(super) fn counts(&mut self, known: &[GenerationTotals]) {
        let differing = |totals: &Totals| {
            let columns = COUNTS
                .iter()
                .zip(COUNT_NAMES)
                .filter_map(|((_, of), (words, name))| {
                    let value = self.value(name, "count")?;
                    let expected = of(totals);
                    (value != expected as f64).then_some((words, expected, value))
                });
            columns.collect::<Vec<_>>()
        };
        let allowed = self.session.generators();
        let compared = known
            .iter()
            .map(|(draws, totals)| (draws, totals, differing(totals)));
        let compared: Vec<_> = compared.collect();
        let best = compared
            .iter()
            .filter(|(draws, ..)| allowed.contains(draws));
        let Some(best) = best.min_by_key(|it| it.2.len()) else {
            return;
        };
        if best.2.is_empty() {
            return self.bytes(best.1);
        }
        if compared.iter().any(|(.., differing)| differing.is_empty()) {
            let version = self.session.version().unwrap_or_default();
            let expected = format!("counts of version {version}");
            let actual = "counts of the other generation".to_owned();
            return self.add(BoardRule::PoolGeneration, "counts", expected, actual);
        }
        // Without its configuration, a session may have had another seed. A table has only one.
        let level = match self.session.has_configuration() || self.size.is_some() {
            true => BoardRule::PoolCounts.level(),
            false => RuleLevel::Warning,
        };
        for (what, expected, value) in best.2.clone() {
            let expected = format!("{expected}, as the seed determines");
            let rule = (BoardRule::PoolCounts, level);
            self.add_with(rule, what, expected, value.to_string());
        }
    }

    /// Compares the bytes with the sums of a run with the same counts.
    fn bytes(&mut self, totals: &Totals) {
        let parts = [
            ("read", totals.read_bytes, totals.read_bytes_float),
            ("write", totals.written_bytes, totals.written_bytes_float),
        ];
        for (operation, exact, float) in parts {
            let Some(stated) = self.value(operation, "bytes") else {
                continue;
            };
            let half = self.session.step(operation, "bytes") / 2.0;
            let is_near = |bytes: f64| {
                let near = |stated: f64| (stated - bytes).abs() <= half + bytes * FLOAT_ROUNDING;
                let is_early = self.session.version().is_none();
                near(stated) || (is_early && near(stated * EARLY_MEGABYTE_RATIO))
            };
            let what = format!("bytes of {operation}");
            match (is_near(exact as f64), is_near(f64::from(float))) {
                (true, _) => {}
                (false, true) => {
                    let actual = format!("{stated}, a sum of 32-bit floats");
                    self.add(
                        BoardRule::PoolFloats,
                        &what,
                        format!("{exact} bytes"),
                        actual,
                    );
                }
                (false, false) => {
                    let expected = format!("{exact} bytes, as the seed determines");
                    self.add(BoardRule::PoolCounts, &what, expected, stated.to_string());
                }
            }
        }
    }

    /// Checks that the printed times give all printed rates.
    pub(super) fn whole_seconds(&mut self) {
        for (operation, during) in RATES {
            let count = self.value(operation, "count");
            self.rate(operation, "per_second", count, during);
        }
        let count = self.transaction_count();
        self.rate("total", "transactions_per_second", count, "transactions");
        for operation in ["read", "write"] {
            let bytes = self.value(operation, "bytes");
            self.rate(operation, "bytes_per_second", bytes, "total");
        }
        self.phases();
    }

    /// Checks a rate over a printed time.
    fn rate(&mut self, operation: &str, metric: &str, amount: Option<f64>, during: &str) {
        let (Some(amount), Some(rate), Some(seconds)) =
            (amount, self.value(operation, metric), self.seconds(during))
        else {
            return;
        };
        let time_step = self.session.step(during, "time") / 1e9;
        let step = self.session.step(operation, metric);
        // Versions with a clock of whole seconds cut the decimals of rates off.
        let is_cut = time_step >= 1.0 && step >= 1.0 && metric != "bytes_per_second";
        let rounding = if is_cut { step } else { step / 2.0 };
        let seconds = seconds.max(time_step);
        let amount_half = match metric {
            "bytes_per_second" => self.session.step(operation, "bytes") / 2.0,
            _ => 0.0,
        };
        // A finer clock is rounded itself, a clock of whole seconds is exact.
        let time_half = if is_cut || time_step >= 1.0 {
            0.0
        } else {
            time_step / 2.0
        };
        let low = (amount - amount_half) / (seconds + time_half) - rounding;
        let high = (amount + amount_half) / (seconds - time_half).max(time_step)
            + if is_cut { 0.0 } else { rounding };
        let margin = high * FLOAT_ROUNDING;
        if rate < low - margin || rate > high + margin {
            let what = format!("{operation} {metric}");
            let expected = format!("{:.2} from {seconds} s", amount / seconds);
            self.add(BoardRule::PoolSeconds, &what, expected, rate.to_string());
        }
    }

    /// Checks that whole seconds of all phases give the whole time. The phases follow each other,
    /// and only their rates show how long the first and the last one were.
    fn phases(&mut self) {
        let times = self.seconds("total").zip(self.seconds("transactions"));
        let is_whole = self.session.step("total", "time") >= 1e9;
        let Some((total, transactions)) = times.filter(|_| is_whole) else {
            return;
        };
        let mut range = [transactions, transactions];
        for operation in ["create before transactions", "delete after transactions"] {
            let value = |metric: &str| self.value(operation, metric);
            let Some((count, rate)) = value("count").zip(value("per_second")) else {
                return;
            };
            let longest = match rate > 0.0 {
                true => (count / rate).floor(),
                false => f64::INFINITY,
            };
            if (count / longest).floor() != rate && count > 0.0 && rate > 0.0 {
                let expected = format!("{count} in a whole number of seconds");
                self.add(
                    BoardRule::PoolSeconds,
                    operation,
                    expected,
                    rate.to_string(),
                );
                return;
            }
            range[0] += (count / (rate + 1.0)).floor() + 1.0;
            range[1] += longest;
        }
        // PostMark prints 1 for phases below a second, so up to three of them may be none.
        let clamped = 3.0;
        if total < range[0] - clamped || total > range[1] {
            let expected = format!("{} to {} s in all phases", range[0] - clamped, range[1]);
            self.add(
                BoardRule::PoolSeconds,
                "total time",
                expected,
                format!("{total} s"),
            );
        }
    }

    /// Checks the time of the transactions against that of the run.
    pub(super) fn transactions(&mut self) {
        let times = self.seconds("total").zip(self.seconds("transactions"));
        let rate = self.value("total", "transactions_per_second");
        let (Some((total, transactions)), Some(rate)) = (times, rate) else {
            return;
        };
        let rule = BoardRule::PoolTransactions;
        if transactions > total + 1.0 {
            let expected = format!("transactions within the run's {total} s");
            self.add(rule, "time", expected, format!("{transactions} s"));
        }
        let Some(count) = self.transaction_count() else {
            return;
        };
        let shortest = count / (rate + 1.0);
        if shortest > total + 1.0 {
            let expected = format!("transactions within the run's {total} s");
            self.add(rule, "rate", expected, format!("{shortest:.1} s or more"));
        } else if total > 1.0 && rate > TRANSACTIONS_FACTOR * count / total {
            let expected = format!("transactions for most of the run's {total} s");
            let actual = format!("{:.1} s at {rate} per second", count / rate);
            self.add_with((rule, RuleLevel::Warning), "rate", expected, actual);
        }
    }
}
