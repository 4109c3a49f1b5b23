//! Compressed streams around traces, recognized by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Memory of a decoder, which the compressed file requests: `xz -8` and `zstd --long=25` need this
/// much. A file that requests more is refused before the memory is taken.
const WINDOW_BYTES_MAX: u64 = 32 << 20;
const XZ_KIB_MAX: u32 = 34 << 10;

/// The uncompressed stream of `input`.
///
/// # Errors
/// The first bytes cannot be read, or the header of the compressed stream is invalid.
pub(crate) fn uncompressed<'a>(input: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let mut input = BufReader::with_capacity(64 << 10, input);
    // One call of `read` may return a single byte of a pipe, and the longest magic number has six.
    let mut head = Vec::new();
    input.by_ref().take(6).read_to_end(&mut head)?;
    let is_compressed = [GZIP, XZ, ZSTD, BZIP2]
        .iter()
        .any(|it| head.starts_with(it));
    let whole = BufReader::with_capacity(64 << 10, io::Cursor::new(head.clone()).chain(input));
    if !is_compressed {
        return Ok(Box::new(whole.into_inner()));
    }
    Ok(match () {
        () if head.starts_with(GZIP) => Box::new(MultiGzDecoder::new(whole)),
        () if head.starts_with(XZ) => Box::new(XzReader::new_mem_limit(whole, true, XZ_KIB_MAX)),
        () if head.starts_with(ZSTD) => Box::new(ZstdFrames::new(whole)),
        () => Box::new(MultiBzDecoder::new(whole)),
    })
}

const GZIP: &[u8] = b"\x1f\x8b";
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BZIP2: &[u8] = b"BZh";

/// All frames of a zstd file, one after the other.
struct ZstdFrames<R> {
    input: R,
    decoder: FrameDecoder,
    /// `true` between the header of a frame and its last byte.
    is_in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Self {
            input,
            decoder,
            is_in_frame: false,
        }
    }

    /// Reads the header of the next frame with data; `false` at the end of the file.
    fn start(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.input.by_ref().take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_in_frame && !self.start()? {
                return Ok(0);
            }
            self.is_in_frame = true;
            while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                // The decoder does not pass on that the input ended early.
                if self.input.fill_buf()?.is_empty() {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let wanted = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.input, wanted);
                decoded.map_err(invalid)?;
            }
            let count = self.decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.is_in_frame = false;
        }
    }
}

fn invalid(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
