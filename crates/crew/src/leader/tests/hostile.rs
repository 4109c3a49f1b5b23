//! Processes that say what real ones do not.
