//! Histograms, intervals and estimates; every type has one merge.
