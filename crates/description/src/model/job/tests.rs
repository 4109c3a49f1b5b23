use proptest::prelude::*;
use units::{Bytes, Percent, Rate, Span};

use super::{jobs, waves};
use crate::load;
use crate::model::{
    BlockSizeChoice, ByteZone, ContentChoice, CpuList, DirectionTable, DistributionChoice,
    FileOrderSetting, FilesChoice, IoClass, JobFileChoice, JobFileTable, JobTable, OneOrMany, Seed,
    TrimSetting, UntilSteadyTable, Workload,
};
use crate::{read_toml, to_toml};
use plan::job::{
    BlockCheckKind, ConvertedJobs, DurableWrites, FileCache, GoalMeasure, Layout, MetadataWork,
    ReadWriteMix, RecordedPlan, RunDirection, SpaceWork,
};
use plan::{ArrivalKind, CacheMode, EngineKind, FrontOrigin};

/// Numbers that decide which keys a table has, and what they say.
struct Choices<'a>(std::slice::Iter<'a, u32>);

impl Choices<'_> {
    fn number(&mut self, below: u32) -> u32 {
        self.0.next().map_or(0, |it| it % below.max(1))
    }

    /// One of some in a quarter of the cases.
    fn some<T>(&mut self, all: impl IntoIterator<Item = T>) -> Option<T> {
        let number = self.number(1 << 20);
        let mut all: Vec<T> = all.into_iter().collect();
        number
            .is_multiple_of(4)
            .then(|| all.swap_remove((number / 4) as usize % all.len()))
    }

    fn flag(&mut self) -> Option<bool> {
        self.some([true, false])
    }

    fn bytes(&mut self) -> Option<Bytes> {
        self.some([4096, 1000, 1 << 20, 3 << 20, 1 << 33, 123_456].map(Bytes))
    }

    fn span(&mut self) -> Option<Span> {
        self.some([0, 1, 1500, 20_000_000, 90_000_000_000].map(Span))
    }

    fn percent(&mut self) -> Option<Percent> {
        self.some([0.0, 100.0, 50.0, 33.3, 70.0].map(Percent))
    }

    fn block_size(&mut self) -> Option<BlockSizeChoice> {
        let all = [
            "4k",
            "512",
            "1m",
            "4k-64k",
            "1k-3k",
            "4k:60,64k:40",
            "8k:100",
            "1k:12.5,2k:87.5",
        ];
        self.some(all.map(|text| text.parse().unwrap()))
    }

    fn distribution(&mut self) -> Option<DistributionChoice> {
        self.some([
            DistributionChoice::NoRepeat,
            DistributionChoice::Uniform,
            DistributionChoice::Zipf(1.2),
            DistributionChoice::Pareto(0.3),
            DistributionChoice::Normal(Percent(12.5)),
        ])
    }

    fn zones(&mut self) -> Vec<ByteZone> {
        let zone = |access, size| ByteZone {
            access: Percent(access),
            size: Bytes(size),
        };
        let zones = [
            vec![zone(100.0, 4096)],
            vec![zone(60.0, 1 << 30), zone(40.0, 12_345)],
        ];
        self.some(zones).unwrap_or_default()
    }

    fn rate(&mut self) -> (Option<Rate>, Option<Bytes>) {
        match self.number(8) {
            0 => (Some(Rate(20_000.0)), None),
            1 => (None, Some(Bytes(10 << 20))),
            _ => (None, None),
        }
    }

    fn direction(&mut self) -> Option<DirectionTable> {
        if self.number(3) > 0 {
            return None;
        }
        let (rate, byte_rate) = self.rate();
        Some(DirectionTable {
            random: self.percent(),
            block_size: self.block_size(),
            block_unit: self.some([512, 1024].map(Bytes)),
            align: self.some([512, 4096, 8192].map(Bytes)),
            distribution: None,
            byte_zones: Vec::new(),
            rate,
            byte_rate,
            rate_min: self.some([50.0].map(Rate)),
            byte_rate_min: None,
            latency_max: self.some([5000].map(Span)),
        })
    }

    fn files(&mut self) -> Option<FilesChoice> {
        let name = |name: &str| JobFileChoice::Name(name.to_owned());
        let file_table = JobFileTable {
            name: Some("c/d".to_owned()),
            target: Some(2),
            start: Some(Bytes(512)),
            size: Some(Bytes(1 << 20)),
        };
        let table = JobFileChoice::Table(Box::new(file_table));
        self.some([
            FilesChoice::Count(1),
            FilesChoice::Count(3),
            FilesChoice::Each(vec![name("a")]),
            FilesChoice::Each(vec![name("a"), name("b/x 1")]),
            FilesChoice::Each(vec![name("a"), table]),
        ])
    }

    /// How it runs.
    fn worker(&mut self, table: &mut JobTable) {
        table.count = self.some([1, 2, 5]);
        table.start_delay = self.span();
        table.ends_others = self.flag();
        table.goes_on_after_errors = self.flag();
        table.ends_on_mismatch = self.flag();
        table.engine = self.some([EngineKind::IoUring, EngineKind::Psync, EngineKind::Null]);
        table.cache = self.some([CacheMode::Direct, CacheMode::Buffered, CacheMode::Dontcache]);
        table.iodepth = self
            .some([1, 32])
            .filter(|_| table.engine != Some(EngineKind::Psync));
        table.sqpoll = self.flag();
        table.iopoll = self.flag();
        table.nowait = self.flag();
        table.force_async_each = self.some([0, 1, 4]);
        table.batch = self.some([1, 8, 32]);
        table.content = self.some([ContentChoice::Zero, ContentChoice::Repeating]);
        table.verify = self.flag();
        table.pattern = self.some(["00ff", "%o01"]).map(str::to_owned);
        if table.pattern.is_some() {
            table.pattern_interval = self.bytes();
        }
        if table.verify == Some(true) {
            table.read_back = self.flag();
            // It needs no room in a block, whatever its size.
            table.verify_with = table.pattern.is_some().then_some(BlockCheckKind::Pattern);
        }
        if table.read_back == Some(true) {
            table.read_back_only = self.flag();
            table.read_back_each = self.some([0, 7]);
            table.read_back_batch = self.some([0, 3]);
        }
        table.seed = self.some([Seed(0), Seed(1), Seed(u64::MAX)]);
        table.cpus = self.some([vec![0], vec![1, 3], vec![2, 0, 2]]).map(CpuList);
        if table.cpus.is_none() {
            table.cpu_set = self.some([vec![0, 1], vec![5]]).map(CpuList);
        }
        table.nice = self.some([-20, 0, 19]);
        table.io_class = self.some(IoClass::ALL);
        table.io_priority = self.some([0, 7]);
    }

    /// Where it works.
    fn places(&mut self, table: &mut JobTable) {
        table.files = self.files();
        if matches!(table.files, None | Some(FilesChoice::Count(_))) {
            let names = [
                "{job}-{clone}",
                "{clone}/{file}",
                "f{file}",
                "x.{clone}.{file}.y2",
            ];
            table.file_names = self.some(names).map(str::to_owned);
        }
        table.target = self.some([
            OneOrMany::One(1),
            OneOrMany::One(2),
            OneOrMany::Many(vec![1, 2]),
        ]);
        table.size = self.bytes();
        table.start = self.bytes();
        table.start_step = self.bytes();
        table.layout = self.some([Layout::Empty, Layout::Allotted, Layout::Written]);
        table.page_cache = self.some([FileCache::Left, FileCache::Warm]);
        table.remove = self.flag();
        if self.number(8) == 0 {
            table.files = Some(FilesChoice::Count(0));
            table.file_names = None;
            table.size = None;
            table.size_percent = self.some([30.0, 100.0].map(Percent));
            table.start_percent = self.some([0.0, 50.0].map(Percent));
            if table.size_percent.is_some() {
                table.start_align = self.some([4096, 512].map(Bytes));
            }
        }
    }

    /// What it asks for.
    fn requests(&mut self, table: &mut JobTable) {
        table.read = self.percent();
        table.trim = self.some([TrimSetting::Only, TrimSetting::BeforeWrites]);
        if table.trim.is_some() {
            table.read = None;
        }
        let is_between = table.read.is_some_and(|it| it.0 > 0.0 && it.0 < 100.0);
        table.mixed = self.flag().filter(|it| *it || !is_between);
        table.mixed = table.mixed.filter(|_| table.trim.is_none());
        table.random = self.percent();
        table.block_size = self.block_size();
        table.block_unit = self.some([512, 1024].map(Bytes));
        table.align = self.some([512, 4096].map(Bytes));
        table.distribution = self.distribution();
        if table.distribution.is_none() {
            table.byte_zones = self.zones();
        }
        table.run_length = self.some([1, 4]);
        table.run_place = self.some([RunDirection::Onward, RunDirection::Same]);
        match self.number(6) {
            0 => table.skip = self.bytes(),
            1 => table.back = self.bytes(),
            _ => {}
        }
        table.file_order = self.some([
            FileOrderSetting::RoundRobin,
            FileOrderSetting::Sequential,
            FileOrderSetting::Drawn,
        ]);
        if table.file_order == Some(FileOrderSetting::Drawn) {
            table.file_distribution =
                self.some([DistributionChoice::Uniform, DistributionChoice::Zipf(0.9)]);
        }
        table.requests_per_file = self.some([1, 8]);
        table.zone_size = self.bytes();
        if table.zone_size.is_some() {
            table.zone_used = self.bytes();
            table.zone_skip = self.bytes();
        }
        table.reads = self.direction();
        table.writes = self.direction();
        if table.byte_zones.is_empty() && self.number(3) == 0 {
            let laws = [
                DistributionChoice::Uniform,
                DistributionChoice::Zipf(1.2),
                DistributionChoice::Pareto(0.2),
            ];
            for own in [&mut table.reads, &mut table.writes] {
                let law = self
                    .some(laws.clone())
                    .unwrap_or(DistributionChoice::Zipf(0.5));
                own.get_or_insert_default().distribution = Some(law);
            }
        }
        table.fio_compat = self.flag();
    }

    /// When it is done, and how fast.
    fn pace(&mut self, table: &mut JobTable) {
        table.bytes = self.bytes();
        if table.bytes.is_none() {
            table.bytes_percent = self.some([0.0, 40.0, 100.0].map(Percent));
        }
        table.operations = self.some([1, 1000]);
        table.loops = self.some([0, 1, 3]);
        table.starts_over = self.flag();
        table.run_time = self.some([1_000_000, 60_000_000_000].map(Span));
        table.ramp_time = self.span();
        table.fsync_each = self.some([0, 4]);
        table.fdatasync_each = self.some([0, 4]);
        table.fsync_at_end = self.flag();
        table.sync_range_each = self.some([1, 8]);
        if table.sync_range_each.is_some() {
            use crate::model::SyncRangeFlag::{WaitAfter, WaitBefore, Write};
            let all = [vec![Write], vec![WaitBefore, Write, WaitAfter], vec![]];
            table.sync_range = self.some(all).map(OneOrMany::from);
        }
        table.durable = self.some([DurableWrites::Sync, DurableWrites::DataSync]);
        table.delay = self.some([1000, 10_000_000].map(Span));
        if table.delay.is_some() {
            table.burst = self.some([1, 4]);
            table.burst_time = self.span();
            table.burst_counts_issued = self.flag();
        }
        (table.rate, table.byte_rate) = self.rate();
        if table.rate.is_some() {
            table.arrivals = self.some([ArrivalKind::Uniform, ArrivalKind::Poisson]);
            table.delay_moves_rate = self.flag();
        }
    }

    /// What it is to keep to.
    fn goals(&mut self, table: &mut JobTable) {
        table.rate_min = self.some([1000.0, 1.0].map(Rate));
        if table.rate_min.is_some() {
            table.rate_min_window = self.some([500_000_000, 1_000_000_000].map(Span));
            table.rate_min_settle = self.span();
        }
        table.latency_max = self.some([1000, 20_000_000].map(Span));
        table.latency_target = self.some([1000, 20_000_000].map(Span));
        if table.latency_target.is_some() {
            table.latency_target_window = self.span();
            table.latency_target_percent = self.some([99.9, 100.0].map(Percent));
            table.latency_target_goes_on = self.flag();
        }
        let steady = UntilSteadyTable {
            measure: self.some([
                GoalMeasure::Iops,
                GoalMeasure::Bandwidth,
                GoalMeasure::Latency,
            ]),
            slope: self.flag(),
            percent: self.some([0.5, 20.0].map(Percent)),
            window: Span(60_000_000_000),
            ramp: self.span(),
            interval: self.some([1_000_000_000, 500_000_000].map(Span)),
            group: self.some([0, 3]),
            ..UntilSteadyTable::default()
        };
        table.until_steady = self.some([steady]);
        table.flow_weight = self.some([1, 1000]);
        if table.flow_weight.is_some() {
            table.flow_group = self.some([0, 7]);
            table.flow_pause = self.span();
        }
        table.ends_others_on_error = self.flag();
    }

    fn table(&mut self) -> JobTable {
        let mut table = JobTable {
            name: self.some(["a", "b c", "läuft.1"]).map(str::to_owned),
            waits: self.flag(),
            ..JobTable::default()
        };
        self.worker(&mut table);
        self.places(&mut table);
        match self.number(8) {
            0 => {
                table.names = self.some([
                    MetadataWork::Create,
                    MetadataWork::Stat,
                    MetadataWork::Delete,
                    MetadataWork::Mkdir,
                    MetadataWork::StatDirectory,
                    MetadataWork::Rmdir,
                ]);
                table.nowait = table.nowait.filter(|_| table.names.is_none());
            }
            1 if table.engine == Some(EngineKind::Psync) => {
                self.requests(&mut table);
                table.space = self.some([SpaceWork::Allocate]);
                if table.space.is_some() {
                    let without_data = JobTable {
                        nowait: None,
                        pattern: None,
                        pattern_interval: None,
                        read_back: None,
                        read_back_only: None,
                        read_back_each: None,
                        read_back_batch: None,
                        verify: None,
                        verify_with: None,
                        verify_interval: None,
                        verify_offset: None,
                        ..table
                    };
                    table = without_data;
                }
            }
            _ => self.requests(&mut table),
        }
        self.pace(&mut table);
        self.goals(&mut table);
        table
    }
}

fn workload(job: Vec<JobTable>) -> Workload {
    Workload {
        name: Some("x".to_owned()),
        targets: Some(OneOrMany::Many(vec!["/a".to_owned(), "/b".to_owned()])),
        job,
        ..Workload::default()
    }
}

/// The waves with what another program's file would stand for.
fn built(workload: &Workload) -> Vec<Workload> {
    let waves = waves(workload.clone()).into_iter();
    let built = waves.map(|wave| {
        let jobs = jobs(&wave).unwrap().unwrap();
        Workload {
            job: Vec::new(),
            jobs: Some(Box::new(ConvertedJobs {
                origin: FrontOrigin {
                    name: "fio".to_owned(),
                    arguments: Vec::new(),
                },
                ..jobs
            })),
            ..wave
        }
    });
    built.collect()
}

fn jobs_of(workloads: &[Workload]) -> Vec<ConvertedJobs> {
    let jobs = workloads.iter().map(|it| ConvertedJobs {
        origin: FrontOrigin::default(),
        ..jobs(it).unwrap().unwrap()
    });
    jobs.collect()
}

/// The text of workloads one after the other.
fn text(workloads: &[Workload]) -> String {
    let text = match workloads {
        [one] => to_toml(one),
        several => to_toml(&Workload {
            part: several.to_vec(),
            ..Workload::default()
        }),
    };
    text.unwrap_or_else(|error| panic!("{error}\n{workloads:?}"))
}

proptest! {
    #[test]
    fn tables_read_back_as_written(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        let mut choices = Choices(numbers.iter());
        let job = (0..=choices.number(4)).map(|_| choices.table()).collect();
        let workload = workload(job);
        let text = to_toml(&workload).unwrap();
        let read = read_toml("x.toml", &text);
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(&read, &workload, "{}", text);
    }

    #[test]
    fn jobs_survive_conversion_to_tables(numbers in prop::collection::vec(any::<u32>(), 0..400)) {
        let mut choices = Choices(numbers.iter());
        let job = (0..=choices.number(4)).map(|_| choices.table()).collect();
        let workload = workload(job);
        let built = built(&workload);
        let text = text(&built);
        let read = load("x.toml", &text);
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(jobs_of(&read), jobs_of(&built), "{}", text);
        let names = |all: &[Workload]| {
            all.iter().map(|it| (it.name.clone(), it.title.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&read), names(&built), "{}", text);
    }
}

#[test]
fn clones_and_waves_are_written_as_a_person_would_write_them() {
    let table = JobTable {
        name: Some("a".to_owned()),
        count: Some(4),
        start_step: Some(Bytes(1 << 20)),
        cpus: Some(CpuList(vec![0, 2])),
        target: Some(OneOrMany::Many(vec![1, 2])),
        file_names: Some("d{clone}/{file}".to_owned()),
        files: Some(FilesChoice::Count(2)),
        ..JobTable::default()
    };
    let waiting = JobTable {
        name: Some("b".to_owned()),
        waits: Some(true),
        files: Some(FilesChoice::Each(vec![JobFileChoice::Name(
            "d0/0".to_owned(),
        )])),
        ..JobTable::default()
    };
    let written = workload(vec![table, waiting]);
    let text = text(&built(&written));
    let read = read_toml("x.toml", &text).unwrap();
    assert_eq!(read.job, written.job, "{text}");
    assert_eq!(read.name, written.name);
}

#[test]
fn jobs_with_settings_that_have_no_key_are_named() {
    let mut with_log = built(&workload(vec![JobTable::default()]));
    let jobs = with_log[0].jobs.as_mut().unwrap();
    jobs.jobs[0].plan.recorded = Some(RecordedPlan::new("old.log".to_owned(), Vec::new().into()));
    let error = to_toml(&with_log[0]).unwrap_err().to_string();
    assert!(
        error.contains("the job `job-1` replays the log `old.log`"),
        "{error}"
    );
    let mut altered = built(&workload(vec![JobTable::default()]));
    altered[0].jobs.as_mut().unwrap().jobs[0].plan.ring.batch = 7;
    altered[0].jobs.as_mut().unwrap().jobs[0]
        .plan
        .ring
        .batch_fixed = false;
    let error = to_toml(&altered[0]).unwrap_err().to_string();
    assert!(
        error.contains("the job `job-1` has something for which there is no key"),
        "{error}"
    );
}

#[test]
fn a_job_that_waits_for_others_reads_back_with_their_name() {
    let named = |name: &str| JobTable {
        name: Some(name.to_owned()),
        ..JobTable::default()
    };
    let written = workload(vec![
        JobTable {
            count: Some(3),
            ..named("first")
        },
        JobTable {
            after: Some("first".to_owned()),
            count: Some(2),
            ..named("second")
        },
        named("beside"),
    ]);
    let built = built(&written);
    let after = &built[0].jobs.as_ref().unwrap().jobs[4].plan.after;
    let after = after.map(|it| (it.first_index, it.count));
    assert_eq!(after, Some((0, 3)));
    let text = text(&built);
    let read = read_toml("x.toml", &text).unwrap();
    let after: Vec<Option<&str>> = read.job.iter().map(|it| it.after.as_deref()).collect();
    assert_eq!(after, [None, Some("first"), None], "{text}");
    let alone = workload(vec![JobTable {
        after: Some("first".to_owned()),
        ..named("second")
    }]);
    let error = jobs(&alone).unwrap_err();
    assert!(error.message.contains("there is no job `first` above it"));
}

/// As many clones as fio takes are one table, however many workers other workloads have; before,
/// each of them was compared with all others.
#[test]
fn thousands_of_clones_are_one_table() {
    let written = workload(vec![JobTable {
        name: Some("j".to_owned()),
        count: Some(4096),
        ..JobTable::default()
    }]);
    let built = built(&written);
    let text = text(&built);
    assert_eq!(text.matches("[[job]]").count(), 1, "{text}");
    assert_eq!(read_toml("x.toml", &text).unwrap().job[0].count, Some(4096));
}

/// Of starts that are squares, two have a step in common and three have none.
#[test]
fn similar_jobs_that_no_single_table_describes_become_many_tables() {
    let job = |index: u64| JobTable {
        name: Some("j".to_owned()),
        files: Some(FilesChoice::Each(vec![JobFileChoice::Name("f".to_owned())])),
        start: Some(Bytes(index * index * 4096)),
        ..JobTable::default()
    };
    let built = built(&workload((1..=1000).map(job).collect()));
    let read = read_toml("x.toml", &text(&built)).unwrap();
    assert!(read.job.len() >= 500, "{}", read.job.len());
    let jobs = jobs(&read).unwrap().unwrap().jobs;
    let starts: Vec<u64> = jobs.iter().map(|it| it.plan.files[0].start_bytes).collect();
    let squares: Vec<u64> = (1..=1000).map(|index| index * index * 4096).collect();
    assert_eq!(starts, squares);
}

#[test]
fn clones_of_later_waves_have_new_seeds() {
    let read = read_toml("w.toml", "workers = 4\n[[job]]\n[[job]]\nwaits = true\n").unwrap();
    let split = waves(read);
    let seeds = |wave: &Workload| {
        let jobs = jobs(wave).unwrap().unwrap().jobs.into_iter();
        let mut seeds: Vec<u64> = jobs.map(|it| it.seed).collect();
        seeds.sort_unstable();
        seeds
    };
    let all: Vec<_> = split.iter().map(seeds).collect();
    assert_eq!(all, [[1, 2, 3, 4], [5, 6, 7, 8]]);
    // Written as one workload again, the second job needs no seed.
    let combine_waves = super::combine_waves(&split).unwrap();
    assert_eq!(combine_waves.job[1].seed, None);
}

#[test]
fn errors_in_a_direction_point_to_its_line() {
    for (own, message) in [
        ("align = 0", "`align` is 0"),
        ("block_unit = 0", "`block_unit` is 0"),
        ("block_size = 0", "a request has at least 1 byte"),
        ("align = \"2GiB\"", "`align` is 2GiB, more than"),
        ("byte_rate = 0", "`byte_rate` is 0"),
        ("rate_min = 1.9", "`rate_min` is 1.9, not a whole number"),
        ("rate_min = 0.5", "`rate_min` is 0.5, not a whole number"),
        ("byte_rate_min = 0", "`byte_rate_min` is less than 1"),
        ("latency_max = 0", "`latency_max` is 0"),
        (
            "byte_zones = [{ access = 50, size = \"1m\" }]",
            "`access` of the zones adds up to 50 %",
        ),
        (
            "distribution = \"uniform\"\nbyte_zones = [{ access = 100, size = \"1m\" }]",
            "there are both a `distribution` and `byte_zones`",
        ),
    ] {
        for side in ["reads", "writes"] {
            let text = format!("[[job]]\nread = 50\n[job.{side}]\n{own}\n");
            let error = load("w.toml", &text).unwrap_err();
            assert!(error.message.contains(message), "{error}");
            assert!(error.line > Some(3), "{error}");
        }
        // Values of the job are placed there, whatever the directions have.
        let text = format!("[[job]]\nread = 50\n{own}\n[job.reads]\n[job.writes]\n");
        let error = load("w.toml", &text).unwrap_err();
        assert!((Some(3)..=Some(4)).contains(&error.line), "{error}");
    }
}

#[test]
fn trims_and_flags_of_requests_refuse_keys_that_they_exclude() {
    for (keys, message) in [
        (
            "trim = \"only\"\nread = 50",
            "there are both `trim` and a `read` of 50",
        ),
        (
            "trim = \"before-writes\"\nmixed = true",
            "there are both `trim` and `mixed`",
        ),
        (
            "trim = \"only\"\nnames = \"stat\"",
            "`trim` does not apply to `names`",
        ),
        (
            "nowait = true\nengine = \"mmap\"",
            "the engine `mmap` makes no calls that could fail",
        ),
        (
            "nowait = true\nnames = \"create\"",
            "`nowait` does not apply to work on `names`",
        ),
        (
            "space = \"allocate\"\nengine = \"io_uring\"",
            "only the engine `psync` makes the calls of `space`",
        ),
        (
            "space = \"allocate\"\nverify = true",
            "`verify` does not apply to `space`",
        ),
        (
            "space = \"allocate\"\nnames = \"stat\"",
            "`space` does not apply to `names`",
        ),
        (
            "space = \"truncate\"\nread = 50",
            "`space = \"truncate\"` has only writes",
        ),
    ] {
        let error = load("w.toml", &format!("[[job]]\n{keys}\n")).unwrap_err();
        assert!(error.message.contains(message), "{error}");
        assert!(error.help.is_some(), "{error}");
    }
    // Values for writes apply to trims.
    let text = "[[job]]\ntrim = \"only\"\nwrites = { block_size = \"64k\" }\n";
    let job = &jobs(&read_toml("w.toml", text).unwrap())
        .unwrap()
        .unwrap()
        .jobs[0];
    assert_eq!(job.plan.stream.mix, ReadWriteMix::Trim);
    assert_eq!(job.plan.stream.blocks.write.sizes.max_bytes(), 65_536);
    assert!(job.plan.writes());
}

#[test]
fn an_integer_minimum_rate_is_accepted() {
    let read = |rate: &str| {
        let text = format!("[[job]]\nrate_min = {rate}\n");
        jobs(&read_toml("w.toml", &text).unwrap()).unwrap().unwrap()
    };
    let floor = read("2").jobs[0].plan.goals.rate_floor;
    assert_eq!(floor.unwrap().least.read.unwrap().per_second, 2);
}

#[test]
fn a_rate_is_not_divided_among_threads() {
    for key in [
        "rate = \"1k/s\"",
        "byte_rate = \"1m\"",
        "reads = { rate = 5 }",
        "writes = { byte_rate = \"1m\" }",
    ] {
        let job = |engine: &str, depth: u32| {
            let text = format!("[[job]]\nengine = \"{engine}\"\niodepth = {depth}\n{key}\n");
            load("w.toml", &text)
        };
        for engine in ["psync", "mmap"] {
            assert!(job(engine, 1).is_ok(), "{engine}, {key}");
            let error = format!("{:?}", job(engine, 4).unwrap_err());
            assert!(
                error.contains("a rate needs one queue"),
                "{engine}, {key}: {error}"
            );
        }
        assert!(job("io_uring", 4).is_ok(), "{key}");
    }
}

#[test]
fn headers_cover_the_largest_interval_that_suits_all_blocks() {
    let check = |keys: &str| {
        let text = format!("[[job]]\nread = 0\nverify = true\n{keys}\n");
        jobs(&read_toml("w.toml", &text).unwrap())
            .unwrap()
            .unwrap()
            .jobs[0]
            .plan
            .check
    };
    let found = check("verify_with = \"md5\"\nblock_size = \"4k-64k\"").unwrap();
    assert_eq!(
        (found.kind, found.interval_bytes),
        (BlockCheckKind::Md5, 4096)
    );
    let found = check("verify_with = \"sha3-512\"\nverify_interval = 512\nverify_offset = 256");
    let found = found.unwrap();
    assert_eq!(
        (found.interval_bytes, found.header_offset_bytes),
        (512, 256)
    );
    assert_eq!(check("block_size = 512"), None);
}

#[test]
fn headers_and_patterns_that_cannot_work_are_refused() {
    for (keys, message) in [
        ("verify_with = \"md5\"", "`verify_with` needs `verify`"),
        (
            "verify_interval = 512",
            "`verify_interval` needs `verify_with`",
        ),
        (
            "pattern_interval = 512",
            "`pattern_interval` needs `pattern`",
        ),
        (
            "pattern = \"0\"",
            "`pattern` is not pairs of hexadecimal digits",
        ),
        (
            "verify = true\nverify_with = \"pattern\"",
            "`verify_with = \"pattern\"` needs a `pattern`",
        ),
        (
            "verify = true\npattern = \"00\"",
            "stamps would replace parts of the `pattern`",
        ),
        (
            "verify = true\nverify_with = \"md5\"\nverify_interval = 1000",
            "`verify_interval` is 1000B, which does not divide all block sizes",
        ),
        (
            "verify = true\nverify_with = \"md5\"\nverify_offset = 8",
            "overlaps its own place",
        ),
        (
            "verify = true\nverify_with = \"md5\"\nverify_interval = 32",
            "no room for data after its header",
        ),
        (
            "read_back_only = true",
            "`read_back_only` needs `read_back`",
        ),
    ] {
        let text = format!("[[job]]\nread = 0\n{keys}\n");
        let error = load("w.toml", &text).unwrap_err();
        assert!(error.message.contains(message), "{error}");
        assert!(error.line > Some(2), "{error}");
    }
}
