//! Random choices in the order in which the original draws them from one stream: seeks, names,
//! sizes and orders.

use std::sync::Arc;

use plan::program::{Card, ListedFiles, ListedOrder};

use super::options::{BonnieOptions, FilePhases};
use crate::FileAccess;
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
    /// The choices with these random numbers, or, if there are none, with the seed.
    pub(super) fn new(options: &BonnieOptions, numbers: Vec<u32>) -> Self {
        let mut random = match numbers.is_empty() {
            true => RandomSource::Seeded(GlibcRandom::new(options.seed())),
            false => RandomSource::Listed { numbers, next: 0 },
        };
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

/// Source of all random choices.
enum RandomSource {
    Seeded(GlibcRandom),
    /// Numbers of a file, which are repeated.
    Listed {
        numbers: Vec<u32>,
        next: usize,
    },
}

impl RandomSource {
    fn next(&mut self) -> u32 {
        match self {
            Self::Seeded(random) => random.next(),
            Self::Listed { numbers, next } => {
                let number = numbers[*next];
                *next = (*next + 1) % numbers.len();
                number
            }
        }
    }

    fn below(&mut self, count: u32) -> u32 {
        self.next() % count
    }
}

/// Reads the random numbers of `-Z`.
///
/// # Errors
/// The file cannot be read, or has no number.
pub(super) fn random_numbers(name: &str, files: &FileAccess<'_>) -> Result<Vec<u32>, String> {
    let shown = plan::printable(name);
    let bytes = files
        .read(name)
        .map_err(|reason| format!("`-Z {shown}`: {reason}"))?;
    let numbers = bytes.as_chunks::<4>().0.iter();
    let numbers: Vec<u32> = numbers
        .map(|it| i32::from_be_bytes(*it).unsigned_abs())
        .collect();
    match numbers.is_empty() {
        true => Err(format!(
            "`-Z {shown}` has {} bytes, which is less than one number of 4 bytes; name a larger \
             file",
            bytes.len()
        )),
        false => Ok(numbers),
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
fn listed(files: &FilePhases, is_random: bool, random: &mut RandomSource) -> ListedFiles {
    let name = |index: u32, random: &mut RandomSource| {
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
    use crate::file_access::VirtualFiles;

    #[test]
    fn names_sizes_and_orders_match_the_original() {
        let line = ["-r", "0", "-s", "0", "-n", "1:2000:100:2", "-z", "7"].map(str::to_owned);
        let draws = BonnieRandom::new(&BonnieOptions::read(&line, 0).unwrap(), Vec::new());
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

    #[test]
    fn a_file_of_random_numbers_is_read_again_and_again() {
        let line = ["-r", "0", "-s", "1:64k:5", "-n", "0"].map(str::to_owned);
        let read = |bytes: &'static [u8]| {
            let files = VirtualFiles {
                read: &|_| Ok(bytes.to_vec()),
                ..VirtualFiles::EMPTY
            };
            random_numbers("f", &FileAccess::scripted(files))
        };
        // 5, -10 and 17, and a rest that is no number.
        let numbers = read(b"\0\0\0\x05\xff\xff\xff\xf6\0\0\0\x11\xff").unwrap();
        assert_eq!(numbers, [5, 10, 17]);
        let options = BonnieOptions::read(&line, 0).unwrap();
        let seeks = BonnieRandom::new(&options, numbers).seeks;
        let seeks: Vec<_> = seeks.iter().map(|it| (it.number, it.choice)).collect();
        assert_eq!(seeks, [(5, 0), (10, 1), (1, 0), (5, 0), (10, 1)]);
        assert_eq!(
            read(b"abc").unwrap_err(),
            "`-Z f` has 3 bytes, which is less than one number of 4 bytes; name a larger file"
        );
    }
}
