//! The collection of real configurations, where it is at hand.

use std::path::PathBuf;

use super::super::{Strictness, from_workload, parse, to_workload, write};

/// What Iometer 1.1.0 refuses, by the start of the name.
const STRICT_REFUSES: [&str; 3] = [
    "tpqemu_2006-07-27_multi_3disks",
    "edge_line_over_199_chars",
    "template_powershell_INVALID",
];
/// What nobody can read, by the start of the name.
const TOLERANT_REFUSES: [&str; 1] = ["template_powershell_INVALID"];

fn samples() -> Option<Vec<PathBuf>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/icf");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: the folder shared/samples/icf is not here");
        return None;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "icf"));
    files.sort();
    assert!(!files.is_empty());
    Some(files)
}

fn stem(path: &std::path::Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_sample_has_the_expected_verdict() {
    let mut failures = Vec::new();
    for path in samples().unwrap_or_default() {
        let (name, bytes) = (stem(&path), std::fs::read(&path).unwrap());
        for (mode, refuses) in [
            (Strictness::Strict, &STRICT_REFUSES[..]),
            (Strictness::Tolerant, &TOLERANT_REFUSES[..]),
        ] {
            let wanted = refuses.iter().any(|start| name.starts_with(start));
            let result = parse(&bytes, &format!("{name}.icf"), mode);
            if result.is_err() != wanted {
                failures.push(format!(
                    "{mode:?} {name}: {}",
                    result.err().map_or("accepted".into(), |e| e.to_string())
                ));
            }
            if wanted {
                println!("{mode:?}: {}", parse(&bytes, &name, mode).unwrap_err());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_sample_round_trips_through_a_workload() {
    for path in samples().unwrap_or_default() {
        let name = stem(&path);
        let bytes = std::fs::read(&path).unwrap();
        let Ok(parsed) = parse(&bytes, &name, Strictness::Tolerant) else {
            continue;
        };
        // A description that is too long for Iometer stays so.
        let is_strict = parse(&bytes, &name, Strictness::Strict).is_ok();
        let mode = if is_strict {
            Strictness::Strict
        } else {
            Strictness::Tolerant
        };
        let again = parse(&write(&parsed.document), &name, mode)
            .unwrap()
            .document;
        let version = parsed.document.version;
        assert_eq!(
            super::super::IcfDocument { version, ..again },
            parsed.document,
            "{name}"
        );

        let (workload, _) = to_workload(&parsed.document, &name);
        let (document, _) = from_workload(&workload).unwrap_or_else(|e| panic!("{name}: {e}"));
        let written = parse(&write(&document), &name, mode).unwrap();
        let (back, _) = to_workload(&written.document, &name);
        assert_eq!(back, workload, "{name}");

        let toml = description::to_toml(&workload).unwrap();
        let read = description::read_toml(&name, &toml);
        assert!(read.is_ok(), "{name}: {}\n{toml}", read.unwrap_err());
        assert_eq!(read.unwrap(), workload, "{name}");
    }
}
