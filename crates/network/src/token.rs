//! The secret that both ends know, and how each end proves that without sending the secret.

use std::fmt;
use std::hint::black_box;
use std::path::Path;

use rustix::rand::{GetRandomFlags, getrandom};
use sha2::{Digest, Sha256};

use crate::NetworkError;
use crate::frame::NONCE_BYTES;
use crate::secret::secret_in_file;

/// Minimum length: 128 bits in hexadecimal digits. A shorter token could be guessed.
const LENGTH_MIN: usize = 32;
/// Maximum length. A longer text is probably not a token.
const LENGTH_MAX: usize = 256;
/// Block size of SHA-256, in bytes.
const BLOCK_BYTES: usize = 64;

/// End that a proof belongs to, so that one end's proof is useless to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProofSide {
    Pgmeter,
    Sink,
}

/// A secret that both ends know. It is never printed by `{:?}` and never sent.
#[derive(Clone)]
pub struct NetworkToken(Vec<u8>);

impl fmt::Debug for NetworkToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

impl NetworkToken {
    /// Reads a token from a file that only its owner can read. White space at its end is ignored.
    ///
    /// # Errors
    /// The file cannot be read, other users can read it, or it does not contain one line of 32 to
    /// 256 visible characters.
    pub fn in_file(path: &Path) -> Result<Self, NetworkError> {
        let refused = |reason: String| NetworkError::TokenFile {
            path: path.to_owned(),
            reason,
        };
        let text = secret_in_file(path, LENGTH_MAX).map_err(refused)?;
        let text = text.trim_end();
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&text.len()) || !is_visible {
            let reason = format!(
                "it does not contain one line of {LENGTH_MIN} to {LENGTH_MAX} visible characters"
            );
            return Err(refused(reason));
        }
        Ok(Self(text.as_bytes().to_vec()))
    }

    /// Proof that `prover` has the token: HMAC-SHA-256 over the nonces of both ends. A recorded
    /// proof is useless for another connection.
    pub(crate) fn proof(
        &self,
        prover: ProofSide,
        hello: &[u8; NONCE_BYTES],
        prove: &[u8; NONCE_BYTES],
    ) -> [u8; NONCE_BYTES] {
        let name: &[u8] = match prover {
            ProofSide::Pgmeter => b"pgmeter/1 pgmeter",
            ProofSide::Sink => b"pgmeter/1 sink",
        };
        hmac_sha256(&self.0, &[name, hello, prove])
    }
}

/// `true` if two proofs are equal. Takes the same time wherever they differ.
pub(crate) fn is_equal(one: &[u8; NONCE_BYTES], other: &[u8; NONCE_BYTES]) -> bool {
    let differing = one.iter().zip(other);
    // Without `black_box`, the compiler may end the comparison at the first difference.
    black_box(differing.fold(0, |all, (a, b)| black_box(all | (a ^ b)))) == 0
}

/// A random number that was not used before.
pub(crate) fn nonce() -> Result<[u8; NONCE_BYTES], NetworkError> {
    let mut bytes = [0; NONCE_BYTES];
    let filled = getrandom(&mut bytes, GetRandomFlags::empty());
    filled.map_err(|errno| NetworkError::Random(errno.into()))?;
    Ok(bytes)
}

/// Source: RFC 2104.
fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; NONCE_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    match key.len() {
        0..=BLOCK_BYTES => block[..key.len()].copy_from_slice(key),
        _ => block[..NONCE_BYTES].copy_from_slice(&Sha256::digest(key)),
    }
    let mut inner = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x36));
    parts.iter().for_each(|part| inner.update(part));
    let mut outer = Sha256::new_with_prefix(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn hmac_matches_the_test_vectors_of_the_standard() {
        // RFC 4231, test cases 2 and 6.
        let short = hmac_sha256(b"Jefe", &[b"what do ya want ", b"for nothing?"]);
        assert_eq!(
            hexadecimal(&short),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let text = b"Test Using Larger Than Block-Size Key - Hash Key First";
        let long = hmac_sha256(&[0xaa; 131], &[text]);
        assert_eq!(
            hexadecimal(&long),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_proof_depends_on_its_prover_and_nonces() {
        let token = NetworkToken(vec![b'x'; 32]);
        let of = |prover, hello: u8| token.proof(prover, &[hello; 32], &[2; 32]);
        let proof = of(ProofSide::Pgmeter, 1);
        assert!(is_equal(&proof, &of(ProofSide::Pgmeter, 1)));
        assert!(!is_equal(&proof, &of(ProofSide::Sink, 1)));
        assert!(!is_equal(&proof, &of(ProofSide::Pgmeter, 3)));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        std::fs::write(&path, "0123456789abcdef0123456789abcdef\n").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode));
        mode(0o644).unwrap();
        let error = NetworkToken::in_file(&path).unwrap_err().to_string();
        assert!(error.contains("mode is 644"), "{error}");
        mode(0o600).unwrap();
        let token = NetworkToken::in_file(&path).unwrap();
        assert_eq!(
            (token.0.len(), format!("{token:?}").as_str()),
            (32, "Token")
        );
        std::fs::write(&path, "short").unwrap();
        let error = NetworkToken::in_file(&path).unwrap_err().to_string();
        assert!(
            error.contains("32 to 256") && !error.contains("short"),
            "{error}"
        );
    }

    #[test]
    fn a_pipe_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(status.unwrap().success());
        let error = NetworkToken::in_file(&path).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}
