//! Passes on real files: what is made is there, and what is removed is gone.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Engine, FileOptions, Fileset, PsyncFiles, Wait};
use workload::classics::{Chain, FileSync, Order, PassPlan};

use super::super::{Names, Pass, tree_names};
use super::WELL;
use crate::{Generator, Step};

const BUFFER_BYTES: u32 = 16_384;

/// A directory of its own that goes away with its contents.
struct Place(PathBuf);

impl Place {
    fn new(name: &str, names: &Names) -> Self {
        let name = format!("pgmeter-pass-{name}-{}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        fs::create_dir(&place.0).unwrap();
        for directory in &names.directories {
            fs::create_dir(place.0.join(directory)).unwrap();
        }
        place
    }

    fn fileset(&self, names: &Names) -> Arc<Fileset> {
        let location = fs::File::open(&self.0).unwrap();
        Arc::new(Fileset::listed(location.into(), &names.files).unwrap())
    }

    fn sizes(&self, names: &Names) -> Vec<Option<u64>> {
        let size = |file: &PathBuf| fs::metadata(self.0.join(file)).ok().map(|it| it.len());
        names.files.iter().map(size).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a pass to its end; how many files were done.
fn run(fileset: &Arc<Fileset>, plan: &PassPlan) -> u64 {
    let options = FileOptions::default();
    let fileset = Arc::clone(fileset);
    let mut engine = PsyncFiles::new(fileset, plan.iodepth, BUFFER_BYTES, options).unwrap();
    let mut pass = Pass::new(plan);
    let (mut done_count, mut done) = (0, Vec::with_capacity(plan.iodepth as usize));
    let mut busy: Vec<u32> = (0..plan.iodepth).collect();
    while !busy.is_empty() {
        busy.retain(|slot| match pass.next(*slot, 0) {
            Step::Issue(request) => {
                engine.push(request);
                true
            }
            _ => false,
        });
        if busy.is_empty() {
            break;
        }
        let mut left = busy.len();
        while left > 0 {
            engine.reap(Wait::One { timeout_ns: 0 }, &mut done).unwrap();
            left -= done.len();
            for completion in done.drain(..) {
                done_count += u64::from(pass.complete(completion, 0) == WELL);
            }
        }
    }
    assert_eq!(pass.failed_count(), 0);
    done_count
}

fn plan(chain: Chain, order: Order, file_count: u32) -> PassPlan {
    PassPlan {
        chain,
        order,
        files: 0..file_count,
        iodepth: 3,
        seed: 5,
    }
}

#[test]
fn a_tree_is_filled_looked_at_and_emptied_at_random() {
    let names = tree_names(50, 4);
    let place = Place::new("tree", &names);
    let fileset = place.fileset(&names);
    let create = Chain::Create {
        size_bytes: 40_000,
        write_bytes: BUFFER_BYTES,
        is_empty_written: false,
        sync: FileSync::None,
        is_directory_made: false,
    };
    assert_eq!(run(&fileset, &plan(create, Order::Reverse, 50)), 50);
    assert_eq!(place.sizes(&names), [Some(40_000); 50]);
    assert_eq!(run(&fileset, &plan(Chain::Stat, Order::Forward, 50)), 50);
    assert_eq!(run(&fileset, &plan(Chain::Remove, Order::Random, 50)), 50);
    assert_eq!(place.sizes(&names), [None; 50]);
}
