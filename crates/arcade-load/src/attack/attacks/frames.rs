//! Frames at a rate that nobody needs, over one socket of each host.

use std::{rc::Rc, time::Duration};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::{
    super::page::{self, Browser, Entry},
    Attacker,
};

/// Between two attempts to get a socket.
const RETRY: Duration = Duration::from_secs(1);
/// Frames that are sent at a time, at most.
const BATCH: u32 = 50;
/// Bytes of a message that fills a journal.
const LONG: usize = 64_000;

// Sends frames at its pace over sockets that are opened by `open`, and reads what comes.
async fn flood(
    attacker: &Attacker,
    open: impl AsyncFn() -> Result<Browser, String>,
    batch: u32,
    frame: impl Fn(u32) -> Message,
) {
    loop {
        let (mut sink, mut stream) = match open().await {
            Ok(browser) => browser.split(),
            Err(why) => {
                attacker.count(why);
                sleep(RETRY).await;
                continue;
            }
        };
        let send = async {
            let mut pauses = attacker.pace(batch);
            let mut number = 0_u32;
            loop {
                pauses.tick().await;
                for _ in 0..batch {
                    number = number.wrapping_add(1);
                    if let Err(error) = sink.feed(frame(number)).await {
                        return page::failure(&error);
                    }
                    attacker.count("sent");
                }
                // A hub that does not read any more is waited for.
                if let Err(error) = sink.flush().await {
                    return page::failure(&error);
                }
            }
        };
        let end = tokio::select! {
            end = send => end,
            end = page::ended(&mut stream) => end,
        };
        attacker.count(end);
        sleep(RETRY).await;
    }
}

async fn watch(attacker: &Attacker) -> Result<Browser, String> {
    let entry = Entry { watch: true, ..Entry::default() };
    page::enter(attacker.from, attacker.target.hub, &attacker.target.nuggets.id, &entry).await
}

/// Has the learner begin anew.
pub(super) async fn start_learning(attacker: Rc<Attacker>) {
    let open = async || page::socket(attacker.from, attacker.target.hub, page::LEARNER, None).await;
    let start = |number| Message::text(format!(r#"{{"do": "start", "explore": "confident", "seed": {number}}}"#));
    flood(&attacker, open, 1, start).await;
}

/// Sends frames without content.
pub(super) async fn send_nothing(attacker: Rc<Attacker>) {
    flood(&attacker, async || watch(&attacker).await, BATCH, |_| Message::text("")).await;
}

/// Sends pings.
pub(super) async fn ping(attacker: Rc<Attacker>) {
    flood(&attacker, async || watch(&attacker).await, BATCH, |_| Message::Ping(Bytes::from_static(b"?"))).await;
}

/// Sends long messages that mean nothing.
pub(super) async fn fill_journals(attacker: Rc<Attacker>) {
    let long = "x".repeat(LONG);
    flood(&attacker, async || watch(&attacker).await, 1, |_| Message::text(long.as_str())).await;
}
