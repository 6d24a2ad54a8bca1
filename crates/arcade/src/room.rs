//! A room, and the actions of its owner and of the operator. The user who opens a room receives a token, whose hash
//! is stored; rooms of the house have no owner.

pub(crate) mod admission;
pub(crate) mod bans;
pub(crate) mod bots;
mod ending;
pub(crate) mod feed;
pub(crate) mod file;
#[cfg(test)]
pub(crate) mod fixtures;
pub(crate) mod hub_room;
pub(crate) mod info;
pub(crate) mod ledger;
pub(crate) mod log;
pub(crate) mod mailbox;
pub(crate) mod observer;
pub(crate) mod opening;
pub(crate) mod pseudonyms;
pub(crate) mod register;
pub(crate) mod reservations;
pub(crate) mod roster;
mod spectators;
pub(crate) mod transport;

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use anyhow::{Context as _, bail};
use journal_core::JournalWatch;
use netcore::{HostId, Leave};
use netshell::WardenRequest;
use serde_json::json;
use store::{Match, Order};
use tokio::sync::watch;
use tracing::info;

pub(crate) use self::ending::RoomOutcome;
use self::{
    bans::Requests,
    bots::Bots,
    ending::EndRequest,
    file::{Access, Owner, RoomFile},
    hub_room::Broken,
    info::{Info, News, Player},
    mailbox::CloseReason,
    register::Register,
    roster::{Roster, address_text},
    transport::Gate,
};
use crate::{
    games::{Casual, Game},
    message::message,
};

#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) game: Game,
    pub(crate) access: Access,
    pub(crate) gate: Gate,
    pub(crate) info: watch::Receiver<Info>,
    /// Messages of the hub to pages, besides those of the game.
    pub(crate) news: News,
    /// The number of its journal.
    pub(crate) number: u64,
    /// The address for programs on this machine.
    pub(crate) address: SocketAddr,
    pub(crate) bots: Bots,
    pub(crate) roster: Arc<Roster>,
    pub(crate) journal: JournalWatch,
    requests: Arc<Requests>,
    register: Arc<Register>,
    // The task of the room owns the strong references.
    sender: Weak<watch::Sender<Info>>,
    broken: Broken,
    file: Mutex<RoomFile>,
    ending: EndRequest,
}

impl Room {
    /// Closing takes precedence over an earlier request of another kind.
    pub(crate) fn stop(&self, leave: Leave, outcome: RoomOutcome) {
        self.ending.stop(leave, outcome);
    }

    /// Closes the room permanently. Pages receive the reason.
    pub(crate) fn close(&self, why: &str) {
        info!(room = self.file().id, why, "the room is closed");
        self.change(|info| info.closing = Some(why.to_owned()));
        self.roster.notify();
        self.stop(Leave::Over, RoomOutcome::Closed);
    }

    /// Another hub owns the room, so its clients receive no end of the match.
    pub(crate) fn give_up(&self) {
        self.bots.abort();
        self.stop(Leave::Resumable, RoomOutcome::Closed);
    }

    /// Suspends the room for another hub. Returns `false` if it was already about to end.
    pub(crate) fn suspend(&self) -> bool {
        let is_suspended = self.ending.suspend();
        if is_suspended {
            self.bots.abort();
        }
        is_suspended
    }

    pub(crate) fn is_suspended(&self) -> bool {
        self.ending.outcome() == RoomOutcome::Moved
    }

    /// What happens once the task of the room has ended.
    pub(crate) fn outcome(&self) -> RoomOutcome {
        if self.ending.is_unrequested() && self.broken.is_set() { RoomOutcome::Renewed } else { self.ending.outcome() }
    }

    pub(crate) fn is_to_close(&self) -> bool {
        self.ending.is_to_close()
    }

    pub(crate) fn is_over(&self) -> bool {
        let info = self.info.borrow();
        info.phase == "over" || info.closing.is_some() || self.info.has_changed().is_err()
    }

    pub(crate) fn file(&self) -> MutexGuard<'_, RoomFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Info)) {
        self.change_if(|info| {
            let before = info.clone();
            change(info);
            *info != before
        });
    }

    // `change` returns whether it has modified the state.
    fn change_if(&self, change: impl FnOnce(&mut Info) -> bool) {
        if let Some(sender) = self.sender.upgrade() {
            sender.send_if_modified(change);
        }
    }
}

impl Room {
    /// `seconds` is the time until bots join.
    pub(crate) fn announce_bots(&self, seconds: Option<u64>) {
        self.change_if(|info| std::mem::replace(&mut info.bots_in, seconds) != seconds);
    }

    /// The match that the players would end now, without its result. `None` if its players are not compared.
    pub(crate) fn planned_match(&self) -> Option<Match> {
        let info = self.info.borrow();
        let counts = &info.counts;
        if !counts.rated || info.game.order(&counts.class) != Order::Rating {
            return None;
        }
        let players = self.register.players();
        let is_alone = info.phase == "playing" && players.len() == 1;
        Some(Match {
            id: info.r#match.clone().unwrap_or_default(),
            class: counts.class.clone(),
            casual: if is_alone { Casual::Alone.code().to_owned() } else { String::new() },
            players,
            ..Match::default()
        })
    }

    /// Sets why a match of the present players is casual in a rated room.
    pub(crate) fn announce_casual(&self, reason: Option<&'static str>) {
        self.change_if(|info| std::mem::replace(&mut info.counts.casual, reason) != reason);
    }

    /// Verifies names again after those of a seat were set. Returns the newly proven ones.
    pub(crate) fn prove_names(&self) -> Vec<String> {
        self.change_if(|info| {
            let mut changed = false;
            for player in info.players.iter_mut().filter(|player| !player.bot && !player.proven) {
                player.proven = self.roster.is_proven(player.address.as_deref(), &player.name);
                changed |= player.proven;
            }
            changed
        });
        let proven = self.register.prove();
        self.roster.notify();
        proven
    }

    /// Revokes names that the keys of seats may have lost, also in the results of the current matches.
    pub(crate) fn revoke_names(&self, names: &[String]) {
        self.roster.remove_names(names);
        self.register.revoke(names);
        self.change_if(|info| {
            let mut changed = false;
            for player in info.players.iter_mut().filter(|player| player.proven && names.contains(&player.name)) {
                player.proven = self.roster.is_proven(player.address.as_deref(), &player.name);
                changed |= !player.proven;
            }
            changed
        });
    }

    pub(crate) fn watch_elsewhere(&self, more: isize) {
        self.change_if(|info| {
            let before = info.elsewhere;
            info.elsewhere = before.saturating_add_signed(more);
            info.people = (info.people + info.elsewhere).saturating_sub(before);
            info.watchers = (info.watchers + info.elsewhere).saturating_sub(before);
            true
        });
        self.roster.notify();
    }

    /// Whether the client has a seat or waits for one.
    pub(crate) fn plays(&self, seat: SocketAddr) -> bool {
        let address = address_text(seat);
        self.info.borrow().players.iter().any(|player| player.address.as_deref() == Some(&address))
    }

    /// The name of the player at this seat.
    pub(crate) fn name_at(&self, seat: SocketAddr) -> Option<String> {
        let address = address_text(seat);
        let info = self.info.borrow();
        let player = info.players.iter().find(|player| player.address.as_deref() == Some(&address));
        player.map(|player| player.name.clone())
    }

    pub(crate) fn remove(&self, player: &Player) {
        self.dismiss(player, CloseReason::Removed, "The host of this hub has removed you.");
    }

    pub(crate) fn remove_host(&self, host: HostId) {
        let shown = self.roster.mask.host(host);
        self.roster.set_close_reason_of_host(shown, CloseReason::Banned);
        for host in [host, shown] {
            self.requests
                .push(WardenRequest::RemoveHost(host, "The operator of this hub has banned your address.".to_owned()));
        }
    }

    /// Sends the client at this address in the room its full state.
    pub(crate) fn refresh(&self, address: SocketAddr) {
        if let Some(peer) = self.roster.peer_at(address) {
            self.requests.push(WardenRequest::Refresh(peer));
        }
    }

    fn dismiss(&self, player: &Player, ending: CloseReason, why: &str) {
        if let Some(seat) = player.seat_address() {
            self.roster.set_close_reason(seat, ending);
        }
        self.requests.push(WardenRequest::Remove(player.peer, why.to_owned()));
    }

    fn player_at(&self, seat: &str) -> anyhow::Result<Player> {
        let info = self.info.borrow();
        let found = info.players.iter().find(|player| player.seat == seat && !seat.is_empty()).cloned();
        found.with_context(|| format!("no player has the seat '{}' in this room", seat.escape_debug()))
    }

    fn pseudonym(&self, player: &Player) -> Option<HostId> {
        let address = player.seat_address()?;
        // The address of a native client over datagrams is not a pseudonym.
        let is_true = matches!(self.game.wire(), servekit::Wire::Udp) && !self.roster.has_seat(address);
        Some(if is_true { self.roster.mask.host(address.into()) } else { address.into() })
    }
}

impl Room {
    pub(crate) fn is_owned(&self) -> bool {
        self.file().owner.is_some()
    }

    pub(crate) fn has_owner(&self, token: &str) -> bool {
        let file = self.file();
        [&file.owner, &file.first_owner].into_iter().flatten().any(|owner| owner.has(token))
    }

    pub(crate) fn has_first_owner(&self, token: &str) -> bool {
        self.file().first_owner.as_ref().is_some_and(|owner| owner.has(token))
    }

    /// An owner with a page is present while the page is open; without a page, a native player of this host may be
    /// the owner.
    pub(crate) fn set_owner_active(&self, host: HostId) {
        self.roster.set_owner_active();
        let host = if self.roster.has_owner_page() { HostId::Other } else { host };
        if let Some(owner) = &mut self.file().owner {
            owner.host = host;
        }
    }

    /// An owner is present with a page, or as a native player of the host that last used the token.
    pub(crate) fn has_present_owner(&self) -> bool {
        let Some(host) = self.file().owner.as_ref().map(|owner| owner.host) else { return false };
        let is_native = |player: &Player| {
            !player.bot && player.seat_address().is_some_and(|address| !self.roster.has_seat(address))
        };
        let host = self.roster.mask.host(host);
        self.roster.has_owner_page()
            || self.info.borrow().players.iter().any(|player| is_native(player) && self.pseudonym(player) == Some(host))
    }

    /// Makes the client at this seat the owner, because the owner is away. The first such owner remains one. Only the
    /// page of the new one receives the token: `false` if it has none.
    pub(crate) fn replace_absent_owner(&self, seat: SocketAddr) -> anyhow::Result<bool> {
        self.hand_on(seat, |file| {
            if file.first_owner.is_none() {
                file.first_owner = file.owner.take();
            }
        })
    }

    // `retire` changes the former owners.
    fn hand_on(&self, seat: SocketAddr, retire: impl FnOnce(&mut RoomFile)) -> anyhow::Result<bool> {
        // The true host of a browser is unknown here, but its page is known.
        let (token, owner) = Owner::draw(HostId::Other)?;
        let text: Arc<str> = json!({ "owner": token }).to_string().into();
        let mut file = self.file();
        if !self.roster.send(seat, &text) {
            return Ok(false);
        }
        retire(&mut file);
        file.owner = Some(owner);
        let has_first_owner = file.first_owner.is_some();
        info!(room = file.id, "the room has another owner");
        drop(file);
        self.roster.set_owner(seat, has_first_owner);
        self.mark_owner();
        Ok(true)
    }

    /// The owner with this token hands the room on. Fails if the seat has no player, or the player has no page to
    /// receive a token.
    pub(crate) fn hand_on_to(&self, seat: &str, token: &str) -> anyhow::Result<()> {
        let player = self.player_at(seat)?;
        let retire = |file: &mut RoomFile| file.first_owner = file.first_owner.take().filter(|first| !first.has(token));
        if player.bot || !player.seat_address().map_or(Ok(false), |address| self.hand_on(address, retire))? {
            bail!(message!("owner_needs_page", "only a player in a browser can own a room"));
        }
        Ok(())
    }

    pub(crate) fn mark_owner(&self) {
        self.change_if(|info| {
            let mut changed = false;
            for player in &mut info.players {
                let is_owner = player.seat_address().is_some_and(|address| self.roster.is_owner(address));
                changed |= std::mem::replace(&mut player.owner, is_owner) != is_owner;
            }
            changed
        });
    }

    pub(crate) fn lock(&self, locked: bool) {
        self.roster.set_locked(locked);
        self.file().locked = locked;
        self.change(|info| info.locked = locked);
    }

    pub(crate) fn rename(&self, name: Option<String>) {
        self.file().name.clone_from(&name);
        self.change(|info| info.name = name);
    }

    /// Removes a player and rejects its seat, key and name until the match is over. Fails for the owner and bots.
    pub(crate) fn remove_by_owner(&self, seat: &str) -> anyhow::Result<()> {
        let player = self.removable(seat)?;
        self.roster.bar(player.seat_address(), &player.name);
        self.file().barred = self.roster.barred();
        self.dismiss(&player, CloseReason::RemovedByOwner, "The owner of this room has removed you.");
        Ok(())
    }

    /// Also rejects new players and spectators of its network. Fails unless exactly `others` other people here use it.
    pub(crate) fn block_by_owner(&self, seat: &str, others: usize) -> anyhow::Result<()> {
        let player = self.removable(seat)?;
        if let Some(host) = self.pseudonym(&player) {
            let count = self.roster.neighbours(host, player.peer);
            if count != others {
                bail!(message!(
                    "blocks_others",
                    "{count} other people in this room use this network; send their number to block it",
                    count = count
                ));
            }
            self.roster.block(host);
        }
        self.remove_by_owner(seat)
    }

    fn removable(&self, seat: &str) -> anyhow::Result<Player> {
        let player = self.player_at(seat)?;
        if player.bot {
            bail!(message!("is_bot", "this player is a bot; set the number of bots instead"));
        }
        if player.owner {
            bail!(message!("own_seat", "an owner of this room has this seat"));
        }
        Ok(player)
    }
}
