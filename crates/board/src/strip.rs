//! Removes names, addresses and paths from a record before it becomes public.

use std::collections::BTreeMap;

use results::{ImportRecord, RunRecord};
use serde::Serialize;
use serde_json::Value;

use crate::BoardError;
use crate::imported::FIO;

/// Shortest name that is also replaced within other text. Shorter ones are parts of many words.
const NAME_CHARS_MIN: usize = 4;
/// Key of the only text in a record that is data rather than words.
const ENCODED_KEY: &str = "hdr_v2_base64";
/// Directories whose names say nothing about a user.
const PUBLIC_PATHS: [&str; 8] = [
    "/", "/dev", "/proc", "/sys", "/tmp", "/mnt", "/etc", "/var/tmp",
];

/// Kind of text that is replaced.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum StrippedKind {
    /// Names of hosts.
    Host,
    /// Names of users.
    User,
    /// Serial numbers and other unique ids.
    Serial,
    /// Network addresses.
    Address,
    /// Paths of files and directories.
    Path,
}

impl StrippedKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Host,
        Self::User,
        Self::Serial,
        Self::Address,
        Self::Path,
    ];

    /// Returns the kind as a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::User => "user",
            Self::Serial => "serial",
            Self::Address => "address",
            Self::Path => "path",
        }
    }
}

/// A text that was replaced everywhere in a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StrippedText {
    /// Kind of text.
    pub kind: StrippedKind,
    /// The text.
    pub text: String,
    /// Its replacement, the same everywhere in the record.
    pub replacement: String,
}

/// Replaces names and paths in a record, except the kinds to keep. Equal texts get equal
/// replacements, so that targets and cells still belong together.
///
/// # Errors
/// If the result is no record any more.
pub fn strip(
    record: &RunRecord,
    keep: &[StrippedKind],
) -> Result<(RunRecord, Vec<StrippedText>), BoardError> {
    let mut value = units::json_value(record).unwrap_or_default();
    let mut names = NameReplacer::new(record, keep);
    names.walk(&mut value);
    let mut public =
        RunRecord::from_json(&value.to_string()).map_err(|error| BoardError::Record {
            file: "record.json".to_owned(),
            message: error.to_string(),
        })?;
    if let (Some(before), Some(after)) = (&record.import, &mut public.import) {
        read_again(before, after)?;
    }
    Ok((public, names.replaced()))
}

/// Reads an import from its public text, so that names in figures and text agree. The figures must
/// stay: a replacement within a number would change them.
fn read_again(before: &ImportRecord, after: &mut ImportRecord) -> Result<(), BoardError> {
    let figures =
        |it: &ImportRecord| -> Vec<_> { it.results.iter().map(|it| it.figures.clone()).collect() };
    let format = import::recognize(&after.sources);
    let again = format.and_then(|it| import::read(it, after.sources.clone()).ok());
    match again.filter(|it| figures(it) == figures(before)) {
        Some(again) => {
            *after = again;
            Ok(())
        }
        None => Err(BoardError::Stripped),
    }
}

/// Replaces texts, and remembers the replacements.
struct NameReplacer<'a> {
    keep: &'a [StrippedKind],
    hosts: Vec<String>,
    /// Longest first, so that no path replaces the beginning of another one.
    paths: Vec<String>,
    users: Vec<String>,
    known: BTreeMap<(StrippedKind, String), String>,
}

impl<'a> NameReplacer<'a> {
    fn new(record: &RunRecord, keep: &'a [StrippedKind]) -> Self {
        let environment = &record.environment;
        let mut paths = vec![environment.directory.clone()];
        let targets = record.plan.targets.iter().filter(|it| it.kind.is_path());
        paths.extend(targets.map(|it| it.path.to_string_lossy().into_owned()));
        for mount in &environment.mounts {
            paths.push(mount.mount_point.clone());
            // The source of a network file system names the server and its directory.
            paths.extend(Some(mount.source.clone()).filter(|it| it.contains(":/")));
        }
        paths.retain(|it| !PUBLIC_PATHS.contains(&it.as_str()) && it.len() > 1 && it.contains('/'));
        let homes = paths.iter().chain(&record.command);
        let users = homes.filter_map(|it| {
            let (_, rest) = it.split_once("/home/")?;
            let name = rest.split('/').next().unwrap_or_default();
            (!name.is_empty()).then(|| name.to_owned())
        });
        let mut users: Vec<String> = users.collect();
        let mut hosts = vec![environment.host.clone()];
        hosts.extend(record.import.iter().flat_map(hosts_of));
        hosts.retain(|it| !it.is_empty());
        for list in [&mut paths, &mut users, &mut hosts] {
            list.sort_by_key(|it| std::cmp::Reverse(it.len()));
            list.dedup();
        }
        Self {
            keep,
            hosts,
            paths,
            users,
            known: BTreeMap::new(),
        }
    }

    fn walk(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replaced_text(text),
            Value::Array(values) => values.iter_mut().for_each(|it| self.walk(it)),
            Value::Object(values) => {
                let values = values.iter_mut().filter(|(key, _)| *key != ENCODED_KEY);
                values.for_each(|(_, it)| self.walk(it));
            }
            _ => {}
        }
    }

    fn replaced_text(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for path in self.paths.clone() {
            text = self.replace(StrippedKind::Path, text, &path);
        }
        for host in self.hosts.clone() {
            match host.chars().count() >= NAME_CHARS_MIN {
                true => text = self.replace(StrippedKind::Host, text, &host),
                false if text == host => text = self.name(StrippedKind::Host, &host),
                false => {}
            }
        }
        // A word at a time, so that the text around it stays as it was.
        let is_edge = |character: char| {
            character.is_whitespace()
                || matches!(character, '"' | '\'' | '`' | ',' | '(' | ')' | '=')
        };
        let words = text.split_inclusive(is_edge).map(|piece| {
            let word = piece.trim_end_matches(is_edge);
            let rest = &piece[word.len()..];
            format!("{}{rest}", self.replaced_word(word))
        });
        let mut text: String = words.collect();
        for user in self.users.clone() {
            if user.chars().count() >= NAME_CHARS_MIN {
                text = self.replace(StrippedKind::User, text, &user);
            }
        }
        text
    }

    /// Replaces a word that is a path, an address or an id.
    fn replaced_word(&mut self, word: &str) -> String {
        let kind = match () {
            () if is_private_path(word) => StrippedKind::Path,
            () if is_address(word) => StrippedKind::Address,
            () if is_serial(word) => StrippedKind::Serial,
            () => return word.to_owned(),
        };
        self.name(kind, word)
    }

    /// Replaces a name where it is not a part of a longer word.
    fn replace(&mut self, kind: StrippedKind, text: String, name: &str) -> String {
        if !text.contains(name) || self.keep.contains(&kind) {
            return text;
        }
        let replacement = self.name(kind, name);
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(name) {
            let (before, after) = (&rest[..at], &rest[at + name.len()..]);
            let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
            done.push_str(before);
            let is_within = is_part(before.chars().next_back()) || is_part(after.chars().next());
            done.push_str(if is_within { name } else { &replacement });
            rest = after;
        }
        done + rest
    }

    /// Returns the replacement of a text, or the text if its kind is kept.
    fn name(&mut self, kind: StrippedKind, text: &str) -> String {
        if self.keep.contains(&kind) {
            return text.to_owned();
        }
        let count = self.known.keys().filter(|(it, _)| *it == kind).count();
        let key = (kind, text.to_owned());
        let new = || format!("{}-{}", kind.name(), count + 1);
        self.known.entry(key).or_insert_with(new).clone()
    }

    fn replaced(self) -> Vec<StrippedText> {
        let known = self.known.into_iter();
        let texts = known.map(|((kind, text), replacement)| StrippedText {
            kind,
            text,
            replacement,
        });
        texts.collect()
    }
}

/// Returns the names of hosts that an import states.
fn hosts_of(import: &ImportRecord) -> Vec<String> {
    let statements = import.statements.iter();
    let stated = statements
        .filter(|it| it.name == "host")
        .map(|it| it.value.clone());
    // A client of fio is a part of the name of its result.
    let results = import
        .results
        .iter()
        .filter(|_| import.origin.program == FIO);
    let clients = results.filter_map(|it| it.name.rsplit_once(" on "));
    let clients = clients.map(|(_, host)| host.split(" #").next().unwrap_or(host).to_owned());
    stated.chain(clients).collect()
}

/// Returns `true` for an absolute path with more than a public directory.
fn is_private_path(word: &str) -> bool {
    let is_path = word.starts_with('/') && word.len() > 1 && !word.starts_with("//");
    let is_device = word
        .strip_prefix("/dev/")
        .is_some_and(|name| !name.contains('/'));
    let is_public = PUBLIC_PATHS.contains(&word.trim_end_matches('/'));
    let is_kernel = word.starts_with("/sys/") || word.starts_with("/proc/");
    is_path && !is_device && !is_public && !is_kernel
}

/// Returns `true` for an IPv4 or IPv6 address, with or without a port.
fn is_address(word: &str) -> bool {
    let host = word.rsplit_once(':').map_or(word, |(host, _)| host);
    word.parse::<std::net::IpAddr>().is_ok() || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Returns `true` for a UUID, a world wide name or a name with a serial number.
fn is_serial(word: &str) -> bool {
    let word = word
        .trim_start_matches("UUID=")
        .trim_start_matches("PARTUUID=");
    let parts: Vec<&str> = word.split('-').collect();
    let is_hex = |it: &&str| it.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = parts.iter().map(|it| it.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(is_hex);
    let is_named = ["wwn-0x", "eui.", "naa.", "nvme-eui."]
        .iter()
        .any(|it| word.starts_with(it));
    is_uuid || is_named
}
