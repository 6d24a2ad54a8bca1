//! Maintains the public state of a room for the lobby from its events, and reports results.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
};

use cmdkit::display_name;
use netcore::{Departure, GameEvent, Link, Occupant, PeerId, Phase, Role, Standing, Status, Time};
use netshell::Observer;
use tokio::sync::{mpsc, watch};
use tracing::warn;

use super::{
    hub_room::PreviousRun,
    info::{Info, Player, Row, phase, rank},
    ledger::{Ledger, match_id},
    log::Log,
    roster::{Roster, address_text, is_own_watcher},
};
use crate::games::Game;

/// Remembered seats of players who have left.
const MAX_LEFT: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeerKind {
    Person,
    Bot,
    /// For pages that show a picture of the room.
    Hub,
}

/// The peers that are connected, with and without a seat.
pub(crate) struct Presence {
    peers: BTreeMap<PeerId, PeerKind>,
    // Spectators over UDP. Their disconnection is not noticed, so they do not keep the room open.
    silent: BTreeSet<PeerId>,
    roster: Arc<Roster>,
}

impl Presence {
    // Omits peers that have to reconnect.
    pub(crate) fn of(before: Option<&PreviousRun>, roster: Arc<Roster>, info: &mut Info) -> Self {
        let mut present = Self { peers: BTreeMap::new(), silent: BTreeSet::new(), roster };
        let Some(PreviousRun { peers, occupants, wires, .. }) = before else { return present };
        for &(peer, link, address) in peers {
            if link != Link::Stream {
                present.peers.insert(peer, present.who(address));
            }
            if link == Link::Datagram && !occupants.iter().any(|occupant| occupant.peer == peer) {
                present.silent.insert(peer);
            }
        }
        let seated = |occupant: &&Occupant| present.peers.contains_key(&occupant.peer) && !occupant.name.is_empty();
        let player = |Occupant { peer, name, seat }: &Occupant| Player {
            peer: *peer,
            address: peers.iter().find(|(other, ..)| other == peer).map(|&(.., address)| address_text(address)),
            name: display_name(name).into_owned(),
            wire: wires.get(peer).cloned(),
            seat: seat.clone(),
            bot: present.is_bot(*peer),
            // Unproven until the browser reconnects with its key.
            proven: false,
            owner: false,
        };
        info.players = occupants.iter().filter(seated).map(player).collect();
        present.count(info);
        present
    }

    fn who(&self, address: SocketAddr) -> PeerKind {
        if self.roster.bot_level(address).is_some() {
            PeerKind::Bot
        } else if is_own_watcher(address) {
            PeerKind::Hub
        } else {
            PeerKind::Person
        }
    }

    fn is_bot(&self, peer: PeerId) -> bool {
        self.peers.get(&peer) == Some(&PeerKind::Bot)
    }

    fn count(&self, info: &mut Info) {
        let people = || self.peers.iter().filter(|(_, who)| **who == PeerKind::Person).map(|(&peer, _)| peer);
        info.people = people().filter(|peer| !self.silent.contains(peer)).count() + info.elsewhere;
        let plays = |peer: &PeerId| info.players.iter().any(|player| player.peer == *peer);
        info.watchers = people().filter(|peer| !plays(peer)).count() + info.elsewhere;
    }
}

/// The result of a match in a room of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClassResult {
    pub(crate) class: String,
    pub(crate) room: String,
    pub(crate) game: Game,
    pub(crate) title: String,
    /// The id of the match.
    pub(crate) id: String,
    /// Without bots.
    pub(crate) rows: Vec<Row>,
}

/// Where a room reports its results.
pub(crate) enum Reports {
    Ledger(Arc<Ledger>),
    Class { class: String, queue: mpsc::Sender<ClassResult> },
}

pub(crate) struct RoomObserver {
    pub(crate) info: Arc<watch::Sender<Info>>,
    pub(crate) present: Presence,
    pub(crate) reports: Reports,
    /// The number of the journal and its file name.
    pub(crate) journal: (u64, String),
    pub(crate) log: Arc<Log>,
    /// The seats of players who have left the current match, and their [`Player::wire`].
    pub(crate) left: BTreeMap<String, Option<String>>,
}

impl RoomObserver {
    fn change(&self, change: impl FnOnce(&mut Info)) {
        self.info.send_modify(|info| {
            change(info);
            self.present.count(info);
        });
        self.present.roster.notify();
    }

    // The seats of people, whom the hub invites to a rematch.
    fn people(&self, standings: &[Standing]) -> Vec<SocketAddr> {
        let info = self.info.borrow();
        let people = info
            .players
            .iter()
            .filter(|player| !player.bot && standings.iter().any(|standing| standing.seat == player.seat));
        people.filter_map(|player| player.address.as_deref()?.parse().ok()).collect()
    }

    fn player(&self, peer: PeerId, address: Option<&str>, name: &str, seat: &str) -> Player {
        let at = address.and_then(|address| address.parse().ok());
        Player {
            peer,
            address: address.map(str::to_owned),
            name: display_name(name).into_owned(),
            wire: self.present.roster.alias(address).filter(|alias| alias.name == name).map(|alias| alias.wire),
            seat: seat.to_owned(),
            bot: self.present.is_bot(peer),
            proven: self.present.roster.is_proven(address, name),
            owner: at.is_some_and(|at| self.present.roster.is_owner(at)),
        }
    }
}

impl RoomObserver {
    fn log(&self, event: &GameEvent, address: Option<&str>) {
        // Only the class shows the names of its members.
        if matches!(self.reports, Reports::Class { .. }) {
            return;
        }
        let host = match event {
            GameEvent::Joined { peer, .. } if self.present.is_bot(*peer) => return,
            GameEvent::Left { peer, .. }
                if self.info.borrow().players.iter().any(|player| player.peer == *peer && player.bot) =>
            {
                return;
            }
            GameEvent::Joined { peer, .. } | GameEvent::Left { peer, .. } => {
                self.present.roster.host_of(*peer, address)
            }
            _ => None,
        };
        let info = self.info.borrow();
        self.log.event((info.game, &info.id), event, host);
    }
}

impl RoomObserver {
    fn report_to_class(&self, class: &str, queue: &mpsc::Sender<ClassResult>, id: &str, rows: &[Row]) {
        let info = self.info.borrow();
        let is_bot = |row: &&Row| info.players.iter().any(|player| player.bot && player.seat == row.seat);
        let result = ClassResult {
            class: class.to_owned(),
            room: info.id.clone(),
            game: info.game,
            title: info.title.clone(),
            id: id.to_owned(),
            rows: rows.iter().filter(|row| !is_bot(row)).cloned().collect(),
        };
        if let Err(error) = queue.try_send(result) {
            warn!(room = info.id, "a result of a class is lost: {error}");
        }
    }
}

impl Observer for RoomObserver {
    fn connected(&mut self, _: Time, peer: PeerId, _: Role, address: &str) {
        let parsed: Option<SocketAddr> = address.parse().ok();
        let who = parsed.map_or(PeerKind::Person, |address| self.present.who(address));
        self.present.peers.insert(peer, who);
        self.change(|_| {});
    }

    fn closed(&mut self, _: Time, peer: PeerId) {
        self.present.peers.remove(&peer);
        self.present.silent.remove(&peer);
        self.present.roster.remove_peer(peer);
        self.change(|_| {});
    }

    fn status(&mut self, _: Time, Status { phase: now, taken, seats }: Status) {
        self.info.send_modify(|info| {
            (info.taken, info.seats) = (taken, seats);
            // The task of the room publishes the end, after all results.
            if now != Phase::Over {
                info.phase = phase(now);
            }
        });
    }

    fn event(&mut self, _: Time, event: &GameEvent, address: Option<&str>) {
        self.log(event, address);
        match event {
            // A spectator has no name.
            GameEvent::Joined { peer, name, seat } if !name.is_empty() => {
                let player = self.player(*peer, address, name, seat);
                if let Some(address) = player.address.as_deref().and_then(|address| address.parse().ok()) {
                    self.present.roster.add_member(address, &player.name, seat);
                }
                if let Reports::Ledger(ledger) = &self.reports
                    && player.proven
                {
                    ledger.name_used(name);
                }
                self.change(|info| {
                    // The player may have waited for the seat.
                    info.players.retain(|before| before.peer != player.peer);
                    info.players.push(player);
                });
            }
            GameEvent::Joined { peer, seat, .. } if seat == nuggets::server::SPECTATOR => {
                self.present.silent.insert(*peer);
                self.change(|_| {});
            }
            GameEvent::Waiting { peer, name, .. } => {
                let player = self.player(*peer, address, name, "");
                self.change(|info| info.players.push(player));
            }
            GameEvent::Left { peer, seat, why, .. } => {
                if *why != Departure::GameOver && self.info.borrow().phase == phase(Phase::Playing) {
                    if self.left.len() >= MAX_LEFT {
                        self.left.clear();
                    }
                    let player = self.info.borrow().players.iter().find(|player| player.peer == *peer).cloned();
                    let wire = player.and_then(|player| player.wire);
                    self.left.insert(seat.clone(), wire);
                }
                self.change(|info| info.players.retain(|player| player.peer != *peer));
            }
            GameEvent::Started { game, .. } => {
                let id = match_id(self.journal.0, *game);
                self.change(|info| (info.result, info.r#match) = (None, Some(id)));
            }
            GameEvent::Ended { game, complete, standings } => {
                // The event was delayed until the journal had all data of the result.
                if let Reports::Ledger(ledger) = &self.reports {
                    ledger.match_ended(&self.journal.1);
                }
                self.present.roster.lift_bars();
                let people = self.people(standings);
                let mut result: Vec<Row> = vec![];
                for standing in standings {
                    let rank = rank(result.last().map(|before| (before.rank, before.score)), standing);
                    let Standing { name, seat, score, .. } = standing.clone();
                    let left = self.left.remove(&seat);
                    let player = self.info.borrow().players.iter().find(|player| player.seat == seat).cloned();
                    let wire = left.clone().flatten().or_else(|| player.filter(|player| player.name == name)?.wire);
                    let name = display_name(&name).into_owned();
                    result.push(Row { rank, name, wire, seat, score, left: left.is_some() });
                }
                let id = match_id(self.journal.0, *game);
                // A player who leaves has lost, even if no opponent is left. Other matches were cut off, as by a closed room.
                if let Reports::Class { class, queue } = &self.reports
                    && (*complete || result.iter().all(|row| row.left))
                {
                    self.report_to_class(class, queue, &id, &result);
                }
                self.change(|info| {
                    info.r#match = Some(id.clone());
                    // Waiting players have a place in the next game, and other players may be in a separate game.
                    info.players.retain(|player| !result.iter().any(|row| row.seat == player.seat));
                    info.result = Some(result);
                });
                // An invited player may request the result immediately.
                self.present.roster.invite(Some(id), people.into_iter());
            }
            _ => {}
        }
    }
}
