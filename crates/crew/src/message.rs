//! What the leader and the others say to each other, as bytes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use plan::facts::SystemFacts;
use plan::{Cell, Plan};
use results::{CellRecord, Environment, PreconditionRecord, RunEvent};
use run::FileNews;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The language: a different first number is not understood, a larger second one adds words.
pub(crate) const PROTOCOL: [u32; 2] = [2, 0];

/// No message is longer, packed or not.
const BYTES_MAX: u64 = 256 << 20;
/// Shorter messages are not packed: the packer takes and clears 300 KB for each, which costs more
/// than sending them as they are.
const PACKED_FROM: usize = 16 << 10;

/// Said to show that one is still there.
pub(crate) const ALIVE: &[u8] = &[0];
const PLAIN: u8 = 1;
const PACKED: u8 = 2;
/// What others say in words is cut off after so many characters.
const WORDS_MAX: usize = 500;

/// What the leader says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Order {
    /// Who speaks; answered in kind.
    Hello {
        protocol: [u32; 2],
        /// The number of whoever hears it.
        rank: u32,
    },
    /// What is known of these targets?
    Probe {
        targets: Vec<String>,
        default_target: Option<String>,
        create: bool,
        reads_only: bool,
    },
    /// What is to be done; answered with its hash.
    Plan {
        plan: Box<Plan>,
        options: MemberOptions,
    },
    /// Where to work: in these directories, by target; where there is none, one is to be made if it
    /// is wished.
    Ground {
        places: Vec<Option<String>>,
        makes: bool,
    },
    /// Make the targets ready.
    Prepare,
    /// Measure a cell; its workers and its work on files are those of the plan's cell `like`.
    Cell { cell: Box<Cell>, like: usize },
    /// What time is it?
    Ping { number: u32 },
    /// So many rounds were done at most.
    Level { rounds: u64 },
    /// So many operations a second were done by all in the next round.
    Round { per_second: f64 },
    /// What became of files elsewhere.
    News { news: Vec<FileNews> },
    /// All begin at that time of the clock of whoever hears it.
    Start { at_ns: u64 },
    /// End the cell at hand and go on.
    Skip,
    /// End the cell at hand and whatever would follow.
    Stop,
    /// Remove the files that were worked on.
    Clean,
    /// Remove the directories that all worked in, where they were made here.
    Vacate,
    /// Nothing more is to be done.
    Bye,
}

/// What the others are told besides the plan.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MemberOptions {
    /// The name of the run.
    pub run: String,
    pub overwrite_devices: Vec<std::path::PathBuf>,
    pub create: bool,
    /// Where each finds the token of sinks.
    #[serde(default)]
    pub sink_token_file: Option<std::path::PathBuf>,
}

/// What the others answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
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
    /// Which of the places are there, by target; those that were made as well.
    Grounded {
        places: Vec<Option<String>>,
    },
    Prepared {
        environment: Box<Environment>,
    },
    /// So many rounds were done here at most; answered once all have told it.
    Level {
        rounds: u64,
    },
    /// So many operations a second were done here in the next round; answered once all have told
    /// theirs.
    Round {
        per_second: f64,
    },
    /// What became of files here; answered once all have told it.
    News {
        news: Vec<FileNews>,
    },
    /// All workers of the cell's next stage are ready.
    Armed,
    Pong {
        number: u32,
        at_ns: u64,
    },
    /// The first of the workers began a stage, which may be part of a phase.
    Begun {
        phase: Option<String>,
        at_ns: u64,
    },
    Event {
        event: Box<RunEvent>,
    },
    /// What was written here before the cell, of which the records come next.
    Preconditioned {
        targets: Vec<PreconditionRecord>,
    },
    Measured {
        records: Vec<CellRecord>,
        failure: Option<Failed>,
    },
    Cleaned {
        /// What was left behind, and why.
        left: Vec<String>,
    },
    Failed(Failed),
}

/// What somebody could not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub message: String,
    pub help: Option<String>,
}

/// A message as bytes.
pub(crate) fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    let text = units::json_line(message).expect("a message has no maps with odd keys");
    if text.len() < PACKED_FROM {
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

/// The message that bytes are; none for [`ALIVE`].
///
/// # Errors
/// Bytes that are no message.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, String> {
    let (kind, rest) = bytes.split_first().ok_or("said a message of no bytes")?;
    let message = match *kind {
        0 if rest.is_empty() => return Ok(None),
        PLAIN => units::read_json(&mut &*rest),
        // What does not fit is cut off, and so is not understood.
        PACKED => units::read_json(&mut DeflateDecoder::new(rest).take(BYTES_MAX)),
        kind => return Err(format!("said a message of kind {kind}")),
    };
    message
        .map(Some)
        .map_err(|error| format!("said what is not understood: {}", words(&error.to_string())))
}

/// What somebody else said, printable and short.
pub(crate) fn words(text: &str) -> String {
    let short: String = text.chars().take(WORDS_MAX).collect();
    units::printable(&short).into_owned()
}

impl Report {
    /// With all that is told in words printable and short.
    pub fn with_short_words(mut self) -> Self {
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

/// Writes a message to a stream.
pub(crate) fn write(stream: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(message);
    // One write is one packet.
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Reads a message from a stream; none at its end.
///
/// # Errors
/// When the stream ends within one, or what it holds is none.
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
    if length == 0 || length > BYTES_MAX {
        let found = format!("a message of {length} bytes, not 1 to {BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, found));
    }
    // No memory is taken for bytes that never come.
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
    fn messages_come_back_short_or_long() {
        for length in [0, 10, 2000, 20_000, 3 << 20] {
            let message = Report::Planned {
                hash: "x".repeat(length),
            };
            let mut stream = Vec::new();
            write(&mut stream, &encode(&message)).expect("a vector");
            write(&mut stream, ALIVE).expect("a vector");
            let mut from = stream.as_slice();
            let first = read(&mut from).expect("a message").expect("a message");
            let Some(Report::Planned { hash }) = decode(&first).expect("a message") else {
                panic!("another message");
            };
            assert_eq!(hash.len(), length);
            let second = read(&mut from).expect("a message").expect("a message");
            assert!(decode::<Report>(&second).expect("a sign").is_none());
            assert!(read(&mut from).expect("the end").is_none());
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [&[][..], &[9], &[1], &[1, b'{'], &[2, 1, 2, 3], &[0, 0]] {
            assert!(decode::<Report>(bytes).is_err(), "{bytes:?}");
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
