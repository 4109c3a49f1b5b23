//! Keys of workload files for terms of other programs, and for options that are not keys.

use super::quoted;
use super::table::{OptionTranslation, ROWS};

/// Options that build an access specification, with the corresponding keys.
const ACCESS_LINE_KEYS: [(&str, &str); 5] = [
    ("bs", "access_spec.line.size"),
    ("rw", "access_spec.line.read"),
    ("rwmix", "access_spec.line.read"),
    ("read", "access_spec.line.read"),
    ("random", "access_spec.line.random"),
];

/// Returns the key for a term of another program, such as `workers` for `numjobs`.
pub(crate) fn key_of(word: &str) -> Option<String> {
    let word = word.trim_start_matches('-');
    let line_key = |option: &str| {
        ACCESS_LINE_KEYS
            .into_iter()
            .find(|(known, _)| *known == option)
    };
    if let Some((_, key)) = line_key(word) {
        return Some(key.to_owned());
    }
    // The meaning of single letters differs between programs.
    let mut rows = ROWS.iter().filter(|_| word.len() > 1);
    let row = rows.find(|row| row.word.trim_start_matches('-') == word)?;
    let own_option = match row.translation {
        OptionTranslation::Same(option) | OptionTranslation::TimesJobs(option) => option.to_owned(),
        OptionTranslation::Words(words) => words.to_owned(),
        // Only the option's name is used below, so any value will do.
        OptionTranslation::Computed(make) => make(&quoted("1")),
        OptionTranslation::Unneeded(_) | OptionTranslation::Instead(_) => return None,
    };
    let bare = own_option
        .strip_prefix("--set ")
        .or(own_option.strip_prefix("--"))?;
    let option = bare.split([' ', '=']).next()?;
    Some(match (line_key(option), option) {
        (Some((_, key)), _) => key.to_owned(),
        (None, "target") => "targets".to_owned(),
        (None, option) => option.replace('-', "_"),
    })
}

#[cfg(test)]
mod tests {
    use description::reference::{WorkloadKey, keys};

    use super::*;

    #[test]
    fn options_of_other_tools_map_to_keys() {
        for (word, key) in [
            ("numjobs", "workers"),
            ("--ioengine", "engine"),
            ("runtime", "run_time"),
            ("filename", "targets"),
            ("bs", "access_spec.line.size"),
            ("xfersize", "access_spec.line.size"),
            ("seekpct", "access_spec.line.random"),
            ("cpus_allowed", "cpus"),
        ] {
            assert_eq!(key_of(word).as_deref(), Some(key), "{word}");
        }
        for word in ["b", "group_reporting", "nonsense", ""] {
            assert_eq!(key_of(word), None, "{word}");
        }
    }

    #[test]
    fn every_mapping_leads_to_a_key_or_an_output() {
        let known: Vec<String> = keys().iter().map(WorkloadKey::path).collect();
        for row in ROWS {
            let Some(key) = key_of(row.word) else {
                continue;
            };
            let is_output = key == "json" || key == "csv";
            assert!(
                is_output || known.contains(&key),
                "{} leads to {key}",
                row.word
            );
        }
    }
}
