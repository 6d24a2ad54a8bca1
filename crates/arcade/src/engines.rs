//! The engines of the hub, by the names that journals have for them.

/// Evaluates an expression with the engine that plays the game of this name as a type, or else the last expression.
macro_rules! with_engine {
    ($game:expr, $engine:ident => $known:expr, else $unknown:expr) => {{
        let game: &str = $game;
        if game == <::nuggets::Server as ::netcore::Recorded>::GAME {
            type $engine = ::nuggets::Server;
            $known
        } else if game == <::robots::Server as ::netcore::Recorded>::GAME {
            type $engine = ::robots::Server;
            $known
        } else if game == <::blackjack::Server as ::netcore::Recorded>::GAME {
            type $engine = ::blackjack::Server;
            $known
        } else if game == <::mastermind::Server as ::netcore::Recorded>::GAME {
            type $engine = ::mastermind::Server;
            $known
        } else {
            $unknown
        }
    }};
}
pub(crate) use with_engine;
