//! Host names by which clients may address the server. A page of another site whose name resolves
//! to this address (DNS rebinding) sends a different name.

use std::net::IpAddr;

use crate::error::WebError;

/// Maximum length of a host name.
const NAME_LENGTH_MAX: usize = 253;

/// Allowed host names in addition to the names of the loopback interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    /// Parses names from the command line.
    pub fn new(names: &[String]) -> Result<Self, WebError> {
        let names = names.iter().map(|given| {
            let name = bare(given).filter(|(_, port)| port.is_none());
            let name = name.map(|(name, _)| name);
            let is_name = |name: &String| name.parse::<IpAddr>().is_ok() || is_name(name);
            name.filter(is_name).ok_or_else(|| WebError::BadHost {
                name: given.chars().take(NAME_LENGTH_MAX).collect(),
            })
        });
        Ok(Self(names.collect::<Result<_, _>>()?))
    }

    /// `true` if a request for this host, with or without a port, is meant for this server.
    ///
    /// Any port is accepted: `ssh -L` shows this server at another port.
    pub fn takes(&self, host: &str) -> bool {
        let Some((name, port)) = bare(host) else {
            return false;
        };
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return false;
        }
        let is_loopback = match name.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => name == "localhost",
        };
        is_loopback || self.0.contains(&name)
    }
}

/// Host name in lower case, without brackets and final dot, and its port.
fn bare(host: &str) -> Option<(String, Option<&str>)> {
    if let Some(rest) = host.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        address.parse::<std::net::Ipv6Addr>().ok()?;
        let port = match rest {
            "" => None,
            rest => Some(rest.strip_prefix(':')?),
        };
        return Some((address.to_ascii_lowercase(), port));
    }
    if host.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((host.to_ascii_lowercase(), None));
    }
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    // A final dot only marks the name as complete.
    let name = name.strip_suffix('.').unwrap_or(name);
    Some((name.to_ascii_lowercase(), port))
}

/// Source: RFC 1123, section 2.1. Underscores are allowed, too: names of containers have them.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let is_label = |label: &str| !label.is_empty() && label.chars().all(is_plain);
    name.len() <= NAME_LENGTH_MAX && name.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_host_names_are_accepted_in_any_spelling() {
        let names = HostNames::default();
        for host in [
            "127.0.0.1",
            "127.0.0.1:7764",
            "127.8.9.1",
            "localhost",
            "LOCALHOST:1",
            "localhost.",
            "localhost.:7764",
            "[::1]",
            "[::1]:7764",
        ] {
            assert!(names.takes(host), "{host}");
        }
    }

    #[test]
    fn any_other_name_is_refused() {
        let names = HostNames::default();
        for host in [
            "",
            "evil.example",
            "evil.example:7764",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil.localhost",
            "localhost..",
            "127.0.0.1:99999",
            "127.0.0.1:",
            "127.0.0.1:80:80",
            "127.1",
            "0.0.0.0",
            "10.0.0.1",
            "[::]",
            "[::1",
            "[::1]x",
            "[::ffff:10.0.0.1]",
            "user@localhost",
            "localhost/",
        ] {
            assert!(!names.takes(host), "{host}");
        }
    }

    #[test]
    fn only_exactly_the_configured_host_names_are_accepted() {
        let names = HostNames::new(&["Lab.Example.".to_owned(), "10.1.2.3".to_owned()]).unwrap();
        for host in [
            "lab.example",
            "LAB.EXAMPLE:7764",
            "10.1.2.3:80",
            "localhost",
        ] {
            assert!(names.takes(host), "{host}");
        }
        for host in ["example", "x.lab.example", "10.1.2.4"] {
            assert!(!names.takes(host), "{host}");
        }
        for name in ["http://lab", "lab:80", "", "a b", "a..b", "*"] {
            assert!(HostNames::new(&[name.to_owned()]).is_err(), "{name}");
        }
    }
}
