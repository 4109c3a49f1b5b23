//! Sizes and kinds of requests, with their shares.

use std::collections::HashMap;

use crate::FitRequest;
use crate::model::MixLine;
use crate::streams::StreamAccesses;

/// A size and kind is kept if it has this share of the requests or of the bytes.
const KEPT_SHARE: f64 = 0.001;
/// Reads and writes of a size share a line if their random shares differ by less, in percent.
const RANDOM_DIFFERENCE: f64 = 3.0;
/// Share of the offsets that the alignment of a line covers.
const ALIGNED_SHARE: f64 = 0.95;
const ALIGN_MIN: u64 = 512;
/// Largest alignment that is looked for.
const ALIGN_MAX: u64 = 1 << 20;

/// Requests of one size and kind.
#[derive(Debug, Clone, Copy, Default)]
struct MixCell {
    count: u64,
    random: u64,
    /// Number of random requests whose offsets are multiples of 512, 1024 and so on.
    aligned: [u64; 12],
}

impl MixCell {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.random += other.random;
        for (sum, it) in self.aligned.iter_mut().zip(other.aligned) {
            *sum += it;
        }
    }

    fn random_percent(&self) -> f64 {
        100.0 * self.random as f64 / self.count.max(1) as f64
    }

    /// Largest power of two that nearly all offsets are multiples of.
    fn align_bytes(&self) -> u64 {
        let needed = (self.random as f64 * ALIGNED_SHARE).ceil() as u64;
        let index = self.aligned.iter().rposition(|count| *count >= needed);
        ALIGN_MIN << index.unwrap_or(0)
    }
}

/// The lines of a phase, and the number of requests whose size was replaced by a similar one.
pub(crate) fn lines(
    requests: &[FitRequest],
    accesses: &StreamAccesses,
    lines_max: usize,
) -> (Vec<MixLine>, u64) {
    let mut cells: HashMap<(u32, bool), MixCell> = HashMap::new();
    for (request, is_sequential) in requests.iter().zip(&accesses.is_sequential) {
        let cell = cells
            .entry((request.length_bytes, request.is_read))
            .or_default();
        cell.count += 1;
        if !is_sequential {
            cell.random += 1;
            for (index, count) in cell.aligned.iter_mut().enumerate() {
                *count += u64::from(request.offset_bytes.is_multiple_of(ALIGN_MIN << index));
            }
        }
    }
    let (kept, replaced) = kept(cells, requests, lines_max);
    (joined(kept, requests.len()), replaced)
}

/// The frequent cells, to which the others are added.
fn kept(
    cells: HashMap<(u32, bool), MixCell>,
    requests: &[FitRequest],
    lines_max: usize,
) -> (HashMap<(u32, bool), MixCell>, u64) {
    let total = requests.len() as f64;
    let bytes: f64 = requests.iter().map(|it| f64::from(it.length_bytes)).sum();
    let weight = |(key, cell): &(&(u32, bool), &MixCell)| {
        let of_requests = cell.count as f64 / total;
        of_requests.max(cell.count as f64 * f64::from(key.0) / bytes.max(1.0))
    };
    let mut by_weight: Vec<_> = cells.iter().collect();
    by_weight.sort_unstable_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.0.cmp(b.0)));
    let mut kept: HashMap<(u32, bool), MixCell> = HashMap::new();
    let mut replaced = 0;
    for (index, (key, cell)) in by_weight.iter().enumerate() {
        let is_kept = index < lines_max && weight(&by_weight[index]) >= KEPT_SHARE;
        let has_kind = kept.keys().any(|(_, is_read)| *is_read == key.1);
        // The first of a kind stands for it, if there is room.
        let key = match is_kept || kept.is_empty() || !has_kind && kept.len() < lines_max {
            true => **key,
            false => {
                replaced += cell.count;
                nearest(&kept, **key)
            }
        };
        kept.entry(key).or_default().add(cell);
    }
    (kept, replaced)
}

/// The kept cell with the most similar size, of the same kind if there is one.
fn nearest(kept: &HashMap<(u32, bool), MixCell>, (size, is_read): (u32, bool)) -> (u32, bool) {
    let distance = |other: u32| {
        (f64::from(other.max(1)) / f64::from(size.max(1)))
            .ln()
            .abs()
    };
    let nearest = kept.keys().copied().min_by(|a, b| {
        let by_kind = (a.1 != is_read).cmp(&(b.1 != is_read));
        let by_size = distance(a.0).total_cmp(&distance(b.0));
        by_kind.then(by_size).then(a.cmp(b))
    });
    nearest.unwrap_or((size, is_read))
}

/// Reads and writes of a size become one line if they are equally random.
fn joined(kept: HashMap<(u32, bool), MixCell>, total: usize) -> Vec<MixLine> {
    let line = |size: u32, cell: &MixCell, read_percent: f64| MixLine {
        size_bytes: size,
        of_percent: 100.0 * cell.count as f64 / total.max(1) as f64,
        read_percent,
        random_percent: cell.random_percent(),
        align_bytes: cell.align_bytes().min(ALIGN_MAX),
    };
    let mut sizes: Vec<u32> = kept.keys().map(|(size, _)| *size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut lines = Vec::new();
    for size in sizes {
        let (read, write) = (kept.get(&(size, true)), kept.get(&(size, false)));
        match (read, write) {
            (Some(read), Some(write))
                if (read.random_percent() - write.random_percent()).abs() < RANDOM_DIFFERENCE =>
            {
                let mut both = *read;
                both.add(write);
                let share = 100.0 * read.count as f64 / both.count as f64;
                lines.push(line(size, &both, share));
            }
            _ => {
                lines.extend(read.map(|cell| line(size, cell, 100.0)));
                lines.extend(write.map(|cell| line(size, cell, 0.0)));
            }
        }
    }
    lines.sort_unstable_by(|a, b| {
        let by_share = b.of_percent.total_cmp(&a.of_percent);
        by_share
            .then(a.size_bytes.cmp(&b.size_bytes))
            .then(b.read_percent.total_cmp(&a.read_percent))
    });
    lines
}
