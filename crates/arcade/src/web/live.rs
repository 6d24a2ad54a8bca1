//! The socket of the lobby: a page is told of every change.

use std::sync::Arc;

use axum::{
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::Response,
};
use futures_util::{Sink, Stream, StreamExt as _};
use tokio::sync::watch;

use super::{
    beats::{beat, beats, send},
    caller::SocketPermit,
    connections::bounded,
};
use crate::hub::Hub;

/// The longest message of a page, which has nothing to say here.
const MAX_MESSAGE: usize = 1024;

pub(crate) async fn live(
    State(hub): State<Arc<Hub>>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |socket: WebSocket| {
        let (sink, stream) = socket.split();
        tell(sink, stream, hub.lobby(), || !hub.bans().has(caller.host())).await;
        drop(place);
    })
}

// Tells a page of the lobby until it is gone, takes nothing any more, or is not welcome.
async fn tell<E>(
    mut sink: impl Sink<Message> + Unpin,
    mut stream: impl Stream<Item = Result<Message, E>> + Unpin,
    mut lobby: watch::Receiver<Arc<str>>,
    is_welcome: impl Fn() -> bool,
) {
    let mut beats = beats();
    while is_welcome() {
        let text = lobby.borrow_and_update().to_string();
        if !send(&mut sink, Message::Text(text.into())).await {
            return;
        }
        loop {
            tokio::select! {
                changed = lobby.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                _ = beats.tick() => {
                    if !beat(&mut sink).await {
                        return;
                    }
                }
                // To notice that the page is gone; the library answers pings.
                message = stream.next() => match message {
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    _ => return,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::pending, time::Duration};

    use futures_util::{sink, stream};
    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_that_takes_nothing_is_dropped() {
        let (_sender, lobby) = watch::channel(Arc::from("{}"));
        let deaf = Box::pin(sink::unfold((), |(), _: Message| pending::<Result<(), Infallible>>()));
        let silent = stream::pending::<Result<Message, Infallible>>();
        let told = tell(deaf, silent, lobby, || true);
        timeout(Duration::from_hours(1), told).await.expect("the page keeps its socket");
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_is_told_that_it_is_connected() {
        let (_sender, lobby) = watch::channel(Arc::from("lobby"));
        let mut texts = vec![];
        let page = Box::pin(sink::unfold(&mut texts, async |texts: &mut Vec<String>, message: Message| {
            texts.push(message.into_text().unwrap().to_string());
            Ok::<_, Infallible>(texts)
        }));
        let silent = stream::pending::<Result<Message, Infallible>>();
        timeout(Duration::from_secs(25), tell(page, silent, lobby, || true)).await.expect_err("the page is there");
        assert_eq!(texts, ["lobby", "{}", "{}"]);
    }

    #[tokio::test]
    async fn a_page_is_told_of_changes_until_it_is_not_welcome() {
        let (sender, lobby) = watch::channel(Arc::from("one"));
        let mut texts = vec![];
        let page = Box::pin(sink::unfold(&mut texts, async |texts: &mut Vec<String>, message: Message| {
            texts.push(message.into_text().unwrap().to_string());
            sender.send_replace(Arc::from("two"));
            Ok::<_, Infallible>(texts)
        }));
        let silent = stream::pending::<Result<Message, Infallible>>();
        let rounds = std::cell::Cell::new(0);
        tell(page, silent, lobby, || rounds.replace(rounds.get() + 1) < 2).await;
        assert_eq!(texts, ["one", "two"]);
    }
}
