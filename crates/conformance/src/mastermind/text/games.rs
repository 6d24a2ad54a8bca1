use std::{ops::Range, time::Duration};

use mastermind::{Code, Rules, code::MAX_COLOURS, game::TURNS};

use super::{
    AGAIN, ANSWERS, AVAILABLE, BOUNDS, CODES, COUNTS, END_OF_INPUT, ENDS, EXACT_LINES, FEEDBACK, INVALID, LENGTHS,
    LIFELINE_1, LIFELINE_2, LOSS, NO_CRASH, ONE_LIFELINE, PROMPT, RANDOM, REPEATS, SAYS_HOW, SHOWN, Subject, TOO_LATE,
    TURN_BLOCK, WIN, YES_OR_NO,
    dialogue::{Answer, Block, Dialogue, answer, lone_digits},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    mastermind::{check_answers, check_codes, next_guess, permuted},
    tester::Options,
};

const NO_LENGTHS: [&str; 9] = ["", "abc", "3", "9", "-4", "4.5", "4 5", "45", "99999999999999999999"];
const NO_ANSWERS: [&str; 4] = ["", "maybe", "yesno", "1"];
const NO_GUESSES: [&str; 10] =
    ["", "abcd", "123", "12345", "1290", "-123", "12.4", "lifeline", "lifeline#3", "lifeline #1"];
/// A program that is silent for this time after an answer waits for input.
const PAUSE: Duration = Duration::from_secs(4);
/// The longest typed line, in bytes.
const LONG: usize = 5000;
/// Turns after the last one if the game is not over then.
const MORE_TURNS: usize = 4;
/// Invalid as codes without repeats, so that no game is won by chance.
const GUESSES: [&str; TURNS] = [
    "11223344", "33441122", "55667788", "12121212", "77123456", "45645612", "87187187", "66543217", "22345678",
    "18273641",
];

/// Plays up to the first turn, on which all other checks depend.
pub(super) fn first_turn(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines(["4", "no"]);
    let block = dialogue.block(judge, &SHOWN, "4 and no")?;
    dialogue.check_block(judge, &block, 1);
    Ok(())
}

fn begin(judge: &mut Judge, subject: &Subject<'_>, length: usize, repeats: bool) -> ScenarioResult<(Dialogue, Block)> {
    let mut dialogue = subject.start(judge)?;
    dialogue.rules = Rules::new(length, MAX_COLOURS, repeats)?;
    dialogue.type_lines([&*length.to_string(), if repeats { "yes" } else { "no" }]);
    let block = dialogue.block(judge, &TURN_BLOCK, "the questions")?;
    dialogue.check_block(judge, &block, 1);
    for shown in block.available.iter().flatten() {
        judge.check(&AVAILABLE, *shown, || {
            "expected AVAILABLE for both lifelines in turn 1, received another word".to_owned()
        });
    }
    Ok((dialogue, block))
}

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

impl Dialogue {
    fn check_block(&self, judge: &mut Judge, block: &Block, turn: usize) {
        let length = self.rules.length();
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

    fn record_answer(&mut self, judge: &mut Judge, guess: Code, reported: Option<&Answer>) {
        let is_exact = reported.is_some_and(|reported| reported.is_exact);
        judge.check(&ANSWERS, is_exact, || {
            format!("expected `Red: ` and `White: ` with numbers after {guess}, received neither or one")
        });
        self.rows.extend(reported.map(|reported| (guess, reported.feedback)));
    }

    fn check_answer(&mut self, judge: &mut Judge, before: &[String], guess: Code) {
        if let Some(has_prompt) = self.has_prompt(before) {
            judge.check(&PROMPT, has_prompt, || "expected the prompt `Guess : `, received none".to_owned());
        }
        self.record_answer(judge, guess, answer(before).as_ref());
    }

    /// Returns the following turn, if there is one.
    fn advance(&mut self, judge: &mut Judge, turns: Range<usize>) -> ScenarioResult<Option<Block>> {
        let guesses = guesses(self.rules.length(), &self.options)?;
        let mut last = None;
        for turn in turns {
            let guess = guesses[turn - 1];
            self.type_lines([guess.to_string()]);
            let block = self.block(judge, &COUNTS, &format!("a guess in turn {turn}"))?;
            self.check_answer(judge, &block.before, guess);
            self.check_block(judge, &block, turn + 1);
            last = Some(block);
        }
        Ok(last)
    }

    fn lose(&mut self, judge: &mut Judge, from: usize) -> ScenarioResult<Code> {
        let rules = self.rules;
        let guesses = guesses(rules.length(), &self.options)?;
        let mut turn = from;
        let code = loop {
            let guess = guesses[(turn - 1) % TURNS];
            self.type_lines([guess.to_string()]);
            let reported = if turn == TURNS { self.revealed_code() } else { None };
            let block = if reported.is_none() { self.next_block() } else { None };
            if let Some(block) = block {
                judge.check(&COUNTS, turn < TURNS, || {
                    "expected the end of the game after ten turns, received another turn".to_owned()
                });
                self.check_answer(judge, &block.before, guess);
                if turn < TURNS {
                    self.check_block(judge, &block, turn + 1);
                }
                turn += 1;
                judge.require(&COUNTS, turn < TURNS + MORE_TURNS, || {
                    "expected the end of the game, received further turns".to_owned()
                })?;
                continue;
            }
            let reported = reported.or_else(|| self.code_so_far());
            judge.check(&COUNTS, turn >= TURNS, || {
                format!("expected a turn after turn {turn}, received {}", self.printed())
            });
            let reported = reported.ok_or_else(|| {
                format!("expected a line with the code after the last turn, received {}", self.printed())
            });
            let (code, lines) = judge.expect(&LOSS, reported)?;
            self.record_answer(judge, guess, answer(&lines).as_ref());
            break code;
        };
        judge.check(&CODES, rules.allows_secret(code), || format!("expected a code with {rules}, received {code}"));
        check_answers(judge, &FEEDBACK, code, &self.rows);
        self.rows.clear();
        Ok(code)
    }

    fn leave(&mut self, judge: &mut Judge) -> ScenarioResult {
        self.type_lines(["no"]);
        let turns = self.rest().iter().any(|line| line.contains("Turn #"));
        judge.check(&COUNTS, !turns, || "expected no turn after the last one, received another".to_owned());
        self.has_ended(judge, &ENDS, "no to another game")
    }
}

pub(super) fn lost(judge: &mut Judge, subject: &Subject<'_>, length: usize) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, length, false)?;
    dialogue.lose(judge, 1)?;
    dialogue.leave(judge)
}

pub(super) fn won(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    loop {
        let guess = next_guess(judge, &FEEDBACK, dialogue.rules, &dialogue.rows)?;
        dialogue.type_lines([guess.to_string()]);
        // After a correct guess, a program prompts for another game without ending the line.
        let Some(block) = dialogue.next_block_within(PAUSE.min(dialogue.options.patience / 2)) else {
            check_answers(judge, &FEEDBACK, guess, &dialogue.rows);
            break;
        };
        let reported = answer(&block.before);
        judge.require(&WIN, !reported.as_ref().is_some_and(|reported| reported.feedback.is_win(4)), || {
            format!("expected the end of the game after {guess}, which is the code, received another turn")
        })?;
        dialogue.record_answer(judge, guess, reported.as_ref());
        if reported.is_none() {
            return Err(Halt::Broken);
        }
    }
    judge.check(&WIN, true, String::new);
    dialogue.type_lines(["no"]);
    dialogue.has_ended(judge, &ENDS, "the right code and no to another game")
}

pub(super) fn two_games(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 8, true)?;
    dialogue.type_lines(["lifeline#2"]);
    let turn = dialogue.block(judge, &LIFELINE_2, "a lifeline")?.turn;
    let mut codes = vec![dialogue.lose(judge, turn)?];
    dialogue.type_lines(["yes", "8", "yes"]);
    let Block { turn, available, code, .. } = dialogue.block(judge, &AGAIN, "yes to another game")?;
    let closed = available.iter().filter(|available| **available == Some(false)).count();
    judge.check(&AGAIN, turn == 1 && closed == 0 && code == "********", || {
        format!("expected a new game, received turn {turn}, {closed} unavailable lifelines and the code {code}")
    });
    codes.push(dialogue.lose(judge, 1)?);
    dialogue.leave(judge)?;
    codes.push(begin(judge, subject, 8, true)?.0.lose(judge, 1)?);
    check_codes(judge, (&REPEATS, &RANDOM), &codes);
    Ok(())
}

pub(super) fn lengths(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    judge.judges_crashes();
    let mut dialogue = subject.start(judge)?;
    dialogue.type_lines(NO_LENGTHS.into_iter().chain(["5", "no"]));
    let block = dialogue.block(judge, &LENGTHS, "invalid lengths, 5 and no")?;
    judge.require(&LENGTHS, block.code.len() == 5, || {
        format!("expected 5 digits after {}, 5 and no, received {}", quoted(&NO_LENGTHS), block.code.len())
    })
}

pub(super) fn bounds(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
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

pub(super) fn yes_or_no(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    for answer in ["nO", "YES", "Yes", "NO"] {
        let mut dialogue = subject.start(judge)?;
        dialogue.rules = Rules::new(6, MAX_COLOURS, false)?;
        dialogue.type_lines(["6"].into_iter().chain(NO_ANSWERS).chain([answer]));
        judge.under(&YES_OR_NO, |judge| {
            dialogue.block(judge, &YES_OR_NO, &format!("{} and {answer}", quoted(&NO_ANSWERS)))?;
            if answer.eq_ignore_ascii_case("no") {
                return dialogue.lose(judge, 1).map(drop);
            }
            dialogue.advance(judge, 1..2).map(drop)
        })?;
    }
    Ok(())
}

pub(super) fn invalid(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
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
    judge.under(&INVALID, |judge| dialogue.advance(judge, 1..2).map(drop))
}

pub(super) fn long_line(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    dialogue.type_lines([vec![b'1'; LONG]]);
    let block = dialogue.block(judge, &NO_CRASH, &format!("{LONG} digits"))?;
    judge.require(&INVALID, block.turn == 1, || {
        format!("expected turn 1 after {LONG} digits, received turn {}", block.turn)
    })
}

pub(super) fn lifeline(judge: &mut Judge, subject: &Subject<'_>, which: usize) -> ScenarioResult {
    let rule = if which == 1 { &LIFELINE_1 } else { &LIFELINE_2 };
    let (mut dialogue, _) = begin(judge, subject, 4, false)?;
    dialogue.advance(judge, 1..2)?;
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
    let code = dialogue.lose(judge, block.turn.max(1))?.to_string();
    judge.check(rule, is_true(&code, &digits, shown.first().copied()), || {
        let reported: Vec<String> = digits.iter().map(char::to_string).collect();
        let reported = if reported.is_empty() { "no digit".to_owned() } else { reported.join(", ") };
        format!("expected digits of the code {code}, received {reported}, and {} in Code", block.code)
    });
    Ok(())
}

pub(super) fn second_lifeline(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
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

/// Without a place, one of the named digits must be in the code. Otherwise, the place and its digit must be named.
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

pub(super) fn at_turn(
    judge: &mut Judge,
    subject: &Subject<'_>,
    which: usize,
    turn: usize,
    granted: Option<bool>,
) -> ScenarioResult {
    let (mut dialogue, first) = begin(judge, subject, 4, false)?;
    let shown = dialogue.advance(judge, 1..turn)?.unwrap_or(first);
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

pub(super) fn end_of_input(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
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
