//! Generates a template of a workload file, with common keys explained and commented out.

use super::keys::{WorkloadKey, keys};
use crate::model::WorkloadTable;
use crate::nearest::listed;

/// Keys at the top of the file, the most useful first, each with an example value. All other keys
/// with a default follow.
const TOP_KEYS: [(&str, &str); 39] = [
    ("name", "\"my-workload\""),
    ("title", "\"What my server does\""),
    (
        "description",
        "\"What it represents, in one or more lines.\"",
    ),
    ("source", "\"a trace of my server\""),
    ("use", "\"file-server\""),
    ("targets", "[\"/mnt/test\"]"),
    ("size", "\"4GiB\""),
    ("times_memory", "\"2x\""),
    ("total_size", "\"64g\""),
    ("start", "0"),
    ("iodepth", "[1, 8, 32]"),
    ("workers", "1"),
    ("run_time", "\"10s\""),
    ("ramp_time", "\"2s\""),
    ("operations", "100000"),
    ("engine", "\"io_uring\""),
    ("cache", "\"direct\""),
    ("rate", "\"20k/s\""),
    ("arrivals", "\"uniform\""),
    ("curve", "false"),
    ("find_rate", "\"p99<=2ms\""),
    ("find_depth", "false"),
    ("until", "\"time\""),
    ("precondition", "\"none\""),
    ("new_file", "false"),
    ("repetitions", "5"),
    ("precision", "\"2%\""),
    ("budget", "\"10m\""),
    ("seed", "1"),
    ("verify", "false"),
    ("keep", "false"),
    ("warm", "false"),
    ("content", "\"incompressible\""),
    ("cpus", "\"0-3\""),
    ("position", "\"uniform\""),
    ("cursor", "\"worker\""),
    ("batch", "32"),
    ("sqpoll", "false"),
    ("iopoll", "false"),
];

/// Keys at the top of the file without an example, in addition to the keys of [`WorkloadTable`]:
/// tables, which the reference page explains.
const OMITTED_KEYS: [&str; 13] = [
    "access_spec",
    "cycling",
    "fileset",
    "iometer",
    "job",
    "part",
    "rounds",
    "steady",
    "tokens",
    "transactions_per_connection",
    "varied",
    "way",
    "worker",
];

/// Keys of an access line, each with an example value.
const LINE_KEYS: [(&str, &str); 10] = [
    ("size", "\"4KiB\""),
    ("of_size", "100"),
    ("read", "70"),
    ("random", "100"),
    ("align", "\"4KiB\""),
    ("burst", "1"),
    ("delay", "\"0s\""),
    ("reply", "0"),
    ("distribution", "{ zipf = 1.2 }"),
    ("sequence", "\"forward\""),
];

/// Keys of the line that are not commented out, because a line needs a size.
const ACTIVE_KEYS: [&str; 4] = ["size", "read", "random", "align"];

/// Text above the keys.
const HEADER: &str = "\
# A pgmeter workload: `pgmeter check FILE` shows what it would do, `pgmeter run FILE` runs it.
# Uncomment the keys that you change. `pgmeter keys` explains all other keys.
";

/// Text below the keys.
const FOOTER: &str = "
# Several lines make a mix; their `of_size` must add up to 100. Several `[[access_spec]]` are
# measured one after the other. Workloads of many files have a table instead of access
# specifications: TABLES, or
# `[[fileset]]` and `[[phase]]`. For workers that do different work, use jobs: `[[job]]`.
";

/// Maximum width of a comment.
const WIDTH: usize = 98;

/// The template; it is a valid workload, also after any commented-out key is activated.
#[must_use]
pub fn template() -> String {
    let keys = keys();
    let mut text = HEADER.to_owned();
    for (name, value) in TOP_KEYS {
        push(&mut text, &keys, "", name, value, false);
    }
    let is_further = |name: &str| !is_left_out(name) && TOP_KEYS.iter().all(|it| it.0 != name);
    for key in keys.iter().filter(|it| it.table.is_empty()) {
        if let Some(default) = key.default.as_ref().filter(|_| is_further(&key.name)) {
            push(&mut text, &keys, "", &key.name, &written(default), false);
        }
    }
    text.push_str("\n[[access_spec]]\n");
    push(&mut text, &keys, "access_spec", "name", "\"My mix\"", false);
    text.push_str("\n[[access_spec.line]]\n");
    for (name, value) in LINE_KEYS {
        push(
            &mut text,
            &keys,
            "access_spec.line",
            name,
            value,
            ACTIVE_KEYS.contains(&name),
        );
    }
    let tables = WorkloadTable::ALL
        .into_iter()
        // The text names its two lists of tables separately.
        .filter(|it| *it != WorkloadTable::Program);
    text + &FOOTER.replace("TABLES", &listed(tables.map(WorkloadTable::header)))
}

fn is_left_out(name: &str) -> bool {
    OMITTED_KEYS.contains(&name)
        || WorkloadTable::ALL
            .into_iter()
            .any(|table| table.key() == name)
}

/// The default in the form of a workload file.
fn written(default: &str) -> String {
    match default
        .strip_prefix('`')
        .and_then(|it| it.strip_suffix('`'))
    {
        Some(word) => format!("\"{word}\""),
        None => default.to_owned(),
    }
}

fn push(
    text: &mut String,
    keys: &[WorkloadKey],
    table: &str,
    name: &str,
    value: &str,
    written: bool,
) {
    let key = keys
        .iter()
        .find(|key| key.table == table && key.name == name);
    let comment = key.map(|key| match &key.default {
        Some(default) => format!("{} Default: {default}.", key.meaning),
        None => key.meaning.clone(),
    });
    text.push('\n');
    let mut line = String::from("#");
    for word in comment.unwrap_or_default().split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    let mark = if written { "" } else { "#" };
    text.push_str(&format!("\n{mark}{name} = {value}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;

    fn reads(text: &str) {
        let read = load("template.toml", text);
        read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    }

    #[test]
    fn the_template_is_valid_unchanged_and_with_any_key_uncommented() {
        let text = template();
        reads(&text);
        assert!(text.lines().all(|line| line.chars().count() <= 100));
        let is_key = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let commented: Vec<&str> = text.lines().filter(is_key).collect();
        assert!(commented.len() > 40, "{}", commented.len());
        for line in commented {
            // Precision and budget take repetitions without a number.
            let wanted = ["#precision", "#budget"]
                .iter()
                .any(|it| line.starts_with(it));
            let changed = text.replacen(line, &line[1..], 1);
            reads(&match wanted {
                true => changed.replacen("#repetitions = 5", "repetitions = \"auto\"", 1),
                false => match line.starts_with("#new_file") || line.starts_with("#arrivals") {
                    true => continue,
                    false => changed,
                },
            });
        }
    }

    #[test]
    fn every_key_has_an_example_or_is_left_out_on_purpose() {
        for key in keys() {
            let name = key.name.as_str();
            let is_covered = match key.table.as_str() {
                "" => is_left_out(name) || template().contains(&format!("\n#{name} = ")),
                "access_spec.line" => LINE_KEYS.iter().any(|(it, _)| *it == name),
                _ => true,
            };
            assert!(is_covered, "`{}` has no example", key.path());
        }
    }
}
