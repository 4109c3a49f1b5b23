//! Files of `-X` and `-Y`: the requests of the write or read tests, one per line.

use plan::Diagnostic;
use plan::program::{Act, Call, CallPosition, FileOperation, Law};

use crate::FileAccess;
use crate::acts::moving;

/// Largest number of requests, because each becomes an act.
const REQUESTS_MAX: usize = 8192;
/// Largest request in bytes, as of `-r`.
const REQUEST_BYTES_MAX: u64 = 16 << 20;
/// Largest end of a request in bytes, as of `-s`.
const FILE_BYTES_MAX: u64 = 1 << 40;
/// Largest delay in milliseconds, as of `-J`.
const DELAY_MS_MAX: f64 = 60_000.0;

const WANTED: &str = "write the offset, the size and the delay in milliseconds, such as `65536 \
                      4096 0`";

/// The requests of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Telemetry {
    requests: Vec<TelemetryRequest>,
}

// Delays are finite, so equality is total.
impl Eq for Telemetry {}

#[derive(Debug, Clone, Copy, PartialEq)]
struct TelemetryRequest {
    offset_bytes: u64,
    bytes: u64,
    /// Time that is spent computing before the request, in milliseconds.
    delay_ms: f64,
}

impl Telemetry {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, has no requests or too many, or a line is not a request.
    pub(super) fn read(access: &FileAccess<'_>, name: &str) -> Result<Self, Diagnostic> {
        let bytes = access
            .read(name)
            .map_err(|reason| Diagnostic::error(name, reason))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = (1_u32..).zip(text.lines());
        // As in the original, only a `#` in the first column begins a comment.
        let lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        let request = |(number, line): (u32, &str)| {
            request(line).map_err(|message| {
                let error = Diagnostic::error(name, message).at_line(number);
                error.snippet(line).help(WANTED)
            })
        };
        let requests: Result<Vec<_>, Diagnostic> =
            lines.map(request).take(REQUESTS_MAX + 1).collect();
        let requests = requests?;
        if requests.is_empty() {
            let error = Diagnostic::error(name, "the file has no requests");
            return Err(error.help(WANTED));
        }
        if requests.len() > REQUESTS_MAX {
            let message = format!("the file has more than {REQUESTS_MAX} requests");
            return Err(Diagnostic::error(name, message).help("use a part of it"));
        }
        Ok(Self { requests })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// End of the last request in the file, in bytes.
    pub(super) fn end_bytes(&self) -> u64 {
        let ends = self.requests.iter().map(|it| it.offset_bytes + it.bytes);
        ends.max().unwrap_or(0)
    }

    /// The requests as acts on the open file.
    pub(super) fn acts(&self, operation: FileOperation) -> Vec<Act> {
        let acts = self.requests.iter().flat_map(|it| {
            let delay_ns = (it.delay_ms * 1e6) as u64;
            let delay = (delay_ns > 0).then(|| Act::Burn(Law::fixed(delay_ns)));
            delay.into_iter().chain([Act::Call(Call {
                place: CallPosition::At(it.offset_bytes),
                ..moving(operation, it.bytes)
            })])
        });
        acts.collect()
    }
}

/// A request of a line.
fn request(line: &str) -> Result<TelemetryRequest, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [offset, bytes, delay] = words[..] else {
        let count = words.len();
        return Err(format!("the line has {count} fields, not 3"));
    };
    let not = |what: &str, word: &str| format!("`{}` is not {what}", units::printable(word));
    let number = |word: &str| {
        word.parse::<u64>()
            .map_err(|_| not("a number of bytes", word))
    };
    let (offset_bytes, bytes) = (number(offset)?, number(bytes)?);
    let delay_ms: Option<f64> = delay.parse().ok();
    let delay_ms = delay_ms.filter(|it| (0.0..=DELAY_MS_MAX).contains(it));
    let delay_ms = delay_ms.ok_or_else(|| not("a delay from 0 to 60000 ms", delay))?;
    if !(1..=REQUEST_BYTES_MAX).contains(&bytes) {
        return Err(format!(
            "a request of {bytes} bytes is not from 1 byte to 16 MiB"
        ));
    }
    if offset_bytes
        .checked_add(bytes)
        .is_none_or(|end| end > FILE_BYTES_MAX)
    {
        return Err(format!(
            "the request at offset {offset_bytes} ends beyond 1 TiB"
        ));
    }
    Ok(TelemetryRequest {
        offset_bytes,
        bytes,
        delay_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_access::VirtualFiles;

    fn read(text: &'static str) -> Result<Telemetry, Diagnostic> {
        let files = VirtualFiles {
            read: &|_| Ok(text.as_bytes().to_vec()),
            ..VirtualFiles::EMPTY
        };
        Telemetry::read(&FileAccess::scripted(files), "t")
    }

    #[test]
    fn each_line_is_a_request_with_its_delay() {
        let telemetry = read("# offset size delay\n\n0 4096 2\n8192 1024 0.5\n").unwrap();
        assert_eq!(telemetry.end_bytes(), 9216);
        let acts = telemetry.acts(FileOperation::Read);
        let [
            Act::Burn(first),
            Act::Call(_),
            Act::Burn(second),
            Act::Call(call),
        ] = &acts[..]
        else {
            panic!("{acts:?}");
        };
        assert_eq!(
            (first.always(), second.always()),
            (Some(2_000_000), Some(500_000))
        );
        assert_eq!(call.place, CallPosition::At(8192));
    }

    #[test]
    fn a_line_that_is_no_request_is_reported() {
        for (text, line, wanted) in [
            ("0 4096", 1, "the line has 2 fields, not 3"),
            ("\n-1 1 0", 2, "`-1` is not a number of bytes"),
            (
                "0 0 0",
                1,
                "a request of 0 bytes is not from 1 byte to 16 MiB",
            ),
            ("0 1 nan", 1, "`nan` is not a delay from 0 to 60000 ms"),
            (
                "1099511627776 1 0",
                1,
                "the request at offset 1099511627776 ends beyond 1 TiB",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(
                (error.message.as_str(), error.line),
                (wanted, Some(line)),
                "{text}"
            );
        }
        assert_eq!(
            read("# none").unwrap_err().message,
            "the file has no requests"
        );
    }
}
