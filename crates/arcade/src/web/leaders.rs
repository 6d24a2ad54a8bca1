use std::sync::Arc;

use axum::{Json, Router, extract::State, response::IntoResponse as _, routing::get};
use serde::Deserialize;
use serde_json::json;
use store::{Board, EARLIER, Store, season_of, unix_now};

use super::{
    api::{Answer, Params, game_of, query_store, season, text},
    caller::Caller,
};
use crate::{
    games::Game,
    hub::Hub,
    results::views::{BoardView, LeaderView},
};

/// Rows of a single board, and of several.
const LEADERS: u32 = 100;
const OF_SEVERAL: u32 = 20;

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/api/leaders", get(leaders))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeadersQuery {
    game: Option<String>,
    class: Option<String>,
    season: Option<String>,
}

/// Omits empty boards.
async fn leaders(State(hub): State<Arc<Hub>>, caller: Caller, Params(query): Params<LeadersQuery>) -> Answer {
    let games = match &query.game {
        Some(name) => vec![game_of(name)?],
        None => Game::offered(hub.examples).collect(),
    };
    let class = query.class.map(|class| text("class", Some(class))).transpose()?;
    let season = season(query.season)?;
    let wanted: Vec<(Game, String)> = games
        .into_iter()
        .flat_map(|game| game.classes().into_iter().chain([EARLIER.to_owned()]).map(move |known| (game, known)))
        .filter(|(_, known)| class.as_ref().is_none_or(|class| class == known))
        .collect();
    let most = if wanted.len() > 1 { OF_SEVERAL } else { LEADERS };
    let of_season = season.clone();
    let lookup = async move |store: Store| {
        let now = unix_now();
        let mut boards = vec![];
        for (game, class) in wanted {
            let (order, board) = (game.order(&class), Board { game: game.name(), class: &class, season: &of_season });
            let mut all = vec![];
            for ranked in [true, false] {
                let found = store.leaders(board, (order, ranked), most, now).await?;
                all.push(found.into_iter().map(|leader| LeaderView::new(leader, order)).collect::<Vec<_>>());
            }
            let (provisional, players) = (all.pop().unwrap_or_default(), all.pop().unwrap_or_default());
            if !players.is_empty() || !provisional.is_empty() {
                boards.push(BoardView { game: game.name(), class, players, provisional });
            }
        }
        Ok((boards, store.seasons().await?))
    };
    let (boards, seasons) = query_store(&hub, caller, lookup).await?;
    let answer = json!({ "season": season, "now": season_of(unix_now()), "seasons": seasons, "boards": boards });
    Ok(Json(answer).into_response())
}
