//! TCP peers: the protocol between pgmeter and a sink, the sink itself, and connections to it.
//!
//! Nothing here measures. A sink stores nothing and writes no files. The other end sends only
//! numbers in frames of fixed length. They contain no text, and no number decides how much memory
//! is allocated.

mod connection;
mod error;
mod frame;
mod peer;
mod secret;
mod serve;
mod sink;
mod token;

pub use connection::Connection;
pub use error::NetworkError;
pub use frame::{
    ByteDirection, FRAME_BYTES, Frame, FrameError, FrameStatus, HEADER_BYTES, LENGTH_MAX_BYTES,
    MAJOR, MINOR, TransactionHeader,
};
pub use peer::{Peer, SILENCE_TIMEOUT};
pub use secret::secret_in_file;
pub use serve::{ConnectionEnd, SinkState, serve};
pub use sink::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, Sink, SinkOptions};
pub use token::NetworkToken;
