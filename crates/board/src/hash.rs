//! Hashes of texts.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a text in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the hash of a JSON value, whose keys `serde_json` keeps in order.
pub(crate) fn hash_of(value: &serde_json::Value) -> String {
    sha256(value.to_string().as_bytes())
}
