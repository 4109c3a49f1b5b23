//! Output of `show`.

use description::classics::postmark::{Compat, PostmarkSettings, ReportForm};

/// Output of `show` in three parts. The locations are separate because they are printed even if the
/// rest goes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowOutput {
    /// The text before the locations.
    pub head: Vec<u8>,
    /// Lines of the locations.
    pub locations: Vec<u8>,
    /// The text after the locations.
    pub tail: Vec<u8>,
}

impl ShowOutput {
    /// All parts, for standard output.
    #[must_use]
    pub fn all_parts(&self) -> Vec<u8> {
        [&*self.head, &*self.locations, &*self.tail].concat()
    }

    /// The parts that are written to a file.
    #[must_use]
    pub fn text_for_file(&self) -> Vec<u8> {
        [&*self.head, &*self.tail].concat()
    }
}

/// Output of `show` for the settings; `working_directory` is shown if no location is set.
#[must_use]
pub fn show(settings: &PostmarkSettings, working_directory: &[u8]) -> ShowOutput {
    ShowOutput {
        head: head(settings, working_directory),
        locations: locations(settings),
        tail: tail(settings).into_bytes(),
    }
}

fn head(settings: &PostmarkSettings, working_directory: &[u8]) -> Vec<u8> {
    let low = scale(settings.compat, settings.size_low_bytes);
    let sizes = if settings.size_low_bytes == settings.size_high_bytes {
        format!("Files are {low} in size")
    } else {
        let high = scale(settings.compat, settings.size_high_bytes);
        format!("Files range between {low} and {high} in size")
    };
    let ending = if settings.locations.len() > 1 {
        "ies"
    } else {
        "y"
    };
    let mut text = format!(
        "Current configuration is:\nThe base number of files is {}\nTransactions: {}\n{sizes}\n\
         Working director{ending}: ",
        settings.number, settings.transactions,
    )
    .into_bytes();
    if settings.locations.is_empty() {
        text.extend_from_slice(working_directory);
    }
    text.push(b'\n');
    text
}

fn locations(settings: &PostmarkSettings) -> Vec<u8> {
    let mut text = Vec::new();
    for location in &settings.locations {
        text.push(b'\t');
        text.extend_from_slice(&location.directory);
        text.extend_from_slice(format!(" (weight={})\n", location.weight).as_bytes());
    }
    text
}

fn tail(settings: &PostmarkSettings) -> String {
    let subdirectories = match settings.subdirectories {
        0 => String::new(),
        1 => "1 subdirectory will be used\n".to_owned(),
        count => format!("{count} subdirectories will be used\n"),
    };
    let bias = |bias: Option<u8>| bias.map_or(-1, i32::from);
    let buffering = if settings.is_buffered { "U" } else { "Not u" };
    let report = match settings.report {
        ReportForm::Verbose => "verbose",
        ReportForm::Terse => "terse",
    };
    format!(
        "{subdirectories}Block sizes are: read={}, write={}\n\
         Biases are: read/append={}, create/delete={}\n\
         {buffering}sing Unix buffered file I/O\n\
         Random number generator seed is {}\n\
         Report format is {report}.\n",
        scale(settings.compat, settings.read_block_bytes),
        scale(settings.compat, settings.write_block_bytes),
        bias(settings.read_bias),
        bias(settings.create_bias),
        settings.seed,
    )
}

/// A size in the largest unit that does not exceed it.
fn scale(compat: Compat, size_bytes: u32) -> String {
    let (unit_bytes, unit) = if size_bytes >= compat.megabyte_bytes() {
        (compat.megabyte_bytes(), "megabytes")
    } else if size_bytes >= compat.kilobyte_bytes() {
        (compat.kilobyte_bytes(), "kilobytes")
    } else {
        return format!("{size_bytes} bytes");
    };
    // The original divides in 32 bits, so half of the last digit may round differently in 64.
    let scaled = size_bytes as f32 / unit_bytes as f32;
    format!("{scaled:.2} {unit}")
}
