//! The queue of runs: waiting runs in their order, the running one, and the last ended ones.
//! Waiting and running entries are stored in a file next to the store, so they survive a killed
//! server. After that, the queue is paused until a user resumes it.

mod file;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use results::{ProcessIdentity, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use units::JsonDocument;

use crate::answer::RefusedAnswer;
use crate::choice::WorkloadRequest;
use crate::lab::LabRequest;
use crate::scratch::ChildFile;
use file::{QueueLockFailure, SavedQueue, StartedEntry, lock, read, write};

/// Maximum number of waiting runs.
const WAITING_MAX: usize = 1000;
/// Number of ended runs that are kept.
const ENDED_MAX: usize = 50;
/// Maximum size of all waiting requests with their files, in bytes.
// Every change writes the whole queue file again.
const WAITING_BYTES_MAX: usize = 8 << 20;

/// A run to start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunRequest {
    /// The workload and its targets.
    #[serde(flatten)]
    pub what: WorkloadRequest,
    /// The run's note.
    pub note: String,
    /// The run's tags.
    pub tags: Vec<String>,
}

/// State of a queued run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryState {
    /// The run waits for others.
    Waiting,
    /// Its process has started but measures nothing yet.
    Starting,
    /// The run is in the store.
    Running,
    /// The process has ended.
    Ended,
}

/// A queued run or lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueEntry {
    /// Id of the entry.
    pub id: String,
    /// Name of the workload.
    pub title: String,
    /// The request.
    pub request: RunRequest,
    /// The requested lab or published experiment; `request` is then empty.
    #[serde(default)]
    pub lab: Option<LabRequest>,
    /// Time of the request.
    pub added_at: Timestamp,
    /// State of the entry.
    pub state: EntryState,
    /// Id of its process, once it has started.
    pub pid: Option<u32>,
    /// Id of the run, once it is in the store; for a lab, the id of its newest run.
    pub run_id: Option<String>,
    /// Ids of all runs of an ended lab, oldest first.
    #[serde(default)]
    pub run_ids: Vec<String>,
    /// Id of the lab, once it is in the store.
    #[serde(default)]
    pub lab_id: Option<String>,
    /// Id of a running run outside the queue that this entry waits for.
    pub waits_for: Option<String>,
    /// Exit code of `pgmeter run`; null until it has ended, or if a signal killed it.
    pub exit_code: Option<i32>,
    /// Standard error of `pgmeter run`, once it has ended.
    pub remarks: String,
}

impl JsonDocument for QueueEntry {
    const FORMAT: &'static str = "pgmeter-serve-entry/1";
}

/// The queue of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueDocument {
    /// Reason why this server starts no runs, such as another server with the same store; null if
    /// it does.
    pub starts_none: Option<String>,
    /// `true` if no waiting run is started. This is the case after a restart that found waiting
    /// runs.
    pub is_paused: bool,
    /// Ended entries first, then the running one, then waiting ones in their order.
    pub entries: Vec<QueueEntry>,
}

impl JsonDocument for QueueDocument {
    const FORMAT: &'static str = "pgmeter-serve-queue/1";
}

#[derive(Debug)]
pub(crate) struct RunQueue {
    state: Mutex<QueueState>,
    /// Notified when the queue changes.
    pub wake: Notify,
}

#[derive(Debug)]
struct QueueState {
    next: u64,
    is_paused: bool,
    entries: Vec<QueueEntry>,
    /// Workload files as they were when the run was queued, by id of the entry.
    texts: BTreeMap<String, ChildFile>,
    /// The process of the running entry, with the entry's id.
    owner: Option<(String, ProcessIdentity)>,
    store: PathBuf,
    /// The locked queue file, or the reason why there is none.
    file: Result<File, QueueLockFailure>,
}

impl RunQueue {
    /// Opens the queue of a store with its waiting entries. The page of a single run has no queue.
    pub fn of(store: &Path, is_live_page: bool) -> Self {
        let reason = match is_live_page {
            true => QueueLockFailure::SingleRun,
            false => QueueLockFailure::OtherServer,
        };
        let queue = Self {
            state: Mutex::new(QueueState {
                next: 0,
                is_paused: false,
                entries: Vec::new(),
                texts: BTreeMap::new(),
                owner: None,
                store: store.to_owned(),
                file: Err(reason),
            }),
            wake: Notify::new(),
        };
        queue.take_over();
        queue
    }

    /// Takes over the queue of a server that has ended, with its waiting entries. Returns `true` if
    /// this server starts the runs of the store.
    pub fn take_over(&self) -> bool {
        let mut state = self.lock();
        if matches!(state.file, Ok(_) | Err(QueueLockFailure::SingleRun)) {
            return state.file.is_ok();
        }
        match lock(&state.store) {
            Ok(file) => state.begin(file),
            Err(reason) => state.file = Err(reason),
        }
        state.file.is_ok()
    }

    /// The queue as a document.
    pub fn document(&self) -> QueueDocument {
        let state = self.lock();
        let reason = state.file.as_ref().err();
        QueueDocument {
            starts_none: reason.map(|reason| reason.refusal().error().to_owned()),
            is_paused: state.is_paused,
            entries: state.entries.clone(),
        }
    }

    /// Finds an entry.
    pub fn entry(&self, id: &str) -> Option<QueueEntry> {
        let state = self.lock();
        state.entries.iter().find(|it| it.id == id).cloned()
    }

    /// Adds a run at the end. `text` is the checked file, if the request does not contain it.
    pub fn add(
        &self,
        title: String,
        request: RunRequest,
        text: Option<ChildFile>,
    ) -> Result<QueueEntry, RefusedAnswer> {
        self.put(title, (request, text), None)
    }

    /// The workload file that was checked when the run was queued.
    pub fn text(&self, id: &str) -> Option<ChildFile> {
        self.lock().texts.get(id).cloned()
    }

    /// Adds a lab at the end.
    pub fn add_lab(&self, lab: LabRequest) -> Result<QueueEntry, RefusedAnswer> {
        self.put(lab.title(), (RunRequest::default(), None), Some(lab))
    }

    fn put(
        &self,
        title: String,
        (request, text): (RunRequest, Option<ChildFile>),
        lab: Option<LabRequest>,
    ) -> Result<QueueEntry, RefusedAnswer> {
        // The server that had the queue may have ended since the last attempt.
        self.take_over();
        let mut state = self.lock();
        if let Err(reason) = &state.file {
            return Err(reason.refusal());
        }
        let requests = state.waiting().map(|it| &it.request).chain([&request]);
        let texts = state.texts.values().chain(&text).map(|it| it.text.len());
        if requests.map(size).chain(texts).sum::<usize>() > WAITING_BYTES_MAX {
            let most = WAITING_BYTES_MAX >> 20;
            let error = format!("more than {most} MiB of requests would wait");
            return Err(RefusedAnswer::conflict(error).help("wait until some have run"));
        }
        if state.waiting().count() >= WAITING_MAX {
            return Err(RefusedAnswer::conflict(format!(
                "{WAITING_MAX} runs are already waiting"
            )));
        }
        state.next += 1;
        let entry = QueueEntry {
            id: state.next.to_string(),
            title,
            request,
            lab,
            added_at: Timestamp::now(),
            state: EntryState::Waiting,
            pid: None,
            run_id: None,
            run_ids: Vec::new(),
            lab_id: None,
            waits_for: None,
            exit_code: None,
            remarks: String::new(),
        };
        if let Some(text) = text {
            state.texts.insert(entry.id.clone(), text);
        }
        state.entries.push(entry.clone());
        self.changed(&mut state);
        Ok(entry)
    }

    /// Removes a waiting or ended entry.
    pub fn remove(&self, id: &str) -> Result<(), RefusedAnswer> {
        let mut state = self.lock();
        let index = state.entries.iter().position(|it| it.id == id);
        let index = index.ok_or_else(|| missing(id))?;
        if matches!(
            state.entries[index].state,
            EntryState::Starting | EntryState::Running
        ) {
            let error = "this run is running".to_owned();
            return Err(RefusedAnswer::conflict(error).help("stop or abort it"));
        }
        state.entries.remove(index);
        self.changed(&mut state);
        Ok(())
    }

    /// Removes all waiting entries, and resumes the queue.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.entries.retain(|it| it.state != EntryState::Waiting);
        state.is_paused = false;
        self.changed(&mut state);
    }

    /// Sets the order of waiting entries; entries not in `ids` follow in their current order.
    pub fn order(&self, ids: &[String]) -> Result<(), RefusedAnswer> {
        let mut state = self.lock();
        let is_waiting = |id: &&String| state.waiting().any(|it| it.id == **id);
        if let Some(id) = ids.iter().find(|id| !is_waiting(id)) {
            return Err(missing(id));
        }
        let rank = |entry: &QueueEntry| match entry.state {
            EntryState::Waiting => {
                let position = ids.iter().position(|id| *id == entry.id);
                1 + position.unwrap_or(ids.len())
            }
            // The sort is stable: ended and running entries stay in front, in their order.
            _ => 0,
        };
        state.entries.sort_by_key(rank);
        self.changed(&mut state);
        Ok(())
    }

    /// Pauses or resumes the queue.
    pub fn pause(&self, is_paused: bool) {
        let mut state = self.lock();
        state.is_paused = is_paused;
        self.changed(&mut state);
    }

    /// The starting or running entry.
    pub fn active(&self) -> Option<QueueEntry> {
        self.lock().active().cloned()
    }

    /// Records the process of an entry.
    pub fn begun(&self, id: &str, pid: u32) {
        let mut state = self.lock();
        state.owner = ProcessIdentity::of(pid).map(|owner| (id.to_owned(), owner));
        if let Some(entry) = state.entries.iter_mut().find(|it| it.id == id) {
            entry.pid = Some(pid);
        }
        self.changed(&mut state);
    }

    /// The starting or running entry with its process.
    pub fn owned(&self) -> Option<(QueueEntry, ProcessIdentity)> {
        let state = self.lock();
        state.begun().map(|it| (it.entry, it.owner))
    }

    /// The next entry to start; `None` if the queue is paused or empty.
    pub fn next(&self) -> Option<QueueEntry> {
        let state = self.lock();
        let next = state.waiting().next().cloned();
        next.filter(|_| !state.is_paused)
    }

    /// Marks the next entry as starting and returns it; from now on, it cannot be removed. `None`
    /// if the queue is paused or empty.
    pub fn start_next(&self) -> Option<QueueEntry> {
        let mut state = self.lock();
        if state.is_paused {
            return None;
        }
        let mut entries = state.entries.iter_mut();
        let next = entries.find(|it| it.state == EntryState::Waiting)?;
        next.state = EntryState::Starting;
        next.waits_for = None;
        let entry = next.clone();
        self.changed(&mut state);
        Some(entry)
    }

    /// Changes an entry, if it still exists. Drops the oldest of too many ended entries.
    pub fn update(&self, id: &str, change: impl FnOnce(&mut QueueEntry)) {
        let mut state = self.lock();
        if let Some(entry) = state.entries.iter_mut().find(|it| it.id == id) {
            change(entry);
        }
        let ended = state
            .entries
            .iter()
            .filter(|it| it.state == EntryState::Ended);
        if ended.count() > ENDED_MAX {
            let first = state
                .entries
                .iter()
                .position(|it| it.state == EntryState::Ended);
            first.map(|first| state.entries.remove(first));
        }
        self.changed(&mut state);
    }

    /// Records which run an entry waits for.
    pub fn waits(&self, id: &str, run: &str) {
        let mut state = self.lock();
        if let Some(entry) = state.entries.iter_mut().find(|it| it.id == id) {
            // Without `changed`: it would wake `drive`, which calls this in every step, again and
            // again.
            entry.waits_for = Some(run.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, state: &mut QueueState) {
        state.keep();
        self.wake.notify_one();
    }
}

impl QueueState {
    fn waiting(&self) -> impl Iterator<Item = &QueueEntry> {
        let entries = self.entries.iter();
        entries.filter(|it| it.state == EntryState::Waiting)
    }

    fn active(&self) -> Option<&QueueEntry> {
        let is_active =
            |it: &&QueueEntry| matches!(it.state, EntryState::Starting | EntryState::Running);
        self.entries.iter().find(is_active)
    }

    /// The starting or running entry, once its process is known.
    fn begun(&self) -> Option<StartedEntry> {
        let (entry, (id, owner)) = self.active().zip(self.owner.as_ref())?;
        // Until `begun` is called for a new entry, the owner is that of the previous one.
        (entry.id == *id).then(|| StartedEntry {
            entry: entry.clone(),
            owner: owner.clone(),
        })
    }

    /// Loads the content of a queue file. The queue is paused if any entries are waiting.
    fn begin(&mut self, mut file: File) {
        let saved = read(&mut file);
        // The requests may be old, so a user decides whether they should still run.
        self.is_paused = !saved.waiting.is_empty();
        self.entries = saved.waiting;
        self.texts = saved.texts;
        if let Some(StartedEntry { entry, owner }) = saved.begun {
            self.owner = Some((entry.id.clone(), owner));
            // In front, because `document` guarantees that the running entry comes before the
            // waiting ones.
            self.entries.insert(0, entry);
        }
        let ids = self.entries.iter();
        let numbers = ids.filter_map(|it| it.id.parse::<u64>().ok());
        // New ids continue after the loaded ones, so that no id means two entries.
        self.next = numbers.max().unwrap_or(0);
        self.file = Ok(file);
    }

    /// Saves waiting and running entries. If that fails, they are lost when the server ends.
    fn keep(&mut self) {
        let waiting: Vec<QueueEntry> = self.waiting().cloned().collect();
        let needed = |id: &String| {
            let mut entries = self.entries.iter();
            entries.any(|it| it.id == *id && it.state != EntryState::Ended)
        };
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts.into_iter().filter(|(id, _)| needed(id)).collect();
        let saved = SavedQueue {
            waiting,
            begun: self.begun(),
            texts: self.texts.clone(),
        };
        if let Ok(file) = &mut self.file {
            let _ = write(file, &saved);
        }
    }
}

/// Size of a request in the queue file, in bytes.
fn size(request: &RunRequest) -> usize {
    units::json_line(request).map_or(0, |text| text.len())
}

fn missing(id: &str) -> RefusedAnswer {
    let shown: String = id.chars().take(40).collect();
    RefusedAnswer::missing(format!("no run `{shown}` is waiting in the queue"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(queue: &RunQueue) -> Vec<String> {
        let entries = queue.document().entries.into_iter();
        entries.map(|it| it.title).collect()
    }

    fn add(queue: &RunQueue, titles: &[&str]) -> Vec<String> {
        let added = titles.iter().map(|title| {
            let entry = queue.add((*title).to_owned(), RunRequest::default(), None);
            entry.unwrap().id
        });
        added.collect()
    }

    #[test]
    fn runs_wait_in_the_requested_order() {
        let site = tempfile::tempdir().unwrap();
        let queue = RunQueue::of(&site.path().join("r.db"), false);
        let ids = add(&queue, &["a", "b", "c"]);
        assert_eq!(queue.next().unwrap().title, "a");
        queue.order(&[ids[2].clone()]).unwrap();
        assert_eq!(titles(&queue), ["c", "a", "b"]);
        queue.update(&ids[2], |it| it.state = EntryState::Running);
        assert_eq!(queue.active().unwrap().title, "c");
        assert!(queue.remove(&ids[2]).is_err() && queue.order(&[ids[2].clone()]).is_err());
        queue.remove(&ids[0]).unwrap();
        assert!(queue.remove(&ids[0]).is_err());
        queue.update(&ids[2], |it| it.state = EntryState::Ended);
        assert_eq!(queue.next().unwrap().title, "b");
        queue.pause(true);
        assert!(queue.next().is_none());
        queue.clear();
        assert_eq!(titles(&queue), ["c"]);
    }

    #[test]
    fn only_a_waiting_run_is_started() {
        let site = tempfile::tempdir().unwrap();
        let queue = RunQueue::of(&site.path().join("r.db"), false);
        let ids = add(&queue, &["a", "b"]);
        assert_eq!(queue.next().unwrap().title, "a");
        queue.remove(&ids[0]).unwrap();
        queue.pause(true);
        assert_eq!(queue.start_next(), None);
        queue.pause(false);
        assert_eq!(queue.start_next().unwrap().title, "b");
        assert_eq!(queue.active().unwrap().title, "b");
        assert!(queue.remove(&ids[1]).is_err());
        assert_eq!(queue.start_next(), None);
    }

    #[test]
    fn waiting_runs_survive_a_server_restart_on_hold() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = RunQueue::of(&store, false);
        let ids = add(&queue, &["a", "b", "c"]);
        queue.update(&ids[0], |it| it.state = EntryState::Running);
        // Another server refuses to use the queue until this one has ended.
        let other = RunQueue::of(&store, false);
        assert!(titles(&other).is_empty() && other.document().starts_none.is_some());
        let refused = other.add("x".to_owned(), RunRequest::default(), None);
        assert!(
            refused
                .unwrap_err()
                .error()
                .contains("another `pgmeter serve`")
        );
        let link = site.path().join("link.db");
        std::fs::write(&store, "").unwrap();
        std::os::unix::fs::symlink(&store, &link).unwrap();
        assert!(!RunQueue::of(&link, false).take_over());
        drop(queue);
        assert!(other.take_over() && titles(&other) == ["b", "c"]);
        drop(other);
        let queue = RunQueue::of(&store, false);
        assert_eq!(titles(&queue), ["b", "c"]);
        assert!(queue.next().is_none() && queue.document().is_paused);
        queue.pause(false);
        assert_eq!(queue.next().unwrap().title, "b");
        assert!(!ids.contains(&add(&queue, &["d"])[0]));
    }

    #[test]
    fn a_workload_file_is_kept_as_it_was_when_queued() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = RunQueue::of(&store, false);
        let given = |length: usize| ChildFile {
            name: "a.toml".to_owned(),
            text: "x".repeat(length),
        };
        let add = |length| queue.add("a".to_owned(), RunRequest::default(), Some(given(length)));
        let id = add(3).unwrap().id;
        assert!(add(WAITING_BYTES_MAX).is_err());
        drop(queue);
        let queue = RunQueue::of(&store, false);
        assert_eq!(queue.text(&id), Some(given(3)));
        queue.remove(&id).unwrap();
        assert_eq!(queue.text(&id), None);
        assert!(!RunQueue::of(&store, true).take_over());
    }

    #[test]
    fn a_running_run_survives_a_server_restart_until_its_process_ends() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = RunQueue::of(&store, false);
        let ids = add(&queue, &["a", "b"]);
        queue.update(&ids[0], |it| it.state = EntryState::Starting);
        queue.begun(&ids[0], std::process::id());
        drop(queue);
        let queue = RunQueue::of(&store, false);
        assert_eq!(titles(&queue), ["a", "b"]);
        let (entry, owner) = queue.owned().unwrap();
        assert_eq!(entry.pid, Some(std::process::id()));
        assert!(owner.is_this_process());
        queue.update(&ids[0], |it| it.state = EntryState::Ended);
        assert!(queue.owned().is_none());
        drop(queue);
        assert_eq!(titles(&RunQueue::of(&store, false)), ["b"]);
    }
}
