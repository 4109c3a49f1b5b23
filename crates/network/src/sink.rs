//! The far end of `tcp://` targets, with one thread per connection and a limit on their number.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::NetworkError;
use crate::connection::set_up;
use crate::frame::{Frame, FrameStatus};
use crate::peer::{NO_SECRET, SILENCE_TIMEOUT};
use crate::serve::{ConnectionEnd, SinkState, serve};
use crate::token::{NetworkToken, nonce};

/// Default limit of simultaneous connections.
pub const CONNECTIONS_DEFAULT: u32 = 1024;
/// Maximum number of simultaneous connections; each has its own thread.
pub const CONNECTIONS_MAX: u32 = 16_384;

/// Maximum time between transactions of a connection. Delays of access lines are shorter in
/// practice, and after this time a vanished client is detected.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3600);
/// Stack size of a connection's thread, which makes no deep calls.
const STACK_BYTES: usize = 128 << 10;
/// Interval at which the sink checks whether it should end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// File descriptors reserved for other purposes than connections.
const RESERVED_DESCRIPTORS: u64 = 64;

/// Settings of a sink.
#[derive(Debug)]
pub struct SinkOptions {
    /// Address to listen on; port 0 uses any free port.
    pub listen: SocketAddr,
    /// Token that clients must know.
    pub token: Option<NetworkToken>,
    /// Maximum number of simultaneous connections.
    pub connections_max: u32,
}

/// The far end of `tcp://` targets: answers requests, stores nothing and writes no files.
#[derive(Debug)]
pub struct Sink {
    listener: TcpListener,
    state: Arc<SinkState>,
    connections: Arc<AtomicU32>,
    connections_max: u32,
}

/// Counts as a connection until it is dropped.
struct ConnectionGuard(Arc<AtomicU32>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Sink {
    /// Starts to listen, without serving any client yet.
    ///
    /// # Errors
    /// Other machines could connect without a token, the number of connections is out of range, or
    /// the system does not let the sink listen on the address.
    pub fn listen(options: SinkOptions) -> Result<Self, NetworkError> {
        let address = options.listen;
        if options.token.is_none() && !address.ip().to_canonical().is_loopback() {
            return Err(NetworkError::Reachable { address });
        }
        let requested = options.connections_max;
        if !(1..=CONNECTIONS_MAX).contains(&requested) {
            let most = CONNECTIONS_MAX;
            return Err(NetworkError::Connections { requested, most });
        }
        make_room(requested)?;
        let failed = |source| NetworkError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        // A client that disconnects between `poll` and `accept` would otherwise block the others.
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            state: Arc::new(SinkState::new(options.token, IDLE_TIMEOUT)),
            connections: Arc::new(AtomicU32::new(0)),
            connections_max: requested,
        })
    }

    /// Address on which the sink listens, with its actual port.
    ///
    /// # Errors
    /// The system does not return the address.
    pub fn address(&self) -> Result<SocketAddr, NetworkError> {
        let action = "get the address of the sink";
        let failed = |source| NetworkError::System {
            what: action,
            source,
        };
        self.listener.local_addr().map_err(failed)
    }

    /// Serves until `stop` is set, which is checked ten times per second. Connections that are open
    /// then end with the process or when their clients close them. Calls `on_end` for each
    /// connection that ended for a reason other than being closed.
    ///
    /// # Errors
    /// The system does not let the sink wait for connections.
    pub fn run(
        &self,
        stop: &AtomicBool,
        on_end: &(impl Fn(SocketAddr, ConnectionEnd) + Clone + Send + 'static),
    ) -> Result<(), NetworkError> {
        while !stop.load(Ordering::Relaxed) {
            self.wait()?;
            loop {
                match self.listener.accept() {
                    Ok((stream, peer)) => self.take(stream, peer, on_end.clone()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // A client that gave up is not an error; a resource that ran out may be
                    // available later.
                    Err(_) => {
                        std::thread::sleep(POLL_INTERVAL);
                        break;
                    }
                }
                // Clients that keep connecting would otherwise keep this loop from its end.
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
            tv_nsec: POLL_INTERVAL.subsec_nanos().into(),
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
        on_end: impl Fn(SocketAddr, ConnectionEnd) + Send + 'static,
    ) {
        let counted = ConnectionGuard(Arc::clone(&self.connections));
        // Added before the check, because dropping `counted` also subtracts a client that is turned
        // away.
        let before = self.connections.fetch_add(1, Ordering::Acquire);
        if before >= self.connections_max {
            return self.reject_connection(stream);
        }
        let serving = Arc::clone(&self.state);
        let work = move || {
            let _counted = counted;
            if let Some(end) = connection(stream, &serving)
                && end != ConnectionEnd::Closed
            {
                on_end(peer, end);
            }
        };
        // If no thread can be started, the connection is closed, which the client detects.
        let thread = std::thread::Builder::new().name("connection".to_owned());
        let _ = thread.stack_size(STACK_BYTES).spawn(work);
    }

    /// Reports that the sink is at its limit, without waiting for the client.
    fn reject_connection(&self, mut stream: TcpStream) {
        let frame = Frame {
            connections_max: self.connections_max,
            ..Frame::new(FrameStatus::Full, NO_SECRET)
        };
        // A client that misses the frame still detects that the connection is closed.
        let _ = stream
            .set_nonblocking(true)
            .and_then(|()| stream.write_all(&frame.to_bytes()))
            .and_then(|()| stream.shutdown(Shutdown::Write));
    }
}

/// Serves one connection until its end; `None` if it cannot be set up.
fn connection(mut stream: TcpStream, serving: &SinkState) -> Option<ConnectionEnd> {
    // On Linux, the stream does not inherit the listener's mode, but other systems may differ.
    stream.set_nonblocking(false).ok()?;
    set_up(&stream, SILENCE_TIMEOUT).ok()?;
    let challenge = nonce().ok()?;
    Some(serve(&mut stream, serving, challenge))
}

/// Raises the limit of open files to the number that the connections need.
fn make_room(connections_max: u32) -> Result<(), NetworkError> {
    let need = u64::from(connections_max) + RESERVED_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= need) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(need),
        maximum: limit.maximum,
    };
    // Without privileges, a process can raise the soft limit only up to the hard limit.
    let is_within = limit.maximum.is_none_or(|maximum| maximum >= need);
    if is_within && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let most = limit
        .maximum
        .unwrap_or(need)
        .saturating_sub(RESERVED_DESCRIPTORS);
    Err(NetworkError::Connections {
        requested: connections_max,
        most: u32::try_from(most).unwrap_or(u32::MAX),
    })
}
