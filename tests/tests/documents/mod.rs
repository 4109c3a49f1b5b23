//! Commands of documents, run as they are written, but on small files and for a short time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use end_to_end::{ScratchTarget, finish, installed};

/// What makes examples short, for each command that measures: in place of what they say.
const SHORT: [(&str, &str); 4] = [
    ("run *", "--run-time 100ms --ramp-time 0s"),
    (
        "compare *",
        "--run-time 100ms --ramp-time 0s --repetitions 2",
    ),
    ("lab run", "--scale 0.001 --image-size 400MiB"),
    ("paper run", "--scale 0.0001 --run-time 20ms --ramp-time 0s"),
];
/// Options whose values are replaced, or which go.
const REPLACED: &str = "--run-time|--ramp-time|--size|--scale|--image-size|--budget";
/// Workloads that end when their work is done.
const FILE_WORKLOADS: &str = "*postmark*|run-*.pm*|run-*create-remove*|run-*fs-mark*|run-*lat-fs*";
/// Workloads whose files have sizes of their own.
const SIZED_WORKLOADS: &str = "*.fio*|*.f*|*client.txt*|*mail-server*";

/// The repository.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap().to_path_buf()
}

/// The text of a document.
pub fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// All fenced blocks with their languages.
fn all_blocks(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(fence) = lines.by_ref().find(|line| line.starts_with("```")) {
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        found.push((fence.trim_start_matches('`'), block.join("\n")));
    }
    found
}

/// The text of all blocks of that language, with lines joined where a `\` ends them.
pub fn blocks(text: &str, language: &str) -> Vec<String> {
    let own = all_blocks(text).into_iter();
    let own = own.filter(|(known, _)| *known == language);
    own.map(|(_, block)| block.replace("\\\n", " ")).collect()
}

/// Every command of the blocks for a shell: the lines of `sh`, and those after a prompt in
/// `console`.
pub fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (language, block) in all_blocks(text) {
        let joined = block.replace("\\\n", " ");
        let lines = joined.lines().filter_map(|line| match language {
            "sh" => Some(line).filter(|line| !line.is_empty() && !line.starts_with('#')),
            "console" => line.strip_prefix("$ "),
            _ => None,
        });
        found.extend(lines.map(str::to_owned));
    }
    found
}

/// A program that runs before the real one and shortens the requested measurement.
fn stand_in(bed: &ScratchTarget) -> String {
    let real = bed.command(&[]);
    let real = real.get_program().to_string_lossy();
    let mut short = String::new();
    for (command, options) in SHORT {
        let command = command.replace(' ', "\\ ");
        short.push_str(&format!("{command}) short='{options}' ;;\n"));
    }
    format!(
        "#!/bin/sh\nall=$* short= left=$#\ncase \"$1\" in as) exec '{real}' \"$@\" ;; esac\n\
         case \"$1 $2\" in\n{short}esac\n\
         case $1-$all in run-*find-rate*) ;; run-{FILE_WORKLOADS}) short= ;; \
         run-{SIZED_WORKLOADS}) ;; run-*|compare-*--target*) short=\"$short --size 8m\" ;; \
         compare-*) short= ;; esac\n\
         case $all in *--budget*) short=\"$short --budget 2s\" ;; esac\n\
         while [ $left -gt 0 ]; do\n\
         case $1 in\n\
         {REPLACED}) shift 2; left=$((left - 2)) ;;\n\
         --repetitions) case $all in compare*) ;; *) set -- \"$@\" $1 $2 ;; esac\n\
         shift 2; left=$((left - 2)) ;;\n\
         *) set -- \"$@\" \"$1\"; shift; left=$((left - 1)) ;;\n\
         esac\ndone\nexec '{real}' \"$@\" $short\n"
    )
}

/// A directory in which a user would type the commands of a document.
pub struct DocumentShell {
    bed: ScratchTarget,
    path: String,
}

impl DocumentShell {
    /// A directory with the files of `examples`, and programs that shorten measurements.
    pub fn new() -> DocumentShell {
        let bed = ScratchTarget::new().unwrap();
        let programs = bed.path().join("bin");
        for name in ["bin", "examples", "other"] {
            std::fs::create_dir(bed.path().join(name)).unwrap();
        }
        bed.script("bin/pgmeter", stand_in(&bed));
        bed.script("bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
        for entry in std::fs::read_dir(root().join("examples")).unwrap() {
            let entry = entry.unwrap();
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let to = Path::new("examples").join(entry.file_name());
            // The originals' command lines cannot shorten these.
            let text = text
                .replace("run 30", "run 1")
                .replace("size=256m", "size=8m");
            bed.file(to.to_str().unwrap(), text);
        }
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", programs.display());
        DocumentShell { bed, path }
    }

    /// The directory and its target.
    pub fn bed(&self) -> &ScratchTarget {
        &self.bed
    }

    /// Runs the commands in order and fails if any of them does, or leaves files in the target.
    pub fn run(&self, commands: &[String]) {
        let failed: Vec<String> = commands.iter().filter_map(|it| self.failure(it)).collect();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        let left = self.bed().left_in_target();
        assert!(left.is_empty(), "{left:?}");
    }

    /// Runs a command; returns its output if it failed.
    fn failure(&self, command: &str) -> Option<String> {
        let is_root = rustix::process::geteuid().is_root();
        if command.starts_with("sudo ") && !is_root {
            println!("skipped: `{command}` needs root");
            return None;
        }
        for program in ["mpirun", "jq"] {
            let is_used = command.starts_with(&format!("{program} "));
            if let Err(missing) = installed(program)
                && is_used
            {
                println!("skipped: `{command}`: {missing}");
                return None;
            }
        }
        let begun = Instant::now();
        let output = finish(&mut self.shell(command));
        let seconds = begun.elapsed().as_secs_f64();
        println!("$ {command}\nexit {} after {seconds:.1} s", output.code);
        let is_gate = command.contains("--fail-on-regression");
        match output.code {
            0 => None,
            // Such a short measurement differs from the next one.
            4 if is_gate => None,
            3 if output.stderr.contains("(package `") => {
                println!("skipped: `{command}`: {}", output.stderr);
                None
            }
            _ => Some(format!("$ {command}\n{}", output.text())),
        }
    }

    /// A shell with the environment of the program under test.
    fn shell(&self, command: &str) -> Command {
        let under_test = self.bed.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-ec", command]).current_dir(self.bed.path());
        for (name, value) in under_test.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("PATH", &self.path);
        shell.env("DISK", self.bed.target());
        shell.env("OTHER", self.bed.path().join("other"));
        // Nobody looks at a page.
        shell.env("BROWSER", "true");
        // Open MPI refuses root, and more ranks than CPUs.
        for name in [
            "OMPI_ALLOW_RUN_AS_ROOT",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
            "OMPI_MCA_rmaps_base_oversubscribe",
            "PRTE_ALLOW_RUN_AS_ROOT",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
        ] {
            shell.env(name, "1");
        }
        shell
    }
}
