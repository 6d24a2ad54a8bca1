//! The end of a game.

use nuggets::grid::Cell;

use super::{
    displays::shown,
    party::{End, GOLD, Kind, Party, Role, kinds},
    reading::{Row, row},
    rules,
    settle::{Before, cells},
};
use crate::{judge::Played, launch::Run};

/// The phrase at the start of the summary.
const OVER: &str = "GAME OVER:";
/// The number of bytes of a name that are kept.
const LONGEST_NAME: usize = 50;

impl Party<'_> {
    /// Judges the end of the game after an action that took the last nugget.
    pub(super) fn end(&mut self, after: &str, before: &Before) -> Played {
        let told = &before.active;
        self.end = End::Due;
        self.wait(|party| told.iter().all(|&number| party.clients[number].quit.is_some()));
        // Messages after QUIT are judged too.
        self.drain();
        if told.iter().all(|&number| self.clients[number].quit.is_none()) {
            return self.lacking(&rules::OVER, || {
                format!("expected QUIT after {after}, which took the last nugget, but no client received it")
            });
        }
        self.end = End::Judged;
        let taken: Vec<Cell> = match &self.world {
            Some(world) => before.world.piles.difference(&world.piles).copied().collect(),
            None => Vec::new(),
        };
        let remaining = self.world.as_ref().map_or(0, |world| {
            let piles: Vec<Cell> = match self.true_board() {
                Some(board) => cells(board).filter(|(_, byte)| *byte == b'*').map(|(cell, _)| cell).collect(),
                None => world.piles.iter().copied().collect(),
            };
            piles.into_iter().filter(|cell| !world.was_taken(*cell)).count()
        });
        self.judge.check(&rules::TOTAL, remaining == 0, || {
            format!("expected no pile after {after}, which took the last nugget, received {remaining}")
        });
        for &number in told {
            self.attend(number);
            let who = self.who(number);
            let client = &self.clients[number];
            let (text, log, left) = (client.quit.clone(), client.log.clone(), client.left);
            let Some(text) = text else {
                self.judge.check(&rules::OVER, false, || {
                    format!("{who}: expected QUIT after the last nugget, received none")
                });
                continue;
            };
            // DISPLAYs of earlier steps of a run still show the pile.
            let sees = client.role == Role::Spectator || self.last_sender == Some(number);
            let is_shown = !sees || !taken.iter().any(|cell| client.display.get(cell.index()) == Some(&b'*'));
            let text = String::from_utf8_lossy(&text).into_owned();
            let begins = text.trim_start().starts_with(OVER);
            self.judge.check(&rules::OVER, begins, || {
                format!("{who}: expected QUIT {OVER} after the last nugget, received QUIT {}", shown(text.as_bytes()))
            });
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let table = self.table();
            self.judge_table(&who, &lines, &table);
            let before = &log[..log.iter().position(|&kind| kind == Kind::Quit).unwrap_or(log.len())];
            let last = left == Some(0) && before.contains(&Kind::Gold);
            self.judge.check(&rules::LAST, last, || {
                format!("{who}: expected GOLD with 0 left before QUIT, received {}", kinds(&log))
            });
            let shown = before.contains(&Kind::Display);
            self.judge.check(&rules::SHOW, shown, || {
                format!("{who}: expected DISPLAY before QUIT, received {}", kinds(&log))
            });
            if shown && !is_shown {
                // Alternatively, the server leaves piles where they were.
                let wrong = || format!("{who}: expected a DISPLAY without the last pile, received {}", kinds(&log));
                self.judge.under(&rules::SHOW, |judge| {
                    judge.check(&rules::TAKEN, false, wrong);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// The rows of the final table in the order of joining, with the purses that the server has reported to its
    /// clients. The player of the last key has the gold that is missing in them.
    pub(super) fn table(&self) -> Vec<Row> {
        let purses: u32 = self.joined.iter().map(|(.., number)| self.clients[*number].purse).sum();
        let rest = self.total.unwrap_or(GOLD).saturating_sub(purses);
        let is_last = |number: usize| self.clients[number].left != Some(0) && self.last_sender == Some(number);
        let row = |(letter, name, number): &(nuggets::Letter, nuggets::Name, usize)| Row {
            letter: letter.byte(),
            purse: self.clients[*number].purse + if is_last(*number) { rest } else { 0 },
            name: name.to_string(),
        };
        self.joined.iter().map(row).collect()
    }

    // Judges the rows of a table, regardless of the form of its columns.
    fn judge_table(&mut self, who: &str, lines: &[String], table: &[Row]) {
        let rows: Vec<(Row, &String)> = lines.iter().filter_map(|line| row(line).map(|row| (row, line))).collect();
        for right in table {
            let letter = char::from(right.letter);
            let has_left =
                self.joined.iter().any(|(of, _, number)| of.byte() == right.letter && self.clients[*number].has_left);
            let found = rows.iter().find(|(row, _)| row.letter == right.letter);
            if has_left {
                self.judge.check(&rules::QUITTER_ROW, found.is_some(), || {
                    format!("{who}: expected a row of player {letter}, who has quit, received none")
                });
            }
            let Some((row, line)) = found else {
                if !has_left {
                    self.judge.check(&rules::TABLE, false, || {
                        let first = lines.get(1).map_or_else(|| "no row".to_owned(), |row| shown(row.as_bytes()));
                        format!("{who}: expected a row of player {letter}, received none; the first row is {first}")
                    });
                }
                continue;
            };
            let told = |what: &str| {
                let purse = right.purse;
                format!(
                    "{who}: expected the row '{letter} {purse:>10} {}'{what}, received {}",
                    right.name,
                    shown(line.as_bytes())
                )
            };
            self.judge.check(&rules::TABLE, row.purse == right.purse, || told(""));
            self.judge.check(&rules::TABLE_FORM, line.starts_with(&format!("{letter} {:>10} ", row.purse)), || {
                told(", as in the example of the task")
            });
            let rule = if right.name.len() == LONGEST_NAME { &rules::NAME_LENGTH } else { &rules::NAMES };
            self.judge.check(rule, row.name.trim() == right.name.trim(), || told(""));
        }
    }

    /// Judges the table that the server prints to standard output.
    pub(super) fn judge_summary(&mut self, run: &mut dyn Run) {
        let wanted: Vec<String> =
            self.table().iter().map(|row| format!("{} {}", char::from(row.letter), row.purse)).collect();
        let by = self.options.deadline();
        // Rows may be in any order, and names are judged elsewhere.
        let mut open: Vec<&str> = wanted.iter().map(String::as_str).collect();
        while !open.is_empty()
            && let Some(line) = run.line(by)
        {
            if let Some(found) = row(&line) {
                let found = format!("{} {}", char::from(found.letter), found.purse);
                open.retain(|row| *row != found);
            }
        }
        let missing = open.first().map(|row| (*row).to_owned());
        self.judge.check(&rules::SUMMARY, missing.is_none(), || {
            format!(
                "expected a line with the letter and the purse '{}' on standard output, received none",
                missing.unwrap_or_default()
            )
        });
    }
}
