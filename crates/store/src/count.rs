//! What a match counts for: the ratings and means of its players, on the board of its class for all time and for its season.

use std::collections::{BTreeMap, BTreeSet};

use skillratings::weng_lin::WengLinRating;

use crate::{
    Entry, Kind, NewMatch, StoreError,
    connection::Connection,
    leaders::average,
    rating::{LADDER, drifted, fixed, rate, shown, sure},
    season::{ALL_TIME, day_of, season_of},
};

/// The class of puzzles of the day: they count for a proven name once a day.
pub const DAILY: &str = "daily";
/// Matches after which a player is ranked; before, it is provisional.
pub const RANKED_AFTER: i64 = 10;
/// How often two names of one host count against each other on a day.
pub const MAX_MEETINGS_A_DAY: i64 = 3;

/// The rank of whoever left before the end.
const LAST: u32 = u32::MAX;

/// Who is rated: a name and how far it is to be trusted. All bots that play equally well are one.
type Person = (String, Kind);

/// A seat that takes part in the rating.
#[derive(Debug)]
struct Contestant<'a> {
    person: Person,
    rank: u32,
    entry: &'a Entry,
}

/// A row of a board.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    rating: WengLinRating,
    matches: i64,
    wins: i64,
    score: i64,
    last: u64,
}

/// What a match has changed.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Why it does not count after all.
    pub(crate) casual: Option<&'static str>,
    // Of those who were rated.
    ratings: BTreeMap<Person, i64>,
}

impl Counted {
    /// The rating that is shown of a player after the match, or 0.
    pub(crate) fn rating(&self, player: &Entry) -> i64 {
        person(player).and_then(|person| self.ratings.get(&person)).copied().unwrap_or(0)
    }

    const fn casual(why: &'static str) -> Self {
        Self { casual: Some(why), ratings: BTreeMap::new() }
    }
}

// A bot of which it is not known how well it plays is nobody.
fn person(player: &Entry) -> Option<Person> {
    match (player.kind, player.level.as_str()) {
        (Kind::Bot, "") => None,
        (Kind::Bot, level) => Some((format!("bot, {level}"), Kind::Bot)),
        (kind, _) => Some((player.name.clone(), kind)),
    }
}

// A person with several seats counts with the best of them, so nobody gains by playing against itself. Each bot counts.
fn contestants(new: &NewMatch) -> Vec<Contestant<'_>> {
    let mut all: Vec<Contestant<'_>> = vec![];
    for entry in &new.players {
        let Some(person) = person(entry) else { continue };
        let rank = if entry.quit { LAST } else { entry.rank };
        let known = all.iter_mut().find(|known| entry.kind != Kind::Bot && known.person == person);
        match known {
            Some(known) if rank < known.rank => (known.rank, known.entry) = (rank, entry),
            Some(_) => {}
            None => all.push(Contestant { person, rank, entry }),
        }
    }
    all
}

/// Counts a match that is not casual by its options. One with a single player counts for the mean of its scores.
pub(crate) async fn count(writer: &mut Connection, new: &NewMatch) -> Result<Counted, StoreError> {
    if !new.casual.is_empty() {
        return Ok(Counted::default());
    }
    if new.class == DAILY {
        let Some(player) = new.players.first().filter(|player| player.kind == Kind::Proven) else {
            return Ok(Counted::casual("unproven"));
        };
        let text = "INSERT INTO attempts (day, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        if writer.execute(text, &[day_of(new.started).into(), (&player.name).into()]).await? == 0 {
            return Ok(Counted::casual("again"));
        }
    }
    let all = contestants(new);
    if all.is_empty() || (all.len() == 1 && new.players.len() > 1) {
        return Ok(Counted::casual("alone"));
    }
    let opponents = opponents(writer, new, &all).await?;
    if all.len() > 1 && opponents.iter().all(Vec::is_empty) {
        return Ok(Counted::casual("pair"));
    }
    let mut counted = Counted::default();
    for season in [ALL_TIME, &season_of(new.ended)] {
        for (person, rating) in count_for(writer, new, season, (&all, &opponents)).await? {
            // The first one is that of all time.
            counted.ratings.entry(person).or_insert(rating);
        }
    }
    Ok(counted)
}

// Against whom each is compared.
async fn opponents(
    writer: &mut Connection,
    new: &NewMatch,
    all: &[Contestant<'_>],
) -> Result<Vec<Vec<usize>>, StoreError> {
    let day = day_of(new.ended);
    let mut met: BTreeMap<(String, &str, &str), bool> = BTreeMap::new();
    let mut opponents = vec![vec![]; all.len()];
    for (at, one) in all.iter().enumerate() {
        for (behind, other) in all.iter().enumerate().skip(at + 1) {
            let counts = match meeting(one.entry, other.entry) {
                _ if one.person == other.person => false,
                // The hub has chosen who plays whom.
                _ if new.class == LADDER => true,
                None => true,
                Some(pair) => {
                    if let Some(counts) = met.get(&pair) {
                        *counts
                    } else {
                        let counts = meet(writer, day, &pair).await?;
                        met.insert(pair, counts);
                        counts
                    }
                }
            };
            if counts {
                opponents[at].push(behind);
                opponents[behind].push(at);
            }
        }
    }
    if !met.is_empty() {
        // A match may be found a day later.
        writer.execute("DELETE FROM meetings WHERE day < $1", &[day.saturating_sub(2).into()]).await?;
    }
    Ok(opponents)
}

// The host and the names of two people who may be one. A host that is not known may be any. A name without proof costs nothing, so those
// of a host are one.
fn meeting<'a>(one: &'a Entry, other: &'a Entry) -> Option<(String, &'a str, &'a str)> {
    if one.kind == Kind::Bot || other.kind == Kind::Bot {
        return None;
    }
    let host = match (one.host.as_str(), other.host.as_str()) {
        (one, other) if one == other => one,
        ("", _) | (_, "") => "",
        _ => return None,
    };
    let name = |player: &'a Entry| if player.kind == Kind::Proven { player.name.as_str() } else { "" };
    let (one, other) = (name(one), name(other));
    Some((host.to_owned(), one.min(other), one.max(other)))
}

// Notes that they have met once more; gives whether that counts.
async fn meet(
    writer: &mut Connection,
    day: u64,
    (host, one, other): &(String, &str, &str),
) -> Result<bool, StoreError> {
    let text = "INSERT INTO meetings (day, host, one, other, matches) VALUES ($1, $2, $3, $4, 1) \
                ON CONFLICT (day, host, one, other) DO UPDATE SET matches = meetings.matches + 1 RETURNING matches";
    let row = writer.row(text, &[day.into(), host.into(), (*one).into(), (*other).into()]).await?;
    Ok(row.map_or(Ok(1), |row| row.integer(0))? <= MAX_MEETINGS_A_DAY)
}

// Counts a match on one board; gives the ratings that are shown of those who were rated.
async fn count_for(
    writer: &mut Connection,
    new: &NewMatch,
    season: &str,
    (all, opponents): (&[Contestant<'_>], &[Vec<usize>]),
) -> Result<Vec<(Person, i64)>, StoreError> {
    let mut before: BTreeMap<&Person, Record> = BTreeMap::new();
    for contestant in all {
        if !before.contains_key(&contestant.person) {
            let mut record = known(writer, new, season, &contestant.person).await?;
            let drifted = drifted(record.rating, new.ended.saturating_sub(record.last));
            record.rating = fixed_of(new, &contestant.person).unwrap_or(drifted);
            before.insert(&contestant.person, record);
        }
    }
    let standing = |at: usize| (before[&all[at].person].rating, all[at].rank);
    let mut after: BTreeMap<&Person, Vec<WengLinRating>> = BTreeMap::new();
    for (at, others) in opponents.iter().enumerate().filter(|(_, others)| !others.is_empty()) {
        let others: Vec<_> = others.iter().map(|&other| standing(other)).collect();
        after.entry(&all[at].person).or_default().push(rate(standing(at), &others));
    }
    let mut done = BTreeSet::new();
    let mut ratings = vec![];
    for Contestant { person, entry, .. } in all {
        // Whoever was compared with nobody has only played alone.
        let rated = after.get(person);
        if (rated.is_none() && all.len() > 1) || !done.insert(person) {
            continue;
        }
        let mut record = before[person];
        if let Some(rating) = fixed_of(new, person).or_else(|| rated.and_then(|all| mean(all))) {
            record.rating = rating;
            ratings.push((person.clone(), shown(rating)));
        }
        record.matches = record.matches.saturating_add(1);
        record.score = record.score.saturating_add(entry.score);
        record.wins = record.wins.saturating_add(i64::from(entry.won && !entry.quit));
        record.last = record.last.max(new.ended);
        store(writer, new, season, (person, record)).await?;
    }
    Ok(ratings)
}

fn fixed_of(new: &NewMatch, (name, kind): &Person) -> Option<WengLinRating> {
    fixed(&new.class, (name, *kind))
}

// Several bots of a match are one player, which has learned the mean of what each has.
fn mean(all: &[WengLinRating]) -> Option<WengLinRating> {
    #[expect(clippy::cast_precision_loss, reason = "some seats")]
    let count = all.len() as f64;
    let sum = |part: fn(&WengLinRating) -> f64| all.iter().map(part).sum::<f64>() / count;
    (!all.is_empty())
        .then(|| WengLinRating { rating: sum(|rating| rating.rating), uncertainty: sum(|rating| rating.uncertainty) })
}

async fn known(
    writer: &mut Connection,
    new: &NewMatch,
    season: &str,
    (name, kind): &Person,
) -> Result<Record, StoreError> {
    let text = "SELECT mean, deviation, matches, wins, score, last FROM standings \
                WHERE game = $1 AND class = $2 AND season = $3 AND name = $4 AND kind = $5";
    let values = [(&new.game).into(), (&new.class).into(), season.into(), name.into(), kind.number().into()];
    let Some(row) = writer.row(text, &values).await? else { return Ok(Record::default()) };
    Ok(Record {
        rating: WengLinRating { rating: row.real(0)?, uncertainty: row.real(1)? },
        matches: row.integer(2)?,
        wins: row.integer(3)?,
        score: row.integer(4)?,
        last: row.number(5)?,
    })
}

async fn store(
    writer: &mut Connection,
    new: &NewMatch,
    season: &str,
    ((name, kind), record): (&Person, Record),
) -> Result<(), StoreError> {
    let text = "INSERT INTO standings \
                (game, class, season, name, kind, mean, deviation, last, ranked, sure, matches, wins, score, average) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
                ON CONFLICT (game, class, season, name, kind) DO UPDATE SET mean = excluded.mean, deviation = excluded.deviation, \
                last = excluded.last, ranked = excluded.ranked, sure = excluded.sure, matches = excluded.matches, \
                wins = excluded.wins, score = excluded.score, average = excluded.average";
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
    ];
    writer.execute(text, &values).await.map(drop)
}
