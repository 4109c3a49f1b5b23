//! Places of a trace's requests in the files of a replay.

use plan::Diagnostic;
use plan::job::{AddressMap, RecordedKind, RecordedRequest};
use units::format;

use crate::collect::CollectedTrace;
use crate::extents::UsedRange;

/// Used ranges are rounded to this before they are packed, so that neighbors stay together.
const REGION_BYTES: u64 = 1 << 20;

/// A range of a device and its place.
#[derive(Debug, Clone, Copy)]
struct MappedRange {
    range: UsedRange,
    /// Place of its first byte in the file.
    base_bytes: u64,
}

/// Reduction of places to the size of a file.
#[derive(Debug, Clone, Copy)]
enum PlaceLimit {
    None,
    /// The remainder after division by the size.
    Wrap {
        size_bytes: u64,
    },
    /// Proportional to the size.
    Scale {
        size_bytes: u64,
    },
}

/// Mapping from the addresses of a trace to places in files. Within a device, a larger address
/// never has a smaller place, except after wrapping around.
#[derive(Debug)]
pub(crate) struct AddressMapper {
    /// In the order of device and address; each device has at least one.
    ranges: Vec<MappedRange>,
    /// Bytes of each file before the limit.
    all_bytes: Vec<u64>,
    limit: PlaceLimit,
    /// Unit of offsets and lengths in bytes.
    unit: u64,
}

impl AddressMapper {
    /// Devices take turns with the files; devices of one file are placed one after the other.
    pub fn new(map: AddressMap, trace: &CollectedTrace, file_count: usize, unit: u64) -> Self {
        let ranges = match map {
            AddressMap::Compact => compact(trace),
            AddressMap::Shift => whole(trace, unit, |start| start / REGION_BYTES * REGION_BYTES),
            _ => whole(trace, unit, |_| 0),
        };
        let file_count = file_count.max(1);
        let mut all_bytes = vec![0_u64; file_count];
        let place = |range: UsedRange| {
            let file_index = range.device as usize % file_count;
            let base_bytes = all_bytes[file_index];
            let length = range.end_bytes - range.start_bytes;
            all_bytes[file_index] = base_bytes.saturating_add(length);
            MappedRange { range, base_bytes }
        };
        Self {
            ranges: ranges.into_iter().map(place).collect(),
            all_bytes,
            limit: PlaceLimit::None,
            unit,
        }
    }

    /// Size of the largest file before the limit, in bytes.
    pub fn largest_bytes(&self) -> u64 {
        self.all_bytes.iter().copied().max().unwrap_or(0)
    }

    /// Lets places beyond this size wrap around.
    pub fn wrap(&mut self, size_bytes: u64) -> Result<(), Diagnostic> {
        let size_bytes = self.usable(size_bytes)?;
        self.limit = PlaceLimit::Wrap { size_bytes };
        Ok(())
    }

    /// Divides places so that they are within this size.
    pub fn scale(&mut self, size_bytes: u64) -> Result<(), Diagnostic> {
        let size_bytes = self.usable(size_bytes)?;
        self.limit = PlaceLimit::Scale { size_bytes };
        Ok(())
    }

    fn usable(&self, size_bytes: u64) -> Result<u64, Diagnostic> {
        match size_bytes / self.unit * self.unit {
            0 => {
                let size = format::size(size_bytes);
                let message = format!("a test file of {size} has no room for a request");
                Err(Diagnostic::error("", message).help("use a larger `--size`"))
            }
            usable => Ok(usable),
        }
    }

    /// Sizes of the files in bytes.
    pub fn sizes_bytes(&self) -> Vec<u64> {
        let size = |all_bytes: &u64| {
            // A trace of flushes needs a file too.
            let all_bytes = (*all_bytes).max(self.unit);
            match self.limit {
                PlaceLimit::None => all_bytes,
                PlaceLimit::Wrap { size_bytes } | PlaceLimit::Scale { size_bytes } => {
                    all_bytes.min(size_bytes)
                }
            }
        };
        self.all_bytes.iter().map(size).collect()
    }

    /// Moves all requests to their places. Discards of bytes that no request reads or writes are
    /// dropped. Returns the number of requests that begin at the end of the previous one of their
    /// device, and of those, how many still do.
    pub fn map_all(&self, requests: &mut Vec<RecordedRequest>) -> (u64, u64) {
        let device_count = self
            .ranges
            .last()
            .map_or(0, |it| it.range.device as usize + 1);
        // End of the last request of each device, in the trace and in its file.
        let mut ends = vec![(u64::MAX, u64::MAX); device_count];
        let (mut successors, mut kept) = (0, 0);
        requests.retain_mut(|request| {
            let device = request.part_index;
            if request.kind == RecordedKind::Fdatasync {
                request.part_index = self.file_of(device);
                return true;
            }
            let recorded = (
                request.offset_bytes,
                request.offset_bytes + u64::from(request.length_bytes),
            );
            if !self.map(request) {
                return false;
            }
            let Some(last) = ends.get_mut(device as usize) else {
                return true;
            };
            if last.0 == recorded.0 {
                successors += 1;
                kept += u64::from(last.1 == request.offset_bytes);
            }
            let end = request.offset_bytes + u64::from(request.length_bytes);
            *last = (recorded.1, end);
            true
        });
        (successors, kept)
    }

    fn file_of(&self, device: u32) -> u32 {
        device % self.all_bytes.len() as u32
    }

    /// Moves a request to its place; `false` if nothing of it is left.
    fn map(&self, request: &mut RecordedRequest) -> bool {
        let device = request.part_index;
        let end = request.offset_bytes + u64::from(request.length_bytes);
        let start_place = self.position(device, request.offset_bytes);
        let end_place = self.position(device, end);
        if start_place >= end_place {
            return false;
        }
        request.part_index = self.file_of(device);
        let length = end_place - start_place;
        let (offset, length) = match self.limit {
            PlaceLimit::None => (start_place, length),
            PlaceLimit::Wrap { size_bytes } => {
                let length = length.min(size_bytes);
                // A request across the end moves before it: a split one would be two requests.
                ((start_place % size_bytes).min(size_bytes - length), length)
            }
            PlaceLimit::Scale { size_bytes } => {
                self.scaled(request.part_index, size_bytes, (start_place, end_place))
            }
        };
        request.offset_bytes = offset;
        // Places are at most as far apart as addresses, so the length still has 32 bits.
        request.length_bytes = length as u32;
        true
    }

    /// Offset and length of a scaled range. Its end is scaled as well, so that requests that follow
    /// each other do not overlap.
    fn scaled(&self, file_index: u32, size_bytes: u64, (start, end): (u64, u64)) -> (u64, u64) {
        let all_bytes = self.all_bytes[file_index as usize];
        if all_bytes <= size_bytes {
            return (start, end - start);
        }
        let scale = |bytes: u64| {
            let scaled = u128::from(bytes) * u128::from(size_bytes) / u128::from(all_bytes);
            scaled as u64 / self.unit * self.unit
        };
        let offset = scale(start).min(size_bytes - self.unit);
        (offset, scale(end).saturating_sub(offset).max(self.unit))
    }

    /// Place of an address in the file of its device. An address between two ranges has the place
    /// of the next range.
    fn position(&self, device: u32, address: u64) -> u64 {
        let key = (device, address);
        let next = self
            .ranges
            .partition_point(|it| (it.range.device, it.range.end_bytes) < key);
        match self.ranges.get(next) {
            Some(found) if found.range.device == device => {
                let inside = address.saturating_sub(found.range.start_bytes);
                found.base_bytes + inside
            }
            // After the last range of the device.
            _ => match next.checked_sub(1).and_then(|last| self.ranges.get(last)) {
                Some(last) if last.range.device == device => {
                    last.base_bytes + (last.range.end_bytes - last.range.start_bytes)
                }
                _ => 0,
            },
        }
    }
}

/// The used ranges of all devices.
fn compact(trace: &CollectedTrace) -> Vec<UsedRange> {
    trace.extents.rounded(REGION_BYTES)
}

/// One range per device, from a start that depends on its first used byte.
fn whole(trace: &CollectedTrace, unit: u64, start_of: impl Fn(u64) -> u64) -> Vec<UsedRange> {
    // The next device begins at a round offset. A single one must fit on a device of its size.
    let unit = match trace.devices.len() {
        1 => unit,
        _ => REGION_BYTES,
    };
    let used = (0..).zip(&trace.devices).filter(|(_, it)| it.end_bytes > 0);
    let range = |(device, it): (u32, &crate::collect::TracedDevice)| UsedRange {
        device,
        start_bytes: start_of(it.start_bytes),
        end_bytes: it.end_bytes.div_ceil(unit).saturating_mul(unit),
    };
    used.map(range).collect()
}
