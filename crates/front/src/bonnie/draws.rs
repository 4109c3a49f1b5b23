//! Random choices in the order in which the original draws them from one stream: seeks, names,
//! sizes and orders.

use std::sync::Arc;

use plan::program::{Card, ListedFiles, ListedOrder};

use super::options::{BonnieOptions, FilePhases};
use crate::random::GlibcRandom;

/// Characters of the random part of a name.
const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// All random choices of a run.
#[derive(Debug, Default)]
pub(super) struct BonnieRandom {
    /// Chunks that the seekers read, and whether they write them back.
    pub seeks: Arc<[Card]>,
    /// Names and sizes of files in the sequential and in the random phases.
    pub files: [ListedFiles; 2],
    /// Orders in which the random phases stat and delete their files.
    pub orders: [ListedOrder; 2],
}

impl BonnieRandom {
    pub(super) fn new(options: &BonnieOptions) -> Self {
        let mut random = GlibcRandom::new(options.seed());
        // Without the seek test, the original draws no seeks, which changes all names after them.
        let seeks = match options.file_mib {
            0 => 0,
            _ => options.seeks,
        };
        // Without a file there are no seeks, so nothing is divided by 0 chunks.
        let chunks = (options.file_mib << 20) / options.chunk_bytes;
        let seeks = (0..seeks).map(|_| {
            let ticket = random.next();
            // The original negates every tenth ticket to mark an update, which does nothing to a 0.
            seek(ticket, chunks, ticket > 0 && ticket.is_multiple_of(10))
        });
        let seeks = seeks.collect();
        let count = options.files.count();
        // In the order of the draws: names and sizes of each set, then both shuffles.
        let files = [false, true].map(|is_random| listed(&options.files, is_random, &mut random));
        let mut order: Vec<u32> = (0..count).collect();
        let orders = [(); 2].map(|()| {
            for index in 0..count as usize {
                // The original swaps with any index and shuffles the previous order again for the
                // second phase.
                order.swap(index, random.below(count) as usize);
            }
            let files = order.as_slice().into();
            ListedOrder { files }
        });
        Self {
            seeks,
            files,
            orders,
        }
    }
}

/// A seek to the chunk that the ticket selects.
pub(super) fn seek(ticket: u32, chunks: u64, is_update: bool) -> Card {
    Card {
        choice: is_update.into(),
        // At most the ticket, so it fits.
        number: (u64::from(ticket) % chunks) as u32,
    }
}

/// Names with the file's number and up to 12 random characters.
fn listed(files: &FilePhases, is_random: bool, random: &mut GlibcRandom) -> ListedFiles {
    let name = |index: u32, random: &mut GlibcRandom| {
        let length = random.below(13);
        let characters = (0..length).map(|_| char::from(CHARACTERS[random.below(62) as usize]));
        let tail: String = characters.collect();
        match is_random {
            false => format!("{index:010x}{tail}").into(),
            true => format!("{tail}{index:010x}").into(),
        }
    };
    let names: Arc<[Box<str>]> = (0..files.count()).map(|it| name(it, random)).collect();
    let more_bytes = files.max_bytes - files.min_bytes;
    let size = |_| match more_bytes {
        // The original draws no number if all sizes are equal.
        0 => files.max_bytes,
        // At most 1 GiB, as the options are checked.
        more_bytes => files.min_bytes + u64::from(random.below(more_bytes as u32 + 1)),
    };
    let sizes = (0..files.count()).map(size).collect();
    ListedFiles::new(names, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_orders_match_the_original() {
        let line = ["-r", "0", "-s", "0", "-n", "1:2000:100:2", "-z", "7"].map(str::to_owned);
        let draws = BonnieRandom::new(&BonnieOptions::read(&line, 0).unwrap());
        let names = |set: usize| draws.files[set].names.clone();
        let sequential = names(0);
        let first: Vec<&str> = sequential[..3].iter().map(|it| &**it).collect();
        assert_eq!(
            first,
            [
                "0000000000HpTV9uPinXnD",
                "0000000001xYYCeYC",
                "0000000002cGv"
            ]
        );
        let removed = draws.orders[1].files[..3].iter();
        let removed: Vec<String> = removed
            .map(|it| names(1)[*it as usize].to_string())
            .collect();
        assert_eq!(
            removed,
            ["0000000226", "y3OaMwpXnZlk0000000370", "wG500000000036"]
        );
        let sizes = draws.files.iter().flat_map(|it| it.sizes.iter());
        assert!(sizes.clone().all(|size| (100..=2000).contains(size)));
        assert_eq!(sizes.take(2).collect::<Vec<_>>(), [&747, &1390]);
    }
}
