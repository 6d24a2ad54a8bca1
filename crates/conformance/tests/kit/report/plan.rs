//! The user's options for a test: rules, the seed, repetition and transcripts.

use std::{fs, num::NonZero};

use conformance::{DEALER, Format, Launcher, NUGGETS_SERVER, Outcome, Plan, Run, Seed, Trouble, Values, Verdict};

use crate::{
    references::python,
    support::{self, plan},
};

/// In milliseconds.
const PATIENCE: u64 = 20_000;

#[test]
fn rule_that_fails_in_some_runs_fails_with_a_count() {
    // The program finishes no game. With all rules selected, a program that takes part in no game keeps no rule.
    let only = Some(support::only(&DEALER, ["listens", "round-begins", "closes"]));
    let folder = tempfile::tempdir().unwrap();
    let code = format!(
        "
import os, socket, sys
try:
    os.mkdir('{}')
    sys.exit(0)
except FileExistsError:
    listener = socket.create_server(('', int(sys.argv[1])))
while True:
    player, _ = listener.accept()
    player.recv(100) and player.sendall(b'BEGIN\\0')
    player.close()
",
        folder.path().join("started").display()
    );
    let report = python(DEALER.kind, &code, &Plan { runs: NonZero::new(2).unwrap(), only, ..plan(PATIENCE) });
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
    let code = "import socket, sys; socket.create_server(('', int(sys.argv[1]))).accept()";
    let only =
        |ids: &[&'static str]| Plan { only: Some(support::only(&DEALER, ids.iter().copied())), ..plan(PATIENCE) };
    let played = |ids: &[&'static str]| {
        let report = python(DEALER.kind, code, &only(ids));
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

#[test]
fn seed_determines_the_values_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("seeds");
    let code = format!("import sys; open('{}', 'a').write(sys.argv[2] + '\\n'); sys.exit(1)", notes.display());
    let recorded = || {
        let seeds = fs::read_to_string(&notes).unwrap();
        fs::remove_file(&notes).unwrap();
        seeds.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let seeds = |seed: Option<u32>| {
        let mut plan = plan(PATIENCE);
        let seed = seed.unwrap_or(2021);
        plan.options.seed = Seed::Number(seed);
        let report = python(NUGGETS_SERVER.kind, &code, &plan);
        assert_eq!(report.seed, Some(seed));
        assert!(report.write(Format::Text).contains(&format!("seed {seed}")));
        recorded()
    };
    assert_eq!(seeds(None), ["2021"]);
    let other = seeds(Some(7));
    assert!(other != ["2021"] && other == seeds(Some(7)) && other != seeds(Some(8)), "{other:?}");

    // Values that depend on a secret are not reported: a known generator could reveal it.
    let transcripts = folder.path().join("transcripts");
    let mut secret = Plan { transcripts: Some(transcripts.clone()), ..plan(PATIENCE) };
    secret.options.seed = Seed::Secret([7; 32]);
    let report = python(NUGGETS_SERVER.kind, &code, &secret);
    assert!(report.write(Format::Text).contains("seed (secret)"), "{report}");
    let transcripts = fs::read_dir(&transcripts).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let written: Vec<_> = Format::ALL.into_iter().map(|format| report.write(format)).chain(transcripts).collect();
    let given = recorded();
    assert!(given != other && given.iter().all(|seed| seed.len() > 4), "{given:?}");
    for (text, seed) in written.iter().flat_map(|text| given.iter().map(move |seed| (text, seed))) {
        assert!(!text.contains(seed), "{seed}: {text}");
    }
}

const BABBLES: &str = "
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('', 0))
print('port', server.getsockname()[1], flush=True)
server.sendto(b'HELLO \\x1b[2J', server.recvfrom(99)[1])
sys.exit(3)
";

#[test]
fn transcript_contains_all_messages_and_the_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let transcripts = folder.path().join("new/folder");
    let runs = NonZero::new(2).unwrap();
    let only = Some(support::only(&NUGGETS_SERVER, ["message-form", "bad-map"]));
    python(NUGGETS_SERVER.kind, BABBLES, &Plan { transcripts: Some(transcripts.clone()), only, runs, ..plan(2_500) });
    for run in ["run-1", "run-2"] {
        let text = fs::read_to_string(transcripts.join(run).join("joining.txt")).unwrap();
        for part in [
            "joining\n",
            "starts the program: map ",
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
