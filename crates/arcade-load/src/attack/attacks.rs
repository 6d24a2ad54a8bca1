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
    io,
    net::Ipv4Addr,
    pin::Pin,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::{
    sync::{Semaphore, oneshot},
    task::spawn_local,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_tungstenite::tungstenite::Error;

use super::{
    net::{Http, word},
    page,
    target::Target,
};
use crate::worker::Worker;

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

/// The entry of an attack in [`ALL`], which makes one request after the other, acts several times at once, or goes on by itself.
macro_rules! attack {
    ($name:literal, $per_second:literal, requests $act:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin(attacker.requests($act)))
    };
    ($name:literal, $per_second:literal, $most:path => $act:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin(attacker.repeat($most, $act)))
    };
    ($name:literal, $per_second:literal, $run:path, $sentence:literal) => {
        attack!(@ $name, $per_second, $sentence, |attacker| Box::pin($run(attacker)))
    };
    (@ $name:literal, $per_second:literal, $sentence:literal, $run:expr) => {
        Attack { name: $name, sentence: $sentence, per_second: $per_second, run: $run }
    };
}

pub(crate) const ALL: [Attack; 25] = [
    attack!("droppers", 5, sockets::PENDING => sockets::drop_seat,
        "takes seats of nuggets in browsers and drops the sockets"),
    attack!("quitters", 2, datagrams::PENDING => datagrams::join_and_quit,
        "joins the match of nuggets and quits, which uses up letters"),
    attack!("rooms", 2, requests rooms::open, "opens rooms and seats bots in them"),
    attack!("tokens", 5, sockets::PENDING => sockets::reuse_token,
        "asks for seats with old tokens and with made up ones"),
    attack!("replays", 2, requests::UNREAD => requests::ask_for_replay, "asks for replays and does not read them"),
    attack!("bodies", 2, bodies::HELD => bodies::leave_body,
        "begins requests with long bodies and does not finish them"),
    attack!("heads", 2, bodies::HELD => bodies::leave_head, "begins requests and does not finish their heads"),
    attack!("players", 20, requests requests::search_players, "asks for the matches of players"),
    attack!("queries", 20, requests requests::ask_everything,
        "asks for leaderboards, players, matches and whatever else is stored"),
    attack!("learners", 50, frames::start_learning, "has the learner of blackjack begin anew"),
    attack!("empty", 500, frames::send_nothing, "sends empty frames to a room"),
    attack!("pings", 500, frames::ping, "sends pings to a room"),
    attack!("watchers", 5, sockets::PENDING => sockets::look_in, "looks at the match of nuggets and goes"),
    attack!("lobbies", 2, sockets::LOBBIES => sockets::ignore_lobby, "opens the lobby and does not read it"),
    attack!("garbage", 5, streams::HELD => streams::send_garbage,
        "sends garbage to rooms of robots, blackjack and mastermind"),
    attack!("deaf", 2, streams::HELD => streams::never_read,
        "connects to rooms of robots, blackjack and mastermind and does not read"),
    attack!("strangers", 50, datagrams::PENDING => datagrams::ask_for_seat,
        "sends PLAY and SPECTATE from ever new ports"),
    attack!("malformed", 200, datagrams::send_malformed, "sends datagrams that are no messages"),
    attack!("journals", 10, frames::fill_journals, "sends malformed messages of 64 kB as a watcher"),
    attack!("sites", 5, requests requests::come_from_elsewhere,
        "opens pages and sockets for another site and under another name"),
    attack!("keys", 5, names::PENDING => names::prove_nothing, "takes seats with ever new keys"),
    attack!("names", 10, requests names::claim, "claims ever new names, some with characters that cannot be seen"),
    attack!("files", 20, files::HELD => files::use_up, "opens connections to the page and to rooms and keeps them"),
    attack!("pages", 20, requests requests::get_page, "gets the page, compressed or not"),
    attack!("missing", 20, requests requests::get_missing, "gets pages that do not exist"),
];

/// The attacks with these names; all without names.
pub(crate) fn named(names: &[String]) -> Vec<Attack> {
    ALL.into_iter().filter(|attack| names.is_empty() || names.iter().any(|name| name == attack.name)).collect()
}

/// How an attack was answered: status or close codes and the like, and how often each.
pub(crate) type Answers = BTreeMap<String, u64>;

/// What became of an act. Its answer is counted already.
type Act = Result<(), Failed>;

/// Why an act failed, in a word for a table.
#[derive(Debug)]
struct Failed(String);

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self(word(&error).to_owned())
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self(page::failure(&error))
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self(why)
    }
}

/// One host of an attack.
#[derive(Debug)]
struct Attacker {
    from: Ipv4Addr,
    target: Target,
    answers: Rc<RefCell<Answers>>,
    per_second: u32,
    chance: RefCell<Pcg64>,
    next: Cell<u64>,
    // Of a seat that it had before.
    token: RefCell<Option<String>>,
}

impl Attacker {
    /// Notes an answer.
    fn count(&self, answer: impl Into<String>) {
        *self.answers.borrow_mut().entry(answer.into()).or_default() += 1;
    }

    /// When it acts, so many times at once.
    fn pace(&self, batch: u32) -> Interval {
        let mut pace = interval(Duration::from_secs(1) * batch / self.per_second.max(1));
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

    /// Notes why an act failed, if it did.
    fn note(&self, act: Act) {
        if let Err(Failed(why)) = act {
            self.count(why);
        }
    }

    /// Makes requests one after the other at its pace. Each is told its number.
    async fn requests(self: Rc<Self>, act: impl AsyncFn(&Self, &mut Http, usize) -> Act) {
        let mut http = Http::new(self.from, self.target.hub);
        let mut pace = self.pace(1);
        for number in 0.. {
            pace.tick().await;
            self.note(act(&self, &mut http, number).await);
        }
    }

    /// Does this again and again at its pace, at most so many at the same time.
    async fn repeat<F: Future<Output = Act> + 'static>(self: Rc<Self>, most: usize, act: impl Fn(Rc<Self>) -> F) {
        let free = Arc::new(Semaphore::new(most));
        let mut pace = self.pace(1);
        loop {
            pace.tick().await;
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else { return };
            let (attacker, acts) = (Rc::clone(&self), act(Rc::clone(&self)));
            spawn_local(async move {
                attacker.note(acts.await);
                drop(permit);
            });
        }
    }
}

/// Begins an attack from so many hosts. When it is stopped, it tells how it was answered.
pub(crate) fn start(attack: Attack, target: Target, hosts: u8, seed: u64) -> io::Result<Worker<Answers>> {
    Worker::start(attack.name, move |stopped| act(attack, target, hosts, seed, stopped))
}

async fn act(
    attack: Attack,
    target: Target,
    hosts: u8,
    seed: u64,
    stopped: oneshot::Receiver<()>,
) -> anyhow::Result<Answers> {
    let answers = Rc::<RefCell<Answers>>::default();
    for host in 0..hosts {
        let attacker = Attacker {
            from: Ipv4Addr::new(127, 0, 0, FIRST_HOST + host),
            target: target.clone(),
            answers: Rc::clone(&answers),
            per_second: attack.per_second,
            chance: RefCell::new(Pcg64::seed_from_u64(seed ^ u64::from(host) << 32)),
            next: Cell::new(0),
            token: RefCell::default(),
        };
        spawn_local((attack.run)(Rc::new(attacker)));
    }
    // Nobody sends anything if the measure has failed.
    let _ = stopped.await;
    Ok(answers.take())
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
