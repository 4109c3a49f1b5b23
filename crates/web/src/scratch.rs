//! Files that are there while something is asked of another process.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that is there while a question is answered.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// Its name, without directories.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A directory of our own, which is removed with what is in it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new one, with that file.
    pub fn with(given: Option<&Given>) -> io::Result<Self> {
        let mut random = [0; 12];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = std::env::temp_dir().join(format!("pgmeter-serve-{random}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        let scratch = Self(path);
        if let Some(given) = given {
            let mut file = File::options()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(scratch.0.join(&given.name))?;
            file.write_all(given.text.as_bytes())?;
        }
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies where such files are removed anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_there_as_long_as_it_is_needed() {
        let given = Given {
            name: "a.toml".to_owned(),
            text: "x".to_owned(),
        };
        let scratch = Scratch::with(Some(&given)).unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(std::fs::read_to_string(path.join("a.toml")).unwrap(), "x");
        drop(scratch);
        assert!(!path.exists());
    }
}
