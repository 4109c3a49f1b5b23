//! Answers: documents, refusals, and the headers that every answer has.

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
use units::{JsonDocument, excerpts};

/// What pages of this server may do: load from it, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' \
    data:; connect-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'none'";

/// Puts the headers on an answer that every one has, unless it has its own.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let common: [(HeaderName, &'static str); 6] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
        (
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

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    document: RefusedRequest,
}

/// Why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedRequest {
    /// What is wrong, in lower case and without a full stop.
    pub error: String,
    /// What to do about it, if anything.
    pub help: Option<String>,
}

impl JsonDocument for RefusedRequest {
    const FORMAT: &'static str = "pgmeter-serve-error/1";
}

impl Refusal {
    /// A refusal with that status.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            document: RefusedRequest {
                error: excerpts(&error.into()).into_owned(),
                help: None,
            },
        }
    }

    /// The request is not what it should be.
    pub fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is no such thing.
    pub fn missing(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// It is not allowed here.
    pub fn forbidden(error: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    /// It does not fit what is going on.
    pub fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    /// The server or the system failed.
    pub fn failed(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// With something to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.document.help = Some(excerpts(&help.into()).into_owned());
        self
    }

    /// What is wrong.
    pub fn error(&self) -> &str {
        &self.document.error
    }
}

impl From<StoreError> for Refusal {
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

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut answer = json(self.document.to_document());
        *answer.status_mut() = self.status;
        answer
    }
}

/// What a handler comes to.
pub(crate) type Answer = Result<Response, Refusal>;

/// A document.
pub(crate) fn document<T: JsonDocument>(it: &T) -> Answer {
    Ok(json(it.to_document()))
}

/// A document with another status than 200.
pub(crate) fn document_with<T: JsonDocument>(status: StatusCode, it: &T) -> Answer {
    let mut answer = json(it.to_document());
    *answer.status_mut() = status;
    Ok(answer)
}

/// JSON that is a text already.
pub(crate) fn json(text: impl Into<Body>) -> Response {
    typed("application/json", text)
}

/// A body of that type.
pub(crate) fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Has browsers keep it as a file of that name.
pub(crate) fn as_file(mut answer: Response, name: &str) -> Response {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let name: String = name.chars().filter(is_plain).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        answer.headers_mut().insert(CONTENT_DISPOSITION, value);
    }
    answer
}

/// A page of the report's, which stands alone under a security policy of its own.
pub(crate) fn report_page(text: Vec<u8>, policy: &str) -> Response {
    let mut answer = typed("text/html; charset=utf-8", text);
    let policy = format!("{policy}; frame-ancestors 'none'");
    if let Ok(value) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, value);
    }
    answer
}
