//! How a configuration is planned.

use description::Overrides;
use plan::TargetKind;
use plan::facts::{SystemFacts, TargetFacts};
use planning::plan;

use crate::{FrontFile, load};

#[test]
fn iometer_workers_without_targets_stay_idle_and_are_reported() {
    let worker = |name: &str, targets: &str| {
        format!(
            "'Worker\n\t{name}\n'Worker type\n\tDISK\n'Assigned access specs\n\ta\n\
             'End assigned access specs\n{targets}'End worker\n"
        )
    };
    let target = "'Target assignments\n'Target\n\t/a\n'Target type\n\tDISK\n'End target\n\
                  'End target assignments\n";
    let none = "'Target assignments\n'End target assignments\n";
    let file = |workers: &[String]| {
        format!(
            "Version 1.1.0\n'ACCESS SPECIFICATIONS ====\n'Access specification name,default \
             assignment\n\ta,NONE\n'size,% of size,% reads,% random,delay,burst,align,reply\n\
             \t4096,100,100,0,0,1,0,0\n'End access specifications\n'MANAGER LIST ====\n\
             'Manager ID, manager name\n\t1,m\n'Manager network address\n\t\n{}'End manager\n\
             'End manager list\nVersion 1.1.0\n",
            workers.concat()
        )
    };
    let facts = SystemFacts {
        targets: vec![TargetFacts {
            exists: true,
            free_bytes: 50 << 30,
            total_bytes: 100 << 30,
            direct_alignment_bytes: 512,
            block_bytes: 512,
            device_id: Some(7),
            ..TargetFacts::placeholder("/a", TargetKind::Directory)
        }],
        ..SystemFacts::default()
    };
    let planned = |workers: &[String], targets: &[&str]| {
        let text = file(workers);
        let file = FrontFile::new("w.icf", text.as_bytes());
        let workloads = load(&file).unwrap_or_else(|error| panic!("{error}")).cells;
        let mut overrides = Overrides::new();
        overrides.set_targets(targets.iter().map(|it| (*it).to_owned()).collect());
        let planned = plan(&workloads, &overrides, &facts).unwrap();
        let names = planned.plan.cells[0].workers.iter();
        let names: Vec<String> = names.map(|worker| worker.name.clone()).collect();
        let messages = planned.warnings.into_iter().map(|it| it.message);
        let messages = messages.filter(|it| it.contains("no target"));
        (names, messages.collect::<Vec<_>>())
    };
    let some = [
        worker("one", target),
        worker("two", none),
        worker("three", ""),
    ];
    let wanted = "2 workers have no target, so they do nothing, as in Iometer: `two`, `three`";
    for targets in [&[] as &[&str], &["/a"]] {
        let (names, said) = planned(&some, targets);
        assert_eq!((names, said), (vec!["one".into()], vec![wanted.to_owned()]));
    }
    // A file that assigns no target at all says nothing about them.
    let (names, said) = planned(&some[1..], &["/a"]);
    assert_eq!((names.len(), said.len()), (2, 0));
}
