//! The games of a league: setup and scoring of a match.

mod blackjack;
mod mastermind;
mod nuggets;
mod robots;

use crate::{
    draw::{Draw, Fixture},
    record::Record,
    referee::{Table as _, Venue, play},
    rules::Game,
    setup::Setup,
};

/// Plays a match; see [`play`].
pub(crate) fn play_match(venue: &Venue<'_>, fixture: &Fixture) -> anyhow::Result<Option<Record>> {
    match venue.setup.game() {
        Game::Robots => play::<robots::Robots>(venue, fixture),
        Game::Nuggets => play::<nuggets::Nuggets>(venue, fixture),
        Game::Blackjack => play::<blackjack::Blackjack>(venue, fixture),
        Game::Mastermind => play::<mastermind::Mastermind>(venue, fixture),
    }
}

/// Whether matches can be played with this setup.
///
/// # Errors
/// If they cannot; the message gives the accepted values.
pub(crate) fn check(setup: &Setup) -> anyhow::Result<()> {
    let Some(fixture) = Draw::new(setup).round(1).into_iter().next() else { return Ok(()) };
    match setup.game() {
        Game::Robots => robots::Robots::engine(setup, &fixture).map(drop),
        Game::Nuggets => nuggets::Nuggets::engine(setup, &fixture).map(drop),
        Game::Blackjack => blackjack::Blackjack::engine(setup, &fixture).map(drop),
        Game::Mastermind => mastermind::Mastermind::engine(setup, &fixture).map(drop),
    }
}
