//! Checks the keys that define the end of a cell.

use units::{Percent, Span};

use crate::flaw::{PathStep, ValueError};
use crate::model::{UntilChoice, Workload, WorkloadTable};

/// Maximum number of rounds in a window.
const WINDOW_MAX: u32 = 1000;
/// Maximum number of rounds.
const ROUNDS_MAX: u32 = 10_000;
/// Minimum length of a round; shorter rounds vary too much to be compared.
pub const ROUND_MIN: Span = Span(100_000_000);

/// Checks one file alone.
pub(super) fn check(workload: &Workload) -> Result<(), ValueError> {
    let Some(steady) = &workload.steady else {
        return Ok(());
    };
    count("window", steady.window, 2, WINDOW_MAX)?;
    count("rounds", steady.rounds, 2, ROUNDS_MAX)?;
    share("range", steady.range)?;
    share("excursion", steady.excursion)
}

/// Checks a complete workload.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    if workload.until != Some(UntilChoice::Steady) {
        return match workload.steady {
            // `files` refuses the key for all other tables.
            Some(_) if workload.table().is_none_or(WorkloadTable::goes_on) => {
                let message = "`[steady]` has no effect unless `until` is `steady`";
                Err(ValueError::new(
                    "steady",
                    message,
                    "write `until = \"steady\"`",
                ))
            }
            _ => Ok(()),
        };
    }
    let steady = workload.steady.clone().unwrap_or_default();
    // Without `rounds`, planning takes at least as many as the window has.
    if let (Some(rounds), window) = (steady.rounds, steady.window.unwrap_or(5))
        && rounds < window
    {
        let message = format!("`rounds` is {rounds}, fewer than the {window} of a window");
        return Err(flaw(
            "rounds",
            message,
            "use more `rounds`, or a smaller `window`",
        ));
    }
    if workload.operations.is_some() {
        let message = "a round lasts for `run_time`, so it has no number of `operations`";
        return Err(ValueError::new(
            "operations",
            message,
            "leave `operations` out",
        ));
    }
    let has_rate = workload.rate.is_some() || workload.find_rate.is_some();
    if has_rate || workload.curve == Some(true) {
        let message = "with a `rate`, the throughput is the requested rate, so it is always steady";
        let help = "leave `until` out, or `rate`, `curve` and `find_rate`";
        return Err(ValueError::new("until", message, help));
    }
    match workload.run_time {
        Some(time) if time > Span(0) && time < ROUND_MIN => {
            let message = format!("`run_time` is {time}, but a round takes at least {ROUND_MIN}");
            Err(ValueError::new(
                "run_time",
                message,
                "use a longer `run_time`",
            ))
        }
        _ => Ok(()),
    }
}

fn flaw(key: &'static str, message: String, help: &str) -> ValueError {
    ValueError {
        path: vec![PathStep::Key("steady"), PathStep::Key(key)],
        message,
        help: help.to_owned(),
    }
}

fn count(key: &'static str, value: Option<u32>, min: u32, max: u32) -> Result<(), ValueError> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            let message = format!("`{key}` is {value}, not from {min} to {max}");
            Err(flaw(key, message, "use a number in this range"))
        }
        _ => Ok(()),
    }
}

fn share(key: &'static str, value: Option<Percent>) -> Result<(), ValueError> {
    match value {
        Some(Percent(value)) if value <= 0.0 => {
            let message = format!("`{key}` is {value}, which no rounds can reach");
            Err(flaw(key, message, "use a share above 0"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::load;

    #[test]
    fn steady_needs_until_for_every_kind_of_work() {
        let phase = "[[fileset]]\nname = \"f\"\n[[phase]]\nname = \"p\"\nrun_time = \"1s\"\n\
                     [[phase.group]]\nbody = [{ stat = \"f\" }]\n";
        for work in ["", "[postmark]\n", "[lat_fs]\n", phase] {
            let error = load("w.toml", &format!("[steady]\nwindow = 5\n{work}")).unwrap_err();
            assert!(
                error.message.starts_with("`[steady]` has no effect unless"),
                "{error}"
            );
        }
        // This table ends when its work is done, so it never has rounds.
        let error = load("w.toml", "[steady]\nwindow = 5\n[fs_mark]\n").unwrap_err();
        assert!(
            error.message.contains("`steady` does not apply to"),
            "{error}"
        );
    }
}
