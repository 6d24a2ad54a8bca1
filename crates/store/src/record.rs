use std::collections::{BTreeMap, BTreeSet};

use skillratings::weng_lin::WengLinRating;

use crate::{
    Match, MatchPlayer, PlayerKind, Store, StoreError, challenges,
    connection::Connection,
    database::transaction,
    leaders::average,
    names::note_use,
    rating::{LADDER, drifted, fixed, rate, rounded, sure},
    season::{ALL_TIME, day_of, season_of},
};

/// Daily puzzles count once a day for a proven name.
pub const DAILY: &str = "daily";
/// A player with fewer matches is provisional.
pub const RANKED_AFTER: i64 = 10;
/// Rated matches against names of other hosts that a name needs before it counts against names of its own host.
const OUTSIDE_BEFORE: i64 = 10;
/// How often two names of one host count against each other per day.
pub const MAX_MEETINGS_A_DAY: i64 = 3;

/// The rank of a player who left before the end.
const LAST: u32 = u32::MAX;

/// The owner of a rating. All bots of a level share one rating.
type Person = (String, PlayerKind);

#[derive(Debug, Clone, Copy, Default)]
struct Record {
    rating: WengLinRating,
    matches: i64,
    wins: i64,
    score: i64,
    last: u64,
    // Those of `matches` with a rated comparison with a name of another host.
    outside: i64,
}

/// The host and the names of two players who may be the same person.
type Meeting<'a> = (&'a str, &'a str, &'a str);

#[derive(Debug)]
struct Comparisons<'a> {
    // The indices of the opponents of each contestant that count.
    opponents: Vec<Vec<usize>>,
    // Whether one of them is a name of another host.
    outside: Vec<bool>,
    meetings: Vec<Meeting<'a>>,
}

impl Store {
    /// Stores and counts a match in one transaction. Returns `false` if it was already stored or has no players.
    ///
    /// # Errors
    /// If the database rejects it. The call can be repeated.
    pub async fn record(&self, new: &Match) -> Result<bool, StoreError> {
        if new.players.is_empty() {
            return Ok(false);
        }
        transaction!(self, writer => store_match(writer, new.clone()))
    }

    /// Why a match of these players that ended now would be casual; `None` if it would be rated. `planned` needs the
    /// class, the players and `ended`. It is not a daily puzzle.
    ///
    /// # Errors
    /// If the database rejects it.
    pub async fn casual_reason(&self, planned: &Match) -> Result<Option<&'static str>, StoreError> {
        let mut reader = self.readers.acquire().await?;
        let reason = compare(&mut reader, planned, &contestants(&planned.players)).await?.err();
        reader.done();
        Ok(reason)
    }
}

async fn store_match(writer: &mut Connection, mut new: Match) -> Result<bool, StoreError> {
    let text = "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete, class, casual) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING";
    let values = [
        (&new.id).into(),
        (&new.game).into(),
        (&new.title).into(),
        (&new.room).into(),
        (&new.journal).into(),
        i64::from(new.number).into(),
        new.begins.into(),
        new.ends.into(),
        new.started.into(),
        new.ended.into(),
        i64::from(new.complete).into(),
        (&new.class).into(),
        (&new.casual).into(),
    ];
    let is_new = writer.execute(text, &values).await? == 1;
    if is_new {
        let was_casual = !new.casual.is_empty();
        rate_match(writer, &mut new).await?;
        if !new.casual.is_empty() && !was_casual {
            let text = "UPDATE matches SET casual = $2 WHERE id = $1";
            writer.execute(text, &[(&new.id).into(), (&new.casual).into()]).await?;
        }
        store_players(writer, &new).await?;
        if let Some(challenge) = new.challenge {
            challenges::score(writer, &new.game, (&new.room, &new.id), challenge).await?;
        }
    }
    Ok(is_new)
}

async fn store_players(writer: &mut Connection, new: &Match) -> Result<(), StoreError> {
    for (place, player) in (0_i64..).zip(&new.players) {
        let text = "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended, class, quit) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let values = [
            (&new.id).into(),
            place.into(),
            i64::from(player.rank).into(),
            (&player.name).into(),
            player.kind.number().into(),
            (&player.seat).into(),
            player.score.into(),
            player.rating.unwrap_or(0).into(),
            (&new.game).into(),
            new.ended.into(),
            (&new.class).into(),
            i64::from(player.quit).into(),
        ];
        writer.execute(text, &values).await?;
        if player.kind == PlayerKind::Proven {
            note_use(writer, &player.name).await?;
        }
    }
    if new.players.iter().any(|player| player.kind != PlayerKind::Bot) {
        let text = "INSERT INTO journals (file, room, title, examined, people) VALUES ($1, $2, $3, 0, 1) \
                    ON CONFLICT (file) DO UPDATE SET people = 1";
        writer.execute(text, &[(&new.journal).into(), (&new.room).into(), (&new.title).into()]).await?;
    }
    Ok(())
}

// `None` for a bot of unknown level.
fn person(player: &MatchPlayer) -> Option<Person> {
    match (player.kind, player.level.as_str()) {
        (PlayerKind::Bot, "") => None,
        (PlayerKind::Bot, level) => Some((format!("bot, {level}"), PlayerKind::Bot)),
        (kind, _) => Some((player.name.clone(), kind)),
    }
}

const fn rank(player: &MatchPlayer) -> u32 {
    if player.quit { LAST } else { player.rank }
}

// Only the best seat of a person counts, so playing against oneself has no benefit. Each bot counts.
fn contestants(players: &[MatchPlayer]) -> Vec<(Person, &MatchPlayer)> {
    let mut all: Vec<(Person, &MatchPlayer)> = vec![];
    for player in players {
        let Some(person) = person(player) else { continue };
        let is_person = player.kind != PlayerKind::Bot;
        match all.iter_mut().find(|(other, _)| is_person && *other == person) {
            Some((_, best)) if rank(player) < rank(best) => *best = player,
            Some(_) => {}
            None => all.push((person, player)),
        }
    }
    all
}

// Sets the ratings of the players, or the reason why the match is casual. A match with a single player counts for the
// player's mean score.
async fn rate_match(writer: &mut Connection, new: &mut Match) -> Result<(), StoreError> {
    if !new.casual.is_empty() {
        return Ok(());
    }
    match ratings(writer, new).await? {
        Ok(ratings) => {
            for player in &mut new.players {
                player.rating = person(player).and_then(|person| ratings.get(&person)).copied();
            }
        }
        Err(casual) => casual.clone_into(&mut new.casual),
    }
    Ok(())
}

// The inner error is the reason why the match is casual.
async fn ratings(
    writer: &mut Connection,
    new: &Match,
) -> Result<Result<BTreeMap<Person, i64>, &'static str>, StoreError> {
    if new.class == DAILY {
        let Some(player) = new.players.first().filter(|player| player.kind == PlayerKind::Proven) else {
            return Ok(Err("unproven"));
        };
        let text = "INSERT INTO attempts (day, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        if writer.execute(text, &[day_of(new.started).into(), (&player.name).into()]).await? == 0 {
            return Ok(Err("again"));
        }
    }
    let all = contestants(&new.players);
    let comparisons = match compare(writer, new, &all).await? {
        Ok(comparisons) => comparisons,
        Err(reason) => return Ok(Err(reason)),
    };
    count_meetings(writer, day_of(new.ended), &comparisons.meetings).await?;
    let mut ratings = BTreeMap::new();
    for season in [ALL_TIME, &season_of(new.ended)] {
        for (person, rating) in count_for(writer, new, season, (&all, &comparisons)).await? {
            // The first one is the rating of all time.
            ratings.entry(person).or_insert(rating);
        }
    }
    Ok(Ok(ratings))
}

// The inner error is the reason why the match is casual.
async fn compare<'a>(
    connection: &mut Connection,
    new: &Match,
    all: &[(Person, &'a MatchPlayer)],
) -> Result<Result<Comparisons<'a>, &'static str>, StoreError> {
    if all.is_empty() || (all.len() == 1 && new.players.len() > 1) {
        return Ok(Err("alone"));
    }
    let mut met: BTreeMap<Meeting, bool> = BTreeMap::new();
    let mut known: BTreeMap<&Person, bool> = BTreeMap::new();
    let mut are_some_unknown = false;
    let (mut opponents, mut outside) = (vec![vec![]; all.len()], vec![false; all.len()]);
    for (at, (person, one)) in all.iter().enumerate() {
        for (behind, (other_person, other)) in all.iter().enumerate().skip(at + 1) {
            let meeting = meeting(one, other);
            let is_outside = meeting.is_none() && [one, other].iter().all(|player| player.kind != PlayerKind::Bot);
            let counts = match meeting {
                _ if person == other_person => false,
                // The hub has paired them.
                _ if new.class == LADDER => true,
                None => true,
                Some(_)
                    if !is_known(connection, &mut known, person).await?
                        || !is_known(connection, &mut known, other_person).await? =>
                {
                    are_some_unknown = true;
                    false
                }
                Some(pair) => {
                    if let Some(counts) = met.get(&pair) {
                        *counts
                    } else {
                        let counts = meetings(connection, day_of(new.ended), &pair).await? < MAX_MEETINGS_A_DAY;
                        met.insert(pair, counts);
                        counts
                    }
                }
            };
            if counts {
                for (one, other) in [(at, behind), (behind, at)] {
                    opponents[one].push(other);
                    outside[one] |= is_outside;
                }
            }
        }
    }
    if all.len() > 1 && opponents.iter().all(Vec::is_empty) {
        return Ok(Err(if are_some_unknown { "network" } else { "pair" }));
    }
    Ok(Ok(Comparisons { opponents, outside, meetings: met.into_keys().collect() }))
}

// Whether a person has enough rated matches against names of other hosts.
async fn is_known<'a>(
    writer: &mut Connection,
    known: &mut BTreeMap<&'a Person, bool>,
    person: &'a Person,
) -> Result<bool, StoreError> {
    if let Some(known) = known.get(person) {
        return Ok(*known);
    }
    let (name, kind) = person;
    let text =
        "SELECT CAST(COALESCE(SUM(outside), 0) AS BIGINT) FROM standings WHERE name = $1 AND kind = $2 AND season = $3";
    let row = writer.row(text, &[name.into(), kind.number().into(), ALL_TIME.into()]).await?;
    let is_known = row.map_or(Ok(0), |row| row.integer(0))? >= OUTSIDE_BEFORE;
    known.insert(person, is_known);
    Ok(is_known)
}

// `None` if two players are certainly different people. An unknown host matches every host. All unproven names of a
// host count as one name, since a person can use any number of them.
fn meeting<'a>(one: &'a MatchPlayer, other: &'a MatchPlayer) -> Option<Meeting<'a>> {
    if one.kind == PlayerKind::Bot || other.kind == PlayerKind::Bot {
        return None;
    }
    let host = match (one.host.as_str(), other.host.as_str()) {
        (one, other) if one == other => one,
        ("", _) | (_, "") => "",
        _ => return None,
    };
    let name = |player: &'a MatchPlayer| if player.kind == PlayerKind::Proven { player.name.as_str() } else { "" };
    let (one, other) = (name(one), name(other));
    Some((host, one.min(other), one.max(other)))
}

// The counted matches of a pair on a day.
async fn meetings(connection: &mut Connection, day: u64, (host, one, other): &Meeting<'_>) -> Result<i64, StoreError> {
    let text = "SELECT matches FROM meetings WHERE day = $1 AND host = $2 AND one = $3 AND other = $4";
    let values = [day.into(), (*host).into(), (*one).into(), (*other).into()];
    connection.row(text, &values).await?.map_or(Ok(0), |row| row.integer(0))
}

async fn count_meetings(writer: &mut Connection, day: u64, met: &[Meeting<'_>]) -> Result<(), StoreError> {
    for (host, one, other) in met {
        let text = "INSERT INTO meetings (day, host, one, other, matches) VALUES ($1, $2, $3, $4, 1) \
                    ON CONFLICT (day, host, one, other) DO UPDATE SET matches = meetings.matches + 1";
        writer.execute(text, &[day.into(), (*host).into(), (*one).into(), (*other).into()]).await?;
    }
    if !met.is_empty() {
        // A match may be stored a day late.
        writer.execute("DELETE FROM meetings WHERE day < $1", &[day.saturating_sub(2).into()]).await?;
    }
    Ok(())
}

// Updates the boards of a season. Returns the displayed ratings.
async fn count_for(
    writer: &mut Connection,
    new: &Match,
    season: &str,
    (all, comparisons): (&[(Person, &MatchPlayer)], &Comparisons<'_>),
) -> Result<Vec<(Person, i64)>, StoreError> {
    let mut before: BTreeMap<&Person, Record> = BTreeMap::new();
    for (person, _) in all {
        if !before.contains_key(person) {
            let mut record = record_of(writer, new, season, person).await?;
            let drifted = drifted(record.rating, new.ended.saturating_sub(record.last));
            record.rating = fixed_of(new, person).unwrap_or(drifted);
            before.insert(person, record);
        }
    }
    let standing = |at: usize| (before[&all[at].0].rating, rank(all[at].1));
    let mut after: BTreeMap<&Person, Vec<WengLinRating>> = BTreeMap::new();
    for (at, others) in comparisons.opponents.iter().enumerate().filter(|(_, others)| !others.is_empty()) {
        let others: Vec<_> = others.iter().map(|&other| standing(other)).collect();
        after.entry(&all[at].0).or_default().push(rate(standing(at), &others));
    }
    let mut done = BTreeSet::new();
    let mut ratings = vec![];
    for (person, player) in all {
        // A player of a larger match who was not compared with any opponent is omitted.
        let rated = after.get(person);
        if (rated.is_none() && all.len() > 1) || !done.insert(person) {
            continue;
        }
        let mut record = before[person];
        if let Some(rating) = fixed_of(new, person).or_else(|| rated.and_then(|all| mean(all))) {
            record.rating = rating;
            ratings.push((person.clone(), rounded(rating)));
        }
        record.matches = record.matches.saturating_add(1);
        record.score = record.score.saturating_add(player.score);
        record.wins = record.wins.saturating_add(i64::from(player.won && !player.quit));
        record.last = record.last.max(new.ended);
        let is_outside = all.iter().zip(&comparisons.outside).any(|((other, _), outside)| other == person && *outside);
        record.outside = record.outside.saturating_add(i64::from(is_outside));
        store(writer, new, season, (person, record)).await?;
    }
    Ok(ratings)
}

fn fixed_of(new: &Match, (name, kind): &Person) -> Option<WengLinRating> {
    fixed(&new.class, (name, *kind))
}

// Several bots of a level are one player, whose rating becomes their mean.
fn mean(all: &[WengLinRating]) -> Option<WengLinRating> {
    #[expect(clippy::cast_precision_loss, reason = "some seats")]
    let count = all.len() as f64;
    let sum = |part: fn(&WengLinRating) -> f64| all.iter().map(part).sum::<f64>() / count;
    (!all.is_empty())
        .then(|| WengLinRating { rating: sum(|rating| rating.rating), uncertainty: sum(|rating| rating.uncertainty) })
}

async fn record_of(
    writer: &mut Connection,
    new: &Match,
    season: &str,
    (name, kind): &Person,
) -> Result<Record, StoreError> {
    let text = "SELECT mean, deviation, matches, wins, score, last, outside FROM standings \
                WHERE game = $1 AND class = $2 AND season = $3 AND name = $4 AND kind = $5";
    let values = [(&new.game).into(), (&new.class).into(), season.into(), name.into(), kind.number().into()];
    let Some(row) = writer.row(text, &values).await? else { return Ok(Record::default()) };
    Ok(Record {
        rating: WengLinRating { rating: row.real(0)?, uncertainty: row.real(1)? },
        matches: row.integer(2)?,
        wins: row.integer(3)?,
        score: row.integer(4)?,
        last: row.number(5)?,
        outside: row.integer(6)?,
    })
}

async fn store(
    writer: &mut Connection,
    new: &Match,
    season: &str,
    ((name, kind), record): (&Person, Record),
) -> Result<(), StoreError> {
    let text = "INSERT INTO standings \
                (game, class, season, name, kind, mean, deviation, last, ranked, sure, matches, wins, score, average, outside) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
                ON CONFLICT (game, class, season, name, kind) DO UPDATE SET mean = excluded.mean, deviation = excluded.deviation, \
                last = excluded.last, ranked = excluded.ranked, sure = excluded.sure, matches = excluded.matches, \
                wins = excluded.wins, score = excluded.score, average = excluded.average, outside = excluded.outside";
    let values = [
        (&new.game).into(),
        (&new.class).into(),
        season.into(),
        name.into(),
        kind.number().into(),
        record.rating.rating.into(),
        record.rating.uncertainty.into(),
        record.last.into(),
        i64::from(record.matches >= RANKED_AFTER).into(),
        sure(record.rating).into(),
        record.matches.into(),
        record.wins.into(),
        record.score.into(),
        average(record.score, record.matches).into(),
        record.outside.into(),
    ];
    writer.execute(text, &values).await.map(drop)
}
