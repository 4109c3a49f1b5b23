//! The text of `show`.

use super::{Compat, ReportForm, Settings};

/// The text of `show` in its order; the lines of the locations stand apart because they are
/// printed even where the rest goes to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The text before the locations.
    pub head: Vec<u8>,
    /// The lines of the locations.
    pub locations: Vec<u8>,
    /// The text after the locations.
    pub tail: Vec<u8>,
}

impl Shown {
    /// All of it, as standard output gets it.
    #[must_use]
    pub fn whole(&self) -> Vec<u8> {
        [&*self.head, &*self.locations, &*self.tail].concat()
    }

    /// What a file gets.
    #[must_use]
    pub fn filed(&self) -> Vec<u8> {
        [&*self.head, &*self.tail].concat()
    }
}

/// What `show` says of the settings; `working_directory` stands where no location is set.
#[must_use]
pub fn show(settings: &Settings, working_directory: &[u8]) -> Shown {
    Shown {
        head: head(settings, working_directory),
        locations: locations(settings),
        tail: tail(settings).into_bytes(),
    }
}

fn head(settings: &Settings, working_directory: &[u8]) -> Vec<u8> {
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

fn locations(settings: &Settings) -> Vec<u8> {
    let mut text = Vec::new();
    for location in &settings.locations {
        text.push(b'\t');
        text.extend_from_slice(&location.directory);
        text.extend_from_slice(format!(" (weight={})\n", location.weight).as_bytes());
    }
    text
}

fn tail(settings: &Settings) -> String {
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

/// A size in the largest unit of which it holds at least one.
fn scale(compat: Compat, size_bytes: u32) -> String {
    let (unit_bytes, unit) = if size_bytes >= compat.megabyte_bytes() {
        (compat.megabyte_bytes(), "megabytes")
    } else if size_bytes >= compat.kilobyte_bytes() {
        (compat.kilobyte_bytes(), "kilobytes")
    } else {
        return format!("{size_bytes} bytes");
    };
    // 32 bits, as the original divides: half a hundredth can round the other way in 64.
    let scaled = size_bytes as f32 / unit_bytes as f32;
    format!("{scaled:.2} {unit}")
}
