//! What the two ends say to each other: frames when a connection begins, a header for each
//! transaction. All of it has a fixed length, so that nobody is told how much to read.

/// Bytes of each frame that begins a connection.
pub const FRAME_BYTES: usize = 64;
/// Bytes of the header of a transaction.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a number that is used once, and of a proof.
pub const NONCE_BYTES: usize = 32;
/// The most bytes that a request or its reply has.
pub const LENGTH_MAX_BYTES: u32 = 64 << 20;

/// Ends with another one do not understand each other.
pub const MAJOR: u16 = 1;
/// A higher one has more to say, which the other end may ignore.
pub const MINOR: u16 = 0;

/// Not text, and changed by whatever changes the ends of lines.
const MAGIC: [u8; 8] = *b"\x89PGMSNK\n";
/// Ends each header, so that what is no header is seen as such.
const GUARD: u32 = 0x5047_4d7c;

/// What a frame of the sink says; frames of pgmeter say [`Status::Hello`] or [`Status::Proof`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// pgmeter: the first frame.
    Hello,
    /// pgmeter: the answer to [`Status::Prove`].
    Proof,
    /// The transactions may begin.
    Welcome,
    /// A token is wanted: prove that you have it.
    Prove,
    /// The major version is another one.
    Version,
    /// The token is another one.
    Token,
    /// There are as many connections as there may be.
    Full,
    /// What came is not what was to come.
    Refused,
}

impl Status {
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

/// A frame that begins a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// As [`MAJOR`], of who sends it.
    pub major: u16,
    /// As [`MINOR`], of who sends it.
    pub minor: u16,
    /// What it says.
    pub status: Status,
    /// A number that is used once, or a proof.
    pub secret: [u8; NONCE_BYTES],
    /// The most connections that the sink has at a time; of [`Status::Full`] alone.
    pub connections_max: u32,
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// They do not begin as one.
    Magic,
    /// They say something that this version does not know.
    Status,
}

impl Frame {
    /// A frame of this version.
    #[must_use]
    pub const fn new(status: Status, secret: [u8; NONCE_BYTES]) -> Self {
        Self {
            major: MAJOR,
            minor: MINOR,
            status,
            secret,
            connections_max: 0,
        }
    }

    /// The bytes to send: numbers with their lowest byte first, and zeros to the end.
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

    /// What the bytes say. What stands behind the last number is for later versions.
    ///
    /// # Errors
    /// When they are no frame, or one of this major version that says something unknown.
    pub fn of_bytes(bytes: &[u8; FRAME_BYTES]) -> Result<Self, FrameError> {
        if bytes[..8] != MAGIC {
            return Err(FrameError::Magic);
        }
        let major = u16::from_le_bytes([bytes[8], bytes[9]]);
        let number = u32_at(bytes, 12) as usize;
        let status = match Status::ALL.get(number) {
            Some(status) => *status,
            // What another major version says cannot be known; that it is another one can.
            None if major != MAJOR => Status::Version,
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

/// Which way the bytes of a request go; its reply goes the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the sink, right behind the header.
    ToSink,
    /// From the sink.
    FromSink,
}

/// What goes before a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which way the request goes.
    pub way: Way,
    /// Bytes of the request.
    pub length_bytes: u32,
    /// Bytes of the reply; 0 for none.
    pub reply_bytes: u32,
}

impl Header {
    /// The bytes to send: numbers with their lowest byte first.
    #[inline]
    #[must_use]
    pub const fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let way = match self.way {
            Way::ToSink => 1_u32,
            Way::FromSink => 2,
        };
        let words = [way, self.length_bytes, self.reply_bytes, GUARD];
        let mut bytes = [0; HEADER_BYTES];
        let mut index = 0;
        while index < HEADER_BYTES {
            bytes[index] = (words[index / 4] >> (index % 4 * 8)) as u8;
            index += 1;
        }
        bytes
    }

    /// What the bytes say; nothing if they are no header, or one of more bytes than
    /// [`LENGTH_MAX_BYTES`].
    #[must_use]
    pub fn of_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let way = match u32_at(bytes, 0) {
            1 => Way::ToSink,
            2 => Way::FromSink,
            _ => return None,
        };
        let (length_bytes, reply_bytes) = (u32_at(bytes, 4), u32_at(bytes, 8));
        let is_whole = u32_at(bytes, 12) == GUARD
            && length_bytes <= LENGTH_MAX_BYTES
            && reply_bytes <= LENGTH_MAX_BYTES;
        is_whole.then_some(Self {
            way,
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
        fn a_frame_comes_back_as_it_was(
            numbers in any::<(u16, u16, u32, [u8; 32])>(),
            status in 0..Status::ALL.len(),
        ) {
            let (major, minor, connections_max, secret) = numbers;
            let status = Status::ALL[status];
            let frame = Frame { major, minor, status, secret, connections_max };
            prop_assert_eq!(Frame::of_bytes(&frame.to_bytes()), Ok(frame));
        }

        #[test]
        fn a_header_comes_back_as_it_was(
            to_sink in any::<bool>(),
            length_bytes in 0..=LENGTH_MAX_BYTES,
            reply_bytes in 0..=LENGTH_MAX_BYTES,
        ) {
            let way = if to_sink { Way::ToSink } else { Way::FromSink };
            let header = Header { way, length_bytes, reply_bytes };
            prop_assert_eq!(Header::of_bytes(&header.to_bytes()), Some(header));
        }

        #[test]
        fn any_bytes_are_a_header_that_is_written_so_or_none(bytes in any::<[u8; 16]>()) {
            let header = Header::of_bytes(&bytes);
            prop_assert!(header.is_none_or(|it| it.to_bytes() == bytes));
        }
    }

    #[test]
    fn a_header_of_too_many_bytes_is_none() {
        for (length_bytes, reply_bytes) in [(LENGTH_MAX_BYTES + 1, 0), (1, u32::MAX)] {
            let header = Header {
                way: Way::FromSink,
                length_bytes,
                reply_bytes,
            };
            assert_eq!(Header::of_bytes(&header.to_bytes()), None);
        }
    }

    #[test]
    fn what_another_version_says_is_that_it_is_another() {
        let mut bytes = Frame::new(Status::Hello, [7; 32]).to_bytes();
        bytes[12] = 200;
        assert_eq!(Frame::of_bytes(&bytes), Err(FrameError::Status));
        bytes[8] = 2;
        let frame = Frame::of_bytes(&bytes);
        assert!(frame.is_ok_and(|it| it.major == 2 && it.status == Status::Version));
        bytes[0] = b'G';
        assert_eq!(Frame::of_bytes(&bytes), Err(FrameError::Magic));
    }
}
