//! Conditions that end a cell early.

use std::sync::atomic::{AtomicBool, Ordering};

/// `true` if a cell is to end early: with the whole run, or to continue with the next cell.
pub(crate) fn is_cut(stop: &AtomicBool, skip: Option<&AtomicBool>) -> bool {
    stop.load(Ordering::Relaxed) || skip.is_some_and(|skip| skip.load(Ordering::Relaxed))
}
