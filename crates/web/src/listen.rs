//! The port and its connections, with limits on their number and duration.

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

/// Number of further ports to try if the first one is in use.
const PORTS_TRIED: u16 = 100;
/// Maximum number of connections; more are refused with 503 and closed.
// More than the streams of events, which would otherwise leave no room for requests.
const CONNECTIONS_MAX: usize = 256;
/// Maximum size of a request without its body, in bytes.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// Maximum number of header fields.
const HEADERS_MAX: usize = 64;
/// Maximum time to receive the head of a request, also of later ones on a connection.
// Otherwise, clients that send one byte at a time could keep all connections.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time to read the remaining input of a connection after its last answer.
const LINGER_TIME: Duration = Duration::from_secs(2);

const FULL_RESPONSE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\n\
    Connection: close\r\n\r\n";

/// Binds to the address, or to the next free port if `takes_next` is set.
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
    // Tokio expects this of a listener that it takes over.
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Serves until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // Out of file descriptors, or the client has disconnected: try the next connection.
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

/// Answers that the server is full, if that is possible without waiting.
fn refuse(stream: &TcpStream) {
    // A client that does not read must not block the server.
    let _ = stream.try_write(FULL_RESPONSE);
}

async fn talk(stream: TcpStream, router: Router) {
    // Send events immediately, without Nagle's delay.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADER_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // An error of a connection ends only that connection.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let stream = connection.into_parts().io.into_inner();
    // Closing the socket while the client still sends would reset the connection and could lose the
    // answer.
    let _ = timeout(LINGER_TIME, linger(stream)).await;
}

/// Ends the output and reads the remaining input until the client closes the connection, too.
async fn linger(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut buffer = [0; 4 << 10];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}
