use proptest::prelude::*;

use super::*;

const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

fn layout() -> PageLayout {
    PageLayout::parse(HEADER).unwrap()
}

fn head(kind: u32, delta: u32) -> Vec<u8> {
    (kind | delta << 5).to_ne_bytes().to_vec()
}

fn page(time_ns: u64, flags: u64, records: &[Vec<u8>]) -> Vec<u8> {
    let data = records.concat();
    let mut bytes = time_ns.to_ne_bytes().to_vec();
    bytes.extend((data.len() as u64 | flags).to_ne_bytes());
    bytes.extend(data);
    bytes.resize(4096, 0xaa);
    bytes
}

fn events(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let page = RingPage::parse(bytes, &layout()).unwrap();
    page.events()
        .map(|event| (event.time_ns, event.bytes.to_vec()))
        .collect()
}

#[test]
fn a_page_has_the_size_that_its_format_says() {
    assert_eq!(layout().page_bytes, 4096);
}

#[test]
fn all_kinds_of_records_are_read() {
    let long = |bytes: &[u8]| {
        let length = u32::try_from(bytes.len() + 4).unwrap();
        [&length.to_ne_bytes()[..], bytes].concat()
    };
    let records = [
        [head(2, 5), vec![1; 8]].concat(),
        [head(LONG_EVENT, 10), long(&[2; 120])].concat(),
        [head(TIME_EXTEND, 3), 1_u32.to_ne_bytes().to_vec()].concat(),
        [head(1, 0), vec![3; 4]].concat(),
        // Discarded events.
        [head(PADDING, 1), long(&[4; 12])].concat(),
        [head(PADDING, 7), long(&[4; 12])].concat(),
        [head(1, 0), vec![5; 4]].concat(),
        [head(TIME_STAMP, 9), 2_u32.to_ne_bytes().to_vec()].concat(),
        [head(1, 1), vec![6; 4]].concat(),
        head(PADDING, 0),
        [head(1, 1), vec![7; 4]].concat(),
    ];
    let base = 3 << 59 | 1000;
    let found = events(&page(base, 0, &records));
    let extended = base + 15 + (1 << 27) + 3;
    let wanted = [
        (base + 5, vec![1; 8]),
        (base + 15, vec![2; 120]),
        (extended, vec![3; 4]),
        (extended + 7, vec![5; 4]),
        ((3 << 59) | ((2 << 27) + 10), vec![6; 4]),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn lost_events_are_flagged_and_their_number_is_no_event() {
    let records = [[head(1, 5), vec![1; 4]].concat()];
    let mut bytes = page(0, HAS_LOST | 1 << 30, &records);
    bytes[24..32].copy_from_slice(&17_977_u64.to_ne_bytes());
    assert!(RingPage::parse(&bytes, &layout()).unwrap().has_lost);
    assert_eq!(events(&bytes), [(5, vec![1; 4])]);
}

#[test]
fn records_that_reach_beyond_their_page_end_it() {
    for record in [
        [head(28, 1), vec![1; 8]].concat(),
        [head(LONG_EVENT, 1), 3_u32.to_ne_bytes().to_vec()].concat(),
        [head(LONG_EVENT, 1), u32::MAX.to_ne_bytes().to_vec()].concat(),
        head(TIME_EXTEND, 1),
        vec![1, 2],
    ] {
        let good = [head(1, 5), vec![1; 4]].concat();
        assert_eq!(events(&page(0, 0, &[good, record])), [(5, vec![1; 4])]);
    }
    assert!(RingPage::parse(&[0; 15], &layout()).is_none());
}

proptest! {
    #[test]
    fn any_page_is_read_within_its_bounds(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Some(page) = RingPage::parse(&bytes, &layout()) {
            let total: usize = page.events().map(|event| event.bytes.len()).sum();
            prop_assert!(total <= bytes.len());
        }
    }

    #[test]
    fn short_events_are_read_back(
        written in prop::collection::vec((1_u32..28, 0_u32..1 << 27), 0..30),
    ) {
        let event = |(words, delta): &(u32, u32)| {
            [head(*words, *delta), vec![7; usize::try_from(words * 4).unwrap()]].concat()
        };
        let records: Vec<_> = written.iter().map(event).collect();
        let found = events(&page(100, 0, &records));
        prop_assert_eq!(found.len(), written.len());
        let mut time_ns = 100;
        for ((found_ns, bytes), (words, delta)) in found.iter().zip(&written) {
            time_ns += u64::from(*delta);
            prop_assert_eq!(*found_ns, time_ns);
            prop_assert_eq!(bytes.len(), usize::try_from(words * 4).unwrap());
        }
    }
}
