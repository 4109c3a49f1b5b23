//! Comparisons of stored runs.

use std::ffi::OsString;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, RefusedAnswer, json, report_page};
use crate::body::Parameters;
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// Maximum number of runs in one comparison.
const RUNS_MAX: usize = 32;

/// Runs to compare.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareQuery {
    /// Ids of two or more runs, separated by commas; each is compared with the first. `tag:NAME`
    /// stands for all runs with the tag, taken together. With `published`, one run is enough.
    pub runs: String,
    /// A published experiment to compare with, as in `compare --published`.
    pub published: Option<String>,
    /// `true` to compare runs that measured different things.
    pub force: bool,
}

/// `GET /api/compare`
pub(crate) async fn compare(shared: State, Parameters(query): Parameters<CompareQuery>) -> Answer {
    Ok(json(compared(&shared.0, query, "json").await?))
}

/// `GET /api/compare/page`
pub(crate) async fn page(shared: State, Parameters(query): Parameters<CompareQuery>) -> Answer {
    let text = compared(&shared.0, query, "html").await?;
    Ok(report_page(text, &shared.options.report_policy))
}

async fn compared(
    shared: &Arc<Shared>,
    query: CompareQuery,
    format: &str,
) -> Result<Vec<u8>, RefusedAnswer> {
    let named: Vec<String> = query.runs.split(',').map(str::to_owned).collect();
    if named.len() > RUNS_MAX {
        return Err(RefusedAnswer::bad(format!(
            "at most {RUNS_MAX} runs can be compared at once"
        )));
    }
    // Resolve names in the store, because `compare` would also accept names of files.
    let ids = shared.with_store(move |store| {
        let resolve = |name: &String| match name.starts_with("tag:") {
            // `compare` uses the tag as the name of the side.
            true => store.resolve_all(name).map(|_| name.clone()),
            false => store.resolve(name),
        };
        Ok(named.iter().map(resolve).collect::<Result<Vec<_>, _>>()?)
    });
    let mut arguments = words(["compare", "--format", format]);
    arguments.extend(ids.await?.into_iter().map(OsString::from));
    if let Some(published) = query.published {
        // In one argument, so that a value that begins with a hyphen is not an option.
        arguments.push(format!("--published={published}").into());
    }
    if query.force {
        arguments.push("--force".into());
    }
    ask(shared, arguments, None).await?.checked()
}
