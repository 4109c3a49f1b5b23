//! The token that grants access to the page, and the browser cookie that replaces it.

use std::hint::black_box;
use std::path::Path;

use network::secret_in_file;
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use crate::error::WebError;

/// Random bytes of a generated token.
const RANDOM_BYTES: usize = 24;
/// Minimum length: a hexadecimal token then has 128 bits and cannot be guessed.
const LENGTH_MIN: usize = 32;
/// Maximum length; a longer text is probably not a token.
const LENGTH_MAX: usize = 256;

/// The secret of authorized clients. `Debug` does not print it.
pub(crate) struct PageToken {
    text: String,
    cookie: String,
}

impl std::fmt::Debug for PageToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token")
    }
}

impl PageToken {
    /// Generates a random token.
    pub fn fresh() -> Result<Self, WebError> {
        let mut bytes = [0; RANDOM_BYTES];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty());
        filled.map_err(|errno| WebError::Random(errno.into()))?;
        Ok(Self::of(hexadecimal(&bytes)))
    }

    /// Reads a token from a file that only its owner can read.
    pub fn in_file(path: &Path) -> Result<Self, WebError> {
        let refused = |reason: String| WebError::Token {
            path: path.to_owned(),
            reason,
        };
        let text = secret_in_file(path, LENGTH_MAX).map_err(refused)?;
        let text = text.trim();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&text.len()) || !text.chars().all(is_plain) {
            return Err(refused(format!(
                "it has {} characters; use {LENGTH_MIN} to {LENGTH_MAX} letters, digits, `-` and \
                 `_`",
                text.chars().count()
            )));
        }
        Ok(Self::of(text.to_owned()))
    }

    fn of(text: String) -> Self {
        // The cookie is a hash, so a browser's files do not reveal the token. It depends only on
        // the token, so a restarted server with the same token still accepts its browsers.
        let mut hash = Sha256::new();
        hash.update(b"cookie of ");
        hash.update(text.as_bytes());
        Self {
            cookie: hexadecimal(&hash.finalize()),
            text,
        }
    }

    /// The token, for the URL that the server prints.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Value of the cookie.
    pub fn cookie(&self) -> &str {
        &self.cookie
    }

    /// `true` if the request has the token.
    pub fn matches_token(&self, token: &[u8]) -> bool {
        equal(self.text.as_bytes(), token)
    }

    /// `true` if the request has the cookie.
    pub fn matches_cookie(&self, cookie: &[u8]) -> bool {
        equal(self.cookie.as_bytes(), cookie)
    }
}

/// `true` if both are equal. The time does not depend on where they differ.
fn equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let pairs = one.iter().zip(other);
    // Without `black_box`, the compiler may stop at the first difference.
    let difference = pairs.fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
    black_box(difference) == 0
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn in_file(text: &str, mode: u32) -> Result<PageToken, WebError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
        PageToken::in_file(file.path())
    }

    #[test]
    fn a_fresh_token_has_192_bits_and_differs_each_time() {
        let (one, other) = (PageToken::fresh().unwrap(), PageToken::fresh().unwrap());
        assert_eq!(one.text().len(), 48);
        assert_ne!(one.text(), other.text());
        assert_ne!(one.cookie(), one.text());
        assert_eq!(format!("{one:?}"), "Token");
    }

    #[test]
    fn only_the_whole_token_is_accepted() {
        let token = PageToken::of("a".repeat(32));
        assert!(
            token.matches_token(&[b'a'; 32]) && token.matches_cookie(token.cookie().as_bytes())
        );
        for wrong in [
            &[b'a'; 31][..],
            &[b'a'; 33],
            b"",
            &[b'b'; 32],
            token.cookie().as_bytes(),
        ] {
            assert!(!token.matches_token(wrong));
        }
    }

    #[test]
    fn a_token_file_must_be_private_and_hold_a_long_plain_token() {
        let text = "0123456789abcdefABCDEF0123456789-_";
        let token = in_file(&format!("{text}\n"), 0o600).unwrap();
        assert_eq!(token.text(), text);
        for (text, mode) in [(text, 0o640), ("short", 0o600), ("", 0o600)] {
            assert!(in_file(text, mode).is_err());
        }
        let spaced = in_file("0123456789abcdef 0123456789abcdef0", 0o600).unwrap_err();
        assert!(spaced.to_string().contains("34 characters"), "{spaced}");
        assert!(PageToken::in_file(Path::new("/dev/null")).is_err());
    }
}
