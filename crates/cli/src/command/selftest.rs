//! `selftest`: pgmeter's own figures against what is known otherwise.

use display::{Kind, Steps};
use plan::EngineKind;
use report::{Page, render_selftest};
use selftest::{Event, Options, OwnMounts, SelfTest, Subject, Verdict};

use crate::args::{EngineArg, SelftestArgs};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::signals::stop_flag;
use crate::terminal::{Stream, surroundings, tell_document};

/// Checks, prints the table, and writes what was asked for; `at_once` is called at the second
/// Ctrl-C.
pub(crate) fn selftest(args: &SelftestArgs, at_once: fn() -> !) -> Result<Exit, Failure> {
    if args.serve {
        let failed = |error: std::io::Error| Failure::system("cannot serve", &error);
        return selftest::serve().map(|()| Exit::Measured).map_err(failed);
    }
    let engines = engines(&args.engine);
    // Before any thread is started.
    let is_delayed = engines.iter().any(|engine| *engine != EngineKind::Null);
    let mounts = is_delayed.then(OwnMounts::make);
    let json = args.json.open()?;
    let options = Options {
        engines,
        stop: stop_flag(at_once)?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mounts,
        server_arguments: ["selftest", "--serve"].map(str::to_owned).to_vec(),
    };
    let steps = steps(args.quiet);
    let found = selftest::run(&options, &mut |event| steps.show(&step(event)));
    drop(steps);
    let table = |page: Page| Document::Prose(render_selftest(&found, page));
    if json.takes_stdout() && !args.quiet {
        tell_document(&table(Stream::Error.page()));
    }
    json.give(&found, || table(Stream::Output.page()))?;
    Ok(exit(&found))
}

fn engines(asked: &[EngineArg]) -> Vec<EngineKind> {
    let all = [
        (EngineArg::Null, EngineKind::Null),
        (EngineArg::Psync, EngineKind::Psync),
        (EngineArg::IoUring, EngineKind::IoUring),
        (EngineArg::Mmap, EngineKind::Mmap),
    ];
    let asked = all
        .into_iter()
        .filter(|(name, _)| asked.is_empty() || asked.contains(name));
    asked.map(|(_, engine)| engine).collect()
}

fn steps(is_quiet: bool) -> Steps {
    let kind = if is_quiet { Kind::None } else { Kind::Line };
    Steps::new(kind, surroundings())
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
        Verdict::Right => Exit::Measured,
        Verdict::Wrong => Exit::Failed,
        Verdict::Disturbed | Verdict::Skipped => Exit::System,
    }
}
