//! Damaged files: anything may be said about them, nothing may panic.

use proptest::prelude::*;

use super::super::{Strictness, from_workload, parse, to_workload, write};
use super::texts::{DISPLAY, MANAGERS, NETWORK, SETUP, SPECS, file};

const OLD: &str = "Version 1998.01.05\n'TEST SETUP\n'Run Time\n\t0 1 0\n'ACCESS SPECIFICATIONS\n\
    'size\n\t4096 100 67 100 0 1\n\t512 50 0 0 0 1\n\t1024 50 1 0 5 2\n";

/// Does everything with a text that can be done.
fn everything(bytes: &[u8]) {
    let strict = parse(bytes, "a.icf", Strictness::Strict);
    let Ok(tolerant) = parse(bytes, "a.icf", Strictness::Tolerant) else {
        return;
    };
    for finding in strict
        .iter()
        .flat_map(|it| &it.warnings)
        .chain(&tolerant.warnings)
    {
        assert!(!finding.to_string().is_empty());
    }
    let (workload, _) = to_workload(&tolerant.document, "a");
    let _ = description::to_toml(&workload).unwrap();
    if let Ok((document, _)) = from_workload(&workload) {
        parse(&write(&document), "b.icf", Strictness::Tolerant).unwrap();
    }
    let again = parse(&write(&tolerant.document), "b.icf", Strictness::Tolerant);
    assert!(again.is_ok(), "{}", again.unwrap_err());
}

#[derive(Debug, Clone)]
enum Damage {
    Byte(u8),
    Cut,
    Repeat(usize),
    Remove(usize),
    Insert(&'static str),
}

const PIECES: [&str; 14] = [
    "'",
    "\n",
    "\r",
    ",",
    "-",
    "99999999999999999999",
    "\u{e9}",
    "'End ",
    "'END test setup\n",
    "\t",
    "'Worker\n",
    "'Target\n",
    "0",
    "\u{0}",
];

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<u8>().prop_map(Damage::Byte),
        Just(Damage::Cut),
        (1..200_usize).prop_map(Damage::Repeat),
        (1..200_usize).prop_map(Damage::Remove),
        prop::sample::select(&PIECES[..]).prop_map(Damage::Insert),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: Vec<(prop::sample::Index, Damage)>) -> Vec<u8> {
    for (place, damage) in damages {
        if bytes.is_empty() {
            break;
        }
        let at = place.index(bytes.len());
        let end = |length: usize| bytes.len().min(at + length);
        match damage {
            Damage::Byte(byte) => bytes[at] = byte,
            Damage::Cut => bytes.truncate(at),
            Damage::Repeat(length) => {
                let piece = bytes[at..end(length)].to_vec();
                bytes.splice(at..at, piece);
            }
            Damage::Remove(length) => {
                let end = end(length);
                bytes.drain(at..end);
            }
            Damage::Insert(piece) => {
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    bytes
}

proptest! {
    #[test]
    fn damaged_files_never_panic(
        text in prop::sample::select(vec![
            file(&[SETUP, DISPLAY, SPECS, MANAGERS]),
            file(&[SPECS, NETWORK]),
            OLD.to_owned(),
        ]),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..5),
    ) {
        everything(&damaged(text.into_bytes(), damages));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        everything(&bytes);
        everything(&[b"1.1.0\n'TEST SETUP\n".as_slice(), &bytes].concat());
    }
}
