//! Suggestions of the nearest known words, for "did you mean".

/// Longer texts match no known word, and the distance takes time proportional to the square of the
/// length.
const WORD_BYTES_MAX: usize = 64;

/// The known word nearest to `typed`, if any is similar enough.
///
/// Source: Damerau-Levenshtein distance of at most a third of the longer word, at least 1.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if typed.len() > WORD_BYTES_MAX {
        return None;
    }
    let plain = folded(typed);
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&plain, &folded(word)), word))
        // At least 1, because a third of a word of two letters is 0.
        .filter(|(distance, word)| *distance <= (word.len().max(typed.len()) / 3).max(1))
        .min_by_key(|(distance, word)| (*distance, similarity_rank(&plain, &folded(word))))
        .map(|(_, word)| word)
}

/// Sort key for words at the same distance, the likeliest first: those with the longest common
/// prefix, then those with the nearest number, then the larger number, such as `ext4` for `ext5`.
fn similarity_rank(
    typed: &str,
    word: &str,
) -> (std::cmp::Reverse<usize>, u64, std::cmp::Reverse<u64>) {
    let common_prefix = typed.bytes().zip(word.bytes()).take_while(|(a, b)| a == b);
    let number = |text: &str| {
        let end = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
        text[end.len()..].parse::<u64>().unwrap_or(0)
    };
    let (typed_number, known_number) = (number(typed), number(word));
    (
        std::cmp::Reverse(common_prefix.count()),
        typed_number.abs_diff(known_number),
        std::cmp::Reverse(known_number),
    )
}

/// At most `most` known words that the user may have meant by `typed`, the likeliest first: similar
/// words, then words that share a part with it, such as `find_depth` for `depth`.
pub(crate) fn nearest_few<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<&'a str> {
    if typed.len() > WORD_BYTES_MAX {
        return Vec::new();
    }
    let plain = folded(typed);
    let rank = |word: &str| {
        let other = folded(word);
        let distance = strsim::damerau_levenshtein(&plain, &other);
        let is_alike = distance <= (word.len().max(typed.len()) / 3).max(1);
        let shares_a_part = || {
            other
                .split('_')
                .any(|part| plain.split('_').any(|it| it == part))
        };
        match () {
            () if is_alike => Some(distance),
            // After all similar words.
            () if shares_a_part() => Some(WORD_BYTES_MAX + distance),
            () => None,
        }
    };
    let ranked = known
        .into_iter()
        .filter_map(|word| Some((rank(word)?, word)));
    let mut ranked: Vec<(usize, &str)> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.dedup_by_key(|(_, word)| *word);
    ranked
        .into_iter()
        .take(most)
        .map(|(_, word)| word)
        .collect()
}

/// Ignores case and the difference between `-`, `_` and spaces.
fn folded(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

/// Joins words for a sentence: `` `a`, `b` or `c` ``.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word_and_nonsense_finds_none() {
        let known = ["iodepth", "run_time", "ramp_time", "size"];
        assert_eq!(nearest("io_depth", known), Some("iodepth"));
        assert_eq!(nearest("runtime", known), Some("run_time"));
        assert_eq!(nearest("RAMP-TIME", known), Some("ramp_time"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn among_equally_near_words_the_nearest_number_wins() {
        let known = ["ext2", "ext3", "ext4", "exfat", "btrfs", "f2fs"];
        assert_eq!(nearest("ext5", known), Some("ext4"));
        assert_eq!(nearest("ext1", known), Some("ext2"));
        assert_eq!(nearest("ext", known), Some("ext2"));
        let joints = ["run_time", "ramp_time"];
        assert_eq!(nearest("ru_time", joints), Some("run_time"));
    }

    #[test]
    fn several_words_match_by_spelling_or_by_their_parts() {
        let known = ["iodepth", "find_depth", "run_time", "ramp_time", "size"];
        assert_eq!(nearest_few("time", known, 3), ["run_time", "ramp_time"]);
        assert_eq!(nearest_few("runtime", known, 3), ["run_time"]);
        assert_eq!(nearest_few("depth", known, 3), ["iodepth", "find_depth"]);
        assert_eq!(nearest_few("time", known, 1), ["run_time"]);
        assert!(nearest_few("frobnicate", known, 3).is_empty());
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
