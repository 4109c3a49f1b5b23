//! The token that tells who may use the page, and the cookie that stands for it in a browser.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use crate::error::WebError;

/// Random bytes of a token that was made here.
const RANDOM_BYTES: usize = 24;
/// A shorter token could be guessed: 128 bits in hexadecimal digits.
const LENGTH_MIN: usize = 32;
/// A longer text is hardly a token.
const LENGTH_MAX: usize = 256;

/// What whoever asks has to know. It is never shown by `{:?}`.
pub(crate) struct Token {
    text: String,
    cookie: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

impl Token {
    /// One that nobody knows yet.
    pub fn fresh() -> Result<Self, WebError> {
        let mut bytes = [0; RANDOM_BYTES];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty());
        filled.map_err(|errno| WebError::Random(errno.into()))?;
        Ok(Self::of(hexadecimal(&bytes)))
    }

    /// The one in a file that only its owner can read.
    pub fn in_file(path: &Path) -> Result<Self, WebError> {
        let refused = |reason: String| WebError::Token {
            path: path.to_owned(),
            reason,
        };
        let file = File::open(path).map_err(|error| refused(error.to_string()))?;
        let found = file
            .metadata()
            .map_err(|error| refused(error.to_string()))?;
        if !found.is_file() {
            return Err(refused("it is not a regular file".to_owned()));
        }
        if found.mode() & 0o077 != 0 {
            let mode = found.mode() & 0o777;
            return Err(refused(format!(
                "its mode is {mode:03o}, so others can read it, and 600 is wanted"
            )));
        }
        let mut text = String::new();
        let length = LENGTH_MAX as u64 + 2;
        let read = file.take(length).read_to_string(&mut text);
        read.map_err(|error| refused(error.to_string()))?;
        let text = text.trim();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&text.len()) || !text.chars().all(is_plain) {
            return Err(refused(format!(
                "it has {} characters, and {LENGTH_MIN} to {LENGTH_MAX} letters, digits, `-` and \
                 `_` are wanted",
                text.chars().count()
            )));
        }
        Ok(Self::of(text.to_owned()))
    }

    fn of(text: String) -> Self {
        // The token does not follow from it, so that nobody learns it from a browser's files; a
        // server that begins again with the same token still knows its browsers.
        let mut hash = Sha256::new();
        hash.update(b"cookie of ");
        hash.update(text.as_bytes());
        Self {
            cookie: hexadecimal(&hash.finalize()),
            text,
        }
    }

    /// The token, for the one line that tells it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the cookie holds.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Whether somebody knows the token.
    pub fn is_known_by(&self, said: &[u8]) -> bool {
        equal(self.text.as_bytes(), said)
    }

    /// Whether a browser has the cookie.
    pub fn is_cookie(&self, said: &[u8]) -> bool {
        equal(self.cookie.as_bytes(), said)
    }
}

/// Whether both are the same, in a time that does not tell where they differ.
fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let pairs = one.iter().zip(other);
    let difference = pairs.fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    black_box(difference) == 0
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn in_file(text: &str, mode: u32) -> Result<Token, WebError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
        Token::in_file(file.path())
    }

    #[test]
    fn a_fresh_token_has_192_bits_and_is_another_each_time() {
        let (one, other) = (Token::fresh().unwrap(), Token::fresh().unwrap());
        assert_eq!(one.text().len(), 48);
        assert_ne!(one.text(), other.text());
        assert_ne!(one.cookie(), one.text());
        assert_eq!(format!("{one:?}"), "Token");
    }

    #[test]
    fn only_the_whole_token_is_known() {
        let token = Token::of("a".repeat(32));
        assert!(token.is_known_by(&[b'a'; 32]) && token.is_cookie(token.cookie().as_bytes()));
        for wrong in [
            &[b'a'; 31][..],
            &[b'a'; 33],
            b"",
            &[b'b'; 32],
            token.cookie().as_bytes(),
        ] {
            assert!(!token.is_known_by(wrong));
        }
    }

    #[test]
    fn a_token_in_a_file_is_long_plain_and_nobody_elses() {
        let text = "0123456789abcdefABCDEF0123456789-_";
        let token = in_file(&format!("{text}\n"), 0o600).unwrap();
        assert_eq!(token.text(), text);
        for (text, mode) in [(text, 0o640), ("short", 0o600), ("", 0o600)] {
            assert!(in_file(text, mode).is_err());
        }
        let spaced = in_file("0123456789abcdef 0123456789abcdef0", 0o600).unwrap_err();
        assert!(spaced.to_string().contains("34 characters"), "{spaced}");
        assert!(Token::in_file(Path::new("/dev/null")).is_err());
    }
}
