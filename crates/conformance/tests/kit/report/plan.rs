//! The user's options for a test: rules, the seed, repetition and transcripts.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, UdpSocket},
    num::NonZero,
    sync::Mutex,
    thread,
    time::Duration,
};

use conformance::{DEALER, Format, Launcher, NUGGETS_SERVER, Outcome, Plan, Run, Seed, Trouble, Values, Verdict};

use crate::support::{self, Console, plan, planned, value};

// Does not listen on its first start. Later, it starts one round on each connection and closes it.
fn late(values: Values<'_>, console: &Console) -> i32 {
    if console.number > 0 {
        let Some(port) = value(values, "port") else { return 1 };
        let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) else { return 1 };
        listener.set_nonblocking(true).unwrap();
        while !console.is_stopped() {
            if let Ok((mut stream, _)) = listener.accept() {
                let is_joined = stream.set_nonblocking(false).and_then(|()| stream.read(&mut [0; 100]));
                let _ = is_joined.and_then(|_| stream.write_all(b"BEGIN\0"));
            }
            thread::park_timeout(Duration::from_millis(2));
        }
    }
    0
}

#[test]
fn rule_that_fails_in_some_runs_fails_with_a_count() {
    // The program plays no game to its end. A program that takes part in no game keeps no rule if all rules are
    // selected.
    let only = Some(support::only(&DEALER, ["listens", "round-begins", "closes"]));
    let report = planned(&DEALER, late, &Plan { runs: NonZero::new(2).unwrap(), only, ..plan(1_000) });
    let listens = report.finding("listens").unwrap();
    assert_eq!((listens.verdict, listens.failed_in, listens.tested_in), (Verdict::Failed, 1, 2));
    assert_eq!((report.runs, report.outcome()), (2, Outcome::Failed));
    assert!(report.to_string().contains("failed in 1 of 2 runs"), "{report}");
    let unseen = report.finding("closes").unwrap();
    assert_eq!(
        (unseen.verdict, &*unseen.why),
        (Verdict::NotTested, "'a whole game' ended early because listens failed")
    );
    assert_eq!(report.finding("round-begins").map(|rule| (rule.tested_in, rule.failed_in)), Some((1, 0)));
}

#[test]
fn scenarios_for_other_rules_are_skipped() {
    let only = |ids: &[&'static str]| Plan { only: Some(support::only(&DEALER, ids.iter().copied())), ..plan(200) };
    let played = |ids: &[&'static str]| {
        let report = planned(&DEALER, closes, &only(ids));
        assert_eq!(report.rules.iter().map(|rule| &*rule.id).collect::<Vec<_>>(), ids);
        report.scenarios.into_iter().map(|scenario| scenario.name).collect::<Vec<_>>()
    };
    let seeded = played(&["seeded"]);
    assert!(
        seeded.contains(&"two dealers that start at the same time".to_owned())
            && !seeded.contains(&"many rounds".to_owned())
    );
    let odds = played(&["grammar", "wins"]);
    assert!(odds.contains(&"many rounds".to_owned()) && !odds.contains(&"a player joins twice".to_owned()), "{odds:?}");
}

// Takes a connection and closes it.
fn closes(values: Values<'_>, _: &Console) -> i32 {
    let Some(port) = value(values, "port") else { return 1 };
    let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) else { return 1 };
    let _ = listener.accept();
    0
}

static SEEDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

// Records its seed.
fn noting(values: Values<'_>, _: &Console) -> i32 {
    SEEDS.lock().unwrap().push(value(values, "seed").unwrap());
    1
}

#[test]
fn seed_determines_the_values_of_a_program() {
    let seeds = |seed: Option<u32>| {
        let mut plan = plan(500);
        let seed = seed.unwrap_or(2021);
        plan.options.seed = Seed::Number(seed);
        let report = planned(&NUGGETS_SERVER, noting, &plan);
        assert_eq!(report.seed, Some(seed));
        assert!(report.write(Format::Text).contains(&format!("seed {seed}")));
        std::mem::take(&mut *SEEDS.lock().unwrap())
    };
    assert_eq!(seeds(None), ["2021"]);
    let other = seeds(Some(7));
    assert!(other != ["2021"] && other == seeds(Some(7)) && other != seeds(Some(8)), "{other:?}");

    // Values that depend on a secret are not reported, since a known generator could reveal it.
    let folder = tempfile::tempdir().unwrap();
    let mut secret = Plan { transcripts: Some(folder.path().to_owned()), ..plan(500) };
    secret.options.seed = Seed::Secret([7; 32]);
    let report = planned(&NUGGETS_SERVER, noting, &secret);
    assert!(report.write(Format::Text).contains("seed (secret)"), "{report}");
    let transcripts = fs::read_dir(&folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let written: Vec<_> = Format::ALL.into_iter().map(|format| report.write(format)).chain(transcripts).collect();
    let given = std::mem::take(&mut *SEEDS.lock().unwrap());
    assert!(given != other && given.iter().all(|seed| seed.len() > 4), "{given:?}");
    for (text, seed) in written.iter().flat_map(|text| given.iter().map(move |seed| (text, seed))) {
        assert!(!text.contains(seed), "{seed}: {text}");
    }
}

// A nuggets server that sends one wrong message.
fn babbles(_: Values<'_>, console: &Console) -> i32 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    console.print(format!("port {}", socket.local_addr().unwrap().port()));
    let mut buffer = [0; 99];
    if let Ok((_, client)) = socket.recv_from(&mut buffer) {
        let _ = socket.send_to(b"HELLO \x1b[2J", client);
    }
    3
}

#[test]
fn transcript_contains_all_messages_and_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let transcripts = folder.path().join("new/folder");
    let runs = NonZero::new(2).unwrap();
    let only = Some(support::only(&NUGGETS_SERVER, ["message-form", "bad-map"]));
    planned(&NUGGETS_SERVER, babbles, &Plan { transcripts: Some(transcripts.clone()), only, runs, ..plan(500) });
    for run in ["run-1", "run-2"] {
        let text = fs::read_to_string(transcripts.join(run).join("joining.txt")).unwrap();
        for part in [
            "joining\n",
            "starts the program: map ",
            "program  prints 'port ",
            "tester   SPECTATE",
            "program  HELLO \\x1b[2J",
            "WRONG at byte 0: 48 'H'",
            "message-form was broken: ",
            "the program ended with exit status 3",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(fs::read_dir(transcripts.join(run)).unwrap().count() > 5);
    }
}

struct Faulty;

impl Launcher for Faulty {
    fn takes(&self, _: &str) -> bool {
        true
    }

    fn start(&self, _: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        panic!("a fault of the tester")
    }
}

#[test]
fn tester_panic_leaves_a_report() {
    let report = DEALER.run(&Faulty, &plan(100)).unwrap();
    let Some(Trouble::Tester(why)) = &report.trouble else { panic!("{report}") };
    assert_eq!(why, "in the scenario 'a whole game': internal error: a fault of the tester");
    assert_eq!((report.outcome(), report.rules.len()), (Outcome::Unfinished, DEALER.rules.len()));
}
