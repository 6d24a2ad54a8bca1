//! Blackjack: the tables as text, or what a player saw.

use ::games::blackjack_message;
use blackjack::{
    Action, Client, Config, Dialect, Name, PlayerMessage, Score, Server, StateSpace, Verdict, client::MessageEffect,
    exact::Solver, learn::Choice,
};
use bytes::Bytes;
use journal_core::Replay;
use netcore::{Client as _, Link, Time};
use player::{Advisor, Game as Shown};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Paragraph, Widget},
};
use termkit::Palette;

use super::{Game, GameDisplay, PeerIdentity, Scroll};
use crate::format::grouped;

impl Game for Server {
    type Display = Table;

    fn describe_setup(config: &Config, secrets: bool) -> Vec<(&'static str, String)> {
        let others = if config.forever { ", replaced when they are over" } else { "" };
        let mut words = vec![
            ("tables", format!("{} of {} seats{others}", config.tables, config.players)),
            ("rounds", format!("{} at each table", grouped(config.rounds.into()))),
            ("pause", format!("{} ms between two messages to a text client", config.delay.as_millis())),
            ("timeout", format!("{} s for an answer", config.timeout.as_secs_f64())),
        ];
        let seed = if secrets {
            serde_json::to_value(config.seed).map(|seed| seed.to_string()).unwrap_or_default()
        } else {
            "hidden, because it determines the cards (--secrets shows it)".into()
        };
        words.push(("seed", seed));
        words
    }

    // A seat is named "table 1, seat 2". Users may type 1:2, or 2 for a seat of the first table.
    fn is_seat(seat: &str, typed: &str) -> bool {
        let short = seat.strip_prefix("table ").and_then(|rest| rest.split_once(", seat "));
        let (table, number) = typed.split_once(':').unwrap_or(("1", typed));
        seat == typed || short == Some((table, number))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Table {
    seat: bool,
    hand: Option<Hand>,
}

#[derive(Debug, Clone)]
struct Hand {
    name: Name,
    link: Link,
    // `None` before the first message, which reveals the dialect.
    client: Option<Client>,
    begun: u64,
    score: Score,
    last: Option<(u8, Verdict)>,
}

impl Hand {
    fn receive(&mut self, frame: &Bytes, time: Time) {
        let Self { name, link, .. } = self;
        let dialect = if frame.first() == Some(&0) { Dialect::Binary } else { Dialect::Text };
        let client =
            self.client.get_or_insert_with(|| Client::new(name.clone(), dialect, link.framing(), StateSpace::Soft));
        while client.take_outgoing().is_some() {}
        // On an error the client ends its game, like a real one.
        let _ = client.receive(time, frame);
        while let Some(event) = client.poll_event() {
            match event.effect {
                MessageEffect::Began => self.begun += 1,
                MessageEffect::Ended { verdict, total, .. } => {
                    self.score.add(verdict);
                    self.last = Some((total, verdict));
                }
                MessageEffect::Dealt | MessageEffect::DecisionDue | MessageEffect::Ignored | MessageEffect::Quit => {}
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct TableView {
    palette: Palette,
    scroll: Scroll,
    // Created when a hand is first shown, because computing the odds takes a while.
    shown: Option<(Name, Shown)>,
    advisor: Option<Advisor>,
}

impl GameDisplay<Server> for Table {
    type View = TableView;

    fn new(seat: bool) -> Self {
        Self { seat, hand: None }
    }

    fn take_seat(&mut self, identity: &PeerIdentity, link: Link, _: Time) {
        let Ok(name) = Name::new(identity.name.as_bytes()) else { return };
        let (begun, score) = (0, Score::default());
        self.hand = Some(Hand { name, link, client: None, begun, score, last: None });
    }

    fn receive(&mut self, _: bool, frame: &Bytes, time: Time) {
        if let Some(hand) = &mut self.hand {
            hand.receive(frame, time);
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        // The client computes the effect of its own answer.
        let action = match blackjack_message(bytes) {
            Some(PlayerMessage::Hit) => Action::Hit,
            Some(PlayerMessage::Stand) => Action::Stand,
            Some(PlayerMessage::Join(_)) | None => return,
        };
        if let Some(client) = self.hand.as_mut().and_then(|hand| hand.client.as_mut()) {
            // The dealer answers unsolicited decisions.
            let _ = client.decide(Choice::sure(action));
        }
    }

    fn view(palette: Palette) -> TableView {
        TableView { palette, scroll: Scroll::default(), shown: None, advisor: None }
    }

    fn scroll(&self, view: &mut TableView, _: i32, rows: i32) {
        view.scroll.scroll(rows.saturating_mul(4));
    }

    fn draw(&mut self, view: &mut TableView, replay: &Replay<Server>, area: Rect, buffer: &mut Buffer) {
        let Some(hand) = self.hand.as_ref() else {
            if self.seat {
                return Paragraph::new("This seat has not been taken.").render(area, buffer);
            }
            return view.scroll.draw(&replay.room().engine().view().to_string(), area, buffer);
        };
        let Some(client) = &hand.client else {
            return Paragraph::new(format!("{} waits for the first round.", hand.name)).render(area, buffer);
        };
        let advisor = view.advisor.get_or_insert_with(|| {
            let solver = Solver::new();
            let best = solver.best(StateSpace::Soft);
            Advisor::new(solver, best)
        });
        if view.shown.as_ref().is_none_or(|(name, _)| *name != hand.name) {
            view.shown = Some((hand.name.clone(), Shown::new(hand.name.clone(), client.dialect(), advisor.clone())));
        }
        let Some((_, shown)) = &mut view.shown else { return };
        shown.take_over(client.clone(), hand.score, hand.begun, hand.last);
        player::View::new(view.palette).render(shown, area, buffer);
    }
}
