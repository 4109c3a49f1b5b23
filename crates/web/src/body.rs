//! Bodies of requests: JSON, of a limited size, in a limited time.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::answer::Refusal;

/// No request has more.
pub(crate) const BODY_BYTES_MAX: usize = 1 << 20;
/// What has not come by then is not waited for.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The JSON of a request.
#[derive(Debug)]
pub(crate) struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let read = to_bytes(request.into_body(), BODY_BYTES_MAX);
        let bytes = match tokio::time::timeout(TIME_MAX, read).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => return Err(too_large()),
            Err(_) => {
                let error = "the request took longer than 5 s";
                return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, error));
            }
        };
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Refusal::bad("the request is not UTF-8 text"))?;
        units::parse_json(text)
            .map(Self)
            .map_err(|error| Refusal::bad(format!("the request is not as it should be: {error}")))
    }
}

/// More than a request may hold, or less than it said.
pub(crate) fn too_large() -> Refusal {
    let error = format!("a request has at most {BODY_BYTES_MAX} bytes, and all that it announces");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error)
}
