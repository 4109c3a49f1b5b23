//! A rank that does one thing with the crate `mpi`, for tests that start it by launchers.
//!
//! ```text
//! mpi-rank look                  prints the library that it would open
//! mpi-rank talk LENGTH           all but rank 0 send to rank 0, and get it back
//! mpi-rank all-pairs LENGTH      all send to all at the same time
//! mpi-rank stopped LENGTH        rank 1 stops while it sends
//! mpi-rank abort CODE            rank 2 aborts, the others wait
//! mpi-rank exit CODE             rank 2 fails, the others wait
//! mpi-rank die                   rank 2 is killed, the others wait
//! mpi-rank ping COUNT            ranks 0 and 1 measure a round trip
//! ```
//!
//! It exits with 0 if all went well, 3 if there is no world, 1 if a message is wrong.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use mpi::{Launch, Message, World, look};
use rustix::process::{Pid, Signal, getpid, kill_process};

/// Longer than any step takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);

type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(launch) = Launch::from_environment() else {
        eprintln!("no launcher started this");
        return ExitCode::from(2);
    };
    let role = arguments.first().map_or("", String::as_str);
    let number = arguments
        .get(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    if role == "look" {
        return match look(&launch) {
            Ok(it) => {
                println!("{} | {} | {}", it.abi.name(), it.path.display(), it.version);
                ExitCode::SUCCESS
            }
            Err(error) => no_world(&error),
        };
    }
    let world = match World::open(&launch) {
        Ok(world) => world,
        Err(error) => return no_world(&error),
    };
    let outcome = match role {
        "talk" => talk(world, number),
        "all-pairs" => all_pairs(world, number),
        "stopped" => stopped(world, number),
        "ping" => ping(world, number),
        _ => end(world, role, number),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn no_world(error: &mpi::MpiError) -> ExitCode {
    println!("error: {error}");
    println!("help: {}", error.help().unwrap_or_default());
    ExitCode::from(3)
}

/// Bytes that only this rank sends, in an order that a lost piece would break.
fn bytes_of(rank: usize, length: usize) -> Vec<u8> {
    let word = |index: usize| (index * 31 + rank * 7 + index / 65_521) as u8;
    (0..length).map(word).collect()
}

fn receive(world: &mut World) -> Result<Message, Box<dyn std::error::Error>> {
    let message = world.receive_within(LONG, PAUSE)?;
    message.ok_or_else(|| "no message came".into())
}

fn expect(message: &Message, from: usize, length: usize) -> Result<(), String> {
    if message.from == from && message.bytes == bytes_of(from, length) {
        return Ok(());
    }
    Err(format!(
        "a wrong message from rank {} of {} bytes",
        message.from,
        message.bytes.len()
    ))
}

fn finish(world: World) -> Outcome {
    let (rank, size) = (world.rank(), world.size());
    let library = world.library().clone();
    let name = world.processor_name()?;
    world.finalize(LONG)?;
    println!(
        "rank {rank} of {size} on `{name}`: {} ({})",
        library.abi.name(),
        library.version
    );
    Ok(ExitCode::SUCCESS)
}

fn talk(mut world: World, length: usize) -> Outcome {
    let rank = world.rank();
    if rank == 0 {
        // Two of each; ranks need not wait for each other.
        for _ in 0..2 * (world.size() - 1) {
            let message = receive(&mut world)?;
            if message.bytes != message.from.to_le_bytes() {
                expect(&message, message.from, length)?;
            }
            world.send(message.from, message.bytes)?;
        }
        return finish(world);
    }
    for message in [rank.to_le_bytes().to_vec(), bytes_of(rank, length)] {
        world.send(0, message.clone())?;
        let answer = receive(&mut world)?;
        if answer.from != 0 || answer.bytes != message {
            return Err("a wrong message came back".into());
        }
    }
    finish(world)
}

fn all_pairs(mut world: World, length: usize) -> Outcome {
    let (rank, size) = (world.rank(), world.size());
    for to in 0..size {
        world.send(to, bytes_of(rank, length))?;
    }
    // Nobody receives before all has left; an empty message then comes last.
    world.flush_within(LONG)?;
    for to in 0..size {
        world.send(to, Vec::new())?;
    }
    let mut counts = vec![0; size];
    for _ in 0..2 * size {
        let message = receive(&mut world)?;
        let expected_length = if counts[message.from] == 0 { length } else { 0 };
        expect(&message, message.from, expected_length)?;
        counts[message.from] += 1;
    }
    if counts.iter().any(|count| *count != 2) {
        return Err(format!("messages by rank: {counts:?}").into());
    }
    finish(world)
}

/// Rank 1 stops after it has begun to send: rank 0 must not be held up within MPI.
fn stopped(mut world: World, length: usize) -> Outcome {
    match world.rank() {
        0 => {
            let process = receive(&mut world)?.bytes;
            let process = i32::from_le_bytes(process.as_slice().try_into()?);
            wait_until_stopped(process)?;
            let start = Instant::now();
            let early = world.receive_within(Duration::from_millis(500), PAUSE)?;
            let waited_ms = start.elapsed().as_millis();
            let process = Pid::from_raw(process).ok_or("no process")?;
            kill_process(process, Signal::CONT)?;
            match early {
                Some(message) => expect(&message, 1, length)?,
                None => expect(&receive(&mut world)?, 1, length)?,
            }
            println!("waited {waited_ms} ms");
        }
        1 => {
            let (process, bytes) = (getpid().as_raw_nonzero().get(), bytes_of(1, length));
            world.send(0, process.to_le_bytes().to_vec())?;
            world.flush_within(LONG)?;
            world.send(0, bytes)?;
            kill_process(getpid(), Signal::STOP)?;
        }
        _ => {}
    }
    finish(world)
}

/// Waits until a process is stopped: one that is continued before it stops stays stopped.
fn wait_until_stopped(process: i32) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    while start.elapsed() < LONG {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The state follows the name, which is in parentheses.
        if stat
            .rsplit_once(") ")
            .is_some_and(|it| it.1.starts_with('T'))
        {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(format!("process {process} did not stop").into())
}

fn ping(mut world: World, count: usize) -> Outcome {
    let mut least = Duration::MAX;
    for _ in 0..count {
        let start = Instant::now();
        match world.rank() {
            0 => {
                world.send(1, vec![0; 16])?;
                world
                    .receive_within(LONG, Duration::ZERO)?
                    .ok_or("no answer")?;
                least = least.min(start.elapsed());
            }
            1 => {
                world
                    .receive_within(LONG, Duration::ZERO)?
                    .ok_or("no ping")?;
                world.send(0, vec![0; 16])?;
            }
            _ => {}
        }
    }
    if world.rank() == 0 {
        println!("round trip {} ns", least.as_nanos());
    }
    finish(world)
}

/// Rank 2 comes to an end while the others wait for a message that never comes.
fn end(mut world: World, role: &str, code: usize) -> Outcome {
    let code = u8::try_from(code)?;
    if world.rank() == 2 {
        std::thread::sleep(Duration::from_millis(200));
        match role {
            "abort" => world.abort(code),
            "die" => kill_process(getpid(), Signal::KILL)?,
            _ => {}
        }
        return Ok(ExitCode::from(code));
    }
    world.receive_within(2 * LONG, PAUSE)?;
    Err("waited to the end".into())
}
