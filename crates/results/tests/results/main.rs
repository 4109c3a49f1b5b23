//! Records and doubts, tested from outside on a made-up run.

mod doubts;
mod record;
mod sample;
