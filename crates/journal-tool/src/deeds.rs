//! What everybody did, and under which names.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
    sync::Arc,
};

use bytes::Bytes;
use journal::{Arrival, Peer, Replay, What};
use netcore::{GameEvent, Leave, Link, Output, PeerId, Time};

use crate::{
    games::Game,
    words::{clock, plain},
};

/// Somebody who has a seat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// The name it gave; empty for one that only looks on.
    pub name: String,
    /// The seat, in the game's own words.
    pub seat: String,
}

impl Guest {
    /// What it is called.
    pub fn called(&self) -> String {
        plain(if self.name.is_empty() { &self.seat } else { &self.name })
    }
}

/// Something that somebody did, or that happened to the game.
#[derive(Debug, Clone)]
pub struct Deed {
    /// When.
    pub time: Time,
    /// For which turn, where there are turns.
    pub turn: Option<u64>,
    what: Did,
}

#[derive(Debug, Clone)]
enum Did {
    Said { who: Who, link: Link, bytes: Bytes },
    Happened(Arc<str>),
}

// The address of somebody without a seat.
type Who = Result<Arc<Guest>, Arc<str>>;

impl Deed {
    pub(crate) fn happened(time: Time, text: &str) -> Self {
        Self { time, turn: None, what: Did::Happened(text.into()) }
    }

    /// It in words; none for a message that has no effect of its own.
    pub fn words<E: Game>(&self) -> Option<String> {
        let text = match &self.what {
            Did::Happened(text) => text.to_string(),
            Did::Said { who, link, bytes } => {
                let who = match who {
                    Ok(guest) => guest.called(),
                    Err(address) => plain(address),
                };
                let what = match E::said(*link, bytes) {
                    Some(said) => said.deed?,
                    None => " sent what is no message".into(),
                };
                format!("{who}{what}")
            }
        };
        Some(match self.turn {
            Some(turn) => format!("{} turn {turn}: {text}", clock(self.time)),
            None => format!("{} {text}", clock(self.time)),
        })
    }
}

/// Who is there under which name, and what was done last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cast {
    guests: BTreeMap<PeerId, Arc<Guest>>,
    // As it was before the arrival that is being taken in.
    sender: Option<(Who, Link)>,
    game: u32,
}

impl Cast {
    /// Those who are there when a replay begins in the middle.
    pub(crate) fn of<E: Game>(replay: &Replay<E>) -> Self {
        let engine = replay.room().engine();
        let guest = |peer: &Peer| Some((peer.peer, Arc::new(engine.guest(peer)?)));
        Self { guests: replay.peers().filter_map(guest).collect(), sender: None, game: 0 }
    }

    /// The game that was begun last.
    pub(crate) const fn game(&self) -> u32 {
        self.game
    }

    /// Who has a seat.
    pub(crate) fn guest(&self, peer: PeerId) -> Option<&Arc<Guest>> {
        self.guests.get(&peer)
    }

    /// To be called before the room takes an arrival in.
    pub(crate) fn before<E: Game>(&mut self, replay: &Replay<E>, arrival: &Arrival) {
        self.sender = match &arrival.what {
            What::Bytes { peer, .. } => {
                let found = replay.peer(*peer);
                let who = match self.guests.get(peer) {
                    Some(guest) => Ok(Arc::clone(guest)),
                    None => Err(found.map_or("somebody", |peer| &peer.address).into()),
                };
                Some((who, found.map_or(Link::Message, |peer| peer.link)))
            }
            _ => None,
        };
    }

    /// To be called afterwards: what was done, and what came of it.
    pub(crate) fn after<E: Game>(
        &mut self,
        replay: &Replay<E>,
        arrival: &Arrival,
        outputs: &[Output],
        mut tell: impl FnMut(Deed),
    ) {
        let time = arrival.time;
        // What somebody wants is for the turn that comes.
        let turn = replay.room().engine().turn();
        match (&arrival.what, self.sender.take()) {
            (What::Bytes { bytes, .. }, Some((who, link))) => {
                let what = Did::Said { who, link, bytes: bytes.clone() };
                tell(Deed { time, turn: turn.map(|turn| turn + 1), what });
            }
            (What::Stop(leave), _) => {
                let text = match leave {
                    Leave::Over => "the server was stopped",
                    Leave::Resumable => "the server was stopped, to go on later",
                };
                tell(Deed { time, turn, what: Did::Happened(text.into()) });
            }
            _ => {}
        }
        for output in outputs {
            let Output::Event(event) = output else { continue };
            let address = |peer: &PeerId| replay.peer(*peer).map(|peer| peer.address.clone());
            if let Some(text) = self.hear(event, address) {
                tell(Deed { time, turn, what: Did::Happened(text.into()) });
            }
        }
    }

    /// Takes in what happened, and says it in words if that is worth it.
    pub(crate) fn hear(&mut self, event: &GameEvent, address: impl Fn(&PeerId) -> Option<String>) -> Option<String> {
        let who = |name: &str, seat: &str| Guest { name: name.to_owned(), seat: seat.to_owned() }.called();
        Some(match event {
            GameEvent::Waiting { name, before: 0, .. } => format!("{} waits for a seat", plain(name)),
            GameEvent::Waiting { name, before, .. } => format!("{} waits for a seat behind {before}", plain(name)),
            GameEvent::Joined { peer, name, seat } => {
                self.guests.insert(*peer, Arc::new(Guest { name: name.clone(), seat: seat.clone() }));
                let from = address(peer).map_or_else(String::new, |address| format!(" from {}", plain(&address)));
                if name.is_empty() {
                    format!("a {} came{from}", plain(seat))
                } else {
                    format!("{} joined as {}{from}", plain(name), plain(seat))
                }
            }
            GameEvent::Left { peer, name, seat, why } => {
                self.guests.remove(peer);
                format!("{} left: {}", who(name, seat), plain(&why.to_string()))
            }
            GameEvent::Started { game, players } => {
                self.game = *game;
                format!("game {game} began with {players}")
            }
            GameEvent::Ended { game, complete, standings } => {
                let mut text = format!("game {game} ended");
                if !complete {
                    text.push_str(" early");
                }
                for (number, standing) in standings.iter().enumerate() {
                    let between = if number == 0 { ": " } else { ", " };
                    // Memory is all that it takes.
                    let _ = write!(text, "{between}{}. {} {}", standing.rank, plain(&standing.name), standing.score);
                }
                text
            }
            GameEvent::Progress { .. } | GameEvent::Notice { .. } | GameEvent::Summary(_) => return None,
        })
    }
}

/// The last deeds, newest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Newest(VecDeque<Deed>);

impl Newest {
    /// As many as any window shows.
    const KEPT: usize = 24;

    pub(crate) fn push(&mut self, deed: Deed) {
        if self.0.len() == Self::KEPT {
            self.0.pop_back();
        }
        self.0.push_front(deed);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Deed> {
        self.0.iter()
    }
}
