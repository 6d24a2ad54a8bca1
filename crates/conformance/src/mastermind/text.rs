mod dialogue;
mod games;

use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    rule::{Rule, rules},
    terminal::Terminal,
    tester::{Options, Tester},
};
use Scenario::{Late, Scene};
use dialogue::Dialogue;

pub static TESTER: Tester = Tester {
    kind: "mastermind-text",
    is_server: false,
    usual: "",
    known: &[],
    needed: &[],
    rules: RULES,
    takes_part: &[&ANSWERS, &FEEDBACK, &LOSS, &WIN],
    play,
};

enum Scenario {
    /// The name, the other rules that it observes by design, and the actions.
    Scene(&'static str, &'static [&'static Rule], fn(&mut Judge, &Subject<'_>) -> ScenarioResult),
    /// The lifeline, the turn, and whether it must be granted. `None` allows both, since a course's program may reject
    /// a lifeline one turn too early.
    Late(usize, usize, Option<bool>),
}

rules! {
    for Scenario;
    SHOWN: Advice "shown" in "mastermind.md#the-dialogue",
        "The program prints all output before it waits for input, even through a pipe",
        "Through a pipe, flush the output before you read: printf keeps it in a buffer.";
    LENGTHS: Protocol(2, "MP2 User Manual 1, code length") "lengths" in "mastermind.md#the-dialogue",
        "The game accepts a length from 4 to 8, and repeats the question after any other input",
        "Read a line, and check all of it. An empty line is invalid input too.",
        Scene("lengths", &[&NO_CRASH], games::lengths);
    BOUNDS: Advice "bounds" in "mastermind.md#the-dialogue",
        "The game answers an invalid length with the bounds 4 and 8",
        "Print both numbers in the line that repeats the question.",
        Scene("lengths out of range", &[], games::bounds);
    YES_OR_NO: Protocol(1, "MP2 User Manual 1, repeat") "yes-or-no" in "mastermind.md#the-dialogue",
        "The game accepts yes and no in any mixture of upper and lower case, and repeats the question after any other input",
        "Convert to lower case before you compare. An empty line does not mean no.",
        Scene("invalid answers to a question", &[&NO_CRASH], games::yes_or_no);
    TURN_BLOCK: Protocol(2, "MP2 Implementation 1, prompt detailing turn count and hint code") "turn-block" in "mastermind.md#the-dialogue",
        "Each turn shows its number, both lifelines and the known digits of the code",
        "Print `Turn #: 1`, `lifeline#1: AVAILABLE`, `lifeline#2: AVAILABLE` and `Code  : ****` before each input.";
    EXACT_LINES: Advice "exact-lines" in "mastermind.md#the-dialogue",
        "A turn begins with the lines Turn #, lifeline#1, lifeline#2 and Code, spelled exactly",
        "Print `Turn #: 1`, `lifeline#1: AVAILABLE` and `Code  : ****`, with two blanks after Code.";
    PROMPT: Protocol(1, "MP2 User Manual 1, prompt for a guess") "prompt" in "mastermind.md#the-dialogue",
        "The game prints a prompt with the word Guess for each input",
        "Print `Guess : ` before you read, with or without a line feed. Through a pipe, flush the output after it.";
    ANSWERS: Protocol(3, "MP2 User Manual 1, feedback") "answers" in "mastermind.md#the-dialogue",
        "The game answers each wrong guess, including the tenth, with `Red: ` and `White: ` and their numbers",
        "Print both before you check whether that was the last turn.";
    FEEDBACK: Protocol(4, "MP2 User Manual 1, Red and White") "feedback" in "mastermind.md#the-game",
        "The red and white counts match the code that the game reveals at the end",
        "Use each digit of the code once, and count exact matches first. For the code 2111, the guess 1222 gets 0 and 2.",
        Scene(
            "games of eight digits with repeats",
            &[&LENGTHS, &CODES, &COUNTS, &REPEATS, &RANDOM, &AGAIN, &ENDS],
            games::two_games,
        ),
        Scene("a game of eight digits without repeats", &[&LENGTHS, &CODES], |judge, subject| {
            games::lost(judge, subject, 8)
        });
    COUNTS: Protocol(3, "MP2 User Manual 1, ten turns") "turns" in "mastermind.md#the-game",
        "The first turn is 1, each guess takes one turn, and the game ends after the tenth",
        "Increment the turn after each guess. Invalid input takes no turn.";
    LOSS: Protocol(1, "MP2 Implementation 1, loss message") "loss" in "mastermind.md#the-dialogue",
        "After a loss the game prints a line with the word Code and the digits of the code",
        "Print the code after the tenth answer, before you offer another game.";
    WIN: Protocol(2, "MP2 Implementation 1, win") "win" in "mastermind.md#the-dialogue",
        "The game ends at the right code",
        "Compare the guess before you increment the turn. The tenth guess may be right too.";
    CODES: Protocol(2, "MP2 Implementation 1, randomize a code") "codes" in "mastermind.md#the-game",
        "The code has the chosen length, and no digit twice if repeats are not allowed",
        "Without repeats, draw again if the digit is already used, or shuffle the eight digits.";
    REPEATS: Protocol(1, "MP2 Implementation 1, randomize a code") "repeats" in "mastermind.md#the-game",
        "If repeats are allowed, some codes have repeated digits, and guesses may always have them",
        "Draw each digit independently. Check only the length and the digits of a guess.";
    RANDOM: Protocol(1, "MP2 Implementation 1, randomize a code") "random" in "mastermind.md#the-game",
        "Codes differ between games and between starts of the program",
        "Seed the generator once, with a different value at each start.";
    INVALID: Protocol(2, "MP2 User Manual 1, loop until a valid input") "invalid" in "mastermind.md#the-dialogue",
        "Input that is neither a guess nor a lifeline takes no turn, and the game shows the turn again",
        "Check the number of characters, and that each is from 1 to 8.",
        Scene("invalid input", &[&SAYS_HOW, &NO_CRASH], games::invalid),
        Scene("a long line", &[&NO_CRASH], games::long_line);
    SAYS_HOW: Advice "says-how" in "mastermind.md#the-dialogue",
        "After invalid input the game prints a line with the valid inputs, including the lifelines",
        "Mention `lifeline#1` and `lifeline#2` in the error message.";
    LIFELINE_1: Protocol(2, "MP2 User Manual 1, lifeline#1") "lifeline-1" in "mastermind.md#lifelines",
        "lifeline#1 reveals a digit of the code without its place, and takes two turns",
        "Draw a place, print its digit, and add two to the turn.",
        Scene("lifeline#1", &[], |judge, subject| games::lifeline(judge, subject, 1));
    LIFELINE_2: Protocol(2, "MP2 User Manual 1, lifeline#2") "lifeline-2" in "mastermind.md#lifelines",
        "lifeline#2 reveals a digit and its place, shows it in Code from then on, and takes three turns",
        "Count places from 1, show the revealed digit until the game ends, and add three to the turn.",
        Scene("lifeline#2", &[], |judge, subject| games::lifeline(judge, subject, 2));
    ONE_LIFELINE: Advice "one-lifeline" in "mastermind.md#lifelines",
        "The game grants one lifeline, and then refuses both without taking a turn",
        "Use one flag for both lifelines.",
        Scene("a second lifeline", &[&AVAILABLE], games::second_lifeline);
    TOO_LATE: Protocol(1, "MP2 User Manual 1, blocked lifelines") "too-late" in "mastermind.md#lifelines",
        "The game grants a lifeline exactly if it leaves a turn for a guess",
        "Compare the turn after the lifeline with ten.",
        Late(1, 1, Some(true)),
        Late(1, 7, Some(true)),
        Late(1, 8, None),
        Late(1, 9, Some(false)),
        Late(2, 1, Some(true)),
        Late(2, 6, Some(true)),
        Late(2, 7, None),
        Late(2, 8, Some(false));
    AVAILABLE: Advice "available" in "mastermind.md#lifelines",
        "The game shows a lifeline as AVAILABLE exactly if it would grant it",
        "Use one function both to show the word and to refuse the lifeline.";
    AGAIN: Protocol(2, "MP2 Implementation 1, play again") "again" in "mastermind.md#the-dialogue",
        "After a game the program offers another one; after yes it starts again with the length",
        "Reset the turn, the lifelines and the revealed digits.";
    ENDS: Protocol(1, "MP2 Implementation 1, exit") "ends" in "mastermind.md#the-dialogue",
        "After no the program exits with status 0",
        "Return 0 from main. Accept NO as well.";
    END_OF_INPUT: Advice "end-of-input" in "mastermind.md#the-dialogue",
        "At the end of the input, at any question, the program exits with status 0",
        "Check whether a line was read before you use it.",
        Scene("the end of the input", &[&NO_CRASH], games::end_of_input);
    TERMINAL: Protocol(1, "MP2 User Manual 1, text interface") "terminal" in "mastermind.md#the-dialogue",
        "The game works at a terminal as it does through a pipe",
        "Do not check whether standard input is a terminal, or play the same game in both cases.";
    NO_CRASH: Protocol(2, "MP2 User Manual 1, validated input") "no-crash" in "mastermind.md#the-dialogue",
        "The program does not crash, whatever a player types",
        "A line may be long, empty or binary: check it before you index into it.";
}

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
    terminal: Terminal,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge) -> anyhow::Result<Dialogue> {
        Dialogue::start(judge, self.launcher, self.options, self.terminal)
    }
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let mut subject = Subject { launcher, options: *options, terminal: Terminal::No };
    judge.play("the first turn", |judge| games::first_turn(judge, &subject))?;
    if judge.has_failed(&SHOWN) {
        if !launcher.chooses_terminal() {
            return Ok(());
        }
        // A terminal shows output that a pipe would buffer, so that the other rules can be judged.
        subject.terminal = Terminal::Whole;
    }
    let subject = &subject;
    // In every selection: an error in a plain game must not be attributed to other scenarios.
    let mut scenes = vec![
        scene("a lost game", |judge| games::lost(judge, subject, 4)),
        scene("a won game", |judge| games::won(judge, subject)),
    ];
    scenes.extend(SCENARIOS.iter().map(|&(rule, ref scenario)| {
        match *scenario {
            Scene(name, also, run) => {
                scene(name, move |judge| run(judge, subject)).shows([rule].into_iter().chain(also.iter().copied()))
            }
            Late(which, turn, granted) => {
                scene("a lifeline in a certain turn", move |judge| games::at_turn(judge, subject, which, turn, granted))
                    .shows([rule, &AVAILABLE])
            }
        }
    }));
    judge.side_by_side(scenes)?;
    if !launcher.chooses_terminal() {
        judge.leave_out([&TERMINAL], "the option --terminal excludes this scenario");
        return Ok(());
    }
    let subject = Subject { launcher, options: *options, terminal: Terminal::Whole };
    let play = |judge: &mut Judge| judge.under(&TERMINAL, |judge| games::lost(judge, &subject, 4));
    judge.side_by_side(vec![scene("a game at a terminal", play).shows([&TERMINAL])])
}
