//! The result table of a self-test, and its conclusion.

use selftest::{Bound, Check, CheckName, CheckVerdict, OtherLoad, Outcome, SelfTest, Unit};
use units::format;

use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::page::Page;
use crate::styled::{Style, Styled};
use crate::table::{Column, Table};
use crate::write::write;

/// 1 % of a second, in nanoseconds.
const ONE_PERCENT_NS: f64 = 1e7;

/// Renders the table of a self-test, one sentence per failed, disturbed or skipped check, and the
/// conclusion, with a final line break.
#[must_use]
pub fn render_selftest(selftest: &SelfTest, page: Page) -> Styled {
    let title = format!(
        "pgmeter {} selftest, {}, {}",
        selftest.version,
        selftest.started_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        format::latency(selftest.took_ns as f64)
    );
    let costs = costs(selftest).map(TextLine::from).into_iter();
    let blocks = [
        Block::Table(table(selftest)),
        Block::list(remarks(selftest)),
        Block::paragraphs(costs.chain([conclusion(selftest)])),
    ];
    let document = Document {
        title,
        parts: blocks.map(|block| DocumentPart::new("", [block])).into(),
        ..Document::default()
    };
    write(&document, ReportMedium::Terminal, page)
}

fn table(selftest: &SelfTest) -> Table {
    let columns = [
        Column::name("check"),
        Column::name("engine"),
        Column::number("measured", 9),
        Column::number("expected", 8),
        Column::number("error", 7),
        Column::name("verdict"),
    ];
    let rows = selftest.outcomes().map(|(it, outcome)| row(it, outcome));
    Table {
        styles: selftest
            .outcomes()
            .map(|(_, it)| style(it.verdict))
            .collect(),
        ..Table::new(columns, rows)
    }
}

fn row(check: &Check, outcome: &Outcome) -> Vec<String> {
    let absent = || "-".to_owned();
    let measured = outcome.measured.map(|it| number(it, check.unit));
    let of = |of| format!(" of {}", format::count(of));
    let bound = outcome
        .bound
        .map(|it| expected(it, outcome.truth, check.unit));
    vec![
        check.name.title().to_owned(),
        outcome.subject.name().to_owned(),
        measured.unwrap_or_else(absent) + &outcome.of.map(of).unwrap_or_default(),
        bound.unwrap_or_else(absent),
        outcome.error().map_or_else(absent, percent),
        outcome.verdict.name().to_owned(),
    ]
}

/// Formats a value in its unit.
fn number(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => format::latency(value),
        Unit::PerSecond => format::iops(value) + "/s",
        Unit::Share => format!("{:.1} %", value * 100.0),
        Unit::Count => format!("{value}"),
    }
}

/// Formats a deviation, with enough digits to distinguish relevant ones from 0.
fn percent(error: f64) -> String {
    let percent = error * 100.0;
    match percent.abs() {
        ..0.0005 => "0.000 %".to_owned(),
        ..0.1 => format!("{percent:+.3} %"),
        ..10.0 => format!("{percent:+.2} %"),
        _ => format!("{percent:+.0} %"),
    }
}

fn expected(bound: Bound, truth: Option<f64>, unit: Unit) -> String {
    let truth = truth.map(|it| number(it, unit)).unwrap_or_default();
    match bound {
        Bound::Within { share } => format!("{truth} ±{:.1} %", share * 100.0),
        Bound::Between { low, high } => {
            let low = number(low, unit);
            // The unit appears once, after the upper end.
            let low = low.trim_end_matches(" %");
            format!("{low} to {}", number(high, unit))
        }
        // Such a value cannot be below 0, so `≤ 0` would only confuse.
        Bound::AtMost { high: 0.0 } => number(0.0, unit),
        Bound::AtMost { high } => format!("≤ {}", number(high, unit)),
    }
}

/// Returns the style of a verdict in the table.
fn style(verdict: CheckVerdict) -> Option<Style> {
    match verdict {
        CheckVerdict::Wrong => Some(Style::Red),
        CheckVerdict::Disturbed => Some(Style::Yellow),
        CheckVerdict::Right | CheckVerdict::Skipped => None,
    }
}

/// Returns one line per wrong or disturbed check, the wrong ones first. Then one per reason to skip
/// checks.
fn remarks(selftest: &SelfTest) -> Vec<TextLine> {
    let with = |(verdict, style)| {
        let outcomes = selftest.outcomes();
        let outcomes = outcomes.filter(move |(_, it)| it.verdict == verdict);
        outcomes.map(move |(check, outcome)| {
            TextLine::styled(remark(check, outcome, &selftest.load), style)
        })
    };
    let doubts = [
        (CheckVerdict::Wrong, Style::Red),
        (CheckVerdict::Disturbed, Style::Yellow),
    ];
    let skipped = skipped(selftest).into_iter().map(TextLine::from);
    doubts.into_iter().flat_map(with).chain(skipped).collect()
}

/// Returns one line per reason to skip checks.
fn skipped(selftest: &SelfTest) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    let outcomes = selftest.outcomes();
    for (_, outcome) in outcomes.filter(|(_, it)| it.verdict == CheckVerdict::Skipped) {
        let reason = outcome.remark.as_deref().unwrap_or("not checked");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count)| match count {
        1 => format!("skipped: 1 check: {reason}"),
        _ => format!("skipped: {count} checks: {reason}"),
    };
    reasons.into_iter().map(line).collect()
}

fn remark(check: &Check, outcome: &Outcome, load: &OtherLoad) -> String {
    let engine = match outcome.subject.name() {
        "" => String::new(),
        name => format!(", {name}"),
    };
    let name = check.name.title();
    let why = outcome.remark.as_deref();
    let finding = match (outcome.verdict, why) {
        (CheckVerdict::Wrong, Some(why)) => format!("{why}; {}", check.name.meaning()),
        (CheckVerdict::Disturbed, _) if check.name == CheckName::OtherLoad => {
            format!("{}; repeat when the machine is idle", taken(load))
        }
        (CheckVerdict::Disturbed, _) => {
            "other load or the hypervisor took CPU time meanwhile; repeat when the machine is idle"
                .to_owned()
        }
        _ => check.name.meaning().to_owned(),
    };
    format!("{}: {name}{engine}: {finding}", outcome.verdict.name())
}

/// Describes the CPU use of other programs and of the hypervisor.
fn taken(load: &OtherLoad) -> String {
    let share = |share: f64| format!("{:.0} %", share * 100.0);
    let others = format!("other programs used {} of the CPUs", share(load.others));
    match load.has_excessive_steal_time() {
        true => format!("{others}, the hypervisor took {}", share(load.stolen)),
        false => others,
    }
}

/// Describes pgmeter's own cost, and the rates up to which it is negligible.
fn costs(selftest: &SelfTest) -> Option<String> {
    let mut outcomes = selftest.outcomes();
    let (_, outcome) = outcomes.find(|(check, _)| check.name == CheckName::OwnCost)?;
    let cost_ns = outcome.measured?;
    Some(format!(
        "pgmeter costs {} per operation: under 1 % of a worker's time below {} IOPS",
        format::latency(cost_ns),
        format::iops(ONE_PERCENT_NS / cost_ns)
    ))
}

fn conclusion(selftest: &SelfTest) -> TextLine {
    let counts = [
        (CheckVerdict::Right, "right"),
        (CheckVerdict::Wrong, "wrong"),
        (CheckVerdict::Disturbed, "disturbed"),
        (CheckVerdict::Skipped, "skipped"),
    ];
    let counts = counts.map(|(verdict, name)| format!("{} {name}", selftest.count(verdict)));
    let (style, means) = match selftest.verdict {
        _ if selftest.is_interrupted => (Style::Yellow, "interrupted; no verdict".to_owned()),
        CheckVerdict::Right if selftest.count(CheckVerdict::Skipped) > 0 => {
            let passed = "all checks that can run here passed on this machine";
            (Style::Green, passed.to_owned())
        }
        CheckVerdict::Right => (Style::Green, "all checks passed on this machine".to_owned()),
        CheckVerdict::Wrong => {
            let distrust = "do not trust results from this machine";
            (Style::Red, distrust.to_owned())
        }
        CheckVerdict::Disturbed => {
            let taken = taken(&selftest.load);
            let busy =
                format!("the machine is too busy for a verdict ({taken}); repeat when it is idle");
            (Style::Yellow, busy)
        }
        CheckVerdict::Skipped => (Style::Yellow, "nothing was checked".to_owned()),
    };
    TextLine::styled(format!("{}: {means}", counts.join(", ")), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_keep_the_digits_that_matter() {
        assert_eq!(percent(-0.000_003), "0.000 %");
        assert_eq!(percent(0.000_03), "+0.003 %");
        assert_eq!(percent(-0.0123), "-1.23 %");
        assert_eq!(percent(0.25), "+25 %");
    }

    #[test]
    fn the_hypervisor_is_named_if_it_took_enough_time_to_disturb() {
        let load = |stolen| OtherLoad {
            others: 0.034,
            stolen,
            waiting: None,
        };
        assert_eq!(taken(&load(0.02)), "other programs used 3 % of the CPUs");
        let both = "other programs used 3 % of the CPUs, the hypervisor took 5 %";
        assert_eq!(taken(&load(0.05)), both);
    }

    #[test]
    fn the_expected_value_is_shown_in_the_unit_of_the_figure() {
        let at_most = |high| Bound::AtMost { high };
        let between = Bound::Between {
            low: 0.93,
            high: 0.97,
        };
        let within = Bound::Within { share: 0.021_2 };
        let texts = [
            expected(within, Some(2e4), Unit::PerSecond),
            expected(at_most(5.0), None, Unit::Count),
            expected(at_most(0.0), Some(0.0), Unit::Count),
            expected(between, Some(0.95), Unit::Share),
        ];
        assert_eq!(texts, ["20.00k/s ±2.1 %", "≤ 5", "0", "93.0 to 97.0 %"]);
    }
}
