use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, SystemTime},
};

use journal_core::{Arrival, Entry, Excerpt, Reader};
use netcore::Input;
use testkit::{
    TempDir,
    process::{Finished, Process},
    terminal::Terminal,
};

use crate::{error_of, journal, matches, path, stdout_of};

// Replaces a message, as if this version behaved differently there.
fn changed(file: &PathBuf, message: &'static [u8], other: &'static [u8]) -> (Vec<u8>, u64) {
    let bytes = fs::read(file).unwrap();
    let mut reader = Reader::new(&bytes[..], bytes.len() as u64).unwrap();
    let mut excerpt = Excerpt::new(reader.head());
    let (mut number, mut at) = (0, 0);
    while let Some(mut entry) = reader.next().unwrap() {
        if let Entry::Arrival(Arrival { input, .. }) = &mut entry {
            number += 1;
            if let Input::Message { message: bytes, .. } = input
                && at == 0
                && &bytes[..] == message
            {
                (*bytes, at) = (other.into(), number);
            }
        }
        excerpt.push(&entry);
    }
    (excerpt.into_bytes(), at)
}

#[test]
fn a_list_continues_after_a_damaged_journal() {
    let folder = TempDir::new();
    assert!(stdout_of(&["list", path(folder.path())]).contains("no journals"));
    matches::nuggets(folder.path(), 30, false);
    matches::robots(folder.path());
    matches::blackjack(folder.path());
    matches::mastermind(folder.path());
    folder.file("a.journal", "no journal at all");
    folder.file("b.journal", b"\x8AARC");
    let mut torn = fs::read(folder.path().join("nuggets.journal")).unwrap();
    torn.extend_from_slice(&[20, 1, 2]);
    folder.file("torn.journal", &torn);
    let mut damaged = fs::read(folder.path().join("robots.journal")).unwrap();
    let middle = damaged.len() - 200;
    damaged[middle] ^= 1;
    folder.file("wrong.journal", &damaged);
    let list = stdout_of(&["list", path(folder.path())]);
    let about = |name: &str| {
        let mut lines = list.lines().skip_while(|line| *line != name);
        lines.nth(1).unwrap_or_default().trim().to_owned()
    };
    assert!(about("a.journal").contains("it is not a journal"), "{list}");
    assert!(about("b.journal").contains("it contains nothing"), "{list}");
    let nuggets = about("nuggets.journal");
    assert!(nuggets.starts_with("nuggets, 2026-11-22 06:37:51 UTC, 0:14 and "), "{list}");
    assert!(nuggets.ends_with(", open; Ann, Bob_[2J"), "{list}");
    assert!(about("robots.journal").ends_with(", closed; Ann, Bob"), "{list}");
    assert!(about("blackjack.journal").ends_with(", closed; Ann, Bob"), "{list}");
    assert!(about("mastermind.journal").ends_with(", closed; Ann, Bob"), "{list}");
    assert!(about("torn.journal").contains("open, torn; Ann"), "{list}");
    assert!(about("wrong.journal").contains("damaged: the record at offset"), "{list}");
    assert!(error_of(&["list", path(&folder.path().join("none"))]).contains("cannot list '"));
}

#[test]
fn show_prints_players_and_results_and_no_secrets() {
    let folder = TempDir::new();
    let robots = stdout_of(&["show", path(&matches::robots(folder.path()))]);
    for line in [
        "game      robots, rules 2",
        "begun     2026-11-22 06:37:51 UTC by version 0.1.0",
        "listened  10.0.0.1:2000",
        "board     12 x 8",
        "     0:00  Ann joined as 0 from 10.0.0.7:4000",
        "     0:00  game 1 began with 2",
        "     0:05  game 1 ended",
        "     0:07  game 2 began with 2",
        "state     closed",
    ] {
        assert!(robots.lines().any(|shown| shown == line), "{line}");
    }
    let file = matches::blackjack(folder.path());
    let (blackjack, secrets) = (stdout_of(&["show", path(&file)]), stdout_of(&["show", path(&file), "--secrets"]));
    assert!(blackjack.contains("Ann joined as table 1, seat 1 from 10.0.0.7:4000"));
    assert!(blackjack.contains("  1. ") && blackjack.contains("match is over: it was completed"));
    assert!(secrets.contains("seed      [77,0,0,") && !blackjack.contains("77,0"));
    let file = matches::mastermind(folder.path());
    let (mastermind, secrets) = (stdout_of(&["show", path(&file)]), stdout_of(&["show", path(&file), "--secrets"]));
    for line in [
        "played    each player alone",
        "codes     4 pegs, with repeats",
        "     0:00  Ann joined as 1 from 10.0.0.7:4000",
    ] {
        assert!(mastermind.lines().any(|shown| shown == line), "{line}");
    }
    assert!(mastermind.contains("Bob left: quit") && mastermind.contains("game 2 ended"));
    assert!(secrets.contains("seed      77") && !mastermind.contains("77"));
    let nuggets = stdout_of(&["show", path(&matches::nuggets(folder.path(), 5, true))]);
    assert!(nuggets.contains("map       26 columns, 5 rows") && nuggets.contains("Bob_[2J joined as B"));
    assert!(nuggets.contains("Ann left: quit") && !nuggets.contains('\x1b'));
}

#[test]
fn a_replay_that_does_not_diverge_reports_its_speed() {
    let folder = TempDir::new();
    for file in [
        matches::nuggets(folder.path(), 600, true),
        matches::robots(folder.path()),
        matches::blackjack(folder.path()),
        matches::mastermind(folder.path()),
    ] {
        let verdict = stdout_of(&["verify", path(&file)]);
        assert!(verdict.contains("the replay has the same state at "), "{verdict}");
        // The other journals are too short for a reliable factor on a busy machine.
        assert!(verdict.contains("times as fast") || !file.ends_with("nuggets.journal"), "{verdict}");
    }
}

#[test]
fn divergence_and_damage_are_reported_with_their_position() {
    let folder = TempDir::new();
    let file = matches::nuggets(folder.path(), 40, true);
    let (other, wrong) = changed(&file, b"KEY l", b"KEY z");
    let other = folder.file("other.journal", other);
    let error = error_of(&["verify", &other]);
    assert!(error.contains("other.journal'") && error.contains("the states differ"), "{error}");
    let (_, at) = error.split_once("diverges from the match between arrivals 0 and ").unwrap();
    let at: u64 = at.split(':').next().unwrap().parse().unwrap();
    assert!(wrong < at, "{wrong} {at}");
    let shown = stdout_of(&["show", &other]);
    assert!(shown.contains("diverges from the match") && shown.contains("state     closed"), "{shown}");
    // A cut at that arrival diverges in the same way, and a later cut is impossible.
    let cut = folder.path().join("cut.journal");
    let said = stdout_of(&["cut", &other, "--at", &at.to_string(), "--game", "-o", path(&cut)]);
    let expected =
        "Like the whole journal, this one is not reproduced: the replay diverges from the match between arrivals";
    assert!(said.contains(expected) && said.contains(&format!(" and {at}: the states differ")), "{said}");
    assert!(error_of(&["verify", path(&cut)]).contains("diverges from the match"));
    let late = error_of(&["cut", &other, "--at", &(at + 1).to_string(), "-o", path(&folder.path().join("no"))]);
    assert!(late.contains(&format!("cut it there with --at {at}")), "{late}");
    let bytes = fs::read(&file).unwrap();
    let mut damaged = bytes.clone();
    let middle = damaged.len() - 300;
    damaged[middle] ^= 4;
    let damaged = folder.file("damaged.journal", damaged);
    let error = error_of(&["verify", &damaged]);
    assert!(error.contains("damaged.journal'") && error.contains("the record at offset"), "{error}");
    // With other rules, everything that needs no replay can be read.
    let mut head = Reader::new(&bytes[..], bytes.len() as u64).unwrap().head().clone();
    head.rules = 9;
    let foreign = folder.file("foreign.journal", Excerpt::new(&head).into_bytes());
    assert!(error_of(&["verify", &foreign]).contains("foreign.journal': it was written by version 0.1.0 with rules 9"));
    assert!(stdout_of(&["show", &foreign]).contains("with rules 9 of nuggets"));
    head.game = "chess\n".into();
    let foreign = folder.file("foreign.journal", Excerpt::new(&head).into_bytes());
    assert!(
        error_of(&["replay", &foreign])
            .contains("it is a journal of 'chess\\n', but this program supports only nuggets")
    );
    assert!(stdout_of(&["show", &foreign]).contains("game      chess\\n, rules 9"));
    assert!(stdout_of(&["export", &foreign, "--format", "jsonl"]).starts_with('{'));
    let text = folder.file("text.journal", "hello");
    assert!(error_of(&["verify", &text]).contains("it is not a journal"));
    assert!(error_of(&["verify", path(folder.path())]).contains("is a directory"));
    assert!(error_of(&["show", path(&folder.path().join("none"))]).contains("cannot open '"));
}

#[test]
fn a_piped_replay_prints_lines() {
    let folder = TempDir::new();
    let text = stdout_of(&["replay", path(&matches::nuggets(folder.path(), 12, true))]);
    assert!(text.lines().any(|line| line == "0:02 Ann: l" || line == "0:02 Ann: h" || line.starts_with("0:02 Ann: ")));
    assert!(text.contains("0:01 Bob_[2J joined as B") && text.contains(" Ann sent a malformed message"));
    let text = stdout_of(&["replay", "--text", path(&matches::robots(folder.path()))]);
    assert!(text.lines().any(|line| line == "0:00 turn 1: Ann placed a bomb"), "{text}");
    assert!(text.lines().any(|line| line == "0:01 turn 3: Bob placed a block"), "{text}");
    let text = stdout_of(&["replay", "--text", path(&matches::blackjack(folder.path()))]);
    assert!(text.contains(" Ann: HIT") && text.contains(" Bob: STAND"), "{text}");
    let text = stdout_of(&["replay", "--text", path(&matches::mastermind(folder.path()))]);
    assert!(text.contains(" Ann: GUESS 1122") && text.contains(" Bob: GUESS 7788"), "{text}");
    assert!(text.contains(" Ann: LIFELINE 1") && text.contains(" Bob: NEW"), "{text}");
    let error = error_of(&["replay", path(&folder.path().join("robots.journal")), "--seat", "Zoe"]);
    assert!(error.contains("no player had the seat 'Zoe'; the seats were 0 (Ann), 1 (Bob)"), "{error}");
}

#[test]
fn jsonl_export_has_the_text_and_the_bytes_of_each_arrival() {
    let folder = TempDir::new();
    let file = matches::nuggets(folder.path(), 3, true);
    let lines = stdout_of(&["export", path(&file), "--format", "jsonl"]);
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["kind"], &lines[0]["game"]), (&"match".into(), &"nuggets".into()));
    assert_eq!(lines[1]["kind"], "connected");
    assert_eq!((&lines[1]["peer"], &lines[1]["address"]), (&0.into(), &"10.0.0.7:4000".into()));
    assert_eq!((&lines[2]["text"], &lines[2]["bytes"]), (&"PLAY Ann".into(), &"504c415920416e6e".into()));
    assert_eq!((&lines[2]["arrival"], &lines[2]["time"]), (&2.into(), &0.0.into()));
    let malformed = lines.iter().find(|line| line["kind"] == "malformed").unwrap();
    assert!(malformed["why"].as_str().unwrap().starts_with("byte "), "{malformed}");
    assert_eq!(lines.last().unwrap()["kind"], "over");
}

#[test]
fn a_recording_is_a_valid_asciicast() {
    let folder = TempDir::new();
    for (file, seat) in [
        (matches::nuggets(folder.path(), 20, true), "A"),
        (matches::robots(folder.path()), "Bob"),
        (matches::blackjack(folder.path()), "1:2"),
        (matches::mastermind(folder.path()), "2"),
    ] {
        for seat in [&[][..], &["--seat", seat]] {
            let out = folder.path().join(format!("{}.cast", seat.len()));
            let _ = fs::remove_file(&out);
            let arguments =
                [&["export", path(&file), "--format", "cast", "--speed", "4", "-o", path(&out)], seat].concat();
            stdout_of(&arguments);
            let text = fs::read_to_string(&out).unwrap();
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
            let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            let head = lines.next().unwrap();
            assert_eq!((&head["version"], &head["width"], &head["height"]), (&2.into(), &80.into(), &24.into()));
            let mut last = 0.0;
            for line in lines {
                let time = line[0].as_f64().unwrap();
                assert!(time >= last && line[1] == "o" && !line[2].as_str().unwrap().is_empty());
                last = time;
            }
            assert!(last > 0.5, "{last}");
            assert!(error_of(&arguments).contains("already exists"));
        }
    }
}

#[test]
fn cut_from_the_match_or_from_the_game_ends_with_the_same_digest() {
    let folder = TempDir::new();
    let file = matches::robots(folder.path());
    let all = stdout_of(&["verify", path(&file)]);
    let arrivals: u64 = all.lines().nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    // Seven turns into the second game.
    let at = (arrivals - 10).to_string();
    let [whole, game] = ["whole.journal", "game.journal"].map(|name| folder.path().join(name));
    let said = stdout_of(&["cut", path(&file), "--at", &at, "-o", path(&whole)]);
    let said_of_game = stdout_of(&["cut", path(&file), "--at", &at, "--game", "-o", path(&game)]);
    let digest = |said: &str| said.split("digest as the match, ").nth(1).unwrap()[..16].to_owned();
    assert_eq!(digest(&said), digest(&said_of_game));
    assert!(said_of_game.contains("It begins with the state before game 2 began") && said.contains("addresses"));
    assert!(fs::metadata(&game).unwrap().len() < fs::metadata(&whole).unwrap().len());
    assert_eq!(fs::metadata(&game).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(stdout_of(&["verify", path(&game)]).contains("the same state"));
    let shown = stdout_of(&["replay", "--text", path(&game)]);
    assert!(shown.contains("Ann placed a bomb"), "names are known by their addresses: {shown}");
    assert!(stdout_of(&["show", path(&game)]).contains("part      of a longer match"));
    assert!(error_of(&["cut", path(&file), "--at", &at, "-o", path(&whole)]).contains("already exists"));
    let free = folder.path().join("free.journal");
    let error = error_of(&["cut", path(&file), "--at", "99999", "-o", path(&free)]);
    assert!(error.contains(&format!("it has {arrivals} arrivals")) && !free.exists(), "{error}");
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().starts_with('.')), "{names:?}");
    let error = error_of(&["cut", path(&game), "--at", "1", "-o", path(&free)]);
    assert!(error.contains("so --at cannot be 1"), "{error}");
}

#[test]
fn every_arrival_of_every_game_can_be_cut_at() {
    let folder = TempDir::new();
    let played = [
        matches::nuggets(folder.path(), 12, true),
        matches::blackjack(folder.path()),
        matches::mastermind(folder.path()),
    ];
    for file in played {
        for at in ["1", "2", "3", "5", "9", "14"] {
            let out = folder.path().join("cut.journal");
            stdout_of(&["cut", path(&file), "--at", at, "--game", "-o", path(&out)]);
            stdout_of(&["verify", path(&out)]);
            fs::remove_file(out).unwrap();
        }
    }
}

#[test]
fn journal_without_its_first_segment_is_read_as_one_match() {
    let folder = TempDir::new();
    let file = matches::long(folder.path());
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 3 && !file.exists(), "{files:?}");
    let list = stdout_of(&["list", path(folder.path())]);
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(list.contains("robots, without its beginning, 2026-11-22") && list.contains(", closed; "), "{list}");
    let size: u64 = files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(list.contains(&format!(" {} kB, ", size.div_ceil(1_000))) || list.contains(" kB, "), "{list}");
    let shown = stdout_of(&["show", path(files.iter().max().unwrap())]);
    let before: u64 = {
        let after = shown.lines().find_map(|line| line.strip_prefix("kept      from ")).unwrap();
        let (_, after) = after.split_once("after ").unwrap();
        after.split(' ').next().unwrap().replace(',', "").parse().unwrap()
    };
    assert!(before > 1_000 && shown.contains("Ann") && shown.contains("state     closed"), "{shown}");
    let verdict = stdout_of(&["verify", path(&file)]);
    assert!(verdict.contains("the replay has the same state at "), "{verdict}");
    assert!(stdout_of(&["replay", "--text", path(&file)]).contains("game "), "the actions of what is kept");
    let lines = stdout_of(&["export", path(&file), "--format", "jsonl"]);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["arrivals_before"], before);
    let mut numbers = vec![];
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        numbers.extend(line["arrival"].as_u64());
    }
    let end = before + numbers.len() as u64;
    assert!(numbers.iter().copied().eq(before + 1..=end), "none is missing and none is there twice");
    let arrivals = verdict.lines().nth(1).unwrap().split(' ').next().unwrap().replace(',', "");
    assert_eq!(arrivals, numbers.len().to_string());
    let cut = folder.path().join("cut.cut");
    for more in [&[][..], &["--game"]] {
        let at = (end - 5).to_string();
        let said = stdout_of(&[&["cut", path(&file), "--at", &at, "-o", path(&cut)], more].concat());
        assert!(said.contains("the same digest as the match"), "{said}");
        fs::remove_file(&cut).unwrap();
    }
    let early = error_of(&["cut", path(&file), "--at", "5", "-o", path(&cut)]);
    assert!(early.contains(&format!("it begins with arrival {}", before + 1)), "{early}");
}

// The last segment begins with a state whose mark counts one arrival too many.
#[test]
fn wrong_state_at_the_start_of_a_segment_is_found() {
    let folder = TempDir::new();
    let file = matches::long(folder.path());
    let mut files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let (one, two) = (&files[files.len() - 2], &files[files.len() - 1]);
    let number = |file: &PathBuf| fs::read(file).unwrap()[64..80].to_vec();
    assert_ne!(number(one), number(two));
    let opened = journal_core::open(&file).unwrap();
    let mut last = opened.last().unwrap();
    let mut head = last.head().clone();
    head.base.as_mut().unwrap().mark.arrivals += 1;
    let mut excerpt = Excerpt::new(&head);
    while let Some(entry) = last.next().unwrap() {
        excerpt.push(&entry);
    }
    // The excerpt gets the position of the original segment.
    let mut bytes = excerpt.into_bytes();
    bytes[64..80].copy_from_slice(&number(two));
    fs::write(two, bytes).unwrap();
    assert!(error_of(&["verify", path(&file)]).contains("the number of arrivals differs"));
}

#[test]
fn prune_removes_and_lists_the_oldest_journals() {
    let folder = TempDir::new();
    let robots: Vec<_> = (0..4).map(|_| matches::long(folder.path())).collect();
    let other = matches::mastermind(folder.path());
    folder.file("a.journal", "no journal at all");
    for (day, journal) in robots.iter().enumerate() {
        let written = SystemTime::now() - Duration::from_hours(24 * (10 - day as u64));
        for file in fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()) {
            let stem = journal.file_stem().unwrap().to_str().unwrap();
            if file.file_name().unwrap().to_str().unwrap().starts_with(&format!("{stem}.")) {
                fs::File::options().write(true).open(file).unwrap().set_modified(written).unwrap();
            }
        }
    }
    let count = || stdout_of(&["list", path(folder.path())]).lines().count() / 2;
    assert_eq!(count(), 6);
    let Finished { code, stderr, .. } = journal(&["prune", path(folder.path())]);
    assert_eq!((code, stderr.contains("--keep 30d,100,10G")), (Some(2), true), "{stderr}");
    let opened = journal_core::open(&robots[0]).unwrap();
    let busy = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
    let stem = format!("{}.", robots[0].file_stem().unwrap().to_str().unwrap());
    let busy = busy.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with(&stem));
    let number = |file: &PathBuf| {
        let name = file.file_stem().unwrap().to_str().unwrap();
        name.rsplit('.').next().unwrap().parse::<u32>().unwrap()
    };
    let held = fs::File::open(busy.max_by_key(number).unwrap()).unwrap();
    held.lock().unwrap();
    assert!(opened.is_in_use());
    let would = stdout_of(&["prune", path(folder.path()), "--keep", "1d", "--dry-run"]);
    assert_eq!(count(), 6);
    assert!(would.contains("skipped: a server is writing it"), "{would}");
    assert!(would.ends_with(": would be removed\n") && would.contains("\n2 journals, "), "{would}");
    assert!(would.contains(", last written 9 days ago\n") && would.contains(", last written 8 days ago\n"), "{would}");
    let did = stdout_of(&["prune", path(folder.path()), "--keep", "1d"]);
    assert_eq!(did, would.replace("would be removed", "removed"));
    assert_eq!(count(), 4);
    assert!(journal_core::open(&robots[3]).is_ok() && other.exists(), "the newest of each game");
    drop(held);
    // A process that another test forks inherits the lock until it executes its program.
    while opened.is_in_use() {
        thread::yield_now();
    }
    assert!(stdout_of(&["prune", path(folder.path()), "--keep", "2"]).contains("\n1 journal, "));
    assert!(journal_core::open(&robots[0]).is_err());
    assert!(error_of(&["prune", path(&folder.path().join("none")), "--keep", "2"]).contains("cannot list '"));
}

#[test]
fn prune_as_root_follows_no_link_of_another_user() {
    let (folder, home) = (TempDir::new(), TempDir::new());
    if fs::metadata(home.path()).unwrap().uid() != 0 {
        println!("skipped: it needs root, to make a link as another user");
        return;
    }
    let journals = [matches::long(folder.path()), matches::long(folder.path())];
    chown(home.path(), Some(61_234), None).unwrap();
    let link = home.path().join("games");
    symlink(folder.path(), &link).unwrap();
    let error_of = error_of(&["prune", path(&link), "--keep", "1"]);
    assert!(error_of.contains("user 61234 could replace"), "{error_of}");
    assert!(journals.iter().all(|journal| journal_core::open(journal).is_ok()));
}

const COMMANDS: [&str; 7] = ["list", "show", "verify", "replay", "export", "cut", "prune"];

#[test]
fn help_version_and_completions_work_and_wrong_usage_is_2() {
    assert!(stdout_of(&["--version"]).starts_with("journal "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout_of(&["--completions", shell]).contains("verify"), "{shell}");
    }
    for command in COMMANDS {
        let Finished { code, stdout, stderr } = journal(&[command]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains("For example: cargo run -p journal -- list journals"), "{stderr}");
    }
    let Finished { code, stderr, .. } = journal(&[]);
    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
    assert!(stderr.contains("list, show, verify, replay, export, cut or prune"));
}

#[test]
fn the_examples_of_the_help_work() {
    let folder = TempDir::new();
    let journals = folder.path().join("journals");
    fs::create_dir(&journals).unwrap();
    let nuggets = matches::nuggets(folder.path(), 1_600, true);
    fs::copy(&nuggets, journals.join("nuggets-2026-11-22T06-37-51Z.journal")).unwrap();
    fs::rename(nuggets, folder.path().join("match.journal")).unwrap();
    fs::rename(matches::blackjack(folder.path()), folder.path().join("dealer.journal")).unwrap();
    let mut run = 0;
    for help in [vec!["--help"]].into_iter().chain(COMMANDS.map(|command| vec![command, "--help"])) {
        for line in stdout_of(&help).lines().filter_map(|line| line.strip_prefix("  journal ")) {
            let words: Vec<&str> = line.split(" | ").next().unwrap().split(' ').collect();
            let mut command = Command::new(env!("CARGO_BIN_EXE_journal"));
            let finished = Process::run(command.args(&words).current_dir(folder.path()));
            assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{line}");
            run += 1;
        }
    }
    assert!(run >= 14, "{run}");
}

#[test]
fn keys_move_the_replay_and_the_terminal_is_restored() {
    let folder = TempDir::new();
    let file = matches::nuggets(folder.path(), 60, true);
    let mut terminal = Terminal::start(env!("CARGO_BIN_EXE_journal"), &["replay", path(&file)], 80, 24);
    terminal.wait_for("Spectator: 100000 nuggets unclaimed.");
    terminal.press(b" ");
    terminal.wait_for("|| 1x 0:0");
    terminal.press(b"g0:15\n");
    terminal.wait_for("|| 1x 0:15 / 0:26");
    terminal.press(b"\x1b[C");
    terminal.wait_for("arrival 40 of 69");
    terminal.resize(60, 12);
    terminal.wait_for("|| 1x 0:15 / 0:26 [#");
    terminal.press(b"\x1b[F");
    terminal.wait_for("[] 1x 0:26 / 0:26");
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}
