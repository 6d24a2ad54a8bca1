//! The dialogue with a text game, as far as programs of different people agree on it.

use std::{mem, time::Instant};

use mastermind::Code;

use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run},
    rule::Rule,
    terminal::Terminal,
    tester::Options,
};

/// The lines with which a turn begins.
const HEADS: [&str; 4] = ["Turn #: ", "lifeline#1: ", "lifeline#2: ", "Code  : "];

/// What is shown before an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) turn: usize,
    /// Whether each lifeline is shown as available.
    pub(super) available: [bool; 2],
    /// The digits that are known, and stars.
    pub(super) code: String,
    /// The line that is not written as it should be.
    pub(super) wrong: Option<String>,
    /// The lines before it.
    pub(super) before: Vec<String>,
}

impl Block {
    /// The numbers behind `Red` and `White`, if both were printed.
    pub(super) fn answer(&self) -> Option<(u8, u8)> {
        answer(&self.before)
    }
}

/// The numbers behind `Red` and `White` in these lines.
pub(super) fn answer(lines: &[String]) -> Option<(u8, u8)> {
    let number = |head: &str| lines.iter().find_map(|line| value(line, head)?.parse().ok());
    Some((number("Red: ")?, number("White: ")?))
}

/// What stands behind this word, at the begin of a line or behind a prompt.
fn value<'l>(line: &'l str, head: &str) -> Option<&'l str> {
    let (_, value) = line.split_once(head)?;
    Some(value.trim_end())
}

/// The same without regard to capital letters and blanks.
fn loosely(line: &str, head: &str) -> Option<String> {
    let plain = |text: &str| text.to_lowercase().replace([' ', '\t'], "");
    let (line, head) = (plain(line), plain(head));
    Some(line.split_once(&head)?.1.to_owned())
}

/// Whether these are the characters of a code of which some are not known.
fn is_hidden(code: &str) -> bool {
    code.contains('*') && code.len() >= 4 && code.chars().all(|letter| matches!(letter, '*' | '1'..='8'))
}

/// The code in a line that tells it after a loss.
pub(super) fn told_code(line: &str, length: usize) -> Option<Code> {
    if !line.to_lowercase().contains("code") {
        return None;
    }
    let runs = line.split(|letter: char| !letter.is_ascii_alphanumeric());
    runs.filter(|run| run.len() == length).find_map(|run| run.parse().ok())
}

/// The digits that stand alone in lines that do not name a lifeline.
pub(super) fn lone_digits(lines: &[String]) -> Vec<char> {
    let told = lines.iter().filter(|line| !line.to_lowercase().contains("lifeline"));
    let words = told.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric()));
    words.filter(|word| word.len() == 1).filter_map(|word| word.chars().next()).filter(char::is_ascii_digit).collect()
}

/// A text game under test that runs.
pub(super) struct Talk {
    pub(super) run: Box<dyn Run>,
    pub(super) options: Options,
    is_terminal: bool,
    /// The lines since the last block.
    lines: Vec<String>,
}

impl Talk {
    pub(super) fn start(
        judge: &mut Judge,
        launcher: &dyn Launcher,
        options: Options,
        terminal: Terminal,
    ) -> anyhow::Result<Self> {
        let run = judge.start_at(terminal, launcher, &[])?;
        Ok(Self { run, options, is_terminal: terminal != Terminal::No, lines: Vec::new() })
    }

    /// Types lines.
    pub(super) fn type_lines(&mut self, lines: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        let typed: Vec<u8> = lines.into_iter().flat_map(|line| [line.as_ref(), b"\n"].concat()).collect();
        self.run.type_bytes(&typed);
    }

    /// Reads up to a line in which there is something.
    fn find<T>(&mut self, mut find: impl FnMut(&str) -> Option<T>) -> Option<T> {
        let by = self.options.deadline();
        while let Some(line) = self.run.line(by) {
            let found = find(&line);
            self.lines.push(line);
            if found.is_some() {
                return found;
            }
        }
        // Where its output has ended the program is about to end, and how it does is to be seen.
        if Instant::now() < by {
            self.run.exit(by);
        }
        None
    }

    /// What was printed last, for a message.
    pub(super) fn printed(&mut self) -> String {
        let last = self.lines.len().saturating_sub(3);
        let lines: Vec<_> = self.lines.iter().skip(last).map(|line| format!("'{}'", line.escape_debug())).collect();
        let lines = if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") };
        format!("the last that came is {lines}{}", self.run.obituary())
    }

    /// Reads up to the end of the next block.
    pub(super) fn next_block(&mut self) -> Option<Block> {
        let mut turn = None;
        let code = self.find(|line| {
            turn = loosely(line, HEADS[0]).and_then(|number| number.parse().ok()).or(turn);
            loosely(line, HEADS[3]).filter(|code| turn.is_some() && is_hidden(code))
        })?;
        let mut before = mem::take(&mut self.lines);
        let start = before.iter().rposition(|line| loosely(line, HEADS[0]).is_some()).unwrap_or(0);
        let own = before.split_off(start);
        let available = [1, 2].map(|head| {
            let words = own.iter().find_map(|line| loosely(line, HEADS[head]));
            words.is_some_and(|word| word.starts_with("available"))
        });
        let turn: usize = turn?;
        let is_right = |line: &str, head: &str| match head {
            "Turn #: " => value(line, head) == Some(&*turn.to_string()),
            "Code  : " => value(line, head) == Some(&*code),
            _ => value(line, head).is_some_and(|word| !word.is_empty()),
        };
        let mut wrong = own.iter().zip(HEADS).find(|(line, head)| !is_right(line, head)).map(|(line, _)| line.clone());
        if own.len() != HEADS.len() {
            wrong = wrong.or_else(|| own.get(HEADS.len() - 1).cloned());
        }
        Some(Block { turn, available, code, wrong, before })
    }

    /// Reads up to the line that tells the code.
    pub(super) fn told_code(&mut self, length: usize) -> Option<(Code, Vec<String>)> {
        let found = self.find(|line| {
            let code = told_code(line, length);
            (code.is_some() || loosely(line, HEADS[0]).is_some()).then_some(code)
        })?;
        Some((found?, mem::take(&mut self.lines)))
    }

    /// Whether a turn has begun in what was read since the last block.
    pub(super) fn has_turn(&self) -> bool {
        self.lines.iter().any(|line| loosely(line, HEADS[0]).is_some())
    }

    /// What else is printed, until the program ends.
    pub(super) fn rest(&mut self) -> Vec<String> {
        let mut rest = mem::take(&mut self.lines);
        let by = self.options.deadline();
        while let Some(line) = self.run.line(by) {
            rest.push(line);
        }
        rest
    }

    /// The block that must come now. `rule` is broken without it.
    pub(super) fn block(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> Played<Block> {
        let block = self.next_block();
        let block = block.ok_or_else(|| format!("no turn is shown after {after}; {}", self.printed()));
        judge.expect(rule, block)
    }

    /// Whether the first line after an input begins with the prompt before it. At a terminal it may stand on standard
    /// error.
    pub(super) fn has_prompt(&self, block: &[String]) -> Option<bool> {
        let first = block.first().filter(|_| !self.is_terminal)?;
        Some(first.starts_with("Guess : ") && first.trim_end() != "Guess :")
    }

    /// How the program has ended, when it has to.
    pub(super) fn has_ended(&mut self, judge: &mut Judge, rule: &'static Rule, after: &str) -> Played {
        let exit = self.run.exit(Instant::now().max(self.options.deadline()));
        judge.require(rule, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
            None => format!("the program still runs after {after}"),
            Some(exit) => format!("the program ended with {exit} after {after}"),
        })
    }
}
