use std::{collections::BTreeSet, fs, process::Stdio};

use testkit::{TempDir, process::Process, terminal::Terminal};

use super::{PUZZLE, command, path, run, said};

#[test]
fn a_whole_game_has_this_transcript() {
    let said = said("--seed 7", "4\nno\n1111\nlifeline#2\nLIFELINE#1\n1234\n7423\nno\n");
    assert_eq!(
        said,
        "\
MASTERMIND. I have a code; you have ten turns. I like my odds.

How long should the code be, from 4 to 8? \
May a digit (a colour) occur twice in the code? YES or NO: \
Guess 4 digits from 1 to 8.
One lifeline a game: lifeline#1 reveals a digit of the code and takes 2 turns; lifeline#2 reveals a digit and its \
position and takes 3 turns.
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
Another game, to learn your lesson? YES or NO: As expected. Come back when you have grown.
"
    );
}

#[test]
fn a_win_is_followed_by_no_notice_and_another_game_is_fresh() {
    let said = said(PUZZLE, "1234\n".repeat(6) + "7423\nmaybe\nY\n");
    let (first, second) = said.split_once("Another game").unwrap();
    assert!(first.ends_with("this game is not counted.\n") && !first.contains("Too late"), "{first}");
    assert!(second.contains("'maybe' is not an answer: type YES or NO."), "{second}");
    assert!(second.contains("Turn #: 1\nlifeline#1: AVAILABLE\nlifeline#2: AVAILABLE\nCode  : ****\n"), "{second}");
}

#[test]
fn options_skip_the_questions_and_fewer_colours_are_possible() {
    let given = said("--length 5 --repeats yes --colours 3 --seed 2", "11114\n11123\n");
    assert!(given.contains("Guess 5 digits from 1 to 3."), "{given}");
    assert!(
        given.contains("'11114' is not a guess: type 5 digits from 1 to 3, or lifeline#1 or lifeline#2."),
        "{given}"
    );
    assert!(!given.contains("How long") && !given.contains("May a digit"), "{given}");
    let asked = said("--colours 4 --seed 2", "6\nno\n4\nno\n");
    assert!(asked.contains("6 pegs of 4 colours must repeat one"), "{asked}");
    assert!(asked.contains("Guess 4 digits from 1 to 4."), "{asked}");
}

#[test]
fn the_advice_names_only_lifelines_that_are_left() {
    for (typed, rest) in [
        (String::new(), ", or lifeline#1 or lifeline#2."),
        ("1234\n".repeat(7), ", or lifeline#1."),
        ("lifeline#1\n".to_owned(), "."),
    ] {
        let said = said(PUZZLE, typed + "abc\n");
        assert!(said.contains(&format!("'abc' is not a guess: type 4 digits from 1 to 8{rest}\n")), "{said}");
    }
}

#[test]
fn a_hint_counts_once_per_turn() {
    let said = said(PUZZLE, "1234\nhint\nhint\nwrong\nhint\n7423\nno\n");
    assert_eq!(said.matches("Hint  : I would guess").count(), 3, "{said}");
    let why = said.lines().find(|line| line.contains(" guesses compared against every possible code)"));
    assert!(why.is_some_and(|line| line.starts_with("Hint  : (")), "{said}");
    assert!(said.contains("\nPlayed with a hint.\n"), "{said}");
}

#[test]
fn a_duel() {
    let won = said("--duel --length 4 --repeats no", "1123\n1234\n1243\n1234\n8765\n8765\n");
    assert!(won.contains("Player 1, type a code for player 2, who looks away: "), "{won}");
    assert!(won.contains("That is not a code: type 4 digits from 1 to 8, none of them twice."), "{won}");
    assert!(won.ends_with("Player 1 needed 1, player 2 needed 2.\nPlayer 1 wins the duel.\n"), "{won}");
    let drawn = said("--duel", format!("5\nyes\n11111\n{0}22222\n{0}", "12345\n".repeat(10)));
    let end = "Player 1 did not find it, player 2 did not find it.\nThe duel is a draw.\n";
    assert!(drawn.ends_with(end), "{drawn}");
}

#[test]
fn every_game_of_a_session_has_a_seed_of_its_own() {
    let two = said(PUZZLE, "1234\n".repeat(10) + "yes\n" + &"1234\n".repeat(10) + "no\n");
    let codes: Vec<&str> = two.lines().filter(|line| line.starts_with("Code: ")).collect();
    assert!(codes.len() == 2 && codes[0] != codes[1], "{codes:?}");
    assert!(two.contains("--repeats no --seed 8\n"));
    assert!(said("--length 4 --repeats no --seed 8", "1234\n".repeat(10)).contains(codes[1]));
}

#[test]
fn invalid_guesses_are_answered_and_cost_no_turn() {
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
    let said = said(PUZZLE, [&junk.join(&b'\n')[..], b"\n"].concat());
    assert_eq!(said.matches("Turn #: 1\n").count(), junk.len() + 1, "{said}");
    let corrected = said.lines().filter(|line| line.contains("lifeline#1 or lifeline#2.") && line.contains("4 digits"));
    assert_eq!(corrected.count(), junk.len(), "{said}");
    assert!(said.lines().all(|line| line.len() < 200), "what was typed is shown short");
}

#[test]
fn invalid_answers_are_named_and_the_question_is_repeated() {
    let lengths = ["", "abc", "3", "9", "-4", "+4", "4.5", "99999999999999999999999", "4 5", "\u{ff14}"];
    let said = said("--seed 1", lengths.join("\n") + "\n  5 \n\nperhaps\nyes please\nYeS\n");
    assert_eq!(said.matches("not a length: type a whole number from 4 to 8.").count(), lengths.len());
    assert_eq!(said.matches("not an answer: type YES or NO.").count(), 3);
    assert!(said.contains("Guess 5 digits from 1 to 8.\n"), "{said}");
}

#[test]
fn the_end_of_input_ends_quietly_at_every_prompt() {
    let whole = "4\nno\n1234\nlifeline#1\n7423\n";
    let ends = whole.match_indices('\n').map(|(at, _)| at + 1).chain([0, 1, 8]);
    for end in ends {
        let said = said("--seed 7", &whole[..end]);
        assert!(said.ends_with('\n'), "after {end} bytes: {said:?}");
    }
    // The last line needs no newline.
    assert!(said(PUZZLE, "7423").contains("Congratulations"));
}

#[test]
fn prompts_are_flushed_before_input_is_read() {
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
fn lifelines_of_a_duel_are_random() {
    let told = |_| {
        let said = said("--duel --length 8 --repeats yes", "12345678\nlifeline#2\n");
        said.lines().find(|line| line.starts_with("The code has a")).unwrap().to_owned()
    };
    // The probability that all 20 runs reveal the same of eight positions is 1 in 8^19.
    let told: BTreeSet<String> = (0..20).map(told).collect();
    assert!(told.len() > 1, "{told:?}");
}

#[test]
fn invalid_arguments_are_named() {
    for (arguments, said) in [
        ("--length 9", "expected a whole number from 4 to 8, as in 4"),
        ("--repeats perhaps", "expected yes or no"),
        ("--colours 4 --length 5 --repeats no", "5 pegs of 4 colours must repeat one"),
        ("--duel --daily", "in a duel, the players set the codes: omit --daily or --duel"),
        ("solve --length 4 --colours 6", "<--all|--code <CODE>|--interactive>"),
        ("solve --length 4 --colours 6 --all --code 1123", "cannot be used with"),
        ("solve --length 4 --colours 6 --code 1x11", "'x' at place 2 is no colour"),
        ("solve --length 4 --colours 6 --code 1187", "1187 cannot be the code"),
        ("solve --length 4 --colours 6 --strategy optimal --all --threads 2", "omit --threads"),
        ("solve --length 4 --colours 6 --strategy parts --all --seed 1", "--seed requires --strategy optimal"),
        ("solve --length 5 --colours 8 --strategy optimal --all --seed 1", "in a game of up to 4096 guesses"),
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

#[test]
fn a_report_has_the_distribution_the_method_and_what_is_proven() {
    let parts = said("solve --length 4 --colours 6 --strategy parts --all --threads 3", "");
    let lines: Vec<&str> = parts.lines().collect();
    assert_eq!((lines[1], lines[4]), ("   1 █ 1", &*format!("   4 {} 635", "█".repeat(40))));
    assert_eq!(lines[7], "4 pegs, 6 colours, with repeats; parts; 3 threads");
    let proven = said("solve --length 4 --colours 5 --strategy optimal --all", "");
    assert!(proven.contains("nodes searched, proven to be the least total\n"), "{proven}");
    let good = said("solve --length 5 --colours 6 --strategy optimal --all", "");
    assert!(good.contains("guesses limited to ") && good.contains("not proven"), "{good}");
}

// In a terminal, a progress bar shows that long work has begun.
#[test]
fn ctrl_c_ends_long_work_in_order() {
    for (length, strategy, threads, bar) in [
        ("5", "entropy", "2", " codes, "),
        ("8", "minimax", "1", " codes, "),
        ("8", "optimal", "1", " codes, "),
        ("4", "optimal", "1", "] first guess "),
    ] {
        let data = TempDir::new();
        let arguments =
            ["solve", "--length", length, "--colours", "8", "--strategy", strategy, "--threads", threads, "--all"];
        let environment = [("XDG_DATA_HOME", data.path().to_str().unwrap())];
        let mut terminal = Terminal::start_with(&path(), &arguments, &environment, 100, 10);
        terminal.wait_for(bar);
        terminal.press(b"\x03");
        terminal.wait_for("mastermind-play: stopped before");
        assert_eq!(terminal.end(), 1, "{length} {strategy}");
    }
}

#[test]
fn one_code_is_played_with_reasons() {
    let said = |repeats| said(&format!("solve --length 4 --colours 8 {repeats} --code 8536"), "");
    let text = said("--repeats no");
    assert_eq!(text, said("--no-repeats"), "as the option was called before");
    let [first, .., found, last] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(first.starts_with("Turn 1: 1680 codes are possible. I would guess ") && first.ends_with('.'), "{text}");
    assert!(first.contains(" guesses compared against every possible code) Guess "), "{text}");
    assert!(found.ends_with(" Guess 8536: red 4, white 0."), "{text}");
    assert!(last.starts_with("8536 is found in "), "{text}");
}
