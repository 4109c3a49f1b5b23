//! Targets: probing, safety, the work directory, preparation and cleaning.
