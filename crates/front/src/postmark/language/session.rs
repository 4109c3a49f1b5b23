//! Turns lines of a script or the prompt into settings and actions.

use super::command::{self, PostmarkCommand};
use super::location::set_location;
use super::number::leading_number;
use description::classics::postmark::{Compat, PostmarkSettings, ReportForm};

/// Source of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A configuration file.
    File,
    /// The prompt, where `?` means `help` and `exit` means `quit`.
    Prompt,
}

/// An action that a line requests from the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionAction {
    /// Print this text on standard output.
    Print(Vec<u8>),
    /// Print this text on standard error.
    PrintError(Vec<u8>),
    /// Run the benchmark, and print the report or append it to a file.
    Run {
        /// The file; `None` for standard output.
        report: Option<Vec<u8>>,
    },
    /// Read the lines of a file.
    Load {
        /// The file.
        file: Vec<u8>,
    },
    /// Print the settings or append them to a file.
    Show {
        /// The file; `None` for standard output.
        file: Option<Vec<u8>>,
    },
    /// Run the shell.
    Shell {
        /// The command; `None` for an interactive shell.
        command: Option<Vec<u8>>,
    },
    /// End the file or the program.
    Quit,
}

/// State that lines change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostmarkSession {
    settings: PostmarkSettings,
}

impl PostmarkSession {
    /// A session with the defaults of this version.
    #[must_use]
    pub const fn new(compat: Compat) -> Self {
        Self {
            settings: PostmarkSettings::new(compat),
        }
    }

    /// Current settings, after the lines so far.
    #[must_use]
    pub const fn settings(&self) -> &PostmarkSettings {
        &self.settings
    }

    /// Applies a line without its line break. The caller must carry out the actions in their order.
    pub fn line(&mut self, line: &[u8], origin: Origin) -> Vec<SessionAction> {
        // In a configuration file, the original answers both words with `Eh?`.
        let line: &[u8] = match (origin, line) {
            (Origin::Prompt, b"?") => b"help",
            (Origin::Prompt, b"exit") => b"quit",
            _ => line,
        };
        if let Some((b'!', shell)) = line.split_first() {
            let command = (!shell.is_empty()).then(|| shell.to_vec());
            return vec![SessionAction::Shell { command }];
        }
        match command::find(self.settings.compat, line) {
            Some((command, parameter)) => self.execute_command(command, parameter),
            None => vec![SessionAction::Print(b"Eh?\n".to_vec())],
        }
    }

    fn execute_command(
        &mut self,
        command: PostmarkCommand,
        parameter: Option<&[u8]>,
    ) -> Vec<SessionAction> {
        let owned = parameter.map(<[u8]>::to_vec);
        match command {
            PostmarkCommand::Run => vec![SessionAction::Run { report: owned }],
            PostmarkCommand::Show => vec![SessionAction::Show { file: owned }],
            PostmarkCommand::Quit => vec![SessionAction::Quit],
            PostmarkCommand::Help => {
                let text = command::help(self.settings.compat, parameter);
                vec![SessionAction::Print(text)]
            }
            PostmarkCommand::Load => match owned {
                Some(file) => vec![SessionAction::Load { file }],
                None => complain(Some(b"no configuration file specified".to_vec())),
            },
            PostmarkCommand::Location => complain(match parameter {
                Some(text) => set_location(&mut self.settings.locations, text),
                None => Some(b"no directory name specified".to_vec()),
            }),
            _ => {
                let error = self.set(command, parameter).err();
                complain(error.map(|text| text.as_bytes().to_vec()))
            }
        }
    }

    /// Sets a value, or returns the text of an error.
    fn set(
        &mut self,
        command: PostmarkCommand,
        parameter: Option<&[u8]>,
    ) -> Result<(), &'static str> {
        let is_old = self.settings.compat.is_before_1_51();
        let pick = |old, new| if is_old { old } else { new };
        let settings = &mut self.settings;
        match command {
            PostmarkCommand::Size => set_sizes(settings, parameter),
            PostmarkCommand::Number => positive(parameter, &mut settings.number)
                .ok_or_else(|| pick("no file number specified", "invalid number of files")),
            PostmarkCommand::Seed => positive(parameter, &mut settings.seed).ok_or_else(|| {
                pick(
                    "no random number seed specified",
                    "invalid seed for random numbers",
                )
            }),
            PostmarkCommand::Transactions => {
                positive(parameter, &mut settings.transactions).ok_or("no transactions specified")
            }
            PostmarkCommand::Subdirectories => {
                // Version 1.5 accepts 0 subdirectories; 1.51 needs at least 1.
                let least = i32::from(!is_old);
                at_least(least, parameter, &mut settings.subdirectories).ok_or_else(|| {
                    pick(
                        "invalid number of subdirectories specified",
                        "invalid number of subdirectories",
                    )
                })
            }
            PostmarkCommand::ReadBlock => positive(parameter, &mut settings.read_block_bytes)
                .ok_or_else(|| pick("no block size specified", "invalid read block size")),
            PostmarkCommand::WriteBlock => positive(parameter, &mut settings.write_block_bytes)
                .ok_or_else(|| pick("no block size specified", "invalid write block size")),
            PostmarkCommand::ReadBias => set_bias(&mut settings.read_bias, parameter),
            PostmarkCommand::CreateBias => set_bias(&mut settings.create_bias, parameter),
            PostmarkCommand::Buffering => set_buffering(settings, parameter),
            PostmarkCommand::Report => set_report(settings, parameter),
            // The caller handles these commands, which set no value.
            PostmarkCommand::Location
            | PostmarkCommand::Run
            | PostmarkCommand::Load
            | PostmarkCommand::Show
            | PostmarkCommand::Help
            | PostmarkCommand::Quit => Ok(()),
        }
    }
}

/// The action for an error's text; none without text.
fn complain(text: Option<Vec<u8>>) -> Vec<SessionAction> {
    text.map(|text| SessionAction::PrintError([b"Error: ", text.as_slice(), b"\n"].concat()))
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

/// Sets both bounds. The upper bound follows the first blank. If it is missing or too small, it
/// equals the lower bound.
fn set_sizes(
    settings: &mut PostmarkSettings,
    parameter: Option<&[u8]>,
) -> Result<(), &'static str> {
    positive(parameter, &mut settings.size_low_bytes)
        .ok_or("no file size low or high bounds specified")?;
    let text = parameter.unwrap_or_default();
    // A leading blank is already the first one, so ` 5 6` means 5 for both bounds.
    let second = text.iter().position(|byte| *byte == b' ');
    let high = second.map_or(0, |blank| leading_number(&text[blank..]));
    let low = settings.size_low_bytes;
    settings.size_high_bytes = u32::try_from(high).unwrap_or(0).max(low);
    Ok(())
}

fn set_bias(bias: &mut Option<u8>, parameter: Option<&[u8]>) -> Result<(), &'static str> {
    *bias = match parameter.map(leading_number) {
        // -1 disables this half of each transaction, which then draws no number.
        Some(-1) => None,
        Some(tenths @ 0..=10) => u8::try_from(tenths).ok(),
        _ => return Err("no bias specified (0-10 for greater chance,-1 to disable)"),
    };
    Ok(())
}

fn set_buffering(
    settings: &mut PostmarkSettings,
    parameter: Option<&[u8]>,
) -> Result<(), &'static str> {
    settings.is_buffered = match parameter {
        Some(b"true") => true,
        Some(b"false") => false,
        _ => return Err("no buffering mode (true/false) specified"),
    };
    Ok(())
}

fn set_report(
    settings: &mut PostmarkSettings,
    parameter: Option<&[u8]>,
) -> Result<(), &'static str> {
    settings.report = match parameter {
        Some(b"verbose") => ReportForm::Verbose,
        Some(b"terse") => ReportForm::Terse,
        _ => return Err("either 'verbose' or 'terse' required"),
    };
    Ok(())
}
