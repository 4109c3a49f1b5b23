//! Bodies of requests: JSON of limited size, received in limited time; and their queries.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::answer::RefusedAnswer;

/// Maximum size of a request body, in bytes.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum time to receive the body.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// A request body parsed as JSON.
#[derive(Debug)]
pub(crate) struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = RefusedAnswer;

    async fn from_request(request: Request, _: &S) -> Result<Self, RefusedAnswer> {
        // The guard checks the announced length; a chunked body announces none.
        let read = to_bytes(request.into_body(), BODY_BYTES_MAX);
        // The connection limits only the time of the head.
        let bytes = match tokio::time::timeout(BODY_TIMEOUT, read).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => return Err(too_large()),
            Err(_) => {
                let error = "the request took longer than 5 s";
                return Err(RefusedAnswer::new(StatusCode::REQUEST_TIMEOUT, error));
            }
        };
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| RefusedAnswer::bad("the request is not UTF-8 text"))?;
        units::parse_json(text).map(Self).map_err(|error| {
            RefusedAnswer::bad(format!("the request is not the expected JSON: {error}"))
        })
    }
}

/// The query of a request's address.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = RefusedAnswer;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, RefusedAnswer> {
        // The library answers in plain text.
        let query = Query::from_request_parts(parts, state).await;
        let Query(parameters) = query.map_err(|it| RefusedAnswer::bad(it.body_text()))?;
        Ok(Self(parameters))
    }
}

/// The request is larger than allowed, or shorter than announced.
pub(crate) fn too_large() -> RefusedAnswer {
    let error = format!("a request has at most {BODY_BYTES_MAX} bytes and must be complete");
    RefusedAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, error)
}
