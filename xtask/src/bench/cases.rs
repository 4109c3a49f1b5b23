//! The 78 cases of the pgmeter paper, for pgmeter and for fio.
//!
//! Source: the paper's appendix: 30 sequential, 24 random and 24 mixed cases.

use super::programs::Figures;

/// An access line: size in bytes, and share in percent.
type Line = (u64, u64);

const FILE_SERVER: &[Line] = &[
    (512, 10),
    (1024, 5),
    (2048, 5),
    (4096, 60),
    (8192, 2),
    (16384, 4),
    (32768, 4),
    (65536, 10),
];
const WEB_SERVER: &[Line] = &[
    (512, 22),
    (1024, 15),
    (2048, 8),
    (4096, 23),
    (8192, 15),
    (16384, 2),
    (32768, 6),
    (65536, 7),
    (131_072, 1),
    (524_288, 1),
];
/// Used by OLTP and Workstation.
const ONE_SIZE: &[Line] = &[(8192, 100)];

/// A case of the paper.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name in the table.
    pub name: String,
    lines: Vec<Line>,
    read_percent: u64,
    random_percent: u64,
    iodepth: u64,
    /// `true` if bandwidth is the main result; otherwise IOPS.
    pub is_sequential: bool,
}

impl Case {
    /// The workload file of the case.
    pub fn workload(&self, seconds: u64, file_bytes: u64) -> String {
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|(size, share)| {
                format!(
                    "{{ size = {size}, of_size = {share}, read = {}, random = {} }}",
                    self.read_percent, self.random_percent
                )
            })
            .collect();
        format!(
            "size = {file_bytes}\nrun_time = {seconds}\nramp_time = 1\ncache = \"direct\"\n\
             iodepth = {}\n[[access_spec]]\nline = [\n{}\n]\n",
            self.iodepth,
            lines.join(",\n"),
        )
    }

    /// fio's options for the same mix.
    pub fn fio(&self, seconds: u64) -> Vec<String> {
        let split: Vec<String> = self
            .lines
            .iter()
            .map(|(size, share)| format!("{size}/{share}"))
            .collect();
        let mut options = vec![
            "--ioengine=io_uring".to_owned(),
            // pgmeter draws every position independently, so fio must not skip blocks that it has
            // read.
            "--norandommap".to_owned(),
            format!("--iodepth={}", self.iodepth),
            format!("--runtime={seconds}"),
            "--ramp_time=1".to_owned(),
            format!("--rw={}", self.fio_pattern()),
            format!("--bssplit={}", split.join(":")),
            // Alignment 0 means the sector size.
            "--blockalign=512".to_owned(),
        ];
        // fio's sequential patterns are pure reads or writes, so they need neither option.
        if !self.is_sequential {
            options.push(format!("--rwmixread={}", self.read_percent));
            options.push(format!("--percentage_random={}", self.random_percent));
        }
        options
    }

    fn fio_pattern(&self) -> &'static str {
        match (self.is_sequential, self.read_percent) {
            (true, 100) => "read",
            (true, _) => "write",
            (false, 100) => "randread",
            (false, 0) => "randwrite",
            (false, _) => "randrw",
        }
    }

    /// The main result, as chosen by the paper.
    pub fn principal(&self, figures: Figures) -> f64 {
        if self.is_sequential {
            figures.bytes_per_second
        } else {
            figures.iops
        }
    }
}

/// All 78 cases in the paper's order.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, random_percent, sizes) in [
        ("sequential", 0, &[4, 8, 16, 32, 64][..]),
        ("random", 100, &[1, 2, 4, 8][..]),
    ] {
        for (direction, read_percent) in [("read", 100), ("write", 0)] {
            for size in sizes {
                for iodepth in [1, 4, 16] {
                    cases.push(Case {
                        name: format!("{kind} {direction} {size} KiB, depth {iodepth}"),
                        lines: vec![(size << 10, 100)],
                        read_percent,
                        random_percent,
                        iodepth,
                        is_sequential: random_percent == 0,
                    });
                }
            }
        }
    }
    let mixes = [
        ("OLTP", ONE_SIZE, 67, 100),
        ("File Server", FILE_SERVER, 80, 100),
        ("Web Server", WEB_SERVER, 100, 100),
        ("Workstation", ONE_SIZE, 80, 80),
    ];
    for (name, lines, read_percent, random_percent) in mixes {
        for iodepth in [1, 2, 4, 8, 16, 32] {
            cases.push(Case {
                name: format!("{name}, depth {iodepth}"),
                lines: lines.to_vec(),
                read_percent,
                random_percent,
                iodepth,
                is_sequential: false,
            });
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_thirty_sequential_and_twenty_four_random_and_mixed_cases() {
        let cases = all();
        assert_eq!(cases.len(), 78);
        assert_eq!(cases.iter().filter(|case| case.is_sequential).count(), 30);
        let random = cases
            .iter()
            .filter(|case| case.name.starts_with("random"))
            .count();
        assert_eq!(random, 24);
    }

    #[test]
    fn shares_add_up_and_mean_sizes_match_the_paper() {
        for case in all() {
            assert_eq!(
                case.lines.iter().map(|line| line.1).sum::<u64>(),
                100,
                "{}",
                case.name
            );
        }
        let mean = |lines: &[Line]| {
            lines
                .iter()
                .map(|line| (line.0 * line.1) as f64)
                .sum::<f64>()
                / 100.0
        };
        assert!((mean(FILE_SERVER) - 11345.9).abs() < 0.1);
        assert!((mean(WEB_SERVER) - 16035.8).abs() < 0.1);
    }

    #[test]
    fn both_programs_get_the_same_mix() {
        let case = all()
            .into_iter()
            .find(|case| case.name == "File Server, depth 8")
            .unwrap();
        let text = case.workload(5, 1 << 20);
        assert!(
            text.contains("{ size = 512, of_size = 10, read = 80, random = 100 }"),
            "{text}"
        );
        assert!(text.contains("iodepth = 8"), "{text}");
        let options = case.fio(5).join(" ");
        assert!(options.contains("--rw=randrw"), "{options}");
        assert!(options.contains("--rwmixread=80"), "{options}");
        assert!(options.contains("--bssplit=512/10:1024/5"), "{options}");
    }
}
