//! TCP peers: the protocol between pgmeter and a sink, the sink, and how it is reached.
//!
//! Nothing here measures, and a sink keeps and writes nothing. What comes from the other end is
//! numbers in frames of fixed length; none of it is text, and none decides how much is allocated.

mod connection;
mod error;
mod frame;
mod peer;
mod serve;
mod sink;
mod token;

pub use connection::Connection;
pub use error::NetworkError;
pub use frame::{
    FRAME_BYTES, Frame, FrameError, HEADER_BYTES, Header, LENGTH_MAX_BYTES, MAJOR, MINOR, Status,
    Way,
};
pub use peer::{Peer, SILENCE_MAX};
pub use serve::{Ended, Serving, serve};
pub use sink::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, Sink, SinkOptions};
pub use token::Token;
