//! The attacks. Each has a thread and a runtime of its own, comes from all hosts at once, and keeps to its rate: the hub, the innocents
//! and the attackers share the processors, and an attacker that took them all would measure nothing.

mod bodies;
mod datagrams;
mod files;
mod frames;
mod names;
mod requests;
mod rooms;
mod sockets;
mod streams;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    net::Ipv4Addr,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::anyhow;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::{
    sync::{Semaphore, oneshot},
    task::{LocalSet, spawn_local},
    time::{Interval, MissedTickBehavior, interval},
};

use super::target::Target;

/// The hosts of the attackers are 127.0.0.10 and the following ones.
const FIRST_HOST: u8 = 10;

/// One kind of attack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attack {
    /// By which it is chosen.
    pub(crate) name: &'static str,
    /// What one host does.
    pub(crate) sentence: &'static str,
    /// How often a second one host does that.
    pub(crate) per_second: u32,
    run: fn(Rc<Attacker>) -> Acts,
}

/// What one host of an attack does until it is stopped.
type Acts = Pin<Box<dyn Future<Output = ()>>>;

/// The entry of an attack in [`ALL`].
macro_rules! attack {
    ($name:literal, $per_second:literal, $run:path, $sentence:literal) => {
        Attack { name: $name, sentence: $sentence, per_second: $per_second, run: |attacker| Box::pin($run(attacker)) }
    };
}

/// All of them.
pub(crate) const ALL: [Attack; 25] = [
    attack!("droppers", 5, sockets::drop_seats, "takes seats of nuggets in browsers and drops the sockets"),
    attack!("quitters", 2, datagrams::join_and_quit, "joins the match of nuggets and quits, which uses up letters"),
    attack!("rooms", 2, rooms::open, "opens rooms and seats bots in them"),
    attack!("tokens", 5, sockets::reuse_tokens, "asks for seats with old tokens and with made up ones"),
    attack!("replays", 2, requests::ask_for_replays, "asks for replays and does not read them"),
    attack!("bodies", 2, bodies::leave_bodies, "begins requests with long bodies and does not finish them"),
    attack!("heads", 2, bodies::leave_heads, "begins requests and does not finish their heads"),
    attack!("players", 20, requests::search_players, "asks for the matches of players"),
    attack!(
        "queries",
        20,
        requests::ask_everything,
        "asks for leaderboards, players, matches and whatever else is stored"
    ),
    attack!("learners", 50, frames::start_learning, "has the learner of blackjack begin anew"),
    attack!("empty", 500, frames::send_nothing, "sends empty frames to a room"),
    attack!("pings", 500, frames::ping, "sends pings to a room"),
    attack!("watchers", 5, sockets::look_in, "looks at the match of nuggets and goes"),
    attack!("lobbies", 2, sockets::ignore_lobby, "opens the lobby and does not read it"),
    attack!("garbage", 5, streams::send_garbage, "sends garbage to rooms of robots, blackjack and mastermind"),
    attack!("deaf", 2, streams::never_read, "connects to rooms of robots, blackjack and mastermind and does not read"),
    attack!("strangers", 50, datagrams::ask_for_seats, "sends PLAY and SPECTATE from ever new ports"),
    attack!("malformed", 200, datagrams::send_malformed, "sends datagrams that are no messages"),
    attack!("journals", 10, frames::fill_journals, "sends malformed messages of 64 kB as a watcher"),
    attack!(
        "sites",
        5,
        requests::come_from_elsewhere,
        "opens pages and sockets for another site and under another name"
    ),
    attack!("keys", 5, names::prove_nothing, "takes seats with ever new keys"),
    attack!("names", 10, names::claim, "claims ever new names, some with characters that cannot be seen"),
    attack!("files", 20, files::use_up, "opens connections to the page and to rooms and keeps them"),
    attack!("pages", 20, requests::get_pages, "gets the page, compressed or not"),
    attack!("missing", 20, requests::get_missing, "gets pages that do not exist"),
];

/// The attacks with these names; all without names.
pub(crate) fn named(names: &[String]) -> Vec<Attack> {
    ALL.into_iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)).collect()
}

/// How an attack was answered: status or close codes and the like, and how often each.
pub(crate) type Answers = BTreeMap<String, u64>;

/// One host of an attack.
#[derive(Debug)]
struct Attacker {
    from: Ipv4Addr,
    target: Target,
    answers: Rc<RefCell<Answers>>,
    per_second: u32,
    chance: RefCell<Pcg64>,
    next: Cell<u64>,
}

impl Attacker {
    /// Notes an answer.
    fn count(&self, answer: impl Into<String>) {
        *self.answers.borrow_mut().entry(answer.into()).or_default() += 1;
    }

    /// When it acts.
    fn pace(&self) -> Interval {
        let mut pace = interval(Duration::from_secs(1) / self.per_second.max(1));
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pace
    }

    /// A number below this one.
    fn below(&self, end: usize) -> usize {
        self.chance.borrow_mut().random_range(0..end.max(1))
    }

    /// Random bytes.
    fn bytes(&self, count: usize) -> Vec<u8> {
        let mut chance = self.chance.borrow_mut();
        (0..count).map(|_| chance.random()).collect()
    }

    /// A name that nobody had before.
    fn name(&self) -> String {
        let number = self.next.replace(self.next.get() + 1);
        format!("Eve{}x{number}", self.from.octets()[3])
    }

    /// Does this again and again at its pace, at most so many at the same time.
    async fn repeat<F: Future<Output = ()> + 'static>(self: Rc<Self>, most: usize, act: impl Fn(Rc<Self>) -> F) {
        let free = Arc::new(Semaphore::new(most));
        let mut pace = self.pace();
        loop {
            pace.tick().await;
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
            let acts = act(Rc::clone(&self));
            spawn_local(async move {
                acts.await;
                drop(permit);
            });
        }
    }
}

/// An attack that goes on.
#[derive(Debug)]
pub(crate) struct Running {
    attack: Attack,
    thread: JoinHandle<anyhow::Result<Answers>>,
    stop: oneshot::Sender<()>,
}

impl Running {
    /// Begins an attack from so many hosts.
    ///
    /// # Errors
    /// When the system has no thread.
    pub(crate) fn start(attack: Attack, target: Target, hosts: u8, seed: u64) -> anyhow::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name(attack.name.into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            anyhow::Ok(LocalSet::new().block_on(&runtime, act(attack, target, hosts, seed, stopped)))
        })?;
        Ok(Self { attack, thread, stop })
    }

    /// Ends it, and gives how it was answered.
    ///
    /// # Errors
    /// When its thread has failed.
    pub(crate) fn stop(self) -> anyhow::Result<(Attack, Answers)> {
        // If nobody listens, the thread has failed already.
        let _ = self.stop.send(());
        let answers = self.thread.join().map_err(|_| anyhow!("the attack '{}' panicked", self.attack.name))??;
        Ok((self.attack, answers))
    }
}

async fn act(attack: Attack, target: Target, hosts: u8, seed: u64, stopped: oneshot::Receiver<()>) -> Answers {
    let answers = Rc::<RefCell<Answers>>::default();
    for host in 0..hosts {
        let attacker = Attacker {
            from: Ipv4Addr::new(127, 0, 0, FIRST_HOST + host),
            target: target.clone(),
            answers: Rc::clone(&answers),
            per_second: attack.per_second,
            chance: RefCell::new(Pcg64::seed_from_u64(seed ^ u64::from(host) << 32)),
            next: Cell::new(0),
        };
        spawn_local((attack.run)(Rc::new(attacker)));
    }
    // Nobody sends anything if the measure has failed.
    let _ = stopped.await;
    answers.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_are_chosen_by_names_of_their_own() {
        assert_eq!(named(&[]).len(), ALL.len());
        let chosen = named(&["pings".into(), "rooms".into()]);
        assert_eq!(chosen.iter().map(|attack| attack.name).collect::<Vec<_>>(), ["rooms", "pings"]);
        let mut names: Vec<&str> = ALL.iter().map(|attack| attack.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
