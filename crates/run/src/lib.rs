//! Cells, workers and the measurement loop.
