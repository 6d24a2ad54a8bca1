//! The parts of the dialogue that programs of different authors share. Line ends, blanks and capital letters may vary.

use std::{
    mem,
    time::{Duration, Instant},
};

use mastermind::{Code, Feedback, Rules, code::MAX_COLOURS};

use crate::{
    judge::{Judge, ScenarioResult},
    launch::{Launcher, Run},
    mastermind::Rows,
    rule::Rule,
    terminal::Terminal,
    tester::Options,
};

const HEADS: [&str; 4] = ["Turn #: ", "lifeline#1: ", "lifeline#2: ", "Code  : "];
/// A code, with a blank after each digit.
const LONGEST: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Turn,
    Lifeline(usize),
    Code,
    Guess,
    Red,
    White,
}

/// With its word in lower case without blanks, and whether a number follows instead of a colon.
const TOPICS: [(Topic, &str, bool); 7] = [
    (Topic::Turn, "turn", true),
    (Topic::Lifeline(0), "lifeline#1", false),
    (Topic::Lifeline(1), "lifeline#2", false),
    (Topic::Code, "code", false),
    (Topic::Guess, "guess", false),
    (Topic::Red, "red", true),
    (Topic::White, "white", true),
];

/// The value is in lower case without blanks.
fn topic(text: &str) -> Option<(Topic, String)> {
    let plain: String = text.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect();
    let (topic, rest, has_number) =
        TOPICS.iter().find_map(|&(topic, word, number)| Some((topic, plain.strip_prefix(word)?, number)))?;
    let value = rest.trim_start_matches(['#', '=']);
    let value = match value.strip_prefix(':') {
        Some(value) => value,
        None if has_number && value.starts_with(|letter: char| letter.is_ascii_digit()) => value,
        None => return None,
    };
    Some((topic, value.to_owned()))
}

fn pieces(line: &str) -> Vec<&str> {
    let mut cuts = vec![0];
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        let expect_game = letter.is_alphabetic() && !before.is_alphabetic() && before != '#';
        if at > 0 && expect_game && topic(line.get(at..).unwrap_or_default()).is_some() {
            cuts.push(at);
        }
        before = letter;
    }
    let ends = cuts.iter().skip(1).copied().chain([line.len()]);
    cuts.iter().zip(ends).map(|(&from, to)| line.get(from..to).unwrap_or_default()).collect()
}

fn number<T: std::str::FromStr>(value: &str) -> Option<T> {
    let end = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    value.get(..end)?.parse().ok()
}

fn hidden(value: &str) -> Option<String> {
    let code: String = value.chars().take_while(|letter| matches!(letter, '*' | '1'..='8')).take(LONGEST).collect();
    (code.contains('*') && code.len() >= 4).then_some(code)
}

/// The lines before an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) turn: usize,
    /// Whether each lifeline is available, if its line is shown.
    pub(super) available: [Option<bool>; 2],
    /// Unknown digits are stars.
    pub(super) code: String,
    /// A malformed line.
    pub(super) wrong: Option<String>,
    pub(super) before: Vec<String>,
}

pub(super) struct Answer {
    pub(super) feedback: Feedback,
    /// Exactly `Red: 1` and `White: 2`.
    pub(super) is_exact: bool,
}

pub(super) fn answer(lines: &[String]) -> Option<Answer> {
    let all: Vec<&str> = lines.iter().flat_map(|line| pieces(line)).collect();
    let find = |wanted: Topic| {
        all.iter().find_map(|piece| {
            let (topic, value) = topic(piece)?;
            (topic == wanted).then(|| number::<u8>(&value))?.map(|number| (number, *piece))
        })
    };
    let (red, of_red) = find(Topic::Red)?;
    let (white, of_white) = find(Topic::White)?;
    let is_exact = of_red.starts_with(&format!("Red: {red}")) && of_white.starts_with(&format!("White: {white}"));
    Some(Answer { feedback: Feedback { red, white }, is_exact })
}

pub(super) fn has_prompt(before: &[String]) -> bool {
    let all = before.iter().flat_map(|line| pieces(line));
    all.filter_map(topic).any(|(topic, _)| topic == Topic::Guess)
}

pub(super) fn revealed_code(line: &str, length: usize) -> Option<Code> {
    if !line.to_lowercase().contains("code") {
        return None;
    }
    let runs = line.split(|letter: char| !letter.is_ascii_alphanumeric());
    runs.filter(|run| run.len() == length).find_map(|run| run.parse().ok())
}

/// Single digits, from lines that name no lifeline.
pub(super) fn lone_digits(lines: &[String]) -> Vec<char> {
    let reported = lines.iter().filter(|line| !line.to_lowercase().contains("lifeline"));
    let words = reported.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric()));
    words.filter(|word| word.len() == 1).filter_map(|word| word.chars().next()).filter(char::is_ascii_digit).collect()
}

fn block(lines: &[String]) -> Option<Block> {
    let (mut turn, mut start, mut code) = (None, 0, None);
    let mut available = [None; 2];
    for (at, line) in lines.iter().enumerate() {
        for (topic, value) in pieces(line).into_iter().filter_map(topic) {
            match topic {
                Topic::Turn => (turn, start, available) = (number(&value).or(turn), at, [None; 2]),
                Topic::Lifeline(which) => available[which] = Some(value.starts_with("available")),
                Topic::Code if turn.is_some() => code = hidden(&value),
                _ => {}
            }
        }
    }
    let (turn, code): (usize, String) = (turn?, code?);
    let own = lines.get(start..).unwrap_or_default();
    let is_right = |line: &str, head: &str| {
        let value = line.split_once(head).map(|(_, value)| value.trim_end());
        match head {
            "Turn #: " => value == Some(&*turn.to_string()),
            "Code  : " => value == Some(&*code),
            _ => value.is_some_and(|word| !word.is_empty()),
        }
    };
    let mut wrong = own.iter().zip(HEADS).find(|(line, head)| !is_right(line, head)).map(|(line, _)| line.clone());
    if own.len() != HEADS.len() {
        wrong = wrong.or_else(|| own.get(HEADS.len() - 1).or_else(|| own.last()).cloned());
    }
    Some(Block { turn, available, code, wrong, before: lines.get(..start).unwrap_or_default().to_vec() })
}

pub(super) struct Dialogue {
    pub(super) run: Box<dyn Run>,
    pub(super) options: Options,
    /// The requested rules, and the answers of the current game.
    pub(super) rules: Rules,
    pub(super) rows: Rows,
    is_terminal: bool,
    lines: Vec<String>,
}

impl Dialogue {
    pub(super) fn start(
        judge: &mut Judge,
        launcher: &dyn Launcher,
        options: Options,
        terminal: Terminal,
    ) -> anyhow::Result<Self> {
        let run = judge.start_at(terminal, launcher, &[])?;
        let rules = Rules::new(4, MAX_COLOURS, false)?;
        Ok(Self { run, options, rules, rows: Vec::new(), is_terminal: terminal != Terminal::No, lines: Vec::new() })
    }

    pub(super) fn type_lines(&mut self, lines: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let typed: Vec<u8> = lines.into_iter().flat_map(|line| [line.as_ref(), b"\n"].concat()).collect();
        self.run.type_bytes(&typed);
    }

    fn line(&mut self, by: Instant) -> bool {
        let line = self.run.line(by);
        if line.is_none() && Instant::now() < by {
            // Waits for the exit status of a program that is about to end.
            self.run.exit(by);
        }
        let is_there = line.is_some();
        self.lines.extend(line);
        is_there
    }

    pub(super) fn printed(&mut self) -> String {
        let last = self.lines.len().saturating_sub(3);
        let lines: Vec<_> = self.lines.iter().skip(last).map(|line| format!("'{}'", line.escape_debug())).collect();
        let lines = if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") };
        format!("{lines}{}", self.run.exit_clause())
    }

    fn take_block(&mut self) -> Option<Block> {
        let block = block(&self.lines)?;
        self.lines.clear();
        Some(block)
    }

    pub(super) fn next_block(&mut self) -> Option<Block> {
        let by = self.options.deadline();
        while self.line(by) {
            if let Some(block) = self.take_block() {
                return Some(block);
            }
        }
        None
    }

    /// After the first lines, waits at most `pause` for each further one.
    pub(super) fn next_block_within(&mut self, pause: Duration) -> Option<Block> {
        let by = self.options.deadline();
        let mut until = by;
        while self.line(until) {
            if let Some(block) = self.take_block() {
                return Some(block);
            }
            until = by.min(Instant::now() + pause);
        }
        None
    }

    pub(super) fn revealed_code(&mut self) -> Option<(Code, Vec<String>)> {
        let by = self.options.deadline();
        while self.line(by) {
            if self
                .lines
                .last()
                .is_some_and(|line| pieces(line).into_iter().filter_map(topic).any(|(topic, _)| topic == Topic::Turn))
            {
                return None;
            }
            if let Some(reported) = self.code_so_far() {
                return Some(reported);
            }
        }
        None
    }

    pub(super) fn code_so_far(&mut self) -> Option<(Code, Vec<String>)> {
        let code = self.lines.iter().find_map(|line| revealed_code(line, self.rules.length()))?;
        Some((code, mem::take(&mut self.lines)))
    }

    pub(super) fn rest(&mut self) -> Vec<String> {
        let mut rest = mem::take(&mut self.lines);
        let by = self.options.deadline();
        while let Some(line) = self.run.line(by) {
            rest.push(line);
        }
        rest
    }

    pub(super) fn block(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult<Block> {
        let block = self.next_block();
        let block = block.ok_or_else(|| format!("expected a turn after {after}, received {}", self.printed()));
        judge.expect(rule, block)
    }

    /// At a terminal, the prompt may be on standard error.
    pub(super) fn has_prompt(&self, before: &[String]) -> Option<bool> {
        (!self.is_terminal).then(|| has_prompt(before))
    }

    pub(super) fn has_ended(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> ScenarioResult {
        let exit = self.run.exit(Instant::now().max(self.options.deadline()));
        judge.require(rule, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
            None => format!("expected the program to exit after {after}, but it is still running"),
            Some(exit) => format!("expected exit status 0 after {after}, received {exit}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Block {
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        block(&lines).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn finds_block_with_any_line_ends() {
        let right = of("Turn #: 3\nlifeline#1: AVAILABLE\nlifeline#2: USED UP\nCode  : *7**");
        assert_eq!((right.turn, right.available, &*right.code), (3, [Some(true), Some(false)], "*7**"));
        assert_eq!((right.wrong, right.before.len()), (None, 0));
        for text in [
            "Guess : Red: 0\nWhite: 1\n\nTurn #: 3\n\nlifeline#1: AVAILABLE\n\nlifeline#2: USED UP\nCode  : *7**",
            "Guess : \nRed: 0 White: 1\nTurn #: 3 lifeline#1: AVAILABLE lifeline#2: USED UP Code  : *7**",
            "Guess : Red: 0White: 1Turn 3\nLifeline #1: available\nLifeline #2: used\ncode: * 7 * *",
        ] {
            let block = of(text);
            assert_eq!((block.turn, block.available, &*block.code), (3, [Some(true), Some(false)], "*7**"), "{text}");
            assert!(block.wrong.is_some(), "{text}");
        }
    }

    #[test]
    fn finds_answers_after_prompts_with_or_without_line_feed() {
        for (text, is_exact) in [
            ("Guess : Red: 0\nWhite: 1", true),
            ("Guess : \nRed: 0\nWhite: 1", true),
            ("Guess : Red: 0, White: 1", true),
            ("red = 0\nwhite = 1", false),
        ] {
            let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
            let answer = answer(&lines).unwrap();
            assert_eq!((answer.feedback, answer.is_exact), (Feedback { red: 0, white: 1 }, is_exact), "{text}");
            assert_eq!(has_prompt(&lines), text.starts_with("Guess"), "{text}");
        }
        assert!(answer(&["Your guess is wrong".to_owned()]).is_none());
    }
}
