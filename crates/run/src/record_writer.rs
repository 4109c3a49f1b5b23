//! Writes the running run into the results store.

use std::path::Path;

use plan::EngineKind;
use results::{RunEvent, RunRecord, Warning, WarningCode, store_io_warning, target_indexes};
use store::{RunWriter, Store, StoreError};

use crate::session::Finished;

/// Stores a run while it is in progress. If the store fails, the run continues with a warning.
#[derive(Debug)]
pub(crate) struct RecordWriter {
    store: Option<Store>,
    writer: Option<RunWriter>,
    failure: Option<StoreError>,
}

impl RecordWriter {
    /// `opened` is `None` if the run is not to be stored.
    pub fn new(opened: Option<Result<Store, StoreError>>) -> Self {
        let (store, failure) = match opened.transpose() {
            Ok(store) => (store, None),
            Err(error) => (None, Some(error)),
        };
        Self {
            store,
            writer: None,
            failure,
        }
    }

    /// Warnings before the start of the run.
    pub fn warnings(&self) -> Vec<Warning> {
        self.failure.iter().map(not_stored).collect()
    }

    /// Warning if the writes to the store may have disturbed a target.
    fn store_disturbance_warning(&mut self, record: &RunRecord) -> Option<Warning> {
        let store = self.store.as_ref()?;
        let written_bytes = self.writer.as_mut()?.settle()?;
        let plan = &record.plan;
        let cells = plan.cells.iter();
        let used = cells
            .filter(|cell| cell.engine != EngineKind::Null)
            .flat_map(target_indexes);
        let target = used
            .filter_map(|index| plan.targets.get(index as usize))
            .find(|target| shares_device(store, &target.path))?;
        store_io_warning(&record.cells, written_bytes, (store.path(), &target.path))
    }

    /// Stores an event of the run.
    pub fn on_event(&mut self, event: &RunEvent) {
        if let (RunEvent::Started { record }, Some(store)) = (event, &self.store) {
            match store.begin(record) {
                Ok(writer) => self.writer = Some(writer),
                Err(error) => self.failure = Some(error),
            }
        }
        if let Some(writer) = &self.writer {
            writer.event(event);
        }
    }

    /// Completes the run in the store. If that fails, adds a warning to the record.
    pub fn finish(mut self, mut finished: Finished) -> Finished {
        let record = &mut finished.record;
        let on_target = self.store_disturbance_warning(record);
        record.warnings.extend(on_target);
        let stored = self.writer.map_or(Ok(()), |writer| writer.finish(record));
        if let Some(error) = stored.err().or(self.failure) {
            // `warnings` has already reported a store that could not be opened.
            if self.store.is_some() {
                record.warnings.push(not_stored(&error));
            }
            // Nobody misses a run without results in the store.
            finished.not_stored = finished.has_begun().then_some(error);
        }
        finished
    }
}

/// `true` if both are on the same device, below any layers in between.
fn shares_device(store: &Store, target: &Path) -> bool {
    if store.shares_storage_with(target) {
        return true;
    }
    let below = storage::devices_under(store.path());
    let mut devices = storage::devices_under(target).into_iter();
    devices.any(|device| below.iter().any(|other| other.number == device.number))
}

fn not_stored(error: &StoreError) -> Warning {
    let message = format!("the run is not in the results store: {error}");
    Warning::of_run(WarningCode::NotStored, message)
}
