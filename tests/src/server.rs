//! `pgmeter serve`, and requests to it as bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::ScratchTarget;

/// What any answer may take; more is a hang.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A server that ends with the test.
#[derive(Debug)]
pub struct Server {
    /// None of a server that something else started.
    child: Option<Child>,
    /// Kept open, because the server ends if it cannot print.
    _output: Option<BufReader<ChildStdout>>,
    /// The URL that it printed.
    pub url: String,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The token that clients need.
    pub token: String,
}

/// An answer to an HTTP request.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The status; 0 where the connection was closed without an answer.
    pub status: u16,
    /// The head, without the first line.
    pub head: String,
    /// What follows it; of a stream with the lengths of its parts.
    pub body: String,
}

impl HttpAnswer {
    /// From all bytes of a connection.
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let (line, head) = head.split_once("\r\n").unwrap_or((head, ""));
        let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (header, value) = line.split_once(':')?;
            header.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("no document: {error}\n{}\n{}", self.head, self.body))
    }
}

impl Server {
    /// Starts a server that offers the bed's target.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(bed: &ScratchTarget, more: &[&str]) -> Self {
        let target = bed.target().to_string_lossy().into_owned();
        Self::with(bed, &[&["--target", &target], more].concat(), None)
    }

    /// Starts a server with these arguments and the token of a file.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn with(bed: &ScratchTarget, arguments: &[&str], token_file: Option<&Path>) -> Self {
        let mut command = bed.command(&[&["serve"], arguments].concat());
        command.env_remove("PGMETER_TOKEN_FILE");
        // Files of a killed server are removed with the scratch directory.
        command.env("TMPDIR", bed.path());
        if let Some(path) = token_file {
            command.env("PGMETER_TOKEN_FILE", path);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let output = child.stdout.take().expect("its output is a pipe");
        let mut output = BufReader::new(output);
        let mut url = String::new();
        output.read_line(&mut url).expect("it prints its URL");
        let mut server = Self::at(url.trim());
        (server.child, server._output) = (Some(child), Some(output));
        server
    }

    /// A server at this URL that the caller starts and ends.
    ///
    /// # Panics
    /// If the URL is not that of a server.
    #[must_use]
    pub fn at(url: &str) -> Self {
        let rest = url.strip_prefix("http://").unwrap_or_default();
        let (host, token) = rest.split_once("/?token=").unwrap_or_default();
        let port = host.rsplit(':').next().and_then(|port| port.parse().ok());
        let port: u16 = port.unwrap_or_else(|| panic!("no URL: {url}"));
        Self {
            child: None,
            _output: None,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            token: token.to_owned(),
            url: url.to_owned(),
        }
    }

    /// The process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.as_ref().expect("a server of this test").id()
    }

    /// Kills the process as nothing can prevent.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(mut self) {
        let child = self.child.as_mut().expect("a server of this test");
        child.kill().expect("the server runs");
        child.wait().expect("the server ends");
    }

    /// Waits for the end, and returns the exit code; none when a signal ended it.
    ///
    /// # Panics
    /// When it cannot be waited for.
    pub fn wait(&mut self) -> Option<i32> {
        let child = self.child.as_mut().expect("a server of this test");
        child.wait().expect("the server ends").code()
    }

    /// Sends bytes, and returns all that comes back until the connection is closed.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn raw(&self, bytes: &[u8]) -> HttpAnswer {
        let mut stream = self.connect();
        // The server may refuse the request before it is completely sent.
        let _ = stream.write_all(bytes);
        read_all(&mut stream)
    }

    /// A connection to the server.
    ///
    /// # Panics
    /// If the server does not accept it.
    #[must_use]
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream
            .set_read_timeout(Some(TIMEOUT))
            .expect("a socket accepts a timeout");
        stream
    }

    /// Sends a request with the token and these header lines.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn ask_with(&self, line: &str, headers: &[&str], body: &str) -> HttpAnswer {
        let authorization = format!("Authorization: Bearer {}", self.token);
        let all = [&[authorization.as_str()], headers].concat();
        self.ask_bare(line, &all, body)
    }

    /// Sends a request with only these header lines and the host.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn ask_bare(&self, line: &str, headers: &[&str], body: &str) -> HttpAnswer {
        let mut request = format!("{line} HTTP/1.1\r\n");
        let has_host = headers.iter().any(|it| it.starts_with("Host:"));
        if !has_host {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for header in headers {
            request.push_str(&format!("{header}\r\n"));
        }
        let length = body.len();
        request.push_str(&format!(
            "Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ));
        self.raw(request.as_bytes())
    }

    /// A `GET` with the token.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn get(&self, path: &str) -> HttpAnswer {
        self.ask_with(&format!("GET {path}"), &[], "")
    }

    /// A request that changes something, with the token and JSON.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn change(&self, line: &str, body: &Value) -> HttpAnswer {
        let kind = "Content-Type: application/json";
        self.ask_with(line, &[kind], &body.to_string())
    }

    /// The events of a run until one of that name has come, or the stream has ended.
    ///
    /// # Panics
    /// When it hangs.
    #[must_use]
    pub fn events(&self, path: &str, last_id: Option<&str>, until: &str) -> Vec<StreamEvent> {
        let mut stream = self.connect();
        let last = last_id.map(|id| format!("Last-Event-ID: {id}\r\n"));
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{}\r\n",
            self.address,
            self.token,
            last.unwrap_or_default()
        );
        stream
            .write_all(request.as_bytes())
            .expect("the server reads");
        let mut events: Vec<StreamEvent> = Vec::new();
        let mut next = StreamEvent::default();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("the server keeps sending");
            if let Some(name) = line.strip_prefix("event: ") {
                next.name = name.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                next.data = serde_json::from_str(data).expect("an event holds JSON");
            } else if let Some(id) = line.strip_prefix("id: ") {
                next.id = id.to_owned();
            } else if line.is_empty() && !next.name.is_empty() {
                let is_last = next.name == until;
                events.push(std::mem::take(&mut next));
                if is_last {
                    break;
                }
            }
        }
        events
    }
}

/// A server-sent event.
#[derive(Debug, Clone, Default)]
pub struct StreamEvent {
    /// What happened.
    pub name: String,
    /// Id of the event, from which a later stream can continue.
    pub id: String,
    /// Data of the event.
    pub data: Value,
}

/// All that comes until the connection is closed.
///
/// # Panics
/// When it hangs.
pub fn read_all(stream: &mut TcpStream) -> HttpAnswer {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("no answer within {TIMEOUT:?}")
            }
            // Closed while we still sent.
            Err(_) => break,
        }
    }
    HttpAnswer::of(&bytes)
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A file with a token for servers that are to have the same.
#[must_use]
pub fn token_file(bed: &ScratchTarget) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = bed.file("token", "0123456789abcdef0123456789abcdef-test\n");
    let own = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, own).expect("the mode of an own file can be set");
    path
}
