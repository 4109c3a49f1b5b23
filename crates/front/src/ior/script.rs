//! The tests of a command line: one, or several that a script describes.

use std::path::PathBuf;

use super::options::IorOptions;
use crate::file_access::FileAccess;
use crate::options::{all_of, escaped, located};

/// First line of a script's tests, which is also the word between arguments and lines.
const START: &str = "IOR START";
const STOP: &str = "IOR STOP";
const RUN: &str = "RUN";

/// The tests of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IorTests {
    /// The tests, in order; at least one.
    pub tests: Vec<IorOptions>,
    /// The arguments, without the lines of a script.
    pub arguments: Vec<String>,
}

impl IorTests {
    /// Parses arguments, which the lines of a script may follow.
    ///
    /// # Errors
    /// An option or a line is unknown or not supported, or values do not fit together.
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let start = words.iter().position(|word| word == START);
        let (arguments, lines) = words.split_at(start.unwrap_or(words.len()));
        let options = IorOptions::parse(arguments)?;
        let raw = match lines.split_first() {
            Some((_, lines)) => tests_of(options, lines)?,
            None => vec![options],
        };
        let mut tests = Vec::new();
        let mut flaws = Vec::new();
        let test_count = raw.len();
        for (number, test) in raw.into_iter().enumerate() {
            match test.complete() {
                Ok(test) => tests.push(test),
                Err(flaw) if test_count == 1 => flaws.push(flaw),
                Err(flaw) => flaws.extend(flaw.lines().map(|it| format!("test {number}: {it}"))),
            }
        }
        let directories = tests.iter().map(IorOptions::directory);
        let is_one = |all: &[PathBuf]| all.windows(2).all(|two| two[0] == two[1]);
        if !is_one(&directories.collect::<Vec<_>>()) {
            flaws.push("all tests of a script must use files in one directory".to_owned());
        }
        all_of(flaws)?;
        Ok(Self {
            tests,
            arguments: arguments.to_vec(),
        })
    }

    /// Arguments followed by the lines of the script that they name, if they name one.
    ///
    /// # Errors
    /// The script cannot be read, or an argument is unknown or not supported.
    pub(super) fn expand_script(
        arguments: &[String],
        files: FileAccess<'_>,
    ) -> Result<Vec<String>, String> {
        let script = IorOptions::parse(arguments)?.script;
        let mut words = arguments.to_vec();
        if script.is_empty() {
            return Ok(words);
        }
        let bytes = files
            .read(&script)
            .map_err(|why| format!("cannot read `-f {}`: {why}", escaped(&script)))?;
        let text = String::from_utf8_lossy(&bytes);
        let without_comment = |line: &str| line.split('#').next().unwrap_or("").trim().to_owned();
        let mut lines = (1..).zip(text.lines().map(without_comment));
        // `any` also moves the iterator past this line, so only the tests follow.
        if !lines.any(|(_, line)| is_it(&line, START)) {
            return Err(format!("`-f {}` has no line `{START}`", escaped(&script)));
        }
        let lines = lines.filter(|(_, line)| !line.is_empty());
        let lines: Vec<(u32, String)> = lines.take_while(|(_, line)| !is_it(line, STOP)).collect();
        check_lines(&IorOptions::parse(arguments)?, &script, &lines)?;
        words.push(START.to_owned());
        words.extend(lines.into_iter().map(|(_, line)| line));
        Ok(words)
    }
}

/// Checks the numbered lines of a script, because later only their texts are known.
///
/// # Errors
/// All lines with an unknown, unsupported or invalid directive. If there are none, all lines that
/// end a test whose values do not fit together.
fn check_lines(options: &IorOptions, script: &str, lines: &[(u32, String)]) -> Result<(), String> {
    let locate = |number: u32, flaw: String| {
        let flaws = flaw.lines().map(|it| located(script, number, it));
        flaws.collect::<Vec<_>>()
    };
    let mut options = options.clone();
    let mut flaws = Vec::new();
    let mut unfit = Vec::new();
    for (index, (number, line)) in lines.iter().enumerate() {
        let is_run = is_it(line, RUN);
        if !is_run {
            let flaw = options.direct(line).err();
            flaws.extend(flaw.into_iter().flat_map(|it| locate(*number, it)));
        }
        // The last test needs no `RUN`.
        if is_run || index + 1 == lines.len() {
            let flaw = options.clone().complete().err();
            unfit.extend(flaw.into_iter().flat_map(|it| locate(*number, it)));
        }
    }
    all_of(flaws)?;
    all_of(unfit)
}

/// The tests of a script. Each starts with the values of the previous one, and the last one needs
/// no `RUN`.
fn tests_of(mut options: IorOptions, lines: &[String]) -> Result<Vec<IorOptions>, String> {
    let mut tests = Vec::new();
    let mut flaws = Vec::new();
    let mut has_changed = true;
    for line in lines {
        has_changed = !is_it(line, RUN);
        match has_changed {
            true => flaws.extend(options.direct(line).err()),
            false => tests.push(options.clone()),
        }
    }
    if has_changed {
        tests.push(options);
    }
    all_of(flaws).map(|()| tests)
}

/// `true` if the line contains only this word, in any case.
fn is_it(line: &str, word: &str) -> bool {
    line.trim().eq_ignore_ascii_case(word)
}
