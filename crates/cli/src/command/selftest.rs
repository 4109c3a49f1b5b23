//! `selftest`: checks pgmeter's own results against independently known values.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use display::{DisplayKind, StepLine};
use plan::EngineKind;
use report::{Page, render_selftest};
use selftest::{CheckVerdict, Event, PrivateMounts, SelfTest, SelfTestOptions, Subject};

use crate::args::{EngineArg, SelftestArgs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;
use crate::terminal::{OutputStream, eprint_document, surroundings};

/// Runs the checks, prints the table and writes the requested document. The second Ctrl-C calls
/// `on_second_interrupt`.
pub(crate) fn selftest(
    args: &SelftestArgs,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    if args.serve {
        let failed = |error: std::io::Error| CliError::system("cannot serve", &error);
        return selftest::serve().map(|()| Exit::Success).map_err(failed);
    }
    let engines = engines(&args.engine);
    // Namespaces must be set up before any thread starts.
    let is_delayed = engines.iter().any(|engine| *engine != EngineKind::Null);
    let mounts = is_delayed.then(PrivateMounts::make);
    let json = args.json.open()?;
    let options = SelfTestOptions {
        engines,
        stop: stop_flag(on_second_interrupt)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mounts,
        server_arguments: ["selftest", "--serve"].map(str::to_owned).to_vec(),
    };
    let steps = steps(args.quiet);
    let found = selftest::run(&options, &mut |event| steps.show(&step(event)));
    drop(steps);
    let table = |page: Page| OutputText::Prose(render_selftest(&found, page));
    // The document takes standard output, so the table goes to standard error.
    if json.takes_stdout() && !args.quiet {
        eprint_document(&table(OutputStream::Error.page()));
    }
    json.give(&found, || table(OutputStream::Output.page()))?;
    Ok(exit(&found))
}

fn engines(requested: &[EngineArg]) -> Vec<EngineKind> {
    let names: Vec<PossibleValue> = requested
        .iter()
        .filter_map(EngineArg::to_possible_value)
        .collect();
    let is_requested = |engine: &EngineKind| {
        names.is_empty() || names.iter().any(|it| it.get_name() == engine.name())
    };
    EngineKind::ALL.into_iter().filter(is_requested).collect()
}

fn steps(is_quiet: bool) -> StepLine {
    let kind = if is_quiet {
        DisplayKind::None
    } else {
        DisplayKind::Line
    };
    StepLine::new(kind, surroundings())
}

fn step(event: Event) -> String {
    let Event::Begins {
        name,
        subject,
        attempts,
    } = event;
    let again = if attempts > 0 { ", once more" } else { "" };
    match subject {
        Subject::All => format!("selftest: {}{again}", name.title()),
        engine => format!("selftest: {}, {}{again}", name.title(), engine.name()),
    }
}

fn exit(found: &SelfTest) -> Exit {
    match found.verdict {
        _ if found.is_interrupted => Exit::Interrupted,
        CheckVerdict::Right => Exit::Success,
        CheckVerdict::Wrong => Exit::Failed,
        // These checks found no fault of pgmeter; this machine did not allow a verdict.
        CheckVerdict::Disturbed | CheckVerdict::Skipped => Exit::System,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_can_be_selected() {
        assert_eq!(engines(&[]), EngineKind::ALL);
        let named = EngineArg::value_variants().iter();
        let selected = named.flat_map(|name| engines(&[*name]));
        assert_eq!(selected.count(), EngineKind::ALL.len());
    }
}
