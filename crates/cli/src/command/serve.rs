//! `serve`: the web page and its API.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use board::BoardSite;
use report::{page_charts, page_policy, page_style};
use web::{ServeOptions, ServedBoard, Server};

use crate::args::ServeArgs;
use crate::browser;
use crate::command::board::OpenBoard;
use crate::failure::{CliError, Exit};
use crate::live_page::PROGRAM;
use crate::stored::StoreLocation;
use crate::terminal::print;

/// Default address and port of the page.
const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7764);
/// Nice value of the server of a live page.
const LIVE_PAGE_NICE: i32 = 10;
/// Environment variable that names the file with the token.
const TOKEN_FILE: &str = "PGMETER_TOKEN_FILE";

/// Serves until Ctrl-C.
pub(crate) fn serve(args: &ServeArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    if args.beside_run.is_some() {
        // The measurement has priority. If this fails, the server runs at normal priority.
        let _ = rustix::process::nice(LIVE_PAGE_NICE);
    }
    let server = Server::new(options(args, location)?)?;
    let url = server.url();
    print(format!("{url}\n"))?;
    let opened = match args.open {
        true => Some(open(&url)),
        false => None,
    };
    server.run()?;
    // The file must exist until here, because a slow browser may read it long after the start.
    drop(opened);
    Ok(Exit::Success)
}

fn options(args: &ServeArgs, location: &StoreLocation) -> Result<ServeOptions, CliError> {
    let token_file = std::env::var_os(TOKEN_FILE).filter(|name| !name.is_empty());
    let store = location.path()?;
    Ok(ServeOptions {
        listen: args.listen.unwrap_or(DEFAULT_ADDRESS),
        // A requested port must not silently become another one.
        takes_next_port: args.listen.is_none(),
        allow_hosts: args.allow_host.clone(),
        roots: args.target.clone(),
        overwrite_devices: args.overwrite_device.clone(),
        // Processes started by the server have another working directory.
        store: std::path::absolute(&store).unwrap_or(store),
        program: PathBuf::from(PROGRAM),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        token_file: token_file.map(PathBuf::from),
        has_metrics: args.metrics,
        report_policy: page_policy(),
        report_style: page_style(),
        report_charts: page_charts(),
        board: args.board.as_deref().map(served).transpose()?,
        beside_run: args.beside_run.clone(),
    })
}

/// Returns the board to show; refuses a directory without one before the page is served.
fn served(board: &Path) -> Result<ServedBoard, CliError> {
    let directory = OpenBoard::open(board)?.directory;
    Ok(ServedBoard {
        directory: std::path::absolute(&directory).unwrap_or(directory),
        policy: BoardSite::policy(),
    })
}

/// A file that redirects a browser to the page, removed when the server ends. On a command line,
/// every user of the machine could read the token in the URL.
struct RedirectFile(PathBuf);

impl Drop for RedirectFile {
    fn drop(&mut self) {
        // The server has ended by then, so the redirect is useless.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens the page in the browser. An error is only a warning, because the page itself is available.
fn open(url: &str) -> Option<RedirectFile> {
    let opener = match opener(url) {
        Ok(opener) => opener,
        Err(error) => {
            tell!("warning: cannot create a file that opens the page: {error}");
            return None;
        }
    };
    let path = opener.0.clone();
    // The server must run while `browser::show` waits for a browser in the terminal.
    let thread = std::thread::Builder::new().name("browser".to_owned());
    let thread = thread.spawn(move || show(&path));
    if let Err(error) = thread {
        tell!("warning: cannot start the browser: {error}");
    }
    Some(opener)
}

fn show(page: &Path) {
    if let Err(not_shown) = browser::show(page) {
        tell!("warning: {}", not_shown.reason);
        tell!("help: open the URL above, or {}", not_shown.help);
    }
}

fn opener(url: &str) -> std::io::Result<RedirectFile> {
    let mut random = [0; 12];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    // Only this user may access that directory (XDG Base Directory Specification).
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|name| !name.is_empty());
    let directory = own.map_or_else(std::env::temp_dir, PathBuf::from);
    let path = directory.join(format!("pgmeter-{random}.html"));
    // With `create_new`, a link that another user put into a shared directory is not followed.
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let opener = RedirectFile(path);
    // The URL has no characters that need escaping in HTML.
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>pgmeter</title>"
    )?;
    Ok(opener)
}
