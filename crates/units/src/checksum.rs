//! A checksum that is stored in files.

/// FNV-1a with 64 bits: unlike the compiler's own hash, it never changes, so ids and hashes in
/// files may consist of it. It does not protect against anyone who wants two equal ones.
///
/// Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic Hash Algorithm".
#[must_use]
pub fn fnv_1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_published_test_vectors() {
        assert_eq!(fnv_1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
