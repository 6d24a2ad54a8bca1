//! One task for each room, which serves it outside of its game: it closes or restarts an empty room (keeping the
//! journal, from which matches are replayed), starts rematches, adds and removes bots, and replaces an absent owner.
//! The roster wakes it only for changes that matter here.

use std::{
    sync::{Arc, Weak},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use netcore::Leave;
use store::{Match, Store, unix_now};
use tokio::{
    task::{JoinSet, spawn_blocking},
    time::{Instant, sleep, sleep_until},
};
use tracing::{debug, info, warn};

use super::rooms::{Rooms, missing};
use crate::{
    games::{
        Casual,
        challenge::{BOTS, LEVEL},
    },
    room::{Room, RoomOutcome},
};

/// How long bots stay after the last person has left.
const BOTS_STAY: Duration = Duration::from_secs(15);
/// How long people who requested company wait for others before bots join.
pub(super) const FILL: Duration = Duration::from_secs(5);
/// Between two queries whether a match will be rated, since clients join and leave at any rate.
const FORECAST_PAUSE: Duration = Duration::from_millis(250);
/// Journals of empty rooms are replaced above this size in bytes.
const LARGE: u64 = 64 << 20;
/// The age above which they are replaced, in seconds.
const OLD: u64 = 30 * 24 * 3600;

pub(super) async fn attend(rooms: Weak<Rooms>, room: Arc<Room>, store: Store, owner_away: Duration) {
    let mut forecast = Forecast { store, planned: None, query: JoinSet::new() };
    let mut empty = Instant::now();
    let mut was_empty = true;
    let mut company = Company::default();
    // When the next bot of a challenge is tried again.
    let mut challengers: Option<Instant> = None;
    loop {
        let Some(rooms) = rooms.upgrade().filter(|_| !room.is_over()) else { return };
        let (people, result) = {
            let info = room.info.borrow();
            (info.people, info.result.clone())
        };
        if (people == 0) != was_empty {
            was_empty = people == 0;
            room.roster.set_occupied(!was_empty);
            empty = Instant::now();
        }
        if room.file().result != result {
            {
                let mut file = room.file();
                // A player who was removed from a finished match may join the next one.
                (file.result, file.barred) = (result, room.roster.barred());
            }
            // If the disk refuses, a later restore lacks the result.
            blocking(&rooms, &room, Rooms::save).await;
        }
        forecast.update(&room);
        let now = Instant::now();
        if room.roster.rematch_due().is_some_and(|due| due <= now) && room.roster.start_rematch() {
            let starts_at_once = room.info.borrow().options.starts_at_once();
            if !starts_at_once {
                room.roster.request_company(room.roster.company_level());
            }
        }
        if room.roster.take_company_request() && company.request(now) && missing(&room) > 0 {
            room.announce_bots(Some(FILL.as_secs()));
        }
        if company.is_due(now) {
            let host = room.file().maker;
            let seated = blocking(&rooms, &room, move |rooms, room| rooms.fill(room, host)).await;
            let refused = seated.and_then(Result::err).map(|error| format!("{error:#}"));
            if let Some(why) = company.joined(Instant::now(), refused, !was_empty) {
                warn!(room = room.file().id, "bots cannot join; the hub retries while players wait: {why}");
            }
        }
        let mut rules =
            Rules { permanent: room.file().permanent || room.access.class().is_some(), empty_for: rooms.empty_for };
        let mut bots_leave = true;
        if room.access.challenge().is_some() {
            let (plays, is_over) = (room.info.borrow().phase == "playing", room.file().result.is_some());
            if !needs_challenger(&room) {
                challengers = None;
            } else if challengers.is_none_or(|due| due <= now) {
                let host = room.file().maker;
                let seated = blocking(&rooms, &room, move |rooms, room| rooms.seat_bot(room, LEVEL, host)).await;
                let is_refused = !matches!(seated, Some(Ok(())));
                challengers = is_refused.then(|| now + FILL);
            }
            // A person who is disconnected for a while must not find the gold without bots.
            bots_leave = !plays;
            if is_over && !plays {
                rules.empty_for = BOTS_STAY;
            }
        }
        let alone = was_empty.then(|| now - empty);
        if bots_leave && alone.is_some_and(|alone| alone >= BOTS_STAY) && room.bots.count() > 0 {
            blocking(&rooms, &room, Rooms::dismiss_bots).await;
        }
        match rules.judge(alone, || journal_is_old(&room)) {
            Verdict::Stay => {}
            Verdict::Close => {
                let minutes = rules.empty_for.as_secs().div_ceil(60);
                rooms.close(&room, &format!("the room was empty for {minutes} minutes"));
                return;
            }
            Verdict::Renew => {
                info!(room = room.file().id, "restarting the room with a new journal");
                room.stop(Leave::Over, RoomOutcome::Renewed);
                return;
            }
        }
        let ownership = attend_owner(&rooms, &room, owner_away).await;
        drop(rooms);
        let marks = [BOTS_STAY, rules.empty_for].map(|after| empty + after);
        let marks = marks.into_iter().filter(|mark| was_empty && *mark > now);
        let next = marks.chain(company.due).chain(challengers).chain(room.roster.rematch_due()).chain(ownership).min();
        tokio::select! {
            () = room.roster.changed() => {}
            () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
        }
    }
}

/// Announces why a match of the present players is casual, before it is stored.
struct Forecast {
    store: Store,
    planned: Option<Match>,
    query: JoinSet<()>,
}

impl Forecast {
    // Asks the database after a change of the players, and at the start of a match.
    fn update(&mut self, room: &Arc<Room>) {
        while self.query.try_join_next().is_some() {}
        let planned = room.planned_match();
        if planned == self.planned || !self.query.is_empty() {
            return;
        }
        self.planned.clone_from(&planned);
        let Some(planned) = planned else { return };
        if planned.players.len() < 2 {
            room.announce_casual((!planned.casual.is_empty()).then_some(Casual::Alone.code()));
            return;
        }
        let (store, room) = (self.store.clone(), Arc::clone(room));
        self.query.spawn(async move {
            match store.casual_reason(&Match { ended: unix_now(), ..planned }).await {
                Ok(reason) => room.announce_casual(reason),
                Err(error) => debug!(%error, "cannot tell whether the match will be rated"),
            }
            sleep(FORECAST_PAUSE).await;
            // Changes since the query began may require another one.
            room.roster.notify();
        });
    }
}

// Whether the next bot of a challenge joins: one after the other after the person, so that all players meet the same
// match.
fn needs_challenger(room: &Room) -> bool {
    let info = room.info.borrow();
    let seated = info.players.iter().filter(|player| player.bot && !player.seat.is_empty()).count();
    room.roster.has_challenger() == Some(true)
        && info.phase == "lobby"
        && info.result.is_none()
        && room.bots.count() == seated
        && seated < usize::from(BOTS)
}

// Rooms share the threads of the runtime, and the disk may take long.
async fn blocking<T: Send + 'static>(
    rooms: &Arc<Rooms>,
    room: &Arc<Room>,
    work: impl FnOnce(&Rooms, &Room) -> T + Send + 'static,
) -> Option<T> {
    let (rooms, room) = (Arc::clone(rooms), Arc::clone(room));
    spawn_blocking(move || work(&rooms, &room)).await.ok()
}

// Returns when to check again.
async fn attend_owner(rooms: &Arc<Rooms>, room: &Arc<Room>, away: Duration) -> Option<Instant> {
    if !room.is_owned() {
        return None;
    }
    room.mark_owner();
    // The teachers of a class own its rooms at all times.
    if room.roster.has_owner_page() || room.access.class().is_some() {
        return None;
    }
    let due = room.roster.owner_active() + away;
    if due > Instant::now() {
        return Some(due);
    }
    if room.has_present_owner() {
        // A native player's disconnection is noticed at the next check.
        room.roster.set_owner_active();
        return Some(Instant::now() + away);
    }
    match room.replace_absent_owner(room.roster.longest_present()?) {
        Ok(true) => {
            blocking(rooms, room, Rooms::save).await;
        }
        Ok(false) => {}
        Err(error) => warn!("cannot transfer a room: {error:#}"),
    }
    None
}

#[derive(Debug, Default)]
struct Company {
    due: Option<Instant>,
    is_logged: bool,
}

impl Company {
    // Returns whether this is the first request.
    fn request(&mut self, now: Instant) -> bool {
        let is_new = self.due.is_none();
        self.due.get_or_insert(now + FILL);
        is_new
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    // After a refusal the hub retries while people wait. Returns a message for the log.
    fn joined(&mut self, now: Instant, refused: Option<String>, people_wait: bool) -> Option<String> {
        self.due = refused.as_ref().filter(|_| people_wait).map(|_| now + FILL);
        let is_logged = std::mem::replace(&mut self.is_logged, refused.is_some());
        refused.filter(|_| !is_logged)
    }
}

/// The rules by which an empty room stays.
#[derive(Debug, Clone, Copy)]
struct Rules {
    permanent: bool,
    empty_for: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stay,
    Close,
    Renew,
}

impl Rules {
    // `alone` is how long the room has been empty.
    fn judge(self, alone: Option<Duration>, is_old: impl FnOnce() -> bool) -> Verdict {
        match alone {
            Some(alone) if alone >= self.empty_for && !self.permanent => Verdict::Close,
            Some(alone) if alone >= self.empty_for && is_old() => Verdict::Renew,
            _ => Verdict::Stay,
        }
    }
}

fn journal_is_old(room: &Room) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    is_old(room.journal.length(), now.saturating_sub(room.file().begun))
}

// A short journal is not replaced, regardless of its age.
const fn is_old(bytes: u64, seconds: u64) -> bool {
    bytes >= LARGE || (seconds >= OLD && bytes >= LARGE / 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_bots_join_later_and_the_reason_is_logged_once() {
        let mut company = Company::default();
        let start = Instant::now();
        assert!(!company.is_due(start + 10 * FILL));
        assert!(company.request(start) && !company.request(start + FILL / 2));
        assert!(!company.is_due(start + FILL / 2) && company.is_due(start + FILL));
        let refused = || Some("there are too many".to_owned());
        assert_eq!(company.joined(start + FILL, refused(), true), refused());
        assert!(!company.is_due(start + FILL) && company.is_due(start + 2 * FILL));
        assert_eq!(company.joined(start + 2 * FILL, refused(), true), None);
        assert_eq!(company.joined(start + 3 * FILL, None, true), None);
        assert!(!company.is_due(start + 9 * FILL));
        company.request(start);
        assert_eq!(company.joined(start, refused(), false), refused());
        assert_eq!(company.due, None, "all people have left");
    }

    #[test]
    fn empty_rooms_are_closed_or_renewed_by_the_rules() {
        let minute = Duration::from_mins(1);
        let (ours, made) =
            (Rules { permanent: true, empty_for: 5 * minute }, Rules { permanent: false, empty_for: 5 * minute });
        let old = || true;
        assert_eq!(made.judge(None, old), Verdict::Stay);
        assert_eq!(made.judge(Some(4 * minute), old), Verdict::Stay);
        assert_eq!(made.judge(Some(5 * minute), old), Verdict::Close);
        assert_eq!(ours.judge(Some(5 * minute), || false), Verdict::Stay);
        assert_eq!(ours.judge(Some(5 * minute), old), Verdict::Renew);
        assert_eq!(ours.judge(None, old), Verdict::Stay);
        assert!(is_old(LARGE, 0) && is_old(LARGE / 2, OLD));
        assert!(!is_old(LARGE - 1, OLD - 1) && !is_old(2_000, 100 * OLD), "an old journal that is short");
    }
}
