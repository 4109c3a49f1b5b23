//! Starts the runs of the queue, each in a process of its own that needs nothing of this one.
//!
//! One goes on at a time, also where targets differ: two that measure at once share processors,
//! memory and often the device, and neither has the figures that it has alone.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use results::Owner;
use rustix::fs::{MemfdFlags, memfd_create};
use store::{RunQuery, Store};

use crate::answer::Refusal;
use crate::api::checks::{admitted, resolved};
use crate::api::labs;
use crate::blocking::blocking;
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::program::{command, nothing, text_of, words};
use crate::queue::{EntryState, QueueEntry};
use crate::scratch::{Given, Scratch};
use crate::shared::Shared;

/// How soon it is looked again whether a process has begun its run.
const SOON: Duration = Duration::from_millis(100);
/// How soon it is looked again whether a run of another's is over.
const LATER: Duration = Duration::from_secs(1);
/// Until somebody changes the queue.
const NEVER: Duration = Duration::from_secs(3600);
/// No more runs of a lab are told.
const LAB_RUNS_MAX: usize = 1000;
/// What is said on standard error is kept in memory of that name.
const REMARKS: &str = "remarks";
/// So much of what a run says is kept.
const REMARKS_BYTES_MAX: u64 = 16 << 10;

/// Starts what waits, for as long as the server is there.
pub(crate) async fn drive(shared: Arc<Shared>) {
    let mut starts_runs = false;
    loop {
        let pause = match shared.queue.take_over() {
            false => LATER,
            true => {
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

/// Waits for what an earlier server had started: between two runs of a lab, nothing else tells that
/// it goes on.
fn recover(shared: &Arc<Shared>) {
    let Some((entry, owner)) = shared.queue.owned() else {
        return;
    };
    let (waiting, id) = (Arc::clone(shared), entry.id.clone());
    let wait = move || {
        let said = remarks_of(&owner);
        while runs_here(&owner) {
            std::thread::sleep(LATER);
        }
        ended(&waiting, &id, owner.pid, (None, said));
    };
    let spawned = std::thread::Builder::new()
        .name("run".to_owned())
        .spawn(wait);
    if spawned.is_err() {
        let end = |it: &mut QueueEntry| it.state = EntryState::Ended;
        shared.queue.update(&entry.id, end);
    }
}

/// Whether it runs; of a process that cannot be asked, only the store tells.
fn runs_here(owner: &Owner) -> bool {
    owner.shares_numbers() && owner.may_run()
}

/// What a process says on standard error, where a server had started it.
fn remarks_of(owner: &Owner) -> Option<File> {
    let path = format!("/proc/{}/fd/2", owner.pid);
    let name = fs::read_link(&path).ok()?;
    let is_ours = name
        .to_string_lossy()
        .starts_with(&format!("/memfd:{REMARKS}"));
    let file = is_ours.then(|| File::open(&path).ok())?;
    // Asked once its file is held.
    file.filter(|_| runs_here(owner))
}

/// Does what is to be done now, and says when to look again.
async fn step(shared: &Arc<Shared>) -> Duration {
    if let Some(active) = shared.queue.active() {
        return match active.state {
            EntryState::Starting => {
                find_run(shared, &active).await;
                SOON
            }
            // A lab has one run after the other.
            _ if active.lab.is_some() => {
                find_run(shared, &active).await;
                LATER
            }
            _ => NEVER,
        };
    }
    let Some(next) = shared.queue.next() else {
        return NEVER;
    };
    match shared.with_store(|store| Ok(store.live_runs()?)).await {
        Ok(live) if live.is_empty() => {}
        Ok(live) => {
            shared.queue.waits(&next.id, &live[0].id);
            return LATER;
        }
        Err(_) => return LATER,
    }
    start(shared, next).await;
    SOON
}

/// Starts a run, or says why it cannot be.
async fn start(shared: &Arc<Shared>, entry: QueueEntry) {
    shared.queue.update(&entry.id, |it| {
        it.state = EntryState::Starting;
        it.waits_for = None;
    });
    if let Err(refusal) = try_start(shared, &entry).await {
        shared.queue.update(&entry.id, |it| {
            it.state = EntryState::Ended;
            it.remarks = format!("error: {}", refusal.error());
        });
    }
}

/// Checks the run once more as it is now, since files, links and roots may have changed while it
/// waited, and starts it.
async fn try_start(shared: &Arc<Shared>, entry: &QueueEntry) -> Result<(), Refusal> {
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
        let failed = |error: io::Error| Refusal::failed(format!("cannot start pgmeter: {error}"));
        spawn(&begun, &of, arguments, line.1.as_ref()).map_err(failed)
    })
    .await
}

/// The words after `check` or `run`, with the file as it was when the run was queued.
async fn line_of(
    shared: &Arc<Shared>,
    entry: &QueueEntry,
) -> Result<(Vec<OsString>, Option<Given>), Refusal> {
    let mut what = entry.request.what.clone();
    if let Some(Given { name, text }) = shared.queue.text(&entry.id) {
        what.workload = WorkloadChoice {
            own: None,
            name: Some(name),
            text: Some(text),
            ..what.workload
        };
    }
    resolved(shared, what).await
}

/// The words after the program's name.
fn of_run(
    shared: &Shared,
    what: &WorkloadRequest,
    arguments: Vec<OsString>,
) -> Result<Vec<OsString>, Refusal> {
    let mut whole = words(["run", "--quiet", "--no-html"]);
    for device in &what.overwrite_devices {
        whole.push("--overwrite-device".into());
        whole.push(shared.roots.admit_overwriting(device)?.into());
    }
    whole.extend(arguments);
    Ok(whole)
}

/// Starts the process, and a thread that waits for its end.
fn spawn(
    shared: &Arc<Shared>,
    entry: &QueueEntry,
    arguments: Vec<OsString>,
    given: Option<&Given>,
) -> io::Result<()> {
    let scratch = Scratch::with(given)?;
    scratch.share()?;
    // What it says is kept in memory, which is there for it when this process is not.
    let remarks = File::from(memfd_create(REMARKS, MemfdFlags::CLOEXEC)?);
    let bounds = shared.roots.bounds().with_text(text_of(given));
    let child = command(shared, &arguments, (scratch.path(), &bounds))
        .stdout(nothing())
        .stderr(remarks.try_clone()?)
        .spawn()?;
    shared.queue.begun(&entry.id, child.id());
    let (shared, id) = (Arc::clone(shared), entry.id.clone());
    let wait = move || wait(&shared, &id, child, remarks, &scratch);
    std::thread::Builder::new()
        .name("run".to_owned())
        .spawn(wait)?;
    Ok(())
}

fn wait(shared: &Arc<Shared>, id: &str, mut child: Child, remarks: File, _: &Scratch) {
    let pid = child.id();
    let status = child.wait();
    let code = status.ok().and_then(|status| status.code());
    ended(shared, id, pid, (code, Some(remarks)));
}

/// Takes note of the end of a process: its exit code, where that is known, and what it said.
fn ended(shared: &Arc<Shared>, id: &str, pid: u32, (code, remarks): (Option<i32>, Option<File>)) {
    let mut said = Vec::new();
    if let Some(mut remarks) = remarks {
        // What cannot be read is not told.
        let _ = remarks.seek(SeekFrom::Start(0));
        let _ = remarks.take(REMARKS_BYTES_MAX).read_to_end(&mut said);
    }
    let entry = shared.queue.entry(id);
    let mut found = Made::default();
    if let Some(entry) = entry.filter(|it| it.lab.is_some() || it.run_id.is_none()) {
        let store = Store::open(&shared.options.store).ok();
        found = store.map_or(found, |mut store| Made::by(&mut store, entry, pid));
    }
    shared.queue.update(id, |it| {
        it.state = EntryState::Ended;
        it.exit_code = code;
        it.remarks = String::from_utf8_lossy(&said).into_owned();
        it.run_id = found.run_id.or(it.run_id.take());
        it.run_ids = found.run_ids;
        it.lab_id = found.lab_id;
    });
}

/// What a process that is over has put into the store.
#[derive(Debug, Default)]
struct Made {
    run_id: Option<String>,
    run_ids: Vec<String>,
    lab_id: Option<String>,
}

impl Made {
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
            since: Some(since),
            is_rising: true,
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

/// How ids end that a process gives: `results::RunRecord::new`.
fn ending(pid: u32) -> String {
    format!("-{pid:x}")
}

/// Looks whether the process has begun its run.
async fn find_run(shared: &Arc<Shared>, entry: &QueueEntry) {
    let Some(pid) = entry.pid else { return };
    let of = entry.clone();
    let found = shared.with_store(move |store| Ok(adopt(store, of, pid)));
    if let Ok(Some(run)) = found.await {
        shared.queue.update(&entry.id, |it| {
            if it.state == EntryState::Starting {
                it.state = EntryState::Running;
            }
            it.run_id = Some(run);
        });
    }
}

/// The run of a process, with the note and the tags that were asked for.
fn adopt(store: &mut Store, entry: QueueEntry, pid: u32) -> Option<String> {
    let query = RunQuery {
        since: Some(entry.added_at),
        limit: 20,
        ..RunQuery::default()
    };
    let ending = ending(pid);
    let runs = store.page(&query).ok()?.runs.into_iter();
    let id = runs.map(|run| run.id).find(|id| id.ends_with(&ending))?;
    // A tag that is none was refused before.
    if !entry.request.note.is_empty() {
        let _ = store.set_note(&id, &entry.request.note);
    }
    for tag in &entry.request.tags {
        let _ = store.add_tag(&id, tag);
    }
    Some(id)
}
