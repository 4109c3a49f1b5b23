//! Whole runs on real files, by system calls and through a ring.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::{Engine, FileEngineOptions, Fileset, PsyncFiles, UringFiles, Wait};

use super::*;
use crate::pool::{PoolNames, file_options, kept_file_options, name_rule};
use crate::{Content, FileStamp};

/// Two locations that go away with their contents.
struct TwoLocations(PathBuf);

impl TwoLocations {
    fn new() -> Self {
        use std::sync::atomic::AtomicU32;
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pgmeter-play-{}-{number}", std::process::id());
        let locations = Self(std::env::temp_dir().join(name));
        fs::create_dir(&locations.0).unwrap();
        for location in ["L0", "L1"] {
            fs::create_dir(locations.0.join(location)).unwrap();
        }
        locations
    }

    fn fileset(&self, settings: &FilePool) -> Arc<Fileset> {
        let open = |location: &PoolLocation| {
            let name = String::from_utf8_lossy(&location.directory).into_owned();
            fs::File::open(self.0.join(name)).unwrap().into()
        };
        let locations = settings.locations.iter().map(open).collect();
        Arc::new(Fileset::generated(locations, name_rule(settings, "")).unwrap())
    }

    /// Every file's name and content.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        self.collect(&self.0, &mut files);
        files
    }

    fn collect(&self, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.collect(&path, files);
            } else {
                let name = path.strip_prefix(&self.0).unwrap().to_str().unwrap();
                files.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
}

impl Drop for TwoLocations {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a phase to its end; every request must go well and every check succeed.
fn run(engine: &mut dyn Engine, play: &mut PoolRun, content: &mut dyn Content) {
    let slot_count = engine.slot_count();
    let mut flights: Vec<Option<Request>> = vec![None; slot_count as usize];
    let mut done = Vec::with_capacity(slot_count as usize);
    loop {
        for slot in 0..slot_count {
            if flights[slot as usize].is_some() {
                continue;
            }
            if let Step::Issue(request) = play.next(slot, 0) {
                if request.operation == Primitive::Write {
                    let buffer = engine.buffer(slot);
                    content.fill(&mut buffer[..request.length_bytes as usize], &request);
                }
                engine.push(request);
                flights[slot as usize] = Some(request);
            }
        }
        if flights.iter().all(Option::is_none) {
            return;
        }
        engine.reap(Wait::One { timeout_ns: 0 }, &mut done).unwrap();
        for completion in done.drain(..) {
            let request = flights[completion.slot as usize].take().unwrap();
            assert!(completion.result >= 0, "{request:?}: {completion:?}");
            if request.operation.moves_bytes() {
                let moved = completion.result as u32;
                assert_eq!(moved, play.expected_bytes(&request, 0), "{request:?}");
            }
            if request.operation == Primitive::Read {
                let data = &engine.buffer(completion.slot)[..completion.result as usize];
                content.check(data, &request).unwrap();
            }
            play.complete(completion, 0);
        }
    }
}

fn two_locations(subdirectories: u32, is_buffered: bool) -> FilePool {
    let all = with_directories(40, 400);
    FilePool {
        locations: all.locations[..2].to_vec(),
        subdirectories,
        is_buffered,
        ..all
    }
}

/// What the files of the original hold before the transactions.
fn original_files(settings: &FilePool) -> BTreeMap<String, Vec<u8>> {
    let names = PoolNames::new(settings);
    let (mut stream, text) = PoolStream::with_text(settings).unwrap();
    let (mut files, mut name) = (BTreeMap::new(), Vec::new());
    loop {
        match stream.next(OperationOutcome::Done).unwrap() {
            PoolStep::Create { file, size_bytes } => {
                names.file(file, &mut name);
                let name = String::from_utf8(name.clone()).unwrap();
                files.insert(name, text[..size_bytes as usize].to_vec());
            }
            PoolStep::Mark(PoolMark::Created) => return files,
            _ => {}
        }
    }
}

fn engine(
    is_ring: bool,
    locations: &TwoLocations,
    settings: &FilePool,
    slot_count: u32,
    options: FileEngineOptions,
) -> Option<Box<dyn Engine>> {
    let (fileset, bytes) = (
        locations.fileset(settings),
        PoolRun::buffer_bytes(settings, 4096),
    );
    if !is_ring {
        return Some(Box::new(
            PsyncFiles::new(fileset, slot_count, bytes, options).unwrap(),
        ));
    }
    match UringFiles::new(fileset, slot_count, bytes, options) {
        Ok(engine) => Some(Box::new(engine)),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

#[test]
fn files_have_the_names_and_content_of_the_original() {
    for (subdirectories, is_buffered) in [(0, true), (3, true), (3, false)] {
        let settings = two_locations(subdirectories, is_buffered);
        let locations = TwoLocations::new();
        let (mut play, mut text) = PoolRun::new(&settings, &options(1)).unwrap();
        let open = file_options(&settings, false);
        let mut engine = engine(false, &locations, &settings, 1, open).unwrap();
        while play.begin_next_phase() != Some(PoolPart::Fill) {
            run(engine.as_mut(), &mut play, &mut text);
        }
        run(engine.as_mut(), &mut play, &mut text);
        assert!(locations.files() == original_files(&settings));
        while play.begin_next_phase().is_some() {
            run(engine.as_mut(), &mut play, &mut text);
        }
        assert_eq!(*play.totals(), expected(&settings));
        assert!(locations.files().is_empty());
    }
}

#[test]
fn small_files_are_read_whole_with_the_same_totals() {
    for (is_ring, slot_count) in [(false, 1), (true, 1), (true, 8)] {
        for is_buffered in [true, false] {
            let settings = FilePool {
                read_block_bytes: 4096,
                ..two_locations(3, is_buffered)
            };
            let locations = TwoLocations::new();
            let options = PlayOptions {
                has_file_offsets: true,
                reads_whole: true,
                ..options(slot_count)
            };
            let (mut play, mut text) = PoolRun::new(&settings, &options).unwrap();
            let open = file_options(&settings, true);
            let Some(mut engine) = engine(is_ring, &locations, &settings, slot_count, open) else {
                return;
            };
            while play.begin_next_phase().is_some() {
                run(engine.as_mut(), &mut play, &mut text);
            }
            assert_eq!(*play.totals(), expected(&settings));
            assert!(locations.files().is_empty());
        }
    }
}

#[test]
fn verified_content_is_correct_with_every_engine_and_depth() {
    for (is_ring, slot_count) in [(false, 1), (true, 1), (true, 8)] {
        let settings = two_locations(3, true);
        let locations = TwoLocations::new();
        let options = PlayOptions {
            has_file_offsets: true,
            fsync: Fsync::PerTransaction,
            ..options(slot_count)
        };
        let mut play = play(&settings, &options);
        let mut content = FileStamp::new(1);
        let open = file_options(&settings, true);
        let Some(mut engine) = engine(is_ring, &locations, &settings, slot_count, open) else {
            return;
        };
        while play.begin_next_phase().is_some() {
            run(engine.as_mut(), &mut play, &mut content);
        }
        assert_eq!(*play.totals(), expected(&settings));
        assert!(locations.files().is_empty());
    }
}

#[test]
fn files_that_stay_open_have_the_same_content_and_totals() {
    for (slot_count, kept_open_max) in [(1, 1000), (1, 7), (6, 1000), (6, 5)] {
        let settings = two_locations(3, false);
        let locations = TwoLocations::new();
        let options = PlayOptions {
            has_file_offsets: true,
            kept_open_max,
            fsync: Fsync::PerTransaction,
            ..options(slot_count)
        };
        let mut play = play(&settings, &options);
        let mut content = FileStamp::new(1);
        let open = kept_file_options(&settings, true);
        let (bytes, files_max) = (
            PoolRun::buffer_bytes(&settings, 4096),
            kept_open_max + slot_count,
        );
        while play.begin_next_phase().is_some() {
            let fileset = locations.fileset(&settings);
            let mut engine = PsyncFiles::with_open_files_max(
                fileset,
                slot_count,
                bytes,
                open.clone(),
                files_max,
            )
            .unwrap();
            run(&mut engine, &mut play, &mut content);
        }
        assert_eq!(*play.totals(), expected(&settings));
        assert!(locations.files().is_empty());
    }
}
