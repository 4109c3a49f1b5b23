//! Who may ask, in this order: for this server, from a page of it, with the token; and what changes
//! something only as a script of the page sends it.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, LOCATION,
    ORIGIN, SET_COOKIE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::answer::{Refusal, protect, typed};
use crate::body::{BODY_BYTES_MAX, too_large};
use crate::shared::{Shared, State};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The page itself.
const ROOT: &str = "/";
/// Where a browser goes on to the page with its new cookie.
const ENTER: &str = "/enter";

/// A browser that comes from elsewhere sends a strict cookie only once a page of here has led it
/// on, which this one does.
const ENTRY: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <link rel=\"icon\" href=\"data:,\">\
    <meta http-equiv=\"refresh\" content=\"0; url=/\"><title>pgmeter</title>\
    <p><a href=\"/\">Go on to pgmeter</a></p></html>\n";

const NO_TOKEN: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>pgmeter</title><h1>This page needs its token</h1>\
    <p>Open the URL that <code>pgmeter serve</code> printed; it ends in \
    <code>?token=</code> and the token.</p></html>\n";

/// What becomes of a request.
enum Admission {
    /// It goes on to its route.
    Pass,
    /// It is answered here.
    Answer(Box<Response>),
}

impl Admission {
    fn answer(answer: Response) -> Self {
        Self::Answer(Box::new(answer))
    }
}

/// Lets a request pass that may.
pub(crate) async fn guard(shared: State, request: Request, next: Next) -> Response {
    let admission = admit(&shared, &request)
        .unwrap_or_else(|refusal| Admission::answer(refusal.into_response()));
    let mut answer = match admission {
        Admission::Pass => next.run(request).await,
        Admission::Answer(answer) => *answer,
    };
    protect(answer.headers_mut());
    answer
}

fn admit(shared: &Arc<Shared>, request: &Request) -> Result<Admission, Refusal> {
    check_host(shared, request)?;
    check_length(request.headers())?;
    let path = request.uri().path();
    let is_entry = path == ROOT || path == ENTER;
    if !is_entry {
        check_site(request.headers())?;
    }
    if path == ENTER {
        return Ok(Admission::answer(typed("text/html; charset=utf-8", ENTRY)));
    }
    if path == ROOT
        && let Some(said) = token_of(request.uri().query())
    {
        return Ok(Admission::answer(exchange(shared, said)));
    }
    if !is_known(shared, request.headers()) {
        return Ok(Admission::answer(not_known(match path {
            ROOT => typed("text/html; charset=utf-8", NO_TOKEN),
            _ => unknown().into_response(),
        })));
    }
    let changes = ![Method::GET, Method::HEAD].contains(request.method());
    if changes {
        check_site(request.headers())?;
        check_change(request.headers())?;
    }
    Ok(Admission::Pass)
}

/// The one value of a header; none where it is missing, an error where there are several.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        _ => Err(Refusal::bad(format!("the header `{name}` is there twice"))),
    }
}

fn check_host(shared: &Shared, request: &Request) -> Result<(), Refusal> {
    let said = only(request.headers(), &HOST)?.and_then(|value| value.to_str().ok());
    let said = said.unwrap_or_default();
    let in_line = request.uri().authority().map(|it| it.as_str());
    let is_taken = shared.hosts.takes(said) && in_line.is_none_or(|it| shared.hosts.takes(it));
    if is_taken {
        return Ok(());
    }
    let error = "this server is not asked by that name";
    Err(Refusal::forbidden(error).help(
        "use `127.0.0.1` or `localhost`; other names must be given to `pgmeter serve` in \
         `--allow-host`",
    ))
}

fn check_length(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    let length = said.and_then(|it| it.parse::<usize>().ok());
    match length.is_some_and(|length| length > BODY_BYTES_MAX) {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// Refuses what a page of elsewhere asks, where the browser says so.
fn check_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = only(headers, &SEC_FETCH_SITE)?.map(HeaderValue::as_bytes);
    match said {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Refusal::forbidden("a page of another server asks this")),
    }
}

fn check_change(headers: &HeaderMap) -> Result<(), Refusal> {
    if let Some(origin) = only(headers, &ORIGIN)? {
        let host = only(headers, &HOST)?.map(HeaderValue::as_bytes);
        let own = origin.as_bytes().strip_prefix(b"http://");
        if own.is_none() || own != host {
            return Err(Refusal::forbidden("a page of another server asks this"));
        }
    }
    let kind = only(headers, &CONTENT_TYPE)?.and_then(|it| it.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    match kind.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "what changes something must have `Content-Type: application/json`",
        )),
    }
}

/// The token in a query.
fn token_of(query: Option<&str>) -> Option<&str> {
    let mut pairs = query?.split('&');
    pairs.find_map(|pair| pair.strip_prefix("token="))
}

/// A cookie for the token.
fn exchange(shared: &Shared, said: &str) -> Response {
    if !shared.token.is_known_by(said.as_bytes()) {
        return not_known(typed("text/html; charset=utf-8", NO_TOKEN));
    }
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/",
        cookie_name(shared.port),
        shared.token.cookie()
    );
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let headers = answer.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(ENTER));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
    answer
}

/// Cookies are those of a host, not of a port.
fn cookie_name(port: u16) -> String {
    format!("pgmeter-{port}")
}

fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    if let Some(said) = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes) {
        let (scheme, token) = said.split_at(said.len().min(7));
        let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ");
        return is_bearer && shared.token.is_known_by(token.trim_ascii());
    }
    let name = cookie_name(shared.port);
    let cookies = headers.get_all(COOKIE).iter();
    let mut pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    pairs.any(|pair| {
        let pair = pair.trim_ascii();
        let value = pair.strip_prefix(name.as_bytes());
        let value = value.and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|value| shared.token.is_cookie(value))
    })
}

fn unknown() -> Refusal {
    Refusal::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong").help(
        "send it as `Authorization: Bearer TOKEN`, or open the URL that `pgmeter serve` printed",
    )
}

fn not_known(mut answer: Response) -> Response {
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    answer
}
