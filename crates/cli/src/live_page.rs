//! The live page of a run: a `pgmeter serve` that shows the run and exits when it is over.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use results::RunEvent;

use crate::stored::StoreLocation;

/// This program. The link works even if its file was replaced since the start.
pub(crate) const PROGRAM: &str = "/proc/self/exe";

/// The live page of a run. If it cannot be served, the run prints a warning and continues.
#[derive(Debug)]
pub(crate) struct LivePage {
    store: Option<PathBuf>,
    server: Option<Child>,
}

impl LivePage {
    /// `is_wanted`: `true` to serve a page.
    pub fn new(is_wanted: bool, location: &StoreLocation) -> Self {
        let store = is_wanted.then(|| location.path().ok()).flatten();
        Self {
            store,
            server: None,
        }
    }

    /// Starts the server at the first event of the run, before any measurement.
    pub fn on_event(&mut self, event: &RunEvent) {
        // A run reports `Started` before all other events, so no earlier event takes the path.
        let (RunEvent::Started { record }, Some(store)) = (event, self.store.take()) else {
            return;
        };
        match serve(store, &record.id) {
            Ok((server, url)) => {
                tell!("page: {url}");
                self.server = Some(server);
            }
            Err(error) => tell!("warning: cannot serve a live page for this run: {error}"),
        }
    }
}

/// Starts the server and waits for its URL.
fn serve(store: PathBuf, run: &str) -> std::io::Result<(Child, String)> {
    // The server starts in another directory.
    let store = std::path::absolute(&store).unwrap_or(store);
    let mut server = Command::new(PROGRAM)
        // Without it, lists of processes would show `/proc/self/exe`.
        .arg0("pgmeter")
        .args(["serve", "--beside-run", run, "--db"])
        .arg(store)
        .current_dir("/")
        // `Stdio::null` needs `/dev/null`, which small containers may lack.
        .stdin(storage::null_device()?)
        .stdout(Stdio::piped())
        .stderr(storage::null_device()?)
        // Ctrl-C must reach only the run. The server exits together with the run.
        .process_group(0)
        .spawn()?;
    let mut url = String::new();
    if let Some(output) = server.stdout.take() {
        // The pipe is closed afterwards; the server prints nothing else to standard output.
        BufReader::new(output).read_line(&mut url)?;
    }
    match url.trim() {
        "" => Err(std::io::Error::other("the server did not start")),
        url => Ok((server, url.to_owned())),
    }
}
