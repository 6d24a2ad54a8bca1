use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use testkit::{TempDir, process::Process};

use super::{Keyboard, PROGRAM, command, run, run_in, typed_in};

/// A game whose code is 7423.
const PUZZLE: &str = "--length 4 --repeats no --seed 7";

#[test]
fn a_whole_game_to_the_letter() {
    let finished = run("--seed 7", "4\nno\n1111\nlifeline#2\nLIFELINE#1\n1234\n7423\nno\n");
    assert_eq!(
        finished.stdout,
        "\
MASTERMIND. I have a code; you have ten turns. I like my odds.

How long shall the code be, from 4 to 8? \
May a digit (a colour) occur twice in the code? YES or NO: \
Guess 4 digits from 1 to 8.
One lifeline a game: lifeline#1 tells a digit of the code and takes 2 turns; lifeline#2 tells a digit and its position and \
takes 3 turns.
Turn #: 1
lifeline#1: AVAILABLE
lifeline#2: AVAILABLE
Code  : ****
Guess : Red: 0
White: 0
Turn #: 2
lifeline#1: AVAILABLE
lifeline#2: AVAILABLE
Code  : ****
Guess : Begging already? Have your lifeline#2, then, for 3 turns.
The code has a 7 at position 1.
Turn #: 5
lifeline#1: USED UP
lifeline#2: USED UP
Code  : 7***
Guess : No: lifeline#1 cannot be used: the one use of a lifeline in this game is spent.
Turn #: 5
lifeline#1: USED UP
lifeline#2: USED UP
Code  : 7***
Guess : Red: 0
White: 3
Turn #: 6
lifeline#1: USED UP
lifeline#2: USED UP
Code  : 7***
Guess : Red: 4
White: 0
So you found it. Congratulations, human: my circuits call it luck,
and my circuits would like a second opinion. Enjoy it while it lasts.
Seed: 7. The same puzzle again: cargo run -p mastermind-play -- --length 4 --repeats no --seed 7
Played through a pipe: this game is not counted.
Another game, to be taught better? YES or NO: As expected. Come back when you have grown.
"
    );
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_tenth_guess_loses_and_tells_the_code() {
    let finished = run(PUZZLE, "1234\n".repeat(10) + "NO\n");
    let end = finished.stdout.split("Turn #: 10\n").nth(1).unwrap();
    assert!(end.contains("Red: 0\nWhite: 3\nTen turns,"), "{end}");
    let line = end.lines().find(|line| line.contains("Code: ")).unwrap();
    assert!(line.contains("7423"), "{line}");
    assert!(!finished.stdout.contains("Turn #: 11"));
    // One notice for each lifeline, on the turn after which it cannot be afforded.
    for (lifeline, turn) in [("lifeline#2", 8), ("lifeline#1", 9)] {
        let notice = format!("Too late for {lifeline}");
        assert_eq!(finished.stdout.matches(&notice).count(), 1, "{notice}");
        let before = finished.stdout.split(&notice).next().unwrap();
        assert!(before.contains(&format!("Turn #: {}\n", turn - 1)) && !before.contains(&format!("Turn #: {turn}\n")));
    }
}

#[test]
fn lifelines_are_shown_as_they_would_be_granted() {
    for guesses in 0..10 {
        for (lifeline, last) in [("lifeline#1", 8), ("lifeline#2", 7)] {
            let finished = run(PUZZLE, "1234\n".repeat(guesses) + lifeline + "\n");
            let turn = guesses + 1;
            let block = finished.stdout.split(&format!("Turn #: {turn}\n")).nth(1).unwrap();
            let granted = turn <= last;
            assert_eq!(block.contains(&format!("{lifeline}: AVAILABLE\n")), granted, "{lifeline} on turn {turn}");
            assert_eq!(block.contains("Begging already?"), granted, "{lifeline} on turn {turn}");
            assert_eq!(block.contains("cannot be used now"), !granted, "{lifeline} on turn {turn}");
            let left = if turn == 10 { "you have 1 turn," } else { "turns," };
            assert_eq!(block.contains(left), !granted, "{block}");
        }
    }
}

#[test]
fn a_win_is_followed_by_no_notice_and_another_game_is_fresh() {
    let finished = run(PUZZLE, "1234\n".repeat(6) + "7423\nmaybe\nYes\n");
    let (first, second) = finished.stdout.split_once("Another game").unwrap();
    assert!(first.ends_with("this game is not counted.\n") && !first.contains("Too late"), "{first}");
    assert!(second.contains("'maybe' is no answer: type YES or NO."), "{second}");
    assert!(second.contains("Turn #: 1\nlifeline#1: AVAILABLE\nlifeline#2: AVAILABLE\nCode  : ****\n"), "{second}");
}

#[test]
fn every_game_of_a_session_has_a_seed_of_its_own() {
    let finished = run(PUZZLE, "1234\n".repeat(10) + "yes\n" + &"1234\n".repeat(10) + "no\n");
    let codes: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with("Code: ")).collect();
    assert!(codes.len() == 2 && codes[0] != codes[1], "{codes:?}");
    assert!(finished.stdout.contains("--repeats no --seed 8\n"));
    // And the second one can be had alone.
    let alone = run("--length 4 --repeats no --seed 8", "1234\n".repeat(10));
    assert!(alone.stdout.contains(codes[1]), "{}", alone.stdout);
}

#[test]
fn nonsense_is_answered_and_costs_nothing() {
    let long = "1".repeat(5_000);
    let junk: [&[u8]; 12] = [
        b"",
        b"abc",
        b"12",
        b"12345",
        b"1290",
        b"lifeline",
        b"lifeline#3",
        b"lifeline #1",
        "\u{661}\u{662}\u{663}\u{664}".as_bytes(),
        b"\xff\xfe12",
        long.as_bytes(),
        b"12\x0034",
    ];
    let mut input = Vec::new();
    for line in junk {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    let finished = run(PUZZLE, &input);
    assert_eq!(finished.stdout.matches("Turn #: 1\n").count(), junk.len() + 1, "{}", finished.stdout);
    let corrected =
        finished.stdout.lines().filter(|line| line.contains("lifeline#1 or lifeline#2.") && line.contains("4 digits"));
    assert_eq!(corrected.count(), junk.len(), "{}", finished.stdout);
    assert!(finished.stdout.lines().all(|line| line.len() < 200), "what was typed is shown short");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

#[test]
fn wrong_answers_to_the_questions_are_said_and_asked_again() {
    let lengths = ["", "abc", "3", "9", "-4", "+4", "4.5", "99999999999999999999999", "4 5", "\u{ff14}"];
    let input = lengths.join("\n") + "\n  5 \n\nperhaps\nyes please\nYeS\n";
    let finished = run("--seed 1", input);
    assert_eq!(finished.stdout.matches("no length: type a whole number from 4 to 8.").count(), lengths.len());
    assert_eq!(finished.stdout.matches("no answer: type YES or NO.").count(), 3);
    assert!(finished.stdout.contains("Guess 5 digits from 1 to 8.\n"), "{}", finished.stdout);
}

#[test]
fn a_letter_answers_a_question() {
    for (typed, repeats) in [("y", "yes"), ("Y", "yes"), ("n", "no"), ("N", "no")] {
        let finished = run("--seed 7 --length 4", format!("{typed}\n{}n\n", "1234\n".repeat(10)));
        assert!(finished.stdout.contains(&format!("--repeats {repeats} --seed 7\n")), "{}", finished.stdout);
        assert!(finished.stdout.ends_with("Come back when you have grown.\n"), "{}", finished.stdout);
    }
}

// Whoever lets a program play, or repeats what was typed, has not played.
#[test]
fn a_game_through_a_pipe_is_not_counted_and_keeps_no_puzzle_from_being_so() {
    let data = TempDir::new();
    for input in ["1234\n", "7423\nno\n"] {
        let piped = run_in(&data, PUZZLE, input);
        assert!(!piped.stdout.contains(SEEN) && !piped.stdout.contains("Statistics"), "{}", piped.stdout);
    }
    assert!(!data.path().join("arcade").exists());
    assert!(run_in(&data, "statistics", "").stdout.starts_with("Statistics: 0 played"));
}

#[test]
fn the_end_of_input_ends_quietly_at_every_prompt() {
    let whole = "4\nno\n1234\nlifeline#1\n7423\n";
    let ends = whole.match_indices('\n').map(|(at, _)| at + 1).chain([0, 1, 8]);
    for end in ends {
        let finished = run("--seed 7", &whole[..end]);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "after {end} bytes");
        assert!(finished.stdout.ends_with('\n'), "after {end} bytes: {:?}", finished.stdout);
    }
    // The last line needs no end.
    assert!(run(PUZZLE, "7423").stdout.contains("Congratulations"));
}

#[test]
fn a_closed_terminal_does_not_end_a_game_that_was_started_with_nohup() {
    let data = TempDir::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" --seed 7", PROGRAM]).env("XDG_DATA_HOME", data.path());
    let mut process = Process::start_with_stdin(&mut shell);
    process.wait_stdout("a prompt", |stdout| stdout.contains("from 4 to 8? ").then_some(()));
    process.hang_up();
    process.write("4\n");
    process.wait_stdout("the next prompt", |stdout| stdout.ends_with("YES or NO: ").then_some(()));
    process.interrupt();
    assert_eq!(process.wait_for_end().code, Some(0));
}

#[test]
fn prompts_are_there_before_anything_is_typed() {
    let data = TempDir::new();
    let mut process = Process::start_with_stdin(&mut command(&data, PUZZLE));
    process.wait_stdout("the first prompt", |stdout| stdout.ends_with("\nGuess : ").then_some(()));
    process.write("1234\n");
    process.wait_stdout("the second prompt", |stdout| {
        stdout
            .ends_with("Turn #: 2\nlifeline#1: AVAILABLE\nlifeline#2: AVAILABLE\nCode  : ****\nGuess : ")
            .then_some(())
    });
    process.interrupt();
    let finished = process.wait_for_end();
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

#[test]
fn options_skip_the_questions_and_fewer_colours_are_possible() {
    let finished = run("--length 5 --repeats yes --colours 3 --seed 2", "11114\n11123\n");
    assert!(finished.stdout.contains("Guess 5 digits from 1 to 3."), "{}", finished.stdout);
    assert!(
        finished.stdout.contains("'11114' is no guess: type 5 digits from 1 to 3, or lifeline#1 or lifeline#2."),
        "{}",
        finished.stdout
    );
    assert!(!finished.stdout.contains("How long") && !finished.stdout.contains("May a digit"));
    let asked = run("--colours 4 --seed 2", "6\nno\n4\nno\n");
    assert!(asked.stdout.contains("6 pegs of 4 colours have to repeat one"), "{}", asked.stdout);
    assert!(asked.stdout.contains("Guess 4 digits from 1 to 4."), "{}", asked.stdout);
}

#[test]
fn what_can_be_typed_names_only_lifelines_that_are_left() {
    let said = |typed: String| {
        let finished = run(PUZZLE, typed + "abc\n");
        let line = finished.stdout.lines().find_map(|line| line.split_once("'abc' is no guess: "));
        line.map(|(_, rest)| rest.to_owned())
    };
    let with = |rest: &str| Some(format!("type 4 digits from 1 to 8{rest}"));
    assert_eq!(said(String::new()), with(", or lifeline#1 or lifeline#2."));
    assert_eq!(said("1234\n".repeat(7)), with(", or lifeline#1."));
    assert_eq!(said("lifeline#1\n".to_owned()), with("."));
}

#[test]
fn a_hint_that_is_asked_for_again_in_its_turn_counts_once() {
    let finished = run(PUZZLE, "1234\nhint\nhint\nwrong\nhint\n7423\nno\n");
    assert_eq!(finished.stdout.matches("Hint  : I would guess").count(), 3, "{}", finished.stdout);
    let why = finished.stdout.lines().find(|line| line.contains(" guesses compared against every possible code)"));
    assert!(why.is_some_and(|line| line.starts_with("Hint  : (")), "{}", finished.stdout);
    assert!(finished.stdout.contains("\nPlayed with a hint.\n"), "{}", finished.stdout);
}

#[test]
fn hints_are_there_on_each_turn_and_mark_the_game() {
    let data = TempDir::new();
    let finished = typed_in(&data, &format!("{PUZZLE} --hint"), "1234\n7423\nno\n");
    let hints: Vec<&str> = finished.stdout.lines().filter(|line| line.starts_with("Hint  : ")).collect();
    assert_eq!(hints[0], "Hint  : 1680 codes are possible.");
    assert!(
        hints[1].contains("I would guess") && hints[1].contains("bits") && hints[1].contains("at worst"),
        "{hints:#?}"
    );
    assert!(finished.stdout.contains("\nPlayed with 2 hints.\n"), "{}", finished.stdout);
    assert!(finished.stdout.contains("Statistics: 0 played, 0 won, streak 0 (best 0); 1 more with hints."));
}

/// The lines to be pasted.
fn share(stdout: &str) -> &str {
    stdout.split("\nMastermind ").nth(1).unwrap().split("\n\n").next().unwrap()
}

const SEEN: &str = "You have seen this puzzle before: the game will not be counted";

#[test]
fn the_puzzle_of_the_day_counts_once_and_is_shared_without_its_digits() {
    let date = |stdout: &str| stdout.split("The puzzle of ").nth(1).unwrap()[..10].to_owned();
    // Eight pegs, which are all 1 on hardly any day.
    let daily = "--daily --length 8";
    // Until both are of the same day.
    let (played, lost, code, won) = loop {
        let played = TempDir::new();
        // A lost game shows the code; a share must not.
        let lost = typed_in(&played, daily, &"11111111\n".repeat(10));
        let code = lost.stdout.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap()[..8].to_owned();
        let won = typed_in(&played, daily, &format!("{code}\n"));
        if date(&lost.stdout) == date(&won.stdout) {
            break (played, lost, code, won);
        }
    };
    assert!(lost.stdout.contains("Statistics: 1 played") && !lost.stdout.contains(SEEN), "{}", lost.stdout);
    assert!(share(&lost.stdout).contains(": X/10\n") && !share(&lost.stdout).contains(&code), "{}", lost.stdout);
    assert!(
        share(&won.stdout).ends_with("8 pegs, 8 colours, with repeats: 1/10, played again\n●●●●●●●●"),
        "{}",
        won.stdout
    );
    let (before, after) = won.stdout.split_once("Guess : ").unwrap();
    let first = "Only your first try at today's puzzle counts; it begins with your first guess.";
    assert!(lost.stdout.contains(first) && !won.stdout.contains(first), "{}", won.stdout);
    assert!(before.contains(SEEN) && !after.contains(SEEN), "{}", won.stdout);
    assert!(after.contains("this game is not counted.\nStatistics: 1 played, 0 won"), "{}", won.stdout);
    assert!(!won.stdout.contains("Seed:") && !won.stdout.contains("Another game"), "{}", won.stdout);
    assert!(typed_in(&played, "--daily", "").stdout.contains("4 pegs, 8 colours, with repeats"));
    let other = typed_in(&played, "--daily --length 6 --repeats no", "");
    assert!(other.stdout.contains("6 pegs, 8 colours, no repeats") && !other.stdout.contains(SEEN), "{}", other.stdout);
}

#[test]
fn a_puzzle_that_was_begun_and_left_is_played_again() {
    let data = TempDir::new();
    typed_in(&data, PUZZLE, "lifeline#2\n");
    let finished = typed_in(&data, PUZZLE, "7423\nno\n");
    assert!(finished.stdout.contains(SEEN), "{}", finished.stdout);
    assert!(finished.stdout.contains("this game is not counted.\nStatistics: 0 played"), "{}", finished.stdout);
    // Nothing was told, so nothing is known.
    let other = "--length 4 --repeats no --seed 8";
    typed_in(&data, other, "lifeline#3\n12\n");
    assert!(!typed_in(&data, other, "").stdout.contains(SEEN));
    // Two programs at once: the second one's first answer is the second one.
    let mut games = [(); 2].map(|()| {
        let keyboard = Keyboard::new();
        let game = keyboard.start(data.path(), other);
        (keyboard, game)
    });
    for (_, game) in &games {
        game.wait_stdout("a prompt", |stdout| stdout.ends_with("Guess : ").then_some(()));
    }
    for ((keyboard, game), first) in games.iter_mut().zip([true, false]) {
        keyboard.types("1234\n");
        let told = game.wait_stdout("turn 2", |stdout| stdout.contains("Turn #: 2").then(|| stdout.to_owned()));
        assert_eq!(told.contains(SEEN), !first, "{told}");
    }
}

#[test]
fn statistics_are_kept_and_shown() {
    let data = TempDir::new();
    for seed in [7, 8] {
        let puzzle = format!("--length 4 --repeats no --seed {seed}");
        let lost = run(&puzzle, "1234\n".repeat(10));
        let code = &lost.stdout.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap()[..4];
        typed_in(&data, &puzzle, &format!("1234\n{code}\n"));
    }
    typed_in(&data, "--length 4 --repeats no --seed 9", &"1234\n".repeat(10));
    let shown = run_in(&data, "statistics", "");
    assert!(
        shown.stdout.starts_with("Statistics: 3 played, 2 won, streak 0 (best 2); 0 more with hints.\n"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains(&format!("\n   2 {} 2\n", "█".repeat(40))), "{}", shown.stdout);
    assert!(shown.stdout.ends_with(&format!("\nlost {} 1\n", "█".repeat(20))), "{}", shown.stdout);
}

#[test]
fn games_that_end_at_the_same_time_are_all_counted() {
    let data = TempDir::new();
    let mut games = [0, 1, 2, 3].map(|seed| {
        let keyboard = Keyboard::new();
        let game = keyboard.start(data.path(), &format!("--length 4 --repeats no --seed {seed}"));
        (keyboard, game)
    });
    for (_, game) in &games {
        game.wait_stdout("a prompt", |stdout| stdout.ends_with("Guess : ").then_some(()));
    }
    // None of them has this code.
    for (keyboard, _) in &mut games {
        keyboard.types(&"1111\n".repeat(10));
    }
    for (keyboard, game) in games {
        assert_eq!(keyboard.ends(game).code, Some(0));
    }
    assert!(run_in(&data, "statistics", "").stdout.starts_with("Statistics: 4 played, 0 won"));
}

#[test]
fn a_damaged_file_of_statistics_is_said_and_kept() {
    let data = TempDir::new();
    let folder = data.path().join("arcade");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mastermind-record"), b"\xffbroken").unwrap();
    let shown = run_in(&data, "statistics", "");
    assert_eq!(shown.code, Some(1));
    assert!(
        shown.stderr.contains("mastermind-record is damaged") && shown.stderr.lines().count() == 1,
        "{}",
        shown.stderr
    );
    let played = typed_in(&data, PUZZLE, "7423\n");
    assert!(
        played.stdout.contains("The statistics were damaged") && played.stdout.contains("1 played"),
        "{}",
        played.stdout
    );
    assert_eq!(fs::read(folder.join("mastermind-record.damaged-1")).unwrap(), b"\xffbroken");
    assert_eq!(run_in(&data, "statistics", "").code, Some(0));
}

#[test]
fn no_place_for_statistics_is_no_reason_not_to_play() {
    let data = TempDir::new();
    // A file where the directory should be.
    let file = data.file("file", "");
    let mut keyboard = Keyboard::new();
    let process = keyboard.start(Path::new(&file), PUZZLE);
    keyboard.types("7423\nno\n");
    let finished = keyboard.ends(process);
    assert!(
        finished.stdout.contains("This game is not counted: no statistics: ") && finished.code == Some(0),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_duel() {
    let finished = run("--duel --length 4 --repeats no", "1123\n1234\n1243\n1234\n8765\n8765\n");
    let said = &finished.stdout;
    assert!(said.contains("Player 1, type a code for player 2, who looks away: "), "{said}");
    assert!(said.contains("That is no code: type 4 digits from 1 to 8, none of them twice."), "{said}");
    assert!(said.ends_with("Player 1 needed 1, player 2 needed 2.\nPlayer 1 wins the duel.\n"), "{said}");
    let drawn = run("--duel", format!("5\nyes\n11111\n{0}22222\n{0}", "12345\n".repeat(10)));
    assert!(
        drawn.stdout.ends_with("Player 1 did not find it, player 2 did not find it.\nThe duel is a draw.\n"),
        "{}",
        drawn.stdout
    );
}

#[test]
fn what_a_lifeline_tells_in_a_duel_is_not_known_before() {
    let told: BTreeSet<String> = (0..20)
        .map(|_| {
            let finished = run("--duel --length 8 --repeats yes", "12345678\nlifeline#2\n");
            finished.stdout.lines().find(|line| line.starts_with("The code has a")).unwrap().to_owned()
        })
        .collect();
    // The same one of eight each time would be one chance in 8^19.
    assert!(told.len() > 1, "{told:?}");
}

#[test]
fn wrong_usage_is_said_in_the_words_of_the_user() {
    for (arguments, said) in [
        ("--length 9", "give a whole number from 4 to 8, as in 4"),
        ("--repeats perhaps", "give yes or no"),
        ("--colours 3 --repeats no", "4 pegs of 3 colours have to repeat one"),
        ("solve --length 4 --colours 6 --strategy luck --all", "give minimax, expected, entropy, parts or optimal"),
        ("--duel --daily", "in a duel people set the codes: leave out --daily, or leave out --duel"),
        ("--daily --seed 1", "--daily has the code of its day: leave out --seed"),
    ] {
        let finished = run(arguments, "");
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(finished.stderr.contains(said), "{arguments}: {}", finished.stderr);
    }
    let full = fs::File::options().write(true).open("/dev/full");
    for arguments in ["--seed 1", "statistics", "--duel"] {
        let Ok(full) = full.as_ref().map(|full| full.try_clone().unwrap()) else {
            break;
        };
        let refused = command(&TempDir::new(), arguments).stdin(Stdio::null()).stdout(full).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), said.lines().count()), (Some(1), 1), "{arguments}: {said}");
        assert!(said.starts_with("mastermind-play: standard output: "), "{arguments}: {said}");
    }
    let finished = run("--panel", "");
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("needs a terminal"), "{}", finished.stderr);
}
