//! Stored runs: the list, one of them, its figures and its notes.

use std::sync::Arc;

use axum::extract::{Path, Query};
use results::{CellNames, CrewRecord, IntervalRecord, Timestamp, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{CellView, RunOrder, RunQuery, RunRow, RunStatus};
use units::JsonDocument;

use crate::answer::{Answer, Refusal, as_file, document, json, report_page, typed};
use crate::api::workloads::OwnText;
use crate::body::Body;
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// Runs of a list unless it is said how many.
const LIMIT: usize = 100;
/// No more runs are listed at once.
const LIMIT_MAX: usize = 1000;
/// Words or tags that one query may have; the store has a condition for each.
const WORDS_MAX: usize = 16;
/// Tags that one run may have.
pub(crate) const TAGS_MAX: usize = 64;
/// Which runs to list; those for which everything holds that is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListQuery {
    /// Words, separated by blanks, each of which is in the id, a workload, a target, a file system,
    /// the host, the kernel, the command, the note or a tag, in any case; at most 16.
    pub search: Option<String>,
    /// A workload's name contains this, in any case.
    pub workload: Option<String>,
    /// A target's path contains this, in any case.
    pub target: Option<String>,
    /// It has all of these tags, which commas separate; at most 16.
    pub tags: Option<String>,
    /// It ended so: `running`, `complete`, `interrupted`, `failed`.
    pub status: Option<String>,
    /// It began then or later (RFC 3339).
    pub since: Option<String>,
    /// It began before (RFC 3339).
    pub until: Option<String>,
    /// What it is sorted by.
    pub sort: SortColumn,
    /// Whether the smallest comes first.
    pub rising: bool,
    /// So many are left out at the beginning.
    pub offset: usize,
    /// No more than so many; 100 by default, at most 1000.
    pub limit: Option<usize>,
}

/// What runs can be sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortColumn {
    /// When they began.
    #[default]
    Started,
    /// Names of their workloads.
    Workload,
    /// Paths of their targets.
    Target,
    /// Names of the file systems.
    FileSystem,
    /// How they ended.
    Status,
    /// The rate that tells most.
    Rate,
    /// Operations per second, the best of all cells.
    Iops,
    /// Bytes per second, the best of all cells.
    Bandwidth,
    /// How many cells are complete.
    Cells,
    /// The machine.
    Host,
    /// The kernel's release.
    Kernel,
    /// Their note.
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

/// A run with its cells, in a few figures each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunView {
    /// The run as the list has it.
    pub run: RunRow,
    /// Processes that share it; none where one measures alone.
    pub crew: Option<CrewView>,
    /// The cells of the plan, as far as that is known.
    pub planned: Vec<PlannedCell>,
    /// The cells that are complete, in the order of running; a program's cell has one for each
    /// phase.
    pub cells: Vec<CellView>,
    /// Reasons to doubt a figure.
    pub warnings: Vec<Warning>,
    /// The place behind all that is stored now: where to begin with events.
    pub next: String,
}

impl JsonDocument for RunView {
    const FORMAT: &'static str = "pgmeter-serve-run/1";
}

/// Processes that share a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CrewView {
    /// How many there are.
    pub ranks: u32,
    /// How many hosts they are on.
    pub host_count: usize,
    /// How many and where in a few words, such as `4 processes on 2 hosts`.
    pub place: String,
}

impl CrewView {
    fn of(crew: &CrewRecord) -> Self {
        Self {
            ranks: crew.ranks,
            host_count: crew.hosts.len(),
            place: units::printable(&crew.place()).into_owned(),
        }
    }
}

/// A cell of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedCell {
    /// Its number in the plan.
    pub index: u32,
    /// What people call it.
    pub title: String,
    /// How long it is measured, in nanoseconds; none where it ends otherwise.
    pub run_time_ns: Option<u64>,
    /// How long it warms up, in nanoseconds.
    pub ramp_time_ns: u64,
    /// Requests each worker keeps in flight on each of its targets.
    pub iodepth: u32,
    /// How many workers take part.
    pub workers: u32,
    /// 0-based.
    pub repetition: u32,
    /// Names of the workers whose figures intervals have, in their order; empty where one works
    /// alone, and where there are more than 64.
    pub worker_names: Vec<String>,
    /// Paths of the targets whose figures intervals have, in their order; empty as
    /// `worker_names` is.
    pub target_paths: Vec<String>,
}

/// What somebody wants to remember of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotesRequest {
    /// The note; as it was where it is left out, none where it is empty.
    pub note: Option<String>,
    /// All its tags; as they were where they are left out.
    pub tags: Option<Vec<String>>,
}

/// `GET /api/runs`
pub(crate) async fn list(shared: State, Query(asked): Query<ListQuery>) -> Answer {
    let query = run_query(asked)?;
    document(
        &shared
            .with_store(move |store| Ok(store.page(&query)?))
            .await?,
    )
}

fn run_query(asked: ListQuery) -> Result<RunQuery, Refusal> {
    let words = asked.search.unwrap_or_default();
    let time = |text: Option<String>, name: &str| {
        let parsed = text.map(|text| text.parse::<Timestamp>());
        let parsed = parsed.transpose();
        parsed.map_err(|_| Refusal::bad(format!("`{name}` is no time as in RFC 3339")))
    };
    let tags = asked.tags.unwrap_or_default();
    let tags = tags.split(',').map(str::trim);
    let tags = tags.filter(|tag| !tag.is_empty());
    at_most(words.split_whitespace().count(), WORDS_MAX, "words")?;
    at_most(tags.clone().count(), WORDS_MAX, "tags")?;
    let status = asked.status.map(|word| word.parse::<RunStatus>());
    let some = |text: Option<String>| text.filter(|text| !text.is_empty());
    Ok(RunQuery {
        words: words.split_whitespace().map(str::to_owned).collect(),
        workload: some(asked.workload),
        target: some(asked.target),
        tags: tags.map(str::to_owned).collect(),
        status: status
            .transpose()
            .map_err(|()| Refusal::bad("`status` is not how a run ends"))?,
        since: time(asked.since, "since")?,
        until: time(asked.until, "until")?,
        order: asked.sort.order(),
        is_rising: asked.rising,
        offset: asked.offset,
        limit: asked.limit.unwrap_or(LIMIT).min(LIMIT_MAX),
    })
}

/// Refuses more than a person asks for.
pub(crate) fn at_most(count: usize, most: usize, what: &str) -> Result<(), Refusal> {
    match count > most {
        true => Err(Refusal::bad(format!(
            "there are {count} {what}, and at most {most} are taken"
        ))),
        false => Ok(()),
    }
}

/// `GET /api/runs/{id}`
pub(crate) async fn view(shared: State, Path(id): Path<String>) -> Answer {
    let view = shared.with_store(move |store| {
        let run = store.row(&id)?;
        // Asked first, so that nothing is missing between.
        let next = store.end_place(&run.id)?;
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
            target_paths: parts(cell.target_indexes().map(|index| {
                let target = plan.targets.get(index as usize);
                target.map_or_else(String::new, |it| {
                    outline.full_path(it).display().to_string()
                })
            })),
        });
        Ok(RunView {
            crew: outline.crew.as_ref().map(CrewView::of),
            planned: planned.collect(),
            cells: store.cells(&run.id)?,
            warnings: outline.warnings,
            next: next.to_string(),
            run,
        })
    });
    document(&view.await?)
}

/// Names of parts, where intervals tell them apart: as `IntervalRecord::workers` says.
fn parts(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: Vec<String> = names.collect();
    match IntervalRecord::tells_apart(names.len()) {
        true => names,
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

/// `GET /api/runs/{id}/workload`
pub(crate) async fn workload(shared: State, Path(id): Path<String>) -> Answer {
    let text = shared.with_store(move |store| {
        let outline = store.outline(&id)?;
        let first = outline.plan.workloads.first();
        let name = first.map(|it| it.pack.as_ref().unwrap_or(&it.name));
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
        let letters = name.into_iter().flat_map(|it| it.chars());
        let plain: String = letters.filter(is_plain).take(60).collect();
        let name = match plain.is_empty() {
            true => "workload.toml".to_owned(),
            false => format!("{plain}.toml"),
        };
        let text = outline.workload_file.ok_or_else(|| {
            Refusal::missing("this run did not keep its workload")
                .help("give the file that it was started with")
        })?;
        Ok(OwnText { name, text })
    });
    document(&text.await?)
}

async fn rendered(
    shared: &Arc<Shared>,
    id: String,
    format: &str,
) -> Result<(String, Vec<u8>), Refusal> {
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

/// Runs that were removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedRun {
    /// The run's id.
    pub removed: String,
}

impl JsonDocument for RemovedRun {
    const FORMAT: &'static str = "pgmeter-serve-removed/1";
}

/// `DELETE /api/runs/{id}`
pub(crate) async fn remove(shared: State, Path(id): Path<String>) -> Answer {
    let removed = shared.with_store(move |store| {
        // The whole id: nothing else is meant by accident.
        let exact = store.resolve(&id)?;
        if exact != id {
            return Err(Refusal::bad("only the whole id of a run is removed"));
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
        let asked = ListQuery {
            search: Some(" a  b ".to_owned()),
            tags: Some("x, y,".to_owned()),
            status: Some("complete".to_owned()),
            since: Some("2026-11-25T00:00:00Z".to_owned()),
            limit: Some(5_000),
            ..ListQuery::default()
        };
        let query = run_query(asked.clone()).unwrap();
        assert_eq!((query.words.len(), query.tags.len()), (2, 2));
        assert_eq!(
            (query.limit, query.status),
            (1000, Some(RunStatus::Complete))
        );
        let bad = |asked| assert!(run_query(asked).is_err());
        let many = |count: usize| "x,".repeat(count);
        let tags = |count: usize| ListQuery {
            tags: Some(many(count)),
            ..asked.clone()
        };
        assert!(run_query(tags(WORDS_MAX)).is_ok());
        bad(tags(WORDS_MAX + 1));
        bad(ListQuery {
            search: Some("x ".repeat(WORDS_MAX + 1)),
            ..asked.clone()
        });
        bad(ListQuery {
            status: Some("done".to_owned()),
            ..asked.clone()
        });
        bad(ListQuery {
            until: Some("yesterday".to_owned()),
            ..asked
        });
    }
}
