//! Facts about the server and this machine.

use std::sync::Arc;

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::JsonDocument;

use crate::answer::{Answer, document, json};
use crate::blocking::blocking;
use crate::body::Parameters;
use crate::own_workloads::OwnFolder;
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// The server and what it offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerFacts {
    /// Version number of the API; within a version, fields and routes are only added.
    pub protocol: u32,
    /// Version of pgmeter.
    pub version: String,
    /// Path of the results store.
    pub store: String,
    /// Path of the folder with the user's workloads.
    pub folder: String,
    /// Roots below which targets may be chosen; empty if the server starts no runs.
    pub roots: Vec<RootFacts>,
    /// Block devices that runs may overwrite.
    pub overwrite_devices: Vec<String>,
    /// TCP peers that runs may measure, as `tcp://HOST:PORT`.
    pub peers: Vec<String>,
    /// Path of the board that the server shows at `/board/index.html`; null without one.
    pub board: Option<String>,
    /// Id of the run that this server accompanies and ends with; null for `pgmeter serve`.
    pub beside_run: Option<String>,
    /// Number of open streams of events; all pages of a browser share one per run.
    pub stream_count: usize,
    /// CPU time used by the server since it started, in nanoseconds.
    pub own_cpu_ns: u64,
    /// Time since the server started, in nanoseconds.
    pub up_ns: u64,
}

/// A root below which targets may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RootFacts {
    /// Its path, with symbolic links resolved.
    pub path: String,
    /// `true` if it is a directory.
    pub is_directory: bool,
    /// Free space in bytes; null if unknown.
    pub free_bytes: Option<u64>,
    /// Names of its directories in alphabetical order, at most 200, without hidden ones.
    pub directories: Vec<String>,
}

impl JsonDocument for ServerFacts {
    const FORMAT: &'static str = "pgmeter-serve/1";
}

/// Version number of the API.
pub(crate) const PROTOCOL: u32 = 1;
/// Maximum number of directories listed per root.
const DIRECTORIES_MAX: usize = 200;

/// `GET /api`
pub(crate) async fn facts(shared: State) -> Answer {
    let Shared { options, .. } = &**shared;
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let roots = shared.roots.clone();
    let facts = ServerFacts {
        protocol: PROTOCOL,
        version: options.version.clone(),
        store: text(&options.store),
        folder: text(OwnFolder::next_to(&options.store).path()),
        overwrite_devices: roots.devices().iter().map(|it| text(it)).collect(),
        peers: roots.peers().to_vec(),
        board: options.board.as_ref().map(|it| text(&it.directory)),
        beside_run: options.beside_run.clone(),
        stream_count: shared.followers.stream_count(),
        own_cpu_ns: clock_ns(ClockId::ProcessCPUTime),
        up_ns: u64::try_from(shared.begin.elapsed().as_nanos()).unwrap_or(u64::MAX),
        roots: blocking(move || Ok(roots.all().iter().map(|it| root_facts(it)).collect())).await?,
    };
    document(&facts)
}

fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

fn root_facts(path: &std::path::Path) -> RootFacts {
    let free = rustix::fs::statvfs(path).ok();
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    // `file_type` does not follow links, which could lead out of the root.
    let directories = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = directories.filter_map(|it| it.file_name().into_string().ok());
    let visible = names.filter(|name| !name.starts_with('.'));
    let mut directories: Vec<String> = visible.collect();
    directories.sort();
    directories.truncate(DIRECTORIES_MAX);
    RootFacts {
        path: path.to_string_lossy().into_owned(),
        is_directory: path.is_dir(),
        // `f_bfree` also counts blocks that are reserved for root (`statvfs(3)`).
        free_bytes: free.map(|it| it.f_bavail.saturating_mul(it.f_frsize)),
        directories,
    }
}

/// Target to examine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DoctorQuery {
    /// A target that you want to measure; the first root by default.
    pub target: Option<String>,
}

/// `GET /api/doctor`
pub(crate) async fn doctor(shared: State, Parameters(query): Parameters<DoctorQuery>) -> Answer {
    let target = match &query.target {
        Some(path) => shared.roots.admit(path)?,
        None => match shared.roots.all().first() {
            Some(root) => root.clone(),
            None => "/".into(),
        },
    };
    let mut arguments = words(["doctor", "--json"]);
    arguments.push(target.into());
    from_program(&shared.0, arguments).await
}

/// `GET /api/keys`
pub(crate) async fn keys(shared: State) -> Answer {
    from_program(&shared.0, words(["keys", "--json"])).await
}

/// `GET /api/papers`
pub(crate) async fn papers(shared: State) -> Answer {
    from_program(&shared.0, words(["paper", "list", "--json"])).await
}

/// `GET /api/file-systems`
pub(crate) async fn file_systems(shared: State) -> Answer {
    from_program(&shared.0, words(["lab", "list", "--json"])).await
}

/// Answers with the JSON output of a command.
async fn from_program(shared: &Arc<Shared>, arguments: Vec<std::ffi::OsString>) -> Answer {
    Ok(json(ask(shared, arguments, None).await?.checked()?))
}
