use std::{collections::BTreeSet, ops::Range, time::Duration};

use mastermind::{Code, Feedback, Knowledge, Rules, code::MAX_COLOURS, game::TURNS, solver::Hint};

use super::{
    Subject,
    dialogue::{Answer, Block, Dialogue, answer, lone_digits},
    rules::{
        AGAIN, ANSWERS, AVAILABLE, BOUNDS, CODES, COUNTS, END_OF_INPUT, ENDS, EXACT_LINES, FEEDBACK, INVALID, LENGTHS,
        LIFELINE_1, LIFELINE_2, LOSS, NO_CRASH, ONE_LIFELINE, PROMPT, RANDOM, REPEATS, SAYS_HOW, SHOWN, TOO_LATE,
        TURN_BLOCK, WIN, YES_OR_NO,
    },
};
use crate::{
    judge::{Halt, Judge, ScenarioResult, Scene, scene},
    mastermind::{answers, permutation::permuted},
    rule::Rule,
    tester::Options,
};

const NO_LENGTHS: [&str; 9] = ["", "abc", "3", "9", "-4", "4.5", "4 5", "45", "99999999999999999999"];
const NO_ANSWERS: [&str; 4] = ["", "maybe", "yesno", "1"];
const NO_GUESSES: [&str; 10] =
    ["", "abcd", "123", "12345", "1290", "-123", "12.4", "lifeline", "lifeline#3", "lifeline #1"];
/// A program that has answered and prints nothing for this time waits for input.
const PAUSE: Duration = Duration::from_secs(4);
/// The length of the longest typed line, in bytes.
const LONG: usize = 5000;
/// Turns that are played beyond the last one if the game is not over then.
const MORE_TURNS: usize = 4;
/// Not valid codes without repeats, so that no game is won by chance.
const GUESSES: [&str; TURNS] = [
    "11223344", "33441122", "55667788", "12121212", "77123456", "45645612", "87187187", "66543217", "22345678",
    "18273641",
];

/// The lifeline, the turn of the request, and whether it is early enough. `None` allows both, since a course's program
/// may reject a lifeline one turn too early.
const LATE: [(usize, usize, Option<bool>); 8] = [
    (1, 1, Some(true)),
    (1, 7, Some(true)),
    (1, 8, None),
    (1, 9, Some(false)),
    (2, 1, Some(true)),
    (2, 6, Some(true)),
    (2, 7, None),
    (2, 8, Some(false)),
];

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("games of eight digits with repeats", |judge| two_games(judge, subject))
            .shows([&FEEDBACK, &LENGTHS, &CODES, &COUNTS, &REPEATS, &RANDOM, &AGAIN, &ENDS]),
        scene("a game of eight digits without repeats", |judge| lost(judge, subject, 8, false))
            .shows([&FEEDBACK, &LENGTHS, &CODES]),
        scene("lengths", |judge| lengths(judge, subject)).shows([&LENGTHS, &NO_CRASH]),
        scene("lengths out of range", |judge| bounds(judge, subject)).shows([&BOUNDS]),
        scene("invalid answers to a question", |judge| yes_or_no(judge, subject)).shows([&YES_OR_NO, &NO_CRASH]),
        scene("invalid input", |judge| invalid(judge, subject)).shows([&INVALID, &SAYS_HOW, &NO_CRASH]),
        scene("a long line", |judge| long_line(judge, subject)).shows([&INVALID, &NO_CRASH]),
        scene("lifeline#1", |judge| lifeline(judge, subject, 1)).shows([&LIFELINE_1]),
        scene("lifeline#2", |judge| lifeline(judge, subject, 2)).shows([&LIFELINE_2]),
        scene("a second lifeline", |judge| second_lifeline(judge, subject)).shows([&ONE_LIFELINE, &AVAILABLE]),
        scene("the end of the input", |judge| end_of_input(judge, subject)).shows([&END_OF_INPUT, &NO_CRASH]),
    ];
    scenes.extend(LATE.map(|(which, turn, granted)| {
        scene("a lifeline in a certain turn", move |judge| at_turn(judge, subject, which, turn, granted))
            .shows([&TOO_LATE, &AVAILABLE])
    }));
    scenes
}

fn check_block(judge: &mut Judge, block: &Block, length: usize, turn: usize) {
    judge.check(&EXACT_LINES, block.wrong.is_none(), || {
        format!(
            "expected the exact form of a line, received '{}'",
            block.wrong.as_deref().unwrap_or_default().escape_debug()
        )
    });
    judge.check(&TURN_BLOCK, block.available.iter().all(Option::is_some), || {
        format!("expected both lifelines in turn {}, received none or one", block.turn)
    });
    judge.check(&LENGTHS, block.code.len() == length, || {
        format!("expected {length} characters in Code, received {}", block.code.len())
    });
    judge.check(&COUNTS, block.turn == turn, || format!("expected turn {turn}, received turn {}", block.turn));
}

/// Plays up to the first turn, on which all other checks depend.
pub(super) fn first_turn(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines(["4", "no"]);
    let block = dialogue.block(judge, &SHOWN, "4 and no")?;
    check_block(judge, &block, 4, 1);
    Ok(())
}

fn begin(judge: &mut Judge, subject: &Subject<'_>, length: usize, repeats: bool) -> ScenarioResult<(Dialogue, Block)> {
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines([&*length.to_string(), if repeats { "yes" } else { "no" }]);
    let block = dialogue.block(judge, &TURN_BLOCK, "the questions")?;
    check_block(judge, &block, length, 1);
    for shown in block.available.iter().flatten() {
        judge.check(&AVAILABLE, *shown, || {
            "expected AVAILABLE for both lifelines in turn 1, received another word".to_owned()
        });
    }
    Ok((dialogue, block))
}

type Rows = Vec<(Code, Feedback)>;

fn guesses(length: usize, options: &Options) -> ScenarioResult<Vec<Code>> {
    let codes = GUESSES.iter().map(|guess| guess[..length].parse());
    let mut codes = codes.collect::<Result<Vec<Code>, _>>()?;
    // The first digits of some guesses have no repeats.
    let first = codes[0];
    codes.iter_mut().filter(|code| !code.repeats()).for_each(|code| *code = first);
    Ok(codes.into_iter().map(|code| permuted(code, MAX_COLOURS, options)).collect())
}

fn quoted(typed: &[&str]) -> String {
    typed.iter().map(|typed| format!("'{typed}'")).collect::<Vec<_>>().join(", ")
}

fn record_answer(judge: &mut Judge, guess: Code, reported: Option<Answer>, rows: &mut Rows) {
    let is_exact = reported.as_ref().is_some_and(|reported| reported.is_exact);
    judge.check(&ANSWERS, is_exact, || {
        format!("expected `Red: ` and `White: ` with numbers after {guess}, received neither or one")
    });
    rows.extend(reported.map(|Answer { red, white, .. }| (guess, Feedback { red, white })));
}

fn check_answer(judge: &mut Judge, dialogue: &Dialogue, before: &[String], guess: Code, rows: &mut Rows) {
    if let Some(has_prompt) = dialogue.has_prompt(before) {
        judge.check(&PROMPT, has_prompt, || "expected the prompt `Guess : `, received none".to_owned());
    }
    record_answer(judge, guess, answer(before), rows);
}

fn advance(
    judge: &mut Judge,
    dialogue: &mut Dialogue,
    length: usize,
    turns: Range<usize>,
    rows: &mut Rows,
) -> ScenarioResult<Option<Block>> {
    let guesses = guesses(length, &dialogue.options)?;
    let mut last = None;
    for turn in turns {
        let guess = guesses[turn - 1];
        dialogue.type_lines([guess.to_string()]);
        let block = dialogue.block(judge, &COUNTS, &format!("a guess in turn {turn}"))?;
        check_answer(judge, dialogue, &block.before, guess, rows);
        check_block(judge, &block, length, turn + 1);
        last = Some(block);
    }
    Ok(last)
}

fn lose(
    judge: &mut Judge,
    dialogue: &mut Dialogue,
    rules: Rules,
    from: usize,
    rows: &mut Rows,
) -> ScenarioResult<Code> {
    let length = rules.length();
    let guesses = guesses(length, &dialogue.options)?;
    let mut turn = from;
    let code = loop {
        let guess = guesses[(turn - 1) % TURNS];
        dialogue.type_lines([guess.to_string()]);
        let reported = if turn == TURNS { dialogue.revealed_code(length) } else { None };
        let block = if reported.is_none() { dialogue.next_block() } else { None };
        if let Some(block) = block {
            judge.check(&COUNTS, turn < TURNS, || {
                "expected the end of the game after ten turns, received another turn".to_owned()
            });
            check_answer(judge, dialogue, &block.before, guess, rows);
            if turn < TURNS {
                check_block(judge, &block, length, turn + 1);
            }
            turn += 1;
            judge.require(&COUNTS, turn < TURNS + MORE_TURNS, || {
                "expected the end of the game, received further turns".to_owned()
            })?;
            continue;
        }
        let reported = reported.or_else(|| dialogue.code_so_far(length));
        judge.check(&COUNTS, turn >= TURNS, || {
            format!("expected a turn after turn {turn}, received {}", dialogue.printed())
        });
        let reported = reported.ok_or_else(|| {
            format!("expected a line with the code after the last turn, received {}", dialogue.printed())
        });
        let (code, lines) = judge.expect(&LOSS, reported)?;
        record_answer(judge, guess, answer(&lines), rows);
        break code;
    };
    judge.check(&CODES, rules.allows_secret(code), || format!("expected a code with {rules}, received {code}"));
    fits(judge, code, rows)?;
    Ok(code)
}

fn fits(judge: &mut Judge, code: Code, rows: &Rows) -> ScenarioResult {
    for (guess, reported) in rows {
        let right = answers::answer(code, *guess)?;
        judge.check(&FEEDBACK, *reported == right, || {
            format!("expected {right} for {guess} and the code {code}, received {reported}")
        });
    }
    Ok(())
}

fn leave(judge: &mut Judge, dialogue: &mut Dialogue, rule: &'static Rule) -> ScenarioResult {
    dialogue.type_lines(["no"]);
    let rest = dialogue.rest();
    let turns = rest.iter().any(|line| line.contains("Turn #"));
    judge.check(rule, !turns, || "expected no turn after the last one, received another".to_owned());
    dialogue.has_ended(judge, &ENDS, "no to another game")
}

pub(super) fn lost(judge: &mut Judge, subject: &Subject<'_>, length: usize, repeats: bool) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, length, repeats)?;
    let rules = Rules::new(length, 8, repeats)?;
    lose(judge, &mut dialogue, rules, 1, &mut Rows::new())?;
    leave(judge, &mut dialogue, &COUNTS)
}

pub(super) fn won(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    // A wrong program may choose a code with repeats.
    let mut knowledge = Knowledge::new(Rules::new(4, 8, true)?);
    let mut rows = Rows::new();
    loop {
        let hint = Hint::of(&knowledge);
        let hint = hint.ok_or_else(|| {
            let rows: Vec<_> = rows.iter().map(|(guess, reported)| format!("{guess} {reported}")).collect();
            format!("expected answers that fit a code, received {}", rows.join("; "))
        });
        let guess = judge.expect(&FEEDBACK, hint)?.guess;
        dialogue.type_lines([guess.to_string()]);
        // After a correct guess, a program prompts for another game and does not end that line.
        let Some(block) = dialogue.next_block_within(PAUSE.min(dialogue.options.patience / 2)) else {
            fits(judge, guess, &rows)?;
            break;
        };
        let reported = answer(&block.before);
        let found = reported.as_ref().is_some_and(|reported| (reported.red, reported.white) == (4, 0));
        judge.require(&WIN, !found, || {
            format!("expected the end of the game after {guess}, which is the code, received another turn")
        })?;
        record_answer(judge, guess, reported, &mut rows);
        let Some((last, reported)) = rows.last().filter(|(last, _)| *last == guess) else { return Err(Halt::Broken) };
        knowledge.answered(*last, *reported);
    }
    judge.check(&WIN, true, String::new);
    dialogue.type_lines(["no"]);
    dialogue.has_ended(judge, &ENDS, "the right code and no to another game")
}

fn two_games(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 8, true)?;
    let rules = Rules::new(8, 8, true)?;
    dialogue.type_lines(["lifeline#2"]);
    let turn = dialogue.block(judge, &LIFELINE_2, "a lifeline")?.turn;
    let mut codes = vec![lose(judge, &mut dialogue, rules, turn, &mut Rows::new())?];
    dialogue.type_lines(["yes", "8", "yes"]);
    let block = dialogue.block(judge, &AGAIN, "yes to another game")?;
    let closed = block.available.iter().filter(|available| **available == Some(false)).count();
    judge.check(&AGAIN, block.turn == 1 && closed == 0 && block.code == "********", || {
        let Block { turn, code, .. } = &block;
        format!("expected a new game, received turn {turn}, {closed} unavailable lifelines and the code {code}")
    });
    codes.push(lose(judge, &mut dialogue, rules, 1, &mut Rows::new())?);
    leave(judge, &mut dialogue, &COUNTS)?;
    let (mut dialogue, _) = begin(judge, subject, 8, true)?;
    codes.push(lose(judge, &mut dialogue, rules, 1, &mut Rows::new())?);
    let reported = codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    judge.check(&REPEATS, codes.iter().any(|code| code.repeats()), || {
        format!("expected a repeated digit in some code, received {reported}")
    });
    let different: BTreeSet<_> = codes.iter().collect();
    judge.check(&RANDOM, different.len() == codes.len(), || {
        format!("expected different codes in three games, received {reported}")
    });
    Ok(())
}

fn lengths(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    judge.judges_crashes();
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines(NO_LENGTHS.into_iter().chain(["5", "no"]));
    let block = dialogue.block(judge, &LENGTHS, "invalid lengths, 5 and no")?;
    judge.require(&LENGTHS, block.code.len() == 5, || {
        format!("expected 5 digits after {}, 5 and no, received {}", quoted(&NO_LENGTHS), block.code.len())
    })
}

// Leaves out inputs that are not numbers, which end some programs.
fn bounds(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines(["3", "9", "5", "no"]);
    let block = dialogue.block(judge, &LENGTHS, "3, 9, 5 and no")?;
    let output = block.before.join("\n");
    let reported = output.matches('4').count().min(output.matches('8').count());
    judge.check(&BOUNDS, reported > 2, || {
        format!("expected 4 and 8 after each of the lengths 3 and 9, received them {reported} times")
    });
    Ok(())
}

fn yes_or_no(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    for answer in ["nO", "YES", "Yes", "NO"] {
        let mut dialogue = subject.start(judge)?;
        dialogue.type_lines(["6"].into_iter().chain(NO_ANSWERS).chain([answer]));
        judge.under(&YES_OR_NO, |judge| {
            dialogue.block(judge, &YES_OR_NO, &format!("{} and {answer}", quoted(&NO_ANSWERS)))?;
            if answer.eq_ignore_ascii_case("no") {
                return lose(judge, &mut dialogue, Rules::new(6, 8, false)?, 1, &mut Rows::new()).map(drop);
            }
            advance(judge, &mut dialogue, 6, 1..2, &mut Rows::new()).map(drop)
        })?;
    }
    Ok(())
}

fn invalid(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    for typed in NO_GUESSES {
        dialogue.type_lines([typed]);
        let block = dialogue.block(judge, &INVALID, &format!("'{typed}'"))?;
        judge.require(&INVALID, block.turn == 1, || {
            format!("expected turn 1 after '{typed}', received turn {}", block.turn)
        })?;
        let says = block.before.iter().any(|line| line.to_lowercase().contains("lifeline"));
        judge.check(&SAYS_HOW, says, || {
            format!("expected the lifelines in a line after '{typed}', received no such line")
        });
    }
    judge.under(&INVALID, |judge| advance(judge, &mut dialogue, 4, 1..2, &mut Rows::new()).map(drop))
}

fn long_line(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    dialogue.type_lines([vec![b'1'; LONG]]);
    let block = dialogue.block(judge, &NO_CRASH, &format!("{LONG} digits"))?;
    judge.require(&INVALID, block.turn == 1, || {
        format!("expected turn 1 after {LONG} digits, received turn {}", block.turn)
    })
}

fn lifeline(judge: &mut Judge, subject: &Subject<'_>, which: usize) -> ScenarioResult {
    let rule = if which == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    let mut rows = Rows::new();
    advance(judge, &mut dialogue, 4, 1..2, &mut rows)?;
    dialogue.type_lines([format!("lifeline#{which}")]);
    let block = dialogue.block(judge, rule, "a lifeline")?;
    let turn = 3 + which;
    judge
        .check(rule, block.turn == turn, || format!("expected turn {turn} after turn 2, received turn {}", block.turn));
    let digits = lone_digits(&block.before);
    let shown: Vec<(usize, char)> = block.code.chars().enumerate().filter(|(_, letter)| *letter != '*').collect();
    judge.require(rule, shown.len() == which - 1, || {
        format!("expected {} digits in Code after lifeline#{which}, received {}", which - 1, block.code)
    })?;
    let code = lose(judge, &mut dialogue, Rules::new(4, 8, false)?, block.turn.max(1), &mut rows)?.to_string();
    judge.check(rule, is_true(&code, &digits, shown.first().copied()), || {
        let reported: Vec<String> = digits.iter().map(char::to_string).collect();
        let reported = if reported.is_empty() { "no digit".to_owned() } else { reported.join(", ") };
        format!("expected digits of the code {code}, received {reported}, and {} in Code", block.code)
    });
    Ok(())
}

fn second_lifeline(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    for first in [1, 2] {
        let (mut dialogue, _) = begin(judge, subject, 4, false)?;
        dialogue.type_lines([format!("lifeline#{first}")]);
        let mut block = dialogue.block(judge, if first == 1 { &LIFELINE_1 } else { &LIFELINE_2 }, "a lifeline")?;
        for other in [1, 2] {
            dialogue.type_lines([format!("lifeline#{other}")]);
            let again = dialogue.block(judge, &ONE_LIFELINE, "a second lifeline")?;
            let was_granted = again.turn != block.turn;
            let shown = block.available[other - 1];
            judge.check(&AVAILABLE, shown.is_none_or(|shown| shown == was_granted), || {
                format!("expected AVAILABLE for lifeline#{other} after lifeline#{first} exactly if it is granted")
            });
            judge.check(&ONE_LIFELINE, !was_granted && again.code == block.code, || {
                format!(
                    "expected no change after a second lifeline, received turn {} and the code {}",
                    again.turn, again.code
                )
            });
            block = again;
        }
    }
    Ok(())
}

/// Without a place, one of the named digits must be in the code. With a place, the place and its digit must be named.
fn is_true(code: &str, digits: &[char], shown: Option<(usize, char)>) -> bool {
    let Some((place, digit)) = shown else {
        let mut digits = digits.iter();
        return if digits.len() == 1 {
            digits.all(|digit| code.contains(*digit))
        } else {
            digits.any(|digit| code.contains(*digit))
        };
    };
    let mut left = digits.to_vec();
    let mut take = |wanted: Option<char>| {
        let at = left.iter().position(|digit| Some(*digit) == wanted);
        at.is_some_and(|at| left.swap_remove(at).is_ascii_digit())
    };
    let number = u32::try_from(place + 1).ok().and_then(|place| char::from_digit(place, 10));
    code.chars().nth(place) == Some(digit) && take(Some(digit)) && take(number)
}

fn at_turn(
    judge: &mut Judge,
    subject: &Subject<'_>,
    which: usize,
    turn: usize,
    granted: Option<bool>,
) -> ScenarioResult {
    let (mut dialogue, first) = begin(judge, subject, 4, false)?;
    let mut rows = Rows::new();
    let shown = advance(judge, &mut dialogue, 4, 1..turn, &mut rows)?.unwrap_or(first);
    dialogue.type_lines([format!("lifeline#{which}")]);
    let block = dialogue.block(judge, &TOO_LATE, &format!("lifeline#{which} in turn {turn}"))?;
    let was_granted = block.turn != shown.turn;
    let what = |granted| if granted { "granted" } else { "refused" };
    judge.check(&TOO_LATE, granted.is_none_or(|granted| was_granted == granted), || {
        format!("expected lifeline#{which} {} in turn {turn}, but it is {}", what(!was_granted), what(was_granted))
    });
    let Some(available) = shown.available[which - 1] else { return Ok(()) };
    judge.check(&AVAILABLE, available == was_granted, || {
        let [right, wrong] =
            if was_granted { ["AVAILABLE", "another word"] } else { ["a word other than AVAILABLE", "it"] };
        format!(
            "expected {right} for lifeline#{which} in turn {turn}, which is {}, received {wrong}",
            what(was_granted)
        )
    });
    Ok(())
}

fn end_of_input(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    judge.judges_crashes();
    let guesses: Vec<String> = guesses(4, &subject.options)?.iter().map(ToString::to_string).collect();
    let game = ["4".to_owned(), "no".to_owned()].into_iter().chain(guesses).collect::<Vec<_>>();
    for (lines, at) in
        [(0, "the length"), (1, "repeats"), (2, "a guess"), (3, "the second guess"), (12, "the offer of another game")]
    {
        let mut dialogue = subject.start(judge)?;
        dialogue.type_lines(&game[..lines]);
        if !dialogue.run.end_input() {
            return Ok(());
        }
        dialogue.rest();
        dialogue.has_ended(judge, &END_OF_INPUT, &format!("the end of the input at {at}"))?;
    }
    Ok(())
}
