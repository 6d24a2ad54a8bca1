use netcore::{HostId, Level, Time};

use crate::{
    records::NameRecord,
    settings::{FIXED, Settings},
};

/// New for each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramId(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    Program(ProgramId),
    Fixed(Level),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub name: String,
    pub host: HostId,
    /// Of its name, at the time of the connection.
    pub rating: i64,
    /// When it started to wait, or when the program that it replaced did.
    pub since: Time,
}

/// Slices are sorted by waiting time, longest first.
pub(crate) type Ready<'a> = (ProgramId, &'a Waiting, NameRecord);

pub(crate) fn next(settings: &Settings, now: Time, ready: &[Ready<'_>]) -> Option<[Seat; 2]> {
    ready.iter().enumerate().find_map(|(at, one)| {
        if !is_bot_next(settings, one) {
            let others = ready.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            let possible = others.filter(|other| pair_time(settings, one, other).is_some_and(|time| time <= now));
            if let Some(best) = possible.min_by_key(|other| cost(settings, one, other)) {
                return Some([Seat::Program(one.0), Seat::Program(best.0)]);
            }
        }
        let is_bot_due = bot_time(settings, one) <= now;
        is_bot_due.then(|| [Seat::Program(one.0), Seat::Fixed(level(settings, one))])
    })
}

/// When a match can start if no other program connects.
pub(crate) fn due(settings: &Settings, ready: &[Ready<'_>]) -> Option<Time> {
    let pairs = ready.iter().enumerate().flat_map(|(at, one)| {
        let others = ready.iter().skip(at + 1);
        others.filter_map(move |other| pair_time(settings, one, other))
    });
    ready.iter().map(|one| bot_time(settings, one)).chain(pairs).min()
}

// Whether the next match is against a bot even if other programs wait.
fn is_bot_next(settings: &Settings, (_, _, record): &Ready<'_>) -> bool {
    record.since_bot.saturating_add(1) >= settings.anchor
}

// When the program plays a bot if it finds no other opponent.
fn bot_time(settings: &Settings, one: &Ready<'_>) -> Time {
    let waits = if is_bot_next(settings, one) { std::time::Duration::ZERO } else { settings.company };
    one.1.since.plus(waits).max(one.2.not_before)
}

fn cost(settings: &Settings, one: &Ready<'_>, other: &Ready<'_>) -> i64 {
    let have_met = |one: &Ready<'_>, other: &Ready<'_>| one.2.opponent.as_ref() == Some(&other.1.name);
    let again = if have_met(one, other) || have_met(other, one) { settings.again } else { 0 };
    (one.1.rating.saturating_sub(other.1.rating)).saturating_abs().saturating_add(again)
}

// When two programs may play each other, if ever. The permitted rating difference grows with the longer wait.
fn pair_time(settings: &Settings, one: &Ready<'_>, other: &Ready<'_>) -> Option<Time> {
    if is_bot_next(settings, one) || is_bot_next(settings, other) {
        return None;
    }
    let missing = cost(settings, one, other).saturating_sub(settings.close).max(0);
    let seconds = match (missing, settings.widening) {
        (0, _) => 0,
        (_, ..=0) => return None,
        (missing, widening) => u64::try_from(missing.saturating_add(widening - 1) / widening).unwrap_or(u64::MAX),
    };
    let since = one.1.since.min(other.1.since).plus(std::time::Duration::from_secs(seconds));
    // Both must be connected and allowed to play.
    Some([one.1.since, other.1.since, one.2.not_before, other.2.not_before].into_iter().fold(since, Time::max))
}

// The bot with the closest rating. The last opponent counts as farther away, so that a program meets several.
fn level(settings: &Settings, (_, waiting, record): &Ready<'_>) -> Level {
    let far = |&(level, rating): &(Level, i64)| {
        let again = if record.level == Some(level) { settings.again.saturating_mul(2) } else { 0 };
        waiting.rating.saturating_sub(rating).saturating_abs().saturating_add(again)
    };
    FIXED.into_iter().min_by_key(far).map_or(Level::Normal, |(level, _)| level)
}
