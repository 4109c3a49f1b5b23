//! Checks keys that cannot be combined with `new_file`.

use units::Span;

use crate::flaw::{PathStep, ValueError};
use crate::model::{AccessLine, SequenceChoice, UntilChoice, Workload};
use plan::EngineKind;

/// Checks a complete workload.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    if workload.new_file != Some(true) {
        return Ok(());
    }
    let refused = |key: &'static str, message: &str| {
        let help = format!("leave `{key}` out, or `new_file`");
        Err(ValueError::new(key, message.to_owned(), &help))
    };
    if workload.table().is_some() {
        return refused("new_file", "work on many files creates its own files");
    }
    if workload.engine == Some(EngineKind::Mmap) {
        return refused(
            "engine",
            "a mapping of an empty file has nothing to write to",
        );
    }
    if workload.verify == Some(true) {
        return refused("verify", "an empty file has no stamps to check");
    }
    if workload.precondition.is_some_and(|it| it.0 > 0.0) {
        return refused(
            "precondition",
            "a file that is written beforehand is not new",
        );
    }
    let known_late = [
        ("curve", workload.curve == Some(true)),
        ("find_rate", workload.find_rate.is_some()),
        ("find_depth", workload.find_depth == Some(true)),
        ("until", workload.until == Some(UntilChoice::Steady)),
    ];
    if let Some((key, _)) = known_late.into_iter().find(|(_, is_written)| *is_written) {
        return refused(
            key,
            "a new file can be filled only once, and the steady state needs more",
        );
    }
    if workload.ramp_time.is_some_and(|time| time > Span(0)) {
        return refused("ramp_time", "a ramp would already fill the file");
    }
    let tables: u64 = workload
        .worker
        .iter()
        .map(|it| u64::from(it.count.unwrap_or(1)))
        .sum();
    if u64::from(workload.workers.unwrap_or(1)).max(tables) > 1 {
        return refused(
            "workers",
            "several workers would write the same file from its start",
        );
    }
    for (index, spec) in workload.access_spec.iter().enumerate() {
        let is_wrong = spec.line.len() != 1 || !spec.line.iter().all(writes_sequentially);
        if is_wrong {
            let message = "a new file is only written, by one line, from its start to its end";
            let flaw = ValueError {
                path: vec![PathStep::Key("line")],
                message: message.to_owned(),
                help: "write one line with `read = 0` and `random = 0`".to_owned(),
            };
            return Err(flaw.within("access_spec", index));
        }
    }
    Ok(())
}

fn writes_sequentially(line: &AccessLine) -> bool {
    // A line without `read` only reads, so a missing key does not count as 0.
    let is_zero = |share: Option<units::Percent>| share.is_some_and(|share| share.0 == 0.0);
    let is_forward = matches!(line.sequence, None | Some(SequenceChoice::Forward));
    // The reply to a write is a read, and the new file has nothing to read.
    let has_reply = line.reply.is_some_and(|it| it.0 > 0);
    is_zero(line.read) && is_zero(line.random) && is_forward && !has_reply
}

#[cfg(test)]
mod tests {
    use crate::load;

    /// A workload with a new file, and these keys for it and for its line.
    fn loaded(own: &str, line: &str) -> Result<(), String> {
        let text = format!(
            "new_file = true\nsize = \"1m\"\n{own}[[access_spec]]\nname = \"a\"\n\
             [[access_spec.line]]\nsize = \"4k\"\nread = 0\nrandom = 0\n{line}"
        );
        load("w.toml", &text).map_or_else(|error| Err(error.message), |_| Ok(()))
    }

    #[test]
    fn keys_set_to_their_default_are_accepted() {
        assert_eq!(loaded("", ""), Ok(()));
        assert_eq!(loaded("precondition = \"none\"\n", ""), Ok(()));
        assert_eq!(loaded("", "reply = 0\n"), Ok(()));
        assert!(loaded("precondition = \"2x\"\n", "").is_err());
        assert!(loaded("", "reply = 512\n").is_err());
    }
}
