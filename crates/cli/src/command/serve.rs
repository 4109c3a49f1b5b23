//! `serve`: the page in the browser, and the API behind it.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use report::page_policy;
use web::{ServeOptions, Server};

use crate::args::ServeArgs;
use crate::beside::PROGRAM;
use crate::browser;
use crate::failure::{Exit, Failure};
use crate::stored::Place;
use crate::terminal::print;

/// Where the page is unless it is said where.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7764);
/// How far a page beside a run stands back.
const BESIDE_NICE: i32 = 10;
/// The variable that names the file with the token.
const TOKEN_FILE: &str = "PGMETER_TOKEN_FILE";

/// Serves until Ctrl-C.
pub(crate) fn serve(args: &ServeArgs, place: &Place) -> Result<Exit, Failure> {
    if args.beside_run.is_some() {
        // Whoever measures comes first; where that is refused, it is as all others are.
        let _ = rustix::process::nice(BESIDE_NICE);
    }
    let server = Server::new(options(args, place)?)?;
    let url = server.url();
    print(format!("{url}\n"))?;
    let opened = match args.open {
        true => Some(open(&url)),
        false => None,
    };
    server.run()?;
    drop(opened);
    Ok(Exit::Measured)
}

fn options(args: &ServeArgs, place: &Place) -> Result<ServeOptions, Failure> {
    let token_file = std::env::var_os(TOKEN_FILE).filter(|name| !name.is_empty());
    let store = place.path()?;
    Ok(ServeOptions {
        listen: args.listen.unwrap_or(LISTEN),
        takes_next_port: args.listen.is_none(),
        allow_hosts: args.allow_host.clone(),
        roots: args.target.clone(),
        overwrite_devices: args.overwrite_device.clone(),
        // Processes that are asked have another current directory.
        store: std::path::absolute(&store).unwrap_or(store),
        program: PathBuf::from(PROGRAM),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        token_file: token_file.map(PathBuf::from),
        report_policy: page_policy(),
        beside_run: args.beside_run.clone(),
    })
}

/// A file that leads a browser to the page, as long as the page is there: on a command line, every
/// user of the machine would read the token.
struct Opener(PathBuf);

impl Drop for Opener {
    fn drop(&mut self) {
        // It leads nowhere by then.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens the page. It is there all the same where that fails, so that is a warning.
fn open(url: &str) -> Option<Opener> {
    let opener = match opener(url) {
        Ok(opener) => opener,
        Err(error) => {
            tell!("warning: cannot make a file that opens the page: {error}");
            return None;
        }
    };
    let path = opener.0.clone();
    // A browser that runs in the terminal needs the page while it is waited for.
    let shown = std::thread::Builder::new().name("browser".to_owned());
    let shown = shown.spawn(move || show(&path));
    if let Err(error) = shown {
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

fn opener(url: &str) -> std::io::Result<Opener> {
    let mut random = [0; 12];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|name| !name.is_empty());
    let directory = own.map_or_else(std::env::temp_dir, PathBuf::from);
    let path = directory.join(format!("pgmeter-{random}.html"));
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)?;
    let opener = Opener(path);
    // A URL of ours has nothing that HTML would take for its own.
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\"><title>pgmeter</title>"
    )?;
    Ok(opener)
}
