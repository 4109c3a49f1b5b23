//! The page, whose files the build compresses into the program.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

use axum::extract;
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use flate2::read::DeflateDecoder;

use crate::answer::{Answer, RefusedAnswer, typed};
use crate::shared::State;

const DEFLATED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/page.deflate"));

/// Contents of the page's files by name.
static FILES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut text = String::new();
    // The data comes from the build, and a test reads it, so this cannot fail.
    let _ = DeflateDecoder::new(DEFLATED).read_to_string(&mut text);
    let mut parts = text.split_terminator('\0').map(str::to_owned);
    std::iter::from_fn(|| Some((parts.next()?, parts.next()?))).collect()
});

/// Style of the report's pages, which this page also uses.
const BASE: &str = "base.css";
/// Charts of the report's pages.
const CHARTS: &str = "charts.js";

/// The start page, which loads the other files.
pub(crate) async fn index() -> Answer {
    file("index.html", None)
}

/// A script or style of the page.
pub(crate) async fn asset(shared: State, extract::Path(name): extract::Path<String>) -> Answer {
    let report_text = match name.as_str() {
        BASE => Some(shared.options.report_style),
        CHARTS => Some(shared.options.report_charts),
        _ => None,
    };
    file(&name, report_text)
}

/// The file with this name: a text of the report, or a file of the page.
fn file(name: &str, report_text: Option<&'static str>) -> Answer {
    let text = report_text.or_else(|| FILES.get(name).map(String::as_str));
    let text = text.ok_or_else(RefusedAnswer::not_found)?;
    let kind = match name.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    let mut answer = typed(kind, text.as_bytes());
    // Another version of the program may serve the same address next, so browsers must ask.
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_asset_of_the_page_is_served() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let on_disk: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(!on_disk.contains(BASE) && !on_disk.contains(CHARTS));
        let served: BTreeSet<String> = FILES.keys().cloned().collect();
        assert_eq!(served, on_disk);
    }

    #[test]
    fn modules_are_loaded_from_this_server_only_and_every_one_exists() {
        for (name, text) in &*FILES {
            for line in text.lines().filter(|line| line.contains(" from \"")) {
                let named = line.split(" from \"").nth(1).unwrap();
                let named = named.split('"').next().unwrap().trim_start_matches("./");
                assert!(FILES.contains_key(named) || named == CHARTS, "{line}");
            }
            let is_script = name.ends_with(".js");
            // The security policy allows only scripts from files.
            for inline in ["innerHTML", "insertAdjacentHTML", "eval(", "https://"] {
                assert!(!is_script || !text.contains(inline), "{inline} in {name}");
            }
        }
    }
}
