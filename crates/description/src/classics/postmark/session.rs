//! A line of a script or of the prompt, turned into settings and actions.

use super::command::{self, Command};
use super::location::set_location;
use super::number::leading_number;
use super::{Compat, ReportForm, Settings};

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A configuration file.
    File,
    /// The prompt, where `?` means `help` and `exit` means `quit`.
    Prompt,
}

/// What the program has to do because of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write this to standard output.
    Print(Vec<u8>),
    /// Write this to standard error.
    PrintError(Vec<u8>),
    /// Run the benchmark and append the report to a file, or print it.
    Run {
        /// The file, none for standard output.
        report: Option<Vec<u8>>,
    },
    /// Carry out the lines of a file.
    Load {
        /// The file.
        file: Vec<u8>,
    },
    /// Append the settings to a file, or print them.
    Show {
        /// The file, none for standard output.
        file: Option<Vec<u8>>,
    },
    /// Hand a command to the shell.
    Shell {
        /// The command, none for the user's own shell.
        command: Option<Vec<u8>>,
    },
    /// Leave the file or the program.
    Quit,
}

/// The state that lines change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    settings: Settings,
}

impl Session {
    /// A session as the program of that version starts it.
    #[must_use]
    pub const fn new(compat: Compat) -> Self {
        Self {
            settings: Settings::new(compat),
        }
    }

    /// The settings as the lines so far left them.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Carries out a line, without its line break; the actions are to be done in their order.
    pub fn line(&mut self, line: &[u8], origin: Origin) -> Vec<Action> {
        let line: &[u8] = match (origin, line) {
            (Origin::Prompt, b"?") => b"help",
            (Origin::Prompt, b"exit") => b"quit",
            _ => line,
        };
        if let Some((b'!', shell)) = line.split_first() {
            let command = (!shell.is_empty()).then(|| shell.to_vec());
            return vec![Action::Shell { command }];
        }
        match command::find(self.settings.compat, line) {
            Some((command, parameter)) => self.obey(command, parameter),
            None => vec![Action::Print(b"Eh?\n".to_vec())],
        }
    }

    fn obey(&mut self, command: Command, parameter: Option<&[u8]>) -> Vec<Action> {
        let owned = parameter.map(<[u8]>::to_vec);
        match command {
            Command::Run => vec![Action::Run { report: owned }],
            Command::Show => vec![Action::Show { file: owned }],
            Command::Quit => vec![Action::Quit],
            Command::Help => {
                let text = command::help(self.settings.compat, parameter);
                vec![Action::Print(text)]
            }
            Command::Load => match owned {
                Some(file) => vec![Action::Load { file }],
                None => complain(Some(b"no configuration file specified".to_vec())),
            },
            Command::Location => complain(match parameter {
                Some(text) => set_location(&mut self.settings.locations, text),
                None => Some(b"no directory name specified".to_vec()),
            }),
            _ => {
                let error = self.set(command, parameter).err();
                complain(error.map(|text| text.as_bytes().to_vec()))
            }
        }
    }

    /// Sets a value, or says why not.
    fn set(&mut self, command: Command, parameter: Option<&[u8]>) -> Result<(), &'static str> {
        let is_old = self.settings.compat.is_before_1_51();
        let pick = |old, new| if is_old { old } else { new };
        let settings = &mut self.settings;
        match command {
            Command::Size => set_sizes(settings, parameter),
            Command::Number => positive(parameter, &mut settings.number)
                .ok_or_else(|| pick("no file number specified", "invalid number of files")),
            Command::Seed => positive(parameter, &mut settings.seed).ok_or_else(|| {
                pick(
                    "no random number seed specified",
                    "invalid seed for random numbers",
                )
            }),
            Command::Transactions => {
                positive(parameter, &mut settings.transactions).ok_or("no transactions specified")
            }
            Command::Subdirectories => {
                let least = i32::from(!is_old);
                at_least(least, parameter, &mut settings.subdirectories).ok_or_else(|| {
                    pick(
                        "invalid number of subdirectories specified",
                        "invalid number of subdirectories",
                    )
                })
            }
            Command::ReadBlock => positive(parameter, &mut settings.read_block_bytes)
                .ok_or_else(|| pick("no block size specified", "invalid read block size")),
            Command::WriteBlock => positive(parameter, &mut settings.write_block_bytes)
                .ok_or_else(|| pick("no block size specified", "invalid write block size")),
            Command::ReadBias => set_bias(&mut settings.read_bias, parameter),
            Command::CreateBias => set_bias(&mut settings.create_bias, parameter),
            Command::Buffering => set_buffering(settings, parameter),
            Command::Report => set_report(settings, parameter),
            // Carried out by the caller: these set no value.
            Command::Location
            | Command::Run
            | Command::Load
            | Command::Show
            | Command::Help
            | Command::Quit => Ok(()),
        }
    }
}

/// The action for an error's text, if there is one.
fn complain(text: Option<Vec<u8>>) -> Vec<Action> {
    text.map(|text| Action::PrintError([b"Error: ", text.as_slice(), b"\n"].concat()))
        .into_iter()
        .collect()
}

/// Stores the parameter if it is a number of at least `least`.
fn at_least(least: i32, parameter: Option<&[u8]>, value: &mut u32) -> Option<()> {
    let number = leading_number(parameter?);
    if number < least {
        return None;
    }
    *value = u32::try_from(number).ok()?;
    Some(())
}

fn positive(parameter: Option<&[u8]>, value: &mut u32) -> Option<()> {
    at_least(1, parameter, value)
}

/// The upper bound stands after the first blank, wherever that is, and is the lower bound when it
/// is missing or below it.
fn set_sizes(settings: &mut Settings, parameter: Option<&[u8]>) -> Result<(), &'static str> {
    positive(parameter, &mut settings.size_low_bytes)
        .ok_or("no file size low or high bounds specified")?;
    let text = parameter.unwrap_or_default();
    let second = text.iter().position(|byte| *byte == b' ');
    let high = second.map_or(0, |blank| leading_number(&text[blank..]));
    let low = settings.size_low_bytes;
    settings.size_high_bytes = u32::try_from(high).unwrap_or(0).max(low);
    Ok(())
}

fn set_bias(bias: &mut Option<u8>, parameter: Option<&[u8]>) -> Result<(), &'static str> {
    *bias = match parameter.map(leading_number) {
        Some(-1) => None,
        Some(tenths @ 0..=10) => u8::try_from(tenths).ok(),
        _ => return Err("no bias specified (0-10 for greater chance,-1 to disable)"),
    };
    Ok(())
}

fn set_buffering(settings: &mut Settings, parameter: Option<&[u8]>) -> Result<(), &'static str> {
    settings.is_buffered = match parameter {
        Some(b"true") => true,
        Some(b"false") => false,
        _ => return Err("no buffering mode (true/false) specified"),
    };
    Ok(())
}

fn set_report(settings: &mut Settings, parameter: Option<&[u8]>) -> Result<(), &'static str> {
    settings.report = match parameter {
        Some(b"verbose") => ReportForm::Verbose,
        Some(b"terse") => ReportForm::Terse,
        _ => return Err("either 'verbose' or 'terse' required"),
    };
    Ok(())
}
