//! Where rooms write, and whom they tell.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Duration};

use journal_core::Writing;
use netshell::ConnectionBudget;

use super::{costs::Costs, counters::Counters, guard::Bans, info::Site, ledger::Ledger, log::Log};

/// What all rooms of a hub have in common.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) journals: PathBuf,
    pub(crate) writing: Writing,
    /// Those of native clients of all rooms, beside those of pages.
    pub(crate) connections: ConnectionBudget,
    pub(crate) bans: Arc<Bans>,
    /// Where rooms report results.
    pub(crate) ledger: Arc<Ledger>,
    /// Messages that take much processor time.
    pub(crate) costs: Arc<Costs>,
    /// How long the seat of a player is kept whose page has lost its connection.
    pub(crate) keep_seats: Duration,
    /// How much later those who look on are shown matches that count.
    pub(crate) watch_delay: Duration,
    /// By the names of games.
    pub(crate) counters: HashMap<&'static str, Counters>,
    /// Where they are, if there are several hubs.
    pub(crate) site: Option<Site>,
    /// Where rooms say who joins, leaves and wins.
    pub(crate) log: Arc<Log>,
}

impl Place {
    /// With what the names of journals of this game begin; hubs that share a database do not name theirs alike.
    pub(crate) fn front(&self, game: &str) -> String {
        self.site.as_ref().map_or_else(|| game.to_owned(), |site| format!("{game}-{}", site.node))
    }

    /// What is counted in rooms of this game.
    pub(crate) fn counters_of(&self, game: &str) -> Counters {
        self.counters.get(game).cloned().unwrap_or_default()
    }
}
