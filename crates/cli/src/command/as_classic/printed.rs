//! What a program that is stood in for prints, and where that goes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use front::ClassicText;
use results::{RunEvent, RunRecord};

use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{Existing, OutputFile};
use crate::terminal::Stream;

/// A program's text on its way to whoever reads it.
pub(super) struct Printed {
    text: Box<dyn ClassicText>,
    stream: Stream,
    log: Option<File>,
    /// What is said to standard error at the end, where live figures are no longer in the way.
    complaints: String,
    has_complained: bool,
    /// Why the stream cannot be written to any more.
    output_error: Option<io::Error>,
    /// Why the log is not complete.
    log_error: Option<io::Error>,
}

impl Printed {
    /// Opens the log, where the program has one.
    pub fn new(text: Box<dyn ClassicText>) -> Result<Self, Failure> {
        Ok(Self {
            log: text.log_file().map(open_log).transpose()?,
            stream: match text.is_on_standard_error() {
                true => Stream::Error,
                false => Stream::Output,
            },
            text,
            complaints: String::new(),
            has_complained: false,
            output_error: None,
            log_error: None,
        })
    }

    /// Whether it goes there.
    pub fn is_on(&self, stream: Stream) -> bool {
        self.stream == stream
    }

    /// Prints what the program says when that happens; whether anybody reads it.
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
            self.log_error = log.write_all(logged.as_bytes()).err();
        }
        let printed = self.stream.write_document(&Document::Data(said));
        self.output_error = printed.err();
    }

    /// Says what there was to complain of.
    pub fn complain(&mut self) {
        let complaints = std::mem::take(&mut self.complaints);
        if !complaints.is_empty() {
            self.has_complained = true;
            // There is nowhere left to say that this failed.
            let _ = Stream::Error.write_document(&Document::Data(complaints));
        }
    }

    /// `true` after [`complain`](Self::complain) has printed something.
    pub fn has_complained(&self) -> bool {
        self.has_complained
    }

    /// Why a run ended whose text went nowhere; none where it did not.
    pub fn broken(&mut self) -> Option<Result<Exit, Failure>> {
        let error = self.output_error.take()?;
        Some(match error.kind() {
            // A reader that has gone away is no error.
            io::ErrorKind::BrokenPipe => Ok(Exit::Measured),
            _ => Err(Failure::system(
                match self.stream {
                    Stream::Output => "cannot write to standard output",
                    Stream::Error => "cannot write to standard error",
                },
                &error,
            )),
        })
    }

    /// Prints what the program prints at its end; how that ends, where it has its own way.
    pub fn end(&mut self, record: &RunRecord) -> Result<Option<Exit>, Failure> {
        let said = self.text.end(record);
        self.say(said);
        if let Some(ended) = self.broken() {
            return ended.map(Some);
        }
        if let Some(error) = self.log_error.take() {
            return Err(Failure::system("cannot write to the log file", &error));
        }
        for (path, document) in self.text.documents(record) {
            let file = OutputFile::create(Path::new(&path), Existing::Replace)?;
            file.finish(&Document::Json(document))?;
        }
        Ok(self.text.exit_code().map(Exit::Classic))
    }
}

fn open_log(path: &str) -> Result<File, Failure> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(|error| {
        let message = format!("cannot open the log file `{path}`: {error}");
        let help = "name another one with `-l FILE`".to_owned();
        Failure::new(Exit::Failed, message, Some(help))
    })
}
