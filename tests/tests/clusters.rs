//! Runs that several processes share, led by one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "clusters/counts.rs"]
mod counts;
#[path = "clusters/ends.rs"]
mod ends;
#[path = "clusters/lost.rs"]
mod lost;
#[path = "clusters/network.rs"]
mod network;
#[path = "clusters/site.rs"]
mod site;
