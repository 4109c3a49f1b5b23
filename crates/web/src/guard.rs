//! Decides which requests are allowed. A request must name this server, come from this server's
//! page, and have the token. Requests that change something must look like requests of the page's
//! scripts.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, LOCATION,
    ORIGIN, SET_COOKIE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::answer::{RefusedAnswer, protect, typed};
use crate::body::{BODY_BYTES_MAX, too_large};
use crate::shared::{Shared, State};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Address of the page.
const ROOT: &str = "/";
/// Intermediate address after a browser has received its cookie.
const ENTER: &str = "/enter";

/// After a link from another site, a browser does not send a strict cookie. This intermediate page
/// continues to `/` from this server's own site, so the cookie is sent.
const ENTRY_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <link rel=\"icon\" href=\"data:,\">\
    <meta http-equiv=\"refresh\" content=\"0; url=/\"><title>pgmeter</title>\
    <p><a href=\"/\">Continue to pgmeter</a></p></html>\n";

const NO_TOKEN_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <title>pgmeter</title><h1>This page needs its token</h1>\
    <p>Open the URL that <code>pgmeter serve</code> printed; it ends in \
    <code>?token=</code> and the token.</p></html>\n";

/// Decision on a request.
enum Admission {
    /// Pass the request to its route.
    Pass,
    /// Answer the request here.
    Answer(Box<Response>),
}

impl Admission {
    fn answer(answer: Response) -> Self {
        Self::Answer(Box::new(answer))
    }
}

/// Passes permitted requests to their routes; answers all others.
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

fn admit(shared: &Arc<Shared>, request: &Request) -> Result<Admission, RefusedAnswer> {
    // First, and for every path. A page of another site may resolve its own name to this address
    // (DNS rebinding), and must then read nothing, not even a file of the page.
    check_host(shared, request)?;
    // Refused by the announced length, before the body is received.
    check_length(request.headers())?;
    let path = request.uri().path();
    let is_entry = path == ROOT || path == ENTER;
    // A link on any site may lead to the page. These two addresses change nothing and reveal
    // nothing.
    if !is_entry {
        check_site(request.headers())?;
    }
    if path == ENTER {
        return Ok(Admission::answer(typed(
            "text/html; charset=utf-8",
            ENTRY_PAGE,
        )));
    }
    if path == ROOT
        && let Some(token) = token_of(request.uri().query())
    {
        return Ok(Admission::answer(exchange(shared, token)));
    }
    if !is_known(shared, request.headers()) {
        return Ok(Admission::answer(unauthorized(match path {
            ROOT => typed("text/html; charset=utf-8", NO_TOKEN_PAGE),
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

/// The only value of a header; `None` if it is missing, an error if there are several.
fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, RefusedAnswer> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (first, None) => Ok(first),
        // A proxy and this server could use different ones.
        _ => Err(RefusedAnswer::bad(format!(
            "the header `{name}` appears twice"
        ))),
    }
}

fn check_host(shared: &Shared, request: &Request) -> Result<(), RefusedAnswer> {
    let host = only(request.headers(), &HOST)?.and_then(|value| value.to_str().ok());
    let host = host.unwrap_or_default();
    // A request line may contain a whole URL, whose host takes precedence over the header (RFC
    // 9112, section 3.2.2).
    let in_line = request.uri().authority().map(|it| it.as_str());
    let is_taken = shared.hosts.takes(host) && in_line.is_none_or(|it| shared.hosts.takes(it));
    if is_taken {
        return Ok(());
    }
    let error = "this server does not accept that host name";
    Err(RefusedAnswer::forbidden(error).help(
        "use `127.0.0.1` or `localhost`; allow other names with `--allow-host` of \
         `pgmeter serve`",
    ))
}

fn check_length(headers: &HeaderMap) -> Result<(), RefusedAnswer> {
    let value = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
    let length = value.and_then(|it| it.parse::<usize>().ok());
    match length.is_some_and(|length| length > BODY_BYTES_MAX) {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// Refuses requests from pages of other sites, if the browser reports the site.
fn check_site(headers: &HeaderMap) -> Result<(), RefusedAnswer> {
    let site = only(headers, &SEC_FETCH_SITE)?.map(HeaderValue::as_bytes);
    match site {
        // Scripts and old browsers do not send the header.
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(RefusedAnswer::forbidden(
            "a page of another server asks this",
        )),
    }
}

fn check_change(headers: &HeaderMap) -> Result<(), RefusedAnswer> {
    // Compared with `Host`, not with the own port: `ssh -L` shows this server at another one.
    if let Some(origin) = only(headers, &ORIGIN)? {
        let host = only(headers, &HOST)?.map(HeaderValue::as_bytes);
        let own = origin.as_bytes().strip_prefix(b"http://");
        if own.is_none() || own != host {
            return Err(RefusedAnswer::forbidden(
                "a page of another server asks this",
            ));
        }
    }
    // Pages of other sites can send this type only after a preflight, which this server never
    // permits.
    let kind = only(headers, &CONTENT_TYPE)?.and_then(|it| it.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    match kind.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(RefusedAnswer::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "a request that changes something needs `Content-Type: application/json`",
        )),
    }
}

fn token_of(query: Option<&str>) -> Option<&str> {
    let mut pairs = query?.split('&');
    // Tokens consist of characters that need no percent-encoding.
    pairs.find_map(|pair| pair.strip_prefix("token="))
}

/// Exchanges the token for a cookie.
fn exchange(shared: &Shared, token: &str) -> Response {
    if !shared.token.matches_token(token.as_bytes()) {
        return unauthorized(typed("text/html; charset=utf-8", NO_TOKEN_PAGE));
    }
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/",
        cookie_name(shared.port),
        shared.token.cookie()
    );
    // The redirect takes the token out of the address that the browser shows.
    let mut answer = StatusCode::SEE_OTHER.into_response();
    let headers = answer.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(ENTER));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.insert(SET_COOKIE, cookie);
    }
    answer
}

/// The name contains the port, because browsers send cookies to all ports of a host.
fn cookie_name(port: u16) -> String {
    format!("pgmeter-{port}")
}

fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    if let Some(credentials) = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes) {
        let (scheme, token) = credentials.split_at(credentials.len().min(7));
        let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ");
        // A wrong token is not excused by a cookie.
        return is_bearer && shared.token.matches_token(token.trim_ascii());
    }
    let name = cookie_name(shared.port);
    let cookies = headers.get_all(COOKIE).iter();
    let mut pairs = cookies.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    pairs.any(|pair| {
        let pair = pair.trim_ascii();
        let value = pair.strip_prefix(name.as_bytes());
        let value = value.and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|value| shared.token.matches_cookie(value))
    })
}

fn unknown() -> RefusedAnswer {
    RefusedAnswer::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong").help(
        "send it as `Authorization: Bearer TOKEN`, or open the URL that `pgmeter serve` printed",
    )
}

fn unauthorized(mut answer: Response) -> Response {
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    answer
}
