//! Starts the runs of the queue. Each run is a separate process that does not depend on this one.
//!
//! Only one run is active at a time, even on different targets. Two simultaneous runs would share
//! CPUs, memory and often the device, and disturb each other's results.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::process::Child;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use results::ProcessIdentity;
use rustix::fs::{MemfdFlags, memfd_create};
use store::{RunQuery, Store};

use crate::answer::RefusedAnswer;
use crate::api::checks::{admitted, resolved};
use crate::api::labs;
use crate::blocking::blocking;
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::program::{command, nothing, text_of, words};
use crate::queue::{EntryState, QueueEntry};
use crate::scratch::{ChildFile, Scratch};
use crate::shared::Shared;

/// Pause before looking again for the first sign of a started run.
const START_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Pause before looking again whether a run outside the queue has ended.
const RUN_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum pause; a change of the queue ends it earlier.
const PAUSE_MAX: Duration = Duration::from_secs(3600);
/// Maximum number of runs listed for a lab.
const LAB_RUNS_MAX: usize = 1000;
/// Name of the memory file that keeps standard error.
const STDERR_NAME: &str = "remarks";
/// Maximum number of bytes kept from standard error.
const STDERR_BYTES_MAX: u64 = 16 << 10;

/// Starts waiting runs as long as the server is running.
pub(crate) async fn drive(shared: Arc<Shared>) {
    let mut starts_runs = false;
    loop {
        let pause = match shared.queue.take_over() {
            // Nothing tells when the other server ends, so its lock is tried again.
            false => RUN_POLL_INTERVAL,
            true => {
                // Only once: all later processes are children of this server.
                if !std::mem::replace(&mut starts_runs, true) {
                    recover(&shared);
                }
                step(&shared).await
            }
        };
        tokio::select! {
            () = shared.queue.wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Waits for a process started by an earlier server. Between two runs of a lab, the store does not
/// show that the lab is still running.
fn recover(shared: &Arc<Shared>) {
    let Some((entry, owner)) = shared.queue.owned() else {
        return;
    };
    let (waiting, id) = (Arc::clone(shared), entry.id.clone());
    let wait = move || {
        let remarks = stderr_of(&owner);
        while is_running_here(&owner) {
            std::thread::sleep(RUN_POLL_INTERVAL);
        }
        ended(&waiting, &id, owner.pid, (None, remarks));
    };
    // A thread, because the process is no child of this server and its end wakes nothing.
    let spawned = std::thread::Builder::new()
        .name("run".to_owned())
        .spawn(wait);
    if spawned.is_err() {
        let end = |it: &mut QueueEntry| it.state = EntryState::Ended;
        shared.queue.update(&entry.id, end);
    }
}

/// `true` if the process is running and visible from here. For other processes, only the store
/// shows whether they run.
fn is_running_here(owner: &ProcessIdentity) -> bool {
    owner.shares_pids() && owner.may_run()
}

/// Standard error of a process that an earlier server started.
fn stderr_of(owner: &ProcessIdentity) -> Option<File> {
    // Opening this link opens the memory file, although it has no path.
    let path = format!("/proc/{}/fd/2", owner.pid);
    let name = fs::read_link(&path).ok()?;
    // The kernel shows a memory file as `/memfd:NAME (deleted)`.
    let is_remarks = name
        .to_string_lossy()
        .starts_with(&format!("/memfd:{STDERR_NAME}"));
    let file = is_remarks.then(|| File::open(&path).ok())?;
    // Check the process after opening its file, so that the file cannot belong to a reused process
    // id.
    file.filter(|_| is_running_here(owner))
}

/// Does the next step of the queue, and returns the time until the following one.
async fn step(shared: &Arc<Shared>) -> Duration {
    if let Some(active) = shared.queue.active() {
        return match active.state {
            EntryState::Starting => {
                find_run(shared, &active).await;
                START_POLL_INTERVAL
            }
            // A lab has several runs, one after another.
            _ if active.lab.is_some() => {
                find_run(shared, &active).await;
                RUN_POLL_INTERVAL
            }
            // The thread that waits for the process changes the queue when it ends, which wakes
            // this task.
            _ => PAUSE_MAX,
        };
    }
    let Some(next) = shared.queue.next() else {
        return PAUSE_MAX;
    };
    // Runs from the command line disturb and are disturbed in the same way. Nothing tells when they
    // end.
    match shared.with_store(|store| Ok(store.live_runs()?)).await {
        Ok(live) if live.is_empty() => {}
        Ok(live) => {
            shared.queue.waits(&next.id, &live[0].id);
            return RUN_POLL_INTERVAL;
        }
        Err(_) => return RUN_POLL_INTERVAL,
    }
    // Meanwhile, a user may have paused the queue, or removed or moved the entry.
    if let Some(entry) = shared.queue.start_next() {
        start(shared, entry).await;
    }
    START_POLL_INTERVAL
}

/// Starts a run, or stores the reason why that fails.
async fn start(shared: &Arc<Shared>, entry: QueueEntry) {
    if let Err(refusal) = try_start(shared, &entry).await {
        shared.queue.update(&entry.id, |it| {
            it.state = EntryState::Ended;
            it.remarks = format!("error: {}", refusal.error());
        });
    }
}

/// Checks the run again before starting it, because files, links and roots may have changed while
/// it waited.
async fn try_start(shared: &Arc<Shared>, entry: &QueueEntry) -> Result<(), RefusedAnswer> {
    let (begun, of) = (Arc::clone(shared), entry.clone());
    let line = match entry.lab {
        Some(_) => (Vec::new(), None),
        None => line_of(shared, entry).await?,
    };
    if entry.lab.is_none() {
        admitted(shared, line.clone()).await?;
    }
    blocking(move || {
        let arguments = match &of.lab {
            Some(lab) => labs::command_line(&begun, lab)?,
            None => of_run(&begun, &of.request.what, line.0)?,
        };
        let failed =
            |error: io::Error| RefusedAnswer::failed(format!("cannot start pgmeter: {error}"));
        spawn(&begun, &of, arguments, line.1.as_ref()).map_err(failed)
    })
    .await
}

/// Arguments after `check` or `run`, with the workload file as it was when the run was queued.
async fn line_of(
    shared: &Arc<Shared>,
    entry: &QueueEntry,
) -> Result<(Vec<OsString>, Option<ChildFile>), RefusedAnswer> {
    let mut request = entry.request.what.clone();
    if let Some(ChildFile { name, text }) = shared.queue.text(&entry.id) {
        request.workload = WorkloadChoice {
            own: None,
            name: Some(name),
            text: Some(text),
            ..request.workload
        };
    }
    resolved(shared, request).await
}

/// Arguments of `pgmeter` for a run.
fn of_run(
    shared: &Shared,
    request: &WorkloadRequest,
    arguments: Vec<OsString>,
) -> Result<Vec<OsString>, RefusedAnswer> {
    let mut all = words(["run", "--quiet", "--no-html"]);
    for device in &request.overwrite_devices {
        all.push("--overwrite-device".into());
        all.push(shared.roots.admit_overwriting(device)?.into());
    }
    all.extend(arguments);
    Ok(all)
}

/// Starts the process, and a thread that waits for its end.
fn spawn(
    shared: &Arc<Shared>,
    entry: &QueueEntry,
    arguments: Vec<OsString>,
    given: Option<&ChildFile>,
) -> io::Result<()> {
    let scratch = Scratch::with(given)?;
    // Before the process starts, which inherits the descriptor and with it the lock.
    scratch.share()?;
    // A memory file keeps the output and stays usable for the run when the server ends.
    let remarks = File::from(memfd_create(STDERR_NAME, MemfdFlags::CLOEXEC)?);
    let bounds = shared.roots.bounds().with_text(text_of(given));
    let mut command = command(shared, &arguments, (scratch.path(), &bounds));
    command.stdout(nothing()).stderr(remarks.try_clone()?);
    let (started, child) = mpsc::channel();
    let (waiting, id) = (Arc::clone(shared), entry.id.clone());
    // The thread owns `scratch`, so its directory stays until the process has ended.
    let wait = move || {
        if let Ok(child) = child.recv() {
            wait(&waiting, &id, child, remarks, &scratch);
        }
    };
    // Before the process, because a process without this thread would run unattended.
    std::thread::Builder::new()
        .name("run".to_owned())
        .spawn(wait)?;
    let child = command.spawn()?;
    // Stored immediately: a later server must find the process if this one is killed.
    shared.queue.begun(&entry.id, child.id());
    // This cannot fail, because the thread receives before it ends.
    let _ = started.send(child);
    Ok(())
}

fn wait(shared: &Arc<Shared>, id: &str, mut child: Child, remarks: File, _: &Scratch) {
    let pid = child.id();
    let status = child.wait();
    let code = status.ok().and_then(|status| status.code());
    ended(shared, id, pid, (code, Some(remarks)));
}

/// Records the end of a process, with its exit code if it is known, and its output.
fn ended(shared: &Arc<Shared>, id: &str, pid: u32, (code, remarks): (Option<i32>, Option<File>)) {
    // Unreadable output is left out.
    let lines = remarks.and_then(|remarks| last_lines(remarks).ok());
    let entry = shared.queue.entry(id);
    let mut stored = StoredRuns::default();
    // A short run can end before `find_run` has looked for it even once.
    if let Some(entry) = entry.filter(|it| it.lab.is_some() || it.run_id.is_none()) {
        let store = Store::open(&shared.options.store).ok();
        stored = store.map_or(stored, |mut store| StoredRuns::by(&mut store, entry, pid));
    }
    shared.queue.update(id, |it| {
        it.state = EntryState::Ended;
        it.exit_code = code;
        it.remarks = lines.unwrap_or_default();
        it.run_id = stored.run_id.or(it.run_id.take());
        it.run_ids = stored.run_ids;
        it.lab_id = stored.lab_id;
    });
}

/// The last lines of standard error. The error that ended a process follows its warnings.
fn last_lines(mut remarks: File) -> io::Result<String> {
    let length = remarks.metadata()?.len();
    let skipped = length.saturating_sub(STDERR_BYTES_MAX);
    // The process wrote through the same file description, so the offset is at the end.
    remarks.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    remarks.take(STDERR_BYTES_MAX).read_to_end(&mut bytes)?;
    let cut = bytes.iter().position(|byte| *byte == b'\n');
    // The first line may have lost its beginning.
    let start = cut.filter(|_| skipped > 0).map_or(0, |cut| cut + 1);
    Ok(String::from_utf8_lossy(&bytes[start..]).into_owned())
}

/// Runs and lab that an ended process left in the store.
#[derive(Debug, Default)]
struct StoredRuns {
    run_id: Option<String>,
    run_ids: Vec<String>,
    lab_id: Option<String>,
}

impl StoredRuns {
    fn by(store: &mut Store, entry: QueueEntry, pid: u32) -> Self {
        let ending = ending(pid);
        let is_lab = entry.lab.is_some();
        let since = entry.added_at;
        let run_id = adopt(store, entry, pid);
        if !is_lab {
            return Self {
                run_id,
                ..Self::default()
            };
        }
        let query = RunQuery {
            // Process ids are reused, so earlier ids with the same suffix are of other processes.
            since: Some(since),
            is_ascending: true,
            limit: LAB_RUNS_MAX,
            ..RunQuery::default()
        };
        let runs = store.page(&query).map(|page| page.runs).unwrap_or_default();
        let ids = runs.into_iter().map(|run| run.id);
        let labs = store.labs().unwrap_or_default().into_iter();
        let mut labs = labs.filter(|lab| lab.started_at >= since);
        Self {
            run_id,
            run_ids: ids.filter(|id| id.ends_with(&ending)).collect(),
            lab_id: labs.find(|lab| lab.id.ends_with(&ending)).map(|lab| lab.id),
        }
    }
}

/// Suffix of all ids created by a process; see `results::RunRecord::new`.
fn ending(pid: u32) -> String {
    format!("-{pid:x}")
}

/// Checks whether the process has started its run.
async fn find_run(shared: &Arc<Shared>, entry: &QueueEntry) {
    let Some(pid) = entry.pid else { return };
    let of = entry.clone();
    let found = shared.with_store(move |store| Ok(adopt(store, of, pid)));
    if let Ok(Some(run)) = found.await {
        shared.queue.update(&entry.id, |it| {
            // The process may have ended while the store was read.
            if it.state == EntryState::Starting {
                it.state = EntryState::Running;
            }
            it.run_id = Some(run);
        });
    }
}

/// Finds the run of a process, and sets the requested note and tags.
fn adopt(store: &mut Store, entry: QueueEntry, pid: u32) -> Option<String> {
    let query = RunQuery {
        since: Some(entry.added_at),
        limit: 20,
        ..RunQuery::default()
    };
    let ending = ending(pid);
    let runs = store.page(&query).ok()?.runs.into_iter();
    let id = runs.map(|run| run.id).find(|id| id.ends_with(&ending))?;
    // Invalid tags were refused before.
    if !entry.request.note.is_empty() {
        let _ = store.set_note(&id, &entry.request.note);
    }
    for tag in &entry.request.tags {
        let _ = store.add_tag(&id, tag);
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_error_after_many_warnings_is_kept() {
        let mut remarks = tempfile::tempfile().unwrap();
        let warnings = "warning: ä\n".repeat(5000);
        writeln!(remarks, "{warnings}error: the end").unwrap();
        let kept = last_lines(remarks).unwrap();
        assert!(kept.ends_with("\nerror: the end\n"), "{kept}");
        assert!(kept.starts_with("warning: ä\n") && kept.len() <= 16 << 10);
        let mut remarks = tempfile::tempfile().unwrap();
        writeln!(remarks, "warning: a\nerror: b").unwrap();
        assert_eq!(last_lines(remarks).unwrap(), "warning: a\nerror: b\n");
    }
}
