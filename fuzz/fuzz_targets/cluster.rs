//! Messages from worker processes to the leader. Whatever bytes they send, the leader neither
//! panics nor hangs, and its record can be written.

#![no_main]

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

use cluster::{Leader, LeaderLinks, LeaderOptions, LinkEvent, MessageSender, OnLost};
use libfuzzer_sys::fuzz_target;
use plan::Cell;
use plan::facts::SystemFacts;
use run::{Cluster, ClusterWatch};

const RANKS: u32 = 2;

fuzz_target!(|bytes: &[u8]| {
    let (to_leader, from) = sync_channel(1 << 16);
    let to = (0..RANKS)
        .map(|_| -> MessageSender { Box::new(drop) })
        .collect();
    let say = |rank: u32, message: Vec<u8>| {
        let _ = to_leader.try_send((rank, LinkEvent::Message(message)));
    };
    for rank in 0..RANKS {
        say(rank, hello());
    }
    // The first byte of a line selects the rank, and whether the line is raw bytes or a text.
    for line in bytes.split(|byte| *byte == b'\n').take(1 << 10) {
        let Some((kind, rest)) = line.split_first() else {
            continue;
        };
        let rank = u32::from(kind & 1);
        match kind & 2 {
            0 => say(rank, [&[1], rest].concat()),
            _ => say(rank, rest.to_vec()),
        }
    }
    for rank in 0..RANKS {
        let _ = to_leader.try_send((rank, LinkEvent::Closed("ended".to_owned())));
    }
    lead(LeaderLinks {
        senders: to,
        events: from,
    });
});

fn hello() -> Vec<u8> {
    let version = serde_json::json!({
        "hello": {
            "protocol": [2, 0],
            "version": env!("CARGO_PKG_VERSION"),
            "host": "node",
            "environment": {},
        },
    });
    [&[1], version.to_string().as_bytes()].concat()
}

fn lead(links: LeaderLinks) {
    let stop = AtomicBool::new(false);
    let options = LeaderOptions {
        on_lost: OnLost::Continue,
        ..LeaderOptions::default()
    };
    let Ok(mut leader) = Leader::greet(links, options, &stop) else {
        return;
    };
    let mut watch = ClusterWatch {
        listener: &mut |event| assert!(serde_json::to_string(event).is_ok()),
        warnings: Vec::new(),
        preconditions: Vec::new(),
        stop: &stop,
        skip: &AtomicBool::new(false),
    };
    if let Ok(records) = leader.measure(&cell(), &mut watch) {
        assert!(serde_json::to_string(&records).is_ok());
    }
}

fn cell() -> Cell {
    let text = "run_time = 1\nramp_time = 0\nengine = \"null\"\nsize = \"1m\"\n\
        [[access_spec]]\nline = [{ size = \"4k\" }]\n";
    let workload = description::read_toml("made.toml", text).expect("a workload");
    let mut overrides = description::Overrides::new();
    overrides.set_ranks(RANKS);
    let planned = planning::plan(&[workload], &overrides, &SystemFacts::default());
    planned.expect("a plan").plan.cells.swap_remove(0)
}
