use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};

use network::{Frame, FrameStatus, Sink, SinkOptions};

use super::*;
use crate::{Completion, Engine, UringOptions, Wait};

/// Lets a sink run for as long as `work` goes on.
fn with_sink(work: impl FnOnce(SocketAddr)) {
    let sink = Sink::listen(SinkOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        token: None,
        connections_max: 100,
    });
    let sink = sink.unwrap();
    let (address, stop) = (sink.address().unwrap(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| sink.run(&stop, &|_, _| {}).unwrap());
        work(address);
        stop.store(true, Ordering::Relaxed);
    });
}

fn peer(address: SocketAddr) -> Arc<Peer> {
    let peer = Peer::find(&address.ip().to_string(), address.port(), None);
    Arc::new(peer.unwrap())
}

fn request(operation: Operation, slot: u32, length_bytes: u32, offset_bytes: u64) -> Request {
    Request {
        operation,
        slot,
        length_bytes,
        offset_bytes,
        ..Request::EMPTY
    }
}

/// Both engines, with a connection a slot.
fn engines(address: SocketAddr, slot_count: usize, connects: bool) -> Vec<Box<dyn Engine>> {
    let peers = vec![peer(address); slot_count];
    let options = UringOptions::default();
    let (psync, uring) = (
        PsyncNetwork::new(peers.clone(), 1 << 20, connects).unwrap(),
        UringNetwork::new(peers, 1 << 20, options, connects).unwrap(),
    );
    vec![Box::new(psync), Box::new(uring)]
}

fn reap_all(engine: &mut dyn Engine, count: usize) -> Vec<Completion> {
    let mut done = Vec::with_capacity(8);
    let mut all = Vec::new();
    while all.len() < count {
        let wait = Wait::One { timeout_ns: 0 };
        engine.reap(wait, &mut done).unwrap();
        all.append(&mut done);
    }
    all.sort_by_key(|completion| completion.slot);
    all
}

#[test]
fn transactions_of_all_sizes_move_all_their_bytes_both_ways() {
    with_sink(|address| {
        for mut engine in engines(address, 3, true) {
            for length in [1, 4096, 1 << 20] {
                for operation in [Operation::Read, Operation::Write] {
                    let other = match operation {
                        Operation::Read => Operation::Write,
                        _ => Operation::Read,
                    };
                    for slot in 0..3 {
                        engine.push(request(operation, slot, length, 77));
                    }
                    let done = reap_all(&mut engine, 3);
                    assert!(done.iter().all(|it| it.result == length as i32), "{done:?}");
                    for slot in 0..3 {
                        engine.push(request(other, slot, 77, Request::REPLY));
                    }
                    let done = reap_all(&mut engine, 3);
                    assert!(done.iter().all(|it| it.result == 77), "{done:?}");
                }
            }
        }
    });
}

#[test]
fn no_bytes_move_without_an_open_connection() {
    with_sink(|address| {
        for mut engine in engines(address, 1, false) {
            let mut one = |operation, length| {
                engine.push(request(operation, 0, length, 0));
                reap_all(&mut engine, 1)[0].result
            };
            assert_eq!(one(Operation::Read, 5), -libc::ENOTCONN);
            assert_eq!(one(Operation::Open, 0), 0);
            assert_eq!(one(Operation::Open, 0), -libc::EBUSY);
            assert_eq!(one(Operation::Read, 5), 5);
            assert_eq!(one(Operation::Close, 0), 0);
            assert_eq!(one(Operation::Write, 5), -libc::ENOTCONN);
            assert_eq!(one(Operation::Open, 0), 0);
        }
    });
}

#[test]
fn a_peer_that_closes_early_is_an_error_and_ends_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = move || {
        for stream in listener.incoming().take(3) {
            let mut stream = stream.unwrap();
            let mut hello = [0; 64];
            stream.read_exact(&mut hello).unwrap();
            let welcome = Frame::new(FrameStatus::Welcome, [0; 32]);
            stream.write_all(&welcome.to_bytes()).unwrap();
            // The first was a trial. Of the 100 bytes that are wanted, 10 come.
            let mut header = [0; 16];
            if stream.read_exact(&mut header).is_ok() {
                stream.write_all(&[0; 10]).unwrap();
            }
        }
    };
    let server = std::thread::spawn(serve);
    let peers = vec![peer(address)];
    for is_uring in [false, true] {
        let peers = peers.clone();
        let mut engine: Box<dyn Engine> = match is_uring {
            false => Box::new(PsyncNetwork::new(peers, 512, true).unwrap()),
            true => Box::new(UringNetwork::new(peers, 512, UringOptions::default(), true).unwrap()),
        };
        for errno in [libc::ECONNRESET, libc::ENOTCONN] {
            engine.push(request(Operation::Read, 0, 100, 0));
            assert_eq!(reap_all(&mut engine, 1)[0].result, -errno);
        }
    }
    server.join().unwrap();
}
