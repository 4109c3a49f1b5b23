//! One workload over the runs that measured it.

use axum::extract::Query;
use results::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::ChangePoint;
use store::{RateOf, RunOrder, RunQuery, RunRow, RunStatus, Store, StoreError};
use units::JsonDocument;

use crate::answer::{Answer, document};
use crate::shared::State;

/// No more runs are shown at once.
const RUNS_MAX: usize = 500;

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrendQuery {
    /// The workload's whole name.
    pub workload: String,
    /// A target's path contains this, in any case.
    pub target: Option<String>,
}

/// The headline rate of one workload in each complete run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendAnswer {
    /// What the rates count; none where there is no run.
    pub of: Option<RateOf>,
    /// The oldest first; of more than 500 the newest, and only those whose rate counts the same
    /// as that of the newest.
    pub runs: Vec<TrendRun>,
    /// Where the rates have another level from then on.
    pub changes: Vec<TrendChange>,
    /// How many complete runs there are.
    pub matching_count: u64,
}

impl JsonDocument for TrendAnswer {
    const FORMAT: &'static str = "pgmeter-serve-trend/1";
}

/// A run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendRun {
    /// The run's id.
    pub id: String,
    /// The shortest beginning of it that is that of no other run.
    pub short_id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// Paths of its targets.
    pub targets: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// The rate, the best of its cells.
    pub per_second: f64,
    /// Lower end of the 95 % confidence interval of the rate, by what it did within the run; none
    /// where too few intervals were measured.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
}

/// A place where the rate changes and stays so.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendChange {
    /// Index in `runs` of the first run of the new level.
    pub index: usize,
    /// Median of the runs before, back to the change before.
    pub before: f64,
    /// Median of the runs from there on, up to the next change.
    pub after: f64,
    /// How often runs without any change show one as clear by chance, in one place or another.
    pub p_value: f64,
}

/// `GET /api/trend`
pub(crate) async fn trend(shared: State, Query(asked): Query<TrendQuery>) -> Answer {
    document(
        &shared
            .with_store(move |store| Ok(found(store, &asked)?))
            .await?,
    )
}

fn found(store: &Store, asked: &TrendQuery) -> Result<TrendAnswer, StoreError> {
    let page = store.page(&RunQuery {
        workload: Some(asked.workload.clone()),
        target: asked.target.clone().filter(|text| !text.is_empty()),
        status: Some(RunStatus::Complete),
        order: RunOrder::Started,
        limit: RUNS_MAX,
        ..RunQuery::default()
    })?;
    let of = page.runs.iter().find_map(|run| rate_of(run, asked));
    let of = of.map(|(of, _)| of);
    let mut runs = Vec::new();
    for run in page.runs.iter().rev() {
        let Some((_, per_second)) = rate_of(run, asked).filter(|found| Some(found.0) == of) else {
            continue;
        };
        let interval = store.headline_interval(run)?;
        runs.push(TrendRun {
            id: run.id.clone(),
            short_id: run.short_id.clone(),
            started_at: run.started_at,
            targets: run.targets.clone(),
            kernel: run.kernel.clone(),
            per_second,
            ci95_low: interval.map(|it| it.0),
            ci95_high: interval.map(|it| it.1),
        });
    }
    let rates: Vec<f64> = runs.iter().map(|run| run.per_second).collect();
    let change = |it: ChangePoint| TrendChange {
        index: it.index,
        before: it.before,
        after: it.after,
        p_value: it.p_value,
    };
    Ok(TrendAnswer {
        of,
        changes: ChangePoint::all_of(&rates)
            .into_iter()
            .map(change)
            .collect(),
        runs,
        matching_count: page.matching_count,
    })
}

/// The headline of a run of that very workload: the store finds names that contain it.
fn rate_of(run: &RunRow, asked: &TrendQuery) -> Option<(RateOf, f64)> {
    let headline = run.headline.filter(|it| it.per_second.is_finite())?;
    let is_meant = run.workloads.contains(&asked.workload);
    is_meant.then_some((headline.of, headline.per_second))
}
