//! Display of a simulated run.

#[cfg(test)]
mod line;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod state;

#[path = "../../../results/tests/results/sample.rs"]
mod sample;

mod events;
#[cfg(test)]
mod situations;
