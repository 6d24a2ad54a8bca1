//! Parses the final table of a QUIT message.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{game::MAX_PLAYERS, protocol::Letter};

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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

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
}
