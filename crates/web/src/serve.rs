//! The server.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use store::Store;
use tokio::signal::unix::{SignalKind, signal};

use crate::drive::drive;
use crate::error::WebError;
use crate::host::HostNames;
use crate::listen::{bind, serve};
use crate::options::ServeOptions;
use crate::roots::Roots;
use crate::routes::router;
use crate::scratch::sweep;
use crate::shared::Shared;
use crate::token::PageToken;

/// Maximum number of threads that wait for the store or for other processes.
const WAITING_THREADS_MAX: usize = 8;
/// An idle thread ends after this time.
const THREAD_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time that a server stays up after the run that it accompanies has ended.
const LINGER_TIME: Duration = Duration::from_secs(3);

/// A server that has its port and its token.
#[derive(Debug)]
pub struct Server {
    listener: StdListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Binds the port, reads or creates the token, and checks the store.
    ///
    /// # Errors
    /// If no port is available, or if other machines could reach it without `--allow-host`. Also if
    /// the store, a root, a device or the token file is not usable.
    pub fn new(options: ServeOptions) -> Result<Self, WebError> {
        let hosts = HostNames::new(&options.allow_hosts)?;
        if !options.listen.ip().is_loopback() && options.allow_hosts.is_empty() {
            return Err(WebError::Reachable {
                address: options.listen,
            });
        }
        let roots = Roots::new(&options)?;
        let token = match &options.token_file {
            Some(path) => PageToken::in_file(path)?,
            None => PageToken::fresh()?,
        };
        // Only to report an unusable store at the start instead of at the first request.
        drop(Store::open(&options.store)?);
        sweep();
        let listener = bind(options.listen, options.takes_next_port)?;
        let address = listener
            .local_addr()
            .map_err(WebError::system("tell the port"))?;
        let shared = Shared::new(options, (address.port(), token), hosts, roots);
        Ok(Self {
            listener,
            address,
            shared: Arc::new(shared),
        })
    }

    /// The URL to open, including the token.
    #[must_use]
    pub fn url(&self) -> String {
        let port = self.address.port();
        let named = self.shared.options.allow_hosts.first();
        let host = match (self.address.ip().is_loopback(), named) {
            (false, Some(name)) if name.contains(':') => format!("[{name}]"),
            (false, Some(name)) => name.clone(),
            _ => match self.address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            },
        };
        format!("http://{host}:{port}/?token={}", self.shared.token.text())
    }

    /// Serves until SIGINT or SIGTERM arrives, or until the accompanied run has ended.
    ///
    /// # Errors
    /// If a system call fails.
    pub fn run(self) -> Result<(), WebError> {
        // One thread: the server takes its CPU time from runs on the same machine.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_keep_alive(THREAD_IDLE_TIMEOUT)
            .thread_name("web")
            .build()
            .map_err(WebError::system("start the server"))?;
        let done = runtime.block_on(self.serve_until_signal());
        // Do not wait for unfinished requests.
        runtime.shutdown_background();
        done
    }

    async fn serve_until_signal(self) -> Result<(), WebError> {
        let listener = tokio::net::TcpListener::from_std(self.listener)
            .map_err(WebError::system("use the port"))?;
        let failed = || WebError::system("catch signals");
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed())?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed())?;
        tokio::spawn(drive(Arc::clone(&self.shared)));
        let over = over(Arc::clone(&self.shared));
        tokio::select! {
            () = serve(listener, router(&self.shared)) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            () = over => {}
        }
        Ok(())
    }
}

/// Waits until the accompanied run has ended; forever if there is none.
async fn over(shared: Arc<Shared>) {
    let Some(id) = shared.options.beside_run.clone() else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let run = id.clone();
        let is_live = shared.with_store(move |store| Ok(store.is_live(&run)?));
        // A run that was removed, or an unreadable store, also ends the page.
        if !is_live.await.unwrap_or(false) {
            // Connected clients still need time to receive the last event.
            return tokio::time::sleep(LINGER_TIME).await;
        }
    }
}
