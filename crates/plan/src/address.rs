//! Addresses of TCP peers: `tcp://HOST:PORT`.

use std::fmt;

use crate::Diagnostic;

/// Prefix that distinguishes a TCP peer from a path.
const SCHEME: &str = "tcp://";
/// Longest host name, in bytes.
///
/// Source: RFC 1035, section 2.3.4.
const HOST_BYTES_MAX: usize = 253;

/// Address of a TCP peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpAddress {
    /// Host name or address; an IPv6 address has no brackets.
    pub host: String,
    /// Port; 0 means a peer on this machine that pgmeter starts for the run.
    pub port: u16,
}

impl TcpAddress {
    /// `true` if a target's name denotes a TCP peer, valid or not.
    #[must_use]
    pub fn is_tcp_name(name: &str) -> bool {
        name.starts_with(SCHEME)
    }

    /// Parses the name of a target.
    ///
    /// # Errors
    /// If the name does not denote a TCP peer, or lacks a host or a port.
    pub fn of(name: &str) -> Result<Self, Diagnostic> {
        let refused = || {
            let message = format!("`{}` is not `tcp://HOST:PORT`", crate::printable(name));
            let help =
                "write the target as `pgmeter sink` prints it, such as `tcp://10.0.0.2:7765`";
            Diagnostic::error("", message).help(help)
        };
        let rest = name.strip_prefix(SCHEME).ok_or_else(refused)?;
        // From the right, because an IPv6 address contains colons as well.
        let (host, port) = rest.rsplit_once(':').ok_or_else(refused)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        // `%` precedes the interface of a link-local address (RFC 4007, section 11).
        let is_of_ipv6 = |byte: u8| byte.is_ascii_alphanumeric() || b":.%".contains(&byte);
        let is_host = match bare {
            Some(bare) => bare.contains(':') && bare.bytes().all(is_of_ipv6),
            None => host.bytes().all(is_of_host),
        };
        let host = bare.unwrap_or(host);
        // `parse` would also accept a sign, as in `+80`.
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| is_port);
        match port {
            Some(port) if is_host && (1..=HOST_BYTES_MAX).contains(&host.len()) => Ok(Self {
                host: host.to_owned(),
                port,
            }),
            _ => Err(refused()),
        }
    }

    /// Name of the peer that pgmeter starts itself.
    #[must_use]
    pub fn own() -> String {
        let own = Self {
            host: "127.0.0.1".to_owned(),
            port: 0,
        };
        own.to_string()
    }

    /// Name of a peer of which only the host is known; it cannot be used as a target.
    #[must_use]
    pub fn without_port(host: &str) -> String {
        format!("{SCHEME}{host}")
    }

    /// The host in such a name.
    #[must_use]
    pub fn host_without_port(name: &str) -> Option<&str> {
        let host = name.strip_prefix(SCHEME)?;
        let is_bare = !host.contains(':') || host.parse::<std::net::Ipv6Addr>().is_ok();
        (is_bare && !host.is_empty()).then_some(host)
    }

    /// `true` if pgmeter starts the peer itself.
    #[must_use]
    pub const fn is_own(&self) -> bool {
        self.port == 0
    }
}

impl fmt::Display for TcpAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        match host.contains(':') {
            true => write!(formatter, "{SCHEME}[{host}]:{port}"),
            false => write!(formatter, "{SCHEME}{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_displays_as_it_was_written() {
        for name in [
            "tcp://127.0.0.1:7765",
            "tcp://host-1.example.org:1",
            "tcp://[::1]:0",
            "tcp://[fe80::1%eth0]:65535",
        ] {
            assert_eq!(TcpAddress::of(name).unwrap().to_string(), name);
        }
        assert!(TcpAddress::of(&TcpAddress::own()).unwrap().is_own());
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for name in [
            "/tmp",
            "tcp://",
            "tcp://host",
            "tcp://:80",
            "tcp://host:",
            "tcp://host:+1",
            "tcp://host:65536",
            "tcp://::1:80",
            "tcp://[host]:80",
            "tcp://a/b:80",
            "tcp://\u{1b}[2J:80",
        ] {
            let error = TcpAddress::of(name).unwrap_err().to_string();
            assert!(error.contains("is not `tcp://HOST:PORT`"), "{error}");
            assert!(!error.contains('\u{1b}'));
        }
    }
}
