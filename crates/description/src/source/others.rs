//! Files of programs whose files are not read yet: recognized, so that they can be named.

use plan::{Diagnostic, printable};

/// Lines that are looked at; what a file is shows early.
const LINES_MAX: usize = 10_000;

/// A program's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    Vdbench,
}

impl Other {
    const fn name(self) -> &'static str {
        match self {
            Self::Vdbench => "vdbench parameter file",
        }
    }
}

/// The error that names what the file is; nothing for what no other program writes.
pub(super) fn recognized(file: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let text = std::str::from_utf8(bytes).ok()?;
    let other = kind(text)?;
    let message = format!(
        "`{}` is a {}, which pgmeter does not read yet",
        printable(file),
        other.name()
    );
    let help = match other {
        Other::Vdbench => {
            "write a workload definition as `pgmeter run --read 70 --random 100 --bs 4k`".to_owned()
        }
    };
    Some(Diagnostic::error(file, message).help(help))
}

fn kind(text: &str) -> Option<Other> {
    let mut lines = text.lines().map(str::trim).take(LINES_MAX);
    lines
        .any(is_definition_of_vdbench)
        .then_some(Other::Vdbench)
}

/// `sd=sd1,lun=...`: a name is given, then parameters follow.
fn is_definition_of_vdbench(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let begins = ["sd=", "wd=", "rd=", "fsd=", "fwd="];
    let parameters = [
        "lun=",
        "sd=",
        "wd=",
        "xfersize=",
        "rdpct=",
        "seekpct=",
        "iorate=",
        "elapsed=",
        "anchor=",
        "fsd=",
        "fwd=",
        "fwdrate=",
        "threads=",
        "operation=",
    ];
    let Some((head, rest)) = line.split_once(',') else {
        return false;
    };
    begins.iter().any(|it| head.starts_with(it))
        && rest
            .split(',')
            .any(|rest| parameters.iter().any(|it| rest.trim().starts_with(it)))
}

#[cfg(test)]
mod tests {
    use crate::source::load;

    fn refusal(file: &str, text: &str) -> String {
        load(file, text.as_bytes(), None, false)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn files_of_vdbench_are_named() {
        let vdbench = "* comment\nsd=sd1,lun=/dev/sdx,openflags=o_direct\nwd=wd1,sd=sd1,\
                       xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=max,elapsed=60\n";
        let said = refusal("x.txt", vdbench);
        assert!(
            said.contains("`x.txt` is a vdbench parameter file, which"),
            "{said}"
        );
    }

    #[test]
    fn our_own_mistakes_and_forced_kinds_are_told_as_ever() {
        for text in [
            "size = \"1m\"\nio_depth = 4\n",
            "[access_spec]\n",
            "name = run\n[[access_spec]]\n",
            "set number 100\nset size\nrun\n",
        ] {
            let said = refusal("x.toml", text);
            assert!(!said.contains("does not read yet"), "{said}");
        }
    }
}
