//! Messages between the leader and the other processes, as bytes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plan::facts::SystemFacts;
use plan::{Cell, Plan};
use results::{CellRecord, Environment, PreconditionRecord, RunEvent};
use run::{FileNews, MeetingId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the protocol. A different first number is incompatible; a larger second number adds
/// messages.
pub(crate) const PROTOCOL: [u32; 2] = [2, 0];

/// Maximum length of a message, packed or not.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
/// Minimum length of packed messages. The packer allocates and clears 300 KB per message, which
/// costs more than sending a short message unpacked.
const PACKED_BYTES_MIN: usize = 16 << 10;

/// Message without content: a sign of life.
pub(crate) const KEEPALIVE: &[u8] = &[0];
const PLAIN: u8 = 1;
const PACKED: u8 = 2;
/// Maximum length of texts from other processes, in characters.
const TEXT_CHARS_MAX: usize = 500;

/// Message from the leader.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
// The name of a variant encloses its content. With a tag among the fields, serde would keep the
// whole message and then read it again.
pub(crate) enum LeaderMessage {
    /// The leader's greeting, answered with [`MemberMessage::Hello`].
    Hello {
        protocol: [u32; 2],
        /// Rank of the receiver.
        rank: u32,
    },
    /// Requests the facts about these targets.
    Probe {
        targets: Vec<String>,
        default_target: Option<String>,
        create: bool,
        reads_only: bool,
    },
    /// The plan of the run; answered with its hash.
    Plan {
        plan: Box<Plan>,
        options: MemberOptions,
    },
    /// Directories to work in, by target. With `makes`, the receiver creates the missing ones.
    Ground {
        places: Vec<Option<String>>,
        makes: bool,
    },
    /// Prepare the targets.
    Prepare,
    /// Measure a cell, with the workers and the work of the plan's cell with index `like`.
    Cell { cell: Box<Cell>, like: usize },
    /// Requests the time of the receiver's clock.
    Ping { number: u32 },
    /// Highest number of rounds done by any worker.
    Level { rounds: u64 },
    /// The workers of all processes have arrived at a meeting.
    Met { meeting: MeetingId },
    /// Operations per second of all processes in the next round.
    Round { per_second: f64 },
    /// News of files from the other processes.
    News { news: Vec<FileNews> },
    /// Start of the next stage, in nanoseconds of the receiver's clock.
    Start { at_ns: u64 },
    /// End the current cell and continue with the next one.
    Skip,
    /// End the current cell and the rest of the run.
    Stop,
    /// Remove the files of the workload.
    Clean,
    /// Remove the shared directories that the receiver created.
    Vacate,
    /// No orders follow.
    Bye,
}

/// Settings of a process in addition to the plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MemberOptions {
    /// Name of the run.
    pub run: String,
    pub overwrite_devices: Vec<std::path::PathBuf>,
    pub create: bool,
    /// Path of the file with the sinks' token on the receiver's host.
    #[serde(default)]
    pub sink_token_file: Option<std::path::PathBuf>,
}

/// Message to the leader.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MemberMessage {
    Hello {
        protocol: [u32; 2],
        version: String,
        host: String,
        environment: Box<Environment>,
    },
    Facts {
        facts: SystemFacts,
    },
    Planned {
        hash: String,
    },
    /// Existing places by target, including those just created.
    Grounded {
        places: Vec<Option<String>>,
    },
    Prepared {
        environment: Box<Environment>,
    },
    /// Highest number of rounds done here; answered after all processes have reported theirs.
    Level {
        rounds: u64,
    },
    /// All workers here have arrived at a meeting; answered after all processes have reported it.
    Meet {
        meeting: MeetingId,
    },
    /// No worker here will arrive at a meeting any more.
    LeaveMeeting {
        meeting: MeetingId,
    },
    /// Operations per second here in the next round; answered after all processes have reported
    /// theirs.
    Round {
        per_second: f64,
    },
    /// News of files here; answered after all processes have reported theirs.
    News {
        news: Vec<FileNews>,
    },
    /// All workers of the cell's next stage are ready.
    Armed,
    Pong {
        number: u32,
        at_ns: u64,
    },
    /// The first worker started a stage, which may be part of a phase.
    Begun {
        phase: Option<String>,
        at_ns: u64,
    },
    Event {
        event: Box<RunEvent>,
    },
    /// Preconditioning done here before the cell; the cell's records follow.
    Preconditioned {
        targets: Vec<PreconditionRecord>,
    },
    Measured {
        records: Vec<CellRecord>,
        failure: Option<FailureMessage>,
    },
    Cleaned {
        /// Files that could not be removed, with the reasons.
        left: Vec<String>,
    },
    Failed(FailureMessage),
}

/// Failure of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailureMessage {
    pub message: String,
    pub help: Option<String>,
}

pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let text = units::json_line(message).expect("a message has no maps with odd keys");
    if text.len() < PACKED_BYTES_MIN {
        let mut bytes = vec![PLAIN];
        bytes.extend(text.bytes());
        return bytes;
    }
    let mut packer = DeflateEncoder::new(vec![PACKED], Compression::fast());
    let packed = packer
        .write_all(text.as_bytes())
        .and_then(|()| packer.finish());
    packed.expect("a vector takes all bytes")
}

/// Decodes a message; `None` for [`KEEPALIVE`].
///
/// # Errors
/// The bytes are not a message.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, String> {
    let (kind, rest) = bytes.split_first().ok_or("sent an empty message")?;
    let message = match *kind {
        0 if rest.is_empty() => return Ok(None),
        PLAIN => units::read_json(&mut &*rest),
        // A message beyond the limit is truncated, so it fails to parse.
        PACKED => units::read_json(&mut DeflateDecoder::new(rest).take(MESSAGE_BYTES_MAX)),
        kind => return Err(format!("sent a message of unknown kind {kind}")),
    };
    message
        .map(Some)
        .map_err(|error| format!("sent unreadable data: {}", words(&error.to_string())))
}

/// Text from another process, made printable and short.
pub(crate) fn words(text: &str) -> String {
    let short: String = text.chars().take(TEXT_CHARS_MAX).collect();
    units::printable(&short).into_owned()
}

impl MemberMessage {
    /// Makes all texts printable and short.
    pub fn with_printable_texts(mut self) -> Self {
        // Text from another host must not control this terminal or fill the record.
        let shorten = |text: &mut String| *text = words(text);
        match &mut self {
            Self::Hello { version, host, .. } => [version, host].into_iter().for_each(shorten),
            Self::Cleaned { left } => left.iter_mut().for_each(shorten),
            Self::Failed(failed)
            | Self::Measured {
                failure: Some(failed),
                ..
            } => {
                shorten(&mut failed.message);
                failed.help.iter_mut().for_each(shorten);
            }
            Self::Event { event } => {
                if let RunEvent::Warning { warning } = &mut **event {
                    shorten(&mut warning.message);
                }
            }
            _ => {}
        }
        self
    }
}

pub(crate) fn write(stream: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(message);
    // With a single write, a message is a single packet.
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Reads a message from a stream; `None` at its end.
///
/// # Errors
/// The stream ends within a message, or its length is out of range.
pub(crate) fn read(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let mut had = 0;
    while had < length.len() {
        match stream.read(&mut length[had..]) {
            Ok(0) if had == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => had += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u64::from(u32::from_le_bytes(length));
    if length == 0 || length > MESSAGE_BYTES_MAX {
        let reason = format!("a message of {length} bytes, not 1 to {MESSAGE_BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    // Memory is allocated only for bytes that arrive.
    let mut message = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut message)?;
    match message.len() as u64 == length {
        true => Ok(Some(message)),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_length_round_trip() {
        for length in [0, 10, 2000, 20_000, 3 << 20] {
            let message = MemberMessage::Planned {
                hash: "x".repeat(length),
            };
            let mut stream = Vec::new();
            write(&mut stream, &encode(&message)).expect("a vector");
            write(&mut stream, KEEPALIVE).expect("a vector");
            let mut from = stream.as_slice();
            let first = read(&mut from).expect("a message").expect("a message");
            let Some(MemberMessage::Planned { hash }) = decode(&first).expect("a message") else {
                panic!("another message");
            };
            assert_eq!(hash.len(), length);
            let second = read(&mut from).expect("a message").expect("a message");
            assert!(decode::<MemberMessage>(&second).expect("a sign").is_none());
            assert!(read(&mut from).expect("the end").is_none());
        }
    }

    #[test]
    fn malformed_messages_are_errors() {
        for bytes in [&[][..], &[9], &[1], &[1, b'{'], &[2, 1, 2, 3], &[0, 0]] {
            assert!(decode::<MemberMessage>(bytes).is_err(), "{bytes:?}");
        }
        for bytes in [
            &[1, 0, 0][..],
            &[0, 0, 0, 0],
            &[255, 255, 255, 255, 1],
            &[5, 0, 0, 0, 1],
        ] {
            assert!(read(&mut &*bytes).is_err(), "{bytes:?}");
        }
    }
}
