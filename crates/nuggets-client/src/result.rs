//! The screen at the end of a game: the ranks, or why the game ended otherwise.

use nuggets::{Client, End, Score, Scores};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::Line,
    widgets::{Clear, Widget},
};
use termkit::{RETURN, Rank, Ranking, fit};

const MAX_LINES: usize = 12;
const MAX_COLUMNS: usize = 240;

/// Shown over the last board or beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    title: String,
    ranks: Vec<Rank>,
    text: Vec<String>,
    pub(crate) keys: Vec<String>,
    /// The keys beside the board without the result, in the last line.
    pub(crate) bar: String,
}

impl Verdict {
    /// Marks the client's own row. Without a result, the notice that its server is gone.
    pub(crate) fn of(client: &Client) -> Self {
        let scores = client.scores();
        let (title, text) = match (client.end(), &scores) {
            (Some(end), Some(_)) if end.is_game_over() => ("Game over", vec![]),
            (Some(End::Quit(_)), Some(scores)) => ("The end", vec![fit(&scores.heading, MAX_COLUMNS)]),
            (Some(End::Quit(text)), None) => {
                ("The end", text.lines().take(MAX_LINES).map(|line| fit(line, MAX_COLUMNS)).collect())
            }
            _ => ("Server gone", vec!["The server's port is closed.".to_owned(), left(client)]),
        };
        let ranks = scores.map_or_else(Vec::new, |scores| ranks(&scores, client));
        Self { title: title.to_owned(), ranks, text, ..Self::default() }
    }

    pub(crate) fn of_last(client: &Client) -> Option<Self> {
        let ranks = ranks(&client.scores()?, client);
        let keys = vec![RETURN.1.to_owned()];
        Some(Self { title: "The last game".to_owned(), ranks, keys, ..Self::default() })
    }
}

// The purse when the server was lost.
fn left(client: &Client) -> String {
    let remaining = client.remaining();
    match client.letter() {
        Some(_) => format!("You had {} nuggets, {remaining} were unclaimed.", client.purse()),
        None => format!("{remaining} nuggets were unclaimed."),
    }
}

// Best first. Equal purses share a rank.
fn ranks(scores: &Scores, client: &Client) -> Vec<Rank> {
    let mut order: Vec<&Score> = scores.rows.iter().collect();
    order.sort_by_key(|row| std::cmp::Reverse(row.purse));
    let rank = |row: &&Score| Rank {
        rank: order.iter().filter(|other| other.purse > row.purse).count() + 1,
        name: format!("{} {}", row.letter, row.name),
        score: row.purse.to_string(),
        value: row.purse,
        own: client.letter() == Some(row.letter),
    };
    order.iter().map(rank).collect()
}

impl Widget for &Verdict {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let lines: Vec<&str> = self.text.iter().chain(&self.keys).map(String::as_str).collect();
        Ranking::new(&self.title, &self.ranks, &lines).render(area, buffer);
    }
}

impl Verdict {
    pub(crate) fn render_bar(&self, area: Rect, buffer: &mut Buffer) {
        let line = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
        if !self.bar.is_empty() {
            Clear.render(line, buffer);
            Line::raw(&*self.bar).render(line, buffer);
        }
    }

    pub(crate) fn width(&self) -> u16 {
        let lines: Vec<&str> = self.text.iter().chain(&self.keys).map(String::as_str).collect();
        Ranking::new(&self.title, &self.ranks, &lines).size().width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::{Client as _, DisconnectReason, Time};
    use nuggets::{Name, Participant};

    fn client(part: Participant, messages: &[&str]) -> Client {
        let mut client = Client::new(part, Time::ZERO);
        for message in ["GRID 1 8", "GOLD 0 3 247", "DISPLAY\n@....B.*\n"].iter().chain(messages) {
            client.receive(Time::ZERO, message.as_bytes()).unwrap();
        }
        client
    }

    fn bob(end: &str) -> Client {
        client(Participant::Player(Name::new(b"Bob").unwrap()), &["OK B", end])
    }

    #[test]
    fn ranks_are_by_purse_and_equal_purses_share_one() {
        let verdict = Verdict::of(&bob("QUIT GAME OVER:\nA         50 Ann\nB        150 Bob\nC         50 Cleo"));
        let rows: Vec<_> = verdict.ranks.iter().map(|rank| (rank.rank, &*rank.name, &*rank.score, rank.own)).collect();
        assert_eq!(rows, [(1, "B Bob", "150", true), (2, "A Ann", "50", false), (2, "C Cleo", "50", false)]);
        assert_eq!((verdict.title.as_str(), verdict.text.len()), ("Game over", 0));
    }

    #[test]
    fn end_is_shown_in_the_text_of_the_server() {
        let stopped = Verdict::of(&bob("QUIT The server was stopped.\nB          3 Bob"));
        assert_eq!((stopped.ranks.len(), stopped.text), (1, vec!["The server was stopped.".to_owned()]));
        let idle = Verdict::of(&bob("QUIT You sent no key for 60 seconds and have lost your seat."));
        assert_eq!((idle.title.as_str(), idle.ranks.len(), idle.text.len()), ("The end", 0, 1));
        for (mut gone, left) in [
            (bob("GOLD 0 3 247"), "You had 3 nuggets, 247 were unclaimed."),
            (client(Participant::Spectator, &[]), "247 nuggets were unclaimed."),
        ] {
            gone.disconnected(Time::ZERO, DisconnectReason::Broken);
            let gone = Verdict::of(&gone);
            assert_eq!((gone.title.as_str(), &*gone.text[1]), ("Server gone", left));
        }
    }
}
