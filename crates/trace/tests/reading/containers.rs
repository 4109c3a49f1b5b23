//! Compressed traces.

use std::io::Write;

use trace::{TraceOptions, TracedKind};

use crate::{read, read_parts, rows};

fn text() -> String {
    (0..2000)
        .map(|index| format!("0,{index},4096,R,{index}.5\n"))
        .collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

type Compress = fn(&[u8]) -> Vec<u8>;

const CONTAINERS: [Compress; 4] = [gzip, bzip2, xz, zstd];

#[test]
fn every_container_gives_the_same_requests() {
    let text = text();
    let plain = read(&text);
    assert_eq!(plain.requests.len(), 2000);
    for compress in CONTAINERS {
        let packed = compress(text.as_bytes());
        assert!(packed.len() < text.len());
        assert_eq!(rows(&read(packed)), rows(&plain));
    }
}

#[test]
fn all_parts_of_a_concatenated_file_are_read() {
    let text = text();
    for compress in CONTAINERS {
        let both = [compress(text.as_bytes()), compress(text.as_bytes())].concat();
        assert_eq!(read(both).requests.len(), 4000);
    }
}

#[test]
fn a_cut_container_gives_the_requests_before_the_cut() {
    let text = text().repeat(20);
    for compress in CONTAINERS {
        let packed = compress(text.as_bytes());
        let cut = &packed[..packed.len() * 2 / 3];
        match read_parts(&[cut], TraceOptions::default()) {
            Ok(trace) => {
                assert!(trace.requests.len() < 40_000);
                assert!(trace.notices.contains("cut"), "{}", trace.notices);
                assert!(trace.requests.iter().all(|it| it.kind == TracedKind::Read));
            }
            Err(error) => assert!(error.to_string().contains("cannot read"), "{error}"),
        }
    }
}

#[test]
fn a_container_that_requests_too_much_memory_is_refused() {
    // A zstd frame with a window of 1 GiB.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 0, 0, 0, 0, 0];
    let error = read_parts(&[&frame], TraceOptions::default())
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("cannot read the trace"),
        "{error}"
    );
}
