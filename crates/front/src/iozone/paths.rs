//! Files and directories that the command line names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plan::{Diagnostic, printable};

use super::options::IozoneOptions;
use super::records::{READ_TEST, WRITE};
use super::telemetry::Telemetry;
use crate::FileAccess;
use crate::options::rule_out;

impl IozoneOptions {
    /// Checks that the named files can be files, and that the tests have a file.
    ///
    /// # Errors
    /// A named path is of another kind, or no test creates the files.
    pub(super) fn check_paths(&self, access: &FileAccess<'_>) -> Result<(), String> {
        let option = if self.file.is_some() { "-f" } else { "-F" };
        // The test of `fwrite` also creates the file.
        let is_of_streams = self.tests.contains(&6) && self.tests.range(..6).next().is_none();
        let lacks_file = !self.tests.is_empty() && !self.tests.contains(&0);
        let lacks_file = lacks_file && !(is_of_streams && self.tests.range(8..).next().is_none());
        for name in self.file.iter().chain(&self.files) {
            let shown = printable(name);
            if let Some(kind) = access.other_kind(name) {
                let help = match access.is_directory(name) {
                    true => format!("name a file in it, such as `{option} {shown}/iozone.tmp`"),
                    false => "name a file in a directory".to_owned(),
                };
                return Err(format!("`{option} {shown}` is {kind}, not a file; {help}"));
            }
            let directory = directory_of(name);
            if lacks_file && access.is_missing(directory) {
                let directory = printable(&directory.display().to_string());
                return Err(format!(
                    "`{option} {shown}`: the directory `{directory}` does not exist; name a file \
                     in an existing directory"
                ));
            }
        }
        let message = "there is no file for these tests; add `-i 0`, which creates it";
        let needs_extensions = !self.has_extensions && self.tests.range(9..).next().is_some();
        let extended = "tests 9 and 10 also need `-E`; add it";
        rule_out(&[
            (lacks_file && needs_extensions, extended),
            (lacks_file, message),
        ])?;
        self.check_mount_point()
    }

    /// Checks that the file is on the file system of `-U`. The run checks whether that can be
    /// mounted again.
    fn check_mount_point(&self) -> Result<(), String> {
        let Some(mount_point) = &self.mount_point else {
            return Ok(());
        };
        let directory = directory_of(self.file.as_deref().unwrap_or(""));
        let absolute = std::path::absolute(directory).unwrap_or_default();
        match absolute.starts_with(mount_point) {
            true => Ok(()),
            false => {
                let (shown, directory) = (
                    printable(mount_point),
                    printable(&absolute.display().to_string()),
                );
                Err(format!(
                    "the file is in `{directory}`, which is not below the mount point \
                     `-U {shown}`; name a file there with `-f`"
                ))
            }
        }
    }

    /// Reads the files of `-X` and `-Y`, and sets the size of the file and the tests by them.
    ///
    /// # Errors
    /// A file cannot be read, or a line of it is not a request.
    pub(super) fn read_telemetry(&mut self, access: &FileAccess<'_>) -> Result<(), Diagnostic> {
        for (name, telemetry) in self.telemetry_files.iter().zip(&mut self.telemetry) {
            if let Some(name) = name {
                *telemetry = Telemetry::read(access, name)?;
            }
        }
        let ends = self.telemetry.iter().map(Telemetry::end_bytes);
        let Some(end_bytes) = ends.max().filter(|it| *it > 0) else {
            return Ok(());
        };
        let file_kib = end_bytes.div_ceil(1 << 10);
        let least_kib = self.records_kib.iter().min().copied().unwrap_or_default();
        self.files_kib = vec![file_kib.max(least_kib)];
        // As in the original, only these tests follow such a file.
        self.tests = match self.tests.contains(&READ_TEST) || !self.telemetry[1].is_empty() {
            true => BTreeSet::from([WRITE, READ_TEST]),
            false => BTreeSet::from([WRITE]),
        };
        Ok(())
    }

    /// Checks the numbers of files and children.
    pub(super) fn check_files(&mut self) -> Result<(), String> {
        let (has_file, has_files) = (self.file.is_some(), !self.files.is_empty());
        rule_out(&[
            (has_file && has_files, "`-f` and `-F` exclude each other"),
            (
                has_files && !self.is_together(),
                "`-F` names the files of children; add `-t N`",
            ),
        ])?;
        let wanted = self.children.iter().max().map_or(0, |it| *it as usize);
        if has_files && self.files.len() < wanted {
            let named = self.files.len();
            return Err(format!(
                "`-F` names {named} files for {wanted} children; name {wanted} files, or use \
                 `-t {named}`"
            ));
        }
        // A shared file has the first name.
        self.files
            .truncate(if self.shares_file { 1 } else { wanted });
        // The original puts the children's files into the current directory and ignores `-f`.
        if self.is_together() && self.file.take().is_some() {
            self.ignored.push("-f".to_owned());
        }
        Ok(())
    }

    /// Directories of the named files, which children take in turn.
    ///
    /// # Errors
    /// Some directories have more files than others, or there are more directories than children.
    pub(super) fn directories(&self) -> Result<Vec<PathBuf>, String> {
        let mut counts: Vec<(PathBuf, usize)> = Vec::new();
        for name in self.file.iter().chain(&self.files) {
            let parent = directory_of(name);
            match counts.iter_mut().find(|(known, _)| known == parent) {
                Some((_, count)) => *count += 1,
                None => counts.push((parent.to_owned(), 1)),
            }
        }
        // Children take the directories in turn, so each directory gets the same number of files.
        if counts.iter().any(|(_, count)| *count != counts[0].1) {
            return Err("`-F` names more files in one directory than in another".to_owned());
        }
        let (named, fewest) = (counts.len(), self.children.iter().min());
        if let Some(fewest) = fewest.filter(|it| (**it as usize) < named) {
            return Err(format!(
                "`-F` names files in {named} directories for {fewest} children; run each number \
                 separately"
            ));
        }
        if counts.is_empty() {
            counts.push((PathBuf::from("."), 1));
        }
        Ok(counts.into_iter().map(|(directory, _)| directory).collect())
    }
}

/// The directory of a file.
fn directory_of(name: &str) -> &Path {
    let parent = Path::new(name).parent();
    let parent = parent.filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<IozoneOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        IozoneOptions::read(&words)
    }

    #[test]
    fn files_are_in_the_directories_of_their_names() {
        let directories = |line: &str| {
            let directories = read(line).and_then(|it| it.directories());
            directories.map(|it| it.iter().map(|it| it.display().to_string()).collect())
        };
        for (line, wanted) in [
            ("-s 1m", vec!["."]),
            ("-f file", vec!["."]),
            ("-f /x/y/file", vec!["/x/y"]),
            ("-a -f ../file", vec![".."]),
            ("-t 2", vec!["."]),
            ("-t 2 -F a b", vec!["."]),
            ("-t 2 -F /x/a /x/b", vec!["/x"]),
            ("-t 2 -F /x/a /y/a -i 0", vec!["/x", "/y"]),
            ("-t 4 -F /x/a /x/b /y/a /y/b", vec!["/x", "/y"]),
            // Names of more children are not looked at.
            ("-t 1 -F /x/a /y/a", vec!["/x"]),
            // It does not name the files of children in the original.
            ("-t 2 -f /x/y", vec!["."]),
            ("-t 2 -+V -F /x/a /y/a", vec!["/x"]),
        ] {
            let wanted: Vec<String> = wanted.into_iter().map(str::to_owned).collect();
            assert_eq!(directories(line), Ok(wanted), "{line}");
        }
        let refused = directories("-t 3 -F /x/a /x/b /y/a").unwrap_err();
        assert_eq!(
            refused,
            "`-F` names more files in one directory than in another"
        );
        assert_eq!(read("-t 2 -f /x/y").unwrap().ignored, ["-f"]);
    }

    #[test]
    fn a_path_that_cannot_be_the_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        std::fs::write(at("file"), "").unwrap();
        let check = |line: String| {
            let options = read(&line).unwrap();
            options.check_paths(&FileAccess::anywhere())
        };
        let here = at("");
        let here = here.trim_end_matches('/');
        assert_eq!(
            check(format!("-i 0 -f {here}")).unwrap_err(),
            format!(
                "`-f {here}` is a directory, not a file; name a file in it, such as `-f \
                 {here}/iozone.tmp`"
            )
        );
        assert_eq!(
            check("-t 1 -F /dev/null".to_owned()).unwrap_err(),
            "`-F /dev/null` is a special file, not a file; name a file in a directory"
        );
        let gone = at("gone");
        assert_eq!(
            check(format!("-i 1 -f {gone}/x")).unwrap_err(),
            format!(
                "`-f {gone}/x`: the directory `{gone}` does not exist; name a file in an existing \
                 directory"
            )
        );
        assert_eq!(
            check("-i 1".to_owned()).unwrap_err(),
            "there is no file for these tests; add `-i 0`, which creates it"
        );
        for line in [format!("-f {}", at("file")), format!("-a -f {}", at("new"))] {
            assert_eq!(check(line), Ok(()));
        }
    }
}
