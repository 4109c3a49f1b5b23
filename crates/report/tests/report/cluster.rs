//! Reports of runs that several processes shared.

use report::{Format, Model, Page, render};
use results::{
    CellCluster, ClockOffset, ClusterRecord, HostRecord, RankFigures, RunRecord, Warning,
    WarningCode,
};

use crate::sample;

fn text(record: &RunRecord) -> String {
    render(record, Format::Text, Page::PLAIN).to_string()
}

/// A run of so many processes, as many on each of so many hosts.
fn shared(ranks: u32, hosts: u32) -> RunRecord {
    let mut record = sample::record();
    record.warnings.clear();
    record.cells.truncate(1);
    let cell = &mut record.cells[0];
    let per_host = ranks / hosts;
    let name = |rank: u32| format!("node{}", rank / per_host + 1);
    let figures = (0..ranks).map(|rank| RankFigures {
        rank,
        host: name(rank),
        count: cell.total.count / u64::from(ranks) + u64::from(rank),
        per_second: 2500.0 + f64::from(rank * 7 % ranks) * 10.0,
        p50_ns: Some(150_500),
        p99_ns: Some(199_700),
        begin_ns: i64::from(rank) * 1300 - 700,
        done_ns: 10_000_000_000 + u64::from(rank) * 1_000_000,
        clock: ClockOffset {
            bound_ns: 11_000,
            ..ClockOffset::default()
        },
        ..RankFigures::default()
    });
    cell.ranks = ranks;
    cell.cluster = Some(Box::new(CellCluster {
        start_spread_ns: 3900,
        offset_bound_ns: 11_000,
        drift_ppb: Some(12.34),
        tail_ns: 3_000_000,
        tail_share: 0.000_15,
        first_done_per_second: Some(10_400.0),
        last_done_per_second: Some(9_900.0),
        ranks: figures.collect(),
    }));
    let hosts = (0..hosts).map(|host| HostRecord {
        name: name(host * per_host),
        ranks: (host * per_host..(host + 1) * per_host).collect(),
        environment: sample::environment(),
    });
    record.cluster = Some(ClusterRecord {
        carrier: "ssh: ssh".to_owned(),
        ranks,
        hosts: hosts.collect(),
    });
    record
}

#[test]
fn each_of_a_few_processes_prints_within_80_columns() {
    let mut record = shared(4, 2);
    let cluster = record.cluster.as_mut().unwrap();
    cluster.hosts[1].environment.kernel = "6.12.31".to_owned();
    let shown = text(&record);
    let wanted = "
hosts
host   processes  kernel
node1          2  6.12.9
node2          2  6.12.31

by process: File Server at queue depth 8
                                     of                                clock
                            per  median    p50    p99    begin   done      ±
rank  host   operations       s       %     µs     µs       µs      s     µs
   0  node1      25,000  2.500k    99.4  150.5  199.7  -0.7000  10.00  11.00
   1  node1      25,001  2.530k   100.6  150.5  199.7   0.6000  10.00  11.00
   2  node2      25,002  2.520k   100.2  150.5  199.7    1.900  10.00  11.00
   3  node2      25,003  2.510k    99.8  150.5  199.7    3.200  10.00  11.00
start spread 3.90 µs, clocks known within 11.0 µs, drift up to 12.34 ppb, tail
3.00 ms (idle for less than 0.1 % of all processes' time)

no operation failed
";
    assert!(shown.ends_with(wanted), "\n{shown}");
    let head =
        "\n4 processes on 2 hosts: ext4 on nvme0n1 (PM9A3), 64 CPUs (EPYC 9354), 64 GiB\nmemory\n";
    assert!(shown.contains(head), "\n{shown}");
    let markdown = render(&record, Format::Markdown, Page::PLAIN).to_string();
    assert!(
        markdown.contains("\n## By process: File Server at queue depth 8\n"),
        "{markdown}"
    );
    assert!(markdown.contains("| node2 | 2 | 6.12.31 |"), "{markdown}");
}

#[test]
fn a_thousand_processes_print_as_first_last_and_middle() {
    let mut record = shared(1000, 20);
    let all = &mut record.cells[0].cluster.as_mut().unwrap().ranks;
    all.iter_mut()
        .take(7)
        .for_each(|it| it.lost_ns = Some(1_500_000_000));
    let shown = text(&record);
    assert!(shown.lines().count() < 65, "{shown}");
    let has = |words: &[&str]| {
        let mut lines = shown
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        assert!(
            lines.any(|line| line.starts_with(words)),
            "{words:?}\n{shown}"
        );
    };
    has(&["20", "hosts:", "node1", "to", "node20", "1000"]);
    has(&["2nd", "slowest"]);
    has(&["fastest", "857", "node18"]);
    has(&["lost", "2", "node1"]);
    has(&["7", "of", "1000", "processes", "were", "lost:"]);
}

#[test]
fn a_fixed_amount_of_work_has_three_rates() {
    let mut record = shared(4, 2);
    assert!(!text(&record).contains("until the first was done"));
    record.cells[0].planned_run_time_ns = 0;
    let wanted = "per second: 10.40k until the first was done, 9.900k until the last was done, \
                  10.00k of the whole";
    let shown = text(&record).replace('\n', " ");
    assert!(shown.contains(wanted), "{shown}");
}

#[test]
fn many_cells_have_a_row_each() {
    let mut record = shared(4, 2);
    record.cells = vec![record.cells[0].clone(); 20];
    let model = Model::new(&record);
    let cluster = model.cluster.unwrap();
    assert_eq!(
        (cluster.cells.unwrap().rows.len(), cluster.parts.len()),
        (20, 0)
    );
    record.cells.iter_mut().for_each(|cell| cell.cluster = None);
    assert_eq!(Model::new(&record).cluster.unwrap().cells, None);
}

#[test]
fn a_host_cannot_write_to_the_terminal() {
    let mut record = shared(4, 2);
    let name = "node\u{1b}[31m\u{202e}";
    record.cluster.as_mut().unwrap().hosts[0].name = name.to_owned();
    let cluster = record.cells[0].cluster.as_mut().unwrap();
    cluster
        .ranks
        .iter_mut()
        .for_each(|it| it.host = name.to_owned());
    cluster.ranks[0].per_second = 1.0;
    let doubt = format!("rank 0 on {name} is slow");
    record.warnings = vec![Warning::of_run(WarningCode::RankImbalance, doubt)];
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let shown = render(&record, format, Page::PLAIN).to_string();
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    }
}

#[test]
fn a_page_of_a_thousand_processes_and_workers_stays_short() {
    let mut record = shared(1000, 20);
    let cell = &mut record.cells[0];
    cell.worker_figures = vec![cell.worker_figures[0].clone(); 1000];
    let page = render(&record, Format::Html, Page::PLAIN).to_string();
    assert!(
        page.matches("<tr").count() < 150,
        "{}",
        page.matches("<tr").count()
    );
    assert!(
        page.contains("1000 processes on 20 hosts: Linux 6.12.9"),
        "{page}"
    );
}
