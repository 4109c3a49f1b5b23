//! Runs that several processes share, on one machine that plays several.

use std::path::Path;
use std::time::{Duration, Instant};

use end_to_end::{Finished, ScratchTarget, pgmeter};
use serde_json::Value;

/// No process that others wait for may take longer to be given up, or to clean up.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(15);

pub const FILES: &str = "size = \"4m\"\nrun_time = 2\nramp_time = 0\ncache = \"buffered\"\n\
    engine = \"psync\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 50 }]\n";

/// A scratch target with a relay instead of `ssh`.
pub struct RelayHosts {
    pub bed: ScratchTarget,
}

impl RelayHosts {
    /// With relays that cause these faults.
    pub fn new(rules: &[&str]) -> Self {
        let site = Self {
            bed: ScratchTarget::new().unwrap(),
        };
        site.bed.file("files.toml", FILES);
        site.script(rules);
        site
    }

    pub fn script(&self, lines: &[&str]) {
        let program = pgmeter(self.bed.path()).get_program().to_os_string();
        let mut script = format!(
            "program {}\nlog {}\n",
            program.display(),
            self.bed.path().join("log").display()
        );
        lines.iter().for_each(|line| script += &format!("{line}\n"));
        self.bed.file("script", script);
    }

    /// The carrier, for `--ssh`.
    pub fn carrier(&self, mode: &str) -> String {
        let script = self.bed.path().join("script");
        format!(
            "{} {mode} {}",
            env!("CARGO_BIN_EXE_clusterrelay"),
            script.display()
        )
    }

    /// The arguments of a run by these hosts.
    pub fn arguments(&self, hosts: &str, more: &[&str]) -> Vec<String> {
        let target = self.bed.target().to_string_lossy().into_owned();
        let carrier = self.carrier("work");
        let own = [
            "run", "--target", &target, "--hosts", hosts, "--ssh", &carrier, "--quiet",
        ];
        let all = own.iter().chain(more);
        all.map(|it| (*it).to_owned()).collect()
    }

    /// A run by these hosts, and how long it took.
    pub fn run(&self, hosts: &str, more: &[&str]) -> (Finished, Duration) {
        let arguments = self.arguments(hosts, more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        (self.bed.run(&arguments), begun.elapsed())
    }

    /// A run by these hosts, with its record.
    pub fn record(&self, hosts: &str, more: &[&str]) -> Value {
        let (output, _) = self.run(hosts, &[more, &["--json", "-"]].concat());
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.text()))
    }

    /// Log lines of the relays, split into words; each starts with the host.
    pub fn log(&self) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.bed.path().join("log")).unwrap_or_default();
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        text.lines().map(words).collect()
    }

    /// Waits until no worker is left.
    pub fn wait_for_workers(&self) {
        let begun = Instant::now();
        let is_alive = |line: &Vec<String>| {
            let status = Path::new("/proc").join(&line[2]).join("stat");
            let status = std::fs::read_to_string(status).unwrap_or_default();
            // A zombie only waits for its parent.
            line[1] == "worker" && status.contains("(pgmeter)") && !status.contains(") Z")
        };
        while self.log().iter().any(is_alive) {
            let waited = begun.elapsed();
            assert!(waited < HANG_TIMEOUT, "workers are there: {:?}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The newest run of the store; null if the store is empty.
    pub fn stored(&self) -> Value {
        let output = self.bed.run(&["runs", "export", "last"]);
        serde_json::from_str(&output.stdout).unwrap_or_default()
    }
}
