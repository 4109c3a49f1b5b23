//! The verb of an act's table, and the keys that it takes.

use crate::flaw::ValueError;

/// The keys that are valid together with a verb; `None` if it is not a verb.
fn keys_with_verb(verb: &str) -> Option<&'static [&'static str]> {
    Some(match verb {
        "create" | "open" => &["pick", "which", "turn", "handle", "way", "label"],
        "stat" | "unlink" | "mkdir" | "rmdir" | "list" | "chmod" => {
            &["pick", "which", "turn", "handle", "label"]
        }
        "rename" | "link" | "symlink" => &[
            "pick", "which", "turn", "handle", "label", "to", "to_pick", "to_which", "to_turn",
        ],
        "close" | "fsync" | "fdatasync" | "fstat" => &["label"],
        "read" | "write" => &["piece", "at", "handle", "label"],
        "truncate" => &["handle", "label"],
        "setxattr" | "getxattr" => &["handle", "label", "attribute"],
        "times" | "step" | "transaction" => &["do"],
        "put" => &["count", "whose"],
        "take" => &["count", "whose", "per_calls", "per_bytes", "of"],
        "mix" | "think" | "burn" | "meet" => &[],
        _ => return None,
    })
}

/// The only verb among the keys of a table; an error if there are several or a key does not apply
/// to it.
pub(super) fn only_verb(written: &[&'static str]) -> Result<&'static str, ValueError> {
    let mut verbs = written
        .iter()
        .filter_map(|key| Some((*key, keys_with_verb(key)?)));
    let Some((verb, taken)) = verbs.next() else {
        let help = "write a verb, such as `{ open = \"FILESET\" }`";
        return Err(ValueError::of_value("the act has no verb", help));
    };
    if let Some((second, _)) = verbs.next() {
        let message = format!("`{verb}` and `{second}` are two acts");
        let help = "write them as separate acts";
        return Err(ValueError::new(second, message, help));
    }
    let mut keys = written.iter().filter(|key| **key != verb);
    match keys.find(|key| !taken.contains(key)) {
        Some(key) => Err(ValueError::idle(key, verb)),
        None => Ok(verb),
    }
}
