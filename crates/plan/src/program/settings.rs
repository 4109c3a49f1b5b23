//! Settings of a program, as rows for tables and records.

use units::{Bytes as Size, Percent, Span};

use super::{AmountScope, Group, Measure, Program, ProgramPhase, Quota, describe};

/// A setting of a program, as a row for tables and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSetting {
    /// Dotted name of the setting, such as `fileset.NAME.count`.
    pub key: String,
    /// Value in readable form.
    pub value: String,
}

impl Program {
    /// Its settings: filesets, phases and groups, in order.
    #[must_use]
    pub fn settings(&self) -> Vec<ProgramSetting> {
        let mut rows = Vec::new();
        let mut row = |key: String, value: String| rows.push(ProgramSetting { key, value });
        for fileset in &self.filesets {
            let name = &fileset.name;
            row(format!("fileset.{name}.count"), fileset.count.to_string());
            if fileset.size.always() != Some(0) {
                row(
                    format!("fileset.{name}.size"),
                    describe::size(&fileset.size),
                );
            }
            if fileset.present_permille == 0 {
                continue;
            }
            let present = Percent(f64::from(fileset.present_permille) / 10.0);
            row(format!("fileset.{name}.present"), present.to_string());
        }
        for phase in self.phases() {
            for (key, value) in phase_settings(phase) {
                row(format!("phase.{}.{key}", phase.name), value);
            }
            for group in &phase.groups {
                for (key, value) in group_settings(self, group) {
                    row(format!("phase.{}.{}.{key}", phase.name, group.name), value);
                }
            }
        }
        rows
    }
}

fn phase_settings(phase: &ProgramPhase) -> Vec<(&'static str, String)> {
    let time = phase.time_ns.map(|ns| ("run_time", Span(ns).to_string()));
    let ramp = (phase.ramp_ns > 0).then(|| ("ramp_time", Span(phase.ramp_ns).to_string()));
    time.into_iter().chain(ramp).collect()
}

fn group_settings(program: &Program, group: &Group) -> Vec<(String, String)> {
    let workers = ("workers".to_owned(), group.worker_count().to_string());
    let quotas = group
        .quotas
        .iter()
        .map(|quota| quota_setting(program, quota));
    let trace = group.trace.iter().flat_map(|trace| {
        let calls = ("calls".to_owned(), trace.calls_count.to_string());
        [("trace".to_owned(), trace.file.clone()), calls]
    });
    [workers].into_iter().chain(quotas).chain(trace).collect()
}

fn quota_setting(program: &Program, quota: &Quota) -> (String, String) {
    let (key, value) = match quota.what {
        Measure::Rounds => ("rounds".to_owned(), quota.count.to_string()),
        Measure::Bytes => ("bytes".to_owned(), Size(quota.count).to_string()),
        Measure::Calls => ("calls".to_owned(), quota.count.to_string()),
        Measure::Steps(label) => (
            format!("steps.{}", program.label(label)),
            quota.count.to_string(),
        ),
        Measure::StepBytes(label) => (
            format!("step_bytes.{}", program.label(label)),
            Size(quota.count).to_string(),
        ),
    };
    match quota.of {
        AmountScope::Each => (key, value),
        AmountScope::Group => (key, format!("{value} together")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn setting_keys_name_their_fileset_phase_or_group() {
        let mut program = samples::deliveries();
        program.phases_mut()[0].time_ns = Some(3_000_000_000);
        program.phases_mut()[0].groups[0].quotas = vec![super::Quota {
            what: super::Measure::Steps(0),
            count: 9,
            of: super::AmountScope::Group,
        }];
        let rows = program.settings();
        let rows: Vec<String> = rows
            .iter()
            .map(|row| format!("{} = {}", row.key, row.value))
            .collect();
        assert_eq!(
            rows,
            [
                "fileset.tmp.count = 1000",
                "fileset.mail.count = 2000",
                "fileset.mail.size = 9KiB (lognormal, up to 20MiB)",
                "fileset.mail.present = 50%",
                "phase.serve.run_time = 3s",
                "phase.serve.delivery.workers = 4",
                "phase.serve.delivery.steps.deliver = 9 together",
            ]
        );
    }
}
