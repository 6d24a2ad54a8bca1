//! Programs of the ladder behind a WebSocket, where only the port of the page is open. `/ladder/GAME/socket` carries the protocol of the game
//! as its port does: in binary frames, each a datagram of nuggets or any piece of the stream of the other games.

use std::sync::Arc;

use axum::{
    Router,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::{IntoResponse as _, Response},
    routing::get,
};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use netcore::HostId;
use tokio::sync::mpsc;

use super::{
    api::ApiError,
    beats::{Beat, Beats, Pulse, send},
    caller::SocketPermit,
    connections,
};
use crate::{
    games::Game,
    hub::{Hub, ladders::board::Board},
};

/// The longest frame of a program, in bytes.
const MAX_FRAME: usize = 4 << 10;
/// Frames that wait in each direction.
const QUEUE: usize = 64;

/// The route.
pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/ladder/{game}/socket", get(socket))
}

async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(game): Path<String>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    let board = Game::named(&game).and_then(|game| hub.ladders()?.get(game).cloned());
    let Some(board) = board else {
        return ApiError::missing("this hub has no ladder of this game").into_response();
    };
    connections::bounded(upgrade, MAX_FRAME).on_upgrade(async move |socket| {
        tunnel(socket, &board, caller.host()).await;
        drop(place);
    })
}

// Passes on frames until the ladder has done with the program, which it is told when the socket is gone.
async fn tunnel(socket: WebSocket, board: &Board, host: HostId) {
    let (sender, inbox) = mpsc::channel(QUEUE);
    let (outbox, mut told) = mpsc::channel::<Bytes>(QUEUE);
    let (mut sink, mut stream) = socket.split();
    let pulse = Pulse::default();
    let mut beats = Beats::new(&pulse);
    let says = async {
        while let Some(Ok(message)) = pulse.read(stream.next()).await {
            let bytes = match message {
                Message::Binary(bytes) => bytes,
                Message::Text(text) => text.into(),
                Message::Close(_) => break,
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            if sender.send(bytes).await.is_err() {
                break;
            }
        }
        // Without a sender the line is at its end.
        drop(sender);
        std::future::pending::<()>().await;
    };
    let hears = async {
        loop {
            let message = tokio::select! {
                bytes = told.recv() => match bytes {
                    Some(bytes) => Message::Binary(bytes),
                    None => break,
                },
                // The protocols of games have no idle messages.
                due = beats.due() => match due {
                    Beat::Idle => continue,
                    Beat::Ping => Message::Ping(Bytes::new()),
                    Beat::Gone => return,
                },
            };
            if !send(&mut sink, message).await {
                return;
            }
        }
        // It may be gone already.
        let _ = sink.close().await;
    };
    board.attend(host, inbox, outbox).await;
    tokio::select! {
        () = hears => {}
        () = says => {}
    }
}
