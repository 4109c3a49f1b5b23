//! Rate of one workload over all runs that measured it.

use results::Timestamp;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stats::ChangePoint;
use store::{
    CellSettings, FollowedCell, HeadlineUnit, RunOrder, RunQuery, RunRow, RunStatus, Store,
    StoreError, TrendSeries,
};
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, document};
use crate::body::Parameters;
use crate::shared::State;

/// Maximum number of runs in a trend.
const RUNS_MAX: usize = 500;
/// Maximum number of series in a list.
const SERIES_MAX: usize = 1000;

/// Selection of runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrendQuery {
    /// Exact name of the workload.
    pub workload: String,
    /// Text that a target's path contains, in any case.
    pub target: Option<String>,
    /// Only the cell with these settings, as JSON: `cell` of `GET /api/trends`.
    pub cell: Option<String>,
    /// Only runs with exactly these targets, as JSON: `targets` of `GET /api/trends`.
    pub targets: Option<String>,
    /// Only runs with exactly these file systems, as JSON: `file_systems` of `GET /api/trends`.
    pub file_systems: Option<String>,
    /// Only runs that this host measured.
    pub host: Option<String>,
    /// Id of a run: only runs that measured the cell as this one did, as in `others` of the answer.
    pub like: Option<String>,
}

/// The cells that can be followed over runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendsAnswer {
    /// At most 1000 series, the one with the newest run first.
    pub series: Vec<TrendSeries>,
}

impl JsonDocument for TrendsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-trends/1";
}

/// The rate of one cell of a workload in each complete run that measured it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendAnswer {
    /// Unit of the rates; null if there is no run.
    pub of: Option<HeadlineUnit>,
    /// The cell that the trend follows. Without `like` in the query, this is the cell that most
    /// runs measured, or the one with the newest run if several tie. Runs without it are left
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellSettings>,
    /// The runs, oldest first; of more than 500, the newest 500.
    pub runs: Vec<TrendRun>,
    /// Lasting changes of the rate.
    pub changes: Vec<TrendChange>,
    /// Number of complete runs that match the query.
    pub matching_count: u64,
    /// The other cells that match the query. With the same settings, their work differs, for
    /// example in its size or its requests. The one with the newest run comes first.
    pub others: Vec<OtherTrend>,
}

impl JsonDocument for TrendAnswer {
    const FORMAT: &'static str = "pgmeter-serve-trend/1";
}

/// A run of a trend.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendRun {
    /// The run's id.
    pub id: String,
    /// Shortest prefix of the id that is unique.
    pub short_id: String,
    /// Start time.
    pub started_at: Timestamp,
    /// Paths of its targets.
    pub targets: Vec<String>,
    /// Host that measured; empty if unknown.
    pub host: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Mean rate of the repetitions.
    pub per_second: f64,
    /// Lower end of the 95 % confidence interval of the rate. It comes from the repetitions if
    /// there are several, or else from the intervals of the run. Null if there are too few.
    pub ci95_low: Option<f64>,
    /// Upper end of the interval.
    pub ci95_high: Option<f64>,
}

/// A cell that matches the query, but that the trend does not follow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OtherTrend {
    /// Id of its newest run, for `like` of a query.
    pub newest_id: String,
    /// Start time of that run.
    pub newest_at: Timestamp,
    /// Number of runs.
    pub run_count: u32,
}

/// A lasting change of the rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendChange {
    /// Index in `runs` of the first run at the new level.
    pub index: usize,
    /// Median rate from the previous change up to this one.
    pub before: f64,
    /// Median rate from this change up to the next one.
    pub after: f64,
    /// Probability that runs without any change show one this clear, anywhere in the series.
    pub p_value: f64,
}

/// `GET /api/trends`
pub(crate) async fn list(shared: State) -> Answer {
    let series = shared.with_store(|store| Ok(store.trend_series(SERIES_MAX)?));
    document(&TrendsAnswer {
        series: series.await?,
    })
}

/// `GET /api/trend`
pub(crate) async fn trend(shared: State, Parameters(query): Parameters<TrendQuery>) -> Answer {
    let wanted = WantedCell {
        settings: parsed("cell", query.cell.as_deref())?,
        workload: query.workload,
        like: query.like,
    };
    let runs = RunQuery {
        workload_name: Some(wanted.workload.clone()),
        target: query.target.filter(|text| !text.is_empty()),
        target_paths: parsed("targets", query.targets.as_deref())?,
        file_system_types: parsed("file_systems", query.file_systems.as_deref())?,
        host: query.host,
        status: Some(RunStatus::Complete),
        order: RunOrder::Started,
        limit: RUNS_MAX,
        ..RunQuery::default()
    };
    let answer = shared.with_store(move |store| Ok(found(store, &runs, &wanted)?));
    document(&answer.await?)
}

/// Parses a field of a query that contains JSON.
fn parsed<T: DeserializeOwned>(name: &str, text: Option<&str>) -> Result<Option<T>, RefusedAnswer> {
    let value = text.map(units::parse_json).transpose();
    value.map_err(|error| RefusedAnswer::bad(format!("`{name}`: {error}")))
}

/// The cell that a trend follows.
struct WantedCell {
    workload: String,
    /// `None` if any cell of the workload will do.
    settings: Option<CellSettings>,
    /// A run that measured it; `None` for the cell that most runs measured.
    like: Option<String>,
}

impl WantedCell {
    fn is(&self, cell: &FollowedCell) -> bool {
        let wanted = self.settings.as_ref();
        self.workload == cell.workload && wanted.is_none_or(|it| *it == cell.settings)
    }
}

fn found(store: &Store, query: &RunQuery, wanted: &WantedCell) -> Result<TrendAnswer, StoreError> {
    let page = store.page(query)?;
    let of = page.runs.iter().find_map(headline_of);
    let mut all = match of {
        Some(of) => followed(store, &page.runs, wanted, of)?,
        None => Vec::new(),
    };
    let followed = match chosen(&all, wanted.like.as_deref()) {
        Some(index) => all.remove(index),
        None => Followed::default(),
    };
    let run = |(run, cell): &(&RunRow, FollowedCell)| {
        Some(TrendRun {
            id: run.id.clone(),
            short_id: run.short_id.clone(),
            started_at: run.started_at,
            targets: run.targets.clone(),
            host: run.host.clone(),
            kernel: run.kernel.clone(),
            per_second: cell.per_second?,
            ci95_low: cell.interval.map(|it| it.0),
            ci95_high: cell.interval.map(|it| it.1),
        })
    };
    // The query returns the newest first, so that its limit leaves out the oldest runs.
    let runs: Vec<TrendRun> = followed.runs.iter().rev().filter_map(run).collect();
    let rates: Vec<f64> = runs.iter().map(|run| run.per_second).collect();
    let change = |it: ChangePoint| TrendChange {
        index: it.index,
        before: it.before,
        after: it.after,
        p_value: it.p_value,
    };
    let cell = followed.runs.first();
    Ok(TrendAnswer {
        of,
        cell: cell.map(|(_, cell)| cell.settings.clone()),
        changes: ChangePoint::all_of(&rates)
            .into_iter()
            .map(change)
            .collect(),
        runs,
        matching_count: page.matching_count,
        others: all.iter().filter_map(Followed::as_other).collect(),
    })
}

/// Unit of a run's headline rate.
fn headline_of(run: &RunRow) -> Option<HeadlineUnit> {
    let headline = run.headline.filter(|it| it.per_second.is_finite())?;
    Some(headline.of)
}

/// A cell in all runs that measured it, newest first.
#[derive(Default)]
struct Followed<'a> {
    runs: Vec<(&'a RunRow, FollowedCell)>,
}

impl Followed<'_> {
    fn as_other(&self) -> Option<OtherTrend> {
        let (newest, _) = self.runs.first()?;
        Some(OtherTrend {
            newest_id: newest.id.clone(),
            newest_at: newest.started_at,
            run_count: u32::try_from(self.runs.len()).unwrap_or(u32::MAX),
        })
    }

    fn has(&self, id: &str) -> bool {
        self.runs.iter().any(|(run, _)| run.id == id)
    }
}

/// The wanted cells, each with all runs that measured the same work; the newest first.
fn followed<'a>(
    store: &Store,
    named: &'a [RunRow],
    wanted: &WantedCell,
    of: HeadlineUnit,
) -> Result<Vec<Followed<'a>>, StoreError> {
    let mut all: Vec<Followed<'a>> = Vec::new();
    for run in named {
        for cell in store.followed_cells(run, of)? {
            let is_measured = cell.per_second.is_some_and(|rate| rate > 0.0);
            if !is_measured || !wanted.is(&cell) {
                continue;
            }
            let is_like = |it: &&mut Followed| {
                // A run is in a series once, as its last one so far.
                let is_other = it.runs.last().is_none_or(|(last, _)| last.id != run.id);
                is_other && it.runs.first().is_some_and(|(_, one)| one.is_like(&cell))
            };
            match all.iter_mut().find(is_like) {
                Some(same) => same.runs.push((run, cell)),
                None => all.push(Followed {
                    runs: vec![(run, cell)],
                }),
            }
        }
    }
    Ok(all)
}

/// Index of the cell that the run `like` measured, or else that most runs measured; of several, the
/// one with the newest run, then the one with the best rate.
fn chosen(all: &[Followed], like: Option<&str>) -> Option<usize> {
    let rank = |(_, it): &(usize, &Followed)| {
        let newest = it.runs.first();
        let started_at = newest.map(|(run, _)| run.started_at);
        let rate = newest.and_then(|(_, cell)| cell.per_second).unwrap_or(0.0);
        // A rate is positive, and the bits of positive numbers are in their order.
        (it.runs.len(), started_at, rate.to_bits())
    };
    let named = |(_, it): &(usize, &Followed)| like.is_none_or(|id| it.has(id));
    let best = all.iter().enumerate().filter(named).max_by_key(rank);
    best.map(|(index, _)| index)
}
