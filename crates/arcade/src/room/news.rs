//! What the pages of a room are told of it besides the messages of the game.
//!
//! Every peer that comes or goes changes what is shown, so it is made into JSON in one place: at most four times a second, once for all
//! sockets, and not at all while there is none. It is sent only if it differs from what was sent before.
//!
//! Which of the players a page is itself is told to that page alone. Names do not tell: there may be namesakes, and one person may play in
//! two windows.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde_json::json;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    info::{Info, Player},
    known::address_text,
};

/// The shortest time between two messages.
const PAUSE: Duration = Duration::from_millis(250);

/// What the pages of a room are told.
#[derive(Debug)]
pub(crate) struct News {
    info: watch::Receiver<Info>,
    // Dropped when the task that tells pages ends.
    told: Weak<watch::Sender<Arc<str>>>,
    // Taken by that task when it starts.
    teller: Mutex<Option<Arc<watch::Sender<Arc<str>>>>>,
}

impl News {
    /// Tells nobody yet.
    pub(crate) fn of(info: watch::Receiver<Info>) -> Self {
        let teller = Arc::new(watch::Sender::new("".into()));
        Self { info, told: Arc::downgrade(&teller), teller: Mutex::new(Some(teller)) }
    }

    /// What a page is told from now on; `seat` is the address of its seat, if it has one. Ends when the room is gone.
    pub(crate) fn look(&self, seat: Option<SocketAddr>) -> PageNews {
        let told = look(&self.info, &self.told, text);
        PageNews { told, info: self.info.clone(), address: seat.map(address_text), own: None }
    }

    /// Begins a task that tells pages.
    pub(crate) fn tell(&self) {
        let teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(teller) = teller {
            tokio::spawn(tell(self.info.clone(), teller, text));
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Own {
    seat: Option<String>,
    // Seats of another match mean something else.
    game: Option<String>,
}

/// What one page is told of its room.
#[derive(Debug)]
pub(crate) struct PageNews {
    told: watch::Receiver<Arc<str>>,
    info: watch::Receiver<Info>,
    // Of its seat, as the list of players has it.
    address: Option<String>,
    // The seat that the page was told to be its own, and in which match; none before the first look.
    own: Option<Own>,
}

impl PageNews {
    /// Waits until there is something new. Cancellation safe.
    ///
    /// # Errors
    /// When the room is gone, and nothing follows.
    pub(crate) async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        self.told.changed().await
    }

    /// The room as all pages are told of it now.
    pub(crate) fn room(&mut self) -> Arc<str> {
        Arc::clone(&self.told.borrow_and_update())
    }

    /// Which seat is the page's own, as JSON, if that or the match has changed since the last call: null while it is not among the
    /// players, and empty while it waits for a seat. None for a page without a seat, which only looks on.
    pub(crate) fn own(&mut self) -> Option<String> {
        let address = self.address.as_deref()?;
        let is_own = |player: &&Player| player.address.as_deref() == Some(address);
        let own = {
            let info = self.info.borrow();
            let seat = info.players.iter().find(is_own).map(|player| player.seat.clone());
            Own { seat, game: info.r#match.clone() }
        };
        if self.own.as_ref() == Some(&own) {
            return None;
        }
        Some(json!(self.own.insert(own).seat).to_string())
    }

    /// The room with the reason for which it is closed, if it is. A socket may end before that was told.
    pub(crate) fn closing(&self) -> Option<String> {
        let info = self.info.borrow();
        info.closing.is_some().then(|| text(&info))
    }
}

fn look(
    info: &watch::Receiver<Info>,
    told: &Weak<watch::Sender<Arc<str>>>,
    write: impl FnOnce(&Info) -> String,
) -> watch::Receiver<Arc<str>> {
    let Some(told) = told.upgrade() else { return watch::channel(write(&info.borrow()).into()).1 };
    let is_first = told.receiver_count() == 0;
    // Before it is written, so that no change is missed in between.
    let page = told.subscribe();
    if is_first {
        publish(&told, &write(&info.borrow()));
    }
    page
}

fn publish(told: &watch::Sender<Arc<str>>, text: &str) {
    told.send_if_modified(|before| {
        let changed = **before != *text;
        if changed {
            *before = text.into();
        }
        changed
    });
}

// A message of the hub.
fn text(info: &Info) -> String {
    json!({ "room": info }).to_string()
}

// How close a room is to its end. That is told at once, since the sockets are closed after it.
fn stage(info: &Info) -> u8 {
    u8::from(info.closing.is_some()) + u8::from(info.phase == "over")
}

// Tells the pages of a room of its changes, made into messages by `write`, until the room is gone.
async fn tell(
    mut info: watch::Receiver<Info>,
    told: Arc<watch::Sender<Arc<str>>>,
    mut write: impl FnMut(&Info) -> String,
) {
    let mut next: Option<Instant> = None;
    let mut last = 0;
    while info.changed().await.is_ok() {
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
            // Whoever looks next is told all of it.
            if told.receiver_count() == 0 {
                continue;
            }
            write(&info)
        };
        publish(&told, &text);
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

    /// What has been told, and how often it was made into JSON.
    fn start() -> (watch::Sender<Info>, watch::Receiver<Arc<str>>, Arc<AtomicU32>) {
        let (info, seen) = watch::channel(Info::usual(Game::Nuggets));
        let (told, pages) = watch::channel(text(&seen.borrow()).into());
        let made = Arc::<AtomicU32>::default();
        let count = Arc::clone(&made);
        tokio::spawn(tell(seen, told.into(), move |info| {
            count.fetch_add(1, Ordering::Relaxed);
            text(info)
        }));
        (info, pages, made)
    }

    #[tokio::test(start_paused = true)]
    async fn many_changes_are_four_messages_a_second_made_once_for_all_pages() {
        let (info, pages, made) = start();
        let mut watchers = JoinSet::new();
        for _ in 0..500 {
            let mut pages = pages.clone();
            watchers.spawn(async move {
                let mut heard = 0;
                while pages.changed().await.is_ok() {
                    heard += 1;
                }
                heard
            });
        }
        // Forty changes a second for ten seconds, every other one of which looks as before.
        for number in 0..400 {
            info.send_modify(|info| info.watchers += number % 2);
            sleep(Duration::from_millis(25)).await;
        }
        drop(info);
        let made = made.load(Ordering::Relaxed);
        assert!((38..=42).contains(&made), "{made} times in ten seconds");
        for heard in watchers.join_all().await {
            assert!((38..=42).contains(&heard), "{heard} messages to a page");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_made_while_nobody_looks_and_the_next_page_knows_everything() {
        let (info, seen) = watch::channel(Info::usual(Game::Nuggets));
        let told = Arc::new(watch::Sender::new("".into()));
        let weak = Arc::downgrade(&told);
        let made = Arc::<AtomicU32>::default();
        let count = |info: &Info| {
            made.fetch_add(1, Ordering::Relaxed);
            text(info)
        };
        let teller = tell(seen.clone(), told, count);
        let pages = async {
            for taken in 1..=40 {
                info.send_modify(|info| info.taken = taken);
                sleep(PAUSE).await;
            }
            assert_eq!(made.load(Ordering::Relaxed), 0);
            let mut page = look(&seen, &weak, count);
            assert!(page.borrow_and_update().contains(r#""taken":40"#));
            // The text for the second page exists already. Both get later changes.
            let mut other = look(&seen, &weak, count);
            assert!(other.borrow_and_update().contains(r#""taken":40"#));
            assert_eq!(made.load(Ordering::Relaxed), 1);
            info.send_modify(|info| info.taken = 41);
            for page in [&mut page, &mut other] {
                assert!(timeout(2 * PAUSE, page.changed()).await.is_ok());
                assert!(page.borrow_and_update().contains(r#""taken":41"#));
            }
            assert_eq!(made.load(Ordering::Relaxed), 2);
            drop(info);
            assert!(page.changed().await.is_err(), "the room is gone");
            assert!(look(&seen, &weak, count).borrow().contains(r#""taken":41"#));
        };
        tokio::join!(teller, pages);
    }

    #[tokio::test]
    async fn a_page_knows_itself_among_namesakes_and_why_its_room_closes() {
        let (info, seen) = watch::channel(Info::usual(Game::Robots));
        let news = News::of(seen);
        let [one, two] = [1, 2].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        let [mut first, mut second, mut watcher] = [Some(one), Some(two), None].map(|seat| news.look(seat));
        assert_eq!([&mut first, &mut watcher].map(PageNews::own), [Some("null".into()), None]);
        let player = |number: u64, seat: &str, address| Player {
            peer: PeerId(number),
            address: Some(address_text(address)),
            name: "Ann".into(),
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
    async fn what_looks_as_before_is_not_told_and_the_first_change_at_once() {
        let (info, mut pages, made) = start();
        for _ in 0..400 {
            info.send_modify(|info| info.people += 1);
            sleep(Duration::from_millis(25)).await;
        }
        assert!(!pages.has_changed().unwrap() && made.load(Ordering::Relaxed) <= 41);
        sleep(PAUSE).await;
        info.send_modify(|info| info.taken = 1);
        let at_once = timeout(Duration::from_millis(1), pages.changed()).await;
        assert!(at_once.is_ok() && pages.borrow_and_update().contains(r#""taken":1"#));
        // So is why the room closes, though something was told just now.
        info.send_modify(|info| info.closing = Some("enough".into()));
        assert!(timeout(Duration::from_millis(1), pages.changed()).await.is_ok());
        assert!(pages.borrow_and_update().contains("enough"));
        info.send_modify(|info| info.taken = 2);
        drop(info);
        assert!(pages.changed().await.is_ok() && pages.borrow_and_update().contains(r#""taken":2"#), "the last one");
        assert!(pages.changed().await.is_err());
    }
}
