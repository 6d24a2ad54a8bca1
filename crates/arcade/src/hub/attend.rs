//! The life of a room beside its game: bots come and leave, and a room in which nobody is any more is closed.
//!
//! - Bots leave [`BOTS_STAY`] after the last person has left.
//! - A room that somebody made is closed when nobody was in it for the time that the operator sets.
//! - A room of the hub stays. While nobody is in it, it begins anew once its journal is large or old, so that no journal grows for
//!   ever. The journal before it stays, because matches are replayed from it.

use std::{
    sync::{Arc, Weak},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use netcore::Leave;
use tokio::{
    task::spawn_blocking,
    time::{Instant, sleep_until},
};
use tracing::{info, warn};

use super::rooms::{Rooms, missing};
use crate::room::{Fate, Room};

/// How long bots stay without a person.
const BOTS_STAY: Duration = Duration::from_secs(15);
/// How long people who asked for company wait for other people before bots come.
pub(super) const FILL: Duration = Duration::from_secs(5);
/// A journal that is larger, in bytes, is old enough to begin another one.
const LARGE: u64 = 64 << 20;
/// A journal that is older, in seconds, is old enough too.
const OLD: u64 = 30 * 24 * 3600;

/// Looks after a room until it ends.
pub(crate) async fn attend(rooms: Weak<Rooms>, room: Arc<Room>) {
    let mut info = room.info.clone();
    let mut empty = Instant::now();
    let mut was_empty = true;
    let mut company = Company::default();
    loop {
        let (people, over, ends) = {
            let info = info.borrow_and_update();
            (info.people, info.phase == "over" || info.closing.is_some(), info.result.clone())
        };
        let Some(rooms) = rooms.upgrade().filter(|_| !over) else { return };
        if (people == 0) != was_empty {
            was_empty = people == 0;
            room.holds.set_occupied(!was_empty);
            empty = Instant::now();
        }
        if room.file().result != ends {
            {
                let mut file = room.file();
                // Whoever was removed from the match that is over may come to the next one.
                (file.result, file.barred) = (ends, room.members.barred());
            }
            let (rooms, room) = (Arc::clone(&rooms), Arc::clone(&room));
            // The disk may take its time; rooms share these threads. A room that is not written down comes back without the result.
            let _ = spawn_blocking(move || rooms.save(&room)).await;
        }
        let now = Instant::now();
        if company.is_due(now) {
            let seated = {
                let (rooms, room) = (Arc::clone(&rooms), Arc::clone(&room));
                let host = room.file().maker;
                spawn_blocking(move || rooms.fill(&room, host)).await
            };
            let refused = match seated {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(format!("{error:#}")),
                Err(error) => Some(error.to_string()),
            };
            if let Some(why) = company.came(Instant::now(), refused, !was_empty) {
                warn!(room = room.file().id, "bots cannot join; the hub tries again while people wait: {why}");
            }
        }
        let rules = Rules { permanent: room.file().permanent, empty_for: rooms.empty_for };
        let alone = was_empty.then(|| now - empty);
        if alone.is_some_and(|alone| alone >= BOTS_STAY) {
            let (rooms, room) = (Arc::clone(&rooms), Arc::clone(&room));
            let _ = spawn_blocking(move || rooms.dismiss_bots(&room)).await;
        }
        match rules.judge(alone, || journal_is_old(&room)) {
            Verdict::Stay => {}
            Verdict::Close => {
                let minutes = rules.empty_for.as_secs().div_ceil(60);
                rooms.close(&room, &format!("nobody was in the room for {minutes} minutes"));
                return;
            }
            Verdict::Renew => {
                info!(room = room.file().id, "the room begins anew, with another journal");
                room.stop(Leave::Over, Fate::Renewed);
                return;
            }
        }
        drop(rooms);
        let marks = [BOTS_STAY, rules.empty_for].map(|after| empty + after);
        let marks = marks.into_iter().filter(|mark| was_empty && *mark > now);
        let next = marks.chain(company.due).min();
        tokio::select! {
            changed = info.changed() => if changed.is_err() {
                return;
            },
            () = room.holds.fill_requested() => if company.ask(Instant::now()) && missing(&room) > 0 {
                room.announce_bots(Some(FILL.as_secs()));
            },
            () = sleep_until(next.unwrap_or(now)), if next.is_some() => {}
        }
    }
}

/// The company that people in a room have asked for.
#[derive(Debug, Default)]
struct Company {
    // When bots come, if it was asked for.
    due: Option<Instant>,
    // Whether the log has said already why they cannot.
    told: bool,
}

impl Company {
    // Gives whether it was not asked for before.
    fn ask(&mut self, now: Instant) -> bool {
        let is_new = self.due.is_none();
        self.due.get_or_insert(now + FILL);
        is_new
    }

    fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    // Bots have come, or were refused: then they try again as long as somebody waits for them. Gives what is to be logged.
    fn came(&mut self, now: Instant, refused: Option<String>, somebody_waits: bool) -> Option<String> {
        self.due = refused.as_ref().filter(|_| somebody_waits).map(|_| now + FILL);
        let told = std::mem::replace(&mut self.told, refused.is_some());
        refused.filter(|_| !told)
    }
}

/// What decides how long a room stays.
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
    // `alone` is for how long nobody has been in the room.
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

// A journal in which little happened is not worth another file, however old it is.
const fn is_old(bytes: u64, seconds: u64) -> bool {
    bytes >= LARGE || (seconds >= OLD && bytes >= LARGE / 256)
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_that_are_refused_come_later_and_the_log_says_so_once() {
        let mut company = Company::default();
        let start = Instant::now();
        assert!(!company.is_due(start + 10 * FILL));
        assert!(company.ask(start) && !company.ask(start + FILL / 2));
        assert!(!company.is_due(start + FILL / 2) && company.is_due(start + FILL));
        let refused = || Some("there are too many".to_owned());
        assert_eq!(company.came(start + FILL, refused(), true), refused());
        assert!(!company.is_due(start + FILL) && company.is_due(start + 2 * FILL));
        assert_eq!(company.came(start + 2 * FILL, refused(), true), None);
        assert_eq!(company.came(start + 3 * FILL, None, true), None);
        assert!(!company.is_due(start + 9 * FILL));
        company.ask(start);
        assert_eq!(company.came(start, refused(), false), refused());
        assert_eq!(company.due, None, "everybody has left");
    }

    #[test]
    fn rooms_stay_by_stated_rules() {
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
        assert!(!is_old(LARGE - 1, OLD - 1) && !is_old(2_000, 100 * OLD), "an old journal in which nothing happened");
    }
}
