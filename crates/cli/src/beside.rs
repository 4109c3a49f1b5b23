//! The page beside a run: a `pgmeter serve` that shows it, and ends when it is over.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use results::RunEvent;

use crate::stored::Place;

/// This program, also when its file was replaced meanwhile.
pub(crate) const PROGRAM: &str = "/proc/self/exe";

/// The page beside a run. Where there is none, that is a warning: measuring goes on.
#[derive(Debug)]
pub(crate) struct Beside {
    store: Option<PathBuf>,
    server: Option<Child>,
}

impl Beside {
    /// `is_wanted` is whether there is to be a page.
    pub fn new(is_wanted: bool, place: &Place) -> Self {
        let store = is_wanted.then(|| place.path().ok()).flatten();
        Self {
            store,
            server: None,
        }
    }

    /// Serves the page from the beginning of the run, before anything is measured.
    pub fn hear(&mut self, event: &RunEvent) {
        let (RunEvent::Started { record }, Some(store)) = (event, self.store.take()) else {
            return;
        };
        match serve(store, &record.id) {
            Ok((server, url)) => {
                tell!("page: {url}");
                self.server = Some(server);
            }
            Err(error) => tell!("warning: there is no page beside this run: {error}"),
        }
    }
}

/// Starts the server, and waits for its URL.
fn serve(store: PathBuf, run: &str) -> std::io::Result<(Child, String)> {
    let store = std::path::absolute(&store).unwrap_or(store);
    let mut server = Command::new(PROGRAM)
        .arg0("pgmeter")
        .args(["serve", "--beside-run", run, "--db"])
        .arg(store)
        .current_dir("/")
        .stdin(target::null_device()?)
        .stdout(Stdio::piped())
        .stderr(target::null_device()?)
        // Ctrl-C is for the run, with which it ends.
        .process_group(0)
        .spawn()?;
    let mut url = String::new();
    if let Some(output) = server.stdout.take() {
        BufReader::new(output).read_line(&mut url)?;
    }
    match url.trim() {
        "" => Err(std::io::Error::other("it did not begin")),
        url => Ok((server, url.to_owned())),
    }
}
