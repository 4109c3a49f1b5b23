//! Runs that were asked for: those that wait, in their order, the one that goes on, and the last
//! ones that are over. What waits or goes on is kept in a file beside the store, so that it is
//! there after the server was killed; what waits is then held until somebody lets it go on.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use results::{Owner, Timestamp};
use rustix::fs::{FlockOperation, OFlags, flock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use units::JsonDocument;

use crate::answer::Refusal;
use crate::choice::WorkloadRequest;
use crate::lab::LabRequest;

/// No more runs may wait.
const WAITING_MAX: usize = 1000;
/// So many that are over are remembered.
const ENDED_MAX: usize = 50;
/// A longer file is none of ours.
const FILE_BYTES_MAX: u64 = 64 << 20;

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
    /// Whether no run that waits is started: so it is where an earlier server left some.
    pub is_paused: bool,
    /// Those that are over first, then the one that goes on, then those that wait, in their order.
    pub entries: Vec<QueueEntry>,
}

impl JsonDocument for QueueDocument {
    const FORMAT: &'static str = "pgmeter-serve-queue/1";
}

/// The runs that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    held: Mutex<Held>,
    /// Whoever starts runs has something to do.
    pub wake: Notify,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    is_paused: bool,
    entries: Vec<QueueEntry>,
    /// The process of the run that goes on, with the name of its entry.
    owner: Option<(String, Owner)>,
    /// Locked; none where another server has it.
    file: Option<File>,
}

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    waiting: Vec<QueueEntry>,
    #[serde(default)]
    begun: Option<BegunEntry>,
}

/// A run that goes on, and its process.
#[derive(Debug, Serialize, Deserialize)]
struct BegunEntry {
    entry: QueueEntry,
    owner: Owner,
}

impl Queue {
    /// The queue of that store, with what waited there.
    pub fn of(store: &Path) -> Self {
        let mut held = Held::default();
        if let Some(mut file) = lock(store) {
            let kept = read(&mut file).unwrap_or_default();
            held.is_paused = !kept.waiting.is_empty();
            held.entries = kept.waiting;
            if let Some(BegunEntry { entry, owner }) = kept.begun {
                held.owner = Some((entry.id.clone(), owner));
                held.entries.insert(0, entry);
            }
            let numbers = held
                .entries
                .iter()
                .filter_map(|it| it.id.parse::<u64>().ok());
            held.next = numbers.max().unwrap_or(0);
            held.file = Some(file);
        }
        Self {
            held: Mutex::new(held),
            wake: Notify::new(),
        }
    }

    /// What there is.
    pub fn document(&self) -> QueueDocument {
        let held = self.lock();
        QueueDocument {
            is_paused: held.is_paused,
            entries: held.entries.clone(),
        }
    }

    /// One of them.
    pub fn entry(&self, id: &str) -> Option<QueueEntry> {
        let held = self.lock();
        held.entries.iter().find(|it| it.id == id).cloned()
    }

    /// Adds a run behind those that wait.
    pub fn add(&self, title: String, request: RunRequest) -> Result<QueueEntry, Refusal> {
        self.put(title, request, None)
    }

    /// Adds a lab behind those that wait.
    pub fn add_lab(&self, lab: LabRequest) -> Result<QueueEntry, Refusal> {
        self.put(lab.title(), RunRequest::default(), Some(lab))
    }

    fn put(
        &self,
        title: String,
        request: RunRequest,
        lab: Option<LabRequest>,
    ) -> Result<QueueEntry, Refusal> {
        let mut held = self.lock();
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

    /// Writes what waits or goes on; where that fails, it is lost with the server.
    fn keep(&mut self) {
        let kept = Kept {
            waiting: self.waiting().cloned().collect(),
            begun: self.begun(),
        };
        let Some(file) = &mut self.file else { return };
        let Ok(text) = units::json_line(&kept) else {
            return;
        };
        let write = |file: &mut File| -> std::io::Result<()> {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(text.as_bytes())?;
            file.set_len(text.len() as u64)
        };
        let _ = write(file);
    }
}

fn missing(id: &str) -> Refusal {
    let shown: String = id.chars().take(40).collect();
    Refusal::missing(format!("no run `{shown}` waits in the queue"))
}

/// The file beside the store, for this process alone.
fn lock(store: &Path) -> Option<File> {
    let mut path = store.to_owned().into_os_string();
    path.push("-queue");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    let file = options.open(path).ok()?;
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
    (is_file && locked.is_ok()).then_some(file)
}

fn read(file: &mut File) -> Option<Kept> {
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    units::parse_json(&text).ok()
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
            let entry = queue.add((*title).to_owned(), RunRequest::default());
            entry.unwrap().id
        });
        added.collect()
    }

    #[test]
    fn runs_wait_in_the_order_that_they_are_given() {
        let site = tempfile::tempdir().unwrap();
        let queue = Queue::of(&site.path().join("r.db"));
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
        let queue = Queue::of(&store);
        let ids = add(&queue, &["a", "b", "c"]);
        queue.update(&ids[0], |it| it.state = EntryState::Running);
        // Another server beside this one leaves it alone.
        assert!(titles(&Queue::of(&store)).is_empty());
        drop(queue);
        let queue = Queue::of(&store);
        assert_eq!(titles(&queue), ["b", "c"]);
        assert!(queue.next().is_none() && queue.document().is_paused);
        queue.pause(false);
        assert_eq!(queue.next().unwrap().title, "b");
        assert!(!ids.contains(&add(&queue, &["d"])[0]));
    }

    #[test]
    fn what_goes_on_outlives_the_server_with_its_process_until_it_has_ended() {
        let site = tempfile::tempdir().unwrap();
        let store = site.path().join("r.db");
        let queue = Queue::of(&store);
        let ids = add(&queue, &["a", "b"]);
        queue.update(&ids[0], |it| it.state = EntryState::Starting);
        queue.begun(&ids[0], std::process::id());
        drop(queue);
        let queue = Queue::of(&store);
        assert_eq!(titles(&queue), ["a", "b"]);
        let (entry, owner) = queue.owned().unwrap();
        assert_eq!(entry.pid, Some(std::process::id()));
        assert!(owner.is_this_process());
        queue.update(&ids[0], |it| it.state = EntryState::Ended);
        assert!(queue.owned().is_none());
        drop(queue);
        assert_eq!(titles(&Queue::of(&store)), ["b"]);
    }
}
