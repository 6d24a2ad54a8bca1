use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use testkit::{
    TempDir, eventually_within,
    process::{Finished, Process},
};

use crate::programs::{self, workspace};

/// Without capabilities, and without the right to create namespaces.
#[cfg(target_os = "linux")]
const WITHOUT_NAMESPACES: [&str; 6] = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$0\" \"$@\"",
];

/// Three bots and two worse programs, in the expected order.
const EXPECTED: [&str; 5] = ["Hard", "Normal", "Easy", "Walker", "Crasher"];

fn league(folder: &Path, arguments: &str) -> Command {
    let mut command = programs::program("league");
    command.args(arguments.split(' ')).args(["--seed", "5", "--out"]).arg(folder);
    // Programs start slowly while other tests run.
    if !arguments.contains("--patience") {
        command.args(["--patience", "60"]);
    }
    command
}

fn script(name: &str, file: &str, arguments: &str) -> String {
    let path = workspace().join("tests/league").join(file);
    format!("{name}='{}' {arguments}", programs::python(&path).join("' '"))
}

fn program(name: &str, what: &str) -> String {
    script(name, "robots.py", &format!("{what} {{host}} {{port}} {{name}}"))
}

fn reference(name: &str, file: &str, arguments: &str) -> String {
    format!("{name}='{}' {arguments}", programs::reference(file).join("' '"))
}

fn five(folder: &Path, arguments: &str) -> Command {
    let mut command = league(folder, arguments);
    command.args(["--player", "Easy=bot:easy", "--player", "Hard=bot:hard", "--player", "Normal=bot:normal"]);
    command.args(["--player", &program("Crasher", "crash"), "--player", &program("Walker", "walk")]);
    command
}

fn lines(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("matches.jsonl")).unwrap_or_default();
    // The last line may be incomplete.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let csv = fs::read_to_string(folder.join("table.csv")).unwrap();
    csv.lines().skip(1).map(|row| row.split(',').nth(1).unwrap().to_owned()).collect()
}

// The seed and the seats of each match, by its number.
fn drawn(folder: &Path) -> BTreeMap<u64, (u64, Vec<String>)> {
    let seats = |line: &serde_json::Value| {
        let seats = line["seats"].as_array().unwrap().iter();
        seats.map(|seat| seat["player"].as_str().unwrap().to_owned()).collect()
    };
    let drawn =
        |line: &serde_json::Value| (line["match"].as_u64().unwrap(), (line["seed"].as_u64().unwrap(), seats(line)));
    lines(folder).iter().map(drawn).collect()
}

/// For matches in real time on a busy machine.
const MATCHES: Duration = Duration::from_secs(600);

// Kills only the league process, after `matches` matches.
fn kill_after(matches: usize, command: &mut Command, folder: &Path) {
    let log = folder.join("stderr");
    let mut child = command.stderr(fs::File::create(&log).unwrap()).stdout(Stdio::null()).spawn().unwrap();
    eventually_within(MATCHES, "the matches are not played", || {
        let ended = child.try_wait().unwrap();
        let said = || fs::read_to_string(&log).unwrap();
        assert!(ended.is_none() || lines(folder).len() >= matches, "the league ended with {ended:?}: {}", said());
        lines(folder).len() >= matches
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

fn reasons(folder: &Path, player: &str) -> Vec<String> {
    let lines = lines(folder);
    let seats = lines.iter().flat_map(|line| line["seats"].as_array().unwrap());
    let forfeits = seats.filter(|seat| seat["player"] == player).filter_map(|seat| seat["forfeit"].as_str());
    forfeits.map(str::to_owned).collect()
}

fn ended(finished: Finished, code: i32) -> Finished {
    finished.ended(code)
}

#[test]
fn killed_league_resumes_with_the_same_matches() {
    // Cards do not depend on time, so the results are the same.
    let play = |folder: &Path| {
        let mut command = league(folder, "blackjack --hands 30 --delay-ms 0 --rounds 4 --certainty 0.999");
        command.args(["--player", "Easy=bot:easy", "--player", "Hard=bot:hard"]);
        command.args(["--player", &reference("Python", "player.py", "{name} {host} {port}")]);
        command
    };
    let (whole, cut) = (TempDir::new(), TempDir::new());
    ended(Process::run(&mut play(whole.path())), 0);
    kill_after(5, &mut play(cut.path()), cut.path());
    let before = lines(cut.path()).len();
    let resumed = ended(Process::run(&mut play(cut.path())), 0);
    assert!(resumed.stderr.contains("Continuing the league after "), "{}", resumed.stderr);
    let told = |line: &&str| line.starts_with("match ");
    assert_eq!(resumed.stderr.lines().filter(told).count(), 12 - before);
    let results = |folder: &Path| {
        let mut lines = lines(folder);
        for line in &mut lines {
            line.as_object_mut().unwrap().retain(|key, _| key != "millis" && key != "journal");
            for seat in line["seats"].as_array_mut().unwrap() {
                let latency = seat.as_object_mut().unwrap().remove("latency").unwrap();
                assert!(latency["answers"].as_u64().unwrap() >= 10, "{latency}");
                assert!(
                    (1..=latency["longest_micros"].as_u64().unwrap())
                        .contains(&latency["mean_micros"].as_u64().unwrap())
                );
            }
        }
        lines
    };
    assert_eq!(results(whole.path()), results(cut.path()));
    assert_eq!(results(whole.path()).len(), 12);
    for file in ["table.csv", "table.json"] {
        let read = |folder: &TempDir| fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(read(&whole), read(&cut), "{file}");
    }
    let other = play(cut.path()).args(["--player", "More=bot:easy"]).output().unwrap();
    let said = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(1), "{said}");
    assert!(said.contains("contains another league") && said.contains("its players are Easy, Hard, Python"), "{said}");
}

#[test]
fn crashes_are_forfeits_with_their_reasons() {
    let folder = TempDir::new();
    let mut command = league(folder.path(), "robots --turns 300 --turn-ms 10 --rounds 1 --jobs 4");
    command.args(["--player", "Easy=bot:easy", "--player", &program("Crasher", "crash")]);
    command.args(["--player", &program("Twice", "twice"), "--player", "None=./no-such-program {server}"]);
    let finished = ended(Process::run(&mut command), 0);
    assert_eq!(lines(folder.path()).len(), 12);
    let say = |player: &str, words: &str, times: usize| {
        let reasons = reasons(folder.path(), player);
        assert!(reasons.iter().filter(|reason| reason.contains(words)).count() >= times, "{player}: {reasons:?}");
    };
    // The bot decides each match long before its last turn. Crasher must fail against it in either seat; its other
    // matches may end earlier.
    say("Crasher", "it ended with exit status 1: RuntimeError: I have had enough", 2);
    say("None", "cannot start './no-such-program'", 2);
    for player in ["Easy", "Twice"] {
        assert_eq!(reasons(folder.path(), player), [""; 0], "{player}");
    }
    // On a busy machine, the bot may miss turns and lose.
    assert_eq!(names(folder.path())[3], "None");
    assert!(finished.stderr.contains("I have had enough"), "{}", finished.stderr);
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    let lines = lines(folder.path());
    let seats = || lines.iter().flat_map(|line| line["seats"].as_array().unwrap());
    let crashed = |seat: &&serde_json::Value| seat["forfeit"].as_str().is_some_and(|why| why.contains("enough"));
    for seat in seats().filter(crashed) {
        let file = seat["stderr"].as_str().unwrap_or_else(|| panic!("{seat}"));
        assert!(page.contains(&format!("href=\"{file}\"")), "{file}");
        let errors = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(errors.starts_with("Traceback (") && errors.ends_with("RuntimeError: I have had enough\n"), "{errors}");
    }
    assert!(seats().filter(|seat| seat["player"] == "Easy").all(|seat| seat["stderr"].is_null()));
}

#[test]
fn program_may_reconnect_to_its_seat_once() {
    let folder = TempDir::new();
    let mut command = league(folder.path(), "robots --turns 100 --turn-ms 20 --rounds 1 --jobs 2");
    command.args(["--player", "Easy=bot:easy", "--player", &program("Once", "return")]);
    command.args(["--player", &program("Often", "often")]);
    ended(Process::run(&mut command), 0);
    assert_eq!(reasons(folder.path(), "Once"), [""; 0]);
    let often = reasons(folder.path(), "Often");
    assert!(often.len() == 4 && often.iter().all(|why| why.contains("my seat is gone")), "{often:?}");
    let lines = lines(folder.path());
    for player in ["Once", "Often"] {
        let seats = lines.iter().flat_map(|line| line["seats"].as_array().unwrap());
        let mut returns = 0;
        for seat in seats.filter(|seat| seat["player"] == player) {
            let errors = seat["stderr"].as_str().map(|file| fs::read_to_string(folder.path().join(file)).unwrap());
            let returned = errors.map_or(0, |errors| errors.matches("I am back").count());
            assert_eq!(seat["note"] == "it reconnected", returned == 1, "{seat}");
            returns += returned;
        }
        // A match may end before Once has read often enough, since Often loses its seat soon.
        let expected = if player == "Often" { 4..=4 } else { 1..=4 };
        assert!(expected.contains(&returns), "{player}: {returns}");
    }
}

#[test]
fn reconnected_program_is_sent_the_state_in_each_game() {
    for (game, options, first) in [
        ("mastermind", "", "first: ROOM"),
        ("blackjack", " --hands 30 --delay-ms 0", "first: BEGIN"),
        ("nuggets", " --limit 5", "first: OK "),
    ] {
        let folder = TempDir::new();
        let mut command = league(folder.path(), &format!("{game}{options} --rounds 1 --jobs 2"));
        let back = script("Back", "reconnect.py", &format!("{game} {{host}} {{port}} {{name}}"));
        command.args(["--player", "Bot=bot:easy", "--player", &back]);
        ended(Process::run(&mut command), 0);
        let lines = lines(folder.path());
        let seats = lines.iter().flat_map(|line| line["seats"].as_array().unwrap());
        for seat in seats.filter(|seat| seat["player"] == "Back") {
            let errors = seat["stderr"].as_str().map(|file| fs::read_to_string(folder.path().join(file)).unwrap());
            assert!(seat["forfeit"].is_null() && seat["score"].is_i64(), "{game}: {seat}, {errors:?}");
            assert_eq!(seat["note"], "it reconnected", "{game}: {seat}");
            assert!(errors.as_ref().is_some_and(|errors| errors.starts_with(first)), "{game}: {errors:?}");
        }
    }
}

#[test]
fn player_whose_opponent_does_not_join_does_not_forfeit() {
    let folder = TempDir::new();
    let mut command = league(folder.path(), "nuggets --rounds 1");
    command.args(["--player", "Easy=bot:easy", "--player", "None=./no-such-program {server}"]);
    ended(Process::run(&mut command), 0);
    assert_eq!(reasons(folder.path(), "Easy"), [""; 0]);
    assert_eq!(reasons(folder.path(), "None").len(), 2);
}

/// One player also joins at its opponents' ports. Returns how the programs were isolated. `before` is a prefix of the
/// command.
#[cfg(target_os = "linux")]
fn intruded(game: &str, before: &[&str], options: &str) -> String {
    let (folder, private) = (TempDir::new(), TempDir::new());
    let report = private.path().join("report");
    let words = format!("{game} {{host}} {{port}} {{name}} '{}' '{}'", folder.path().display(), report.display());
    let (length, victim) = match game {
        "nuggets" => ("--limit 1", reference("Victim", "nuggets_client.py", "--explore {host} {port} {name}")),
        _ => ("--turns 60 --turn-ms 20", program("Victim", "walk")),
    };
    let played = league(folder.path(), &format!("{game} {length} --rounds 1 --jobs 2{options}"));
    let mut command = match before {
        [] => played,
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(played.get_program()).args(played.get_args());
            command
        }
    };
    command.args([
        "--player",
        &script("Intruder", "intruder.py", &words),
        "--player",
        "Bot=bot:easy",
        "--player",
        &victim,
    ]);
    let finished = ended(Process::run(&mut command), 0);
    let (lines, report) = (lines(folder.path()), fs::read_to_string(report).unwrap_or_default());
    assert_eq!(lines.len(), 6, "{}", finished.stderr);
    for player in ["Victim", "Bot", "Intruder"] {
        assert_eq!(reasons(folder.path(), player), [""; 0], "{player}, with {before:?}{options}: {report}");
    }
    assert!(report.contains("tried") && !report.contains("joined"), "with {before:?}{options}: {report}");
    let protection = lines[0]["protection"].as_str().unwrap().to_owned();
    assert!(lines.iter().all(|line| line["protection"] == *protection));
    // Only on a shared network can the intruder find and reach other ports.
    let tried = lines.iter().any(|line| line.to_string().contains("it connected to the port of "));
    let is_shared = protection != "network";
    assert_eq!([report.contains("listed"), tried], [is_shared; 2], "with {before:?}{options}: {report} {lines:?}");
    let told = if is_shared { "Programs shared a network" } else { "Each program had a separate network" };
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(finished.stdout.contains(told) && page.contains(told), "{}{page}", finished.stdout);
    protection
}

#[test]
#[cfg(target_os = "linux")]
fn intruder_cannot_make_an_opponent_forfeit_or_lose_its_seat() {
    let can_confine = Command::new("unshare").args(["--user", "--map-root-user", "--net", "true"]).status();
    let can_confine = can_confine.is_ok_and(|status| status.success());
    // In parallel, since the programs mostly wait.
    thread::scope(|scope| {
        for game in ["nuggets", "robots"] {
            scope.spawn(move || assert_eq!(intruded(game, &[], " --network"), "sockets", "{game}"));
            // Without namespaces, this is also the default.
            let usual = if can_confine { "network" } else { "sockets" };
            scope.spawn(move || assert_eq!(intruded(game, &[], ""), usual, "{game}"));
            if can_confine {
                scope.spawn(move || assert_eq!(intruded(game, &WITHOUT_NAMESPACES, ""), "sockets", "{game}"));
            }
        }
    });
}

#[test]
fn hints_are_forbidden() {
    let folder = TempDir::new();
    let mut command = league(folder.path(), "mastermind --rounds 1");
    command.args(["--player", "Hard=bot:hard", "--player", &script("Asker", "hints.py", "{host} {port}")]);
    ended(Process::run(&mut command), 0);
    assert_eq!(reasons(folder.path(), "Asker"), ["it requested a hint"]);
    assert_eq!(names(folder.path()), ["Hard", "Asker"]);
}

#[test]
fn a_stopped_league_can_be_continued() {
    let folder = TempDir::new();
    let play = |rounds: &str| {
        let mut command = league(folder.path(), "robots --turns 20 --turn-ms 1 --certainty 0.999");
        command.args(["--player", "A=bot:easy", "--player", "B=bot:easy", "--rounds", rounds]);
        command
    };
    let endless = Process::start(&mut play("1000000"));
    endless.wait_stderr("third match", |said| said.contains("match 3,").then_some(()));
    endless.terminate();
    let stopped = ended(endless.wait(), 3);
    assert!(
        stopped.stdout.contains("The league was stopped; repeat the command to continue it."),
        "{}",
        stopped.stdout
    );
    let rounds = lines(folder.path()).len().div_ceil(2);
    ended(Process::run(&mut play(&rounds.to_string())), 0);
    assert_eq!(lines(folder.path()).len(), 2 * rounds);
    assert!(lines(folder.path()).iter().all(|line| line["seats"][0]["forfeit"].is_null()));
}

#[test]
fn silence_is_a_forfeit() {
    let folder = TempDir::new();
    let mut command = league(folder.path(), "mastermind --rounds 1 --patience 2 --jobs 2");
    command.args(["--player", &program("Silent", "silent"), "--player", &program("Mute", "silent")]);
    ended(Process::run(&mut command), 0);
    for player in ["Silent", "Mute"] {
        assert_eq!(reasons(folder.path(), player), ["it did not join within 2 s"]);
    }
}

#[test]
fn each_match_has_a_journal_and_the_page_links_to_it() {
    let folder = TempDir::new();
    let python = reference("Python", "mastermind_client.py", "{name} {host} {port}");
    let mut command = league(folder.path(), "mastermind --rounds 2 --certainty 0.999 --jobs 2");
    command.args(["--player", "Hard=bot:hard", "--player", "Easy=bot:easy", "--player", &python]);
    let finished = ended(Process::run(&mut command), 0);
    assert!(finished.stdout.contains("are equal after 2 matches each"), "{}", finished.stdout);
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    for line in lines(folder.path()) {
        let score = line["seats"][0]["score"].as_i64().unwrap();
        assert!((1..=11).contains(&score) && line["seats"][0]["forfeit"].is_null(), "{line}");
        let journal = line["journal"].as_str().unwrap();
        assert!(page.contains(&format!("href=\"{journal}\"")), "{journal}");
        let path = folder.path().join(journal);
        let source = journal_core::open(&path).unwrap();
        assert_eq!(source.head().unwrap().game, "mastermind", "{journal}");
    }
}

#[test]
fn nuggets_are_counted_when_the_time_is_up() {
    let folder = TempDir::new();
    let python = reference("Python", "nuggets_client.py", "--explore {host} {port} {name}");
    let mut command = league(folder.path(), "nuggets --limit 1 --rounds 1 --jobs 2");
    command.args(["--player", "Hard=bot:hard", "--player", &python]);
    ended(Process::run(&mut command), 0);
    for line in lines(folder.path()) {
        let scores: Vec<_> = line["seats"].as_array().unwrap().iter().map(|seat| seat["score"].as_i64()).collect();
        assert!(scores.iter().all(Option::is_some), "{line}");
        assert!(line["seats"].as_array().unwrap().iter().all(|seat| seat["forfeit"].is_null()), "{line}");
    }
}

#[test]
#[ignore = "plays some hundred matches in real time, for a minute or two; `just league` runs it"]
fn killed_and_resumed_league_ranks_players_by_strength() {
    let (folder, whole) = (TempDir::new(), TempDir::new());
    let arguments = "robots --turns 100 --turn-ms 10 --certainty 0.95 --jobs 2";
    // Takes longer than `Process` waits for a program.
    let play = |folder: &Path, rounds: u32| -> String {
        let played = five(folder, &format!("{arguments} --rounds {rounds}")).output().unwrap();
        assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
        String::from_utf8_lossy(&played.stdout).into_owned()
    };
    kill_after(17, &mut five(folder.path(), &format!("{arguments} --rounds 20")), folder.path());
    let told = play(folder.path(), 20);
    println!("{told}");
    assert_eq!(names(folder.path()), EXPECTED);
    assert!(told.contains("The order is certain."));
    play(whole.path(), 1);
    let (resumed, whole) = (drawn(folder.path()), drawn(whole.path()));
    assert!(whole.len() == 20 && whole.iter().all(|(number, drawn)| resumed.get(number) == Some(drawn)));
}
