//! Finds the lines of a program's usage that help with an error in its arguments.

/// Help if no line of the usage is about the error.
const ALL_OPTIONS_HELP: &str = "help: add `--help` to list all options\n";

/// The lines about the first option that the message quotes, else how to list all options.
pub(crate) fn relevant_lines(usage: &'static str, message: &str) -> &'static str {
    let quoted = message.split('`').skip(1).step_by(2);
    let mut names = quoted.filter_map(|it| it.split([' ', '=']).next());
    names
        .find_map(|name| entries(usage).find(|it| names_of(it).any(|known| known == name)))
        .unwrap_or(ALL_OPTIONS_HELP)
}

/// Adds the option of one letter to the message that there is no option of this long name, if the
/// usage describes such an option with the same word.
pub(crate) fn with_letter(usage: &'static str, message: &str) -> Option<String> {
    let rest = message.strip_prefix("there is no option `--")?;
    let (option, end) = rest.split_once('`')?;
    let word = option.split('=').next()?.to_ascii_lowercase();
    let letter = format!("-{}", word.chars().next()?);
    let is_it = |entry: &&str| {
        names_of(entry).any(|it| it == letter) && entry.to_ascii_lowercase().contains(&word)
    };
    let is_found = end.is_empty() && entries(usage).any(|it| is_it(&it));
    is_found.then(|| format!("{message}; did you mean `{letter}`?"))
}

/// The option that names the directory to work in; `None` if the program has none.
pub(crate) fn directory_option(usage: &'static str) -> Option<&'static str> {
    let mut entries = entries(usage).filter(|it| it.contains(" directory to work in"));
    entries.find_map(|entry| names_of(entry).next())
}

/// The description of each option: its line, and the lines that continue it.
fn entries(usage: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = usage;
    std::iter::from_fn(move || {
        let mut length = 0;
        let mut lines = rest.split_inclusive('\n');
        let skipped = lines.by_ref().take_while(|line| {
            let is_other = !begins(line);
            length += if is_other { line.len() } else { 0 };
            is_other
        });
        skipped.for_each(drop);
        rest = &rest[length..];
        let first = rest.split_inclusive('\n').next()?;
        let more = rest.split_inclusive('\n').skip(1);
        let more = more.take_while(|line| !begins(line) && indent(line) > indent(first));
        let length = first.len() + more.map(str::len).sum::<usize>();
        let (entry, behind) = rest.split_at(length);
        rest = behind;
        Some(entry)
    })
}

fn begins(line: &str) -> bool {
    line.trim_start().starts_with('-')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Names of the options that an entry describes.
fn names_of(entry: &str) -> impl Iterator<Item = &str> {
    let line = entry.trim_start();
    // At least two blanks separate the names from the description.
    let head = line.split_once("  ").map_or(line, |(head, _)| head);
    let words = head.split([' ', ',', '=', '[', '\n']);
    words.filter(|it| it.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FRONTS, find};

    fn lines(front: &str, message: &str) -> &'static str {
        relevant_lines(find(front).unwrap().usage, message)
    }

    #[test]
    fn an_error_shows_the_lines_of_its_option() {
        let dir = "  -d DIR    directory to work in (.)\n";
        assert_eq!(lines("bonnie++", "option `-d` needs a value"), dir);
        let sizes = "  -s, -r SIZE    size of the file (512) and of the records (4), in kB or with \
                     k, m, g\n";
        assert_eq!(lines("iozone", "`-r x` is not a size"), sizes);
        let files = lines("bonnie++", "`-n 9:-3` is not a number");
        assert!(files.starts_with("  -n N[:MAX") && files.ends_with("skips these phases\n"));
        assert_eq!(lines("iozone", "`x` is not an option"), ALL_OPTIONS_HELP);
        assert_eq!(lines("iozone", "nothing to do"), ALL_OPTIONS_HELP);
    }

    #[test]
    fn the_option_of_the_directory_is_in_the_usage() {
        for (front, wanted) in [
            ("bonnie++", Some("-d")),
            ("smallfile", Some("--top")),
            ("ior", None),
        ] {
            let usage = find(front).unwrap().usage;
            assert_eq!(directory_option(usage), wanted, "{front}");
        }
    }

    #[test]
    fn entries_are_parts_of_the_usage_in_its_order() {
        for front in FRONTS {
            let mut rest = front.usage;
            for entry in entries(front.usage) {
                assert!(names_of(entry).count() > 0, "{entry}");
                rest = rest.split_once(entry).unwrap().1;
            }
            assert!(!rest.lines().any(begins), "{rest}");
        }
    }

    #[test]
    fn a_long_name_suggests_the_letter_that_the_usage_describes_by_it() {
        for (front, option, wanted) in [
            ("bonnie++", "--dir", Some("-d")),
            ("bonnie++", "--size=8m", Some("-s")),
            ("iozone", "--size", Some("-s")),
            ("iozone", "--file", Some("-f")),
            // In IOzone, `-d` delays the start of children.
            ("iozone", "--direct", None),
            ("bonnie++", "--file", None),
        ] {
            let message = format!("there is no option `{option}`");
            let wanted = wanted.map(|it| format!("{message}; did you mean `{it}`?"));
            let usage = find(front).unwrap().usage;
            assert_eq!(with_letter(usage, &message), wanted, "{option}");
        }
        assert_eq!(
            with_letter("  -n N  number\n", "`--n` is not a number"),
            None
        );
    }
}
