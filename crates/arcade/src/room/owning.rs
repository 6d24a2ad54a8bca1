//! What only the owner of a room does with it, and that the room is handed on.
//!
//! Whoever opens a room is given a token. The hub keeps its hash only, with the room, so it is valid after a restart too. Rooms of the
//! house have no owner.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context as _, bail};
use netcore::HostId;
use netshell::Removal;
use serde_json::json;
use tracing::info;

use super::{
    Room,
    info::{Info, Player},
    known::address_text,
    mailbox::Ending,
    owner::Owner,
};

impl Room {
    /// Whether somebody owns it.
    pub(crate) fn is_owned(&self) -> bool {
        self.file().owner.is_some()
    }

    /// Whether this is the token of the owner.
    pub(crate) fn has_owner(&self, token: &str) -> bool {
        self.file().owner.as_ref().is_some_and(|owner| owner.has(token))
    }

    /// Something was heard of the owner, from this host. An owner who has a page is there as long as the page is; of others a native player
    /// of the same host may be the owner.
    pub(crate) fn hear_owner(&self, host: HostId) {
        self.pages.hear_owner();
        let host = if self.pages.has_owner() { HostId::Other } else { host };
        if let Some(owner) = &mut self.file().owner {
            owner.host = host;
        }
    }

    /// Whether the owner is here: with a page, or as a native player from where the token was last used.
    pub(crate) fn owner_is_here(&self) -> bool {
        let Some(host) = self.file().owner.as_ref().map(|owner| owner.host) else { return false };
        let is_native = |player: &Player| {
            let address = player.address.as_deref().and_then(|address| address.parse().ok());
            !player.bot && address.is_some_and(|address| !self.known.has(address))
        };
        let host = self.mask.host(host);
        self.pages.has_owner()
            || self.info.borrow().players.iter().any(|player| is_native(player) && self.pseudonym(player) == Some(host))
    }

    /// The room has another owner from now on: whoever is at this seat, which a page has. Only that page is told the token. Gives whether
    /// there is such a page.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(crate) fn hand_on(&self, seat: SocketAddr) -> anyhow::Result<bool> {
        // The true host of a browser is not known here; its page is.
        let (token, owner) = Owner::draw(HostId::Other)?;
        let text: Arc<str> = json!({ "owner": token }).to_string().into();
        let mut file = self.file();
        if !self.pages.tell(seat, &text) {
            return Ok(false);
        }
        file.owner = Some(owner);
        info!(room = file.id, "the room has another owner");
        drop(file);
        self.pages.set_owner(seat);
        self.pages.hear_owner();
        self.mark_owner();
        Ok(true)
    }

    /// Hands the room on to whoever has this seat in the match.
    ///
    /// # Errors
    /// When nobody has it, or there is no page to be told the token.
    pub(crate) fn hand_on_to(&self, seat: &str) -> anyhow::Result<()> {
        let player = self.player_at(seat)?;
        let address = player.address.as_deref().and_then(|address| address.parse().ok());
        if player.bot || !address.map_or(Ok(false), |address| self.hand_on(address))? {
            bail!("only somebody with a page can own a room, since the page is told the token");
        }
        Ok(())
    }

    /// Notes anew which of the players is the owner.
    pub(crate) fn mark_owner(&self) {
        self.change(|info| {
            for player in &mut info.players {
                let address = player.address.as_deref().and_then(|address| address.parse().ok());
                player.owner = address.is_some_and(|address| self.pages.is_owner(address));
            }
        });
    }

    /// From now on only those join who have joined before, or all again.
    pub(crate) fn lock(&self, locked: bool) {
        self.members.set_locked(locked);
        self.file().locked = locked;
        self.change(|info| info.locked = locked);
    }

    /// Gives it a name, or none.
    pub(crate) fn rename(&self, name: Option<String>) {
        self.file().name.clone_from(&name);
        self.change(|info| info.name = name);
    }

    /// Removes whoever has this seat, and lets nobody of that host come back while the match goes on.
    ///
    /// # Errors
    /// When nobody has it, or the owner does.
    pub(crate) fn remove_by_owner(&self, seat: &str) -> anyhow::Result<()> {
        let player = self.player_at(seat)?;
        if player.bot {
            bail!("this is a bot; say how many bots there are to be");
        }
        if player.owner {
            bail!("this is your own seat");
        }
        if let Some(host) = self.pseudonym(&player) {
            self.members.bar(host);
            self.file().barred = self.members.barred();
        }
        self.dismiss(&player, Ending::RemovedByOwner, "The owner of this room has removed you.");
        Ok(())
    }

    /// Removes a player, who is told that the operator has done so.
    pub(crate) fn remove(&self, player: &Player) {
        self.dismiss(player, Ending::Removed, "The host of this hub has removed you.");
    }

    fn dismiss(&self, player: &Player, ending: Ending, why: &str) {
        if let Some(seat) = player.address.as_deref().and_then(|address| address.parse().ok()) {
            self.known.end(seat, ending);
        }
        self.removals.push(Removal::Peer(player.peer, why.to_owned()));
    }

    /// Removes everybody at a host that the operator has banned; they are told so.
    pub(crate) fn remove_host(&self, host: HostId) {
        self.known.end_host(self.mask.host(host), Ending::Banned);
        for host in [host, self.mask.host(host)] {
            self.removals.push(Removal::Host(host, "The host of this hub has banned your address.".to_owned()));
        }
    }

    /// Whether whoever is at this address has a seat, or waits for one.
    pub(crate) fn plays(&self, seat: SocketAddr) -> bool {
        let address = address_text(seat);
        self.info.borrow().players.iter().any(|player| player.address.as_deref() == Some(&address))
    }

    fn player_at(&self, seat: &str) -> anyhow::Result<Player> {
        let info = self.info.borrow();
        let found = info.players.iter().find(|player| player.seat == seat && !seat.is_empty()).cloned();
        found.with_context(|| format!("nobody has the seat '{}' in this room", seat.escape_debug()))
    }

    // The host of a player, as its pseudonyms have it.
    fn pseudonym(&self, player: &Player) -> Option<HostId> {
        let address: SocketAddr = player.address.as_deref()?.parse().ok()?;
        // Only over datagrams the address is not a pseudonym already.
        let is_true = matches!(self.game.wire(), servekit::Wire::Udp) && !self.known.has(address);
        Some(if is_true { self.mask.host(address.into()) } else { address.into() })
    }

    /// Changes what is shown of it.
    pub(super) fn change(&self, change: impl FnOnce(&mut Info)) {
        if let Some(sender) = self.sender.upgrade() {
            sender.send_if_modified(|info| {
                let before = info.clone();
                change(info);
                *info != before
            });
        }
    }
}
