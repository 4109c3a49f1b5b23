//! Texts that are foreign, damaged or made to harm.

use import::{read, recognize};
use proptest::prelude::*;

use crate::source;

/// Beginnings that some format recognizes.
const STARTS: [&str; 14] = [
    "{\"fio version\": \"fio-3.1\", \"jobs\": [",
    "PostMark v1.51 : 8/14/01\nTime:\n",
    "\tIozone: Performance Test of File I/O\n              kB  reclen    write\n",
    "\"Writer report\"\n",
    "IOR-3.3.0: x\naccess    bw(MiB/s)  iter\n",
    "mdtest-4.1.0 was launched with 2 total task(s)\nSUMMARY rate (of 3 iterations)\n",
    "[RESULT] ",
    "'Target Type,Target Name,Access Specification Name,IOps\nALL,",
    "dbench version 4.00\n Operation Count AvgLat MaxLat\n",
    "FSUse% Count Size Files/sec App Overhead\n",
    "sysbench 1.0.20\nExtra file open flags\nFile operations:\n",
    "1.98,2.00a,host,1,1,1M,,1,1,1,1,",
    "ISO date,label,path type,operation,IOPS [last]\n",
    "<PhoronixTestSuite>",
];

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(
        index in 0..STARTS.len(),
        rest in "\\PC{0,80}|[ -~\n\t,:=()]{0,200}",
    ) {
        let texts = source(&format!("{}{rest}", STARTS[index]));
        if let Some(format) = recognize(&texts)
            && let Ok(record) = read(format, texts)
        {
            let figures = || record.results.iter().flat_map(|it| &it.figures);
            prop_assert!(figures().count() > 0);
            prop_assert!(figures().all(|it| it.value.is_finite()), "{record:?}");
        }
    }
}

#[test]
fn foreign_texts_are_not_recognized() {
    for text in [
        "",
        "hello\n",
        "{}",
        "root:x:0:0:root:/root:/bin/sh\n",
        "a,b,c\n1,2,3\n",
        "<html></html>",
        r#"{"format": "pgmeter-record/2", "text": "\"fio version\""}"#,
    ] {
        assert!(recognize(&source(text)).is_none(), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!(
        "{{\"fio version\": \"fio-3.1\", \"jobs\": {}",
        "[".repeat(100_000)
    );
    let texts = source(&text);
    let format = recognize(&texts).unwrap();
    assert!(read(format, texts).is_err());
}

#[test]
fn numbers_of_any_length_are_refused_or_read() {
    let long = "9".repeat(400);
    for text in [
        format!("dbench version 4.00\nThroughput {long} MB/sec 1 procs\n"),
        format!("FSUse% Count Size Files/sec App\n 1 1 1 {long} 1\n"),
    ] {
        let texts = source(&text);
        let format = recognize(&texts).unwrap();
        assert!(read(format, texts).is_err(), "{text}");
    }
}
