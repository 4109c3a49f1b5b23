//! All routes of the API. The router and the reference page are generated from this table.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, post, put};
use schemars::{Schema, schema_for};

use crate::answer::{Answer, RefusedAnswer};
use crate::api::{
    board, checks, compare, control, disks, events, facts, labs, metrics, over_time, queue, runs,
    trend, workloads,
};
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::guard::guard;
use crate::lab::LabRequest;
use crate::page;
use crate::queue::RunRequest;
use crate::shared::Shared;

/// Creates the handler for the methods of a path.
type PathMethods = fn() -> MethodRouter<Arc<Shared>>;

/// A route of the API.
pub(crate) struct Route {
    /// Section of the reference page.
    pub section: &'static str,
    pub method: &'static str,
    pub path: &'static str,
    /// Description in one or more sentences.
    pub description: &'static str,
    /// Schema of the query string.
    pub query: Option<fn() -> Schema>,
    /// Schema of the JSON request body.
    pub body: Option<fn() -> Schema>,
    /// Type of the answer: a schema name of `pgmeter schema`, or a description.
    pub answer: &'static str,
    handler: PathMethods,
}

const fn route(
    section: &'static str,
    (method, path): (&'static str, &'static str),
    handler: PathMethods,
    answer: &'static str,
    meaning: &'static str,
) -> Route {
    Route {
        section,
        method,
        path,
        description: meaning,
        query: None,
        body: None,
        answer,
        handler,
    }
}

impl Route {
    const fn query(self, query: fn() -> Schema) -> Self {
        Self {
            query: Some(query),
            ..self
        }
    }

    const fn body(self, body: fn() -> Schema) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }
}

const SERVER: &str = "The server and the machine";
const RUNS: &str = "Stored runs";
const LABS: &str = "Labs and published experiments";
const BOARD: &str = "The board";
const LIVE: &str = "Live runs";
const QUEUE: &str = "Starting runs";
const WORKLOADS: &str = "Workloads";

/// Every route of the API.
pub(crate) const ROUTES: &[Route] = &[
    route(
        SERVER,
        ("GET", "/api"),
        || get(facts::facts),
        "`serve`",
        "Facts about the server: its version, its store, the roots below which targets may be \
         chosen, and the CPU time it has used.",
    ),
    route(
        SERVER,
        ("GET", "/api/disks"),
        || get(disks::list),
        "`serve-disks`",
        "What may be measured, and the other disks of this machine: size, model, file system, and \
         what may be written.",
    ),
    route(
        SERVER,
        ("GET", "/api/doctor"),
        || get(facts::doctor),
        "`doctor`",
        "What this machine can and cannot measure, as reported by `pgmeter doctor`.",
    )
    .query(|| schema_for!(facts::DoctorQuery)),
    route(
        SERVER,
        ("GET", "/api/keys"),
        || get(facts::keys),
        "`keys`",
        "All keys of workload files with their meanings.",
    ),
    route(
        SERVER,
        ("GET", "/api/papers"),
        || get(facts::papers),
        "`paper-list`",
        "The published experiments.",
    ),
    route(
        SERVER,
        ("GET", "/api/papers/{name}"),
        || get(labs::paper),
        "`paper`",
        "A published experiment with its workload and its published results.",
    ),
    route(
        SERVER,
        ("GET", "/api/papers/{name}/page"),
        || get(labs::paper_page),
        "HTML",
        "A published experiment as a self-contained page.",
    ),
    route(
        SERVER,
        ("GET", "/api/file-systems"),
        || get(facts::file_systems),
        "`lab-list`",
        "The file systems that labs can create here, and the missing requirements of the others.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs"),
        || get(runs::list),
        "`serve-runs`",
        "A part of the list of stored runs.",
    )
    .query(|| schema_for!(runs::ListQuery)),
    route(
        RUNS,
        ("GET", "/api/runs/{id}"),
        || get(runs::view),
        "`serve-run`",
        "A run with the cells of its plan, a summary of each completed cell, and its warnings. \
         `{id}` is an id, the beginning of one, `last`, `@-2` or `tag:NAME`, as on the command \
         line.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/record"),
        || get(runs::record),
        "`record`, as a file",
        "The full record, as written by `pgmeter runs export`.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/csv"),
        || get(runs::csv),
        "CSV, as a file",
        "One row per cell and operation.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/summary"),
        || get(runs::summary),
        "HTML",
        "The report on one sheet, as a self-contained page.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/page"),
        || get(runs::page),
        "HTML",
        "The report as a self-contained page.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/workload"),
        || get(runs::workload),
        "`serve-text`",
        "The workload of a run as a file with all options, to be run again or changed; 404 if the \
         run did not store it.",
    ),
    route(
        RUNS,
        ("PUT", "/api/runs/{id}/notes"),
        || put(runs::notes),
        "`serve-run`",
        "Sets the note, the tags, or both.",
    )
    .body(|| schema_for!(runs::NotesRequest)),
    route(
        RUNS,
        ("DELETE", "/api/runs/{id}"),
        || delete(runs::remove),
        "`serve-removed`",
        "Removes a run with all its results. `{id}` must be the full id. A running run is refused \
         with 409.",
    ),
    route(
        RUNS,
        ("GET", "/api/compare"),
        || get(compare::compare),
        "`compare`",
        "Compares two or more runs, or the runs of two or more tags, each with the first.",
    )
    .query(|| schema_for!(compare::CompareQuery)),
    route(
        RUNS,
        ("GET", "/api/compare/page"),
        || get(compare::page),
        "HTML",
        "The comparison as a self-contained page.",
    )
    .query(|| schema_for!(compare::CompareQuery)),
    route(
        RUNS,
        ("GET", "/api/tags"),
        || get(runs::tags),
        "`serve-tags`",
        "The tags of the stored runs.",
    ),
    route(
        RUNS,
        ("GET", "/api/trends"),
        || get(trend::list),
        "`serve-trends`",
        "The cells that complete runs measured, each with the number of runs that measured it on \
         the same targets, file systems and machine. Runs of labs are left out.",
    ),
    route(
        RUNS,
        ("GET", "/api/trend"),
        || get(trend::trend),
        "`serve-trend`",
        "The headline rate of one workload in each complete run, with its lasting changes. At a \
         change, the ranks before and after differ by more (Pettitt's test) than in all but one \
         of 20 random orders of the same values. Within a level that was found, the limit is one \
         of 40, and so on. Each level has at least four runs.",
    )
    .query(|| schema_for!(trend::TrendQuery)),
    route(
        RUNS,
        ("GET", "/metrics"),
        || get(metrics::metrics),
        "OpenMetrics text",
        "Metrics for Prometheus, only with `pgmeter serve --metrics`: see \
         [Metrics](serve.md#metrics).",
    ),
    route(
        LABS,
        ("GET", "/api/labs"),
        || get(labs::list),
        "`serve-labs`",
        "The stored labs, newest first.",
    ),
    route(
        LABS,
        ("GET", "/api/labs/{id}/page"),
        || get(labs::page),
        "HTML",
        "The table of a lab as a self-contained page.",
    ),
    route(
        LABS,
        ("GET", "/api/labs/{id}/record"),
        || get(labs::record),
        "`lab`, as a file",
        "The full record, with the records of its runs.",
    ),
    route(
        LABS,
        ("DELETE", "/api/labs/{id}"),
        || delete(labs::remove),
        "`serve-removed`",
        "Removes the record of a lab; its runs stay. `{id}` must be the full id.",
    ),
    route(
        LABS,
        ("POST", "/api/labs"),
        || post(labs::start),
        "`serve-entry`, 202",
        "Adds a lab, or a published experiment to repeat, to the queue of runs. Images are created \
         in the directory `pgmeter-lab` of the target. `GET /api/file-systems` shows missing \
         requirements.",
    )
    .body(|| schema_for!(LabRequest)),
    route(
        BOARD,
        ("GET", "/board/{*path}"),
        || get(board::page),
        "HTML, JSON, CSV or Atom",
        "A file of the site that `pgmeter board build` makes, such as `/board/index.html`; 404 \
         without `pgmeter serve --board DIR`. The site is built again when a file of the board has \
         changed.",
    ),
    route(
        BOARD,
        ("GET", "/api/runs/{id}/standings"),
        || get(board::standings),
        "`board-rank`",
        "Where a run stands in the tables of the board. The list is empty if no table ranks the \
         work of the run.",
    ),
    route(
        LIVE,
        ("GET", "/api/runs/{id}/events"),
        || get(events::events),
        "server-sent events",
        "The events of a run as they are stored; see [Events](#events).",
    )
    .query(|| schema_for!(events::EventsQuery)),
    route(
        LIVE,
        ("GET", "/api/runs/{id}/intervals"),
        || get(over_time::intervals),
        "`serve-intervals`",
        "Results over time until now, thinned for a chart; `next` is the place from which to start \
         the events.",
    )
    .query(|| schema_for!(over_time::IntervalsQuery)),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/stop"),
        || post(control::stop),
        "`serve-told`, 202",
        "Stops a run like Ctrl-C; its results so far are kept.",
    ),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/skip"),
        || post(control::skip),
        "`serve-told`, 202",
        "Ends the current cell and continues with the next one.",
    ),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/abort"),
        || post(control::abort),
        "`serve-told`, 202",
        "Stops a run and removes it from the store.",
    ),
    route(
        QUEUE,
        ("POST", "/api/runs"),
        || post(control::start),
        "`serve-entry`, 202",
        "Adds a run to the queue. The queue starts one run at a time, when no other run of this \
         store is running, even on different targets: simultaneous runs disturb each other. A \
         run is a separate process and does not end with the server.",
    )
    .body(|| schema_for!(RunRequest)),
    route(
        QUEUE,
        ("GET", "/api/queue"),
        || get(queue::list),
        "`serve-queue`",
        "The queue of runs with the state of each entry.",
    ),
    route(
        QUEUE,
        ("PUT", "/api/queue/order"),
        || put(queue::order),
        "`serve-queue`",
        "Reorders the waiting runs.",
    )
    .body(|| schema_for!(queue::OrderRequest)),
    route(
        QUEUE,
        ("PUT", "/api/queue/pause"),
        || put(queue::pause),
        "`serve-queue`",
        "Pauses or resumes the queue. If a server finds runs that an earlier one left waiting, its \
         queue starts paused.",
    )
    .body(|| schema_for!(queue::PauseRequest)),
    route(
        QUEUE,
        ("DELETE", "/api/queue"),
        || delete(queue::clear),
        "`serve-queue`",
        "Removes all waiting runs.",
    ),
    route(
        QUEUE,
        ("DELETE", "/api/queue/{id}"),
        || delete(queue::remove),
        "`serve-queue`",
        "Removes a waiting or ended entry.",
    ),
    route(
        WORKLOADS,
        ("GET", "/api/workloads"),
        || get(workloads::builtin),
        "`list`",
        "The built-in workloads and packs with their origins, and the programs whose files are \
         accepted as workloads.",
    ),
    route(
        WORKLOADS,
        ("POST", "/api/show"),
        || post(workloads::show),
        "`show`",
        "A workload as TOML and as values, as a starting point for changes.",
    )
    .body(|| schema_for!(WorkloadChoice)),
    route(
        WORKLOADS,
        ("POST", "/api/check"),
        || post(checks::check),
        "`serve-check`",
        "Messages by line, the plan, and whether the server may start the workload. Nothing is \
         changed. Problems of the workload are part of the answer, not an error.",
    )
    .body(|| schema_for!(WorkloadRequest)),
    route(
        WORKLOADS,
        ("POST", "/api/convert"),
        || post(checks::convert),
        "`serve-convert`",
        "The same workload in another format.",
    )
    .body(|| schema_for!(checks::ConvertRequest)),
    route(
        WORKLOADS,
        ("GET", "/api/workloads/own"),
        || get(workloads::list),
        "`serve-own`",
        "The user's workloads: files in the folder `workloads` next to the store.",
    ),
    route(
        WORKLOADS,
        ("GET", "/api/workloads/own/{name}"),
        || get(workloads::load),
        "`serve-text`",
        "The text of a user's workload.",
    ),
    route(
        WORKLOADS,
        ("PUT", "/api/workloads/own/{name}"),
        || put(workloads::save),
        "`serve-own`",
        "Saves a user's workload. Links are not followed.",
    )
    .body(|| schema_for!(workloads::SaveRequest)),
    route(
        WORKLOADS,
        ("DELETE", "/api/workloads/own/{name}"),
        || delete(workloads::delete),
        "`serve-own`",
        "Deletes a user's workload.",
    ),
];

/// The router, protected by the guard.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.handler)());
    }
    router
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::asset))
        .fallback(missing)
        .method_not_allowed_fallback(not_allowed)
        // `Body` limits the size itself, with an answer in JSON.
        .layer(DefaultBodyLimit::disable())
        // A layer applies to what was added before it: the guard must also cover the fallbacks.
        .layer(from_fn_with_state(Arc::clone(shared), guard))
        .with_state(Arc::clone(shared))
}

async fn missing() -> Answer {
    Err(RefusedAnswer::not_found())
}

async fn not_allowed() -> Answer {
    let error = "this address does not support that method";
    Err(RefusedAnswer::new(StatusCode::METHOD_NOT_ALLOWED, error))
}
