//! The port, and the connections to it: how many there may be, and how long each may take.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::error::WebError;

/// The port that is tried first, and how many behind it.
const PORTS_TRIED: u16 = 100;
/// No more connections are served at once; others are told so and closed.
const CONNECTIONS_MAX: usize = 256;
/// What a request may be, without its body.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Header fields of a request.
const HEADERS_MAX: usize = 64;
/// The head of a request has to come by then; also the next one of a connection.
const HEADER_TIME_MAX: Duration = Duration::from_secs(5);
/// What is still sent to a connection that has its last answer is read for so long.
const LINGER_TIME: Duration = Duration::from_secs(2);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\n\
    Connection: close\r\n\r\n";

/// Takes the port, or the next free one.
pub(crate) fn bind(address: SocketAddr, takes_next: bool) -> Result<StdListener, WebError> {
    let mut tried = address;
    let listener = loop {
        match StdListener::bind(tried) {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && takes_next
                    && tried.port() - address.port() < PORTS_TRIED
                    && tried.port() < u16::MAX =>
            {
                tried.set_port(tried.port() + 1);
            }
            done => break done,
        }
    };
    let failed = |source| WebError::Listen { address, source };
    let listener = listener.map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Serves until it is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Out of descriptors, or the other end has gone: the next one may do.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        match Arc::clone(&room).try_acquire_owned() {
            Ok(permit) => {
                let router = router.clone();
                tokio::spawn(async move {
                    talk(stream, router).await;
                    drop(permit);
                });
            }
            Err(_) => refuse(&stream),
        }
    }
}

/// Says that there is no room, as far as that goes at once.
fn refuse(stream: &TcpStream) {
    // Nobody waits for whoever does not read.
    let _ = stream.try_write(FULL);
}

async fn talk(stream: TcpStream, router: Router) {
    // Events are to be seen when they are sent.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // Whatever goes wrong with a connection ends that one.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let stream = connection.into_parts().io.into_inner();
    // Closed while its client still sends, it would be reset, and the answer may be lost.
    let _ = timeout(LINGER_TIME, linger(stream)).await;
}

/// Ends the answers, and reads what still comes until the other side has ended as well.
async fn linger(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut left = [0; 4 << 10];
    while stream.read(&mut left).await? > 0 {}
    Ok(())
}
