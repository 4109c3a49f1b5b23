//! Every route, once: the router and the reference page are both made of this table.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, post, put};
use schemars::{Schema, schema_for};

use crate::answer::{Answer, Refusal};
use crate::api::{
    checks, compare, control, events, facts, labs, over_time, queue, runs, trend, workloads,
};
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::guard::guard;
use crate::lab::LabRequest;
use crate::page;
use crate::queue::RunRequest;
use crate::shared::Shared;

/// How a handler is put to its path.
type PathMethods = fn() -> MethodRouter<Arc<Shared>>;

/// A route of the API.
pub(crate) struct Route {
    /// The section of the reference page.
    pub section: &'static str,
    pub method: &'static str,
    pub path: &'static str,
    /// One or more sentences.
    pub meaning: &'static str,
    /// What may follow `?`.
    pub query: Option<fn() -> Schema>,
    /// The JSON of the request.
    pub body: Option<fn() -> Schema>,
    /// What the answer is: the name of a schema of `pgmeter schema`, or else in words.
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
        meaning,
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
const LIVE: &str = "Runs that go on";
const QUEUE: &str = "Starting runs";
const WORKLOADS: &str = "Workloads";

/// Every route of the API.
pub(crate) const ROUTES: &[Route] = &[
    route(
        SERVER,
        ("GET", "/api"),
        || get(facts::facts),
        "`serve`",
        "What the server is: its version, its store, the roots beneath which targets may be \
         chosen, and the processor time that it took.",
    ),
    route(
        SERVER,
        ("GET", "/api/doctor"),
        || get(facts::doctor),
        "`doctor`",
        "What this machine can and cannot measure, as `pgmeter doctor` finds it.",
    )
    .query(|| schema_for!(facts::DoctorQuery)),
    route(
        SERVER,
        ("GET", "/api/keys"),
        || get(facts::keys),
        "`keys`",
        "Every key of a workload file with its meaning.",
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
        "One of them: its workload and its published figures.",
    ),
    route(
        SERVER,
        ("GET", "/api/papers/{name}/page"),
        || get(labs::paper_page),
        "HTML",
        "The same as a page that stands alone.",
    ),
    route(
        SERVER,
        ("GET", "/api/file-systems"),
        || get(facts::file_systems),
        "`lab-list`",
        "The file systems that labs can make here, and what is missing for the others.",
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
        "A run with the cells of its plan, those that are complete in a few figures each, and its \
         warnings. `{id}` is an id, the beginning of one, `last`, `@-2` or `tag:NAME`, as on the \
         command line.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/record"),
        || get(runs::record),
        "`record`, as a file",
        "The whole record, the same that `pgmeter runs export` writes.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/csv"),
        || get(runs::csv),
        "CSV, as a file",
        "One row for each cell and operation.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/page"),
        || get(runs::page),
        "HTML",
        "The report as a page that stands alone.",
    ),
    route(
        RUNS,
        ("GET", "/api/runs/{id}/workload"),
        || get(runs::workload),
        "`serve-text`",
        "What was measured as a workload file, with all options in place, to be run again or \
         changed; 404 where the run did not keep it.",
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
        "Removes a run with all its figures. `{id}` is the whole id; a run that goes on is refused \
         with 409.",
    ),
    route(
        RUNS,
        ("GET", "/api/compare"),
        || get(compare::compare),
        "`compare`",
        "Two or more runs compared, each with the first.",
    )
    .query(|| schema_for!(compare::CompareQuery)),
    route(
        RUNS,
        ("GET", "/api/compare/page"),
        || get(compare::page),
        "HTML",
        "The same as a page that stands alone.",
    )
    .query(|| schema_for!(compare::CompareQuery)),
    route(
        RUNS,
        ("GET", "/api/trend"),
        || get(trend::trend),
        "`serve-trend`",
        "The headline rate of one workload in each complete run, with where it changed: ranks \
         before and behind differ by more (Pettitt's test) than in all but one of 20 random orders \
         of the same values, or one of 40 within a level that was found, and so on; each level \
         has four runs at least.",
    )
    .query(|| schema_for!(trend::TrendQuery)),
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
        "The table of a lab as a page that stands alone.",
    ),
    route(
        LABS,
        ("GET", "/api/labs/{id}/record"),
        || get(labs::record),
        "`lab`, as a file",
        "The whole record, with those of its runs.",
    ),
    route(
        LABS,
        ("DELETE", "/api/labs/{id}"),
        || delete(labs::remove),
        "`serve-removed`",
        "Removes the record of a lab; its runs stay. `{id}` is the whole id.",
    ),
    route(
        LABS,
        ("POST", "/api/labs"),
        || post(labs::start),
        "`serve-entry`, 202",
        "Puts a lab, or a published experiment to repeat, into the queue of runs. Images are made \
         in a directory `pgmeter-lab` of the target; `GET /api/file-systems` tells what is \
         missing for it.",
    )
    .body(|| schema_for!(LabRequest)),
    route(
        LIVE,
        ("GET", "/api/runs/{id}/events"),
        || get(events::events),
        "server-sent events",
        "What happens in a run, as it is stored: see [Events](#events).",
    )
    .query(|| schema_for!(events::EventsQuery)),
    route(
        LIVE,
        ("GET", "/api/runs/{id}/intervals"),
        || get(over_time::intervals),
        "`serve-intervals`",
        "Figures over time until now, no more than a chart can show; `next` is where to begin with \
         events.",
    )
    .query(|| schema_for!(over_time::IntervalsQuery)),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/stop"),
        || post(control::stop),
        "`serve-told`, 202",
        "Ends a run in order, as Ctrl-C does: what was measured is kept.",
    ),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/skip"),
        || post(control::skip),
        "`serve-told`, 202",
        "Ends the cell that is measured and goes on with the next.",
    ),
    route(
        LIVE,
        ("POST", "/api/runs/{id}/abort"),
        || post(control::abort),
        "`serve-told`, 202",
        "Ends a run and removes it from the store.",
    ),
    route(
        QUEUE,
        ("POST", "/api/runs"),
        || post(control::start),
        "`serve-entry`, 202",
        "Puts a run into the queue, which starts one at a time, once no other run of this store \
         goes on: on other targets, too, since two that measure at once disturb each other. It is \
         a process of its own and does not end with the server.",
    )
    .body(|| schema_for!(RunRequest)),
    route(
        QUEUE,
        ("GET", "/api/queue"),
        || get(queue::list),
        "`serve-queue`",
        "The runs that were asked for, with what became of them.",
    ),
    route(
        QUEUE,
        ("PUT", "/api/queue/order"),
        || put(queue::order),
        "`serve-queue`",
        "Puts those that wait into another order.",
    )
    .body(|| schema_for!(queue::OrderRequest)),
    route(
        QUEUE,
        ("PUT", "/api/queue/pause"),
        || put(queue::pause),
        "`serve-queue`",
        "Holds those that wait, or lets them go on. A server that finds runs that an earlier one \
         left waiting begins with them held.",
    )
    .body(|| schema_for!(queue::PauseRequest)),
    route(
        QUEUE,
        ("DELETE", "/api/queue"),
        || delete(queue::clear),
        "`serve-queue`",
        "Takes out all that wait.",
    ),
    route(
        QUEUE,
        ("DELETE", "/api/queue/{id}"),
        || delete(queue::remove),
        "`serve-queue`",
        "Takes out one that waits or is over.",
    ),
    route(
        WORKLOADS,
        ("GET", "/api/workloads"),
        || get(workloads::builtin),
        "`list`",
        "The built-in workloads and packs with their origins, and the programs whose files are \
         workloads.",
    ),
    route(
        WORKLOADS,
        ("POST", "/api/show"),
        || post(workloads::show),
        "`show`",
        "A workload as TOML and as values: what to begin with when it is to be changed.",
    )
    .body(|| schema_for!(WorkloadChoice)),
    route(
        WORKLOADS,
        ("POST", "/api/check"),
        || post(checks::check),
        "`serve-check`",
        "Verdicts by line, the plan, and whether it may be started from here. Nothing is touched; \
         what is wrong with the workload is an answer, not an error.",
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
        "One's own workloads: files of the folder `workloads` beside the store.",
    ),
    route(
        WORKLOADS,
        ("GET", "/api/workloads/own/{name}"),
        || get(workloads::load),
        "`serve-text`",
        "The text of one of them.",
    ),
    route(
        WORKLOADS,
        ("PUT", "/api/workloads/own/{name}"),
        || put(workloads::save),
        "`serve-own`",
        "Saves one. Links are not followed.",
    )
    .body(|| schema_for!(workloads::SaveRequest)),
    route(
        WORKLOADS,
        ("DELETE", "/api/workloads/own/{name}"),
        || delete(workloads::delete),
        "`serve-own`",
        "Deletes one.",
    ),
];

/// The server behind its guard.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.handler)());
    }
    for asset in page::ASSETS {
        router = router.route(asset.path, get(|| page::answer(asset)));
    }
    router
        .fallback(missing)
        .method_not_allowed_fallback(not_allowed)
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(shared), guard))
        .with_state(Arc::clone(shared))
}

async fn missing() -> Answer {
    Err(Refusal::missing("there is no such page").help("`docs/api.md` lists all of the API"))
}

async fn not_allowed() -> Answer {
    let error = "this cannot be asked in that way";
    Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, error))
}
