use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
    sync::Arc,
};

use bytes::Bytes;
use journal_core::{Arrival, Peer, Replay};
use netcore::{GameEvent, Input, Leave, Link, Output, PeerId, Time};

use crate::{
    format::{clock, plain},
    games::{Game, PeerIdentity},
};

/// An action of a peer, or an event of the game.
#[derive(Debug, Clone)]
pub(crate) struct Action {
    pub time: Time,
    /// The turn to which the action applies, if the game has turns.
    pub turn: Option<u64>,
    what: ActionKind,
}

#[derive(Debug, Clone)]
enum ActionKind {
    Sent { who: Sender, link: Link, bytes: Bytes },
    Malformed(Sender),
    Event(Arc<str>),
}

// The address if the peer has no seat.
type Sender = Result<Arc<PeerIdentity>, Arc<str>>;

impl Action {
    pub(crate) fn event(time: Time, text: &str) -> Self {
        Self { time, turn: None, what: ActionKind::Event(text.into()) }
    }

    /// `None` for a message without an effect of its own.
    pub(crate) fn words<E: Game>(&self) -> Option<String> {
        let text = match &self.what {
            ActionKind::Event(text) => text.to_string(),
            ActionKind::Sent { who, link, bytes } => match E::describe(*link, bytes) {
                Some(message) => format!("{}{}", label(who), message.action?),
                None => malformed(who),
            },
            ActionKind::Malformed(who) => malformed(who),
        };
        Some(match self.turn {
            Some(turn) => format!("{} turn {turn}: {text}", clock(self.time)),
            None => format!("{} {text}", clock(self.time)),
        })
    }
}

fn label(who: &Sender) -> String {
    match who {
        Ok(identity) => identity.label(),
        Err(address) => plain(address),
    }
}

fn malformed(who: &Sender) -> String {
    format!("{} sent a malformed message", label(who))
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    identities: BTreeMap<PeerId, Arc<PeerIdentity>>,
    // The sender, before its arrival is processed.
    sender: Option<(Sender, Link)>,
    pub(crate) game: u32,
}

impl Names {
    /// Reads the seats from the state, since a replay may start in the middle of a match.
    pub(crate) fn of<E: Game>(replay: &Replay<E>) -> Self {
        let engine = replay.room().engine();
        let identity = |peer: &Peer| Some((peer.peer, Arc::new(engine.identity(peer)?)));
        Self { identities: replay.peers().filter_map(identity).collect(), sender: None, game: 0 }
    }

    pub(crate) fn identity(&self, peer: PeerId) -> Option<&Arc<PeerIdentity>> {
        self.identities.get(&peer)
    }

    /// Must be called before the room processes the arrival.
    pub(crate) fn before<E: Game>(&mut self, replay: &Replay<E>, arrival: &Arrival) {
        self.sender = match &arrival.input {
            Input::Message { peer, .. } | Input::Malformed { peer, .. } => {
                let found = replay.peer(*peer);
                let who = match self.identities.get(peer) {
                    Some(identity) => Ok(Arc::clone(identity)),
                    None => Err(found.map_or("somebody", |peer| &peer.address).into()),
                };
                Some((who, found.map_or(Link::Message, |peer| peer.link)))
            }
            _ => None,
        };
    }

    /// Must be called after the room has processed the arrival. Reports the action and its effects.
    pub(crate) fn after<E: Game>(
        &mut self,
        replay: &Replay<E>,
        arrival: &Arrival,
        outputs: &[Output],
        mut report: impl FnMut(Action),
    ) {
        let time = arrival.time;
        // An action applies to the next turn.
        let turn = replay.room().engine().turn();
        match (&arrival.input, self.sender.take()) {
            (Input::Message { message: bytes, .. }, Some((who, link))) => {
                let what = ActionKind::Sent { who, link, bytes: bytes.clone() };
                report(Action { time, turn: turn.map(|turn| turn + 1), what });
            }
            (Input::Malformed { .. }, Some((who, _))) => {
                report(Action { time, turn: turn.map(|turn| turn + 1), what: ActionKind::Malformed(who) });
            }
            (Input::Stop(leave), _) => {
                let text = match leave {
                    Leave::Over => "the server was stopped",
                    Leave::Resumable => "the server was suspended",
                };
                report(Action { time, turn, what: ActionKind::Event(text.into()) });
            }
            _ => {}
        }
        for output in outputs {
            let Output::Event(event) = output else { continue };
            let address = |peer: &PeerId| replay.peer(*peer).map(|peer| peer.address.clone());
            if let Some(text) = self.apply(event, address) {
                report(Action { time, turn, what: ActionKind::Event(text.into()) });
            }
        }
    }

    /// `None` if the event is not shown.
    pub(crate) fn apply(&mut self, event: &GameEvent, address: impl Fn(&PeerId) -> Option<String>) -> Option<String> {
        let who = |name: &str, seat: &str| PeerIdentity { name: name.to_owned(), seat: seat.to_owned() }.label();
        Some(match event {
            GameEvent::Waiting { name, before: 0, .. } => format!("{} waits for a seat", plain(name)),
            GameEvent::Waiting { name, before, .. } => {
                format!("{} waits for a seat after {before} others", plain(name))
            }
            GameEvent::Joined { peer, name, seat } => {
                self.identities.insert(*peer, Arc::new(PeerIdentity { name: name.clone(), seat: seat.clone() }));
                let from = address(peer).map_or_else(String::new, |address| format!(" from {}", plain(&address)));
                if name.is_empty() {
                    format!("a {} came{from}", plain(seat))
                } else {
                    format!("{} joined as {}{from}", plain(name), plain(seat))
                }
            }
            GameEvent::Left { peer, name, seat, why } => {
                self.identities.remove(peer);
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
                    let _ = write!(text, "{between}{}. {} {}", standing.rank, plain(&standing.name), standing.score);
                }
                text
            }
            GameEvent::Progress { .. } | GameEvent::Notice { .. } | GameEvent::Summary(_) => return None,
        })
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Latest(VecDeque<Action>);

impl Latest {
    /// Enough for the widest window.
    const MAX: usize = 24;

    pub(crate) fn push(&mut self, action: Action) {
        if self.0.len() == Self::MAX {
            self.0.pop_back();
        }
        self.0.push_front(action);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Action> {
        self.0.iter()
    }
}
