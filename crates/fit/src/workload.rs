//! The workload file of a fit.

use std::fmt::Write;

use plan::ArrivalKind;

use crate::model::{FittedPhase, FittedSpread};
use crate::{FittedTrace, WhatIfChange};

/// Queue depth of fitted workloads: the rate decides, not the depth.
const IODEPTH: u32 = 256;
/// Shares are written in hundredths of a percent, which add up to this.
const SHARE_UNITS: u64 = 10_000;

/// The text of a workload file with the model of a trace. `name` is in kebab case; `source` and
/// `changes` appear in comments.
#[must_use]
pub fn workload_text(
    fitted: &FittedTrace,
    name: &str,
    source: &str,
    changes: &[Vec<WhatIfChange>],
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = comments(&mut text, fitted, source);
    let _ = writeln!(text, "name = {name:?}");
    let _ = writeln!(text, "title = {:?}", format!("fitted to {source}"));
    let is_pack = fitted.phases.len() > 1;
    for (index, phase) in fitted.phases.iter().enumerate() {
        let name = match is_pack {
            true => format!("{name}-{}", index + 1),
            false => name.to_owned(),
        };
        let table = match is_pack {
            true => {
                let _ = writeln!(text, "\n[[part]]\nname = {name:?}");
                "part.access_spec"
            }
            false => "access_spec",
        };
        let none = Vec::new();
        let changes = changes.get(index).unwrap_or(&none);
        let _ = part(&mut text, phase, &name, table, changes);
    }
    text
}

fn comments(text: &mut String, fitted: &FittedTrace, source: &str) -> std::fmt::Result {
    // A name from outside must not end the comment.
    let source: String = source.chars().filter(|it| !it.is_control()).collect();
    writeln!(text, "# Fitted by `pgmeter fit` to {source}.")?;
    for (index, (phase, distances)) in fitted.phases.iter().zip(&fitted.distances).enumerate() {
        let number = index + 1;
        let count = phase.request_count;
        writeln!(
            text,
            "# Phase {number}, {count} requests; distances, and by chance:"
        )?;
        for it in distances {
            let verdict = it.verdict().name();
            let (property, distance, by_chance) = (it.property, it.distance, it.by_chance);
            writeln!(
                text,
                "#   {property}: {distance:.3}, {by_chance:.3} ({verdict})"
            )?;
        }
    }
    Ok(())
}

fn part(
    text: &mut String,
    phase: &FittedPhase,
    name: &str,
    table: &str,
    changes: &[WhatIfChange],
) -> std::fmt::Result {
    for change in changes {
        let WhatIfChange {
            property,
            before,
            after,
        } = change;
        writeln!(text, "# {property}: {after}; in the trace: {before}")?;
    }
    let arrivals = match phase.arrivals {
        ArrivalKind::Poisson => "poisson",
        _ => "uniform",
    };
    let seconds = (phase.span_ns as f64 / 1e9).clamp(0.001, 2_592_000.0);
    writeln!(text, "run_time = \"{:.0}ms\"", seconds * 1e3)?;
    writeln!(text, "ramp_time = 0")?;
    writeln!(text, "rate = {:.6}", phase.rate)?;
    writeln!(text, "arrivals = \"{arrivals}\"")?;
    writeln!(text, "iodepth = {IODEPTH}")?;
    writeln!(text, "workers = {}", phase.streams.max(1))?;
    writeln!(text, "size = {}", phase.size_bytes)?;
    writeln!(text, "\n[[{table}]]\nname = {name:?}")?;
    let shares = whole_shares(phase.lines.iter().map(|line| line.of_percent));
    for (line, share) in phase.lines.iter().zip(shares) {
        if share == 0 {
            continue;
        }
        writeln!(text, "\n[[{table}.line]]")?;
        writeln!(text, "size = {}", line.size_bytes)?;
        writeln!(text, "of_size = {}", percent(share))?;
        writeln!(text, "read = {:.2}", line.read_percent)?;
        writeln!(text, "random = {:.2}", line.random_percent)?;
        writeln!(text, "align = {}", line.align_bytes)?;
        match &phase.spread {
            FittedSpread::Uniform => {}
            FittedSpread::Zipf(exponent) => {
                writeln!(text, "distribution = {{ zipf = {exponent:.2} }}")?;
            }
            FittedSpread::Zones(zones) => {
                let access = whole_shares(zones.iter().map(|zone| zone.access_percent));
                let sizes = whole_shares(zones.iter().map(|zone| zone.size_percent));
                let zones: Vec<String> = access
                    .into_iter()
                    .zip(sizes)
                    .map(|(access, size)| {
                        format!(
                            "{{ access = {}, size = {} }}",
                            percent(access),
                            percent(size)
                        )
                    })
                    .collect();
                writeln!(text, "distribution = {{ zones = [{}] }}", zones.join(", "))?;
            }
        }
    }
    Ok(())
}

fn percent(units: u64) -> String {
    format!("{}.{:02}", units / 100, units % 100)
}

/// Shares in hundredths of a percent that add up to 100 %: those with the largest remainders are
/// rounded up.
fn whole_shares(percents: impl Iterator<Item = f64>) -> Vec<u64> {
    let percents: Vec<f64> = percents.collect();
    let sum: f64 = percents.iter().sum();
    let exact: Vec<f64> = percents
        .iter()
        .map(|it| it / sum.max(1e-12) * SHARE_UNITS as f64)
        .collect();
    let mut shares: Vec<u64> = exact.iter().map(|it| it.floor() as u64).collect();
    let missing = SHARE_UNITS.saturating_sub(shares.iter().sum());
    let mut order: Vec<usize> = (0..exact.len()).collect();
    let rest = |index: usize| exact[index].fract();
    order.sort_unstable_by(|a, b| rest(*b).total_cmp(&rest(*a)).then(a.cmp(b)));
    for index in order.into_iter().cycle().take(missing as usize) {
        shares[index] += 1;
    }
    shares
}
