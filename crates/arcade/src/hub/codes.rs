use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use netcore::{HostId, Network, Rate, RateTable, Time};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::time::sleep;

use super::Hub;
use crate::room::{
    Room,
    file::{Access, CODE, draw_code, read_code},
    roster::BrowserKey,
};

/// The duration of a look-up for a host without remaining tries. With [`MAX_LOOKUPS`](super::resources::MAX_LOOKUPS),
/// all such hosts together can guess 16 codes a second.
const LOOKUP: Duration = Duration::from_millis(250);

/// Credentials of a client for a room, all optional.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Proof {
    pub(crate) code: Option<String>,
    pub(crate) word: Option<String>,
    pub(crate) owner: Option<String>,
    /// The token of a seat in any match of the room.
    pub(crate) seat: Option<String>,
    #[serde(skip)]
    pub(crate) key: Option<BrowserKey>,
}

#[derive(Debug)]
pub(crate) enum Coded {
    Here(Arc<Room>),
    /// The code of a class.
    Class(String),
    /// A room of another node.
    Remote {
        id: String,
        code: String,
    },
}

impl Hub {
    /// The right code always passes: a host with too many wrong ones only waits, unless it already `knows` the code.
    pub(crate) async fn look_up<T>(
        &self,
        host: HostId,
        purpose: Purpose,
        knows: impl Fn() -> bool,
        found: impl Future<Output = Option<T>>,
    ) -> AttemptResult<T> {
        if !knows() && self.tries.wait(host, &purpose).is_some() {
            let turn = match self.resources.lookups.wait(host).await {
                Ok(turn) => turn,
                Err(refusal) => return AttemptResult::TooMany(refusal.after()),
            };
            // Another client of the host may have shown the code meanwhile.
            if !knows() {
                sleep(LOOKUP).await;
            }
            let found = found.await;
            drop(turn);
            return found.map_or(AttemptResult::Wrong, AttemptResult::Right);
        }
        if let Some(found) = found.await {
            return AttemptResult::Right(found);
        }
        self.tries.charge(host, &purpose);
        AttemptResult::Wrong
    }

    pub(crate) async fn by_code(&self, host: HostId, typed: &str) -> AttemptResult<Coded> {
        // A text that is not a code does not count as a try.
        let Some(code) = read_code(typed, CODE) else { return AttemptResult::Wrong };
        let room = self.rooms.all().into_iter().find(|room| room.access.code() == Some(&*code));
        let found = async {
            if let Some(room) = &room {
                return Some(Coded::Here(Arc::clone(room)));
            }
            if self.classes.get(&code).is_some() {
                return Some(Coded::Class(code.clone()));
            }
            let id = self.cluster()?.fleet.room_of(&code)?;
            Some(Coded::Remote { id, code: code.clone() })
        };
        let is_maker = room.as_ref().is_some_and(|room| room.file().maker == Some(host));
        self.try_code(host, &code, is_maker, found).await
    }

    /// A host that `knows` the code does not wait, like one with a client that has shown it before.
    pub(super) async fn try_code<T>(
        &self,
        host: HostId,
        code: &str,
        knows: bool,
        found: impl Future<Output = Option<T>>,
    ) -> AttemptResult<T> {
        let is_known = || knows || self.tries.known().contains(host, code);
        let result = self.look_up(host, Purpose::RoomCode, is_known, found).await;
        if let AttemptResult::Right(_) = result {
            self.tries.known().insert(host, code);
        }
        result
    }

    /// A try at a missing room costs as much and takes as long as one at an unlisted room.
    pub(crate) async fn admits(
        &self,
        host: HostId,
        (id, room): (&str, Option<&Room>),
        proof: &Proof,
    ) -> AttemptResult<()> {
        if room.is_some_and(|room| room.access.is_public() || self.has_token(id, room, proof)) {
            return AttemptResult::Right(());
        }
        if let Some(Access::Class(code)) = room.map(|room| &room.access) {
            let class = self.classes.get(code);
            let is_member = class.zip(proof.key).is_some_and(|(class, key)| class.member(&key).is_some());
            return if is_member { AttemptResult::Right(()) } else { AttemptResult::Wrong };
        }
        if let Some(Access::Challenge(challenge)) = room.map(|room| &room.access) {
            return if proof.key == Some(challenge.key) { AttemptResult::Right(()) } else { AttemptResult::Wrong };
        }
        if let Some(Access::Word(mac)) = room.map(|room| &room.access) {
            let Some(word) = &proof.word else { return AttemptResult::Wrong };
            let is_right = || self.secret().verify_word(id, word, mac);
            return self.tries.attempt(host, &Purpose::Word(id.to_owned()), || is_right().then_some(()));
        }
        let Some(typed) = &proof.code else { return AttemptResult::Wrong };
        let Some(typed) = read_code(typed, CODE) else { return AttemptResult::Wrong };
        let room = room.filter(|room| room.access.code() == Some(&*typed));
        let is_maker = room.is_some_and(|room| room.file().maker == Some(host));
        self.try_code(host, &typed, is_maker, std::future::ready(room.map(|_| ()))).await
    }

    /// Tokens are too long to be guessed. A member who was removed from a class may still have that of a seat.
    pub(crate) fn has_token(&self, id: &str, room: &Room, proof: &Proof) -> bool {
        proof.owner.as_deref().is_some_and(|token| room.has_owner(token))
            || room.access.class().is_none()
                && proof.seat.as_deref().is_some_and(|token| self.secret().verify(id, token).is_some())
    }
}

/// The rate of wrong tries of one host for one purpose, which cost [`TRY`] each: a burst of twenty, and then one every
/// 30 seconds.
pub(crate) const TRIES: Rate = Rate { per_second: 1, burst: 20 * TRY };
const TRY: u32 = 30;
/// The maximum number of counters of wrong tries. A further one replaces the one with the fewest wrong tries.
pub(crate) const MAX_TRYING: usize = 4_096;
/// Codes that hosts have shown, which pass without waiting. A further one replaces the oldest.
pub(crate) const MAX_KNOWN: usize = 16_384;

/// Each purpose has its own counter, so that wrong tries for one do not delay another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// The right code passes also above the limit.
    RoomCode,
    /// Moves a name to another device. The right code passes also above the limit.
    DeviceCode,
    /// The password of the room with this id.
    Word(String),
    /// The key of the program with this name.
    Key(String),
}

#[derive(Debug)]
pub(crate) struct Tries {
    start: Instant,
    counters: Mutex<RateTable<(Network, Purpose)>>,
    known: Mutex<KnownCodes>,
}

/// Correct codes of rooms and classes that clients of these hosts have shown.
#[derive(Debug, Default)]
struct KnownCodes {
    codes: BTreeSet<(HostId, String)>,
    // The oldest first.
    order: VecDeque<(HostId, String)>,
}

impl KnownCodes {
    fn contains(&self, host: HostId, code: &str) -> bool {
        self.codes.contains(&(host, code.to_owned()))
    }

    fn insert(&mut self, host: HostId, code: &str) {
        let known = (host, code.to_owned());
        if !self.codes.insert(known.clone()) {
            return;
        }
        self.order.push_back(known);
        if self.order.len() > MAX_KNOWN
            && let Some(oldest) = self.order.pop_front()
        {
            self.codes.remove(&oldest);
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AttemptResult<T> {
    Right(T),
    Wrong,
    /// Not checked. The next try is possible after this time.
    TooMany(Duration),
}

impl Default for Tries {
    fn default() -> Self {
        let counters = Mutex::new(RateTable::new(TRIES, MAX_TRYING));
        Self { start: Instant::now(), counters, known: Mutex::default() }
    }
}

impl Tries {
    /// Only wrong tries are counted.
    pub(crate) fn attempt<T>(
        &self,
        host: HostId,
        purpose: &Purpose,
        look: impl FnOnce() -> Option<T>,
    ) -> AttemptResult<T> {
        self.attempt_at(self.now(), host, purpose, look)
    }

    pub(crate) fn wait(&self, host: HostId, purpose: &Purpose) -> Option<Duration> {
        wait(&mut self.counters(), self.now(), host, purpose)
    }

    pub(crate) fn charge(&self, host: HostId, purpose: &Purpose) {
        charge(&mut self.counters(), self.now(), host, purpose);
    }

    fn attempt_at<T>(
        &self,
        now: Time,
        host: HostId,
        purpose: &Purpose,
        look: impl FnOnce() -> Option<T>,
    ) -> AttemptResult<T> {
        let mut counters = self.counters();
        if let Some(wait) = wait(&mut counters, now, host, purpose) {
            return AttemptResult::TooMany(wait);
        }
        if let Some(found) = look() {
            return AttemptResult::Right(found);
        }
        charge(&mut counters, now, host, purpose);
        AttemptResult::Wrong
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    fn known(&self) -> MutexGuard<'_, KnownCodes> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, RateTable<(Network, Purpose)>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait(counters: &mut RateTable<(Network, Purpose)>, now: Time, host: HostId, purpose: &Purpose) -> Option<Duration> {
    let ready = host.networks().filter_map(|network| counters.get(&(network, purpose.clone()))?.ready_at(now, TRY));
    ready.max().filter(|at| *at > now).map(|at| at.since(now))
}

fn charge(counters: &mut RateTable<(Network, Purpose)>, now: Time, host: HostId, purpose: &Purpose) {
    for network in host.networks() {
        let key = (network, purpose.clone());
        if counters.bucket(now, key.clone(), network.hosts()).is_none() {
            // If new hosts shared a counter, a crowd of hosts could lock out all others.
            counters.remove_fullest(now);
        }
        if let Some(tries) = counters.bucket(now, key, network.hosts()) {
            tries.charge(now, TRY);
        }
    }
}

pub(crate) const LINK_LIVES: Duration = Duration::from_mins(10);
const HALF: usize = 6;

/// Longer than the code of a room, since a name is worth more.
pub(crate) fn draw() -> anyhow::Result<String> {
    Ok(draw_code(HALF)? + "-" + &draw_code(HALF)?)
}

/// `None` if the text is not a code. Case, spaces and hyphens do not matter.
pub(crate) fn hash(typed: &str) -> Option<[u8; 32]> {
    let letters: String = typed.chars().filter(|letter| !matches!(letter, '-' | ' ')).collect();
    let (first, second) = letters.split_at_checked(HALF)?;
    let code = read_code(first, HALF)? + "-" + &read_code(second, HALF)?;
    Some(Sha256::digest(format!("device\n{code}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_tries_delay_the_right_one_of_the_same_host_and_purpose_only() {
        let tries = Tries::default();
        let (eve, ann) = (HostId::of("10.0.0.9:1"), HostId::of("10.0.0.1:1"));
        let at = |seconds| Time::ZERO.plus(Duration::from_secs(seconds));
        let word = |room: &str| Purpose::Word(room.to_owned());
        let right = |now, host, purpose: Purpose| tries.attempt_at(now, host, &purpose, || Some(7));
        let wrong = |now, host, purpose: Purpose| tries.attempt_at(now, host, &purpose, || None::<u32>);
        for _ in 0..100 {
            assert_eq!(right(at(0), eve, word("nuggets-1")), AttemptResult::Right(7));
        }
        for _ in 0..20 {
            assert_eq!(wrong(at(0), eve, word("nuggets-1")), AttemptResult::Wrong);
        }
        let AttemptResult::TooMany(wait) = right(at(0), eve, word("nuggets-1")) else { panic!("it is checked") };
        assert!(wait > Duration::from_secs(20) && wait <= Duration::from_secs(30), "{wait:?}");
        assert_eq!(right(at(0), ann, word("nuggets-1")), AttemptResult::Right(7));
        for other in [word("nuggets-2"), Purpose::Key("nuggets-1".to_owned()), Purpose::RoomCode] {
            assert_eq!(right(at(0), eve, other), AttemptResult::Right(7));
        }
        assert_eq!(wrong(at(30), eve, word("nuggets-1")), AttemptResult::Wrong);
        assert!(matches!(right(at(30), eve, word("nuggets-1")), AttemptResult::TooMany(_)));
    }

    #[test]
    fn crowd_of_hosts_fills_the_counters_and_locks_out_no_other_host() {
        let tries = Tries::default();
        let eve = HostId::of("10.0.0.9:1");
        let wrong = |host| tries.attempt_at(Time::ZERO, host, &Purpose::RoomCode, || None::<()>);
        while wrong(eve) == AttemptResult::Wrong {}
        // Each host is in a network of its own.
        let crowd = |number: usize| HostId::V6Network((number as u64) << 16);
        for number in 1..MAX_TRYING {
            assert_eq!(wrong(crowd(number)), AttemptResult::Wrong);
        }
        assert!(tries.counters().is_full());
        assert_eq!(wrong(HostId::V6Network(u64::MAX)), AttemptResult::Wrong);
        assert!(matches!(wrong(eve), AttemptResult::TooMany(_)), "the counter of a host that guesses most stays");
    }

    #[test]
    fn known_codes_belong_to_a_host_and_are_bounded() {
        let mut known = KnownCodes::default();
        let (ann, eve) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.9:1"));
        for _ in 0..2 {
            known.insert(ann, "abcdefgh");
        }
        assert!(
            known.contains(ann, "abcdefgh") && !known.contains(ann, "hgfedcba") && !known.contains(eve, "abcdefgh")
        );
        for number in 1..MAX_KNOWN {
            known.insert(eve, &number.to_string());
        }
        assert!(known.contains(ann, "abcdefgh"));
        known.insert(eve, "0");
        assert!(!known.contains(ann, "abcdefgh") && known.contains(eve, "0"));
        assert_eq!((known.codes.len(), known.order.len()), (MAX_KNOWN, MAX_KNOWN));
    }

    #[test]
    fn large_network_has_the_wrong_tries_of_a_few_hosts() {
        let tries = Tries::default();
        let wrong = |host| tries.attempt_at(Time::ZERO, host, &Purpose::RoomCode, || None::<()>);
        let flood = (0..1_000).map(|number| wrong(HostId::V6Network((number % 250) << 8)));
        assert_eq!(flood.filter(|tried| *tried == AttemptResult::Wrong).count(), 320);
        assert_eq!(wrong(HostId::V6Network(1 << 16)), AttemptResult::Wrong, "another customer");
    }

    #[test]
    fn code_is_read_as_people_type_it() {
        let code = draw().unwrap();
        assert_eq!(hash(&code.to_uppercase().replace('-', " ")), hash(&code));
        assert!(hash(&code).is_some() && hash(&code) != hash(&draw().unwrap()));
        for wrong in ["", "a", "abcdef", "abcdef-abcde\u{107}", "\u{107}\u{107}\u{107}abcdefabcdef"] {
            assert_eq!(hash(wrong), None, "{wrong}");
        }
    }
}
