//! Computes results by replaying journals, which are the only source, also for matches that earlier runs or other hubs
//! did not store.
//!
//! Reading a growing journal continues at its previous [`Progress`], so each match is replayed once. It takes memory
//! for one state of the room, however long the journal is.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use cmdkit::display_name;
use journal_core::{Arrival, Bookmark, Entry, Facts, Journal, Note, ReadError, Reader, Replay, SegmentState, Snapshot};
use netcore::{Departure, GameEvent, Occupant, Outbox, Output, Phase, Recorded, Room as _, Standing, Time};
use store::{ChallengeScore, JournalNote, LADDER, Match, MatchPlayer, Order, PlayerKind, RoomTime, SeatRecord};

use crate::{
    games::{self, Casual, Game, PageState, challenge::Tally, with_kind},
    room::{
        info::rank,
        ledger::match_id,
        register::{Description, SeatFact},
    },
};

/// Seats in a room, including those of players who have left a running match.
const MAX_SEATS: usize = 4_096;
const MAX_GAMES: usize = 4_096;

/// Seats that earlier versions recorded, by address and name.
pub(crate) type RecordedSeats = HashMap<(String, String), SeatRecord>;

#[derive(Debug)]
pub(crate) enum Start {
    /// The end of the previous reading.
    Progress(Box<Progress>),
    /// The last state before the matches that are not stored. The room and the seats are for journals of versions
    /// without facts.
    Record(JournalNote, RecordedSeats),
}

/// The end of a reading.
#[derive(Debug)]
pub(crate) struct Progress {
    bookmark: Bookmark,
    state: Snapshot,
    matches: Matches,
    /// The end of the journal, in bytes.
    pub(crate) position: u64,
    pub(crate) is_closed: bool,
}

impl Progress {
    /// All matches that began before this time are over.
    pub(crate) fn room_time(&self) -> RoomTime {
        self.matches.room_time()
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = Match> {
        self.matches.begun.iter().map(|(&number, &begun)| self.matches.of(number, begun, begun))
    }

    /// Approximate bytes of memory.
    pub(crate) fn size(&self) -> usize {
        // A seat has several short strings.
        const SEAT: usize = 256;
        self.state.size() + SEAT * (self.matches.seats.len() + self.matches.facts.len())
    }
}

/// Passes each finished match that may not be stored yet to `found`, until that returns `false`. Returns `None` if the
/// journal has no complete record yet.
///
/// Fails if the journal cannot be read or replayed to its end. Matches found before count.
pub(crate) fn read(path: &Path, start: Start, found: impl FnMut(Match) -> bool) -> anyhow::Result<Option<Progress>> {
    let journal = match journal_core::open(path) {
        Err(ReadError::Empty) => return Ok(None),
        journal => journal?,
    };
    let name = journal.head()?.game;
    let game = Game::named(&name).with_context(|| format!("this hub does not have the game '{name}'"))?;
    let read = with_kind!(game, K => {
        Reading::<<K as games::GameKind>::Engine>::start(&journal, path, start)?.run(&journal, found)
    });
    read.map(Some)
}

struct Reading<E: Recorded> {
    reader: Reader<journal_core::Source>,
    replay: Replay<E>,
    matches: Matches,
    recorded: RecordedSeats,
}

impl<E: Recorded + PageState> Reading<E> {
    fn start(journal: &Journal, path: &Path, start: Start) -> anyhow::Result<Self> {
        let (note, recorded) = match start {
            Start::Progress(progress) => {
                let reader = journal.reader_at(&progress.bookmark)?.context("its next records were removed")?;
                let replay = Replay::restore(reader.head(), &progress.state)?;
                return Ok(Self { reader, replay, matches: progress.matches, recorded: HashMap::new() });
            }
            Start::Record(note, recorded) => (note, recorded),
        };
        // Without facts, records of seats are found by the addresses of peers.
        let known = Time::from_nanos(note.known.until.saturating_mul(1_000));
        let (reader, replay, facts) = journal.replay_before(known, are_seats_known)?;
        let head = reader.head();
        let zero = if note.known.until > 0 { note.known.zero } else { head.begun.saturating_mul(1_000) };
        let now = RoomTime { until: replay.time().as_nanos() / 1_000, zero };
        // Matches may have begun before the first remaining state.
        let is_late = head.base.is_some() && now.until >= note.known.until;
        let JournalNote { room, title, class, casual, .. } = note;
        let title = if title.is_empty() { head.game.clone() } else { title };
        let description = Description::of(&facts).unwrap_or(Description { room, title, class, casual, day: None });
        let mut matches = Matches {
            id: head.id,
            common: Match {
                game: head.game.clone(),
                journal: path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned(),
                ..Match::default()
            },
            now,
            earliest: is_late.then_some(now),
            begun: BTreeMap::new(),
            seats: BTreeMap::new(),
            facts: SeatFact::all(&facts),
            challenge: None,
        };
        matches.describe(description);
        let mut reading = Self { reader, replay, matches, recorded };
        reading.seat_players();
        Ok(reading)
    }

    // Seats the players who are present at the start, and those who have left a running match.
    fn seat_players(&mut self) {
        let Self { replay, matches, recorded, .. } = self;
        let left = matches.facts.iter().filter(|(_, fact)| fact.left);
        matches.seats = left.map(|(seat, fact)| (seat.clone(), fact.clone())).collect();
        for Occupant { peer, name, seat } in replay.room().engine().roster() {
            if !name.is_empty() && !seat.is_empty() {
                let address = replay.peer(peer).map_or("", |peer| &peer.address);
                let fact = matches.seated(&seat, &name, address, recorded);
                matches.seats.insert(seat, fact);
            }
        }
    }

    fn run(mut self, journal: &Journal, mut found: impl FnMut(Match) -> bool) -> anyhow::Result<Progress> {
        let mut out = Outbox::new();
        // Arrivals are processed with a delay of one, because a note after the arrival records whether it made the
        // server panic.
        let mut waiting: Option<Arrival> = None;
        // The events of the last arrival wait for the facts that follow it. With the address of the peer, and the
        // reason why the game is casual.
        let mut events: Vec<(GameEvent, String, Option<Casual>)> = vec![];
        let mut is_broken = false;
        loop {
            let entry = self.reader.next()?;
            if matches!(entry, Some(Entry::Note(Note::Broken))) {
                is_broken = true;
                break;
            }
            if let Some(arrival) = waiting.take() {
                self.replay.apply(&arrival, &mut out).context("it cannot be replayed")?;
                self.matches.now.until = arrival.time.as_nanos() / 1_000;
                for output in out.drain() {
                    match output {
                        Output::Event(event) => events.push((event, String::new(), None)),
                        Output::Send { frame, .. } => self.matches.receive(&frame),
                        _ => {}
                    }
                }
                for (event, address, casual) in &mut events {
                    match event {
                        GameEvent::Joined { peer, .. } => {
                            self.replay.peer(*peer).map_or("", |peer| &peer.address).clone_into(address);
                        }
                        GameEvent::Ended { game, .. } => *casual = self.replay.room().engine().odd(*game),
                        _ => {}
                    }
                }
            }
            match &entry {
                Some(Entry::Note(Note::Fact(fact))) => {
                    if let Some(description) = Description::of_fact(fact) {
                        self.matches.describe(description);
                    }
                    self.matches.set_fact(&fact.key, &fact.value);
                    continue;
                }
                Some(Entry::Note(Note::Mark(mark))) => {
                    self.replay.check(mark).context("it cannot be replayed")?;
                    continue;
                }
                Some(Entry::Note(Note::Resumed { .. }) | Entry::Arrival(_)) | None => {}
                Some(Entry::Note(_)) => continue,
            }
            for (event, address, casual) in events.drain(..) {
                let over = self.matches.event(&event, &address, casual, &self.recorded);
                if over.is_some_and(|over| !found(over)) {
                    bail!("the hub ends");
                }
            }
            if self.matches.earliest.is_some() && self.replay.room().status().phase != Phase::Playing {
                self.matches.earliest = None;
            }
            match entry {
                None => break,
                Some(Entry::Arrival(arrival)) => waiting = Some(arrival),
                Some(Entry::Note(Note::Resumed { at })) => {
                    self.matches.now.zero = at.saturating_mul(1_000).saturating_sub(self.matches.now.until / 1_000);
                }
                Some(Entry::Note(_)) => {}
            }
        }
        Ok(Progress {
            bookmark: self.reader.bookmark(),
            state: self.replay.snapshot(),
            matches: self.matches,
            position: journal.end(),
            is_closed: is_broken || self.reader.state() == SegmentState::Closed,
        })
    }
}

fn are_seats_known<E: Recorded>(replay: &Replay<E>, facts: &Facts) -> bool {
    let seats = SeatFact::all(facts);
    replay.room().engine().roster().iter().all(|Occupant { peer, name, seat }| {
        name.is_empty() || seat.is_empty() || seats.contains_key(seat) || replay.peer(*peer).is_some()
    })
}

/// The unfinished matches and their players.
#[derive(Debug)]
struct Matches {
    id: u64,
    // Common to all matches of the journal.
    common: Match,
    now: RoomTime,
    // The assumed start of matches that began before the first state, until all of them are over.
    earliest: Option<RoomTime>,
    begun: BTreeMap<u32, RoomTime>,
    // Players who have a seat, or have left it during an unfinished match.
    seats: BTreeMap<String, SeatFact>,
    facts: BTreeMap<String, SeatFact>,
    // The day of a daily challenge, and the state of its score.
    challenge: Option<(u32, Box<dyn Tally>)>,
}

impl Matches {
    fn describe(&mut self, Description { room, title, class, casual, day }: Description) {
        let game = Game::named(&self.common.game);
        if let Some((day, game)) = day.zip(game).filter(|_| self.challenge.is_none()) {
            self.challenge = Some((day, game.tally()));
        }
        self.common = Match { room, title, class, casual, ..std::mem::take(&mut self.common) };
    }

    fn receive(&mut self, frame: &Bytes) {
        if let Some((_, tally)) = &mut self.challenge {
            tally.receive(frame);
        }
    }

    fn set_fact(&mut self, key: &str, value: &str) {
        let Some(seat) = SeatFact::seat(key) else { return };
        let Some(fact) = SeatFact::of(value) else {
            self.facts.remove(seat);
            return;
        };
        // The name was proven or revoked, or the fact followed the seating of its player.
        if let Some(seated) = self.seats.get_mut(seat).filter(|seated| seated.wire() == fact.wire()) {
            (seated.name, seated.wire) = (fact.name.clone(), fact.wire.clone());
            seated.seated.clone_from(&fact.seated);
        }
        self.facts.insert(seat.to_owned(), fact);
    }

    fn seated(&self, seat: &str, wire: &str, address: &str, recorded: &RecordedSeats) -> SeatFact {
        if let Some(fact) = self.facts.get(seat).filter(|fact| fact.wire() == wire && !fact.left) {
            return SeatFact { quit: false, ..fact.clone() };
        }
        let seated = recorded.get(&(address.to_owned(), wire.to_owned()));
        SeatFact::new(wire, seated.cloned().unwrap_or_default())
    }

    fn room_time(&self) -> RoomTime {
        self.begun.values().chain(&self.earliest).min_by_key(|begun| begun.until).map_or(self.now, |begun| *begun)
    }

    fn of(&self, number: u32, begun: RoomTime, ended: RoomTime) -> Match {
        Match {
            id: match_id(self.id, number),
            number,
            begins: begun.until,
            ends: ended.until,
            started: begun.unix().min(ended.unix()),
            ended: ended.unix(),
            ..self.common.clone()
        }
    }

    // Returns the match if it is over.
    fn event(
        &mut self,
        event: &GameEvent,
        address: &str,
        casual: Option<Casual>,
        recorded: &RecordedSeats,
    ) -> Option<Match> {
        match event {
            // Watchers have no name.
            GameEvent::Joined { name, seat, .. } if !name.is_empty() => {
                if self.seats.len() >= MAX_SEATS {
                    self.seats.retain(|_, seated| !seated.left);
                }
                if self.seats.len() < MAX_SEATS {
                    self.seats.insert(seat.clone(), self.seated(seat, name, address, recorded));
                }
                None
            }
            GameEvent::Left { seat, why, .. } => {
                // The result of a running match also lists players who have left.
                if self.begun.is_empty() && self.earliest.is_none() {
                    self.seats.remove(seat);
                } else if let Some(seated) = self.seats.get_mut(seat) {
                    seated.left = true;
                    // Bots leave only when no person is left.
                    seated.quit = *why != Departure::GameOver && seated.seated.kind != PlayerKind::Bot;
                }
                None
            }
            GameEvent::Started { game, .. } => {
                if self.begun.len() < MAX_GAMES {
                    self.begun.insert(*game, self.now);
                }
                None
            }
            GameEvent::Ended { game, complete, standings } => self.ended(*game, *complete, standings, casual),
            _ => None,
        }
    }

    fn ended(&mut self, game: u32, complete: bool, standings: &[Standing], casual: Option<Casual>) -> Option<Match> {
        let begun = self.begun.remove(&game).or(self.earliest);
        let players = self.players(standings);
        let challenge = self.challenge_score(standings);
        for Standing { seat, .. } in standings {
            // In some games players keep their seats for the next match.
            if self.seats.get(seat).is_some_and(|seated| seated.left) {
                self.seats.remove(seat);
            }
        }
        // A match without a start is already stored.
        let begun = begun.filter(|_| !players.is_empty())?;
        let mut over = Match { complete, players, challenge, ..self.of(game, begun, self.now) };
        if over.casual.is_empty() {
            let casual = casual.or_else(|| unusual(&over));
            casual.map_or("", Casual::code).clone_into(&mut over.casual);
        }
        Some(over)
    }

    fn challenge_score(&self, standings: &[Standing]) -> Option<ChallengeScore> {
        let (day, tally) = self.challenge.as_ref()?;
        let is_bot = |seat| self.seats.get(seat).is_some_and(|seated| seated.seated.kind == PlayerKind::Bot);
        let standing = standings.iter().find(|standing| !is_bot(&standing.seat))?;
        Some(ChallengeScore { day: *day, score: tally.score(standing) })
    }

    fn players(&self, standings: &[Standing]) -> Vec<MatchPlayer> {
        let hosted = Game::named(&self.common.game);
        let mut players: Vec<MatchPlayer> = vec![];
        for standing in standings {
            let seated = self.seats.get(&standing.seat);
            let quit = seated.is_some_and(|seated| seated.quit);
            let renamed = seated.filter(|seated| seated.wire() == standing.name);
            let name = renamed.map_or(&standing.name, |seated| &seated.name);
            let SeatRecord { kind, host, level } = seated.map(|seated| seated.seated.clone()).unwrap_or_default();
            let rank = rank(players.last().map(|before| (before.rank, before.score)), standing);
            players.push(MatchPlayer {
                rank,
                // PostgreSQL does not support zero bytes in text, but a name in robots may contain one.
                name: display_name(name).into_owned(),
                kind,
                seat: standing.seat.clone(),
                score: standing.score,
                won: rank == 1 && !quit && !hosted.is_some_and(|game| game.is_lost(standing.score)),
                quit,
                rating: None,
                host,
                level,
            });
        }
        players
    }
}

fn unusual(over: &Match) -> Option<Casual> {
    let mut people = over.players.iter().filter(|player| player.kind != PlayerKind::Bot);
    // A player who leaves has lost, even without a remaining opponent. The ladder ends matches with at most one
    // remaining program, and those that last too long; both are results.
    if !over.complete && over.class != LADDER && !people.clone().all(|player| player.quit) {
        return Some(Casual::Unfinished);
    }
    let Some(first) = people.next() else { return Some(Casual::Alone) };
    let is_other = |player: &MatchPlayer| (player.kind, &player.name) != (first.kind, &first.name);
    let meets = Game::named(&over.game).is_some_and(|game| game.order(&over.class) == Order::Rating);
    (meets && !over.players.iter().any(is_other)).then_some(Casual::Alone)
}
