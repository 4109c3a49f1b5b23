//! A sink from pgmeter's point of view: its address, and how a connection to it starts.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::NetworkError;
use crate::connection::{GREETING_TIMEOUT, read_until, set_up, write_all};
use crate::frame::{FRAME_BYTES, Frame, FrameStatus, MAJOR, NONCE_BYTES};
use crate::token::{NetworkToken, ProofSide, is_equal, nonce};

/// A peer that sends nothing for this time is considered lost.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);

/// Address of a sink, and the token that it may request.
#[derive(Debug, Clone)]
pub struct Peer {
    address: SocketAddr,
    token: Option<NetworkToken>,
}

impl Peer {
    /// Finds the sink at a port of a host by connecting to it.
    ///
    /// # Errors
    /// The name has no address, no address accepts a connection, or the program that answers is not
    /// a sink that accepts this token.
    pub fn find(host: &str, port: u16, token: Option<NetworkToken>) -> Result<Self, NetworkError> {
        let failed = |source| NetworkError::Resolve {
            host: host.to_owned(),
            source,
        };
        let addresses = (host, port).to_socket_addrs().map_err(failed)?;
        let mut error = failed(std::io::ErrorKind::NotFound.into());
        for address in addresses {
            let token = token.clone();
            let peer = Self { address, token };
            match peer.connect() {
                Ok(_) => return Ok(peer),
                // Only a failed connection leads to the host's next address. A program that answers
                // is the one at this port, even if it refuses.
                Err(failure @ NetworkError::Connect { .. }) => error = failure,
                Err(failure) => return Err(failure),
            }
        }
        Err(error)
    }

    /// Address of the sink.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// `true` if the sink runs on this machine, that is, if its address belongs to this machine.
    #[must_use]
    pub fn is_this_machine(&self) -> bool {
        // An IPv4 address may be written as an IPv6 address, such as `::ffff:127.0.0.1`.
        let bare = self.address.ip().to_canonical();
        // The system does not let a program bind to another machine's address.
        bare.is_loopback() || std::net::UdpSocket::bind((bare, 0)).is_ok()
    }

    /// Opens a connection that is ready for transactions. Every wait on it ends after
    /// [`SILENCE_TIMEOUT`] without a byte.
    ///
    /// # Errors
    /// No connection is possible, or the program that answers is not a sink that accepts this
    /// token.
    pub fn connect(&self) -> Result<TcpStream, NetworkError> {
        let peer = self.address;
        let failed = |source| NetworkError::Connect { peer, source };
        let mut stream = TcpStream::connect_timeout(&peer, GREETING_TIMEOUT).map_err(failed)?;
        // A program that is not a sink may never answer, so the greeting has a shorter limit than
        // transactions.
        set_up(&stream, GREETING_TIMEOUT).map_err(failed)?;
        let hello = nonce()?;
        let mut answer = self.ask(&mut stream, Frame::new(FrameStatus::Hello, hello))?;
        if answer.status == FrameStatus::Prove {
            let Some(token) = &self.token else {
                return Err(NetworkError::TokenRequired { peer });
            };
            let prove = answer.secret;
            let proof = token.proof(ProofSide::Pgmeter, &hello, &prove);
            answer = self.ask(&mut stream, Frame::new(FrameStatus::Proof, proof))?;
            // The sink proves itself too: a program in its place would not know the token.
            let wanted = token.proof(ProofSide::Sink, &hello, &prove);
            if answer.status == FrameStatus::Welcome && !is_equal(&answer.secret, &wanted) {
                return Err(NetworkError::TokenDiffers { peer });
            }
        }
        self.judge(answer)?;
        set_up(&stream, SILENCE_TIMEOUT).map_err(failed)?;
        Ok(stream)
    }

    /// Sends a frame and waits for the sink's reply.
    fn ask(&self, stream: &mut TcpStream, frame: Frame) -> Result<Frame, NetworkError> {
        let peer = self.address;
        let failed = |source| NetworkError::Greeting { peer, source };
        let until = Instant::now() + GREETING_TIMEOUT;
        // A sink at its limit may have closed the connection already, but its frame can still be
        // read.
        let written = write_all(stream, &frame.to_bytes());
        let mut bytes = [0; FRAME_BYTES];
        read_until(stream, &mut bytes, until)
            .map_err(|error| failed(written.err().unwrap_or(error)))?;
        let answer = Frame::of_bytes(&bytes).map_err(|_| NetworkError::NotASink { peer })?;
        match answer.major {
            MAJOR => Ok(answer),
            major => Err(NetworkError::Version {
                peer,
                major,
                minor: answer.minor,
            }),
        }
    }

    fn judge(&self, answer: Frame) -> Result<(), NetworkError> {
        let peer = self.address;
        Err(match answer.status {
            FrameStatus::Welcome => return Ok(()),
            FrameStatus::Version => NetworkError::Version {
                peer,
                major: answer.major,
                minor: answer.minor,
            },
            // A sink that requests a second proof did not accept the first one.
            FrameStatus::Token | FrameStatus::Prove => NetworkError::TokenDiffers { peer },
            FrameStatus::Full => NetworkError::Full {
                peer,
                connections_max: answer.connections_max,
            },
            FrameStatus::Refused => NetworkError::Refused { peer },
            FrameStatus::Hello | FrameStatus::Proof => NetworkError::NotASink { peer },
        })
    }
}

/// Content of `secret` in frames that carry neither a nonce nor a proof.
pub(crate) const NO_SECRET: [u8; NONCE_BYTES] = [0; NONCE_BYTES];
