//! State shared by all requests.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use store::Store;
use tokio::sync::Semaphore;

use crate::answer::RefusedAnswer;
use crate::blocking::blocking;
use crate::board::BoardSites;
use crate::host::HostNames;
use crate::live::RunFollowers;
use crate::metrics_cache::MetricsCache;
use crate::options::ServeOptions;
use crate::queue::RunQueue;
use crate::roots::Roots;
use crate::token::PageToken;

/// Maximum number of idle open stores.
const STORES_MAX: usize = 4;
/// Maximum number of simultaneous commands; others wait.
// Each may use 2 GiB of memory.
const CHILDREN_MAX: usize = 2;

/// State shared by all requests.
#[derive(Debug)]
pub(crate) struct Shared {
    pub options: ServeOptions,
    pub port: u16,
    pub token: PageToken,
    pub hosts: HostNames,
    pub roots: Roots,
    pub queue: RunQueue,
    pub followers: Arc<RunFollowers>,
    pub begin: Instant,
    /// Permits for commands.
    pub children: Semaphore,
    stores: Mutex<Vec<(FileIdentity, Store)>>,
    pub stopped: StoppedRuns,
    pub metrics: MetricsCache,
    pub sites: BoardSites,
}

/// Ids of the runs for which a stop was requested.
#[derive(Debug, Default)]
pub(crate) struct StoppedRuns(Mutex<HashSet<String>>);

impl StoppedRuns {
    /// Requests a run to stop, unless this was done before. A failed attempt does not count.
    pub fn once(
        &self,
        id: &str,
        ask: impl FnOnce() -> Result<(), RefusedAnswer>,
    ) -> Result<(), RefusedAnswer> {
        let mut stopped = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !stopped.contains(id) {
            ask()?;
            stopped.insert(id.to_owned());
        }
        Ok(())
    }
}

/// Device and inode of a file.
type FileIdentity = (u64, u64);

/// The shared state, as handlers receive it.
pub(crate) type State = axum::extract::State<Arc<Shared>>;

impl Shared {
    pub fn new(
        options: ServeOptions,
        (port, token): (u16, PageToken),
        hosts: HostNames,
        roots: Roots,
    ) -> Self {
        Self {
            port,
            token,
            hosts,
            roots,
            queue: RunQueue::of(&options.store, options.beside_run.is_some()),
            followers: Arc::default(),
            begin: Instant::now(),
            children: Semaphore::new(CHILDREN_MAX),
            stores: Mutex::default(),
            stopped: StoppedRuns::default(),
            metrics: MetricsCache::default(),
            sites: BoardSites::default(),
            options,
        }
    }

    /// Runs `work` with the store, on a thread that may block.
    pub async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Store) -> Result<T, RefusedAnswer> + Send + 'static,
    ) -> Result<T, RefusedAnswer> {
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

    /// An open store. Stores are reopened if the file at the path was replaced.
    fn take_store(&self) -> Result<(FileIdentity, Store), RefusedAnswer> {
        let path = &self.options.store;
        let now = identity(path);
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|(identity, _)| Some(*identity) == now);
        if let Some(found) = stores.pop() {
            return Ok(found);
        }
        // Opening may take time; meanwhile, other requests must be able to return their stores.
        drop(stores);
        let store = Store::open(path)?;
        // After opening, because that may have created the file.
        Ok((identity(path).unwrap_or_default(), store))
    }
}

fn identity(path: &Path) -> Option<FileIdentity> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_a_run_is_retried_only_if_the_first_attempt_failed() {
        let stopped = StoppedRuns::default();
        let mut count = 0;
        let failed = stopped.once("a", || Err(RefusedAnswer::conflict("no")));
        assert!(failed.is_err());
        for _ in 0..2 {
            let ask = || {
                count += 1;
                Ok(())
            };
            stopped.once("a", ask).unwrap();
        }
        assert_eq!(count, 1);
    }
}
