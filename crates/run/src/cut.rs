//! What ends a cell before it is over.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a cell is to end before it is over: with the run, or to go on with the next cell.
pub(crate) fn is_cut(stop: &AtomicBool, skip: Option<&AtomicBool>) -> bool {
    stop.load(Ordering::Relaxed) || skip.is_some_and(|skip| skip.load(Ordering::Relaxed))
}
