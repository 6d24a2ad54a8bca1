//! Starts the players one after the other, watches them, and decides forfeits.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use cmdkit::replace_file;
use conformance::{CannotStart, Network};
use journal_core::{Cursor, Writing};
use netcore::{GameEvent, Outbox, Output, Recorded, Time};
use tokio::time::sleep;

use crate::{
    draw::Fixture,
    hosting::{Hosting, Wire},
    observer::{MatchObserver, MatchState},
    player::Player,
    protection::Protection,
    record::{Record, Seat},
    setup::Setup,
};

/// How long programs have to exit after the match before they are killed.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
const POLL: Duration = Duration::from_millis(10);

pub(crate) trait Table {
    type Engine: Recorded + Send + 'static;
    const WIRE: Wire;

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Self::Engine>;

    /// Whether players can break a rule of the league.
    const HAS_BREACHES: bool = false;

    /// Counted from the join of the last player.
    fn limit(setup: &Setup) -> Duration {
        Duration::from_secs(setup.limit.into())
    }

    fn score(state: &MatchState, seat: usize) -> Option<i64> {
        state.score(seat)
    }

    /// The league rule that the only player has broken.
    fn breach(_engine: &Self::Engine) -> Option<String> {
        None
    }
}

pub(crate) struct Venue<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) folder: &'a Path,
    pub(crate) writing: &'a Writing,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) protection: Protection,
}

impl Venue<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

#[derive(Debug)]
enum Forfeit {
    /// Followed by the exit status of the player's program if it has ended.
    Left(String),
    Other(String),
}

/// Plays a match; `None` if the league is stopped meanwhile, so that the match does not count.
///
/// # Errors
/// If the server or the system fails. Misbehaviour of a player is not an error.
pub(crate) fn play<T: Table>(venue: &Venue<'_>, fixture: &Fixture) -> anyhow::Result<Option<Record>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(play_on::<T>(venue, fixture)).with_context(|| format!("match {}", fixture.number))
}

async fn play_on<T: Table>(venue: &Venue<'_>, fixture: &Fixture) -> anyhow::Result<Option<Record>> {
    let begun = Instant::now();
    let folder = format!("journals/{:04}", fixture.number);
    let observer = MatchObserver::new(venue.protection);
    let networks = fixture.seats.iter().map(|&player| network(venue, player)).collect::<anyhow::Result<Vec<_>>>()?;
    let hosting = Hosting::start(
        T::engine(venue.setup, fixture)?,
        (T::WIRE, networks),
        (venue.writing, &venue.folder.join(&folder)),
        (&observer, Duration::from_secs(venue.setup.reconnect.into())),
    )?;
    let path = hosting.journal.clone();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut game = Play { venue, fixture, observer: &observer, players: Vec::new(), forfeits: Vec::new() };
    game.forfeits.resize_with(fixture.seats.len(), || None);
    if game.gather(&hosting).await? {
        game.watch::<T>(&hosting).await;
    }
    observer.state().stop();
    hosting.finish().await?;
    if venue.is_stopped() {
        return Ok(None);
    }
    let is_over = observer.state().result.is_some();
    let breach = if T::HAS_BREACHES && is_over { breach_in::<T>(&path)? } else { None };
    let mut seats = game.result::<T>(breach.as_deref());
    game.keep_errors(&folder, &mut seats)?;
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Fixture { number, round, deal, seed, .. } = *fixture;
    let (journal, protection) = (format!("{folder}/{name}"), venue.protection);
    Ok(Some(Record { number, round, deal, seed, seats, millis, journal, protection }))
}

fn breach_in<T: Table>(journal: &Path) -> anyhow::Result<Option<String>> {
    let (reader, replay, _) = journal_core::open(journal)?.replay_before::<T::Engine>(Time::ZERO, |_, _| true)?;
    let (mut cursor, mut out) = (Cursor::new(reader, replay), Outbox::new());
    loop {
        cursor.read(|_| {})?;
        if cursor.apply(&mut out)?.is_none() {
            return Ok(None);
        }
        if out.drain().any(|output| matches!(output, Output::Event(GameEvent::Ended { .. }))) {
            return Ok(T::breach(cursor.replay().room().engine()));
        }
    }
}

// Bots run in this process. If programs have their own networks, none can reach a bot's.
fn network(venue: &Venue<'_>, player: usize) -> anyhow::Result<Network> {
    if venue.setup.players[player].bot().is_some() || venue.protection != Protection::Network {
        return Ok(Network::default());
    }
    Network::new().context("cannot create a network for a program")
}

struct Play<'a> {
    venue: &'a Venue<'a>,
    fixture: &'a Fixture,
    observer: &'a MatchObserver,
    players: Vec<Player>,
    forfeits: Vec<Option<Forfeit>>,
}

impl Play<'_> {
    // Starts players one after the other, so that each gets its seat, until one does not join or stay. Returns whether
    // all have joined.
    async fn gather(&mut self, hosting: &Hosting) -> anyhow::Result<bool> {
        let Setup { players, patience, .. } = self.venue.setup;
        for (seat, &player) in self.fixture.seats.iter().enumerate() {
            let seed = self.fixture.seed.wrapping_add(player as u64);
            let place = &hosting.seats[seat];
            match Player::start(&players[player], self.venue.setup.game(), place, seed) {
                Ok(player) => {
                    if let Some(owner) = player.owner() {
                        self.observer.state().started(seat, owner);
                    }
                    self.players.push(player);
                }
                Err(error) if error.downcast_ref().is_some_and(CannotStart::is_temporary) => return Err(error),
                Err(error) => {
                    self.forfeits[seat] = Some(Forfeit::Other(format!("{error:#}")));
                    return Ok(false);
                }
            }
            let by = Instant::now() + Duration::from_secs((*patience).into());
            while !self.observer.state().has_joined(seat) {
                self.judge(seat);
                if self.remaining() < self.forfeits.len() || self.venue.is_stopped() || hosting.has_ended() {
                    return Ok(false);
                }
                if self.players[seat].has_ended() && !self.observer.state().has_joined(seat) {
                    self.forfeits[seat] = Some(Forfeit::Left("it did not join".to_owned()));
                } else if Instant::now() >= by {
                    self.forfeits[seat] = Some(Forfeit::Other(format!("it did not join within {patience} s")));
                }
                self.pause().await;
            }
        }
        Ok(true)
    }

    async fn watch<T: Table>(&mut self, hosting: &Hosting) {
        let limit = T::limit(self.venue.setup);
        let by = Instant::now() + limit;
        let alone = self.fixture.seats.len() == 1;
        loop {
            let is_over = self.judge(self.players.len()) || hosting.has_ended() || self.venue.is_stopped();
            if is_over || self.remaining() <= usize::from(!alone) {
                return;
            }
            if Instant::now() >= by {
                if alone {
                    self.forfeits[0] = Some(Forfeit::Other(format!("it did not finish within {} s", limit.as_secs())));
                }
                return;
            }
            self.pause().await;
        }
    }

    // Records which of the first players have left. Returns whether the game is over, so that players may leave.
    fn judge(&mut self, players: usize) -> bool {
        let ended: Vec<bool> = self.players[..players].iter_mut().map(Player::has_ended).collect();
        // After the exits, since a program may exit once the game is over.
        let state = self.observer.state();
        if state.result.is_some() {
            return true;
        }
        for (seat, (has_ended, forfeit)) in ended.into_iter().zip(&mut self.forfeits).enumerate() {
            let why = state.left(seat).or(has_ended.then_some("it ended before the game was over"));
            *forfeit = forfeit.take().or(why.map(|why| Forfeit::Left(why.to_owned())));
        }
        false
    }

    fn remaining(&self) -> usize {
        self.forfeits.iter().filter(|forfeit| forfeit.is_none()).count()
    }

    async fn pause(&self) {
        tokio::select! {
            () = self.observer.changed() => {}
            () = sleep(POLL) => {}
        }
    }

    // Returns the results by seat. Called after the server has ended.
    fn result<T: Table>(&mut self, breach: Option<&str>) -> Vec<Seat> {
        let mut seats = Vec::with_capacity(self.fixture.seats.len());
        for seat in 0..self.fixture.seats.len() {
            let state = self.observer.state();
            // The player may lose its seat and the game at the same time.
            let left = || state.left(seat).map(|why| Forfeit::Left(why.to_owned()));
            let breach = || breach.map(|why| Forfeit::Other(why.to_owned()));
            let forfeit = self.forfeits[seat].take().or_else(left).or_else(breach);
            let (score, latency) = (T::score(&state, seat), state.latency(seat));
            drop(state);
            let forfeit = forfeit.map(|forfeit| match forfeit {
                Forfeit::Other(why) => why,
                Forfeit::Left(why) => match self.players.get_mut(seat).and_then(Player::exit_report) {
                    Some(words) => format!("{why}; {words}"),
                    None => why,
                },
            });
            let name = |seat: usize| self.venue.setup.players[self.fixture.seats[seat]].name.clone();
            let state = self.observer.state();
            let others: Vec<String> = state.intrusions(seat).map(name).collect();
            let returned = state.has_returned(seat).then(|| "it reconnected".to_owned());
            drop(state);
            let others = (!others.is_empty()).then(|| format!("it connected to the port of {}", others.join(" and ")));
            let notes: Vec<String> = returned.into_iter().chain(others).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            seats.push(Seat { player: name(seat), score, forfeit, stderr: None, latency, note });
        }
        seats
    }

    // Ends the programs, and writes their standard error beside the journal. `folder` is relative to the league's.
    fn keep_errors(self, folder: &str, seats: &mut [Seat]) -> anyhow::Result<()> {
        let by = Instant::now() + EXIT_TIMEOUT;
        for (mut player, seat) in self.players.into_iter().zip(seats) {
            player.ends(by);
            let errors = player.end();
            if !errors.is_empty() {
                // Browsers show files of this type as text.
                let file = format!("{folder}/{}.stderr.txt", seat.player);
                replace_file(&self.venue.folder.join(&file), errors.as_bytes())
                    .with_context(|| format!("cannot write '{file}'"))?;
                seat.stderr = Some(file);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use journal_core::{Head, MAX_SIZE, SyncPolicy};
    use mastermind::{Config, Server};
    use netcore::{EngineRoom, Input, Link, PeerId, Role, Room as _};

    use super::*;

    #[test]
    fn hint_in_the_journal_is_a_breach() {
        for (request, expected) in [("HINT\n", Some("it requested a hint")), ("", None)] {
            let folder = tempfile::tempdir().unwrap();
            let writing = Writing::start(SyncPolicy::Interval, MAX_SIZE).unwrap();
            let engine = Server::new(Config::new(4, true, 1)).unwrap();
            let head = Head::new(&engine, "test", vec![], 0);
            let (journal, (mut room, _, end)) = writing.create(folder.path(), EngineRoom::new(engine), head).unwrap();
            let (mut out, peer) = (Outbox::new(), PeerId(1));
            let address = "127.0.0.1:1".into();
            let connected = Input::Connected { peer, role: Role::Player, link: Link::Stream, address };
            room.input(Time::ZERO, connected, &mut out);
            for text in ["PLAY Ann\n", request, "RESIGN\n"] {
                room.receive(Time::ZERO, peer, &mut BytesMut::from(text), &mut out);
            }
            end.close();
            assert!(end.finish(Duration::from_secs(60)));
            assert_eq!(breach_in::<Server>(&journal).unwrap().as_deref(), expected);
        }
    }
}
