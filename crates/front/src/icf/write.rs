//! Writes a configuration in the format of Iometer 1.1.0.

use description::iometer::{
    BarLine, IdName, IometerWorker, ResultsDisplay, Target, TargetSettings, WorkerCount, WorkerKind,
};

use super::document::{IcfAccessSpec, IcfCycling, IcfDocument, Manager, TestSetup, Version};
use super::keywords::Keyword;

/// Writes a configuration in the format of version 1.1.0, whatever version it was read from.
///
/// Both modes read the result back as the same document, except for its version. Characters that
/// are not allowed in names and descriptions are replaced: line ends by blanks, and commas in
/// specifications' names by hyphens.
#[must_use]
pub fn write(document: &IcfDocument) -> Vec<u8> {
    let mut page = IcfText::default();
    // Iometer also writes the blank at the end.
    page.line(&format!("Version {} ", Version::CURRENT));
    if let Some(setup) = &document.setup {
        page.setup(setup);
    }
    if let Some(display) = &document.display {
        page.display(display);
    }
    if let Some(specs) = &document.specs {
        page.specs(specs);
    }
    if let Some(managers) = &document.managers {
        page.managers(managers);
    }
    // Iometer ends its files with this line, but never reads it.
    page.line(&format!("Version {} ", Version::CURRENT));
    page.text.into_bytes()
}

/// Width of a section's first line, in characters.
const HEAD_WIDTH: usize = 80;
/// Width of a number's column, in characters.
const COLUMN_WIDTH: usize = 11;

#[derive(Default)]
struct IcfText {
    text: String,
}

impl IcfText {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        // Iometer runs on Windows, where its lines end like this.
        self.text.push_str("\r\n");
    }

    fn head(&mut self, name: &str) {
        self.line(&format!("{:=<HEAD_WIDTH$}", format!("'{name} ")));
    }

    /// Writes a value below its key. Line ends in it become blanks.
    fn value(&mut self, value: &str) {
        let value = value.replace(['\n', '\r', '\0'], " ");
        self.line(&format!("\t{}", value.trim()));
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.line(key);
        self.value(value);
    }

    /// Writes numbers and a word in columns, below their headings.
    fn columns(&mut self, key: &str, heading: &str, values: &[u32], word: &str) {
        let mut line = String::new();
        for (index, value) in values.iter().enumerate() {
            let last = index + 1 == values.len() && word.is_empty();
            let width = if last { 0 } else { COLUMN_WIDTH };
            line.push_str(&format!("{value:<width$}"));
            // A number that fills its column still needs a blank after it.
            if !last && !line.ends_with(' ') {
                line.push(' ');
            }
        }
        line.push_str(word);
        self.line(key);
        self.line(heading);
        self.value(&line);
    }

    fn setup(&mut self, setup: &TestSetup) {
        self.head("TEST SETUP");
        self.pair("'Test Description", &setup.description);
        let time = setup.run_time;
        let parts = [time.hours, time.minutes, time.seconds];
        self.columns("'Run Time", "'\thours      minutes    seconds", &parts, "");
        self.pair("'Ramp Up Time (s)", &setup.ramp_up_seconds.to_string());
        self.pair("'Default Disk Workers to Spawn", &count(setup.disk_workers));
        self.pair(
            "'Default Network Workers to Spawn",
            &count(setup.network_workers),
        );
        self.pair("'Record Results", setup.record_results.word());
        self.cycling("'Worker Cycling", setup.worker_cycling);
        self.cycling("'Disk Cycling", setup.disk_cycling);
        let depth = setup.queue_depth_cycling;
        self.columns(
            "'Queue Depth Cycling",
            "'\tstart      end        step       step type",
            &[depth.start, depth.end, depth.step],
            depth.step_type.word(),
        );
        self.pair("'Test Type", setup.test_type.word());
        self.line("'END test setup");
    }

    fn cycling(&mut self, key: &str, cycling: IcfCycling) {
        let heading = "'\tstart      step       step type";
        self.columns(
            key,
            heading,
            &[cycling.start, cycling.step],
            cycling.step_type.word(),
        );
    }

    fn display(&mut self, display: &ResultsDisplay) {
        self.head("RESULTS DISPLAY");
        let update = format!(
            "{},{},{}",
            switch(display.record_last_update),
            display.update_frequency_seconds,
            display.update_type.word()
        );
        self.pair(
            "'Record Last Update Results,Update Frequency,Update Type",
            &update,
        );
        for bar in &display.bars {
            let (what, value) = match &bar.shows {
                BarLine::Statistic(name) => ("statistic", name.clone()),
                BarLine::Manager(identity) => ("manager ID, manager name", id_name(identity)),
                BarLine::Worker(identity) => ("worker ID, worker name", id_name(identity)),
            };
            self.pair(&format!("'Bar chart {} {what}", bar.chart), &value);
        }
        self.line("'END results display");
    }

    fn specs(&mut self, specs: &[IcfAccessSpec]) {
        self.head("ACCESS SPECIFICATIONS");
        for spec in specs {
            let name = spec.name.replace(',', "-");
            self.pair(
                "'Access specification name,default assignment",
                &format!("{name},{}", spec.assignment.word()),
            );
            self.line("'size,% of size,% reads,% random,delay,burst,align,reply");
            for line in &spec.lines {
                self.value(&format!(
                    "{},{},{},{},{},{},{},{}",
                    line.size,
                    line.of_size,
                    line.reads,
                    line.random,
                    line.delay_ms,
                    line.burst,
                    line.align,
                    line.reply
                ));
            }
        }
        self.line("'END access specifications");
    }

    fn managers(&mut self, managers: &[Manager]) {
        self.head("MANAGER LIST");
        for manager in managers {
            self.pair("'Manager ID, manager name", &id_name(&manager.identity));
            self.pair("'Manager network address", &manager.address);
            for worker in &manager.workers {
                self.worker(worker);
            }
            self.line("'End manager");
        }
        self.line("'END manager list");
    }

    fn worker(&mut self, worker: &IometerWorker) {
        self.pair("'Worker", &worker.name);
        self.pair("'Worker type", worker.kind.word());
        if let Some(settings) = &worker.settings {
            self.settings(settings, worker.kind);
        }
        if let Some(assigned) = &worker.assigned {
            self.line("'Assigned access specs");
            for name in assigned {
                self.value(&name.replace(',', "-"));
            }
            self.line("'End assigned access specs");
        }
        if let Some(targets) = &worker.targets {
            self.line("'Target assignments");
            for target in targets {
                self.target(target);
            }
            self.line("'End target assignments");
        }
        self.line("'End worker");
    }

    fn settings(&mut self, settings: &TargetSettings, kind: WorkerKind) {
        self.line("'Default target settings for worker");
        self.pair(
            "'Number of outstanding IOs,test connection rate,transactions per connection,use fixed \
             seed,fixed seed value",
            &format!(
                "{},{},{},{},{}",
                settings.outstanding_ios,
                switch(settings.test_connection_rate),
                settings.transactions_per_connection,
                switch(settings.use_fixed_seed),
                settings.fixed_seed
            ),
        );
        let span = [settings.max_size_sectors, settings.starting_sector];
        // Iometer writes this key only for disk workers, but values of other workers must not be
        // lost.
        if kind == WorkerKind::Disk || span != [0, 0] || settings.data_pattern != 0 {
            self.pair(
                "'Disk maximum size,starting sector,Data pattern",
                &format!("{},{},{}", span[0], span[1], settings.data_pattern),
            );
        }
        if let Some(interface) = &settings.network_interface {
            self.pair("'Local network interface", interface);
        }
        if let Some(outstanding) = settings.vi_outstanding_ios {
            self.pair("'VI outstanding IOs", &outstanding.to_string());
        }
        self.line("'End default target settings for worker");
    }

    fn target(&mut self, target: &Target) {
        self.pair("'Target", &target.name);
        self.pair("'Target type", target.kind.word());
        if let Some(manager) = &target.manager {
            self.pair("'Target manager ID, manager name", &id_name(manager));
        }
        self.line("'End target");
    }
}

fn count(count: WorkerCount) -> String {
    match count {
        WorkerCount::PerCpu => "NUMBER_OF_CPUS".to_owned(),
        WorkerCount::Count(count) => count.to_string(),
    }
}

fn switch(on: bool) -> &'static str {
    if on { "ENABLED" } else { "DISABLED" }
}

fn id_name(identity: &IdName) -> String {
    format!("{},{}", identity.id, identity.name)
}
