//! A PostMark script as workloads: each of its `run` is one.
//!
//! The lines are played without touching anything. What PostMark would complain of and pass over
//! is an error here, as another run than the one that was meant would be measured.

use crate::model::Workload;
use crate::nearest::nearest;
use plan::Diagnostic;
use plan::program::PoolLocation;

use super::command::{self, Command};
use super::lines::LINE_BYTES_MAX;
use super::location::beneath;
use super::{Action, Compat, Origin, Postmark, Session, Settings, next_line};

/// Longer texts are no scripts; an honest one is a few hundred bytes.
const SCRIPT_BYTES_MAX: usize = 1 << 20;

/// Locations at once; each run keeps its own list.
const LOCATIONS_MAX: usize = 1000;

/// Warnings that are kept; the rest is counted.
const WARNINGS_MAX: usize = 100;

/// Runs of one script; more are a mistake, and would make a plan without end.
const RUNS_MAX: usize = 1000;

/// How a script is read.
pub(crate) struct Reading<'a> {
    /// The script's name, for messages.
    pub file: &'a str,
    /// Refuse what PostMark itself would misread.
    pub strict: bool,
    /// Whether a target is given, which stands for the script's location where that is none
    /// beneath a target.
    pub has_target: bool,
}

/// The workloads of a script, without names, and what the reader should know.
///
/// # Errors
/// A script that is too long, or the first line that PostMark would not understand or take, that
/// asks for the shell or for another file, or that names a location which does not lie beneath the
/// target.
pub(crate) fn read_script(
    bytes: &[u8],
    reading: &Reading,
) -> Result<(Vec<Workload>, Vec<Diagnostic>), Diagnostic> {
    if bytes.len() > SCRIPT_BYTES_MAX {
        let message = format!(
            "the script has {} bytes, more than the {SCRIPT_BYTES_MAX} that are read",
            bytes.len()
        );
        let error = Diagnostic::error(reading.file, message);
        return Err(error.help("run it with `pgmeter as postmark`, or in parts"));
    }
    let mut player = Player {
        reading,
        session: Session::new(Compat::default()),
        places: Vec::new(),
        workloads: Vec::new(),
        warnings: Vec::new(),
        unsaid_count: 0,
    };
    let mut rest = bytes;
    let mut number = 1;
    loop {
        let start = bytes.len() - rest.len();
        let Ok(Some(mut line)) = next_line(&mut rest) else {
            break;
        };
        let taken = &bytes[start..bytes.len() - rest.len()];
        let place = Place {
            line: number,
            text: String::from_utf8_lossy(taken).into_owned(),
        };
        // What is longer than PostMark reads at once goes on in the same line.
        number += u32::from(taken.ends_with(b"\n"));
        player.amend(&mut line, taken, &place)?;
        if player.play(&line, &place)? == Ending::Quit {
            break;
        }
    }
    player.finish()
}

/// A line of the script, for messages.
struct Place {
    line: u32,
    text: String,
}

#[derive(PartialEq, Eq)]
enum Ending {
    Line,
    Quit,
}

struct Player<'a> {
    reading: &'a Reading<'a>,
    session: Session,
    /// The line that named each location.
    places: Vec<(Vec<u8>, Place)>,
    workloads: Vec<Workload>,
    warnings: Vec<Diagnostic>,
    unsaid_count: usize,
}

impl Player<'_> {
    fn error(&self, place: &Place, message: impl Into<String>) -> Diagnostic {
        let error = Diagnostic::error(self.reading.file, message);
        error.at_line(place.line).snippet(&place.text)
    }

    fn warn(&mut self, place: &Place, message: impl Into<String>, help: &str) {
        if self.warnings.len() >= WARNINGS_MAX {
            self.unsaid_count += 1;
            return;
        }
        let warning = Diagnostic::warning(self.reading.file, message);
        let warning = warning.at_line(place.line).snippet(&place.text);
        self.warnings.push(warning.help(help));
    }

    /// Gives back what PostMark would lose of a line, and takes away what Windows added.
    fn amend(&mut self, line: &mut Vec<u8>, taken: &[u8], place: &Place) -> Result<(), Diagnostic> {
        if taken.contains(&0) {
            let error = self.error(place, "the line has a zero byte");
            return Err(error.help("take it out"));
        }
        if !taken.ends_with(b"\n") && taken.len() >= LINE_BYTES_MAX {
            let message = "the line is longer than PostMark reads at once";
            let help = format!("write {} characters at most", LINE_BYTES_MAX - 1);
            return Err(self.error(place, message).help(help));
        }
        if !taken.ends_with(b"\n") {
            let message = "the line does not end, so PostMark would lose its last character";
            if self.reading.strict {
                return Err(self.error(place, message).help("end the line"));
            }
            self.warn(place, message, "end the line; here it counts as it stands");
            line.extend(taken.last());
        }
        if line.last() == Some(&b'\r') {
            let message = "the line ends as in Windows, which PostMark takes for a character";
            if self.reading.strict {
                return Err(self.error(place, message).help("end it as in Unix"));
            }
            line.pop();
        }
        Ok(())
    }

    fn play(&mut self, line: &[u8], place: &Place) -> Result<Ending, Diagnostic> {
        let is_silent = line.trim_ascii().is_empty() || line.starts_with(b"#");
        if is_silent && !self.reading.strict {
            return Ok(Ending::Line);
        }
        for action in self.session.line(line, Origin::File) {
            match action {
                // A list that nobody reads.
                Action::Print(_) if is_help(line) => {}
                Action::Print(_) => return Err(self.unknown(line, place)),
                Action::PrintError(text) => return Err(self.refused(line, &text, place)),
                Action::Run { report } => self.run(report.is_some(), place)?,
                Action::Show { .. } => {}
                Action::Load { .. } => {
                    let message = "a workload is one file, which loads no other";
                    let help = "put its lines here, or use `pgmeter as postmark`";
                    return Err(self.error(place, message).help(help));
                }
                Action::Shell { .. } => {
                    let message = "a workload starts no shell";
                    let help = "take the line out, or use `pgmeter as postmark --allow-shell`";
                    return Err(self.error(place, message).help(help));
                }
                Action::Quit => return Ok(Ending::Quit),
            }
        }
        self.note_location(line, place)?;
        self.doubt(line, place);
        Ok(Ending::Line)
    }

    /// What PostMark answers with `Eh?`.
    fn unknown(&self, line: &[u8], place: &Place) -> Diagnostic {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split_whitespace().take(3).collect();
        let shown = plan::printable(&words.join(" "));
        let names = || command::known(Compat::default()).map(|entry| entry.name);
        // With two words of three as well, so that a value does not stand in the way.
        let near = (1..=words.len())
            .rev()
            .find_map(|count| nearest(&words[..count].join(" "), names()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`pgmeter as postmark` lists the commands with `help`".to_owned(),
        };
        let message = format!("`{shown}` is not a PostMark command");
        self.error(place, message).help(help)
    }

    /// What PostMark complains of and passes over.
    fn refused(&self, line: &[u8], text: &[u8], place: &Place) -> Diagnostic {
        let text = String::from_utf8_lossy(text);
        let text = text.trim().trim_start_matches("Error: ");
        let found = command::find(Compat::default(), line);
        let wanted = found.map_or("a command", |(command, _)| wanted(command));
        let message = format!("PostMark would ignore this line: {}", plan::printable(text));
        self.error(place, message).help(format!("write {wanted}"))
    }

    /// What PostMark takes without a word, and not as it is written.
    fn doubt(&mut self, line: &[u8], place: &Place) {
        let Some((command, Some(parameter))) = command::find(Compat::default(), line) else {
            return;
        };
        let taken = taken(command, self.session.settings());
        let text = String::from_utf8_lossy(parameter);
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if let (Command::Size, [one]) = (command, &words[..]) {
            words.push(one);
        }
        let is_so = |(word, value): (&&str, &i64)| word.parse() == Ok(*value);
        if taken.is_empty() || (words.len() == taken.len() && words.iter().zip(&taken).all(is_so)) {
            return;
        }
        let taken: Vec<String> = taken.iter().map(i64::to_string).collect();
        let message = format!("PostMark reads this as {}", taken.join(" "));
        self.warn(place, message, "write it so");
    }

    fn note_location(&mut self, line: &[u8], place: &Place) -> Result<(), Diagnostic> {
        let found = command::find(Compat::default(), line);
        let Some((Command::Location, Some(parameter))) = found else {
            return Ok(());
        };
        let locations = &self.session.settings().locations;
        if locations.len() > LOCATIONS_MAX {
            let message = format!("the script sets more than {LOCATIONS_MAX} locations at once");
            return Err(self.error(place, message).help("use fewer"));
        }
        if let Some(last) = locations.last().filter(|_| !parameter.starts_with(b"-")) {
            let place = Place {
                line: place.line,
                text: place.text.clone(),
            };
            self.places.push((last.directory.clone(), place));
        }
        Ok(())
    }

    fn run(&mut self, has_report: bool, place: &Place) -> Result<(), Diagnostic> {
        if has_report {
            let message = "the report goes to pgmeter's own outputs, not to a file of this name";
            self.warn(place, message, "add `--json FILE` to keep the record");
        }
        if self.workloads.len() >= RUNS_MAX {
            let message = format!("the script has more than {RUNS_MAX} runs");
            return Err(self.error(place, message).help("use `--repetitions`"));
        }
        let workload = self.workload()?;
        self.workloads.push(workload);
        Ok(())
    }

    fn workload(&mut self) -> Result<Workload, Diagnostic> {
        let mut settings = self.session.settings().clone();
        settings.locations = self.locations(&settings)?;
        Ok(Workload {
            seed: (settings.seed != Settings::default().seed)
                .then(|| crate::model::Seed(settings.seed.into())),
            postmark: Some(Postmark::of(&settings)),
            ..Workload::default()
        })
    }

    /// The locations, each beneath the target; one alone may be the target.
    fn locations(&mut self, settings: &Settings) -> Result<Vec<PoolLocation>, Diagnostic> {
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
                // The target itself.
                Ok(None) if is_alone => continue,
                Ok(None) => "is the target itself, beside others in it",
                Err(why) => why,
            };
            let message = format!("the location `{}` {why}", plan::printable(&text));
            let place = self.place_of(&location.directory);
            if is_alone && self.reading.has_target {
                self.warn(&place, message, "the target that is given takes its place");
                continue;
            }
            let help = "name the directory with `--target`, or run the script with `pgmeter as \
                        postmark`";
            return Err(self.error(&place, message).help(help));
        }
        Ok(kept)
    }

    fn place_of(&self, directory: &[u8]) -> Place {
        let mut places = self.places.iter().rev();
        let found = places.find(|(named, _)| named == directory);
        // Each location was named in a line.
        let (line, text) = found.map_or((1, ""), |(_, place)| (place.line, place.text.as_str()));
        Place {
            line,
            text: text.to_owned(),
        }
    }

    fn finish(mut self) -> Result<(Vec<Workload>, Vec<Diagnostic>), Diagnostic> {
        if self.unsaid_count > 0 {
            let message = format!("{} more warnings are not shown", self.unsaid_count);
            let warning = Diagnostic::warning(self.reading.file, message);
            self.warnings.push(warning.help("fix those that are shown"));
        }
        if self.workloads.is_empty() {
            let message = "the script has no `run`, so it is run once with its final settings";
            let warning = Diagnostic::warning(self.reading.file, message);
            self.warnings.push(warning.help("add a line `run`"));
            let workload = self.workload()?;
            self.workloads.push(workload);
        }
        Ok((self.workloads, self.warnings))
    }
}

fn is_help(line: &[u8]) -> bool {
    let found = command::find(Compat::default(), line);
    matches!(found, Some((Command::Help, _)))
}

/// The numbers that a command has set; none where it sets no number.
fn taken(command: Command, settings: &Settings) -> Vec<i64> {
    let bias = |tenths: Option<u8>| tenths.map_or(-1, i64::from);
    let number = match command {
        Command::Size => {
            let bounds = [settings.size_low_bytes, settings.size_high_bytes];
            return bounds.map(i64::from).to_vec();
        }
        Command::ReadBias => bias(settings.read_bias),
        Command::CreateBias => bias(settings.create_bias),
        Command::Number => settings.number.into(),
        Command::Seed => settings.seed.into(),
        Command::Transactions => settings.transactions.into(),
        Command::Subdirectories => settings.subdirectories.into(),
        Command::ReadBlock => settings.read_block_bytes.into(),
        Command::WriteBlock => settings.write_block_bytes.into(),
        _ => return Vec::new(),
    };
    vec![number]
}

/// What a command takes.
const fn wanted(command: Command) -> &'static str {
    match command {
        Command::Size => "`set size LOW HIGH` with numbers of bytes from 1",
        Command::Location => "`set location DIRECTORY` or `set location DIRECTORY WEIGHT`",
        Command::Buffering => "`true` or `false` behind it",
        Command::ReadBias | Command::CreateBias => "a number from 0 to 10 behind it, or -1",
        Command::Report => "`verbose` or `terse` behind it",
        _ => "a number from 1 behind it",
    }
}

#[cfg(test)]
mod tests;
