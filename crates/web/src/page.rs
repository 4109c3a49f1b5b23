//! The page: its files are in the program.

use axum::http::header::{CACHE_CONTROL, HeaderValue};

use crate::answer::{Answer, typed};

/// A file of the page.
pub(crate) struct Asset {
    pub path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// Every file of the page.
pub(crate) const ASSETS: &[Asset] = &[
    Asset {
        path: "/",
        kind: "text/html; charset=utf-8",
        bytes: include_bytes!("../assets/index.html"),
    },
    Asset {
        path: "/assets/page.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../assets/page.css"),
    },
    Asset {
        path: "/assets/page.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../assets/page.js"),
    },
];

/// A file of the page. Another program may be behind the same address next time, so browsers ask
/// each time.
pub(crate) async fn answer(asset: &'static Asset) -> Answer {
    let mut answer = typed(asset.kind, asset.bytes);
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}
