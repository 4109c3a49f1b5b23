//! The far end of `tcp://` targets: one thread a connection, and no more of them than allowed.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::NetworkError;
use crate::connection::set_up;
use crate::frame::{Frame, Status};
use crate::peer::{NO_SECRET, SILENCE_MAX};
use crate::serve::{Ended, Serving, serve};
use crate::token::{Token, nonce};

/// Connections at a time if nobody says how many.
pub const CONNECTIONS_DEFAULT: u32 = 1024;
/// The most connections at a time: a thread each.
pub const CONNECTIONS_MAX: u32 = 16_384;

/// How long a connection may be without a transaction: no delay of an access line is longer in
/// practice, and who is gone is found by then.
const IDLE_MAX: Duration = Duration::from_secs(3600);
/// Stack of a connection's thread, which calls nothing deep.
const STACK_BYTES: usize = 128 << 10;
/// How often it is looked whether the sink shall end.
const LOOK: Duration = Duration::from_millis(100);
/// Descriptors for everything but connections.
const OTHER_DESCRIPTORS: u64 = 64;

/// What a sink is to be.
#[derive(Debug)]
pub struct SinkOptions {
    /// Where it listens; port 0 takes any free one.
    pub listen: SocketAddr,
    /// What whoever connects has to know.
    pub token: Option<Token>,
    /// The most connections at a time.
    pub connections_max: u32,
}

/// The far end of `tcp://` targets: answers requests, and keeps and writes nothing.
#[derive(Debug)]
pub struct Sink {
    listener: TcpListener,
    serving: Arc<Serving>,
    connections: Arc<AtomicU32>,
    connections_max: u32,
}

/// A connection that counts, until it is dropped.
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Sink {
    /// Listens, and serves nobody yet.
    ///
    /// # Errors
    /// When others could connect without a token, so many connections cannot be, or the address
    /// cannot be had.
    pub fn listen(options: SinkOptions) -> Result<Self, NetworkError> {
        let address = options.listen;
        if options.token.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(NetworkError::Reachable { address });
        }
        let asked = options.connections_max;
        if !(1..=CONNECTIONS_MAX).contains(&asked) {
            let most = CONNECTIONS_MAX;
            return Err(NetworkError::Connections { asked, most });
        }
        make_room(asked)?;
        let failed = |source| NetworkError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        // Who has gone between the poll and the call would keep the others waiting.
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            serving: Arc::new(Serving::new(options.token, IDLE_MAX)),
            connections: Arc::new(AtomicU32::new(0)),
            connections_max: asked,
        })
    }

    /// Where it listens, with the port that it has.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> Result<SocketAddr, NetworkError> {
        let what = "tell where the sink listens";
        let failed = |source| NetworkError::System { what, source };
        self.listener.local_addr().map_err(failed)
    }

    /// Serves until `stop` is set, which is looked at ten times a second; connections that are
    /// there then end with the process or with their other ends. `hear` is told of each that ended
    /// otherwise than by being closed.
    ///
    /// # Errors
    /// When the system does not let it wait for connections.
    pub fn run(
        &self,
        stop: &AtomicBool,
        hear: &(impl Fn(SocketAddr, Ended) + Clone + Send + 'static),
    ) -> Result<(), NetworkError> {
        while !stop.load(Ordering::Relaxed) {
            self.wait()?;
            loop {
                match self.listener.accept() {
                    Ok((stream, peer)) => self.take(stream, peer, hear.clone()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // Who gave up is nobody's failure; what is short may be there later.
                    Err(_) => {
                        std::thread::sleep(LOOK);
                        break;
                    }
                }
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), NetworkError> {
        let mut fds = [PollFd::new(&self.listener, PollFlags::IN)];
        let span = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&span)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(NetworkError::System {
                what: "wait for connections",
                source: errno.into(),
            }),
        }
    }

    fn take(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        hear: impl Fn(SocketAddr, Ended) + Send + 'static,
    ) {
        let counted = Counted(Arc::clone(&self.connections));
        let before = self.connections.fetch_add(1, Ordering::Acquire);
        if before >= self.connections_max {
            return self.turn_away(stream);
        }
        let serving = Arc::clone(&self.serving);
        let work = move || {
            let _counted = counted;
            if let Some(ended) = connection(stream, &serving)
                && ended != Ended::Closed
            {
                hear(peer, ended);
            }
        };
        // Where there is no thread, the connection is closed, which the other end is told.
        let thread = std::thread::Builder::new().name("connection".to_owned());
        let _ = thread.stack_size(STACK_BYTES).spawn(work);
    }

    /// Says that there is no room, without waiting for anybody.
    fn turn_away(&self, mut stream: TcpStream) {
        let frame = Frame {
            connections_max: self.connections_max,
            ..Frame::new(Status::Full, NO_SECRET)
        };
        // Whoever is not there to hear it sees that the connection is closed.
        let _ = stream
            .set_nonblocking(true)
            .and_then(|()| stream.write_all(&frame.to_bytes()))
            .and_then(|()| stream.shutdown(Shutdown::Write));
    }
}

/// Serves one connection to its end; nothing where it cannot be set up.
fn connection(mut stream: TcpStream, serving: &Serving) -> Option<Ended> {
    // On Linux it does not have what the listener has, but nobody promises that.
    stream.set_nonblocking(false).ok()?;
    set_up(&stream, SILENCE_MAX).ok()?;
    let challenge = nonce().ok()?;
    Some(serve(&mut stream, serving, challenge))
}

/// Raises the limit on open files to what so many connections need.
fn make_room(connections_max: u32) -> Result<(), NetworkError> {
    let need = u64::from(connections_max) + OTHER_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= need) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(need),
        maximum: limit.maximum,
    };
    let is_within = limit.maximum.is_none_or(|maximum| maximum >= need);
    if is_within && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let most = limit
        .maximum
        .unwrap_or(need)
        .saturating_sub(OTHER_DESCRIPTORS);
    Err(NetworkError::Connections {
        asked: connections_max,
        most: u32::try_from(most).unwrap_or(u32::MAX),
    })
}
