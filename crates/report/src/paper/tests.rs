//! The published figures are read, and stand in their tables.

use super::*;

fn shown(name: &str) -> String {
    let table = PaperTable {
        paper: Paper::find(name).unwrap(),
        heading: vec!["heading".to_owned()],
        remarks: vec!["scale 0.1".to_owned()],
        alarms: Vec::new(),
        sides: Vec::new(),
    };
    table.render(LineupFormat::Text, Page::PLAIN)
}

#[test]
fn every_workload_is_read_and_every_published_figure_is_a_number() {
    for paper in PAPERS {
        let loaded = workload::source::load(paper.name, paper.workload.as_bytes(), None, true);
        let loaded = loaded.unwrap();
        assert!(!loaded.workloads.is_empty(), "{}", paper.name);
        assert!(shown(paper.name).contains(paper.size), "{}", paper.name);
    }
    let count = |name| Paper::find(name).unwrap().rows().len();
    assert_eq!((count("lfs-postmark"), count("lfs-create-remove")), (2, 16));
    assert_eq!((count("netapp-postmark-1"), count("bfs-iozone")), (21, 9));
    assert_eq!(count("netapp-postmark-4"), 13);
}

#[test]
fn published_systems_stand_in_the_shape_of_their_table() {
    let text = shown("lfs-postmark");
    let line = text
        .lines()
        .find(|line| line.starts_with("deleted alone"))
        .unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>()[2..],
        ["10993", "10993"]
    );
    let text = shown("bfs-iozone");
    assert!(
        text.contains("Table 9-4: 512 MB in chunks of 128K"),
        "{text}"
    );
    let text = shown("netapp-postmark-3");
    assert!(
        text.contains("P3/Linux") && text.contains("211.88"),
        "{text}"
    );
    let text = shown("lfs-create-remove");
    let line = text
        .lines()
        .find(|line| line.starts_with("create 0, µs a file"))
        .unwrap();
    assert_eq!(line.split_whitespace().last(), Some("629.8"), "{line}");
}

#[test]
fn the_session_of_a_run_stands_beside_the_published_ones() {
    let mut record = crate::html::sample::record();
    let classic = [
        ("created", 2_510_496),
        ("deleted_alone", 10_993),
        ("total_ns", 77_000_000_000_u64),
    ];
    let classic = classic.map(|(name, value)| (name.to_owned(), value.into()));
    record.cells[0].classic = Some(classic.into());
    let records = [record];
    let table = PaperTable {
        paper: Paper::find("lfs-postmark").unwrap(),
        heading: Vec::new(),
        remarks: vec!["scale 0.1".to_owned()],
        alarms: Vec::new(),
        sides: vec![PaperSide {
            name: "tmpfs".to_owned(),
            records: &records,
        }],
    };
    for format in [
        LineupFormat::Text,
        LineupFormat::Markdown,
        LineupFormat::Html,
    ] {
        let text = table.render(format, Page::PLAIN);
        assert!(text.contains("2510496") && text.contains("77"), "{text}");
        assert!(
            text.contains("scale 0.1") && text.contains("hardware of their time"),
            "{text}"
        );
    }
}
