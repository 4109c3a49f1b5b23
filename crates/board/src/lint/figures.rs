//! Rules about published figures.

use generate::pool::Totals;
use report::Paper;

use super::pool::PoolModel;
use super::rule::FindingList;
use super::{BoardRule, PoolGeneration, PoolVerdict, RuleLevel};
use crate::published::is_published;
use crate::{BoardConfig, BoardTable, PoolSize, SubmittedFigures, SubmittedRow};

/// Columns of the tables of 1999.
const READ: &str = "read KB/s";
const WRITE: &str = "write KB/s";
const TRANSACTIONS: &str = "transactions/s";

/// From this rate on, PostMark printed megabytes with two decimals, which the publication
/// multiplied by 1024.
const MEGABYTES_FROM: f64 = 1024.0;
/// Half a unit of such a rate.
const MEGABYTES_HALF_UNIT: f64 = 5.12;
/// Number by which the rate of transactions may exceed the one over the whole run. Most of the time
/// of every known run is transactions.
pub(super) const TRANSACTIONS_FACTOR: f64 = 3.5;

/// Relative error of PostMark's totals. Some versions added 32-bit floats and some whole numbers,
/// and the publication does not say which. With this value, all rows of 1999 are consistent, except
/// rows whose two rates contradict each other.
const TOTALS_ERROR: f64 = 1e-4;

/// Counts of PostMark's report: column, and the model's value.
pub(super) type CountColumn = (&'static str, fn(&Totals) -> u64);

pub(super) const COUNTS: [CountColumn; 8] = [
    ("created", |it| it.created_count),
    ("created alone", |it| it.created_before_count),
    ("created mixed", |it| {
        it.created_count - it.created_before_count
    }),
    ("read", |it| it.read_count),
    ("appended", |it| it.appended_count),
    ("deleted", |it| it.deleted_count),
    ("deleted alone", |it| it.deleted_after_count),
    ("deleted mixed", |it| {
        it.deleted_count - it.deleted_after_count
    }),
];

/// A pair of rates as an interval each.
struct RateRanges {
    read: [f64; 2],
    written: [f64; 2],
}

/// Checks figures by table, and returns the verdicts on PostMark's.
pub(super) fn check(
    figures: &SubmittedFigures,
    config: &BoardConfig,
    model: &mut PoolModel,
    found: &mut FindingList,
) -> Vec<PoolVerdict> {
    let mut verdicts = Vec::new();
    for row in &figures.rows {
        let Some(table) = config.table(&row.table) else {
            let names: Vec<&str> = config.tables.iter().map(|it| it.name.as_str()).collect();
            let expected = format!("one of {}", names.join(", "));
            found.add(
                BoardRule::Table,
                "figures.toml",
                expected,
                row.table.clone(),
            );
            continue;
        };
        for column in row.values.keys().filter(|it| table.column(it).is_none()) {
            let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
            let expected = format!("one of {}", names.join(", "));
            found.add(BoardRule::Table, &row.table, expected, column.clone());
        }
        if let Some(size) = table.pool {
            let mut check = RowCheck { row, table, found };
            let has_rates = row.values.contains_key(READ) && row.values.contains_key(WRITE);
            match has_rates {
                true => verdicts.push(check.rates(size, model)),
                false => check.counts(size, model),
            }
        }
    }
    verdicts
}

/// The check of one row.
struct RowCheck<'a> {
    row: &'a SubmittedRow,
    table: &'a BoardTable,
    found: &'a mut FindingList,
}

impl RowCheck<'_> {
    fn add(&mut self, rule: BoardRule, expected: String, actual: String) {
        self.add_with((rule, rule.level()), expected, actual);
    }

    fn add_with(
        &mut self,
        (rule, level): (BoardRule, RuleLevel),
        expected: String,
        actual: String,
    ) {
        // The publications are what they are: their readers see the finding, and nobody can correct
        // them. The same values from anybody else are refused.
        let paper = self.table.paper.as_deref().and_then(Paper::find);
        let level = match paper.is_some_and(|paper| is_published(paper, self.row)) {
            true => RuleLevel::Warning,
            false => level,
        };
        self.found
            .add_with((rule, level), &self.row.table, expected, actual);
    }

    /// Infers generation and seconds from the rates.
    fn rates(&mut self, size: PoolSize, model: &mut PoolModel) -> PoolVerdict {
        let ranges = RateRanges {
            read: self.range(READ),
            written: self.range(WRITE),
        };
        let low = ranges.written[0] / ranges.read[1];
        let high = ranges.written[1] / ranges.read[0];
        let ratio = |totals: &Totals| totals.written_bytes as f64 / totals.read_bytes as f64;
        let known = PoolGeneration::ALL
            .into_iter()
            .filter_map(|it| Some((it, model.of_size(size, it)?)));
        let known: Vec<(PoolGeneration, Totals)> = known.collect();
        let fitting = known
            .iter()
            .find(|(_, totals)| (low..=high).contains(&ratio(totals)));
        let mut verdict = PoolVerdict {
            table: self.row.table.clone(),
            generation: fitting.map(|(it, _)| *it),
            seconds: None,
            seconds_range: None,
        };
        let Some((_, totals)) = fitting else {
            let ratios = known
                .iter()
                .map(|(_, totals)| format!("{:.5}", ratio(totals)));
            let expected = format!(
                "written/read of {}",
                ratios.collect::<Vec<_>>().join(" or ")
            );
            self.add(
                BoardRule::PoolGeneration,
                expected,
                format!("{low:.5} to {high:.5}"),
            );
            return verdict;
        };
        let range = seconds(totals, &ranges);
        verdict.seconds_range = (range[0] <= range[1]).then_some(range);
        let whole = range[0].ceil();
        verdict.seconds = (whole <= range[1]).then_some(whole as u64);
        if verdict.seconds.is_none() {
            let expected = "a whole number of seconds for both rates".to_owned();
            let actual = format!("{:.2} to {:.2} s", range[0], range[1]);
            self.add(BoardRule::PoolSeconds, expected, actual);
        }
        self.transactions(size, range[1].max(range[0]));
        verdict
    }

    /// Checks the rate of transactions against the time of the whole run.
    fn transactions(&mut self, size: PoolSize, seconds: f64) {
        let Some(rate) = self.row.value(TRANSACTIONS) else {
            return;
        };
        let count = f64::from(size.transactions);
        let shortest = count / (rate + 1.0);
        if shortest > seconds + 1.0 {
            let expected = format!("transactions within the run's {seconds:.1} s");
            self.add(
                BoardRule::PoolTransactions,
                expected,
                format!("{shortest:.1} s or more"),
            );
        } else if rate > TRANSACTIONS_FACTOR * count / seconds {
            let expected = format!("transactions for most of the run's {seconds:.1} s");
            let actual = format!("{:.1} s at {rate} per second", count / rate);
            let rule = (BoardRule::PoolTransactions, RuleLevel::Warning);
            self.add_with(rule, expected, actual);
        }
    }

    /// Compares counts with the ones of either generation.
    fn counts(&mut self, size: PoolSize, model: &mut PoolModel) {
        let known = PoolGeneration::ALL
            .into_iter()
            .filter_map(|it| model.of_size(size, it));
        let known: Vec<Totals> = known.collect();
        let differing = |totals: &Totals| {
            let columns = COUNTS.iter().filter_map(|(column, of)| {
                let value = self.row.value(column)?;
                let expected = of(totals);
                (value != expected as f64).then_some((*column, expected, value))
            });
            columns.collect::<Vec<_>>()
        };
        let best = known
            .iter()
            .map(differing)
            .min_by_key(Vec::len)
            .unwrap_or_default();
        for (column, expected, value) in best {
            let expected = format!("{column} {expected}, as the seed determines");
            self.add(BoardRule::PoolCounts, expected, value.to_string());
        }
        self.floats(&known);
    }

    /// Shows exact totals next to sums of 32-bit floats.
    fn floats(&mut self, known: &[Totals]) {
        let Some(printed) = self.row.value("read, MB") else {
            return;
        };
        const MIB: f64 = 1_048_576.0;
        let near = |bytes: f64| (printed - bytes / MIB).abs() <= 0.005;
        let float = known
            .iter()
            .find(|it| near(f64::from(it.read_bytes_float)) && !near(it.read_bytes as f64));
        if let Some(totals) = float {
            let [read, written] =
                [totals.read_bytes, totals.written_bytes].map(|it| it as f64 / MIB);
            let expected = format!("exact totals: {read:.2} MB read, {written:.2} MB written");
            let actual = format!("{printed} MB read, a sum of 32-bit floats");
            self.add(BoardRule::PoolFloats, expected, actual);
        }
    }

    /// Returns the values that a printed rate can stand for.
    fn range(&self, column: &str) -> [f64; 2] {
        let value = self.row.value(column).unwrap_or(0.0);
        let half = match value > MEGABYTES_FROM {
            true => MEGABYTES_HALF_UNIT,
            false => self.row.half_unit(column).unwrap_or(0.0),
        };
        [value - half, value + half]
    }
}

/// Returns the times that give both rates; the first is larger than the second if there are none.
fn seconds(totals: &Totals, ranges: &RateRanges) -> [f64; 2] {
    let of = |bytes: u64, [low, high]: [f64; 2]| {
        let kilobytes = bytes as f64 / 1024.0;
        [
            kilobytes / high * (1.0 - TOTALS_ERROR),
            kilobytes / low * (1.0 + TOTALS_ERROR),
        ]
    };
    let read = of(totals.read_bytes, ranges.read);
    let written = of(totals.written_bytes, ranges.written);
    [read[0].max(written[0]), read[1].min(written[1])]
}
