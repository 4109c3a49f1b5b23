//! The output of an emulated program, and its destination.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use front::ClassicText;
use results::{RunEvent, RunRecord};

use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy, try_file};
use crate::terminal::OutputStream;

/// Output of an emulated program on its way to a stream and a log.
pub(super) struct EmulatedOutput {
    text: Box<dyn ClassicText>,
    stream: OutputStream,
    log: Option<File>,
    /// Text for standard error, printed at the end because live results would get mixed up with it.
    error_text: String,
    has_complained: bool,
    /// Error that ended output to the stream.
    output_error: Option<io::Error>,
    /// Error that ended writing to the log.
    log_error: Option<io::Error>,
    /// Error about a document that could not be written at the end.
    document_error: Option<CliError>,
}

impl EmulatedOutput {
    /// Opens the log file, if the program has one.
    pub fn new(text: Box<dyn ClassicText>) -> Result<Self, CliError> {
        Ok(Self {
            log: text.log_file().map(open_log).transpose()?,
            stream: match text.is_on_standard_error() {
                true => OutputStream::Error,
                false => OutputStream::Output,
            },
            text,
            error_text: String::new(),
            has_complained: false,
            output_error: None,
            log_error: None,
            document_error: None,
        })
    }

    /// `true` if the output goes to this stream.
    pub fn is_on(&self, stream: OutputStream) -> bool {
        self.stream == stream
    }

    /// Prints the program's text for an event. Returns `false` if the run must end: the stream is
    /// closed, or a document cannot be written.
    pub fn on_event(&mut self, event: &RunEvent) -> bool {
        if let RunEvent::Started { record } = event {
            self.document_error = self.check_documents_writable(record).err();
        }
        if self.document_error.is_some() {
            return false;
        }
        let text = self.text.event(event);
        self.say(text);
        self.error_text.push_str(&self.text.error_text(event));
        self.output_error.is_none()
    }

    /// Tries whether the documents can be written, so that a mistake is reported before hours of
    /// measuring. Some are known only at the end.
    fn check_documents_writable(&mut self, record: &RunRecord) -> Result<(), CliError> {
        let makes_directories = self.text.makes_directories();
        let texts = self.text.documents(record).into_iter();
        let others = self.text.binary_documents(record).into_iter();
        let mut paths = texts
            .map(|(path, _)| path)
            .chain(others.map(|(path, _)| path));
        paths.try_for_each(|path| {
            let path = Path::new(&path);
            if makes_directories && let Some(directory) = path.parent() {
                make_directory(directory)?;
            }
            try_file(path, OverwritePolicy::Replace)
        })
    }

    fn say(&mut self, text: String) {
        if text.is_empty() || self.output_error.is_some() {
            return;
        }
        if let (Some(log), None) = (&mut self.log, &self.log_error) {
            let logged = self.text.logged(&text);
            // The run continues without its log; `end` reports the error.
            self.log_error = log.write_all(logged.as_bytes()).err();
        }
        let printed = self.stream.write_document(&OutputText::Data(text));
        self.output_error = printed.err();
    }

    /// Prints the collected complaints.
    pub fn complain(&mut self) {
        let complaints = std::mem::take(&mut self.error_text);
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

    /// Returns the result of a run whose output failed; `None` if it did not fail.
    pub fn broken(&mut self) -> Option<Result<Exit, CliError>> {
        if let Some(error) = self.document_error.take() {
            return Some(Err(error));
        }
        let error = self.output_error.take()?;
        Some(match error.kind() {
            // A reader that closed the pipe is not an error.
            io::ErrorKind::BrokenPipe => Ok(Exit::Success),
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
        let text = self.text.end(record);
        self.say(text);
        if let Some(outcome) = self.broken() {
            return outcome.map(Some);
        }
        if let Some(error) = self.log_error.take() {
            return Err(CliError::system("cannot write to the log file", &error));
        }
        let create = |path: &str| OutputFile::create(Path::new(path), OverwritePolicy::Replace);
        // One that fails must not prevent the others, so its error is returned last.
        let documents = self.text.documents(record).into_iter();
        let written = documents.map(|(path, text)| create(&path)?.finish(&OutputText::Json(text)));
        let mut written: Vec<Result<(), CliError>> = written.collect();
        let documents = self.text.binary_documents(record).into_iter();
        written.extend(documents.map(|(path, bytes)| create(&path)?.finish_bytes(&bytes)));
        written.into_iter().collect::<Result<(), CliError>>()?;
        Ok(self.text.exit_code().map(Exit::Classic))
    }
}

fn make_directory(path: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(path).map_err(|error| {
        let path = path.display();
        let message = format!("cannot create the directory `{path}`: {error}");
        let help = "choose a directory that you can write to".to_owned();
        CliError::new(Exit::Failed, message, Some(help))
    })
}

fn open_log(path: &str) -> Result<File, CliError> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map_err(|error| {
        let message = format!("cannot open the log file `{path}`: {error}");
        let help = "name another one with `-l FILE`".to_owned();
        CliError::new(Exit::Failed, message, Some(help))
    })
}
