use super::*;

fn refusal(file: &str, bytes: &[u8]) -> String {
    load(file, bytes, None, false).unwrap_err().to_string()
}

#[test]
fn kinds_are_recognized_by_content() {
    for (text, kind) in [
        ("name = \"x\"\n", Some(SourceKind::Toml)),
        ("\n  [[part]]\nuse = \"oltp\"\n", Some(SourceKind::Pack)),
        (
            "Version 1.1.0 \r\n'TEST SETUP ====\r\n",
            Some(SourceKind::Icf),
        ),
        ("2006.07.27\n'test setup ==\n", Some(SourceKind::Icf)),
        ("\u{feff}Version 1.1.0\n", Some(SourceKind::Icf)),
        ("a\0b", None),
    ] {
        assert_eq!(SourceKind::detect(text.as_bytes()), kind, "{text:?}");
    }
    assert_eq!(SourceKind::from_name("icf").unwrap(), SourceKind::Icf);
    assert_eq!(
        SourceKind::from_name("icg").unwrap_err().to_string(),
        "error: `icg` is not a kind of workload file\nhelp: did you mean `icf`?"
    );
}

#[test]
fn empty_binary_and_workless_files_are_refused() {
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
    assert_eq!(
        refusal("dir/w.toml", b"iodepth = 3\n"),
        "error: there is no access specification, so there is nothing to run\n  --> dir/w.toml\n\
         help: add an `[[access_spec]]`, or `use` a built-in workload"
    );
}

#[test]
fn a_workload_without_a_name_is_named_after_its_file() {
    let loaded = load(
        "dir/mine.toml",
        b"use = \"oltp\"\nname = \"x\"\n",
        None,
        false,
    )
    .unwrap();
    assert_eq!(loaded.workloads[0].name.as_deref(), Some("x"));
    let text = b"[[access_spec]]\n[[access_spec.line]]\nsize = 512\n";
    let loaded = load("dir/mine.toml", text, None, false).unwrap();
    let workload = &loaded.workloads[0];
    assert_eq!(
        (workload.name.as_deref(), workload.source.as_deref()),
        (Some("mine"), Some("mine.toml"))
    );
}

#[test]
fn what_is_used_must_exist_and_be_a_workload() {
    assert_eq!(
        refusal(
            "w.toml",
            b"[[part]]\nuse = \"oltp\"\n[[part]]\nuse = \"webserver\"\n"
        ),
        "error: there is no built-in workload `webserver`\n  --> w.toml:4:7\n   \
         4 | use = \"webserver\"\nhelp: did you mean `web-server`?"
    );
    assert_eq!(
        refusal("w.toml", b"use = \"quick\"\n"),
        "error: `quick` is a pack, which cannot be used as a part\n  --> w.toml:1:7\n   \
         1 | use = \"quick\"\nhelp: name one of its parts"
    );
}
