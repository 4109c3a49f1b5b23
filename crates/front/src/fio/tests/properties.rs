use proptest::prelude::*;

use super::super::table::{NumberBounds, ValueKind};
use super::super::values::{NumberUnit, OptionValue, file_names, number, pattern};
use super::*;

const PIECES: [&str; 40] = [
    "[", "]", "=", "\n", "\r\n", ";", "#", " ", "global", "include", "rw", "randread", "bs", "4k",
    "4k/50:", ",", ":", "-", "(", ")", "*", "^", "${", "}", "$jobname", "$ncpus", "%", "0x", "9",
    "1.5", "zipf", "zoned", "bssplit", "filename", "numjobs", "size", "\\", "\"", "ä", "\0",
];

/// Files that look a little like job files.
fn files() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        2 => option(),
        1 => any::<char>().prop_map(|it| it.to_string()),
    ];
    prop::collection::vec(piece, 0..60)
        .prop_map(|pieces| format!("[j]\nsize=1m\n{}", pieces.concat()))
}

/// Any option with a value of its kind or of another.
fn option() -> impl Strategy<Value = String> {
    let names: Vec<&str> = OptionTable::new()
        .rows()
        .iter()
        .map(FioOption::name)
        .collect();
    let values = vec![
        "1",
        "0",
        "4k",
        "50%",
        "1:2",
        "a,b",
        "-5",
        "4k-8k",
        "randrw:8",
        "",
        "all",
        "99999999999",
    ];
    (prop::sample::select(names), prop::sample::select(values))
        .prop_map(|(name, value)| format!("\n{name}={value}\n"))
}

proptest! {
    #[test]
    fn reading_a_job_file_never_panics(text in files()) {
        let around = ParserEnvironment {
            variable: &|_| Some("1k".to_owned()),
            ..ParserEnvironment::EMPTY
        };
        match read_file("p.fio", text.as_bytes(), &around) {
            Ok(set) => {
                let _ = verdicts(&set, 80);
                let _ = picture(&set, 80);
                let _ = files_touched(&set);
                let covered: usize = set.waves.iter().map(|it| it.jobs.len()).sum();
                prop_assert_eq!(covered, set.jobs.len());
                for job in &set.jobs {
                    let _ = job.bytes_to_move();
                    let _ = job.offset_bytes();
                }
            }
            Err(error) => prop_assert!(error.help.is_some(), "{}", error),
        }
    }

    #[test]
    fn reading_arbitrary_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_file("p.fio", &bytes, &ParserEnvironment::EMPTY);
    }

    #[test]
    fn reading_a_command_line_never_panics(words in prop::collection::vec(option(), 0..8)) {
        let words: Vec<String> = words.iter().map(|it| format!("--{}", it.trim())).collect();
        let _ = read_arguments(&words, &ParserEnvironment::EMPTY);
    }

    #[test]
    fn sizes_scale_by_their_unit(value in 0_i64..1 << 20, power in 0_u32..5) {
        let unit = ["", "k", "m", "g", "t"][power as usize];
        let read = number(&format!("{value}{unit}"), NumberUnit::Bytes { kilo: 1024 }).unwrap();
        prop_assert_eq!(read.value, value << (10 * power));
        let inside = number(&format!("({value}{unit})"), NumberUnit::Bytes { kilo: 1024 }).unwrap();
        prop_assert_eq!(inside.value, value << (10 * power));
        let decimal = number(&format!("{value}{unit}"), NumberUnit::Bytes { kilo: 1000 }).unwrap();
        prop_assert_eq!(decimal.value, value * 1000_i64.pow(power));
    }

    #[test]
    fn numbers_stay_within_their_bounds(
        text in "[-+0-9a-z%.,:()*^]{0,12}",
        min in -9_i64..9,
        more in 0_i64..99,
    ) {
        let bounds = NumberBounds { min: Some(min), max: Some(min + more) };
        if let Ok(reading) = OptionValue::read(ValueKind::Number(bounds), Some(&text), 1024)
            && let OptionValue::Numbers(numbers) = reading.value
        {
            for number in [numbers.read, numbers.write, numbers.trim].into_iter().flatten() {
                prop_assert!((min..=min + more).contains(&number));
            }
        }
    }

    #[test]
    fn file_names_round_trip_through_a_list(names in prop::collection::vec("[a-z:/ ]{1,8}", 1..5)) {
        let list: Vec<String> = names.iter().map(|it| it.replace(':', "\\:")).collect();
        prop_assert_eq!(file_names(&list.join(":")), names);
    }

    #[test]
    fn hexadecimal_patterns_become_their_bytes(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
        let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
        let read = pattern(&format!("0x{digits}")).unwrap();
        prop_assert_eq!(read.0, vec![PatternPart::Bytes(bytes)]);
    }
}
