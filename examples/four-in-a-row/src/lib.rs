//! Four in a row: two players drop discs into seven columns, and the first with four discs in a line wins.
#![no_std]

extern crate alloc;

use alloc::{string::String, vec, vec::Vec};
use netcore::Level;
use serde::{Deserialize, Serialize};
use turnbased::{NoOptions, Rules};

const COLUMNS: usize = 7;
const ROWS: usize = 6;
/// Discs in a line that win.
const LINE: usize = 4;
/// Moves that a hard bot looks ahead after its own.
const DEPTH: u32 = 4;

/// A position, which both players see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The seat that moves first.
    first: u8,
    /// The discs of each column from the bottom up, as the seats of their players.
    columns: Vec<Vec<u8>>,
    /// The winning discs as column and row, both from 0.
    line: Option<Vec<(usize, usize)>>,
}

impl Position {
    fn discs(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    fn seat_at(&self, column: usize, row: usize) -> Option<u8> {
        self.columns.get(column)?.get(row).copied()
    }

    /// Four discs in a line with the top disc of this column.
    fn line_through(&self, column: usize) -> Option<Vec<(usize, usize)>> {
        let row = self.columns[column].len() - 1;
        let seat = self.seat_at(column, row);
        let discs = |(right, up): (isize, isize)| {
            let cell = move |steps: isize| {
                let column = column.checked_add_signed(right * steps)?;
                Some((column, row.checked_add_signed(up * steps)?))
            };
            let is_own = move |cell: &(usize, usize)| self.seat_at(cell.0, cell.1) == seat;
            let towards = move |sign: isize| (1..).map_while(move |steps| cell(sign * steps).filter(is_own));
            towards(-1).chain([(column, row)]).chain(towards(1)).collect::<Vec<_>>()
        };
        [(1, 0), (0, 1), (1, 1), (1, -1)].into_iter().map(discs).find(|discs| discs.len() >= LINE)
    }

    /// Of the position for the player who moves next: positive if that player can force a line.
    fn value(&self, depth: u32) -> i32 {
        if self.line.is_some() {
            // The other player has the line; a later defeat is better.
            return -1 - i32::try_from(depth).unwrap_or(0);
        }
        if depth == 0 {
            return 0;
        }
        self.moves().iter().map(|column| -self.after(*column).value(depth - 1)).max().unwrap_or(0)
    }

    fn after(&self, column: u8) -> Self {
        let mut next = self.clone();
        next.play(&column);
        next
    }
}

impl Rules for Position {
    const NAME: &'static str = "four-in-a-row";
    const TITLE: &'static str = "Four in a row";
    const VERSION: u32 = 1;
    const IS_EXAMPLE: bool = true;

    type Options = NoOptions;
    /// A column, from 1 on the left to 7.
    type Move = u8;
    type View = Self;

    fn setup(_: &NoOptions, seed: u64) -> Self {
        Self { first: u8::from(seed >> 63 == 1), columns: vec![vec![]; COLUMNS], line: None }
    }

    fn turn(&self) -> Option<u8> {
        let is_over = self.line.is_some() || self.discs() == COLUMNS * ROWS;
        (!is_over).then_some(if self.discs().is_multiple_of(2) { self.first } else { 1 - self.first })
    }

    fn moves(&self) -> Vec<u8> {
        if self.turn().is_none() {
            return vec![];
        }
        (1..).zip(&self.columns).filter(|(_, discs)| discs.len() < ROWS).map(|(column, _)| column).collect()
    }

    fn play(&mut self, column: &u8) {
        let Some(seat) = self.turn() else { return };
        let column = usize::from(*column) - 1;
        self.columns[column].push(seat);
        self.line = self.line_through(column);
    }

    fn view(&self, _: Option<u8>) -> Self {
        self.clone()
    }

    fn text(view: &Self) -> String {
        let disc = |column, row| view.seat_at(column, row).map_or('.', |seat| if seat == 0 { 'X' } else { 'O' });
        let line = |row| (0..COLUMNS).map(|column| disc(column, row)).chain(['\n']).collect::<String>();
        (0..ROWS).rev().map(line).chain(["1234567".into()]).collect()
    }

    fn scores(&self) -> Vec<i64> {
        let winner = self.line.as_ref().and_then(|line| self.seat_at(line[0].0, line[0].1));
        (0..2).map(|seat| i64::from(winner == Some(seat))).collect()
    }

    fn choose(view: &Self, _: u8, moves: &[u8], level: Level, draw: u64) -> usize {
        let depth = match level {
            Level::Easy => 0,
            Level::Normal => 1,
            Level::Hard => DEPTH,
        };
        let values: Vec<i32> = moves.iter().map(|column| -view.after(*column).value(depth)).collect();
        let best: Vec<usize> = (0..moves.len()).filter(|&index| Some(&values[index]) == values.iter().max()).collect();
        best[usize::try_from(draw % best.len() as u64).unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(columns: &[u8]) -> Position {
        let mut position = Position::setup(&NoOptions {}, 0);
        for column in columns {
            position.play(column);
        }
        position
    }

    #[test]
    fn four_discs_in_any_direction_win() {
        for (columns, winner) in [
            (&[1, 1, 2, 2, 3, 3, 4][..], 0),
            (&[1, 2, 1, 2, 1, 2, 1], 0),
            (&[1, 2, 2, 3, 3, 4, 3, 4, 4, 6, 4], 0),
            (&[1, 4, 3, 3, 2, 2, 5, 2, 1, 1, 6, 1], 1),
        ] {
            let position = played(columns);
            let mut scores = vec![0, 0];
            scores[winner] = 1;
            assert_eq!((position.turn(), position.scores()), (None, scores), "{columns:?}");
            assert_eq!((played(&columns[..columns.len() - 1]).line, position.moves()), (None, vec![]), "{columns:?}");
        }
    }

    #[test]
    fn full_board_without_a_line_is_a_draw() {
        let position = played(&b"143573177545616361724317243756132625424562".map(|digit| digit - b'0'));
        assert_eq!(position.discs(), 42);
        assert_eq!((position.turn(), position.scores()), (None, vec![0, 0]));
    }

    #[test]
    fn bots_win_and_prevent_lines_if_they_can() {
        for level in [Level::Normal, Level::Hard] {
            let wins = played(&[1, 1, 2, 2, 3, 3]);
            assert_eq!(wins.moves()[Position::choose(&wins, 0, &wins.moves(), level, 7)], 4);
            let threatened = played(&[1, 7, 1, 7, 1]);
            assert_eq!(threatened.moves()[Position::choose(&threatened, 1, &threatened.moves(), level, 7)], 1);
        }
    }
}
