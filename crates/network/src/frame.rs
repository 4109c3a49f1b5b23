//! The protocol between the two ends: frames for the greeting, and a header for each transaction.
//! All have a fixed length, so neither end tells the other how much to read.

/// Length of a frame of the greeting, in bytes.
pub const FRAME_BYTES: usize = 64;
/// Length of a transaction header, in bytes.
pub const HEADER_BYTES: usize = 16;
/// Length of a nonce and of a proof, in bytes.
pub const NONCE_BYTES: usize = 32;
/// Maximum length of a request or reply, in bytes.
pub const LENGTH_MAX_BYTES: u32 = 64 << 20;

/// Major version of the protocol. Ends with different major versions are incompatible.
pub const MAJOR: u16 = 1;
/// Minor version of the protocol. A higher version adds fields that the other end may ignore.
pub const MINOR: u16 = 0;

/// Starts each frame. The bytes are not text, and any conversion of line endings changes them.
const MAGIC: [u8; 8] = *b"\x89PGMSNK\n";
/// Ends each header, so that other bytes are not taken for a header.
const GUARD: u32 = 0x5047_4d7c;

/// Status of a frame. The sink sends any of them; pgmeter sends only [`FrameStatus::Hello`] and
/// [`FrameStatus::Proof`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameStatus {
    /// pgmeter: the first frame.
    Hello,
    /// pgmeter: the answer to [`FrameStatus::Prove`].
    Proof,
    /// Transactions may start.
    Welcome,
    /// A token is required: prove that you have it.
    Prove,
    /// The major version is different.
    Version,
    /// The token is different.
    Token,
    /// The sink has reached its limit of connections.
    Full,
    /// The frame or header received is not the one expected.
    Refused,
}

impl FrameStatus {
    // The position of a status is its number in frames, so the order is part of the protocol.
    const ALL: [Self; 8] = [
        Self::Hello,
        Self::Proof,
        Self::Welcome,
        Self::Prove,
        Self::Version,
        Self::Token,
        Self::Full,
        Self::Refused,
    ];
}

/// Frame of the greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// [`MAJOR`] of the sender.
    pub major: u16,
    /// [`MINOR`] of the sender.
    pub minor: u16,
    /// Meaning of the frame.
    pub status: FrameStatus,
    /// A nonce or a proof.
    pub secret: [u8; NONCE_BYTES],
    /// Maximum number of connections of the sink; 0 except in a frame with [`FrameStatus::Full`].
    pub connections_max: u32,
}

/// Reason why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// They do not start with the magic bytes.
    Magic,
    /// Their status is unknown to this version.
    Status,
}

impl Frame {
    /// Creates a frame of this version.
    #[must_use]
    pub const fn new(status: FrameStatus, secret: [u8; NONCE_BYTES]) -> Self {
        Self {
            major: MAJOR,
            minor: MINOR,
            status,
            secret,
            connections_max: 0,
        }
    }

    /// Bytes to send: numbers in little-endian order, and zeros up to the end.
    #[must_use]
    pub fn to_bytes(self) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.major.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.minor.to_le_bytes());
        bytes[12..16].copy_from_slice(&(self.status as u32).to_le_bytes());
        bytes[16..48].copy_from_slice(&self.secret);
        bytes[48..52].copy_from_slice(&self.connections_max.to_le_bytes());
        bytes
    }

    /// Parses a frame. Bytes after the last number are reserved for later versions.
    ///
    /// # Errors
    /// The bytes are not a frame, or a frame of this major version has an unknown status.
    pub fn of_bytes(bytes: &[u8; FRAME_BYTES]) -> Result<Self, FrameError> {
        if bytes[..8] != MAGIC {
            return Err(FrameError::Magic);
        }
        let major = u16::from_le_bytes([bytes[8], bytes[9]]);
        let number = u32_at(bytes, 12) as usize;
        let status = match FrameStatus::ALL.get(number) {
            Some(status) => *status,
            // An unknown status of another major version has no known meaning, but the version
            // itself does.
            None if major != MAJOR => FrameStatus::Version,
            None => return Err(FrameError::Status),
        };
        let mut secret = [0; NONCE_BYTES];
        secret.copy_from_slice(&bytes[16..48]);
        Ok(Self {
            major,
            minor: u16::from_le_bytes([bytes[10], bytes[11]]),
            status,
            secret,
            connections_max: u32_at(bytes, 48),
        })
    }
}

/// Direction of a request's bytes; its reply goes the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteDirection {
    /// To the sink, directly after the header.
    ToSink,
    /// From the sink.
    FromSink,
}

/// Header of a transaction, sent before its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransactionHeader {
    /// Direction of the request.
    pub direction: ByteDirection,
    /// Length of the request in bytes.
    pub length_bytes: u32,
    /// Length of the reply in bytes; 0 for no reply.
    pub reply_bytes: u32,
}

impl TransactionHeader {
    /// Bytes to send: numbers in little-endian order.
    #[inline]
    #[must_use]
    pub const fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let direction = match self.direction {
            ByteDirection::ToSink => 1_u32,
            ByteDirection::FromSink => 2,
        };
        let words = [direction, self.length_bytes, self.reply_bytes, GUARD];
        let mut bytes = [0; HEADER_BYTES];
        let mut index = 0;
        while index < HEADER_BYTES {
            bytes[index] = (words[index / 4] >> (index % 4 * 8)) as u8;
            index += 1;
        }
        bytes
    }

    /// Parses a header; `None` if the bytes are not a header, or if a length exceeds
    /// [`LENGTH_MAX_BYTES`].
    #[must_use]
    pub fn of_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let direction = match u32_at(bytes, 0) {
            1 => ByteDirection::ToSink,
            2 => ByteDirection::FromSink,
            _ => return None,
        };
        let (length_bytes, reply_bytes) = (u32_at(bytes, 4), u32_at(bytes, 8));
        // The other end chooses both lengths, so they are checked before anything uses them.
        let is_whole = u32_at(bytes, 12) == GUARD
            && length_bytes <= LENGTH_MAX_BYTES
            && reply_bytes <= LENGTH_MAX_BYTES;
        is_whole.then_some(Self {
            direction,
            length_bytes,
            reply_bytes,
        })
    }
}

fn u32_at(bytes: &[u8], start: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[start..start + 4]);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_frame_survives_encoding(
            numbers in any::<(u16, u16, u32, [u8; 32])>(),
            status in 0..FrameStatus::ALL.len(),
        ) {
            let (major, minor, connections_max, secret) = numbers;
            let status = FrameStatus::ALL[status];
            let frame = Frame { major, minor, status, secret, connections_max };
            prop_assert_eq!(Frame::of_bytes(&frame.to_bytes()), Ok(frame));
        }

        #[test]
        fn a_header_survives_encoding(
            to_sink in any::<bool>(),
            length_bytes in 0..=LENGTH_MAX_BYTES,
            reply_bytes in 0..=LENGTH_MAX_BYTES,
        ) {
            let direction = if to_sink { ByteDirection::ToSink } else { ByteDirection::FromSink };
            let header = TransactionHeader { direction, length_bytes, reply_bytes };
            prop_assert_eq!(TransactionHeader::of_bytes(&header.to_bytes()), Some(header));
        }

        #[test]
        fn decoded_headers_encode_to_the_same_bytes(bytes in any::<[u8; 16]>()) {
            let header = TransactionHeader::of_bytes(&bytes);
            prop_assert!(header.is_none_or(|it| it.to_bytes() == bytes));
        }
    }

    #[test]
    fn a_header_with_too_large_lengths_is_invalid() {
        for (length_bytes, reply_bytes) in [(LENGTH_MAX_BYTES + 1, 0), (1, u32::MAX)] {
            let header = TransactionHeader {
                direction: ByteDirection::FromSink,
                length_bytes,
                reply_bytes,
            };
            assert_eq!(TransactionHeader::of_bytes(&header.to_bytes()), None);
        }
    }

    #[test]
    fn a_frame_of_another_version_is_read_as_a_version_mismatch() {
        let mut bytes = Frame::new(FrameStatus::Hello, [7; 32]).to_bytes();
        bytes[12] = 200;
        assert_eq!(Frame::of_bytes(&bytes), Err(FrameError::Status));
        bytes[8] = 2;
        let frame = Frame::of_bytes(&bytes);
        assert!(frame.is_ok_and(|it| it.major == 2 && it.status == FrameStatus::Version));
        bytes[0] = b'G';
        assert_eq!(Frame::of_bytes(&bytes), Err(FrameError::Magic));
    }
}
