//! Records and doubts, tested from outside on a made-up run.

mod advice;
mod cluster_doubts;
mod device_doubts;
mod doubts;
mod limits;
mod merged;
mod processors;
mod record;
mod sample;
mod search;
