//! The public state of a room for the lobby and pages, and its updates.
//!
//! Every connection changes the state. Therefore it is serialized at most four times a second, once for all sockets,
//! only while a page is open, and sent only after changes.
//!
//! Each page separately receives which of the players it is. Names are ambiguous: players may be namesakes, or play in
//! two windows.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use netcore::{PeerId, Phase, Standing};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::roster::address_text;
use crate::games::{Counts, Game, Options, page_state::Show};

/// The minimum interval between messages to pages.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Info {
    pub(crate) id: String,
    pub(crate) game: Game,
    pub(crate) title: String,
    /// `lobby`, `playing` or `over`.
    pub(crate) phase: &'static str,
    pub(crate) taken: u32,
    pub(crate) seats: u32,
    /// For native clients.
    pub(crate) port: u16,
    /// In the order of joining.
    pub(crate) players: Vec<Player>,
    /// Clients without a seat, except the hub itself.
    pub(crate) watchers: usize,
    /// Of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// The id of the current or last match.
    pub(crate) r#match: Option<String>,
    /// Stays open while it is empty.
    pub(crate) permanent: bool,
    pub(crate) name: Option<String>,
    /// `public`, `link` or `word`.
    pub(crate) visibility: &'static str,
    /// For clients in a room with a link only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    pub(crate) owned: bool,
    pub(crate) locked: bool,
    pub(crate) options: Options,
    #[serde(flatten)]
    pub(crate) counts: Counts,
    pub(crate) closing: Option<String>,
    /// Seconds from the decision until bots join.
    pub(crate) bots_in: Option<u64>,
    #[serde(flatten)]
    pub(crate) show: Show,
    #[serde(flatten)]
    pub(crate) site: Option<Site>,
    /// Clients, without bots and the hub.
    #[serde(skip)]
    pub(crate) people: usize,
    /// Those of `people` that watch at other nodes.
    #[serde(skip)]
    pub(crate) elsewhere: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Site {
    pub(crate) node: String,
    /// For native clients.
    pub(crate) host: String,
}

impl Info {
    /// The port is 0 unless the room is public, because only admitted clients receive it.
    pub(crate) fn for_everybody(&self) -> Self {
        let port = if self.visibility == "public" { self.port } else { 0 };
        Self { port, code: None, ..self.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Player {
    #[serde(skip)]
    pub(crate) peer: PeerId,
    #[serde(skip)]
    pub(crate) address: Option<String>,
    pub(crate) name: String,
    /// The name in messages of the game, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<String>,
    /// Empty while the player waits for a seat.
    pub(crate) seat: String,
    pub(crate) bot: bool,
    pub(crate) proven: bool,
    /// Owns the room and has its page open.
    pub(crate) owner: bool,
}

impl Player {
    pub(crate) fn seat_address(&self) -> Option<SocketAddr> {
        self.address.as_deref()?.parse().ok()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) rank: u32,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<String>,
    pub(crate) seat: String,
    pub(crate) score: i64,
    /// Whether the player left before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
}

/// Equal scores share a rank here, although some games rank all players differently. `before` is the rank and score of
/// the preceding player.
pub(crate) fn rank(before: Option<(u32, i64)>, standing: &Standing) -> u32 {
    before.filter(|&(_, score)| score == standing.score).map_or(standing.rank, |(rank, _)| rank)
}

pub(crate) const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Lobby => "lobby",
        Phase::Playing => "playing",
        Phase::Over => "over",
    }
}

#[derive(Debug)]
pub(crate) struct News {
    info: watch::Receiver<Info>,
    messages: Slot,
}

/// Set while pages subscribe.
type Slot = Arc<Mutex<Weak<watch::Sender<Arc<str>>>>>;

fn lock(slot: &Slot) -> MutexGuard<'_, Weak<watch::Sender<Arc<str>>>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl News {
    pub(crate) fn of(info: watch::Receiver<Info>) -> Self {
        Self { info, messages: Slot::default() }
    }

    /// `seat` is the address of the page's seat. The subscription ends with the room.
    pub(crate) fn subscribe(&self, seat: Option<SocketAddr>) -> PageNews {
        let messages = self.messages(text);
        PageNews { messages, info: self.info.clone(), address: seat.map(address_text), own: None }
    }

    // The first subscriber starts a task, which ends with the last one.
    fn messages(&self, mut write: impl FnMut(&Info) -> String + Send + 'static) -> watch::Receiver<Arc<str>> {
        let mut slot = lock(&self.messages);
        if let Some(sender) = slot.upgrade() {
            return sender.subscribe();
        }
        let first = write(&self.info.borrow());
        let (sender, receiver) = watch::channel(first.into());
        let sender = Arc::new(sender);
        *slot = Arc::downgrade(&sender);
        tokio::spawn(publish(self.info.clone(), sender, Arc::clone(&self.messages), write));
        receiver
    }
}

#[derive(Debug, PartialEq, Eq)]
struct OwnSeat {
    seat: Option<String>,
    // Seats of different matches are unrelated.
    game: Option<String>,
}

#[derive(Debug)]
pub(crate) struct PageNews {
    messages: watch::Receiver<Arc<str>>,
    info: watch::Receiver<Info>,
    // As in the list of players.
    address: Option<String>,
    // The last seat that the page received as its own.
    own: Option<OwnSeat>,
}

impl PageNews {
    /// Cancel safe. An error means that the room has ended and no message follows.
    pub(crate) async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        self.messages.changed().await
    }

    pub(crate) fn room(&mut self) -> Arc<str> {
        Arc::clone(&self.messages.borrow_and_update())
    }

    /// The page's seat as JSON, if the seat or the match has changed since the last call.
    ///
    /// Null unless the page is among the players, and empty while it waits for a seat. `None` if it only watches.
    pub(crate) fn own(&mut self) -> Option<String> {
        let address = self.address.as_deref()?;
        let is_own = |player: &&Player| player.address.as_deref() == Some(address);
        let own = {
            let info = self.info.borrow();
            let seat = info.players.iter().find(is_own).map(|player| player.seat.clone());
            OwnSeat { seat, game: info.r#match.clone() }
        };
        if self.own.as_ref() == Some(&own) {
            return None;
        }
        Some(json!(self.own.insert(own).seat).to_string())
    }

    /// The state of a closing room, for sockets that end before it is published.
    pub(crate) fn closing(&self) -> Option<String> {
        let info = self.info.borrow();
        info.closing.is_some().then(|| text(&info))
    }
}

fn text(info: &Info) -> String {
    json!({ "room": info }).to_string()
}

// Changes of the stage are published immediately, because the sockets are closed afterwards.
fn stage(info: &Info) -> u8 {
    u8::from(info.closing.is_some()) + u8::from(info.phase == "over")
}

// Ends with the room or its last subscriber.
async fn publish(
    mut info: watch::Receiver<Info>,
    sender: Arc<watch::Sender<Arc<str>>>,
    slot: Slot,
    mut write: impl FnMut(&Info) -> String,
) {
    let mut next: Option<Instant> = None;
    let mut last = 0;
    loop {
        tokio::select! {
            changed = info.changed() => if changed.is_err() {
                return;
            },
            () = sender.closed() => {
                let mut slot = lock(&slot);
                if sender.receiver_count() > 0 {
                    continue;
                }
                *slot = Weak::new();
                return;
            }
        }
        if let Some(next) = next {
            while stage(&info.borrow_and_update()) <= last {
                tokio::select! {
                    () = sleep_until(next) => break,
                    changed = info.changed() => if changed.is_err() { break },
                }
            }
        }
        next = Some(Instant::now() + PAUSE);
        let text = {
            let info = info.borrow_and_update();
            last = stage(&info);
            write(&info)
        };
        sender.send_if_modified(|before| {
            let changed = **before != *text;
            if changed {
                *before = text.into();
            }
            changed
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use netcore::PeerId;
    use tokio::{
        task::JoinSet,
        time::{sleep, timeout},
    };

    use super::*;
    use crate::games::Game;

    /// The last value counts serializations.
    fn start() -> (watch::Sender<Info>, News, watch::Receiver<Arc<str>>, Arc<AtomicU32>) {
        let (info, seen) = watch::channel(Info::usual(Game::Nuggets));
        let news = News::of(seen);
        let made = Arc::<AtomicU32>::default();
        let count = Arc::clone(&made);
        let pages = news.messages(move |info| {
            count.fetch_add(1, Ordering::Relaxed);
            text(info)
        });
        (info, news, pages, made)
    }

    #[tokio::test(start_paused = true)]
    async fn changes_are_serialized_once_for_all_pages_and_sent_four_times_a_second() {
        let (info, _news, pages, made) = start();
        let mut watchers = JoinSet::new();
        for _ in 0..500 {
            let mut pages = pages.clone();
            watchers.spawn(async move {
                let mut received = 0;
                while pages.changed().await.is_ok() {
                    received += 1;
                }
                received
            });
        }
        // 40 updates a second for ten seconds. Every second one does not change the state.
        for number in 0..400 {
            info.send_modify(|info| info.watchers += number % 2);
            sleep(Duration::from_millis(25)).await;
        }
        drop(info);
        let made = made.load(Ordering::Relaxed);
        assert!((39..=43).contains(&made), "{made} times in ten seconds");
        for received in watchers.join_all().await {
            assert!((38..=42).contains(&received), "{received} messages to a page");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn task_runs_only_while_pages_are_open_and_the_next_page_gets_the_newest_state() {
        let (info, news, page, made) = start();
        assert_eq!(made.load(Ordering::Relaxed), 1, "for the first page");
        drop(page);
        sleep(PAUSE).await;
        assert!(lock(&news.messages).upgrade().is_none());
        for taken in 1..=40 {
            info.send_modify(|info| info.taken = taken);
            sleep(PAUSE).await;
        }
        assert_eq!(made.load(Ordering::Relaxed), 1);
        let (mut page, mut other) = (news.messages(text), news.messages(text));
        for page in [&mut page, &mut other] {
            assert!(page.borrow_and_update().contains(r#""taken":40"#));
        }
        info.send_modify(|info| info.taken = 41);
        for page in [&mut page, &mut other] {
            assert!(timeout(2 * PAUSE, page.changed()).await.is_ok());
            assert!(page.borrow_and_update().contains(r#""taken":41"#));
        }
        drop(info);
        assert!(page.changed().await.is_err(), "the room is gone");
        assert!(news.messages(text).borrow().contains(r#""taken":41"#));
    }

    #[tokio::test]
    async fn page_receives_its_own_seat_and_the_reason_for_closing() {
        let (info, seen) = watch::channel(Info::usual(Game::Robots));
        let news = News::of(seen);
        let [one, two] = [1, 2].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        let [mut first, mut second, mut watcher] = [Some(one), Some(two), None].map(|seat| news.subscribe(seat));
        assert_eq!([&mut first, &mut watcher].map(PageNews::own), [Some("null".into()), None]);
        let player = |number: u64, seat: &str, address| Player {
            peer: PeerId(number),
            address: Some(address_text(address)),
            name: "Ann".into(),
            wire: None,
            seat: seat.into(),
            bot: false,
            proven: false,
            owner: false,
        };
        info.send_modify(|info| info.players = vec![player(1, "0", one), player(2, "1", two)]);
        assert_eq!([&mut first, &mut second].map(PageNews::own), [Some("\"0\"".into()), Some("\"1\"".into())]);
        assert_eq!(first.own(), None, "it knows");
        info.send_modify(|info| info.r#match = Some("1-2".into()));
        assert_eq!(first.own().as_deref(), Some("\"0\""), "the same number in another match");
        info.send_modify(|info| info.players = vec![player(2, "", two)]);
        assert_eq!([&mut first, &mut second].map(PageNews::own), [Some("null".into()), Some("\"\"".into())]);
        assert_eq!(second.closing(), None);
        info.send_modify(|info| info.closing = Some("enough".into()));
        assert!(second.closing().unwrap().contains("\"closing\":\"enough\""));
    }

    #[tokio::test(start_paused = true)]
    async fn unchanged_state_is_not_sent_and_the_first_change_is_sent_immediately() {
        let (info, _news, mut pages, made) = start();
        for _ in 0..400 {
            info.send_modify(|info| info.people += 1);
            sleep(Duration::from_millis(25)).await;
        }
        assert!(!pages.has_changed().unwrap() && made.load(Ordering::Relaxed) <= 42);
        sleep(PAUSE).await;
        info.send_modify(|info| info.taken = 1);
        let first = timeout(Duration::from_millis(1), pages.changed()).await;
        assert!(first.is_ok() && pages.borrow_and_update().contains(r#""taken":1"#));
        // The reason for closing is sent immediately, despite the recent message.
        info.send_modify(|info| info.closing = Some("enough".into()));
        assert!(timeout(Duration::from_millis(1), pages.changed()).await.is_ok());
        assert!(pages.borrow_and_update().contains("enough"));
        info.send_modify(|info| info.taken = 2);
        drop(info);
        assert!(pages.changed().await.is_ok() && pages.borrow_and_update().contains(r#""taken":2"#), "the last one");
        assert!(pages.changed().await.is_err());
    }
}
