//! What the lobby shows of results.

use std::{collections::BTreeMap, sync::Arc};

use store::{ALL_TIME, Board, MatchFilter, StoreError};
use tracing::warn;

use super::{
    Results,
    clock::unix_now,
    views::{Boards, LeaderView, MatchView},
};
use crate::games::Game;

/// Matches and leaders that the lobby shows.
const RECENT: u32 = 10;
const LEADERS: u32 = 5;

impl Results {
    /// Reads what the lobby shows. Returns whether the database has answered.
    pub(super) async fn refresh(&self) -> bool {
        match self.read_boards().await {
            Ok(boards) => {
                self.boards.send_replace(Arc::new(boards));
                true
            }
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                warn!(error, "the leaders cannot be read; the lobby keeps the previous snapshot");
                false
            }
        }
    }

    async fn read_boards(&self) -> Result<Boards, StoreError> {
        let filter = MatchFilter { limit: RECENT, ..MatchFilter::default() };
        let recent = self.store.matches(&filter).await?.into_iter().map(MatchView::from).collect();
        let mut leaders = BTreeMap::new();
        for game in Game::ALL {
            // Those of usual rooms.
            let Some(class) = game.classes().into_iter().next() else { continue };
            let (order, board) = (game.order(&class), Board { game: game.name(), class: &class, season: ALL_TIME });
            let best = self.store.leaders(board, (order, true), LEADERS, unix_now()).await?;
            leaders.insert(game.name(), best.into_iter().map(|leader| LeaderView::new(leader, order)).collect());
        }
        Ok(Boards { recent, leaders })
    }
}
