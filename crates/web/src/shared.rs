//! What all requests share.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use store::Store;
use tokio::sync::Semaphore;

use crate::answer::Refusal;
use crate::blocking::blocking;
use crate::host::HostNames;
use crate::live::Hub;
use crate::options::ServeOptions;
use crate::queue::Queue;
use crate::roots::Roots;
use crate::token::Token;

/// No more stores are kept open.
const STORES_MAX: usize = 4;
/// So many processes are asked at once; others wait.
const CHILDREN_MAX: usize = 2;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub options: ServeOptions,
    pub port: u16,
    pub token: Token,
    pub hosts: HostNames,
    pub roots: Roots,
    pub queue: Queue,
    pub hub: Arc<Hub>,
    pub begin: Instant,
    /// Processes that may be asked.
    pub children: Semaphore,
    stores: Mutex<Vec<(Identity, Store)>>,
    /// Ids of runs that were told to stop.
    stopped: Mutex<HashSet<String>>,
}

/// The device and inode of a file.
type Identity = (u64, u64);

/// As handlers have it.
pub(crate) type State = axum::extract::State<Arc<Shared>>;

impl Shared {
    pub fn new(
        options: ServeOptions,
        (port, token): (u16, Token),
        hosts: HostNames,
        roots: Roots,
    ) -> Self {
        Self {
            port,
            token,
            hosts,
            roots,
            queue: Queue::of(&options.store, options.beside_run.is_some()),
            hub: Arc::default(),
            begin: Instant::now(),
            children: Semaphore::new(CHILDREN_MAX),
            stores: Mutex::default(),
            stopped: Mutex::default(),
            options,
        }
    }

    /// Does something with the store, on a thread that may wait.
    pub async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Store) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let shared = Arc::clone(self);
        blocking(move || {
            let (identity, mut store) = shared.take_store()?;
            let done = work(&mut store);
            let mut stores = shared.stores.lock().unwrap_or_else(PoisonError::into_inner);
            if stores.len() < STORES_MAX {
                stores.push((identity, store));
            }
            done
        })
        .await
    }

    /// Takes note that a run is told to stop; whether it was not told before.
    pub fn note_stopped(&self, id: &str) -> bool {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        stopped.insert(id.to_owned())
    }

    /// An open store, as long as it is the one that is there.
    fn take_store(&self) -> Result<(Identity, Store), Refusal> {
        let path = &self.options.store;
        let now = identity(path);
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|(identity, _)| Some(*identity) == now);
        if let Some(found) = stores.pop() {
            return Ok(found);
        }
        drop(stores);
        let store = Store::open(path)?;
        Ok((identity(path).unwrap_or_default(), store))
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}
