//! Scales programs, so that a table of many takes minutes.

use super::{
    Act, AmountScope, Call, CallObject, DirectoryTree, FILE_BYTES_MAX, FilesetPlan, FilesetSharing,
    Group, Law, Measure, Pick, PickOrder, Program, ProgramPart, ProgramPhase, Quota, RoundsEnd,
    Shape,
};

use crate::share;

/// Below this number of files, results mean little; smaller sets get smaller files instead of
/// fewer.
const FILES_MIN: u32 = 100;
/// Below this number of rounds, calls or steps, results mean little.
const COUNT_MIN: u64 = 500;
const BYTES_MIN: u64 = 16 << 20;
const TIME_NS_MIN: u64 = 1_000_000_000;
const RAMP_NS_MIN: u64 = 100_000_000;

impl Program {
    /// The same work with `times` times as many workers in each group.
    #[must_use]
    pub fn with_workers_multiplied(&self, times: u32) -> Self {
        let mut program = self.clone();
        for phase in program.phases_mut() {
            for group in &mut phase.groups {
                group.workers = Some(group.worker_count().saturating_mul(times));
            }
        }
        program
    }

    /// The program with `count` rounds in each phase that is not hidden, all workers together. No
    /// phase ends by time, there is no ramp, and repeated phases run once. Each worker has its
    /// [`share`]. Filesets whose files the phases create are large enough for all rounds.
    #[must_use]
    pub fn with_operations(&self, count: u64) -> Self {
        let mut counted = self.clone();
        once(&mut counted.parts);
        let mut fewest_workers = u32::MAX;
        for phase in counted.phases_mut() {
            // Programs are started once for each file, so their number follows from the files.
            if phase.is_hidden || phase.groups.iter().any(|it| it.spawn.is_some()) {
                continue;
            }
            // `first_done` would end the other workers before the count is complete.
            (phase.time_ns, phase.ramp_ns, phase.first_done) = (None, 0, None);
            let worker_count = phase.groups.iter().map(Group::worker_count).sum();
            // With the fewest workers, each has the largest share and needs the most files.
            fewest_workers = fewest_workers.min(worker_count);
            let mut workers = 0..worker_count;
            for group in &mut phase.groups {
                let own = workers.by_ref().take(group.worker_count() as usize);
                let own = own.map(|worker| share(count, worker_count.into(), worker.into()));
                group.quotas = vec![Quota {
                    what: Measure::Rounds,
                    count: own.sum(),
                    of: AmountScope::Group,
                }];
            }
        }
        let per_worker = count.div_ceil(fewest_workers.max(1).into());
        for fileset in &mut counted.filesets {
            if fileset.present_permille == 0 {
                let files = match fileset.copies {
                    // Workers may have slices of equal length.
                    FilesetSharing::One => per_worker.saturating_mul(fewest_workers.into()),
                    FilesetSharing::PerWorker => per_worker,
                };
                let files = u32::try_from(files).unwrap_or(u32::MAX);
                fileset.count = fileset.count.max(files);
            }
        }
        counted
    }

    /// The program with its files, amounts and times scaled by a factor of at most 1. Nothing
    /// becomes smaller than what gives useful results, nor larger than it was. The number of rounds
    /// stays.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        if factor.is_nan() || factor >= 1.0 {
            return scaled;
        }
        let scale = ProgramScale(factor.max(0.0));
        for fileset in &mut scaled.filesets {
            scale.fileset(fileset);
        }
        if let Some(pool) = &mut scaled.pool {
            pool.scaled(scale.0, (FILES_MIN, COUNT_MIN as u32));
        }
        scale.scale_time_budgets(&mut scaled.parts);
        let filesets = scaled.filesets.clone();
        for phase in scaled.phases_mut() {
            scale.phase(phase, &filesets);
        }
        scaled
    }

    /// The program with the mean file size of each fileset scaled to `bytes`; the shape of its
    /// distribution stays.
    #[must_use]
    pub fn with_mean_size(&self, bytes: u64) -> Self {
        let mut sized = self.clone();
        for fileset in &mut sized.filesets {
            scale_sizes(fileset, bytes as f64 / fileset.size.mean());
        }
        sized
    }

    /// The program with its files scaled to `bytes` in total. Filesets of many files get more or
    /// fewer files of the same size; filesets of few files get larger or smaller ones.
    #[must_use]
    pub fn with_total_size(&self, bytes: u64) -> Self {
        let mut sized = self.clone();
        let all = sized.filesets.iter();
        let all_bytes: f64 = all.map(|it| f64::from(it.count) * it.size.mean()).sum();
        let factor = bytes as f64 / all_bytes;
        for fileset in &mut sized.filesets {
            match fileset.count {
                ..FILES_MIN => scale_sizes(fileset, factor),
                _ if fileset.size.mean() > 0.0 => scale_count(fileset, factor),
                _ => {}
            }
        }
        let filesets = sized.filesets.clone();
        let groups = sized
            .phases_mut()
            .into_iter()
            .flat_map(|phase| &mut phase.groups);
        for group in groups {
            for acts in group.lists_mut() {
                limit_picks(acts, &filesets);
            }
        }
        sized
    }
}

/// Runs repeated parts once.
fn once(parts: &mut [ProgramPart]) {
    for part in parts {
        if let ProgramPart::Rounds { until, parts } = part {
            *until = RoundsEnd::Times(1);
            once(parts);
        }
    }
}

/// Scales the sizes of files, unless they are empty.
fn scale_sizes(fileset: &mut FilesetPlan, factor: f64) {
    if factor.is_finite() && factor > 0.0 {
        let most = fileset.size.most;
        ProgramScale(factor).law(&mut fileset.size);
        // A limit that only keeps sizes within the maximum file size is not scaled beyond it.
        if most <= FILE_BYTES_MAX {
            fileset.size.most = fileset.size.most.min(FILE_BYTES_MAX);
        }
    }
}

/// Scales the number of files; at least one remains.
fn scale_count(fileset: &mut FilesetPlan, factor: f64) {
    let count = (f64::from(fileset.count) * factor).round();
    // The cast saturates.
    fileset.count = (count as u32).max(1);
    if let DirectoryTree::Turns { directories } = &mut fileset.tree {
        // More directories than files would leave some of them empty.
        *directories = (*directories).min(fileset.count);
    }
}

impl Group {
    /// Mutable access to its lists of acts.
    fn lists_mut(&mut self) -> [&mut Vec<Act>; 5] {
        [
            &mut self.enter,
            &mut self.first,
            &mut self.body,
            &mut self.last,
            &mut self.leave,
        ]
    }
}

struct ProgramScale(f64);

impl ProgramScale {
    /// The scaled amount, but at least `least`, or the amount itself if that is smaller.
    fn of(&self, amount: u64, least: u64) -> u64 {
        // Amounts of work are far below 2^53.
        let part = (amount as f64 * self.0).round() as u64;
        part.max(least.min(amount))
    }

    fn fileset(&self, fileset: &mut FilesetPlan) {
        if fileset.count < FILES_MIN {
            self.law(&mut fileset.size);
            return;
        }
        let factor = self.0.max(f64::from(FILES_MIN) / f64::from(fileset.count));
        scale_count(fileset, factor);
    }

    fn law(&self, law: &mut Law) {
        let part = |amount: u64| self.of(amount, 1);
        match &mut law.shape {
            Shape::Fixed(amount) => *amount = part(*amount),
            Shape::Uniform { low, high } => (*low, *high) = (part(*low), part(*high)),
            Shape::Exponential { mean } | Shape::Gamma { mean, .. } => {
                *mean *= self.limited_factor()
            }
            Shape::Normal { mean, deviation } => {
                *mean *= self.limited_factor();
                *deviation *= self.limited_factor();
            }
            Shape::LogNormal { median, .. } => *median *= self.limited_factor(),
            Shape::Table(bands) => {
                for band in bands {
                    (band.low, band.high) = (part(band.low), part(band.high));
                }
            }
        }
        law.base = part(law.base);
        law.least = part(law.least);
        if law.most < u64::MAX {
            law.most = part(law.most);
        }
    }

    /// The factor, limited so that means do not become 0.
    fn limited_factor(&self) -> f64 {
        self.0.max(1e-6)
    }

    fn scale_time_budgets(&self, parts: &mut [ProgramPart]) {
        for part in parts {
            if let ProgramPart::Rounds { until, parts } = part {
                if let RoundsEnd::Spent { ns } = until {
                    *ns = self.of(*ns, TIME_NS_MIN);
                }
                self.scale_time_budgets(parts);
            }
        }
    }

    fn phase(&self, phase: &mut ProgramPhase, filesets: &[FilesetPlan]) {
        phase.ramp_ns = self.of(phase.ramp_ns, RAMP_NS_MIN);
        phase.time_ns = phase.time_ns.map(|ns| self.of(ns, TIME_NS_MIN));
        for group in &mut phase.groups {
            for quota in &mut group.quotas {
                self.quota(quota);
            }
            for acts in group.lists_mut() {
                limit_picks(acts, filesets);
            }
        }
    }

    fn quota(&self, quota: &mut Quota) {
        let least = match quota.what {
            Measure::Bytes | Measure::StepBytes(_) => BYTES_MIN,
            Measure::Rounds | Measure::Calls | Measure::Steps(_) => COUNT_MIN,
        };
        quota.count = self.of(quota.count, least);
    }
}

/// Limits picks by number to the remaining files.
fn limit_picks(acts: &mut [Act], filesets: &[FilesetPlan]) {
    for act in acts {
        if let Act::Call(call) = act {
            limit_picks_of_call(call, filesets);
        }
        for acts in act.lists_mut() {
            limit_picks(acts, filesets);
        }
    }
}

fn limit_picks_of_call(call: &mut Call, filesets: &[FilesetPlan]) {
    let within = |pick: &mut Pick| {
        let fileset = filesets.get(usize::from(pick.fileset));
        if let (PickOrder::Index(index), Some(fileset)) = (&mut pick.order, fileset) {
            *index = (*index).min(fileset.count.saturating_sub(1));
        }
    };
    if let CallObject::Name(pick) = &mut call.on {
        within(pick);
    }
    call.second.iter_mut().for_each(within);
}

#[cfg(test)]
mod tests {
    use super::super::{AmountScope, samples};
    use super::*;

    #[test]
    fn large_filesets_shrink_in_count_and_small_ones_in_file_size() {
        let mut program = samples::deliveries();
        program.filesets[0].count = 50;
        program.filesets[0].size = Law::fixed(1000);
        program.filesets[1].count = 5000;
        let scaled = program.scaled(0.1);
        assert_eq!(
            (scaled.filesets[0].count, scaled.filesets[0].size.always()),
            (50, Some(100))
        );
        assert_eq!(scaled.filesets[1].count, 500);
        assert_eq!(scaled.filesets[1].size, program.filesets[1].size);
        assert_eq!(program.scaled(0.001).filesets[1].count, 100);
        assert_eq!(program.scaled(1.0), program);
        assert_eq!(program.scaled(f64::NAN), program);
    }

    #[test]
    fn filesets_get_the_requested_mean_and_total_size() {
        let mut program = samples::deliveries();
        program.filesets[0].count = 50;
        program.filesets[0].size = Law::fixed(1000);
        program.filesets[1].count = 5000;
        program.filesets[1].size = Law {
            shape: Shape::Exponential { mean: 2000.0 },
            ..Law::fixed(0)
        };
        for mean in [100, 1 << 20] {
            let sized = program.with_mean_size(mean);
            for (fileset, before) in sized.filesets.iter().zip(&program.filesets) {
                assert_eq!(fileset.count, before.count);
                let off = (fileset.size.mean() / mean as f64 - 1.0).abs();
                assert!(off < 1e-6, "{}", fileset.name);
            }
        }
        let total = |program: &Program| -> f64 {
            let filesets = program.filesets.iter();
            filesets
                .map(|it| f64::from(it.count) * it.size.mean())
                .sum()
        };
        for bytes in [1_u64 << 16, 1 << 24, 1 << 34] {
            let sized = program.with_total_size(bytes);
            let off = (total(&sized) / bytes as f64 - 1.0).abs();
            assert!(off < 0.05, "{bytes}: {}", total(&sized));
            assert_eq!(sized.filesets[0].count, 50, "few files change their size");
            assert_eq!(sized.filesets[1].size, program.filesets[1].size);
        }
    }

    #[test]
    fn scaled_quotas_and_times_stay_meaningful() {
        let mut program = samples::deliveries();
        let phase = program.phases_mut().remove(0);
        phase.time_ns = Some(60_000_000_000);
        phase.ramp_ns = 50_000_000;
        phase.groups[0].quotas = vec![
            Quota {
                what: Measure::Rounds,
                count: 100_000,
                of: AmountScope::Each,
            },
            Quota {
                what: Measure::Bytes,
                count: 1 << 20,
                of: AmountScope::Group,
            },
        ];
        let scaled = program.scaled(0.01);
        let phase = scaled.phases()[0];
        assert_eq!(
            (phase.time_ns, phase.ramp_ns),
            (Some(1_000_000_000), 50_000_000)
        );
        let counts: Vec<u64> = phase.groups[0].quotas.iter().map(|it| it.count).collect();
        assert_eq!(counts, [1000, 1 << 20]);
    }

    #[test]
    fn a_file_picked_by_number_still_exists_after_scaling() {
        let mut program = samples::deliveries();
        program.filesets[1].count = 1000;
        let phase = program.phases_mut().remove(0);
        let pick = Pick {
            order: PickOrder::Index(999),
            ..samples::pick(1, super::super::FileFilter::Present)
        };
        phase.groups[0].body = vec![samples::open(pick), samples::close()];
        let scaled = program.scaled(0.1);
        let call = scaled.groups().next().unwrap().calls()[0].clone();
        let CallObject::Name(pick) = call.on else {
            panic!("{call:?}")
        };
        assert_eq!(pick.order, PickOrder::Index(99));
    }
}
