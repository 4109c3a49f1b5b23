//! Recognizes the names of a classic's files among other files.

use plan::program::NamesInPlace;

/// Maximum directory depth in a sample, enough for a hundred million files with two per directory.
const LEVELS_MAX: u32 = 32;

pub(super) fn is_hexadecimal(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// `true` if a file may have this name, `level` directories below the first one.
pub(super) fn is_file(names: &NamesInPlace, level: u32, name: &str) -> bool {
    match *names {
        NamesInPlace::Numbers { .. } => is_number(name) && !name.starts_with('0'),
        NamesInPlace::Words { count } => {
            level == 0 && word_index(name).is_some_and(|it| it < count)
        }
        NamesInPlace::Samples { .. } => level > 0 && is_number(name),
        NamesInPlace::Marks {
            name_length,
            random_length,
            ..
        } => is_mark(name.as_bytes(), name_length, random_length),
    }
}

/// `true` if a directory may have this name.
pub(super) fn is_directory(names: &NamesInPlace, level: u32, name: &str) -> bool {
    let is_below = |number: Option<u32>, count| number.is_some_and(|number| number < count);
    match *names {
        NamesInPlace::Numbers { subdirectory_count } => {
            let number = name.strip_prefix('s').filter(|digits| is_number(digits));
            level == 0 && is_below(number.and_then(|it| it.parse().ok()), subdirectory_count)
        }
        NamesInPlace::Words { .. } => false,
        NamesInPlace::Samples { ref before } if level == 0 => name
            .strip_prefix(before.as_str())
            .is_some_and(|it| it.len() == 8 && it.bytes().all(is_hexadecimal)),
        NamesInPlace::Samples { .. } => level < LEVELS_MAX && is_number(name),
        NamesInPlace::Marks {
            subdirectory_count, ..
        } => {
            let is_plain = name.len() >= 2 && name.bytes().all(is_hexadecimal);
            let number = u32::from_str_radix(name, 16).ok().filter(|_| is_plain);
            level == 0 && is_below(number, subdirectory_count)
        }
    }
}

/// Digits without leading zeros.
fn is_number(name: &str) -> bool {
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    // Longer numbers do not fit into 32 bits.
    is_plain && name.len() <= 10 && (name == "0" || !name.starts_with('0'))
}

/// Number of a word: `a` is 0, `z` is 25, `aa` is 26.
fn word_index(name: &str) -> Option<u32> {
    let mut number = 0_u32;
    for byte in name.bytes() {
        // Digits are 1 to 26 without a zero: otherwise `a` and `aa` would be the same number.
        let digit = u32::from(byte.checked_sub(b'a').filter(|it| *it < 26)?) + 1;
        number = number.checked_mul(26)?.checked_add(digit)?;
    }
    number.checked_sub(1)
}

fn is_mark(name: &[u8], name_length: u32, random_length: u32) -> bool {
    let time_length = name_length.saturating_sub(random_length) as usize;
    let length = time_length.saturating_add(random_length as usize).max(1);
    if name.len() != length {
        return false;
    }
    let (time, random) = name.split_at(time_length.min(name.len()));
    let is_time = |byte: &u8| is_hexadecimal(*byte) || *byte == b'~';
    let is_random = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    time.iter().all(is_time) && random.iter().all(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::program::StampedNames;
    use proptest::prelude::*;

    #[test]
    fn only_names_that_postmark_generates_are_recognized() {
        let names = NamesInPlace::Numbers {
            subdirectory_count: 3,
        };
        for name in ["1", "10", "4294967295"] {
            assert!(
                is_file(&names, 0, name) && is_file(&names, 1, name),
                "{name}"
            );
        }
        for name in ["", "0", "01", "1a", "s1", "-1", "12345678901"] {
            assert!(!is_file(&names, 0, name), "{name}");
        }
        assert!(is_directory(&names, 0, "s0") && is_directory(&names, 0, "s2"));
        for name in ["s3", "s", "s01", "2", "src"] {
            assert!(!is_directory(&names, 0, name), "{name}");
        }
        assert!(!is_directory(&names, 1, "s0"));
    }

    proptest! {
        #[test]
        fn generated_names_are_recognized_and_the_next_one_is_not(count in 1_u32..3000) {
            let names = NamesInPlace::Words { count };
            let generated = generate::names::flat_names(count + 1).files;
            let recognized: Vec<bool> = generated
                .iter()
                .map(|name| is_file(&names, 0, name.to_str().unwrap_or_default()))
                .collect();
            prop_assert!(recognized[..count as usize].iter().all(|it| *it));
            prop_assert!(!recognized[count as usize]);
        }

        #[test]
        fn generated_stamped_names_are_recognized(
            seed: u64,
            time in 0_u64..1 << 33,
            length in 1_u32..60,
            random in 0_u32..60,
            subdirectories in 2_u32..300,
        ) {
            let stamped = StampedNames {
                length,
                random_length: random,
                directories: subdirectories,
                each: Some(2),
            };
            let names = NamesInPlace::Marks {
                name_length: length,
                random_length: random,
                subdirectory_count: subdirectories,
            };
            let generated = generate::names::stamped_names(&stamped, 9, time, seed);
            for path in generated.files {
                let path = path.to_str().unwrap_or_default().to_owned();
                let (directory, name) = path.split_once('/').unwrap_or(("", &path));
                prop_assert!(is_directory(&names, 0, directory), "{}", path);
                prop_assert!(is_file(&names, 1, name), "{}", path);
            }
        }
    }
}
