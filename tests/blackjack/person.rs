use std::{
    io::{Read, Write},
    process::Command,
};

use testkit::{TempDir, process::Process, terminal::Terminal};

use super::{
    Dealer,
    player::{DEAL, ScriptedDealer, player},
};
use crate::programs::program;

fn screen(command: &Command, columns: u16, rows: u16) -> Terminal {
    let arguments: Vec<&str> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
    Terminal::start(command.get_program().to_str().unwrap(), &arguments, columns, rows)
}

fn at_a_terminal(dealer: &Dealer, columns: u16, rows: u16) -> Terminal {
    screen(&dealer.player(&["--human"]), columns, rows)
}

fn press(terminal: &mut Terminal, key: &[u8], shown: &str) {
    terminal.press(key);
    terminal.wait_for(shown);
}

fn wait_for_result(terminal: &Terminal) {
    terminal.wait_for("Game over");
    terminal.wait_for("Tab cards");
}

#[test]
fn a_person_plays_by_lines() {
    let dealer = Dealer::start("4 --delay-ms 0 --seed 17 --quiet");
    let mut person = Process::start_with_stdin(&mut dealer.player(&["--human"]));
    person.write("advice\nwhat?\nADVICE\nstand\ns\nS\n STAND \n");
    let finished = person.wait_for_end().ended(0);
    for said in [
        "Round 1: the dealer shows ",
        "hit, stand, advice or quit? You have ",
        "  stand  win ",
        "Best play stands. hit, stand, advice or quit?",
        "Type hit, stand, advice or quit.",
        "Stand was right.",
        "Round 4: ",
        "The dealer ends the game.",
        "4 decisions right; mistakes cost ",
        "Ann: 4 rounds, ",
    ] {
        assert!(finished.stdout.contains(said), "{said} is not in\n{}", finished.stdout);
    }
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn player_and_dealer_count_an_abandoned_hand_alike() {
    for lines in ["stand\nquit\n", "stand\n", "stand\nquit"] {
        let dealer = Dealer::start("1000 --delay-ms 0 --seed 17");
        let mut person = Process::start_with_stdin(&mut dealer.player(&["--human", "--binary"]));
        person.write(lines);
        let finished = person.wait().ended(0);
        assert!(finished.stdout.contains("You left during a hand, so it is lost."), "{}", finished.stdout);
        let own = finished.stdout.lines().last().unwrap();
        assert!(own.starts_with("Ann: 2 rounds, ") && own.contains("1 lost (1 forfeited)"), "{own}");
        let dealer = dealer.process.wait().ended(1);
        let row: Vec<&str> = dealer.stdout.lines().last().unwrap().split_whitespace().collect();
        assert_eq!((row[3], row[8]), ("2", "1"), "{}", dealer.stdout);
    }
}

#[test]
fn a_dealer_that_does_not_wait_for_people_is_named() {
    let goodbye = format!("{DEAL}QUIT\0");
    let early = format!("{DEAL}RESULT LOOSE\0{DEAL}RESULT WIN\0QUIT\0");
    let anew = format!("{DEAL}{DEAL}QUIT\0");
    for (script, said, counted) in [
        (
            goodbye,
            "the dealer did not wait for your answer: it ended the game 0.",
            "Ann: 1 rounds, 0 won, 0 pushed, 1 lost (1 forfeited)",
        ),
        (
            early,
            "the dealer did not wait for your answer in 2 of 2 rounds: it continued after 0.",
            "Ann: 2 rounds, 1 won, 0 pushed, 1 lost,",
        ),
        (
            anew,
            "the dealer did not wait for your answer: it ended the game 0.",
            "Ann: 1 rounds, 0 won, 0 pushed, 1 lost (1 forfeited)",
        ),
    ] {
        let script: &'static [u8] = script.into_bytes().leak();
        let (finished, _) = ScriptedDealer::sending(script).run(&["--human"], 1);
        assert!(finished.stderr.contains(said), "{said} is not in\n{}", finished.stderr);
        assert!(finished.stderr.contains("made for programs; use --best to let this one play"), "{}", finished.stderr);
        assert!(finished.stdout.contains(counted), "{counted} is not in\n{}", finished.stdout);
    }
}

#[test]
fn dealer_that_drops_late_players_is_named() {
    let fake = ScriptedDealer::start(|stream| {
        stream.write_all(DEAL.as_bytes()).unwrap();
        stream.read_exact(&mut [0; 6]).unwrap();
        stream.write_all(b"QUIT\0").unwrap();
    });
    let mut person = Process::start_with_stdin(&mut player(fake.port, &["--human"]));
    person.write("stand\n");
    let finished = person.wait_for_end().ended(1);
    assert!(
        finished.stderr.contains("the dealer ended the game without a result for your hand"),
        "{}",
        finished.stderr
    );
}

#[test]
fn player_reports_that_a_dealer_has_no_free_seat() {
    let (finished, _) = ScriptedDealer::sending(b"QUIT\0").run(&["--human"], 0);
    assert!(finished.stdout.contains("it has no seat for you."), "{}", finished.stdout);
    let (finished, _) = ScriptedDealer::sending(b"QUIT\0").run(&["--best"], 0);
    assert!(finished.stderr.contains("it has no seat left"), "{}", finished.stderr);
}

#[test]
fn training_in_the_terminal_shows_one_progress_line() {
    let directory = TempDir::new();
    let table = directory.path().join("table").display().to_string();
    let dealer = Dealer::start("3000 --delay-ms 0 --seed 17 --quiet");
    let arguments = ["--train", "--table", &table, "--save-every", "500", "--rounds", "3000"];
    let terminal = screen(&dealer.player(&arguments), 80, 24);
    terminal.wait_for("Ann: 3000 rounds");
    let shown = terminal.with_screen(vt100::Screen::contents);
    assert_eq!(shown.matches("of 3000 rounds").count(), 1, "{shown}");
    assert!(shown.contains("[####################] 100 %") && shown.contains("saved to"), "{shown}");
    assert!(!shown.contains("INFO") && shown.lines().count() <= 4, "{shown}");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_person_plays_in_the_terminal() {
    let dealer = Dealer::start("3 --delay-ms 0 --seed 17 --quiet");
    let mut terminal = at_a_terminal(&dealer, 80, 24);
    terminal.wait_for("Round 1. The dealer shows");
    terminal.wait_for("Ann: 0 won, 0 pushed, 0 lost, 0 bust, mean +0.000");
    assert!(terminal.with_screen(|screen| screen.alternate_screen() && screen.hide_cursor()));
    assert!(!terminal.with_screen(|screen| screen.contents().contains("the table")));
    press(&mut terminal, b"a", "<- best play");
    press(&mut terminal, b"?", "show the odds and the advice");
    terminal.press(b"x");
    terminal.wait(|screen| !screen.contents().contains("show the odds and the advice"));
    press(&mut terminal, b"s", "1 of 1 decision right");
    terminal.wait_for("Round 2. The dealer shows");
    terminal.wait_for("Round 1: ");
    terminal.resize(40, 5);
    terminal.wait_for("too small");
    // Keys do not act on a hidden hand. After Control-L redraws the screen, the keys before it have been read.
    terminal.wipe();
    terminal.press(b"sha\x0c");
    terminal.wait_for("too small");
    terminal.resize(70, 10);
    terminal.wait_for("Round 2. The dealer shows");
    press(&mut terminal, b"s", "Round 3. The dealer shows");
    terminal.wait_for("s left to answer");
    // Keys typed before the result appears select no action.
    terminal.press(b"shhh\n\n");
    wait_for_result(&terminal);
    terminal.resize(80, 24);
    terminal.wait_for("Tab cards   Q leave");
    press(&mut terminal, b"\t", "Tab result");
    assert!(!terminal.with_screen(|screen| screen.contents().contains("Game over")));
    press(&mut terminal, b"\t", "the dealer ");
    // The dealer had only one table.
    assert_eq!(dealer.process.wait().code, Some(0));
    press(&mut terminal, b"\n", "Cannot connect to ");
    press(&mut terminal, b"q", "Ann: 3 rounds, ");
    assert!(terminal.with_screen(|screen| !screen.alternate_screen() && screen.contents().contains("Round 3: ")));
    assert_eq!(terminal.end(), 0);
}

#[test]
fn practice_needs_no_dealer_and_shows_its_hand() {
    let mut command = program("player");
    command.args(["--practice", "--seed", "17"]);
    let mut terminal = screen(&command, 80, 24);
    terminal.wait_for("Round 1. The dealer shows");
    assert!(!terminal.with_screen(|screen| screen.contents().contains("left to answer")));
    press(&mut terminal, b"s", "Round 1. The dealer has ");
    terminal.press(b"shs");
    press(&mut terminal, b"\n", "Round 2. The dealer shows");
    assert!(terminal.with_screen(|screen| screen.contents().contains("A advice")));
    press(&mut terminal, b"q", "You: 1 rounds, 1 won");
    assert_eq!(terminal.end(), 0);
}
