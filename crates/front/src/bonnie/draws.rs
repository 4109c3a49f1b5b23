//! What chance decides, as the original draws it: where the seekers go, names, sizes and orders,
//! all from one stream of numbers.

use std::sync::Arc;

use plan::program::{Card, ListedFiles, ListedOrder};

use super::options::{Files, Options};
use crate::random::LibraryRandom;

/// What names end or begin with.
const CHARACTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// All that is drawn for a run.
#[derive(Debug, Default)]
pub(super) struct Draws {
    /// Where the seekers go, and whether they write what they read.
    pub seeks: Arc<[Card]>,
    /// Names and sizes of the sequential and of the random phases.
    pub files: [ListedFiles; 2],
    /// In which order the random phases look at their files and remove them.
    pub orders: [ListedOrder; 2],
}

impl Draws {
    pub(super) fn new(options: &Options) -> Self {
        let mut random = LibraryRandom::new(options.seed());
        let seeks = match options.file_mib {
            0 => 0,
            _ => options.seeks,
        };
        let chunks = (options.file_mib << 20) / options.chunk_bytes;
        let seeks = (0..seeks).map(|_| {
            let ticket = random.next();
            // Every tenth has its sign changed, which the first number has not.
            seek(ticket, chunks, ticket > 0 && ticket.is_multiple_of(10))
        });
        let seeks = seeks.collect();
        let count = options.files.count();
        let files = [false, true].map(|is_random| listed(&options.files, is_random, &mut random));
        let mut order: Vec<u32> = (0..count).collect();
        let orders = [(); 2].map(|()| {
            for index in 0..count as usize {
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

/// A seek to one of the chunks.
pub(super) fn seek(ticket: u32, chunks: u64, is_update: bool) -> Card {
    Card {
        choice: is_update.into(),
        // Less than the ticket.
        number: (u64::from(ticket) % chunks) as u32,
    }
}

/// Names with a number that says their place, and as many characters as chance says.
fn listed(files: &Files, is_random: bool, random: &mut LibraryRandom) -> ListedFiles {
    let name = |index: u32, random: &mut LibraryRandom| {
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
        0 => files.max_bytes,
        // No more than a gibibyte.
        more_bytes => files.min_bytes + u64::from(random.below(more_bytes as u32 + 1)),
    };
    let sizes = (0..files.count()).map(size).collect();
    ListedFiles::new(names, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sizes_and_orders_are_those_of_the_original() {
        let line = ["-r", "0", "-s", "0", "-n", "1:2000:100:2", "-z", "7"].map(str::to_owned);
        let draws = Draws::new(&Options::read(&line, 0).unwrap());
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
