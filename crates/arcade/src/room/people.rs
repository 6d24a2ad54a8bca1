//! Who is in a room: where they come from, and whose names are proven.

use netcore::{HostId, PeerId};

use super::Room;

impl Room {
    /// Whether somebody at this host may not join the match, because others of it have had their share.
    pub(crate) fn refuses(&self, host: HostId) -> bool {
        self.known.has_spent(self.mask.host(host))
    }

    /// Where a player really comes from, if that is known.
    pub(crate) fn host_of(&self, peer: PeerId, address: Option<&str>) -> Option<HostId> {
        self.hosts.of(peer).or_else(|| self.known.host(address))
    }

    /// Looks again whose names are proven, since more has become known of a seat. Returns the names that are proven by that.
    pub(crate) fn recognize(&self) -> Vec<String> {
        if let Some(sender) = self.sender.upgrade() {
            sender.send_if_modified(|info| {
                let mut changed = false;
                for player in info.players.iter_mut().filter(|player| !player.bot && !player.proven) {
                    player.proven = self.known.is_proven(player.address.as_deref(), &player.name);
                    changed |= player.proven;
                }
                changed
            });
        }
        self.register.prove()
    }

    /// The keys of seats in this room may have lost these names. Players whose names are not proven any more are shown so, and so are
    /// they in the results of their matches.
    pub(crate) fn forget_names(&self, names: &[String]) {
        self.known.forget(names);
        self.register.revoke(names);
        let Some(sender) = self.sender.upgrade() else { return };
        sender.send_if_modified(|info| {
            let mut changed = false;
            for player in info.players.iter_mut().filter(|player| player.proven && names.contains(&player.name)) {
                player.proven = self.known.is_proven(player.address.as_deref(), &player.name);
                changed |= !player.proven;
            }
            changed
        });
    }

    /// So many people more, or fewer, look on at other nodes.
    pub(crate) fn watch_elsewhere(&self, more: isize) {
        let Some(sender) = self.sender.upgrade() else { return };
        sender.send_modify(|info| {
            let before = info.elsewhere;
            info.elsewhere = before.saturating_add_signed(more);
            // They were counted with the others.
            info.people = (info.people + info.elsewhere).saturating_sub(before);
            info.watchers = (info.watchers + info.elsewhere).saturating_sub(before);
        });
    }
}
