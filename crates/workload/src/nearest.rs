//! "Did you mean": the nearest of the known words.

/// The known word nearest to `seen`, if any is near enough to be meant.
///
/// Source: Damerau-Levenshtein distance of at most a third of the longer word, at least 1.
pub(crate) fn nearest<'a>(seen: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody means a known word by a text of this length, and the distance takes its square.
    if seen.len() > 64 {
        return None;
    }
    let plain = folded(seen);
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&plain, &folded(word)), word))
        .filter(|(distance, word)| *distance <= (word.len().max(seen.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Case and the kind of joint are not worth a difference.
fn folded(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

/// Words for a sentence: `` `a`, `b` or `c` ``.
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
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        let known = ["iodepth", "run_time", "ramp_time", "size"];
        assert_eq!(nearest("io_depth", known), Some("iodepth"));
        assert_eq!(nearest("runtime", known), Some("run_time"));
        assert_eq!(nearest("RAMP-TIME", known), Some("ramp_time"));
        assert_eq!(nearest("frobnicate", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
