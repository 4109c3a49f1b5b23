//! The output of an emulated program, and its destination.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use front::ClassicText;
use results::{RunEvent, RunRecord};

use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{Existing, OutputFile};
use crate::terminal::OutputStream;

/// Output of an emulated program on its way to a stream and a log.
pub(super) struct Printed {
    text: Box<dyn ClassicText>,
    stream: OutputStream,
    log: Option<File>,
    /// Text for standard error, printed at the end because live results would get mixed up with it.
    complaints: String,
    has_complained: bool,
    /// Error that ended output to the stream.
    output_error: Option<io::Error>,
    /// Error that ended writing to the log.
    log_error: Option<io::Error>,
}

impl Printed {
    /// Opens the log file, if the program has one.
    pub fn new(text: Box<dyn ClassicText>) -> Result<Self, CliError> {
        Ok(Self {
            log: text.log_file().map(open_log).transpose()?,
            stream: match text.is_on_standard_error() {
                true => OutputStream::Error,
                false => OutputStream::Output,
            },
            text,
            complaints: String::new(),
            has_complained: false,
            output_error: None,
            log_error: None,
        })
    }

    /// `true` if the output goes to this stream.
    pub fn is_on(&self, stream: OutputStream) -> bool {
        self.stream == stream
    }

    /// Prints the program's text for an event. Returns `false` once the stream is closed.
    pub fn hear(&mut self, event: &RunEvent) -> bool {
        let said = self.text.event(event);
        self.say(said);
        self.complaints.push_str(&self.text.complaint(event));
        self.output_error.is_none()
    }

    fn say(&mut self, said: String) {
        if said.is_empty() || self.output_error.is_some() {
            return;
        }
        if let (Some(log), None) = (&mut self.log, &self.log_error) {
            let logged = self.text.logged(&said);
            // The run continues without its log; `end` reports the error.
            self.log_error = log.write_all(logged.as_bytes()).err();
        }
        let printed = self.stream.write_document(&OutputText::Data(said));
        self.output_error = printed.err();
    }

    /// Prints the collected complaints.
    pub fn complain(&mut self) {
        let complaints = std::mem::take(&mut self.complaints);
        if !complaints.is_empty() {
            self.has_complained = true;
            // There is no other stream to report this error on.
            let _ = OutputStream::Error.write_document(&OutputText::Data(complaints));
        }
    }

    /// `true` after [`complain`](Self::complain) has printed something.
    pub fn has_complained(&self) -> bool {
        self.has_complained
    }

    /// Returns the result of a run whose output stream failed; `None` if it did not fail.
    pub fn broken(&mut self) -> Option<Result<Exit, CliError>> {
        let error = self.output_error.take()?;
        Some(match error.kind() {
            // A reader that closed the pipe is not an error.
            io::ErrorKind::BrokenPipe => Ok(Exit::Measured),
            _ => Err(CliError::system(
                match self.stream {
                    OutputStream::Output => "cannot write to standard output",
                    OutputStream::Error => "cannot write to standard error",
                },
                &error,
            )),
        })
    }

    /// Prints the final text of the program and writes its documents. Returns the exit status of
    /// the program, if it has its own.
    pub fn end(&mut self, record: &RunRecord) -> Result<Option<Exit>, CliError> {
        let said = self.text.end(record);
        self.say(said);
        if let Some(ended) = self.broken() {
            return ended.map(Some);
        }
        if let Some(error) = self.log_error.take() {
            return Err(CliError::system("cannot write to the log file", &error));
        }
        for (path, document) in self.text.documents(record) {
            let file = OutputFile::create(Path::new(&path), Existing::Replace)?;
            file.finish(&OutputText::Json(document))?;
        }
        Ok(self.text.exit_code().map(Exit::Classic))
    }
}

fn open_log(path: &str) -> Result<File, CliError> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(|error| {
        let message = format!("cannot open the log file `{path}`: {error}");
        let help = "name another one with `-l FILE`".to_owned();
        CliError::new(Exit::Failed, message, Some(help))
    })
}
