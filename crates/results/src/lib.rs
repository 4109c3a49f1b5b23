//! Events, the record, warnings and the environment.
