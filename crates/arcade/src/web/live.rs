//! The socket of a page that shows the lobby. `{"look": {"game": "nuggets", "text": "ann", "from": 0, "count": 60}}`
//! selects a view, and `{"pictures": ["nuggets-1"]}` small pictures of rooms, in place of earlier ones. Updates are
//! sent at most four times a second.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use axum::{
    extract::{
        State,
        ws::{Message, Utf8Bytes},
    },
    response::Response,
};
use bytes::Bytes;
use futures_util::{Sink, Stream, StreamExt as _};
use netcore::{HostId, Rate, Time, TokenBucket};
use serde::Deserialize;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, sleep_until},
};

use super::{
    caller::SocketPermit,
    keepalive::{Beats, Pulse, beat, send},
    page_socket::PageUpgrade,
    response::invalid,
};
use crate::{
    hub::{
        Hub,
        lobby::{Lists, MAX_VIEWS_OF_HOST, PAUSE, ViewQuery, ViewSubscription},
        pictures::Shot,
    },
    message::message,
};

/// In bytes.
const MAX_MESSAGE: usize = 1024;
/// Includes messages without content.
const READ_RATE: Rate = Rate { per_second: 2, burst: 24 };
const MAX_PICTURES: usize = 12;
/// Bytes of pictures per tick, and in one burst: at most 8 kB a second on average.
const PICTURES_EACH_TIME: i64 = 2_000;
const PICTURES_AT_ONCE: i64 = 40_000;

pub(crate) async fn live(
    State(hub): State<Arc<Hub>>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: PageUpgrade,
) -> Response {
    upgrade.on_upgrade(MAX_MESSAGE, async move |socket| {
        let (sink, stream) = socket.split();
        let pictures = |id: &str| hub.pictures().of(id, caller.host());
        let page = LivePage::new((caller.host(), hub.lists()), pictures);
        page.serve(sink, stream, || !hub.bans().has(caller.host())).await;
        drop(place);
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageMessage {
    look: Option<ViewQuery>,
    pictures: Option<Vec<String>>,
}

/// `P` returns the pictures of a room.
struct LivePage<'a, P> {
    host: HostId,
    lists: &'a Arc<Lists>,
    pictures: P,
    view: Option<PageView>,
    seen: BTreeMap<String, SentPicture>,
    // The room whose picture was sent last; the next one follows.
    last: Option<String>,
    // In bytes; negative after a large picture.
    allowance: i64,
}

#[derive(Debug)]
struct PageView {
    subscription: ViewSubscription,
    // The frame that the page has.
    has: Option<u64>,
}

#[derive(Debug)]
struct SentPicture {
    shots: watch::Receiver<Arc<Shot>>,
    // The number that the page has; 0 means none.
    has: u64,
}

impl<'a, P: Fn(&str) -> Option<watch::Receiver<Arc<Shot>>>> LivePage<'a, P> {
    const fn new((host, lists): (HostId, &'a Arc<Lists>), pictures: P) -> Self {
        Self { host, lists, pictures, view: None, seen: BTreeMap::new(), last: None, allowance: PICTURES_AT_ONCE }
    }

    // Ends when the page disconnects or stops reading, or its host is banned.
    async fn serve<E>(
        mut self,
        mut sink: impl Sink<Message> + Unpin,
        mut stream: impl Stream<Item = Result<Message, E>> + Unpin,
        is_welcome: impl Fn() -> bool,
    ) {
        let start = Instant::now();
        let now = || Time::ZERO.plus(start.elapsed());
        let mut bucket = TokenBucket::new(READ_RATE, now());
        let mut readable = start;
        let pulse = Pulse::default();
        let mut beats = Beats::new(&pulse);
        let mut ticks = interval(PAUSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while is_welcome() {
            let out = tokio::select! {
                due = beats.due() => {
                    if !beat(&mut sink, due).await {
                        return;
                    }
                    None
                }
                changed = self.change() => changed,
                _ = ticks.tick(), if !self.seen.is_empty() => self.shots(),
                message = async {
                    sleep_until(readable).await;
                    pulse.read(stream.next()).await
                } => {
                    bucket.take(now(), 1);
                    readable = bucket.ready_at(now(), 1).map_or_else(Instant::now, |at| start + at.since(Time::ZERO));
                    match message {
                        Some(Ok(Message::Text(text))) => self.apply(&text),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => None,
                        _ => return,
                    }
                }
            };
            if let Some(out) = out {
                if !send(&mut sink, Message::Text(out)).await {
                    return;
                }
                beats.spoke();
            }
        }
    }

    // Returns an error for the page, if any.
    fn apply(&mut self, text: &str) -> Option<Utf8Bytes> {
        let change: PageMessage = match serde_json::from_str(text) {
            Ok(change) => change,
            Err(why) => return Some(invalid(why.to_string()).to_json().to_string().into()),
        };
        let mut answer = None;
        if let Some(query) = change.look {
            // Dropped first, so that it does not count towards the limit.
            self.view = None;
            let subscription = self.lists.subscribe(self.host, query.clone());
            let is_other = !subscription.is_of(query);
            self.view = Some(PageView { subscription, has: None });
            if is_other {
                let why = message!(
                    "too_many_lists",
                    "your address has {count} different lists of rooms open; this list has the first rooms",
                    count = MAX_VIEWS_OF_HOST
                );
                answer = Some(why.to_json().to_string().into());
            }
        }
        if let Some(rooms) = change.pictures {
            if rooms.len() > MAX_PICTURES {
                let why = format!("'pictures' has {} rooms: at most {MAX_PICTURES} are accepted", rooms.len());
                return Some(invalid(why).to_json().to_string().into());
            }
            self.seen.retain(|id, _| rooms.contains(id));
            for id in rooms {
                if !self.seen.contains_key(&id)
                    && let Some(shots) = (self.pictures)(&id)
                {
                    self.seen.insert(id, SentPicture { shots, has: 0 });
                }
            }
        }
        answer
    }

    // Waits for the next frame of the view. Cancellation safe.
    async fn change(&mut self) -> Option<Utf8Bytes> {
        let Some(view) = &mut self.view else { return std::future::pending().await };
        if view.has.is_some() && view.subscription.frames.changed().await.is_err() {
            // The hub is ending.
            return std::future::pending().await;
        }
        let frame = Arc::clone(&view.subscription.frames.borrow_and_update());
        let follows = view.has.is_some_and(|has| has + 1 == frame.number);
        view.has = Some(frame.number);
        text(if follows { frame.change.clone() } else { frame.full() })
    }

    // Changed pictures, within the allowance.
    fn shots(&mut self) -> Option<Utf8Bytes> {
        self.allowance = (self.allowance + PICTURES_EACH_TIME).min(PICTURES_AT_ONCE);
        let mut out = String::new();
        let after = self.seen.keys().filter(|id| self.last.as_ref().is_none_or(|last| *id > last));
        let before = self.seen.keys().filter(|id| self.last.as_ref().is_some_and(|last| *id <= last));
        let turns: Vec<String> = after.chain(before).cloned().collect();
        for id in turns {
            let Some(seen) = self.seen.get_mut(&id) else { continue };
            let shot = Arc::clone(&seen.shots.borrow());
            let gone = seen.shots.has_changed().is_err();
            let part = if gone {
                "null"
            } else if shot.number == seen.has {
                continue;
            } else if self.allowance <= 0 {
                break;
            } else if seen.has > 0 && shot.number == seen.has + 1 {
                &shot.change
            } else {
                &shot.whole
            };
            self.allowance -= i64::try_from(part.len()).unwrap_or(i64::MAX);
            // Serializing a string and writing to one cannot fail.
            let name = serde_json::to_string(&id).unwrap_or_default();
            let _ = write!(out, "{}{name}:{part}", if out.is_empty() { "" } else { "," });
            seen.has = shot.number;
            if gone {
                self.seen.remove(&id);
            }
            self.last = Some(id);
        }
        (!out.is_empty()).then(|| format!(r#"{{"pictures":{{{out}}}}}"#).into())
    }
}

fn text(bytes: Bytes) -> Option<Utf8Bytes> {
    Utf8Bytes::try_from(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, convert::Infallible, future::pending, time::Duration};

    use futures_util::{sink, stream};
    use serde_json::{Value, json};
    use tokio::time::timeout;

    use super::*;

    type Received = RefCell<Vec<Value>>;

    fn page(received: &Received) -> impl Sink<Message> + Unpin {
        Box::pin(sink::unfold((), move |(), message: Message| async move {
            if let Message::Text(text) = message {
                received.borrow_mut().push(serde_json::from_str(&text).unwrap());
            }
            Ok::<_, Infallible>(())
        }))
    }

    // Afterwards only answers pings.
    fn messages(texts: &[Value]) -> impl Stream<Item = Result<Message, Infallible>> + Unpin + use<> {
        let texts: Vec<_> = texts.iter().map(|text| Ok(Message::text(text.to_string()))).collect();
        let pongs = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Some((Ok(Message::Pong(Bytes::new())), ()))
        });
        Box::pin(stream::iter(texts).chain(pongs))
    }

    const fn none(_: &str) -> Option<watch::Receiver<Arc<Shot>>> {
        None
    }

    #[tokio::test(start_paused = true)]
    async fn page_that_does_not_read_is_dropped() {
        let lists = Arc::<Lists>::default();
        let deaf = Box::pin(sink::unfold((), |(), _: Message| pending::<Result<(), Infallible>>()));
        let serve = LivePage::new((HostId::Other, &lists), none).serve(deaf, messages(&[]), || true);
        timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
    }

    #[tokio::test(start_paused = true)]
    async fn page_receives_its_view_and_keep_alives() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let serve = LivePage::new((HostId::Other, &lists), none).serve(
            page(&received),
            messages(&[json!({ "look": {} })]),
            || true,
        );
        timeout(Duration::from_secs(25), serve).await.expect_err("the page is there");
        let received = received.into_inner();
        assert_eq!((&received[0]["ids"], &received[0]["total"]), (&json!([]), &json!(0)));
        assert!((12..=25).contains(&received[1..].len()) && received[1..].iter().all(is_beat), "{received:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn page_that_vanishes_silently_loses_its_socket() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let silent = stream::pending::<Result<Message, Infallible>>();
        let serve = LivePage::new((HostId::Other, &lists), none).serve(page(&received), silent, || true);
        timeout(Duration::from_secs(31), serve).await.expect("the page keeps its socket");
    }

    fn is_beat(message: &Value) -> bool {
        *message == json!({})
    }

    #[tokio::test(start_paused = true)]
    async fn invalid_message_of_a_page_gets_an_error() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let rooms: Vec<String> = (0..13).map(|number| format!("nuggets-{number}")).collect();
        let texts = [json!({ "lok": {} }), json!({ "look": { "game": "chess" } }), json!({ "pictures": rooms })];
        let serve = LivePage::new((HostId::Other, &lists), none).serve(page(&received), messages(&texts), || true);
        timeout(Duration::from_secs(5), serve).await.expect_err("the page is there");
        let received = received.into_inner();
        let errors: Vec<&str> =
            received.iter().filter(|answer| !is_beat(answer)).map(|answer| answer["error"].as_str().unwrap()).collect();
        assert!(errors[0].starts_with("unknown field `lok`, expected `look` or `pictures`"), "{errors:?}");
        assert!(errors[1].contains("expected one of `nuggets`"), "{errors:?}");
        assert_eq!(errors[2], "'pictures' has 13 rooms: at most 12 are accepted");
    }

    #[tokio::test(start_paused = true)]
    async fn banned_page_loses_its_socket() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let rounds = std::cell::Cell::new(0);
        let serve = LivePage::new((HostId::Other, &lists), none)
            .serve(page(&received), messages(&[]), || rounds.replace(rounds.get() + 1) < 2);
        timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
        assert_eq!(received.into_inner(), [json!({}), json!({})]);
    }

    #[tokio::test(start_paused = true)]
    async fn messages_of_a_page_are_read_at_a_bounded_rate() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let start = Instant::now();
        let requests = Box::pin(stream::iter((0..).map(|number| {
            let message = if number % 2 == 0 { Message::text(r#"{"no":1}"#) } else { Message::Ping(Bytes::new()) };
            Ok::<_, Infallible>(message)
        })));
        let serve = LivePage::new((HostId::Other, &lists), none)
            .serve(page(&received), requests, || start.elapsed() < Duration::from_mins(1));
        timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
        let answers = received.into_inner().iter().filter(|answer| !answer["error"].is_null()).count();
        assert!((60..=80).contains(&answers), "{answers} answers in a minute");
    }

    fn shot(number: u64, whole: &str, change: &str) -> Arc<Shot> {
        Arc::new(Shot { number, whole: whole.to_owned(), change: change.to_owned() })
    }

    #[tokio::test(start_paused = true)]
    async fn pictures_are_sent_whole_once_and_then_as_changes() {
        let lists = Arc::<Lists>::default();
        let received = Received::default();
        let (sender, shots) = watch::channel(shot(7, r#"{"whole":{"a":1}}"#, r#"{"change":{"a":1}}"#));
        let pictures = |id: &str| (id == "nuggets-1").then(|| shots.clone());
        let texts = [json!({ "pictures": ["nuggets-1", "nuggets-2"] })];
        let serve = LivePage::new((HostId::Other, &lists), pictures).serve(page(&received), messages(&texts), || true);
        let play = async {
            for number in 8..=52 {
                tokio::time::sleep(Duration::from_millis(25)).await;
                let part = format!(r#"{{"change":{{"a":{number}}}}}"#);
                sender.send_replace(shot(number, &part.replace("change", "whole"), &part));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            sender.send_replace(shot(53, "whole", r#"{"change":{"a":53}}"#));
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(sender);
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        tokio::select! {
            () = serve => panic!("the page is there"),
            () = play => {}
        }
        let received: Vec<Value> = received.into_inner().into_iter().filter(|value| !is_beat(value)).collect();
        assert_eq!(received[0], json!({ "pictures": { "nuggets-1": { "whole": { "a": 1 } } } }));
        let rest = &received[received.len() - 3..];
        // A gap, a change, and the removal of the picture.
        assert_eq!(rest[0]["pictures"]["nuggets-1"], json!({ "whole": { "a": 52 } }));
        assert_eq!(rest[1]["pictures"]["nuggets-1"], json!({ "change": { "a": 53 } }));
        assert_eq!(rest[2]["pictures"], json!({ "nuggets-1": null }));
        assert!(received.len() <= 9, "{received:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn pictures_have_a_byte_budget_and_rooms_take_turns() {
        let lists = Arc::<Lists>::default();
        let large = "x".repeat(4_000);
        let rooms: Vec<String> = (0..12).map(|number| format!("nuggets-{number:02}")).collect();
        let channels: Vec<_> = rooms.iter().map(|_| watch::channel(shot(1, r#"{"whole":{}}"#, ""))).collect();
        let bytes = RefCell::new(BTreeMap::<String, usize>::new());
        let sink = Box::pin(sink::unfold((), |(), message: Message| {
            let text = message.into_text().unwrap();
            let message: Value = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
            for (id, picture) in message["pictures"].as_object().into_iter().flatten() {
                *bytes.borrow_mut().entry(id.clone()).or_default() += picture.to_string().len();
            }
            async { Ok::<_, Infallible>(()) }
        }));
        let pictures = |id: &str| Some(channels[rooms.iter().position(|room| room == id)?].1.clone());
        let serve = LivePage::new((HostId::Other, &lists), pictures).serve(
            sink,
            messages(&[json!({ "pictures": rooms })]),
            || true,
        );
        let play = async {
            for number in 2..=240 {
                for (sender, _) in &channels {
                    let part = format!(r#"{{"whole":{{"a":"{large}{number}"}}}}"#);
                    sender.send_replace(shot(number, &part, &part));
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = serve => panic!("the page is there"),
            () = play => {}
        }
        let bytes = bytes.into_inner();
        let (all, least) = (bytes.values().sum::<usize>(), bytes.values().min().copied().unwrap_or_default());
        // A minute at 8 kB a second, after the first batch.
        assert!(all < 60 * 8_000 + 48_000, "{all} bytes");
        assert!(bytes.len() == 12 && least * 12 * 2 > all, "{bytes:?}");
    }
}
