//! The command line of PostMark.

use description::classics::postmark::Compat;

use crate::Refusal;

/// Default configuration file.
const CONFIG_FILE: &str = ".pmrc";
/// Exit code for invalid options, which are pgmeter's own.
const EXIT_USAGE: u8 = 2;

/// Parsed options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostmarkOptions {
    /// Version to follow.
    pub compat: Compat,
    /// `true` if lines may run a shell.
    pub allows_shell: bool,
    /// Configuration file, which contains commands.
    pub configuration: String,
    /// `true` if the arguments name that file.
    pub is_named: bool,
}

impl PostmarkOptions {
    /// Parses the arguments.
    pub fn read(arguments: &[String]) -> Result<Self, Refusal> {
        let mut options = Self {
            compat: Compat::default(),
            allows_shell: false,
            configuration: CONFIG_FILE.to_owned(),
            is_named: false,
        };
        let mut files = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.split_once('=').unwrap_or((word, "")) {
                ("--allow-shell", "") => options.allows_shell = true,
                ("--compat", "") => options.compat = compat(words.next())?,
                ("--compat", version) => options.compat = compat(Some(version))?,
                ("--", "") => files.extend(words.by_ref()),
                (option, _) if option.starts_with('-') && option.len() > 1 => {
                    return Err(refusal(format!("there is no option `{option}`")));
                }
                _ => files.push(word),
            }
        }
        // As in the original, more than one file is the same as none.
        if let [one] = files[..] {
            options.configuration.clone_from(one);
            options.is_named = true;
        }
        Ok(options)
    }
}

fn compat(version: Option<impl AsRef<str>>) -> Result<Compat, Refusal> {
    let Some(version) = version else {
        return Err(refusal("`--compat` needs a version".to_owned()));
    };
    let parsed = version.as_ref().parse::<Compat>();
    parsed.map_err(|error| refusal(format!("{error}; {}", error.help())))
}

const fn refusal(message: String) -> Refusal {
    Refusal {
        exit_code: EXIT_USAGE,
        message,
        usage: "help: add `--help` to list all options\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<PostmarkOptions, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        PostmarkOptions::read(&words).map_err(|refusal| refusal.message)
    }

    #[test]
    fn options_may_accompany_the_configuration_file() {
        let options = read(&["--compat", "1.14", "--allow-shell", "my.pm"]).unwrap();
        assert_eq!(
            (options.compat, options.allows_shell),
            (Compat::V1_14, true)
        );
        assert_eq!(options.configuration, "my.pm");
        assert_eq!(read(&["--compat=1.5"]).unwrap().compat, Compat::V1_5);
        assert_eq!(read(&["--", "--compat"]).unwrap().configuration, "--compat");
    }

    #[test]
    fn no_argument_or_several_select_the_default_configuration() {
        for words in [&[][..], &["a", "b"]] {
            let options = read(words).unwrap();
            assert_eq!(options.configuration, ".pmrc");
            assert_eq!(
                (options.compat, options.allows_shell),
                (Compat::V1_53, false)
            );
        }
    }

    #[test]
    fn unknown_options_and_versions_are_refused() {
        assert!(read(&["--compat", "2.0"]).unwrap_err().contains("1.53"));
        assert!(read(&["--compat"]).unwrap_err().contains("needs a version"));
        assert!(read(&["--times", "x"]).unwrap_err().contains("`--times`"));
    }
}
