//! Parses the final table of a QUIT message.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use netcore::DisconnectReason;

use crate::{
    game::{MAX_PLAYERS, PILE},
    protocol::Letter,
};

/// The final table of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scores {
    /// The text above the table, such as `GAME OVER:`.
    pub heading: String,
    /// At most [`MAX_PLAYERS`], in the server's order.
    pub rows: Vec<Score>,
}

/// The result of one player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Score {
    /// The letter.
    pub letter: Letter,
    /// Nuggets in its purse.
    pub purse: u32,
    /// Its name.
    pub name: String,
}

impl Scores {
    /// Parses the text of a QUIT: some lines, then a row for each player, with any number of blanks between the
    /// columns, since servers differ. Returns `None` without such rows.
    ///
    /// ```
    /// use nuggets::Scores;
    /// let scores = Scores::read("GAME OVER:\nA          4 Alice\nB        246 Bob").unwrap();
    /// assert_eq!((scores.rows[1].purse, scores.rows[1].name.as_str()), (246, "Bob"));
    /// assert_eq!(Scores::read("Thanks for playing!"), None);
    /// ```
    pub fn read(text: &str) -> Option<Self> {
        let above = text.lines().take_while(|line| row(line).is_none()).collect::<Vec<_>>();
        let rows: Vec<Score> = text.lines().skip(above.len()).map_while(row).take(MAX_PLAYERS).collect();
        (!rows.is_empty()).then(|| Self { heading: above.join(" ").trim().to_string(), rows })
    }

    /// The row of the player with this letter.
    pub fn of(&self, letter: Letter) -> Option<&Score> {
        self.rows.iter().find(|row| row.letter == letter)
    }
}

fn row(line: &str) -> Option<Score> {
    let (letter, rest) = line.split_at_checked(1)?;
    let letter = Letter::from_byte(*letter.as_bytes().first()?)?;
    let rest = rest.strip_prefix([' ', '\t', ':'])?.trim_start();
    let (purse, name) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    let digits = !purse.is_empty() && purse.bytes().all(|byte| byte.is_ascii_digit());
    let purse = purse.parse().ok().filter(|_| digits)?;
    Some(Score { letter, purse, name: name.to_string() })
}

/// How a client's part in the game ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server sent a QUIT with this printable text.
    Quit(String),
    /// No response to the first message arrived within [`GIVE_UP`](super::GIVE_UP).
    NoAnswer,
    /// The user left before the server had admitted the client.
    LeftEarly,
    /// The user left, but no goodbye arrived within [`GOODBYE`](super::GOODBYE).
    NoGoodbye,
    /// The user left while the server's port was closed.
    Gone,
    /// The connection ended without a QUIT.
    Disconnected(DisconnectReason),
}

impl End {
    /// Whether the text of the QUIT states that the game was completed.
    pub fn is_game_over(&self) -> bool {
        matches!(self, Self::Quit(text) if text.trim_start().starts_with("GAME OVER"))
    }
}

/// Estimates the players' purses from the messages to a spectator.
///
/// These contain only the remaining gold, but a GOLD precedes the DISPLAY that shows its collector on the pile. If only
/// one player can have reached the pile, it is the collector.
#[derive(Debug, Clone, Default)]
pub(super) struct Purses {
    known: BTreeMap<Letter, u32>,
    pub(super) unknown: u32,
    fresh: u32,
}

impl Purses {
    pub(super) fn left(&mut self, before: u32, now: u32) {
        self.fresh = self.fresh.saturating_add(before.saturating_sub(now));
    }

    pub(super) fn compare(&mut self, before: &[u8], now: &[u8], width: usize) {
        let fresh = core::mem::take(&mut self.fresh);
        if fresh == 0 {
            return;
        }
        let purse = match collector(before, now, width) {
            Some(letter) => self.known.entry(letter).or_default(),
            None => &mut self.unknown,
        };
        *purse = purse.saturating_add(fresh);
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (Letter, u32)> {
        self.known.iter().map(|(&letter, &purse)| (letter, purse))
    }
}

// The only player that can have passed all missing piles.
fn collector(before: &[u8], now: &[u8], width: usize) -> Option<Letter> {
    if before.len() != now.len() || width == 0 {
        return None;
    }
    let gone: Vec<usize> = (0..now.len()).filter(|&at| before[at] == PILE && now[at] != PILE).collect();
    if gone.is_empty() {
        return None;
    }
    let mut movers = (b'A'..=b'Z').filter_map(|letter| {
        let place = |display: &[u8]| display.iter().position(|&byte| byte == letter);
        let (from, to) = (place(before)?, place(now)?);
        let on_the_way = from != to && gone.iter().all(|&pile| is_between(from, pile, to, width));
        Letter::from_byte(letter).filter(|_| on_the_way)
    });
    let first = movers.next()?;
    movers.next().is_none().then_some(first)
}

// Whether a run between two cells passes `by`.
fn is_between(from: usize, by: usize, to: usize, width: usize) -> bool {
    let steps = |one: usize, other: usize| {
        let part = |cell: usize| (i64::try_from(cell / width), i64::try_from(cell % width));
        match (part(one), part(other)) {
            ((Ok(row), Ok(col)), (Ok(to_row), Ok(to_col))) => Some((to_row - row, to_col - col)),
            _ => None,
        }
    };
    let (Some((rows, cols)), Some((by_rows, by_cols))) = (steps(from, to), steps(from, by)) else { return false };
    let straight = rows == 0 || cols == 0 || rows.abs() == cols.abs();
    let length = rows.abs().max(cols.abs());
    let by_length = by_rows.abs().max(by_cols.abs());
    straight
        && (1..=length).contains(&by_length)
        && (by_rows, by_cols) == (rows.signum() * by_length, cols.signum() * by_length)
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn rows(text: &str) -> Vec<(char, u32, String)> {
        let rows = Scores::read(text).map_or_else(Vec::new, |scores| scores.rows);
        rows.into_iter().map(|row| (char::from(row.letter.byte()), row.purse, row.name)).collect()
    }

    #[test]
    fn tables_of_this_and_other_servers_are_parsed() {
        let both = vec![('A', 4, "Alice Liddell".to_string()), ('C', 230, "Carol".to_string())];
        assert_eq!(rows("GAME OVER:\nA          4 Alice Liddell\nC        230 Carol"), both);
        assert_eq!(rows("GAME OVER:\n\nA\t4\tAlice Liddell\nC: 230 Carol\n"), both);
        let stopped = Scores::read("The server was stopped.\nB         12  Bob").unwrap();
        assert_eq!((stopped.heading.as_str(), stopped.rows[0].name.as_str()), ("The server was stopped.", " Bob"));
        assert_eq!(stopped.of(Letter::from_byte(b'A').unwrap()), None);
    }

    #[test]
    fn rows_of_a_table_are_limited_to_the_seats_of_a_game() {
        assert_eq!(rows(&"A 1 Ann\n".repeat(1_000)).len(), MAX_PLAYERS);
    }

    #[test]
    fn other_texts_are_not_parsed_as_tables() {
        for text in
            ["", "Thanks for playing!", "GAME OVER:", "A", "A ", "A x Bob", "A -1 Bob", "A 99999999999 Bob", "é"]
        {
            assert_eq!(Scores::read(text), None, "{text:?}");
        }
    }

    const WIDTH: usize = 7;

    fn attributed(before: &str, now: &str, collected: u32) -> (Vec<(u8, u32)>, u32) {
        let mut purses = Purses::default();
        purses.left(250, 250 - collected);
        purses.compare(before.as_bytes(), now.as_bytes(), WIDTH);
        (purses.entries().map(|(letter, purse)| (letter.byte(), purse)).collect(), purses.unknown)
    }

    #[test]
    fn visible_collector_is_credited_with_the_gold() {
        type Case = (&'static str, &'static str, &'static str, u32, &'static [(u8, u32)], u32);
        let cases: [Case; 7] = [
            ("a run", "A.**..\nB.....\n", ".....A\nB.....\n", 9, &[(b'A', 9)], 0),
            ("a run to the side", "A.....\n.*B...\n", "......\n.AB...\n", 3, &[(b'A', 3)], 0),
            ("only a swap", "AB*...\n......\n", "BA....\n......\n", 0, &[], 0),
            ("a swap and gold", "AB*...\n......\n", "B.A...\n......\n", 4, &[(b'A', 4)], 0),
            ("both may have come past", "A.*..B\n......\n", "B....A\n......\n", 4, &[], 4),
            ("there and back", "A.*...\n......\n", "A.....\n......\n", 4, &[], 4),
            ("another size", "A.*...\n......\n", "....\n....\n", 4, &[], 4),
        ];
        for (what, before, now, collected, known, unknown) in cases {
            assert_eq!(attributed(before, now, collected), (known.to_vec(), unknown), "{what}");
        }
    }
}
