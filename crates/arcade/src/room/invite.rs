//! Rematches: those who have just played a match on pages are asked whether they play the next one together.
//!
//! The match begins when all are ready, or at the end of a countdown with those who are: their pages are told to join then. Until that,
//! and a moment longer, their seats are kept free.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::json;
use tokio::{sync::watch, time::Instant};

use super::{
    holds::{Holds, Whom},
    pages::Pages,
};

/// How long those who were asked can answer.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);
/// How long their seats are kept after that.
const JOINING: Duration = Duration::from_secs(10);
/// How many make a rematch.
const TOGETHER: usize = 2;

/// Asks for rematches of one room.
#[derive(Debug)]
pub(crate) struct Invites {
    asked: Mutex<Option<Asked>>,
    pages: Arc<Pages>,
    holds: Arc<Holds>,
    // When the countdown ends, if one runs.
    due: watch::Sender<Option<Instant>>,
}

/// Those who are asked.
#[derive(Debug)]
struct Asked {
    r#match: Option<String>,
    until: Instant,
    // Whether each is ready.
    people: BTreeMap<SocketAddr, bool>,
}

impl Asked {
    fn ready(&self) -> usize {
        self.people.values().filter(|ready| **ready).count()
    }

    // What one of them is told.
    fn text(&self, you: bool, begins: bool) -> Arc<str> {
        let left = self.until.saturating_duration_since(Instant::now());
        let seconds = u64::try_from(left.as_millis().div_ceil(1_000)).unwrap_or_default();
        let rematch = json!({
            "match": self.r#match, "ready": self.ready(), "of": self.people.len(), "seconds": seconds, "you": you, "begins": begins,
        });
        json!({ "rematch": rematch }).to_string().into()
    }
}

impl Invites {
    pub(super) fn new(pages: Arc<Pages>, holds: Arc<Holds>) -> Self {
        Self { asked: Mutex::default(), pages, holds, due: watch::Sender::new(None) }
    }

    fn asked(&self) -> MutexGuard<'_, Option<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A match is over that was played at these addresses. Those of them are asked who have a page.
    pub(super) fn ask(&self, r#match: Option<String>, players: impl Iterator<Item = SocketAddr>) {
        let pages = self.pages.seats();
        let people: BTreeMap<SocketAddr, bool> =
            players.filter(|player| pages.contains(player)).map(|player| (player, false)).collect();
        if people.len() < TOGETHER {
            return;
        }
        for &seat in people.keys() {
            self.holds.keep(Whom::Seat(seat), ANSWER + JOINING);
        }
        let until = Instant::now() + ANSWER;
        let asked = Asked { r#match, until, people };
        self.tell(&asked, false);
        *self.asked() = Some(asked);
        self.due.send_replace(Some(until));
    }

    /// Whoever was at one address is at another now, and is told how it stands.
    pub(crate) fn follow(&self, before: SocketAddr, now: SocketAddr) {
        let mut asked = self.asked();
        let Some(asked) = asked.as_mut() else { return };
        if let Some(ready) = asked.people.remove(&before) {
            asked.people.insert(now, ready);
            self.holds.follow(before, now);
        }
    }

    /// A page has come: it is told how it stands, if its seat was asked.
    pub(crate) fn greet(&self, seat: SocketAddr) {
        if let Some(asked) = self.asked().as_ref()
            && let Some(&ready) = asked.people.get(&seat)
        {
            self.pages.tell(seat, &asked.text(ready, false));
        }
    }

    /// Whoever is at this seat is ready for a rematch, or is not any more.
    pub(super) fn answer(&self, seat: SocketAddr, wants: bool) {
        let mut place = self.asked();
        let Some(asked) = place.as_mut() else { return };
        let Some(ready) = asked.people.get_mut(&seat) else { return };
        *ready = wants;
        if asked.ready() == asked.people.len() {
            asked.until = Instant::now();
            self.due.send_replace(Some(asked.until));
        } else {
            self.tell(asked, false);
        }
    }

    /// The countdown is over, or all are ready. Gives whether somebody is told to join.
    pub(crate) fn end(&self) -> bool {
        self.due.send_replace(None);
        let Some(mut asked) = self.asked().take() else { return false };
        let begins = asked.ready() > 0;
        for (&seat, ready) in &asked.people {
            // The others are not waited for.
            if !*ready {
                self.holds.release(Whom::Seat(seat));
                self.pages.tell(seat, &r#"{"rematch":null}"#.into());
            }
        }
        asked.people.retain(|_, ready| *ready);
        self.tell(&asked, begins);
        begins
    }

    fn tell(&self, asked: &Asked, begins: bool) {
        for (&seat, &ready) in &asked.people {
            self.pages.tell(seat, &asked.text(ready, begins));
        }
    }

    /// When the countdown ends, if one runs.
    pub(crate) fn due(&self) -> watch::Receiver<Option<Instant>> {
        self.due.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::sync::mpsc::Receiver;

    use super::*;

    fn told(words: &mut Receiver<Arc<str>>) -> Value {
        let mut last = Value::Null;
        while let Ok(text) = words.try_recv() {
            last = serde_json::from_str::<Value>(&text).unwrap()["rematch"].take();
        }
        last
    }

    #[tokio::test(start_paused = true)]
    async fn a_rematch_begins_with_all_or_with_those_who_are_ready_in_time() {
        let (pages, holds) = (Arc::<Pages>::default(), Arc::<Holds>::default());
        let invites = Invites::new(Arc::clone(&pages), Arc::clone(&holds));
        let at = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let (_one, mut first) = pages.enter(Some(at(1)), false);
        // A native player and a bot have no page.
        invites.ask(None, [at(1), at(5)].into_iter());
        assert_eq!((told(&mut first), invites.end()), (Value::Null, false));
        let (two, mut second) = pages.enter(Some(at(2)), false);
        let seats = [at(1), at(2), at(5)];
        invites.ask(Some("m-1".into()), seats.into_iter());
        let asked = told(&mut second);
        let all = json!({ "match": "m-1", "ready": 0, "of": 2, "seconds": 30, "you": false, "begins": false });
        assert_eq!((&asked, holds.count()), (&all, 2));
        invites.answer(at(1), true);
        invites.answer(at(5), true);
        assert_eq!((told(&mut first)["you"].clone(), told(&mut second)["ready"].clone()), (json!(true), json!(1)));
        // The second page comes with another seat.
        drop(two);
        let (_three, mut third) = pages.enter(Some(at(3)), false);
        invites.follow(at(2), at(3));
        invites.greet(at(3));
        assert_eq!(told(&mut third)["ready"], 1);
        let due = invites.due();
        assert_eq!(*due.borrow(), Some(Instant::now() + ANSWER));
        invites.answer(at(3), true);
        assert_eq!(*due.borrow(), Some(Instant::now()));
        assert!(invites.end());
        assert_eq!((told(&mut first)["begins"].clone(), told(&mut third)["of"].clone()), (json!(true), json!(2)));
        assert_eq!((holds.count(), *due.borrow()), (2, None));
        // Another time only one is ready.
        invites.ask(None, [at(1), at(3)].into_iter());
        invites.answer(at(3), true);
        told(&mut first);
        assert!(invites.end());
        assert_eq!((told(&mut first), told(&mut third)["begins"].clone()), (Value::Null, json!(true)));
        assert_eq!(holds.count(), 1);
    }
}
