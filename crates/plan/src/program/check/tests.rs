use super::super::samples::{call, close, deliveries, fileset, open, phase, pick};
use super::super::*;
use super::*;

fn with(body: Vec<Act>) -> Program {
    let mut set = fileset("mail", 100);
    set.present_permille = 500;
    Program {
        labels: vec!["one".to_owned()],
        filesets: vec![set],
        ways: vec![OpenModePlan::default()],
        tokens: Vec::new(),
        parts: vec![ProgramPart::Phase(phase("serve", body))],
        ..Program::default()
    }
}

fn refusal(program: &Program) -> String {
    let flaw = program.check().unwrap_err();
    format!("{}; {}", flaw.message, flaw.help)
}

fn refused(body: Vec<Act>) -> String {
    refusal(&with(body))
}

fn first() -> Act {
    open(pick(0, FileFilter::Present))
}

fn write(bytes: u64) -> Act {
    Act::Call(Call {
        bytes: MovedBytes::Law(Law::fixed(bytes)),
        ..call(FileOperation::Write, CallObject::Handle)
    })
}

fn read(bytes: MovedBytes) -> Act {
    Act::Call(Call {
        bytes,
        ..call(FileOperation::Read, CallObject::Handle)
    })
}

#[test]
fn a_valid_program_passes_the_check() {
    assert_eq!(deliveries().check(), Ok(()));
    assert_eq!(with(vec![first(), write(1), close()]).check(), Ok(()));
}

#[test]
fn a_program_must_have_something_to_do() {
    let mut program = with(vec![first(), close()]);
    program.ways.clear();
    assert!(refusal(&program).starts_with("there is no way of opening a file"));
    let mut program = with(vec![first(), close()]);
    program.parts.clear();
    assert_eq!(
        refusal(&program),
        "there is no phase, so there is nothing to run; add a `[[phase]]`"
    );
    assert!(refused(Vec::new()).starts_with("the group `serve` does nothing"));
    let mut program = with(vec![first(), close()]);
    program.phases_mut()[0].groups.clear();
    assert!(refusal(&program).starts_with("the phase `serve` has no group and no workers"));
    let mut program = with(vec![first(), close()]);
    program.labels = vec![String::new(); 255];
    assert_eq!(
        refusal(&program),
        "there are 255 labels, more than 254; use fewer labels"
    );
}

#[test]
fn attributes_have_names_of_users_and_values_that_linux_takes() {
    let set = |bytes| {
        Act::Call(Call {
            bytes: MovedBytes::Law(Law::fixed(bytes)),
            ..Call::new(FileOperation::Setxattr, CallObject::Handle)
        })
    };
    let mut program = with(vec![first(), set(65536), close()]);
    assert!(refusal(&program).contains("`setxattr` names no attribute"));
    program.attributes = vec!["user.note".to_owned()];
    assert_eq!(program.check(), Ok(()));
    program.attributes = vec!["security.note".to_owned()];
    assert!(refusal(&program).starts_with("`security.note` is not `user.` and a name"));
    let mut program = with(vec![first(), set(65537), close()]);
    program.attributes = vec!["user.note".to_owned()];
    assert!(refusal(&program).contains("may have more than 64KiB"));
}

#[test]
fn rounds_have_phases_and_an_end() {
    let rounds = |until, parts| {
        let mut program = with(vec![first(), close()]);
        let phases = program.parts.clone();
        let parts = if parts { phases } else { Vec::new() };
        program.parts.push(ProgramPart::Rounds { until, parts });
        refusal(&program)
    };
    assert!(rounds(RoundsEnd::Full, false).starts_with("the rounds have no phase"));
    assert!(rounds(RoundsEnd::Times(0), true).starts_with("`times` is 0, so no round would run"));
    assert!(
        rounds(RoundsEnd::Spent { ns: 0 }, true).starts_with("`spent` is 0, so no round would run")
    );
    let mut program = with(vec![first(), close()]);
    for _ in 0..5 {
        program.parts = vec![ProgramPart::Rounds {
            until: RoundsEnd::Times(2),
            parts: program.parts,
        }];
    }
    assert!(refusal(&program).starts_with("rounds are nested more than 4 deep"));
}

#[test]
fn names_stay_below_the_target() {
    let path = |path: &str| {
        let mut program = with(vec![first(), close()]);
        program.filesets[0].path = path.to_owned();
        program.check().map_err(|flaw| flaw.message)
    };
    let refused = |text: &str, why: &str| {
        let message = format!("the path `{text}` of `mail` {why}");
        assert_eq!(path(text), Err(message), "{text}");
    };
    for text in ["/mnt", "..", "a/../b"] {
        refused(text, "leads out of the target");
    }
    for text in ["a//b", "./a", "a/"] {
        refused(text, "has a part without a name");
    }
    assert!(
        path("a\0b")
            .unwrap_err()
            .ends_with("has a control character")
    );
    assert!(
        path(&"x".repeat(256))
            .unwrap_err()
            .ends_with("is longer than Linux takes")
    );
    assert_eq!((path(""), path("a/b.d")), (Ok(()), Ok(())));
    let names = |before: &str, digits| {
        let mut program = with(vec![first(), close()]);
        program.filesets[0].names = FileNames::Number {
            before: before.to_owned(),
            digits,
            after: String::new(),
        };
        program.check().map_err(|flaw| flaw.message)
    };
    for (before, why) in [
        ("a/", "contain a slash, which separates directories"),
        ("a\0", "have a control character"),
    ] {
        assert_eq!(names(before, 0), Err(format!("names of `mail` {why}")));
    }
    assert_eq!(names(&"x".repeat(253), 0), Ok(()));
    for (length, digits) in [(254, 0), (250, 6)] {
        let result = names(&"x".repeat(length), digits);
        assert_eq!(
            result,
            Err("names of `mail` are longer than 255 bytes".to_owned())
        );
    }
}

#[test]
fn listed_names_must_be_plain_and_one_per_file() {
    let listed = |names: &[&str]| {
        let mut program = with(vec![first(), close()]);
        program.filesets[0].count = 2;
        program.filesets[0].names = FileNames::Listed(ListedFiles::new(
            names.iter().map(|it| Box::from(*it)).collect(),
            [1, 2].into(),
        ));
        program
    };
    assert_eq!(listed(&["a", "b"]).check(), Ok(()));
    let message = "names of `mail` are not 2 plain names; list each name, without a slash";
    for names in [
        &["a"][..],
        &["a", ".."],
        &["a", "b/c"],
        &["a", ""],
        &["a", "\0"],
    ] {
        assert_eq!(refusal(&listed(names)), message, "{names:?}");
    }
}

#[test]
fn filesets_are_distinct_and_in_range() {
    let changed = |change: &dyn Fn(&mut FilesetPlan)| {
        let mut program = with(vec![first(), close()]);
        change(&mut program.filesets[0]);
        let flaw = program.check().unwrap_err();
        assert_eq!(flaw.path, [ProgramStep::Fileset(0)]);
        flaw.message
    };
    assert_eq!(
        changed(&|set| set.count = 0),
        "the fileset `mail` has 0 names, not 1 to 100000000"
    );
    assert_eq!(
        changed(&|set| set.present_permille = 1001),
        "`present` of `mail` is more than 100 %"
    );
    assert_eq!(
        changed(&|set| set.tree = DirectoryTree::Turns { directories: 0 }),
        "`directories` of `mail` is 0, not from 1 to 65536"
    );
    assert_eq!(
        changed(&|set| set.size = Law::of(Shape::Uniform { low: 2, high: 1 })),
        "the size of `mail` cannot be drawn: the low end of a range is above its high end"
    );
    assert_eq!(
        changed(&|set| set.size = Law::of(Shape::Exponential { mean: 1.0 })),
        "files of `mail` may have any size, however large"
    );
    assert_eq!(
        changed(&|set| set.name.clear()),
        "a fileset has no name on one line"
    );
    let mut program = with(vec![first(), close()]);
    program.filesets.push(program.filesets[0].clone());
    assert!(refusal(&program).starts_with("there are two filesets `mail`"));
    program.filesets[1].name = "other".to_owned();
    assert!(
        refusal(&program)
            .starts_with("`mail` and `other` have the same names in the same directory")
    );
    let mut program = with(vec![first(), close()]);
    program.ways.push(OpenModePlan {
        name: "log".to_owned(),
        access: Access::Read,
        is_appending: true,
        ..OpenModePlan::default()
    });
    assert_eq!(
        refusal(&program),
        "the way `log` only reads, so `append` has no meaning; leave `append` out, or write \
         `access = \"write\"`"
    );
}

#[test]
fn ways_under_one_handle_must_agree_on_seeking() {
    let mut program = with(vec![first(), write(1), close()]);
    program.ways = vec![
        OpenModePlan::default(),
        OpenModePlan {
            name: "bytes".to_owned(),
            unit_bytes: 1,
            ..OpenModePlan::default()
        },
    ];
    let change =
        |program: &mut Program, index: usize, change: &dyn Fn(&mut Call)| match &mut program
            .phases_mut()[0]
            .groups[0]
            .body[index]
        {
            Act::Call(call) => change(call),
            other => panic!("{other:?}"),
        };
    change(&mut program, 0, &|call| call.way = 1);
    assert_eq!(program.check(), Ok(()));
    change(&mut program, 1, &|call| call.place = CallPosition::Same);
    assert!(refusal(&program).starts_with("`write` by the way `bytes` uses its own position"));
    change(&mut program, 1, &|call| call.place = CallPosition::Here);
    let group = &mut program.phases_mut()[0].groups[0];
    group.first = vec![first(), close()];
    assert!(refusal(&program).starts_with(
        "the ways `` and `bytes` under one handle seek and divide requests differently"
    ));
    program.ways[1].permissions = 0o1000;
    assert!(refusal(&program).starts_with("the permissions 1000 of the way `bytes` are above 777"));
}

#[test]
fn calls_on_an_open_file_need_one() {
    assert_eq!(
        refused(vec![close()]),
        "`close` works on a file, but none is open under its handle; \
         write `{ open = \"FILESET\" }` before it"
    );
    assert!(refused(vec![write(1)]).starts_with("`write` works on a file, but none is open"));
    let perhaps = vec![
        Act::Times(Law::of(Shape::Uniform { low: 0, high: 1 }), vec![first()]),
        close(),
    ];
    assert_eq!(
        refused(perhaps),
        "`open` opens a file under the handle of one that may be open; write `\"close\"` before \
         it, or give it its own `handle`"
    );
    let mixed = vec![Act::Mix(vec![
        (1, vec![first()]),
        (1, vec![Act::Think(Law::fixed(1))]),
    ])];
    let body = [mixed, vec![close()]].concat();
    assert!(refused(body).starts_with("`close` works on a file that may not be open"));
}

#[test]
fn an_open_handle_must_not_be_opened_again_on_any_path() {
    let again = "`open` opens a file under the handle of one that ";
    assert!(refused(vec![first(), first()]).starts_with(&format!("{again}is open")));
    // In the second round, the file of the first is still open.
    assert!(refused(vec![first()]).starts_with(&format!("{again}may be open")));
    let mut program = with(vec![first(), close()]);
    program.phases_mut()[0].groups[0].first = vec![first()];
    let flaw = program.check().unwrap_err();
    assert_eq!(
        flaw.path,
        [
            ProgramStep::Part(0),
            ProgramStep::Group(0),
            ProgramStep::Acts(ActList::Body),
            ProgramStep::Act(0)
        ]
    );
    // A file that the body closes need not be open at the body's end.
    let mut program = with(vec![close(), first()]);
    let group = &mut program.phases_mut()[0].groups[0];
    group.first = vec![first()];
    group.last = vec![close()];
    assert_eq!(program.check(), Ok(()));
}

#[test]
fn no_file_may_be_picked_under_the_handle_of_an_open_one() {
    let stat = Act::Call(call(
        FileOperation::Stat,
        CallObject::Name(pick(0, FileFilter::Present)),
    ));
    assert_eq!(
        refused(vec![first(), stat.clone(), close()]),
        "`stat` picks a file under the handle of one that is open; give it its own `handle`"
    );
    let Act::Call(stat) = stat else { panic!() };
    let other = Act::Call(Call { handle: 1, ..stat });
    assert_eq!(with(vec![first(), other, close()]).check(), Ok(()));
}

#[test]
fn a_handle_needs_a_picked_file_before_it_is_used() {
    let unlink = Act::Call(call(FileOperation::Unlink, CallObject::Same));
    assert_eq!(
        refused(vec![unlink]),
        "`unlink` names `@`, but no file was picked under that handle before; name a fileset, \
         from which a file is picked"
    );
    let copy = vec![first(), read(MovedBytes::SizeOf { handle: 1 }), close()];
    assert!(refused(copy).starts_with("`size of` names `@`"));
}

#[test]
fn the_access_of_a_way_must_permit_its_calls() {
    let mut program = with(vec![first(), write(1), close()]);
    program.ways[0] = OpenModePlan {
        name: "look".to_owned(),
        access: Access::Read,
        ..OpenModePlan::default()
    };
    assert_eq!(
        refusal(&program),
        "the file is opened in the way `look`, not to write; write `access = \"read-write\"` in \
         that `[[way]]`"
    );
    program.ways[0].access = Access::Write;
    assert_eq!(program.check(), Ok(()));
    let phase = &mut program.phases_mut()[0];
    phase.groups[0].body[1] = read(MovedBytes::Law(Law::fixed(1)));
    assert!(refusal(&program).contains("not to read"));
}

#[test]
fn second_names_belong_to_the_verbs_that_take_them() {
    let second = |operation, second| {
        Act::Call(Call {
            second,
            ..call(operation, CallObject::Name(pick(0, FileFilter::Present)))
        })
    };
    assert_eq!(
        refused(vec![second(FileOperation::Rename, None)]),
        "`rename` needs a second name; write the fileset of it as `to`"
    );
    let unlink = second(FileOperation::Unlink, Some(pick(0, FileFilter::Absent)));
    assert_eq!(
        refused(vec![unlink]),
        "`unlink` takes no second name; leave `to` out"
    );
    let link = second(FileOperation::Link, Some(pick(0, FileFilter::Present)));
    assert!(refused(vec![link]).starts_with("`link` needs a name of `mail` that does not exist"));
    let rename = second(FileOperation::Rename, Some(pick(0, FileFilter::Any)));
    assert_eq!(with(vec![rename]).check(), Ok(()));
}

#[test]
fn picked_files_must_be_able_to_exist() {
    let named = |operation, which| Act::Call(call(operation, CallObject::Name(pick(0, which))));
    assert_eq!(
        refused(vec![open(pick(0, FileFilter::Absent)), close()]),
        "`open` picks a file of `mail` that does not exist; leave `which` out, which is `present`"
    );
    assert!(
        refused(vec![named(FileOperation::Create, FileFilter::Present)])
            .starts_with("`create` picks a file of `mail` that exists already")
    );
    let stat = named(FileOperation::Stat, FileFilter::Absent);
    assert_eq!(with(vec![stat]).check(), Ok(()));
    let mut program = with(vec![first(), close()]);
    program.filesets[0].present_permille = 0;
    let flaw = program.check().unwrap_err();
    assert_eq!(flaw.message, "no file of `mail` ever exists");
    assert_eq!(flaw.path.len(), 4);
    let mut program = with(vec![
        named(FileOperation::Create, FileFilter::Absent),
        close(),
    ]);
    program.filesets[0].present_permille = 1000;
    assert!(refusal(&program).starts_with("all files of `mail` exist, so no name is free"));
    let mut program = with(vec![named(FileOperation::Mkdir, FileFilter::Absent)]);
    assert!(refusal(&program).starts_with("`mail` has files, so its names are not directories"));
    program.filesets[0].present_permille = 0;
    assert_eq!(program.check(), Ok(()));
}

#[test]
fn numbers_must_refer_to_existing_items() {
    let picked = |pick: Pick| refused(vec![open(pick), close()]);
    assert!(
        picked(pick(3, FileFilter::Present)).starts_with("there is no fileset with the number 3")
    );
    let index = Pick {
        order: PickOrder::Index(100),
        ..pick(0, FileFilter::Present)
    };
    assert!(
        picked(index).starts_with("`mail` has no file with the number 100, only 100 from 0 on")
    );
    let zipf = Pick {
        order: PickOrder::Drawn(crate::Distribution::Zipf { theta: 1.0 }),
        ..pick(0, FileFilter::Present)
    };
    assert!(picked(zipf).starts_with("the skew of `zipf` is 1"));
    let bad = |change: &dyn Fn(&mut Call)| {
        let mut call = call(
            FileOperation::Open,
            CallObject::Name(pick(0, FileFilter::Present)),
        );
        change(&mut call);
        refused(vec![Act::Call(call), close()])
    };
    assert!(bad(&|call| call.way = 1).starts_with("there is no way with the number 1"));
    assert!(bad(&|call| call.label = Some(1)).starts_with("there is no label with the number 1"));
    assert!(bad(&|call| call.handle = 200).starts_with("a group has more than 200 handles"));
    assert!(
        bad(&|call| call.on = CallObject::Handle).starts_with("`open` cannot be applied to this")
    );
}

#[test]
fn sizes_of_requests_are_limited() {
    let moved = |act: Act| refused(vec![first(), act, close()]);
    let endless = MovedBytes::Law(Law::of(Shape::Exponential { mean: 9.0 }));
    assert!(moved(read(endless)).starts_with("`read` may be of any size, however large"));
    assert_eq!(
        moved(write((64 << 20) + 1)),
        "one request of `write` may have more than 64MiB; write `piece = \"1MiB\"`"
    );
    let rest = call(FileOperation::Write, CallObject::Handle);
    let rest = Act::Call(Call {
        bytes: MovedBytes::Rest,
        ..rest
    });
    assert!(moved(rest).starts_with("`write` has no `rest`, which only `read` has"));
    let unaligned = Act::Call(Call {
        place: CallPosition::Random {
            distribution: crate::Distribution::Uniform,
            align_bytes: 0,
            is_nominal: false,
        },
        ..call(FileOperation::Read, CallObject::Handle)
    });
    assert!(moved(unaligned).starts_with("random positions are multiples of 0"));
    let mut program = with(vec![first(), read(MovedBytes::Size), close()]);
    program.filesets[0].size = Law::fixed(1 << 30);
    assert!(refusal(&program).starts_with("one request of `read` may have more than 64MiB"));
}

#[test]
fn acts_must_be_nested_validly() {
    let think = || vec![Act::Think(Law::fixed(1))];
    let mut deep = vec![first(), close()];
    for _ in 0..8 {
        deep = vec![Act::Times(Law::fixed(2), deep)];
    }
    assert!(refused(deep).starts_with("acts are nested more than 8 deep"));
    let nested = Act::Transaction(0, vec![Act::Transaction(0, vec![first(), close()])]);
    assert!(refused(vec![nested]).starts_with("a transaction is within another"));
    assert!(
        refused(vec![Act::Transaction(0, think())])
            .starts_with("the transaction makes no system call")
    );
    assert!(refused(vec![Act::Step(0, Vec::new())]).starts_with("there is nothing to do in it"));
    assert!(
        refused(vec![Act::Step(7, think())]).starts_with("there is no label with the number 7")
    );
    assert!(refused(vec![Act::Mix(Vec::new())]).starts_with("the `mix` has nothing"));
    let shares = |one, other| refused(vec![Act::Mix(vec![(one, think()), (other, think())])]);
    assert!(shares(1, 0).starts_with("a share of 0 is never done"));
    assert!(shares(u32::MAX, 1).starts_with("the shares add up to 4294967296"));
    let times = Act::Times(Law::of(Shape::Exponential { mean: 2.0 }), think());
    assert!(refused(vec![times]).starts_with("`times` may be more than 1000000000"));
    let burn = Act::Burn(Law::of(Shape::Table(Vec::new())));
    assert!(refused(vec![burn]).starts_with("the time cannot be drawn: no band"));
}

#[test]
fn cards_must_select_an_existing_choice() {
    let deal = |choice, choices: Vec<Vec<Act>>| {
        Act::Deal(Deck {
            cards: [Card { choice, number: 0 }].into(),
            is_shared: false,
            choices,
        })
    };
    let serve = || vec![first(), close()];
    assert_eq!(with(vec![deal(0, vec![serve()])]).check(), Ok(()));
    let message = "a card selects a choice that does not exist";
    assert!(refused(vec![deal(1, vec![serve()])]).starts_with(message));
    assert!(refused(vec![deal(0, Vec::new())]).starts_with(message));
    let empty = vec![serve(), Vec::new()];
    assert!(refused(vec![deal(0, empty)]).starts_with("there is nothing to do in it"));
}

#[test]
fn only_directories_of_numbered_files_can_be_walked() {
    let walk = |fileset, each| {
        Act::Walk(DirectoryWalk {
            fileset,
            handle: 0,
            each,
            after: Vec::new(),
        })
    };
    let stat = || Act::Call(call(FileOperation::Stat, CallObject::Same));
    let mut program = with(vec![walk(0, vec![stat()])]);
    assert!(refusal(&program).starts_with("nothing ends the phase `serve`"));
    program.phases_mut()[0].time_ns = Some(1);
    assert_eq!(program.check(), Ok(()));
    program.filesets[0].names = FileNames::Ways(NestedDirectories {
        before: String::new(),
        digits: 0,
        fan: 10,
        nesting: DirectoryNesting::Digits,
    });
    let message = "`walk` goes through the directories of files by number";
    assert!(refusal(&program).starts_with(message));
    assert!(refused(vec![walk(1, vec![stat()])]).starts_with(message));
    let inner = walk(0, vec![walk(0, vec![stat()])]);
    assert!(refused(vec![inner]).starts_with("a `walk` is within another"));
    let within = vec![Act::Transaction(0, vec![walk(0, vec![stat()])])];
    assert!(refused(within).starts_with("a `walk` is within a transaction"));
    assert!(refused(vec![walk(0, Vec::new())]).starts_with("there is nothing to do in it"));
    let left_open = vec![walk(
        0,
        vec![Act::Call(call(FileOperation::Open, CallObject::Same))],
    )];
    assert!(refused(left_open).contains("`open`"));
}

#[test]
fn every_phase_must_end() {
    let around = |filter| Pick {
        order: PickOrder::Around,
        ..pick(0, filter)
    };
    let endless = vec![open(around(FileFilter::Present)), close()];
    assert_eq!(
        refused(endless.clone()),
        "nothing ends the phase `serve`: `serve` never ends; write `run_time` for the \
         phase, or `rounds` for the group"
    );
    let mut program = with(endless);
    program.phases_mut()[0].time_ns = Some(1);
    assert_eq!(program.check(), Ok(()));
    program.phases_mut()[0].time_ns = Some(0);
    assert!(refusal(&program).starts_with("the phase `serve` lasts 0 s"));
    program.phases_mut()[0].time_ns = None;
    let other = phase("other", vec![first(), close()]).groups.remove(0);
    program.phases_mut()[0].groups.push(other);
    assert!(program.check().is_err());
    program.phases_mut()[0].groups[1].out = OnNoFile::EndPhase;
    assert_eq!(program.check(), Ok(()));
    // Each file that is made takes a name, unless one is freed as well.
    let create = Act::Call(call(
        FileOperation::Create,
        CallObject::Name(around(FileFilter::Absent)),
    ));
    let creates = vec![create, close()];
    assert_eq!(with(creates.clone()).check(), Ok(()));
    let unlink = Act::Call(call(
        FileOperation::Unlink,
        CallObject::Name(around(FileFilter::Present)),
    ));
    assert_eq!(with(vec![unlink.clone()]).check(), Ok(()));
    assert!(refused([creates, vec![unlink]].concat()).starts_with("nothing ends the phase"));
    // A round that skips one act still does the others.
    let mut program = with(vec![
        first(),
        close(),
        open(around(FileFilter::Present)),
        close(),
    ]);
    assert_eq!(program.check(), Ok(()));
    program.phases_mut()[0].groups[0].out = OnNoFile::Skip;
    assert!(refusal(&program).starts_with("nothing ends the phase"));
}

#[test]
fn quotas_must_be_reachable() {
    let quota = |what, count| {
        let mut program = with(vec![first(), close()]);
        let of = AmountScope::Each;
        program.phases_mut()[0].groups[0].quotas = vec![Quota { what, count, of }];
        refusal(&program)
    };
    assert!(quota(Measure::Rounds, 0).starts_with("the workers of `serve` stop before they begin"));
    assert!(quota(Measure::Bytes, 1).starts_with("the workers of `serve` move no bytes"));
    assert_eq!(
        quota(Measure::Steps(0), 1),
        "nothing in `body` is counted as `one`; write `transaction = \"one\"` or `step = \"one\"` \
         there"
    );
    assert!(quota(Measure::Steps(9), 1).starts_with("there is no label with the number 9"));
}

#[test]
fn the_number_of_workers_is_limited() {
    let workers = |count| {
        let mut program = with(vec![first(), close()]);
        program.phases_mut()[0].groups[0].workers = Some(count);
        refusal(&program)
    };
    assert!(workers(0).starts_with("the group `serve` has no worker"));
    assert!(workers(1025).starts_with("the groups of `serve` have 1025 workers"));
}

#[test]
fn concurrent_flows_must_not_share_a_file_opened_once() {
    let mut program = with(vec![write(1)]);
    let group = &mut program.phases_mut()[0].groups[0];
    group.first = vec![first()];
    group.quotas = vec![Quota {
        what: Measure::Rounds,
        count: 1,
        of: AmountScope::Each,
    }];
    assert_eq!((program.check(), program.check_depth(1)), (Ok(()), Ok(())));
    let flaw = program.check_depth(2).unwrap_err();
    assert_eq!(
        (flaw.message.as_str(), flaw.help.as_str()),
        (
            "`write` works on a file, but none is open under its handle, because `iodepth` is \
             above 1",
            "open files in `body`, or use `iodepth = 1` and more workers"
        )
    );
    assert_eq!(deliveries().check_depth(8), Ok(()));
}
