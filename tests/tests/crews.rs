//! Runs that several processes share, led by one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "crews/counts.rs"]
mod counts;
#[path = "crews/ends.rs"]
mod ends;
#[path = "crews/lost.rs"]
mod lost;
#[path = "crews/network.rs"]
mod network;
#[path = "crews/site.rs"]
mod site;
