//! The part of a run that is known at its start.

use results::{RunRecord, Status};
use rusqlite::{Transaction, params};

/// Name of the statement of a source that names its host.
const HOST_STATEMENT: &str = "host";

/// The part of a run that is known at its start.
#[derive(Debug)]
pub(crate) struct RunHeader {
    id: String,
    started_at: String,
    started_us: i64,
    command: String,
    workloads: String,
    targets: String,
    file_systems: String,
    host: String,
    kernel: String,
    /// The origin of imported results (JSON).
    origin: Option<String>,
    /// The record (JSON) without its end, warnings, cells and estimates.
    record: String,
}

impl RunHeader {
    pub(crate) fn of(record: &RunRecord) -> serde_json::Result<Self> {
        let plan = &record.plan;
        // Users select a run by the name of the pack, not by its parts.
        let workloads = plan.workloads.iter();
        let workloads = workloads.map(|it| it.pack.as_ref().unwrap_or(&it.name).clone());
        let import = record.import.as_ref();
        let imported_names = import.iter().flat_map(|it| it.names());
        let workloads = workloads.chain(imported_names.map(str::to_owned));
        let targets = plan
            .targets
            .iter()
            .map(|target| record.full_path(target).to_string_lossy().into_owned());
        let imported_results = import.iter().flat_map(|it| &it.results);
        let targets = targets.chain(imported_results.filter_map(|it| it.target.clone()));
        let imported_host = import.and_then(|it| it.statement(HOST_STATEMENT));
        let file_systems = record
            .environment
            .file_systems
            .iter()
            .map(|found| found.kind.clone());
        let bare = RunRecord {
            format: record.format.clone(),
            id: record.id.clone(),
            started_at: record.started_at,
            finished_at: None,
            pgmeter: record.pgmeter.clone(),
            command: record.command.clone(),
            // What the record says if the process is killed before the run ends.
            status: Status::Interrupted,
            plan: plan.clone(),
            workload_file: record.workload_file.clone(),
            environment: record.environment.clone(),
            cluster: record.cluster.clone(),
            warnings: Vec::new(),
            preconditions: record.preconditions.clone(),
            cells: Vec::new(),
            estimates: Vec::new(),
            alternation: record.alternation.clone(),
            import: record.import.clone(),
        };
        Ok(Self {
            id: record.id.clone(),
            started_at: record.started_at.to_string(),
            started_us: record.started_at.as_microsecond(),
            command: units::json_line(&record.command)?,
            workloads: names(workloads)?,
            targets: names(targets)?,
            file_systems: names(file_systems)?,
            host: imported_host.unwrap_or(&record.environment.host).to_owned(),
            kernel: record.environment.kernel.clone(),
            origin: import.map(|it| units::json_line(&it.origin)).transpose()?,
            record: units::json_line(&bare)?,
        })
    }

    /// Adds the run, marked as running in the process `owner`; returns its key.
    pub(crate) fn insert(&self, store: &Transaction, owner: &str) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO runs (id, started_at, started_us, status, owner, command, \
                   workloads, targets, file_systems, host, kernel, origin) \
                   VALUES (?1, ?2, ?3, 'running', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
        store.prepare_cached(sql)?.execute(params![
            self.id,
            self.started_at,
            self.started_us,
            owner,
            self.command,
            self.workloads,
            self.targets,
            self.file_systems,
            self.host,
            self.kernel,
            self.origin
        ])?;
        let run = store.last_insert_rowid();
        store
            .prepare_cached("INSERT INTO headers (run, record) VALUES (?1, ?2)")?
            .execute(params![run, self.record])?;
        Ok(run)
    }

    /// Updates the values that changed during the run.
    pub(crate) fn update(&self, store: &Transaction, run: i64) -> rusqlite::Result<()> {
        // An unchanged header is large and need not go through the log again.
        let sql = "UPDATE headers SET record = ?2 WHERE run = ?1 AND record <> ?2";
        store
            .prepare_cached(sql)?
            .execute(params![run, self.record])?;
        Ok(())
    }
}

/// The distinct names, in order, as a JSON array.
fn names(all: impl Iterator<Item = String>) -> serde_json::Result<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    units::json_line(&names)
}
