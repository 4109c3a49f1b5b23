//! Answers: documents, refusals, and common headers.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use store::StoreError;
use units::{JsonDocument, elide_long_words};

/// Content security policy of the page: it may load from this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
    data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'none'";

/// Adds the common headers to an answer, unless it sets its own.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let common: [(HeaderName, &'static str); 6] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The first URL contains the token, which must not reach another site as a referrer.
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        // Older browsers know this header instead of `frame-ancestors`.
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (
            // Without it, a page of another site could load an answer as a script or an image.
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in common {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

/// Answer to a refused request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedAnswer {
    pub status: StatusCode,
    document: RefusedRequest,
}

/// Reason for a refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedRequest {
    /// What is wrong, in lower case and without a full stop.
    pub error: String,
    /// One action that may help, if there is any.
    pub help: Option<String>,
}

impl JsonDocument for RefusedRequest {
    const FORMAT: &'static str = "pgmeter-serve-error/1";
}

impl RefusedAnswer {
    /// A refusal with the given status.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            document: RefusedRequest {
                // An error may quote the request, and a word of it may have a megabyte.
                error: elide_long_words(&error.into()).into_owned(),
                help: None,
            },
        }
    }

    /// 400: the request is invalid.
    pub fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// 404: the requested item does not exist.
    pub fn missing(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// 404: no route has this address.
    pub fn not_found() -> Self {
        Self::missing("there is no such page").help("`docs/api.md` lists all routes")
    }

    /// 403: the request is not allowed on this server.
    pub fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// 409: the request conflicts with the current state.
    pub fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// 500: the server or the system failed.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.document.help = Some(elide_long_words(&help.into()).into_owned());
        self
    }

    /// The error message.
    pub fn error(&self) -> &str {
        &self.document.error
    }
}

impl From<StoreError> for RefusedAnswer {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::NoSuchRun { .. }
            | StoreError::NoSuchLab { .. }
            | StoreError::IsLab { .. } => StatusCode::NOT_FOUND,
            StoreError::Ambiguous { .. } | StoreError::BadTag { .. } => StatusCode::BAD_REQUEST,
            StoreError::Running { .. } => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let help = error.help();
        let refusal = Self::new(status, error.to_string());
        match help {
            Some(help) => refusal.help(help),
            None => refusal,
        }
    }
}

impl IntoResponse for RefusedAnswer {
    fn into_response(self) -> Response {
        let mut answer = json(self.document.to_document());
        *answer.status_mut() = self.status;
        answer
    }
}

/// Result of a handler.
pub(crate) type Answer = Result<Response, RefusedAnswer>;

/// Answers with a document and status 200.
pub(crate) fn document<T: JsonDocument>(it: &T) -> Answer {
    Ok(json(it.to_document()))
}

/// Answers with a document and another status.
pub(crate) fn document_with<T: JsonDocument>(status: StatusCode, it: &T) -> Answer {
    let mut answer = json(it.to_document());
    *answer.status_mut() = status;
    Ok(answer)
}

/// Answers with text that is already JSON.
pub(crate) fn json(text: impl Into<Body>) -> Response {
    typed("application/json", text)
}

/// Answers with a body of the given content type.
pub(crate) fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Makes browsers download the answer as a file with this name.
pub(crate) fn as_file(mut answer: Response, name: &str) -> Response {
    // Anything else could end the quoted name and add to the header.
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let name: String = name.chars().filter(is_plain).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        answer.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    answer
}

/// A self-contained page of the report, with its own security policy.
pub(crate) fn report_page(text: Vec<u8>, policy: &str) -> Response {
    let mut answer = typed("text/html; charset=utf-8", text);
    // The page has its policy in a `meta` element, where browsers ignore `frame-ancestors`.
    let policy = format!("{policy}; frame-ancestors 'none'");
    if let Ok(value) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, value);
    }
    answer
}
