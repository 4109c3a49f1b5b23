//! Runs that were asked for: those that wait, in their order, the one that goes on, and the last
//! ones that are over. What waits or goes on is kept in a file beside the store, so that it is
//! there after the server was killed; what waits is then held until somebody lets it go on.

mod file;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use results::{Owner, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use units::JsonDocument;

use crate::answer::Refusal;
use crate::choice::WorkloadRequest;
use crate::lab::LabRequest;
use crate::scratch::Given;
use file::{BegunEntry, KeptQueue, NotLocked, lock, read, write};

/// No more runs may wait.
const WAITING_MAX: usize = 1000;
/// So many that are over are remembered.
const ENDED_MAX: usize = 50;
/// Bytes of all requests that wait, with their files.
const WAITING_BYTES_MAX: usize = 8 << 20;

/// A run to start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunRequest {
    /// What to measure.
    #[serde(flatten)]
    pub what: WorkloadRequest,
    /// The run's note.
    pub note: String,
    /// The run's tags.
    pub tags: Vec<String>,
}

/// What becomes of a run that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryState {
    /// Others come first.
    Waiting,
    /// Its process has begun, and nothing is measured yet.
    Starting,
    /// It is in the store.
    Running,
    /// Its process has ended.
    Ended,
}

/// A run that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueEntry {
    /// Its name in the queue.
    pub id: String,
    /// What the workload is called.
    pub title: String,
    /// What was asked for.
    pub request: RunRequest,
    /// The lab or published experiment that was asked for; `request` is then empty.
    #[serde(default)]
    pub lab: Option<LabRequest>,
    /// When.
    pub added_at: Timestamp,
    /// What becomes of it.
    pub state: EntryState,
    /// The process that makes it, once it was started.
    pub pid: Option<u32>,
    /// The run's id, once it is in the store; of a lab that of its newest run.
    pub run_id: Option<String>,
    /// Ids of all runs of a lab that is over, the oldest first.
    #[serde(default)]
    pub run_ids: Vec<String>,
    /// The lab's id, once it is in the store.
    #[serde(default)]
    pub lab_id: Option<String>,
    /// A run that goes on and is waited for, where that is none of the queue.
    pub waits_for: Option<String>,
    /// The exit code of `pgmeter run`, once it has ended by itself.
    pub exit_code: Option<i32>,
    /// What `pgmeter run` said on standard error, once it has ended.
    pub remarks: String,
}

impl JsonDocument for QueueEntry {
    const FORMAT: &'static str = "pgmeter-serve-entry/1";
}

/// The runs that were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QueueDocument {
    /// Why this server starts no runs, such as another server that has the same store; none where
    /// it does.
    pub starts_none: Option<String>,
    /// Whether no run that waits is started: so it is where an earlier server left some.
    pub is_paused: bool,
    /// Those that are over first, then the one that goes on, then those that wait, in their order.
    pub entries: Vec<QueueEntry>,
}

impl JsonDocument for QueueDocument {
    const FORMAT: &'static str = "pgmeter-serve-queue/1";
}

/// The runs that were asked for.
#[derive(Debug)]
pub(crate) struct Queue {
    held: Mutex<Held>,
    /// Whoever starts runs has something to do.
    pub wake: Notify,
}

#[derive(Debug)]
struct Held {
    next: u64,
    is_paused: bool,
    entries: Vec<QueueEntry>,
    /// Files as they were when they were queued, by names of entries.
    texts: BTreeMap<String, Given>,
    /// The process of the run that goes on, with the name of its entry.
    owner: Option<(String, Owner)>,
    store: PathBuf,
    /// Locked, or why not.
    file: Result<File, NotLocked>,
}

impl Queue {
    /// The queue of that store, with what waited there; the page of one run has none.
    pub fn of(store: &Path, is_beside_run: bool) -> Self {
        let reason = match is_beside_run {
            true => NotLocked::BesideRun,
            false => NotLocked::OfAnother,
        };
        let queue = Self {
            held: Mutex::new(Held {
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

    /// Takes the queue of a server that has ended, with what waits there; `true` if this server
    /// starts the runs of the store.
    pub fn take_over(&self) -> bool {
        let mut held = self.lock();
        if matches!(held.file, Ok(_) | Err(NotLocked::BesideRun)) {
            return held.file.is_ok();
        }
        match lock(&held.store) {
            Ok(file) => held.begin(file),
            Err(reason) => held.file = Err(reason),
        }
        held.file.is_ok()
    }

    /// What there is.
    pub fn document(&self) -> QueueDocument {
        let held = self.lock();
        let reason = held.file.as_ref().err();
        QueueDocument {
            starts_none: reason.map(|reason| reason.refusal().error().to_owned()),
            is_paused: held.is_paused,
            entries: held.entries.clone(),
        }
    }

    /// One of them.
    pub fn entry(&self, id: &str) -> Option<QueueEntry> {
        let held = self.lock();
        held.entries.iter().find(|it| it.id == id).cloned()
    }

    /// Adds a run after those that wait. `text` is the file that was checked, where the request
    /// does not have it.
    pub fn add(
        &self,
        title: String,
        request: RunRequest,
        text: Option<Given>,
    ) -> Result<QueueEntry, Refusal> {
        self.put(title, (request, text), None)
    }

    /// The file that was checked when the run was queued.
    pub fn text(&self, id: &str) -> Option<Given> {
        self.lock().texts.get(id).cloned()
    }

    /// Adds a lab behind those that wait.
    pub fn add_lab(&self, lab: LabRequest) -> Result<QueueEntry, Refusal> {
        self.put(lab.title(), (RunRequest::default(), None), Some(lab))
    }

    fn put(
        &self,
        title: String,
        (request, text): (RunRequest, Option<Given>),
        lab: Option<LabRequest>,
    ) -> Result<QueueEntry, Refusal> {
        self.take_over();
        let mut held = self.lock();
        if let Err(reason) = &held.file {
            return Err(reason.refusal());
        }
        let requests = held.waiting().map(|it| &it.request).chain([&request]);
        let texts = held.texts.values().chain(&text).map(|it| it.text.len());
        if requests.map(size).chain(texts).sum::<usize>() > WAITING_BYTES_MAX {
            let most = WAITING_BYTES_MAX >> 20;
            let error = format!("more than {most} MiB of requests would wait");
            return Err(Refusal::conflict(error).help("wait until some have run"));
        }
        if held.waiting().count() >= WAITING_MAX {
            return Err(Refusal::conflict(format!(
                "{WAITING_MAX} runs wait already"
            )));
        }
        held.next += 1;
        let entry = QueueEntry {
            id: held.next.to_string(),
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
            held.texts.insert(entry.id.clone(), text);
        }
        held.entries.push(entry.clone());
        self.changed(&mut held);
        Ok(entry)
    }

    /// Takes out a run that waits or is over.
    pub fn remove(&self, id: &str) -> Result<(), Refusal> {
        let mut held = self.lock();
        let found = held.entries.iter().position(|it| it.id == id);
        let found = found.ok_or_else(|| missing(id))?;
        if matches!(
            held.entries[found].state,
            EntryState::Starting | EntryState::Running
        ) {
            let error = "this run goes on".to_owned();
            return Err(Refusal::conflict(error).help("stop it, or abort it"));
        }
        held.entries.remove(found);
        self.changed(&mut held);
        Ok(())
    }

    /// Takes out all that wait.
    pub fn clear(&self) {
        let mut held = self.lock();
        held.entries.retain(|it| it.state != EntryState::Waiting);
        held.is_paused = false;
        self.changed(&mut held);
    }

    /// Puts those that wait into that order; the others follow as they were.
    pub fn order(&self, ids: &[String]) -> Result<(), Refusal> {
        let mut held = self.lock();
        let is_waiting = |id: &&String| held.waiting().any(|it| it.id == **id);
        if let Some(id) = ids.iter().find(|id| !is_waiting(id)) {
            return Err(missing(id));
        }
        let place = |entry: &QueueEntry| match entry.state {
            EntryState::Waiting => {
                let place = ids.iter().position(|id| *id == entry.id);
                1 + place.unwrap_or(ids.len())
            }
            _ => 0,
        };
        held.entries.sort_by_key(place);
        self.changed(&mut held);
        Ok(())
    }

    /// Holds those that wait, or lets them go on.
    pub fn pause(&self, is_paused: bool) {
        let mut held = self.lock();
        held.is_paused = is_paused;
        self.changed(&mut held);
    }

    /// The run that goes on.
    pub fn active(&self) -> Option<QueueEntry> {
        self.lock().active().cloned()
    }

    /// Notes the process that makes a run.
    pub fn begun(&self, id: &str, pid: u32) {
        let mut held = self.lock();
        held.owner = Owner::of(pid).map(|owner| (id.to_owned(), owner));
        if let Some(entry) = held.entries.iter_mut().find(|it| it.id == id) {
            entry.pid = Some(pid);
        }
        self.changed(&mut held);
    }

    /// The run that goes on, with its process.
    pub fn owned(&self) -> Option<(QueueEntry, Owner)> {
        let held = self.lock();
        held.begun().map(|it| (it.entry, it.owner))
    }

    /// The run that is to be started next, unless all are held.
    pub fn next(&self) -> Option<QueueEntry> {
        let held = self.lock();
        let next = held.waiting().next().cloned();
        next.filter(|_| !held.is_paused)
    }

    /// Changes an entry, which may have been taken out.
    pub fn update(&self, id: &str, change: impl FnOnce(&mut QueueEntry)) {
        let mut held = self.lock();
        if let Some(entry) = held.entries.iter_mut().find(|it| it.id == id) {
            change(entry);
        }
        let ended = held
            .entries
            .iter()
            .filter(|it| it.state == EntryState::Ended);
        if ended.count() > ENDED_MAX {
            let first = held
                .entries
                .iter()
                .position(|it| it.state == EntryState::Ended);
            first.map(|first| held.entries.remove(first));
        }
        self.changed(&mut held);
    }

    /// Says of the run that comes next which one it waits for.
    pub fn waits(&self, id: &str, run: &str) {
        let mut held = self.lock();
        if let Some(entry) = held.entries.iter_mut().find(|it| it.id == id) {
            entry.waits_for = Some(run.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, held: &mut Held) {
        held.keep();
        self.wake.notify_one();
    }
}

impl Held {
    fn waiting(&self) -> impl Iterator<Item = &QueueEntry> {
        let entries = self.entries.iter();
        entries.filter(|it| it.state == EntryState::Waiting)
    }

    fn active(&self) -> Option<&QueueEntry> {
        let is_active =
            |it: &&QueueEntry| matches!(it.state, EntryState::Starting | EntryState::Running);
        self.entries.iter().find(is_active)
    }

    /// The run that goes on, once its process is known.
    fn begun(&self) -> Option<BegunEntry> {
        let (entry, (id, owner)) = self.active().zip(self.owner.as_ref())?;
        (entry.id == *id).then(|| BegunEntry {
            entry: entry.clone(),
            owner: owner.clone(),
        })
    }

    /// Takes over what a file keeps.
    fn begin(&mut self, mut file: File) {
        let kept = read(&mut file);
        self.is_paused = !kept.waiting.is_empty();
        self.entries = kept.waiting;
        self.texts = kept.texts;
        if let Some(BegunEntry { entry, owner }) = kept.begun {
            self.owner = Some((entry.id.clone(), owner));
            self.entries.insert(0, entry);
        }
        let ids = self.entries.iter();
        let numbers = ids.filter_map(|it| it.id.parse::<u64>().ok());
        self.next = numbers.max().unwrap_or(0);
        self.file = Ok(file);
    }

    /// Writes what waits or goes on; where that fails, it is lost with the server.
    fn keep(&mut self) {
        let waiting: Vec<QueueEntry> = self.waiting().cloned().collect();
        let needed = |id: &String| {
            let mut entries = self.entries.iter();
            entries.any(|it| it.id == *id && it.state != EntryState::Ended)
        };
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts.into_iter().filter(|(id, _)| needed(id)).collect();
        let kept = KeptQueue {
            waiting,
            begun: self.begun(),
            texts: self.texts.clone(),
        };
        if let Ok(file) = &mut self.file {
            let _ = write(file, &kept);
        }
    }
}

/// Bytes that a request takes in the file.
fn size(request: &RunRequest) -> usize {
    units::json_line(request).map_or(0, |text| text.len())
}

fn missing(id: &str) -> Refusal {
    let shown: String = id.chars().take(40).collect();
    Refusal::missing(format!("no run `{shown}` waits in the queue"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(queue: &Queue) -> Vec<String> {
        let entries = queue.document().entries.into_iter();
        entries.map(|it| it.title).collect()
    }

    fn add(queue: &Queue, titles: &[&str]) -> Vec<String> {
        let added = titles.iter().map(|title| {
            let entry = queue.add((*title).to_owned(), RunRequest::default(), None);
            entry.unwrap().id
        });
        added.collect()
    }

    #[test]
    fn runs_wait_in_the_order_that_they_are_given() {
        let site = tempfile::tempdir().unwrap();
        let queue = Queue::of(&site.path().join("r.db"), false);
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
    fn what_waits_outlives_the_server_and_is_held() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = Queue::of(&store, false);
        let ids = add(&queue, &["a", "b", "c"]);
        queue.update(&ids[0], |it| it.state = EntryState::Running);
        // Another server leaves it alone, and says so, until this one has ended.
        let other = Queue::of(&store, false);
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
        assert!(!Queue::of(&link, false).take_over());
        drop(queue);
        assert!(other.take_over() && titles(&other) == ["b", "c"]);
        drop(other);
        let queue = Queue::of(&store, false);
        assert_eq!(titles(&queue), ["b", "c"]);
        assert!(queue.next().is_none() && queue.document().is_paused);
        queue.pause(false);
        assert_eq!(queue.next().unwrap().title, "b");
        assert!(!ids.contains(&add(&queue, &["d"])[0]));
    }

    #[test]
    fn a_file_is_kept_as_it_was_when_it_was_queued() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = Queue::of(&store, false);
        let given = |length: usize| Given {
            name: "a.toml".to_owned(),
            text: "x".repeat(length),
        };
        let add = |length| queue.add("a".to_owned(), RunRequest::default(), Some(given(length)));
        let id = add(3).unwrap().id;
        assert!(add(WAITING_BYTES_MAX).is_err());
        drop(queue);
        let queue = Queue::of(&store, false);
        assert_eq!(queue.text(&id), Some(given(3)));
        queue.remove(&id).unwrap();
        assert_eq!(queue.text(&id), None);
        assert!(!Queue::of(&store, true).take_over());
    }

    #[test]
    fn what_goes_on_outlives_the_server_with_its_process_until_it_has_ended() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = Queue::of(&store, false);
        let ids = add(&queue, &["a", "b"]);
        queue.update(&ids[0], |it| it.state = EntryState::Starting);
        queue.begun(&ids[0], std::process::id());
        drop(queue);
        let queue = Queue::of(&store, false);
        assert_eq!(titles(&queue), ["a", "b"]);
        let (entry, owner) = queue.owned().unwrap();
        assert_eq!(entry.pid, Some(std::process::id()));
        assert!(owner.is_this_process());
        queue.update(&ids[0], |it| it.state = EntryState::Ended);
        assert!(queue.owned().is_none());
        drop(queue);
        assert_eq!(titles(&Queue::of(&store, false)), ["b"]);
    }
}
