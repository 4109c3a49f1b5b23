//! Reports of a made-up run.

#[cfg(test)]
mod iometer;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod people;

#[path = "../../../results/tests/results/sample.rs"]
mod sample;
