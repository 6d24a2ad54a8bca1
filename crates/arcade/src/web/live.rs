//! The socket of a page that looks at the lobby.
//!
//! The page says what it looks at: `{"look": {"game": "nuggets", "text": "ann", "from": 0, "count": 60}}`. It is sent that view once, and
//! then what changes in it. With `{"pictures": ["nuggets-1"]}` it is sent small pictures of these rooms. What it says replaces what it has
//! said before. A view is told at most four times a second, and so are pictures, all of them in one message.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use axum::{
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
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
    beats::{Beats, Pulse, beat, send},
    caller::SocketPermit,
    connections::bounded,
};
use crate::hub::{
    Hub,
    lobby::{Lists, Look, Looking, MAX_VIEWS_OF_HOST, PAUSE},
    pictures::Shot,
};

/// The longest message of a page.
const MAX_MESSAGE: usize = 1024;
/// Messages of a page that are read; also those that say nothing.
const READ_RATE: Rate = Rate { per_second: 2, burst: 24 };
/// Rooms whose pictures a page is sent.
const MAX_PICTURES: usize = 12;
/// Bytes of pictures that a page is sent each time, and that it may be sent at once. What does not fit follows, so that a page is sent
/// at most 8 kB of pictures a second in the long run, however much happens in them.
const PICTURES_EACH_TIME: i64 = 2_000;
const PICTURES_AT_ONCE: i64 = 40_000;

pub(crate) async fn live(
    State(hub): State<Arc<Hub>>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |socket: WebSocket| {
        let (sink, stream) = socket.split();
        let pictures = |id: &str| hub.pictures().of(id, caller.host());
        let page = Page::new((caller.host(), hub.lists()), pictures);
        page.serve(sink, stream, || !hub.bans().has(caller.host())).await;
        drop(place);
    })
}

/// What a page says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    look: Option<Look>,
    pictures: Option<Vec<String>>,
}

/// A page, and what it was told. `P` gives the pictures of a room.
struct Page<'a, P> {
    host: HostId,
    lists: &'a Arc<Lists>,
    pictures: P,
    view: Option<View>,
    seen: BTreeMap<String, Seen>,
    // The room whose picture was sent last: the next one has its turn.
    last: Option<String>,
    // Bytes of pictures that may be sent; less than none after a large one.
    allowance: i64,
}

#[derive(Debug)]
struct View {
    looking: Looking,
    // The number of the frame that the page has.
    has: Option<u64>,
}

#[derive(Debug)]
struct Seen {
    shots: watch::Receiver<Arc<Shot>>,
    // The number of the picture that the page has; 0 is none.
    has: u64,
}

impl<'a, P: Fn(&str) -> Option<watch::Receiver<Arc<Shot>>>> Page<'a, P> {
    const fn new((host, lists): (HostId, &'a Arc<Lists>), pictures: P) -> Self {
        Self { host, lists, pictures, view: None, seen: BTreeMap::new(), last: None, allowance: PICTURES_AT_ONCE }
    }

    // Tells the page what it looks at until it is gone, takes nothing any more, or is not welcome.
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
                        Some(Ok(Message::Text(text))) => self.hear(&text),
                        // The library answers pings.
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

    // Takes what the page says. Gives an answer, if it is wrong.
    fn hear(&mut self, text: &str) -> Option<Utf8Bytes> {
        let said: Said = match serde_json::from_str(text) {
            Ok(said) => said,
            Err(why) => return Some(serde_json::json!({ "error": why.to_string() }).to_string().into()),
        };
        let mut answer = None;
        if let Some(look) = said.look {
            // The view before does not count beside the new one.
            self.view = None;
            let looking = self.lists.look(self.host, look.clone());
            let is_other = !looking.is_of(look);
            self.view = Some(View { looking, has: None });
            if is_other {
                let why = format!(
                    "pages from your address look at {MAX_VIEWS_OF_HOST} different lists of rooms already; these are the first rooms"
                );
                answer = Some(serde_json::json!({ "error": why }).to_string().into());
            }
        }
        if let Some(rooms) = said.pictures {
            if rooms.len() > MAX_PICTURES {
                let why =
                    format!("{} pictures are too many; a page is sent those of {MAX_PICTURES} rooms", rooms.len());
                return Some(serde_json::json!({ "error": why }).to_string().into());
            }
            self.seen.retain(|id, _| rooms.contains(id));
            for id in rooms {
                if !self.seen.contains_key(&id)
                    && let Some(shots) = (self.pictures)(&id)
                {
                    self.seen.insert(id, Seen { shots, has: 0 });
                }
            }
        }
        answer
    }

    // Waits for another frame of the view, and gives what the page has to be told. Cancellation safe.
    async fn change(&mut self) -> Option<Utf8Bytes> {
        let Some(view) = &mut self.view else { return std::future::pending().await };
        if view.has.is_some() && view.looking.frames.changed().await.is_err() {
            // The hub ends.
            return std::future::pending().await;
        }
        let frame = Arc::clone(&view.looking.frames.borrow_and_update());
        let follows = view.has.is_some_and(|has| has + 1 == frame.number);
        view.has = Some(frame.number);
        text(if follows { frame.change.clone() } else { frame.whole() })
    }

    // The pictures that have changed since the page was sent them, as far as they fit.
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
            // A name of a room has JSON, and writing to a string cannot fail.
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

// It was made from texts.
fn text(bytes: Bytes) -> Option<Utf8Bytes> {
    Utf8Bytes::try_from(bytes).ok()
}

#[cfg(test)]
mod tests;
