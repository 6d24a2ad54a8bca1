use std::{fs::File, io::Write, path::Path, process::Command};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use testkit::{
    TempDir,
    process::{Finished, Process},
};

use super::{PUZZLE, path, run_in, said};

/// Standard input is a terminal, standard output a pipe.
struct Person {
    typed: File,
    // Held open, so that input typed before the program starts is not lost.
    _terminal: File,
    process: Process,
}

impl Person {
    fn start(data: &Path, arguments: &str) -> Self {
        let typed = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&typed).unwrap();
        unlockpt(&typed).unwrap();
        let device = ptsname(&typed, vec![]).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(&device).unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" <\"$0\"", &device, &path()]).args(arguments.split_whitespace());
        let process = Process::start(shell.env("XDG_DATA_HOME", data));
        Self { typed: typed.into(), _terminal: terminal, process }
    }

    fn asked(data: &TempDir, arguments: &str) -> Self {
        let person = Self::start(data.path(), arguments);
        person.process.wait_stdout("a prompt", |stdout| stdout.ends_with("Guess : ").then_some(()));
        person
    }

    fn types(&mut self, text: &str) {
        self.typed.write_all(text.as_bytes()).unwrap();
    }

    fn ends(mut self, text: &str) -> Finished {
        self.types(text);
        self.types("\x04");
        self.process.wait()
    }
}

fn typed(data: &TempDir, arguments: &str, text: &str) -> String {
    Person::start(data.path(), arguments).ends(text).stdout
}

fn code(stdout: &str, pegs: usize) -> &str {
    &stdout.lines().find_map(|line| line.strip_prefix("Code: ")).unwrap()[..pegs]
}

fn share(stdout: &str) -> &str {
    stdout.split("\nMastermind ").nth(1).unwrap().split("\n\n").next().unwrap()
}

const SEEN: &str = "You have seen this puzzle before: the game will not be counted";

// Piped input may come from a program or a recording.
#[test]
fn piped_game_is_not_counted_and_does_not_use_up_its_puzzle() {
    let data = TempDir::new();
    for input in ["1234\n", "7423\nno\n"] {
        let piped = run_in(&data, PUZZLE, input).stdout;
        assert!(!piped.contains(SEEN) && !piped.contains("Statistics"), "{piped}");
    }
    assert!(!data.path().join("arcade").exists());
    assert!(run_in(&data, "statistics", "").stdout.starts_with("Statistics: 0 played"));
}

#[test]
fn hint_is_available_on_each_turn_and_marks_the_game() {
    let said = typed(&TempDir::new(), &format!("{PUZZLE} --hint"), "1234\n7423\nno\n");
    let hints: Vec<&str> = said.lines().filter(|line| line.starts_with("Hint  : ")).collect();
    assert_eq!(hints[0], "Hint  : 1680 codes are possible.");
    assert!(["I would guess", "bits", "at worst"].iter().all(|part| hints[1].contains(part)), "{hints:#?}");
    assert!(said.contains("\nPlayed with 2 hints.\n"), "{said}");
    assert!(said.contains("Statistics: 0 played, 0 won, streak 0 (best 0); 1 more with hints."), "{said}");
}

#[test]
fn the_puzzle_of_the_day_counts_once_and_is_shared_without_its_digits() {
    let date = |stdout: &str| stdout.split("The puzzle of ").nth(1).unwrap()[..10].to_owned();
    // A code of eight pegs is hardly ever all 1.
    let daily = "--daily --length 8";
    // Repeats until both games have the same date.
    let (played, lost, won) = loop {
        let played = TempDir::new();
        // A lost game shows the code; a share must not.
        let lost = typed(&played, daily, &"11111111\n".repeat(10));
        let won = typed(&played, daily, &format!("{}\n", code(&lost, 8)));
        if date(&lost) == date(&won) {
            break (played, lost, won);
        }
    };
    assert!(lost.contains("Statistics: 1 played") && !lost.contains(SEEN), "{lost}");
    assert!(share(&lost).contains(": X/10\n") && !share(&lost).contains(code(&lost, 8)), "{lost}");
    assert!(share(&won).ends_with("8 pegs, 8 colours, with repeats: 1/10, played again\n●●●●●●●●"), "{won}");
    let (before, after) = won.split_once("Guess : ").unwrap();
    let first = "Only your first try at today's puzzle counts; it begins with your first guess.";
    assert!(lost.contains(first) && !won.contains(first), "{won}");
    assert!(before.contains(SEEN) && !after.contains(SEEN), "{won}");
    assert!(after.contains("this game is not counted.\nStatistics: 1 played, 0 won"), "{won}");
    assert!(!won.contains("Seed:") && !won.contains("Another game"), "{won}");
    assert!(typed(&played, "--daily", "").contains("4 pegs, 8 colours, with repeats"));
    let other = typed(&played, "--daily --length 6 --repeats no", "");
    assert!(other.contains("6 pegs, 8 colours, no repeats") && !other.contains(SEEN), "{other}");
}

#[test]
fn a_puzzle_that_was_begun_and_left_is_played_again() {
    let data = TempDir::new();
    typed(&data, PUZZLE, "lifeline#2\n");
    let again = typed(&data, PUZZLE, "7423\nno\n");
    assert!(again.contains(SEEN), "{again}");
    assert!(again.contains("this game is not counted.\nStatistics: 0 played"), "{again}");
    // Invalid input reveals no information, so the puzzle stays unseen.
    let other = "--length 4 --repeats no --seed 8";
    typed(&data, other, "lifeline#3\n12\n");
    assert!(!typed(&data, other, "").contains(SEEN));
    // Of two programs, the second to answer a guess reports that the puzzle was seen before.
    let games = [(); 2].map(|()| Person::asked(&data, other));
    for (mut game, first) in games.into_iter().zip([true, false]) {
        game.types("1234\n");
        let told = game.process.wait_stdout("turn 2", |stdout| stdout.contains("Turn #: 2").then(|| stdout.to_owned()));
        assert_eq!(told.contains(SEEN), !first, "{told}");
    }
}

#[test]
fn statistics_are_kept_and_shown() {
    let data = TempDir::new();
    for seed in [7, 8] {
        let puzzle = format!("--length 4 --repeats no --seed {seed}");
        let lost = said(&puzzle, "1234\n".repeat(10));
        typed(&data, &puzzle, &format!("1234\n{}\n", code(&lost, 4)));
    }
    typed(&data, "--length 4 --repeats no --seed 9", &"1234\n".repeat(10));
    let shown = run_in(&data, "statistics", "").stdout;
    assert!(shown.starts_with("Statistics: 3 played, 2 won, streak 0 (best 2); 0 more with hints.\n"), "{shown}");
    assert!(shown.contains(&format!("\n   2 {} 2\n", "█".repeat(40))), "{shown}");
    assert!(shown.ends_with(&format!("\nlost {} 1\n", "█".repeat(20))), "{shown}");
}

#[test]
fn games_that_end_at_the_same_time_are_all_counted() {
    let data = TempDir::new();
    let mut games = [0, 1, 2, 3].map(|seed| Person::asked(&data, &format!("--length 4 --repeats no --seed {seed}")));
    // No game has this code.
    for game in &mut games {
        game.types(&"1111\n".repeat(10));
    }
    for game in games {
        assert_eq!(game.ends("").code, Some(0));
    }
    assert!(run_in(&data, "statistics", "").stdout.starts_with("Statistics: 4 played, 0 won"));
}

#[test]
fn game_is_played_if_statistics_cannot_be_stored() {
    let data = TempDir::new();
    let file = data.file("file", "");
    let finished = Person::start(Path::new(&file), PUZZLE).ends("7423\nno\n");
    assert_eq!(finished.code, Some(0));
    assert!(finished.stdout.contains("This game is not counted: no statistics: "), "{}", finished.stdout);
}
