//! The board's site, and the places of runs on the board.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use axum::extract::Path;

use crate::answer::{Answer, RefusedAnswer, json, report_page, typed};
use crate::blocking::blocking;
use crate::board::{BoardState, BuiltSite};
use crate::options::ServedBoard;
use crate::program::{ask, words};
use crate::scratch::{SITE, Scratch};
use crate::shared::{Shared, State};

/// `GET /board/{*path}`
pub(crate) async fn page(shared: State, Path(path): Path<String>) -> Answer {
    let site = current_site(&shared.0).await?;
    let kind = match path.rsplit_once('.') {
        Some((_, "html")) => None,
        Some((_, "json")) => Some("application/json"),
        Some((_, "csv")) => Some("text/csv; charset=utf-8"),
        Some((_, "xml")) => Some("application/atom+xml; charset=utf-8"),
        _ => return Err(RefusedAnswer::not_found()),
    };
    let bytes = blocking(move || site.read(&path)).await?;
    Ok(match kind {
        Some(kind) => typed(kind, bytes),
        None => report_page(bytes, &board_of(&shared)?.policy),
    })
}

/// `GET /api/runs/{id}/standings`
pub(crate) async fn standings(shared: State, Path(id): Path<String>) -> Answer {
    let directory = board_of(&shared)?.directory.clone();
    // The command would also accept the name of a file.
    let id = shared
        .with_store(move |store| Ok(store.resolve(&id)?))
        .await?;
    let mut arguments = words(["board", "rank", &id, "--json", "--board"]);
    arguments.push(directory.into());
    Ok(json(ask(&shared.0, arguments, None).await?.checked()?))
}

/// Returns the board of the server.
fn board_of(shared: &Shared) -> Result<&ServedBoard, RefusedAnswer> {
    shared.options.board.as_ref().ok_or_else(|| {
        RefusedAnswer::missing("this server shows no board")
            .help("start `pgmeter serve` with `--board DIR`")
    })
}

/// Returns the site of the board as it is now.
async fn current_site(shared: &Arc<Shared>) -> Result<Arc<BuiltSite>, RefusedAnswer> {
    let directory = board_of(shared)?.directory.clone();
    // Held during a build, so that simultaneous requests wait for one build instead of starting
    // several.
    let mut newest = shared.sites.0.lock().await;
    let at = directory.clone();
    // Before the build: a file that changes during it causes another build.
    let state = blocking(move || BoardState::of(&at).map_err(|error| unreadable(&at, &error)));
    let state = state.await?;
    if let Some(site) = newest.as_ref().filter(|it| it.state == state) {
        return Ok(Arc::clone(site));
    }
    let failed = |error: io::Error| {
        RefusedAnswer::failed(format!("cannot make a directory for the site: {error}"))
    };
    let scratch = Scratch::with(None).map_err(failed)?;
    let mut arguments = words(["board", "build"]);
    arguments.extend([
        directory.into_os_string(),
        OsString::from("--output"),
        scratch.path().join(SITE).into_os_string(),
    ]);
    ask(shared, arguments, None).await?.checked()?;
    let site = Arc::new(BuiltSite { state, scratch });
    *newest = Some(Arc::clone(&site));
    Ok(site)
}

fn unreadable(directory: &std::path::Path, error: &io::Error) -> RefusedAnswer {
    let directory = directory.display();
    RefusedAnswer::failed(format!("cannot read the board `{directory}`: {error}"))
}
