//! pgmeter's own workload files.

use description::load;
use plan::Diagnostic;

use crate::file::{FileFront, FrontFile};
use crate::work::FrontWork;

/// One workload in TOML: any text without zero bytes that no other kind matches.
pub(crate) const TOML: FileFront = FileFront {
    name: "toml",
    kind: "One workload in TOML",
    detect: |bytes| text(bytes).is_some(),
    extensions: &[],
    read,
};

/// Several workloads in one TOML file.
pub(crate) const PACK: FileFront = FileFront {
    name: "pack",
    kind: "Several workloads in one TOML file",
    detect: |bytes| text(bytes).is_some_and(has_part),
    extensions: &[],
    read,
};

fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0'))
}

fn has_part(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.trim_start().starts_with("[[part"))
}

fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    file.refuse_empty()?;
    let Ok(text) = std::str::from_utf8(file.bytes) else {
        return Err(Diagnostic::error(file.name, "the file is not UTF-8 text")
            .help("save it as UTF-8, or force its kind with `--as icf`"));
    };
    Ok(FrontWork::new(load(file.name, text)?))
}

#[cfg(test)]
mod tests {
    use crate::{FrontFile, detect, load};

    fn refusal(file: &str, bytes: &[u8]) -> String {
        load(&FrontFile::new(file, bytes)).unwrap_err().to_string()
    }

    #[test]
    fn kinds_are_recognized_by_content() {
        for (text, kind) in [
            ("name = \"x\"\n", Some("toml")),
            ("\n  [[part]]\nuse = \"oltp\"\n", Some("pack")),
            ("Version 1.1.0 \r\n'TEST SETUP ====\r\n", Some("icf")),
            ("2006.07.27\n'test setup ==\n", Some("icf")),
            ("\u{feff}Version 1.1.0\n", Some("icf")),
            ("a\0b", None),
        ] {
            let found = detect("x", text.as_bytes()).map(|it| it.name);
            assert_eq!(found, kind, "{text:?}");
        }
    }

    #[test]
    fn empty_and_binary_files_are_refused() {
        assert_eq!(
            refusal("w.toml", b""),
            "error: the file is empty\n  --> w.toml\n\
             help: name a workload file, or choose a workload from `pgmeter list`"
        );
        assert_eq!(
            refusal("w.toml", b"\x7fELF\0\0"),
            "error: the file is binary, not a workload\n  --> w.toml\n\
             help: name a workload file, or choose a workload from `pgmeter list`"
        );
    }
}
