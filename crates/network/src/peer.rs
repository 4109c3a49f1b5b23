//! A sink as pgmeter sees it: where it is, and how a connection to it begins.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::NetworkError;
use crate::connection::{GREETING_MAX, read_until, set_up, write_all};
use crate::frame::{FRAME_BYTES, Frame, MAJOR, NONCE_BYTES, Status};
use crate::token::{Prover, Token, is_equal, nonce};

/// Whoever says nothing for so long is taken for gone.
pub const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Where a sink is, with the token that it may ask for.
#[derive(Debug, Clone)]
pub struct Peer {
    address: SocketAddr,
    token: Option<Token>,
}

impl Peer {
    /// The sink at a port of a host, which is tried.
    ///
    /// # Errors
    /// When the name leads nowhere, nobody answers at any of its addresses, or who answers is no
    /// sink that lets us in.
    pub fn find(host: &str, port: u16, token: Option<Token>) -> Result<Self, NetworkError> {
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
                Err(failure @ NetworkError::Connect { .. }) => error = failure,
                Err(failure) => return Err(failure),
            }
        }
        Err(error)
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether nothing but this machine lies between it and us: its address is one of ours.
    #[must_use]
    pub fn is_this_machine(&self) -> bool {
        let bare = self.address.ip().to_canonical();
        // Nobody can listen on an address that is another machine's.
        bare.is_loopback() || std::net::UdpSocket::bind((bare, 0)).is_ok()
    }

    /// A connection that is ready for transactions; every wait on it ends after [`SILENCE_MAX`]
    /// without a byte.
    ///
    /// # Errors
    /// When nobody answers, or who answers is no sink that lets us in.
    pub fn connect(&self) -> Result<TcpStream, NetworkError> {
        let peer = self.address;
        let failed = |source| NetworkError::Connect { peer, source };
        let mut stream = TcpStream::connect_timeout(&peer, GREETING_MAX).map_err(failed)?;
        set_up(&stream, GREETING_MAX).map_err(failed)?;
        let hello = nonce()?;
        let mut answer = self.ask(&mut stream, Frame::new(Status::Hello, hello))?;
        if answer.status == Status::Prove {
            let Some(token) = &self.token else {
                return Err(NetworkError::TokenWanted { peer });
            };
            let prove = answer.secret;
            let proof = token.proof(Prover::Pgmeter, &hello, &prove);
            answer = self.ask(&mut stream, Frame::new(Status::Proof, proof))?;
            // Whoever took the sink's place does not know the token either.
            let wanted = token.proof(Prover::Sink, &hello, &prove);
            if answer.status == Status::Welcome && !is_equal(&answer.secret, &wanted) {
                return Err(NetworkError::TokenDiffers { peer });
            }
        }
        self.judge(answer)?;
        set_up(&stream, SILENCE_MAX).map_err(failed)?;
        Ok(stream)
    }

    /// Sends a frame and waits for the sink's.
    fn ask(&self, stream: &mut TcpStream, frame: Frame) -> Result<Frame, NetworkError> {
        let peer = self.address;
        let failed = |source| NetworkError::Greeting { peer, source };
        let until = Instant::now() + GREETING_MAX;
        // A sink that is full may have closed by now; its frame is there all the same.
        let written = write_all(stream, &frame.to_bytes());
        let mut bytes = [0; FRAME_BYTES];
        read_until(stream, &mut bytes, until)
            .map_err(|error| failed(written.err().unwrap_or(error)))?;
        let answer = Frame::of_bytes(&bytes).map_err(|_| NetworkError::NoSink { peer })?;
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
            Status::Welcome => return Ok(()),
            Status::Version => NetworkError::Version {
                peer,
                major: answer.major,
                minor: answer.minor,
            },
            Status::Token | Status::Prove => NetworkError::TokenDiffers { peer },
            Status::Full => NetworkError::Full {
                peer,
                connections_max: answer.connections_max,
            },
            Status::Refused => NetworkError::Refused { peer },
            Status::Hello | Status::Proof => NetworkError::NoSink { peer },
        })
    }
}

/// No number is used for it.
pub(crate) const NO_SECRET: [u8; NONCE_BYTES] = [0; NONCE_BYTES];
