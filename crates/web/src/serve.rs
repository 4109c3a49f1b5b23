//! The server as a whole.

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
use crate::token::Token;

/// Threads that wait for the store and for other processes.
const WAITING_THREADS_MAX: usize = 8;
/// Such a thread ends when it had nothing to do for so long.
const THREAD_KEEP: Duration = Duration::from_secs(5);

/// How long a server goes on that is beside a run, once that is over.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// A server that has its port and its token.
#[derive(Debug)]
pub struct Server {
    listener: StdListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Takes the port, makes the token, and opens the store.
    ///
    /// # Errors
    /// When there is no port, when others could reach it and that was not asked for, or when the
    /// store, a root, a device or the token's file cannot be used.
    pub fn new(options: ServeOptions) -> Result<Self, WebError> {
        let hosts = HostNames::new(&options.allow_hosts)?;
        if !options.listen.ip().is_loopback() && options.allow_hosts.is_empty() {
            return Err(WebError::Reachable {
                address: options.listen,
            });
        }
        let roots = Roots::new(&options)?;
        let token = match &options.token_file {
            Some(path) => Token::in_file(path)?,
            None => Token::fresh()?,
        };
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

    /// The address to open, with the token.
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

    /// Serves until SIGINT or SIGTERM comes.
    ///
    /// # Errors
    /// When the system does not do what is needed.
    pub fn run(self) -> Result<(), WebError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(WAITING_THREADS_MAX)
            .thread_keep_alive(THREAD_KEEP)
            .thread_name("web")
            .build()
            .map_err(WebError::system("start the server"))?;
        let done = runtime.block_on(self.until_signal());
        // What is being asked for is not waited for.
        runtime.shutdown_background();
        done
    }

    async fn until_signal(self) -> Result<(), WebError> {
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

/// Waits until the run that the server is beside is over; for ever where it is beside none.
async fn over(shared: Arc<Shared>) {
    let Some(id) = shared.options.beside_run.clone() else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let run = id.clone();
        let is_live = shared.with_store(move |store| Ok(store.is_live(&run)?));
        if !is_live.await.unwrap_or(false) {
            // Whoever looks on has yet to hear of it.
            return tokio::time::sleep(LAST_WORDS).await;
        }
    }
}
