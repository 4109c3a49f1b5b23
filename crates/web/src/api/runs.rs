//! Stored runs: the list, single runs, their results and notes.

use std::sync::Arc;

use axum::extract::Path;
use results::{CellNames, ClusterRecord, IntervalRecord, Timestamp, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{CellView, FoldedLab, RunOrder, RunPage, RunQuery, RunRow, RunStatus, TagRow};
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, as_file, document, json, report_page, typed};
use crate::api::folded::{RunningLab, of_runs};
use crate::api::workloads::OwnText;
use crate::body::Body;
use crate::body::Parameters;
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// Default number of runs in a list.
const LIMIT_DEFAULT: usize = 100;
/// Maximum number of runs in a list.
const LIMIT_MAX: usize = 1000;
/// Maximum number of words or tags in a query; each one adds a condition to the database query.
const WORDS_MAX: usize = 16;
/// Maximum number of tags per run.
pub(crate) const TAGS_MAX: usize = 64;
/// Filters for the list of runs; a run must match all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListQuery {
    /// Words separated by spaces, at most 16. Each must occur in the id, a workload, a target, a
    /// file system, the host, the kernel, the command, the note or a tag, in any case.
    pub search: Option<String>,
    /// Text that a workload's name contains, in any case.
    pub workload: Option<String>,
    /// Text that a target's path contains, in any case.
    pub target: Option<String>,
    /// Tags separated by commas, at most 16; the run must have all of them.
    pub tags: Option<String>,
    /// Status of the run: `running`, `complete`, `interrupted` or `failed`.
    pub status: Option<String>,
    /// Earliest start time (RFC 3339).
    pub since: Option<String>,
    /// The run started before this time (RFC 3339).
    pub until: Option<String>,
    /// Sort column.
    pub sort: SortColumn,
    /// `true` to sort in ascending order.
    pub rising: bool,
    /// Number of runs to skip at the beginning.
    pub offset: usize,
    /// Maximum number of runs; 100 by default, at most 1000.
    pub limit: Option<usize>,
    /// `true` to list only the newest matching run of each lab; `labs` then describes its lab.
    pub fold: bool,
}

/// Columns by which runs can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortColumn {
    /// Start time.
    #[default]
    Started,
    /// Names of their workloads.
    Workload,
    /// Paths of their targets.
    Target,
    /// Names of the file systems.
    FileSystem,
    /// Status.
    Status,
    /// Headline rate.
    Rate,
    /// Highest operations per second of all cells.
    Iops,
    /// Highest bytes per second of all cells.
    Bandwidth,
    /// Number of completed cells.
    Cells,
    /// Name of the host.
    Host,
    /// Release of the kernel.
    Kernel,
    /// Note.
    Note,
}

impl SortColumn {
    const fn order(self) -> RunOrder {
        match self {
            Self::Started => RunOrder::Started,
            Self::Workload => RunOrder::Workload,
            Self::Target => RunOrder::Target,
            Self::FileSystem => RunOrder::FileSystem,
            Self::Status => RunOrder::Status,
            Self::Rate => RunOrder::Rate,
            Self::Iops => RunOrder::Operations,
            Self::Bandwidth => RunOrder::Bytes,
            Self::Cells => RunOrder::Cells,
            Self::Host => RunOrder::Host,
            Self::Kernel => RunOrder::Kernel,
            Self::Note => RunOrder::Note,
        }
    }
}

/// A part of the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunsAnswer {
    /// The runs.
    #[serde(flatten)]
    pub page: RunPage,
    /// With `fold`, the labs of the listed runs, which have the tag of their lab.
    pub labs: Vec<FoldedLab>,
    /// With `fold`, the lab of the queue that is running, once it has a run.
    pub running_lab: Option<RunningLab>,
}

impl JsonDocument for RunsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-runs/1";
}

/// The tags in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagsAnswer {
    /// The tags, that of the newest run first; without the tags that mark the runs of labs.
    pub tags: Vec<TagRow>,
}

impl JsonDocument for TagsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-tags/1";
}

/// A run with a summary of each cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunView {
    /// The run, as in the list.
    pub run: RunRow,
    /// Processes that share the run; null for a single process.
    #[serde(rename = "crew")]
    pub cluster: Option<ClusterView>,
    /// The cells of the plan, as far as they are known.
    pub planned: Vec<PlannedCell>,
    /// The completed cells in the order in which they ran. A cell of an emulated program has one
    /// entry per phase.
    pub cells: Vec<CellView>,
    /// Warnings about the results.
    pub warnings: Vec<Warning>,
    /// Place after everything stored now, from which to start the events.
    pub next: String,
}

impl JsonDocument for RunView {
    const FORMAT: &'static str = "pgmeter-serve-run/1";
}

/// Processes that share a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClusterView {
    /// Number of processes.
    pub ranks: u32,
    /// Number of hosts.
    pub host_count: usize,
    /// Short description, such as `4 processes on 2 hosts`.
    pub place: String,
}

impl ClusterView {
    fn of(cluster: &ClusterRecord) -> Self {
        Self {
            ranks: cluster.ranks,
            host_count: cluster.hosts.len(),
            place: units::printable(&cluster.place()).into_owned(),
        }
    }
}

/// A cell of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedCell {
    /// Index of the cell in the plan.
    pub index: u32,
    /// Title of the cell.
    pub title: String,
    /// Planned measured time, in nanoseconds; null if the cell does not end by time.
    pub run_time_ns: Option<u64>,
    /// Ramp time, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Requests that each worker keeps in flight on each of its targets.
    pub iodepth: u32,
    /// Number of workers.
    pub workers: u32,
    /// Number of the repetition, 0-based.
    pub repetition: u32,
    /// Names of the workers with results in the intervals, in the same order. Empty if there is
    /// only one worker or more than 64.
    pub worker_names: Vec<String>,
    /// In the order of `worker_names`: `true` if a rate limits the worker.
    pub worker_has_rate: Vec<bool>,
    /// Paths of the targets with results in the intervals, in the same order. Empty if there is
    /// only one target or more than 64.
    pub target_paths: Vec<String>,
}

/// New note and tags of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotesRequest {
    /// The note; unchanged if missing, removed if empty.
    pub note: Option<String>,
    /// All tags; unchanged if missing.
    pub tags: Option<Vec<String>>,
}

/// `GET /api/runs`
pub(crate) async fn list(shared: State, Parameters(asked): Parameters<ListQuery>) -> Answer {
    let query = run_query(asked)?;
    let state = Arc::clone(&shared);
    let answer = shared.with_store(move |store| {
        let page = store.page(&query)?;
        let (labs, running_lab) = match query.folds_labs {
            true => (of_runs(store, &page.runs)?, RunningLab::find(&state, store)),
            false => (Vec::new(), None),
        };
        Ok(RunsAnswer {
            page,
            labs,
            running_lab,
        })
    });
    document(&answer.await?)
}

/// `GET /api/tags`
pub(crate) async fn tags(shared: State) -> Answer {
    let tags = shared.with_store(|store| Ok(store.tags()?)).await?;
    document(&TagsAnswer { tags })
}

fn run_query(request: ListQuery) -> Result<RunQuery, RefusedAnswer> {
    let words = request.search.unwrap_or_default();
    let time = |text: Option<String>, name: &str| {
        let parsed = text.map(|text| text.parse::<Timestamp>());
        let parsed = parsed.transpose();
        parsed.map_err(|_| RefusedAnswer::bad(format!("`{name}` is not a time as in RFC 3339")))
    };
    let tags = request.tags.unwrap_or_default();
    let tags = tags.split(',').map(str::trim);
    let tags = tags.filter(|tag| !tag.is_empty());
    at_most(words.split_whitespace().count(), WORDS_MAX, "words")?;
    at_most(tags.clone().count(), WORDS_MAX, "tags")?;
    let status = request.status.map(|word| word.parse::<RunStatus>());
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(RunQuery {
        words: words.split_whitespace().map(str::to_owned).collect(),
        workload: some(request.workload),
        target: some(request.target),
        tags: tags.map(str::to_owned).collect(),
        status: status
            .transpose()
            .map_err(|()| RefusedAnswer::bad("`status` is not a status of a run"))?,
        since: time(request.since, "since")?,
        until: time(request.until, "until")?,
        order: request.sort.order(),
        is_ascending: request.rising,
        offset: request.offset,
        limit: request.limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX),
        folds_labs: request.fold,
        ..RunQuery::default()
    })
}

/// Refuses more items than a person would enter.
pub(crate) fn at_most(count: usize, most: usize, noun: &str) -> Result<(), RefusedAnswer> {
    match count > most {
        true => Err(RefusedAnswer::bad(format!(
            "there are {count} {noun}, but at most {most} are allowed"
        ))),
        false => Ok(()),
    }
}

/// `GET /api/runs/{id}`
pub(crate) async fn view(shared: State, Path(id): Path<String>) -> Answer {
    let view = shared.with_store(move |store| {
        let run = store.row(&id)?;
        // Determine the place first, so that no event between the two reads is lost.
        let next = store.end_cursor(&run.id)?;
        let outline = store.outline(&run.id)?;
        let names = CellNames::of(&outline.plan);
        let plan = &outline.plan;
        let planned = plan.cells.iter().map(|cell| PlannedCell {
            index: cell.index,
            title: names.planned(cell),
            run_time_ns: Some(cell.run_time_ns).filter(|time| *time > 0),
            ramp_time_ns: cell.ramp_time_ns,
            iodepth: cell.iodepth,
            workers: u32::try_from(cell.workers.len()).unwrap_or(u32::MAX),
            repetition: cell.repetition,
            worker_names: parts(cell.workers.iter().map(|worker| worker.name.clone())),
            worker_has_rate: parts(cell.workers.iter().map(|worker| cell.has_rate(worker))),
            target_paths: parts(cell.target_indexes().map(|index| {
                let target = plan.targets.get(index as usize);
                target.map_or_else(String::new, |it| {
                    outline.full_path(it).display().to_string()
                })
            })),
        });
        Ok(RunView {
            cluster: outline.cluster.as_ref().map(ClusterView::of),
            planned: planned.collect(),
            cells: store.cells(&run.id)?,
            warnings: outline.warnings,
            next: next.to_string(),
            run,
        })
    });
    document(&view.await?)
}

/// Facts about workers or targets, if intervals have their results: see `IntervalRecord::workers`.
fn parts<T>(facts: impl Iterator<Item = T>) -> Vec<T> {
    let facts: Vec<T> = facts.collect();
    match IntervalRecord::lists_separately(facts.len()) {
        true => facts,
        false => Vec::new(),
    }
}

/// `GET /api/runs/{id}/record`
pub(crate) async fn record(shared: State, Path(id): Path<String>) -> Answer {
    let exported = shared.with_store(move |store| {
        let id = store.resolve(&id)?;
        Ok((store.export(&id)?, id))
    });
    let (text, id) = exported.await?;
    Ok(as_file(json(text), &format!("pgmeter-{id}.json")))
}

/// `GET /api/runs/{id}/csv`
pub(crate) async fn csv(shared: State, Path(id): Path<String>) -> Answer {
    let (id, text) = rendered(&shared.0, id, "csv").await?;
    let answer = typed("text/csv; charset=utf-8", text);
    Ok(as_file(answer, &format!("pgmeter-{id}.csv")))
}

/// `GET /api/runs/{id}/page`
pub(crate) async fn page(shared: State, Path(id): Path<String>) -> Answer {
    let (_, text) = rendered(&shared.0, id, "html").await?;
    Ok(report_page(text, &shared.options.report_policy))
}

/// `GET /api/runs/{id}/summary`
pub(crate) async fn summary(shared: State, Path(id): Path<String>) -> Answer {
    let (_, text) = rendered(&shared.0, id, "summary").await?;
    Ok(report_page(text, &shared.options.report_policy))
}

/// `GET /api/runs/{id}/workload`
pub(crate) async fn workload(shared: State, Path(id): Path<String>) -> Answer {
    let text = shared.with_store(move |store| {
        let outline = store.outline(&id)?;
        let first = outline.plan.workloads.first();
        let name = first.map(|it| it.pack.as_ref().unwrap_or(&it.name));
        // The name comes from a record and becomes the name of a file.
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
        let letters = name.into_iter().flat_map(|it| it.chars());
        let plain: String = letters.filter(is_plain).take(60).collect();
        let name = match plain.is_empty() {
            true => "workload.toml".to_owned(),
            false => format!("{plain}.toml"),
        };
        let text = outline.workload_file.ok_or_else(|| {
            RefusedAnswer::missing("this run did not store its workload")
                .help("use the file that it was started with")
        })?;
        Ok(OwnText { name, text })
    });
    document(&text.await?)
}

async fn rendered(
    shared: &Arc<Shared>,
    id: String,
    format: &str,
) -> Result<(String, Vec<u8>), RefusedAnswer> {
    let id = shared
        .with_store(move |store| Ok(store.resolve(&id)?))
        .await?;
    let arguments = words(["report", &id, "--format", format]);
    let text = ask(shared, arguments, None).await?.checked()?;
    Ok((id, text))
}

/// `PUT /api/runs/{id}/notes`
pub(crate) async fn notes(
    shared: State,
    Path(id): Path<String>,
    Body(asked): Body<NotesRequest>,
) -> Answer {
    at_most(asked.tags.iter().flatten().count(), TAGS_MAX, "tags")?;
    let row = shared.with_store(move |store| {
        let row = store.row(&id)?;
        if let Some(note) = &asked.note {
            store.set_note(&row.id, note)?;
        }
        if let Some(tags) = &asked.tags {
            // Added first: the store refuses an invalid tag here, before any tag is lost.
            for tag in tags.iter().filter(|tag| !row.tags.contains(tag)) {
                store.add_tag(&row.id, tag)?;
            }
            for tag in row.tags.iter().filter(|tag| !tags.contains(tag)) {
                store.remove_tag(&row.id, tag)?;
            }
        }
        Ok(row.id)
    });
    let id = row.await?;
    view(shared, Path(id)).await
}

/// A removed run or lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedRun {
    /// Its id.
    pub removed: String,
}

impl JsonDocument for RemovedRun {
    const FORMAT: &'static str = "pgmeter-serve-removed/1";
}

/// `DELETE /api/runs/{id}`
pub(crate) async fn remove(shared: State, Path(id): Path<String>) -> Answer {
    let removed = shared.with_store(move |store| {
        // Require the full id, so that no other run is removed by accident.
        let exact = store.resolve(&id)?;
        if exact != id {
            return Err(RefusedAnswer::bad("to remove a run, give its full id"));
        }
        Ok(store.remove(&exact, false)?)
    });
    let removed = removed.await?;
    document(&RemovedRun { removed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_or_refused() {
        let request = ListQuery {
            search: Some(" a  b ".to_owned()),
            tags: Some("x, y,".to_owned()),
            status: Some("complete".to_owned()),
            since: Some("2026-11-25T00:00:00Z".to_owned()),
            limit: Some(5_000),
            ..ListQuery::default()
        };
        let query = run_query(request.clone()).unwrap();
        assert_eq!((query.words.len(), query.tags.len()), (2, 2));
        assert_eq!(
            (query.limit, query.status),
            (1000, Some(RunStatus::Complete))
        );
        let bad = |request| assert!(run_query(request).is_err());
        let many = |count: usize| "x,".repeat(count);
        let tags = |count: usize| ListQuery {
            tags: Some(many(count)),
            ..request.clone()
        };
        assert!(run_query(tags(WORDS_MAX)).is_ok());
        bad(tags(WORDS_MAX + 1));
        bad(ListQuery {
            search: Some("x ".repeat(WORDS_MAX + 1)),
            ..request.clone()
        });
        bad(ListQuery {
            status: Some("done".to_owned()),
            ..request.clone()
        });
        bad(ListQuery {
            until: Some("yesterday".to_owned()),
            ..request
        });
    }
}
