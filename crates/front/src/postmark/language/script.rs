//! Converts a PostMark script to workloads, one for each `run`.
//!
//! The script runs without any effect on files. Lines that PostMark would report and skip are
//! errors here, since the run would not be the intended one.

use description::check::check_whole;
use description::classics::postmark::{Compat, Postmark, PostmarkSettings, beneath};
use description::{Workload, file_stem, model, name_after, nearest};
use plan::Diagnostic;
use plan::program::PoolLocation;

use super::command::{self, PostmarkCommand};
use super::lines::LINE_BYTES_MAX;
use super::{Origin, PostmarkSession, SessionAction, next_line};
use crate::file::FrontFile;
use crate::work::FrontWork;

/// Largest script in bytes; usual ones have a few hundred.
const SCRIPT_BYTES_MAX: usize = 1 << 20;

/// Limit on the locations that are set at a time, since each run stores its own list.
const LOCATIONS_MAX: usize = 1000;

/// Number of warnings that are kept; more are only counted.
const WARNINGS_MAX: usize = 100;

/// Limit on the runs of a script, which keeps the plan short. More runs are a mistake.
const RUNS_MAX: usize = 1000;

/// Reads the runs of a script. The first has the file's name, the others get a number after it.
///
/// # Errors
/// The script is too long, or PostMark would not accept one of its lines. Lines that request the
/// shell or another file, or that name a location outside of the target, are errors as well.
pub fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    file.refuse_empty()?;
    let (mut workloads, findings) = runs(file)?;
    let stem = file_stem(file.name);
    for (index, workload) in workloads.iter_mut().enumerate() {
        workload.name = Some(match index {
            0 => stem.clone(),
            _ => format!("{stem}-{}", index + 1),
        });
        check_whole(workload).map_err(|flaw| flaw.diagnostic(file.name))?;
        name_after(workload, file.name);
    }
    Ok(FrontWork {
        findings,
        ..FrontWork::new(workloads)
    })
}

/// Workloads of a script, without names, and the warnings about it.
fn runs(file: &FrontFile<'_>) -> Result<(Vec<Workload>, Vec<Diagnostic>), Diagnostic> {
    let bytes = file.bytes;
    if bytes.len() > SCRIPT_BYTES_MAX {
        let message = format!(
            "the script has {} bytes, more than the {SCRIPT_BYTES_MAX} that are read",
            bytes.len()
        );
        let error = Diagnostic::error(file.name, message);
        return Err(error.help("run it with `pgmeter as postmark`, or in parts"));
    }
    let mut player = ScriptPlayer {
        file,
        session: PostmarkSession::new(Compat::default()),
        location_lines: Vec::new(),
        workloads: Vec::new(),
        warnings: Vec::new(),
        hidden_count: 0,
    };
    let mut rest = bytes;
    let mut number = 1;
    loop {
        let start = bytes.len() - rest.len();
        // Reading from memory does not fail, so this is the end of the script.
        let Ok(Some(mut line)) = next_line(&mut rest) else {
            break;
        };
        let taken = &bytes[start..bytes.len() - rest.len()];
        let source = ScriptLine {
            line: number,
            text: String::from_utf8_lossy(taken).into_owned(),
        };
        // PostMark splits a longer line, but its parts have the same number.
        number += u32::from(taken.ends_with(b"\n"));
        player.amend(&mut line, taken, &source)?;
        if player.play(&line, &source)? == ScriptEnding::Quit {
            break;
        }
    }
    player.finish()
}

/// A line of the script and its number, for messages.
struct ScriptLine {
    line: u32,
    text: String,
}

#[derive(PartialEq, Eq)]
enum ScriptEnding {
    Line,
    Quit,
}

struct ScriptPlayer<'a> {
    file: &'a FrontFile<'a>,
    session: PostmarkSession,
    /// Line that set each location.
    location_lines: Vec<(Vec<u8>, ScriptLine)>,
    workloads: Vec<Workload>,
    warnings: Vec<Diagnostic>,
    hidden_count: usize,
}

impl ScriptPlayer<'_> {
    fn error(&self, source: &ScriptLine, message: impl Into<String>) -> Diagnostic {
        let error = Diagnostic::error(self.file.name, message);
        error.at_line(source.line).snippet(&source.text)
    }

    fn warn(&mut self, source: &ScriptLine, message: impl Into<String>, help: &str) {
        if self.warnings.len() >= WARNINGS_MAX {
            self.hidden_count += 1;
            return;
        }
        let warning = Diagnostic::warning(self.file.name, message);
        let warning = warning.at_line(source.line).snippet(&source.text);
        self.warnings.push(warning.help(help));
    }

    /// Restores the character that PostMark would lose, and removes the line end of Windows.
    fn amend(
        &mut self,
        line: &mut Vec<u8>,
        taken: &[u8],
        source: &ScriptLine,
    ) -> Result<(), Diagnostic> {
        if taken.contains(&0) {
            let error = self.error(source, "the line has a zero byte");
            return Err(error.help("remove it"));
        }
        if !taken.ends_with(b"\n") && taken.len() >= LINE_BYTES_MAX {
            let message = "the line is longer than PostMark reads at once";
            let help = format!("write {} characters at most", LINE_BYTES_MAX - 1);
            return Err(self.error(source, message).help(help));
        }
        if !taken.ends_with(b"\n") {
            let message = "the line does not end, so PostMark would lose its last character";
            if self.file.options.strict {
                return Err(self.error(source, message).help("end the line"));
            }
            self.warn(source, message, "end the line; pgmeter uses it unchanged");
            line.extend(taken.last());
        }
        if line.last() == Some(&b'\r') {
            let message = "the line has a carriage return at its end, which PostMark keeps";
            if self.file.options.strict {
                return Err(self.error(source, message).help("end it as in Unix"));
            }
            line.pop();
        }
        Ok(())
    }

    fn play(&mut self, line: &[u8], source: &ScriptLine) -> Result<ScriptEnding, Diagnostic> {
        // PostMark answers these lines with `Eh?` and changes nothing.
        let is_ignored = line.trim_ascii().is_empty() || line.starts_with(b"#");
        if is_ignored && !self.file.options.strict {
            return Ok(ScriptEnding::Line);
        }
        for action in self.session.line(line, Origin::File) {
            match action {
                // Help is only read at a prompt.
                SessionAction::Print(_) if is_help(line) => {}
                SessionAction::Print(_) => return Err(self.unknown(line, source)),
                SessionAction::PrintError(text) => return Err(self.refused(line, &text, source)),
                SessionAction::Run { report } => self.run(report.is_some(), source)?,
                // `show` only prints, which has no effect on the workload.
                SessionAction::Show { .. } => {}
                SessionAction::Load { .. } => {
                    let message = "a workload is a single file and cannot load others";
                    let help = "put its lines here, or use `pgmeter as postmark`";
                    return Err(self.error(source, message).help(help));
                }
                SessionAction::Shell { .. } => {
                    let message = "a workload cannot start a shell";
                    let help = "remove the line, or use `pgmeter as postmark --allow-shell`";
                    return Err(self.error(source, message).help(help));
                }
                SessionAction::Quit => return Ok(ScriptEnding::Quit),
            }
        }
        self.note_location(line, source)?;
        self.doubt(line, source);
        Ok(ScriptEnding::Line)
    }

    /// The error for a line that PostMark answers with `Eh?`.
    fn unknown(&self, line: &[u8], source: &ScriptLine) -> Diagnostic {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split_whitespace().take(3).collect();
        let shown = plan::printable(&words.join(" "));
        let names = || command::known(Compat::default()).map(|entry| entry.name);
        // Compare fewer words, too, so that a value does not hide the similarity.
        let near = (1..=words.len())
            .rev()
            .find_map(|count| nearest(&words[..count].join(" "), names()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`pgmeter as postmark` lists the commands with `help`".to_owned(),
        };
        let message = format!("`{shown}` is not a PostMark command");
        self.error(source, message).help(help)
    }

    /// The error for a line that PostMark reports and skips.
    fn refused(&self, line: &[u8], text: &[u8], source: &ScriptLine) -> Diagnostic {
        let text = String::from_utf8_lossy(text);
        let text = text.trim().trim_start_matches("Error: ");
        let found = command::find(Compat::default(), line);
        let wanted = found.map_or("a command", |(command, _)| wanted(command));
        let message = format!("PostMark would ignore this line: {}", plan::printable(text));
        self.error(source, message).help(format!("write {wanted}"))
    }

    /// Warns if PostMark accepts a line but uses other numbers than the line contains.
    fn doubt(&mut self, line: &[u8], source: &ScriptLine) {
        let Some((command, Some(parameter))) = command::find(Compat::default(), line) else {
            return;
        };
        let taken = taken(command, self.session.settings());
        let text = String::from_utf8_lossy(parameter);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        // PostMark uses a single size for both bounds, so this needs no warning.
        if let (PostmarkCommand::Size, [one]) = (command, &words[..]) {
            words.push(one);
        }
        let is_so = |(word, value): (&&str, &i64)| word.parse() == Ok(*value);
        if taken.is_empty() || (words.len() == taken.len() && words.iter().zip(&taken).all(is_so)) {
            return;
        }
        let taken: Vec<String> = taken.iter().map(i64::to_string).collect();
        let message = format!("PostMark reads this as {}", taken.join(" "));
        self.warn(source, message, "write these numbers");
    }

    fn note_location(&mut self, line: &[u8], source: &ScriptLine) -> Result<(), Diagnostic> {
        let found = command::find(Compat::default(), line);
        let Some((PostmarkCommand::Location, Some(parameter))) = found else {
            return Ok(());
        };
        let locations = &self.session.settings().locations;
        if locations.len() > LOCATIONS_MAX {
            let message = format!("the script sets more than {LOCATIONS_MAX} locations at once");
            return Err(self.error(source, message).help("use fewer"));
        }
        // A removal adds no location, so the last one comes from an earlier line.
        if let Some(last) = locations.last().filter(|_| !parameter.starts_with(b"-")) {
            let copy = ScriptLine {
                line: source.line,
                text: source.text.clone(),
            };
            self.location_lines.push((last.directory.clone(), copy));
        }
        Ok(())
    }

    fn run(&mut self, has_report: bool, source: &ScriptLine) -> Result<(), Diagnostic> {
        if has_report {
            let message = "the report goes to pgmeter's own outputs, not to a file of this name";
            self.warn(source, message, "add `--json FILE` to keep the record");
        }
        if self.workloads.len() >= RUNS_MAX {
            let message = format!("the script has more than {RUNS_MAX} runs");
            return Err(self.error(source, message).help("use `--repetitions`"));
        }
        let workload = self.workload()?;
        self.workloads.push(workload);
        Ok(())
    }

    fn workload(&mut self) -> Result<Workload, Diagnostic> {
        let mut settings = self.session.settings().clone();
        settings.locations = self.locations(&settings)?;
        Ok(Workload {
            seed: (settings.seed != PostmarkSettings::default().seed)
                .then(|| model::Seed(settings.seed.into())),
            postmark: Some(Postmark::of(&settings)),
            ..Workload::default()
        })
    }

    /// Locations of a run, which must be below the target. A single one may be the target itself.
    fn locations(&mut self, settings: &PostmarkSettings) -> Result<Vec<PoolLocation>, Diagnostic> {
        let locations = &settings.locations;
        let mut kept = Vec::with_capacity(locations.len());
        for location in locations {
            let text = String::from_utf8_lossy(&location.directory).into_owned();
            let is_text = text.as_bytes() == location.directory;
            let found = match is_text {
                true => beneath(&text),
                false => Err("is not UTF-8 text"),
            };
            let is_alone = locations.len() == 1;
            let why = match found {
                Ok(Some(name)) => {
                    kept.push(PoolLocation::beneath(name, location.weight));
                    continue;
                }
                // The target itself, which needs no location.
                Ok(None) if is_alone => continue,
                Ok(None) => "is the target itself, but there are others as well",
                Err(why) => why,
            };
            let message = format!("the location `{}` {why}", plan::printable(&text));
            let source = self.place_of(&location.directory);
            if is_alone && self.file.options.has_target {
                self.warn(&source, message, "the given target takes its place");
                continue;
            }
            let help = "name the directory with `--target`, or run the script with `pgmeter as \
                        postmark`";
            return Err(self.error(&source, message).help(help));
        }
        Ok(kept)
    }

    fn place_of(&self, directory: &[u8]) -> ScriptLine {
        let mut sources = self.location_lines.iter().rev();
        let found = sources.find(|(named, _)| named == directory);
        // Always found, since a line has set each location.
        let (line, text) = found.map_or((1, ""), |(_, place)| (place.line, place.text.as_str()));
        ScriptLine {
            line,
            text: text.to_owned(),
        }
    }

    fn finish(mut self) -> Result<(Vec<Workload>, Vec<Diagnostic>), Diagnostic> {
        if self.hidden_count > 0 {
            let message = format!("{} more warnings are not shown", self.hidden_count);
            let warning = Diagnostic::warning(self.file.name, message);
            self.warnings.push(warning.help("fix those that are shown"));
        }
        if self.workloads.is_empty() {
            let message = "the script has no `run`, so it is run once with its final settings";
            let warning = Diagnostic::warning(self.file.name, message);
            self.warnings.push(warning.help("add a line `run`"));
            let workload = self.workload()?;
            self.workloads.push(workload);
        }
        Ok((self.workloads, self.warnings))
    }
}

fn is_help(line: &[u8]) -> bool {
    let found = command::find(Compat::default(), line);
    matches!(found, Some((PostmarkCommand::Help, _)))
}

/// Numbers that a command has set; empty if it sets none.
fn taken(command: PostmarkCommand, settings: &PostmarkSettings) -> Vec<i64> {
    let bias = |tenths: Option<u8>| tenths.map_or(-1, i64::from);
    let number = match command {
        PostmarkCommand::Size => {
            let bounds = [settings.size_low_bytes, settings.size_high_bytes];
            return bounds.map(i64::from).to_vec();
        }
        PostmarkCommand::ReadBias => bias(settings.read_bias),
        PostmarkCommand::CreateBias => bias(settings.create_bias),
        PostmarkCommand::Number => settings.number.into(),
        PostmarkCommand::Seed => settings.seed.into(),
        PostmarkCommand::Transactions => settings.transactions.into(),
        PostmarkCommand::Subdirectories => settings.subdirectories.into(),
        PostmarkCommand::ReadBlock => settings.read_block_bytes.into(),
        PostmarkCommand::WriteBlock => settings.write_block_bytes.into(),
        _ => return Vec::new(),
    };
    vec![number]
}

/// Description of a command's parameter.
const fn wanted(command: PostmarkCommand) -> &'static str {
    match command {
        PostmarkCommand::Size => "`set size LOW HIGH` with numbers of bytes from 1",
        PostmarkCommand::Location => "`set location DIRECTORY` or `set location DIRECTORY WEIGHT`",
        PostmarkCommand::Buffering => "`true` or `false` after the command",
        PostmarkCommand::ReadBias | PostmarkCommand::CreateBias => {
            "a number from 0 to 10, or -1, after the command"
        }
        PostmarkCommand::Report => "`verbose` or `terse` after the command",
        _ => "a number of at least 1 after the command",
    }
}

#[cfg(test)]
mod tests;
