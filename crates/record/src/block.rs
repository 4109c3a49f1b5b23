//! Events of the block layer.

use std::ops::Range;

use trace::{TraceLayer, TracedKind, request_kind};

use crate::format::EventFormat;
use crate::ring::number;

/// The kernel counts in these sectors, whatever the device's own are.
const SECTOR_BYTES: u64 = 512;
/// Bits of the minor number in the kernel's device numbers.
const MINOR_BITS: u32 = 20;

/// An event of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRequest<'a> {
    /// Major and minor number of the device.
    pub device: (u32, u32),
    /// Point on the way of the request.
    pub layer: TraceLayer,
    /// Direction.
    pub kind: TracedKind,
    /// `true` if the device must write through its cache (FUA).
    pub is_forced: bool,
    /// First byte on the device; 0 for flushes.
    pub offset_bytes: u64,
    /// Length; 0 for flushes.
    pub length_bytes: u64,
    /// Thread that was running; for a completion, any thread that was interrupted.
    pub pid: u32,
    /// Name of that thread; empty for completions.
    pub process: &'a [u8],
}

/// Decodes the events of one kernel.
#[derive(Debug, Clone, Default)]
pub struct BlockEvents {
    kinds: Vec<BlockEventKind>,
}

/// Places of the fields of one kind of event.
#[derive(Debug, Clone)]
struct BlockEventKind {
    id: u16,
    layer: TraceLayer,
    pid: Range<usize>,
    device: Range<usize>,
    sector: Range<usize>,
    sectors: Range<usize>,
    letters: Range<usize>,
    /// Not every kind of event has it.
    process: Option<Range<usize>>,
}

impl BlockEvents {
    /// Adds a kind of event; `false` if it lacks a field.
    #[must_use]
    pub fn add(&mut self, layer: TraceLayer, format: &EventFormat) -> bool {
        let kind = || {
            Some(BlockEventKind {
                id: format.id,
                layer,
                pid: format.field("common_pid")?,
                device: format.field("dev")?,
                sector: format.field("sector")?,
                sectors: format.field("nr_sector")?,
                letters: format.field("rwbs")?,
                process: format.field("comm"),
            })
        };
        let kind = kind();
        let is_known = kind.is_some();
        self.kinds.extend(kind);
        is_known
    }

    /// Decodes an event of a ring buffer; `None` for other kinds and for events that are too short.
    #[must_use]
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Option<KernelRequest<'a>> {
        let id = number(bytes.get(..2)?);
        let kind = self.kinds.iter().find(|kind| u64::from(kind.id) == id)?;
        let field = |place: &Range<usize>| bytes.get(place.clone());
        let numeric = |place: &Range<usize>| field(place).map(number);
        let device = u32::try_from(numeric(&kind.device)?).ok()?;
        let letters = until_zero(field(&kind.letters)?);
        let mut length_bytes = numeric(&kind.sectors)?.saturating_mul(SECTOR_BYTES);
        let (traced, is_forced) = request_kind(letters, length_bytes, kind.layer);
        let mut offset_bytes = numeric(&kind.sector)?.saturating_mul(SECTOR_BYTES);
        // A flush completes at the sector 2^64 - 1, and commands of drivers have no place at all.
        if traced == TracedKind::Flush || letters.starts_with(b"N") {
            (offset_bytes, length_bytes) = (0, 0);
        }
        Some(KernelRequest {
            device: (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1)),
            layer: kind.layer,
            kind: traced,
            is_forced,
            offset_bytes,
            length_bytes,
            pid: u32::try_from(numeric(&kind.pid)?).ok()?,
            process: match (&kind.process, kind.layer) {
                (Some(place), TraceLayer::Issue | TraceLayer::Queue) => until_zero(field(place)?),
                _ => b"",
            },
        })
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| *byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events() -> BlockEvents {
        let mut events = BlockEvents::default();
        let issue = EventFormat::parse(include_str!("testdata/block_rq_issue.format")).unwrap();
        let complete =
            EventFormat::parse(include_str!("testdata/block_rq_complete.format")).unwrap();
        assert!(events.add(TraceLayer::Issue, &issue));
        assert!(events.add(TraceLayer::Complete, &complete));
        events
    }

    /// Bytes of an event with these letters at sector 2048, of 8 sectors, on device 7:3.
    fn event(id: u16, letters: &[u8], sector: u64, sectors: u32) -> Vec<u8> {
        let mut bytes = vec![0; 68];
        bytes[..2].copy_from_slice(&id.to_ne_bytes());
        bytes[4..8].copy_from_slice(&1234_u32.to_ne_bytes());
        bytes[8..12].copy_from_slice(&(7_u32 << 20 | 3).to_ne_bytes());
        bytes[16..24].copy_from_slice(&sector.to_ne_bytes());
        bytes[24..28].copy_from_slice(&sectors.to_ne_bytes());
        bytes[34..34 + letters.len()].copy_from_slice(letters);
        bytes[44..46].copy_from_slice(b"db");
        bytes
    }

    #[test]
    fn issues_and_completions_are_decoded() {
        let bytes = event(2104, b"WFS", 2048, 8);
        let issue = events().decode(&bytes).unwrap();
        let wanted = KernelRequest {
            device: (7, 3),
            layer: TraceLayer::Issue,
            kind: TracedKind::Write,
            is_forced: true,
            offset_bytes: 1 << 20,
            length_bytes: 4096,
            pid: 1234,
            process: b"db",
        };
        assert_eq!(issue, wanted);
        let bytes = event(2107, b"WFS", 2048, 8);
        let completion = events().decode(&bytes).unwrap();
        assert_eq!(completion.layer, TraceLayer::Complete);
        assert_eq!(completion.process, b"");
    }

    #[test]
    fn a_flush_has_the_same_place_at_issue_and_completion() {
        let issue = event(2104, b"FF", 0, 0);
        let completion = event(2107, b"FF", u64::MAX, 0);
        let place = |bytes: &[u8]| {
            let event = events().decode(bytes).unwrap();
            (event.kind, event.offset_bytes, event.length_bytes)
        };
        assert_eq!(place(&issue), (TracedKind::Flush, 0, 0));
        assert_eq!(place(&completion), place(&issue));
    }

    #[test]
    fn other_and_short_events_are_left_out() {
        assert_eq!(events().decode(&event(9, b"R", 0, 8)), None);
        assert_eq!(events().decode(&event(2104, b"R", 0, 8)[..50]), None);
        assert_eq!(events().decode(&[]), None);
    }

    #[test]
    fn a_format_without_a_sector_is_refused() {
        let format = EventFormat::parse("ID: 5\n field:int dev; offset:8; size:4;").unwrap();
        assert!(!BlockEvents::default().add(TraceLayer::Issue, &format));
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_left_out(
            complete in any::<bool>(),
            mut bytes in prop::collection::vec(any::<u8>(), 2..100),
        ) {
            let id = if complete { 2107_u16 } else { 2104 };
            bytes[..2].copy_from_slice(&id.to_ne_bytes());
            let _ = events().decode(&bytes);
        }
    }
}
